//! The source witness: a test whose trace crosses no dangerous edge is not reached by what changed in C (design, section 5).

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::{Certificate, Certified, Way, Witness};
use crate::compare::entity_difference::ChangeKind;
use crate::compare::functions::FunctionDifference;
use crate::difference::{Difference, Reach};
use crate::history::{FunctionTraces, TestNumber, Uncounted};
use crate::lang::facts::{Entity, FileFacts, Kind};
use crate::repo::RepoPath;
use crate::trace::{Crossed, FunctionId};

/// Where the two versions can part ways.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Danger {
    pub file: RepoPath,
    /// The function's name; empty for what macros make at file scope.
    pub name: String,
    pub kind: DangerKind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DangerKind {
    /// Some edges of a function, by its place in the difference.
    Edges { function: usize },
    /// A function that has no counters: anybody may execute it.
    Uncounted { function: usize, why: String },
    /// What macros make at file scope of a file in which everything is in danger.
    Remainder { why: String },
    /// Code that the build made, which may use whatever is declared differently.
    Made { why: String },
    /// Something that every program may notice, by its place among the difference's entities.
    Program { entity: usize },
}

/// A test meets a danger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hit {
    pub danger: usize,
    /// The dangerous edges that it crosses; none, if all that is known is that it entered.
    pub edges: Arc<[usize]>,
}

/// What the traces tell about a difference.
#[derive(Debug, Clone, Default)]
pub struct Source {
    pub dangers: Vec<Danger>,
    /// For each candidate the dangers that it meets.
    pub hits: Vec<Vec<Hit>>,
}

/// The traces of the base version, for the files that the difference names.
pub struct Traces<'a> {
    pub functions: &'a [FunctionTraces],
    pub uncounted: &'a Uncounted,
    /// Some code that the build made has no counters: anybody may execute it.
    pub has_uncounted_made: bool,
    /// The places of the tests among the candidates.
    pub places: &'a FxHashMap<TestNumber, usize>,
    pub candidates: usize,
}

impl Source {
    /// Looks up who crossed what is in danger.
    #[must_use]
    pub fn new(difference: &Difference, traces: &Traces<'_>) -> Self {
        let mut source = Source {
            dangers: Vec::new(),
            hits: vec![Vec::new(); traces.candidates],
        };
        let entered = by_name(traces.functions);
        let graphs = graphs_of_base(difference);
        for (index, function) in difference.functions.iter().enumerate() {
            if !function.walk.dangerous.is_empty() {
                source.endanger(difference, index, function, traces, &entered, &graphs);
            }
        }
        for (file, pair) in difference.files.iter().zip(&difference.pairs) {
            let (Some((path, _)), Some(why)) = (&file.base, &pair.whole) else {
                continue;
            };
            let made = entered.get(&(path, ""));
            let danger = source.add(path, "", DangerKind::Remainder { why: why.clone() });
            source.enter(danger, made.into_iter().flatten().copied(), traces);
        }
        if let Some(why) = changes_declarations(difference) {
            let made = FunctionId::made().file;
            let entered = entered.get(&(&made, ""));
            if traces.has_uncounted_made {
                source.reach_all(&made, "", DangerKind::Made { why });
            } else {
                let danger = source.add(&made, "", DangerKind::Made { why });
                source.enter(danger, entered.into_iter().flatten().copied(), traces);
            }
        }
        for (index, entity) in difference.entities.iter().enumerate() {
            // A file that is not C, and so has no entities, is judged by its class.
            let is_file = entity.base.is_none() && entity.head.is_none();
            if entity.reach == Reach::Program && !is_file {
                let kind = DangerKind::Program { entity: index };
                source.reach_all(&entity.file, &entity.name, kind);
            }
        }
        source
    }

