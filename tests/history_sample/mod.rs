//! Recordings as a real suite would leave them, made from a seed: for tests and for benchmarks.

#![allow(dead_code, reason = "each user needs a part of it")]

use std::collections::BTreeMap;

use git_rts::history::{
    About, Looked, Outcome, Product, Recording, TestRecord, Uncounted, VersionKey,
};
use git_rts::repo::{CommitId, RepoPath, TreeId};
use git_rts::trace::{Crossed, EdgeSet, FunctionId, Trace};

/// A number that looks random and is the same for the same question.
pub(crate) fn hash(parts: &[u64]) -> u64 {
    parts.iter().fold(0x9e37_79b9_7f4a_7c15, |state, part| {
        let mut mixed = (state ^ part).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed ^= mixed >> 29;
        mixed = mixed.wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 32)
    })
}

/// One chance in so many hundred.
fn percent(chance: u64, question: &[u64]) -> bool {
    hash(question) % 100 < chance
}

pub(crate) fn version(number: u64) -> VersionKey {
    let mut id = [0u8; 20];
    id[..8].copy_from_slice(&hash(&[number, 1]).to_be_bytes());
    id[8..16].copy_from_slice(&number.to_be_bytes());
    let mut tree = id;
    tree[19] = 1;
    VersionKey {
        commit: Some(CommitId(id)),
        tree: TreeId(tree),
    }
}

/// How much tests have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Likeness {
    /// Tests of one feature go much the same way, as in real suites.
    Features,
    /// Every test decides everything for itself: the worst case.
    None,
}

/// A suite and its program.
#[derive(Debug, Clone)]
pub(crate) struct Suite {
    pub(crate) tests: u64,
    pub(crate) functions: u64,
    pub(crate) likeness: Likeness,
    pub(crate) seed: u64,
    /// How often each function was changed.
    pub(crate) changes: BTreeMap<u64, u64>,
}

pub(crate) const FUNCTIONS_A_FILE: u64 = 20;

impl Suite {
    pub(crate) fn new(tests: u64, functions: u64, likeness: Likeness) -> Self {
        Suite {
            tests,
            functions,
            likeness,
            seed: 7,
            changes: BTreeMap::new(),
        }
    }

    pub(crate) fn file_of(function: u64) -> RepoPath {
        let file = function / FUNCTIONS_A_FILE;
        RepoPath::new(format!("src/part{}/module_{file}.c", file % 12))
    }

    pub(crate) fn function(&self, function: u64) -> FunctionId {
        let version = self.changes.get(&function).copied().unwrap_or(0);
        FunctionId {
            file: Self::file_of(function),
            name: format!(
                "module_{}_operation_{function}",
                function / FUNCTIONS_A_FILE
            ),
            graph: hash(&[self.seed, function, version, 2]),
        }
    }

    /// Five to thirty in a hundred functions, the same core for everybody.
    pub(crate) fn enters(&self, test: u64, function: u64) -> bool {
        let seed = self.seed;
        match self.likeness {
            Likeness::None => {
                let share = 5 + hash(&[seed, test, 3]) % 26;
                percent(share, &[seed, test, function, 4])
            }
            Likeness::Features => {
                let feature = test % (self.tests / 20).max(1);
                let file = function / FUNCTIONS_A_FILE;
                if percent(3, &[seed, function, 5]) {
                    return true;
                }
                let share = 4 + hash(&[seed, feature, 6]) % 26;
                let extra = percent(1, &[seed, test, file, 7]);
                let inside = percent(share, &[seed, feature, file, 8]) || extra;
                // Most of what a test does is what its feature does.
                inside
                    && if percent(85, &[seed, function, 9]) {
                        percent(90, &[seed, feature, function, 10])
                    } else {
                        percent(50, &[seed, test, function, 11])
                    }
            }
        }
    }

    fn ways(&self, function: u64) -> u64 {
        1 + hash(&[self.seed, function, 14]) % 8
    }

    fn way(&self, test: u64, function: u64) -> u64 {
        let seed = self.seed;
        let feature = test % (self.tests / 20).max(1);
        let choice = match self.likeness {
            Likeness::Features if percent(80, &[seed, function, 15]) => {
                hash(&[seed, feature, function, 16])
            }
            _ => hash(&[seed, test, function, 17]),
        };
        choice % self.ways(function)
    }

