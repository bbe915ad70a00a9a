//! Which dangerous edges no test has crossed yet, and how many of them each test would cross.

use rustc_hash::FxHashMap;

/// Edges by the tests that cross them. Every edge is taken away once, so all the counting together costs no more than reading the tests' lists.
pub(super) struct Uncrossed {
    /// For each test its edges, numbered without gaps and without repetition.
    edges: Rows,
    /// For each edge its tests.
    tests: Rows,
    is_crossed: Vec<bool>,
    /// How many edges nobody has crossed that this test would.
    left: Vec<u32>,
}

impl Uncrossed {
    /// From the dangers of each test.
    pub(super) fn new<D: AsRef<[u32]>>(dangers: &[D]) -> Self {
        let mut numbers: FxHashMap<u32, u32> = FxHashMap::default();
        let mut edges = Rows::default();
        // The last test that named the edge.
        let mut named: Vec<usize> = Vec::new();
        for (place, row) in dangers.iter().enumerate() {
            for danger in row.as_ref() {
                let fresh = named.len() as u32;
                let edge = *numbers.entry(*danger).or_insert(fresh);
                if edge == fresh {
                    named.push(usize::MAX);
                }
                if std::mem::replace(&mut named[edge as usize], place) != place {
                    edges.entries.push(edge);
                }
            }
            edges.ends.push(edges.entries.len());
        }
        Uncrossed {
            tests: edges.turned(named.len()),
            is_crossed: vec![false; named.len()],
            left: (0..dangers.len())
                .map(|place| edges.row(place).len() as u32)
                .collect(),
            edges,
        }
    }

    /// How many different edges there are.
    pub(super) fn len(&self) -> usize {
        self.is_crossed.len()
    }

    pub(super) fn crossed_first_by(&self, place: usize) -> u32 {
        self.left[place]
    }

    /// The edges of a test.
    pub(super) fn edges(&self, place: usize) -> &[u32] {
        self.edges.row(place)
    }

    /// This test runs next.
    pub(super) fn cross(&mut self, place: usize) {
        if self.left[place] == 0 {
            return;
        }
        for edge in self.edges.row(place) {
            if !std::mem::replace(&mut self.is_crossed[*edge as usize], true) {
                for test in self.tests.row(*edge as usize) {
                    self.left[*test as usize] -= 1;
                }
            }
        }
    }
}

/// Rows of numbers in one piece of memory.
#[derive(Default)]
struct Rows {
    entries: Vec<u32>,
    /// Where each row ends.
    ends: Vec<usize>,
}

impl Rows {
    fn row(&self, index: usize) -> &[u32] {
        let begin = if index == 0 { 0 } else { self.ends[index - 1] };
        &self.entries[begin..self.ends[index]]
    }

    /// Columns as rows.
    fn turned(&self, columns: usize) -> Rows {
        let mut next = vec![0; columns + 1];
        for column in &self.entries {
            next[*column as usize + 1] += 1;
        }
        for column in 0..columns {
            next[column + 1] += next[column];
        }
        let mut entries = vec![0; self.entries.len()];
        for row in 0..self.ends.len() {
            for column in self.row(row) {
                let place = &mut next[*column as usize];
                entries[*place] = row as u32;
                *place += 1;
            }
        }
        // Each beginning has moved to its end.
        next.truncate(columns);
        Rows {
            entries,
            ends: next,
        }
    }
}