    fn endanger(
        &mut self,
        difference: &Difference,
        index: usize,
        function: &FunctionDifference,
        traces: &Traces<'_>,
        entered: &Entered<'_>,
        graphs: &FxHashMap<(usize, &str), FxHashSet<u64>>,
    ) {
        let Some((path, _)) = &difference.files[function.file].base else {
            return;
        };
        let Some(entity) = base_entity(difference, function) else {
            return;
        };
        let graph = entity.graph();
        let known = entered.get(&(path, function.name.as_str()));
        let of_base = graphs.get(&(function.file, function.name.as_str()));
        // Traces of a graph that no definition has were made of something else: then nothing is known but the name.
        let is_foreign = |other: u64| of_base.is_none_or(|graphs| !graphs.contains(&other));
        let (mut own, mut foreign) = (Vec::new(), Vec::new());
        for traced in known.into_iter().flatten().copied() {
            if traced.id.graph == graph {
                own.push(traced);
            } else if is_foreign(traced.id.graph) {
                foreign.push(traced);
            }
        }
        if traces.uncounted.may_hold(&function.name, known.is_some()) {
            let why = traces.uncounted.blind.clone().map_or_else(
                || "it was compiled without counters".to_owned(),
                |blind| format!("it may have been compiled without counters: {blind}"),
            );
            let kind = DangerKind::Uncounted {
                function: index,
                why,
            };
            return self.reach_all(path, &function.name, kind);
        }
        // Compiled with counters or not at all, which is the same to those who did not enter.
        if known.is_none() {
            return;
        }
        let danger = self.add(path, &function.name, DangerKind::Edges { function: index });
        for traced in own {
            for (crossed, tests) in &traced.groups {
                let edges: Vec<usize> = match crossed {
                    Crossed::Whole => Vec::new(),
                    Crossed::Edges(edges) => {
                        let dangerous = function.walk.dangerous.iter().copied();
                        let met: Vec<usize> =
                            dangerous.filter(|edge| edges.contains(*edge)).collect();
                        if met.is_empty() {
                            continue;
                        }
                        met
                    }
                };
                self.hit(danger, &edges.into(), tests, traces);
            }
        }
        self.enter(danger, foreign.into_iter(), traces);
    }

    fn add(&mut self, file: &RepoPath, name: &str, kind: DangerKind) -> usize {
        self.dangers.push(Danger {
            file: file.clone(),
            name: name.to_owned(),
            kind,
        });
        self.dangers.len() - 1
    }

    /// Whoever entered is hit.
    fn enter<'a>(
        &mut self,
        danger: usize,
        entered: impl Iterator<Item = &'a FunctionTraces>,
        traces: &Traces<'_>,
    ) {
        for (_, tests) in entered.flat_map(|traced| &traced.groups) {
            self.hit(danger, &Arc::from([]), tests, traces);
        }
    }

    fn hit(
        &mut self,
        danger: usize,
        edges: &Arc<[usize]>,
        tests: &[TestNumber],
        traces: &Traces<'_>,
    ) {
        for place in tests.iter().filter_map(|test| traces.places.get(test)) {
            self.hits[*place].push(Hit {
                danger,
                edges: edges.clone(),
            });
        }
    }

    fn reach_all(&mut self, file: &RepoPath, name: &str, kind: DangerKind) {
        let danger = self.add(file, name, kind);
        for hits in &mut self.hits {
            hits.push(Hit {
                danger,
                edges: Arc::from([]),
            });
        }
    }

    /// The same, where it is known that the code which the build made, and which some tests executed, is the same as before.
    #[must_use]
    pub fn settled(&self, is_made_alike: &[bool]) -> Self {
        let mut settled = self.clone();
        for (hits, _) in settled
            .hits
            .iter_mut()
            .zip(is_made_alike)
            .filter(|(_, same)| **same)
        {
            hits.retain(|hit| !matches!(self.dangers[hit.danger].kind, DangerKind::Made { .. }));
        }
        settled
    }

    /// Speaks for all changed C sources together: a danger may come from several of them. `is_told` says of which tests traces
    /// tell what a change does to them.
    #[must_use]
    pub fn testify(&self, difference: &Difference, is_told: &dyn Fn(usize) -> bool) -> Certificate {
        let edges: usize = difference
            .functions
            .iter()
            .map(|function| function.walk.dangerous.len())
            .sum();
        let hits = self.hits.iter().enumerate();
        let clear = hits.map(|(test, hits)| hits.is_empty() && is_told(test));
        let evidence = match edges {
            0 => "no edge is dangerous".to_owned(),
            1 => "it does not cross the one dangerous edge".to_owned(),
            edges => format!("it crosses none of the {edges} dangerous edges"),
        };
        Certificate {
            way: Way::CompiledIn,
            witness: Witness::Source,
            evidence,
            tests: Certified::Those(clear.collect()),
        }
    }
}