    fn crossed(&self, function: u64, way: u64) -> Crossed {
        let seed = self.seed;
        if percent(2, &[seed, function, 12]) {
            return Crossed::Whole;
        }
        let edges = 3 + hash(&[seed, function, 13]) % 22;
        let version = self.changes.get(&function).copied().unwrap_or(0);
        let set: EdgeSet = (0..edges)
            .filter(|edge| percent(60, &[seed, function, way, *edge, version, 18]))
            .map(|edge| edge as usize)
            .collect();
        Crossed::Edges(set)
    }

    pub(crate) fn trace(&self, test: u64) -> Trace {
        self.tracer().trace(test)
    }

    /// For many traces: what they share is made once.
    pub(crate) fn tracer(&self) -> Tracer<'_> {
        let known = (0..self.functions).map(|function| {
            let ways = 0..self.ways(function);
            let crossed = ways.map(|way| self.crossed(function, way)).collect();
            (self.function(function), crossed)
        });
        Tracer {
            suite: self,
            known: known.collect(),
        }
    }

    pub(crate) fn record(&self, test: u64, ran_on: VersionKey) -> TestRecord {
        let name = format!("suite_{}.case_{test}", test % 40);
        let milliseconds = hash(&[self.seed, test, 20, u64::from(ran_on.tree.0[15])]) % 400;
        TestRecord {
            owed: None,
            let_through: BTreeMap::new(),
            outcome: match hash(&[self.seed, test, 19]) % 50 {
                0 => Outcome::Failed,
                1 => Outcome::Skipped,
                _ => Outcome::Passed,
            },
            milliseconds,
            definition: format!(
                "/build/tests/run_{}\0--case={name}\0TZ=UTC\0LC_ALL=C\0/build/tests\0timeout=60\0label=unit",
                test % 40
            )
            .into_bytes(),
            binaries: vec![format!("build/tests/run_{}", test % 40), "build/libcore.so".to_owned()],
            unplaced: Vec::new(),
            looked: Some(Looked {
                touched: [RepoPath::new(format!("tests/data/{}.json", test % 40))].into(),
                beyond: None,
            }),
            beyond_trace: None,
            doubt: percent(3, &[self.seed, test, 21]).then(|| "calls setjmp".to_owned()),
            flaky: None,
            varies: false,
            ran_on,
            name,
        }
    }

    pub(crate) fn about(&self, created: u64) -> About {
        About {
            outside: git_rts::history::Outside::default(),
            fingerprint: (0..12u64)
                .map(|part| (format!("part-{part}"), format!("{:016x}", hash(&[part]))))
                .collect(),
            uncounted: Uncounted::default(),
            opened_by_build: None,
            made: Vec::new(),
            executed_by_build: std::collections::BTreeSet::new(),
            session: 6,
            partial: false,
            front_end: 3,
            created,
        }
    }

    /// All tests, run on one version.
    pub(crate) fn recording(&self, ran_on: VersionKey, created: u64) -> Recording {
        let mut recording = Recording::new(self.about(created));
        // Each part says something of its own: what says the same is kept as one.
        let place = |name: &str| RepoPath::new(format!("out/{name}{created}").as_bytes());
        let made = |mode| Product {
            mode,
            is_code: false,
            digest: Some(created),
        };
        let compiled = &mut recording.compiled;
        compiled.products.insert(place("data"), made(0o100_644));
        compiled.altered.insert(place("source"), made(0o100_755));
        compiled.links.insert(place("link"), place("data"));
        let tracer = self.tracer();
        for test in 0..self.tests {
            recording.add(self.record(test, ran_on), tracer.trace(test));
        }
        recording
    }
}

pub(crate) struct Tracer<'a> {
    suite: &'a Suite,
    known: Vec<(FunctionId, Vec<Crossed>)>,
}

impl Tracer<'_> {
    pub(crate) fn trace(&self, test: u64) -> Trace {
        let entered = (0..)
            .zip(&self.known)
            .filter(|(function, _)| self.suite.enters(test, *function));
        let mut functions: Vec<(FunctionId, Crossed)> = entered
            .map(|(function, (id, ways))| {
                let way = self.suite.way(test, function) as usize;
                (id.clone(), ways[way].clone())
            })
            .collect();
        functions.sort_unstable();
        Trace { functions }
    }
}
