//! Which dangerous edges no test has crossed yet, and how many of them each test would cross.

use rustc_hash::FxHashMap;

/// The edges of each test. Counts are made when they are asked for: most tests are asked about a few times only, and turning the table around, to have every count at hand, costs more than that.
pub(super) struct Uncrossed {
    /// The edges of all tests in one piece, numbered without gaps and, for each test, without repetition.
    edges: Vec<u32>,
    /// Where each test's edges end.
    ends: Vec<usize>,
    is_crossed: Vec<bool>,
    /// How many edges nobody has crossed.
    left: usize,
}

impl Uncrossed {
    /// From the dangers of each test.
    pub(super) fn new<D: AsRef<[u32]>>(dangers: &[D]) -> Self {
        let all = || dangers.iter().flat_map(|row| row.as_ref().iter().copied());
        let most = all().max().map_or(0, |danger| danger as usize + 1);
        let crossings: usize = dangers.iter().map(|row| row.as_ref().len()).sum();
        // Who numbers edges begins with 0, and then a table is several times as quick as hashing.
        if most <= 4 * crossings + 1_000_000 {
            let mut numbers = vec![u32::MAX; most];
            return Self::renumbered(dangers, crossings, |danger, fresh| {
                let number = &mut numbers[danger as usize];
                if *number == u32::MAX {
                    *number = fresh;
                }
                *number
            });
        }
        let mut numbers: FxHashMap<u32, u32> = FxHashMap::default();
        Self::renumbered(dangers, crossings, |danger, fresh| {
            *numbers.entry(danger).or_insert(fresh)
        })
    }

    fn renumbered<D: AsRef<[u32]>>(
        dangers: &[D],
        crossings: usize,
        mut number: impl FnMut(u32, u32) -> u32,
    ) -> Self {
        let mut edges = Vec::with_capacity(crossings);
        let mut ends = Vec::with_capacity(dangers.len());
        // The last test that named the edge.
        let mut named: Vec<u32> = Vec::new();
        for (place, row) in dangers.iter().enumerate() {
            for danger in row.as_ref() {
                let edge = number(*danger, named.len() as u32);
                if edge as usize == named.len() {
                    named.push(u32::MAX);
                }
                if std::mem::replace(&mut named[edge as usize], place as u32) != place as u32 {
                    edges.push(edge);
                }
            }
            ends.push(edges.len());
        }
        Uncrossed {
            edges,
            ends,
            is_crossed: vec![false; named.len()],
            left: named.len(),
        }
    }

    /// How many different edges there are.
    pub(super) fn len(&self) -> usize {
        self.is_crossed.len()
    }

    /// How many edges nobody has crossed.
    pub(super) fn left(&self) -> usize {
        self.left
    }

    /// The edges of a test.
    pub(super) fn edges(&self, place: usize) -> &[u32] {
        let begin = if place == 0 { 0 } else { self.ends[place - 1] };
        &self.edges[begin..self.ends[place]]
    }

    /// How many edges this test would be the first to cross.
    pub(super) fn crossed_first_by(&self, place: usize) -> usize {
        if self.left == 0 {
            return 0;
        }
        let edges = self.edges(place).iter();
        edges
            .map(|edge| usize::from(!self.is_crossed[*edge as usize]))
            .sum()
    }

    /// This test runs next.
    pub(super) fn cross(&mut self, place: usize) {
        if self.left == 0 {
            return;
        }
        let begin = if place == 0 { 0 } else { self.ends[place - 1] };
        for edge in &self.edges[begin..self.ends[place]] {
            if !std::mem::replace(&mut self.is_crossed[*edge as usize], true) {
                self.left -= 1;
            }
        }
    }
}