/// The files of the base whose traces the witness needs.
#[must_use]
pub fn files_in_danger(difference: &Difference) -> Vec<RepoPath> {
    let whole = difference.pairs.iter().enumerate();
    let whole = whole.filter(|(_, pair)| pair.whole.is_some());
    let dangerous = difference.functions.iter();
    let dangerous = dangerous.filter(|function| !function.walk.dangerous.is_empty());
    let mut files: Vec<usize> = whole
        .map(|(index, _)| index)
        .chain(dangerous.map(|function| function.file))
        .collect();
    files.sort_unstable();
    files.dedup();
    let paths = files.into_iter();
    let paths = paths.filter_map(|file| Some(difference.files[file].base.as_ref()?.0.clone()));
    // What the build made has no file of its own.
    paths.chain([FunctionId::made().file]).collect()
}

/// Something that differs for those who use it, and not only inside a function. Code that the build made is not read, so it may
/// be one of those.
fn changes_declarations(difference: &Difference) -> Option<String> {
    let changed = difference.entities.iter().find(|entity| {
        let is_body = entity.kind == Kind::Function && entity.change == ChangeKind::Changed;
        let is_file = entity.base.is_none() && entity.head.is_none();
        entity.change != ChangeKind::Affected && !is_body && !is_file
    });
    let of_entity = changed.map(|entity| {
        let (kind, change) = (entity.kind.word(), entity.change.word());
        format!("{kind} '{}' {change} in {}", entity.name, entity.file)
    });
    of_entity.or_else(|| {
        let other = difference.functions.iter().find(|function| {
            let pair = &difference.pairs[function.file];
            let interface = |facts: &Option<Arc<FileFacts>>, at: Option<usize>| {
                Some(facts.as_ref()?.entities.get(at?)?.interface)
            };
            interface(&pair.base, function.base) != interface(&pair.head, function.head)
        });
        other.map(|function| format!("function '{}' is declared differently", function.name))
    })
}

type Entered<'a> = FxHashMap<(&'a RepoPath, &'a str), Vec<&'a FunctionTraces>>;

fn by_name(functions: &[FunctionTraces]) -> Entered<'_> {
    let mut found: Entered<'_> = FxHashMap::default();
    for traced in functions {
        let key = (&traced.id.file, traced.id.name.as_str());
        found.entry(key).or_default().push(traced);
    }
    found
}

/// The graphs that the functions in danger have in the base, by file and name: under `#if` a name has several.
fn graphs_of_base(difference: &Difference) -> FxHashMap<(usize, &str), FxHashSet<u64>> {
    let mut graphs: FxHashMap<(usize, &str), FxHashSet<u64>> = difference
        .functions
        .iter()
        .filter(|function| !function.walk.dangerous.is_empty())
        .map(|function| {
            (
                (function.file, function.name.as_str()),
                FxHashSet::default(),
            )
        })
        .collect();
    for (index, pair) in difference.pairs.iter().enumerate() {
        for entity in pair.base.iter().flat_map(|facts| &facts.entities) {
            if entity.kind == Kind::Function
                && entity.body.is_some()
                && let Some(named) = graphs.get_mut(&(index, entity.name.as_str()))
            {
                named.insert(entity.graph());
            }
        }
    }
    graphs
}

fn base_entity<'d>(
    difference: &'d Difference,
    function: &FunctionDifference,
) -> Option<&'d Entity> {
    let facts = difference.pairs[function.file].base.as_ref()?;
    facts.entities.get(function.base?)
}
