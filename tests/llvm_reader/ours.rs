//! What our reader says about a binary and a profile, in the shape in which llvm-cov says it.

use std::path::{Path, PathBuf};

use git_rts::coverage::llvm::counts::Counts;
use git_rts::coverage::llvm::map::{self, CoverageMap, FunctionMap, Region, RegionKind};
use git_rts::coverage::llvm::profile::{self, Profile};

/// One function with evaluated regions.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Function {
    pub(crate) name: String,
    pub(crate) files: Vec<PathBuf>,
    /// Start, end, count, file, expanded file, kind.
    pub(crate) regions: Vec<[u64; 8]>,
    /// Start, end, both counts, file, expanded file, kind.
    pub(crate) branches: Vec<[u64; 9]>,
}

pub(crate) fn map_of(binary: &Path) -> CoverageMap {
    map::read(&std::fs::read(binary).unwrap()).unwrap_or_else(|error| {
        panic!("{}: {error}", binary.display());
    })
}

pub(crate) fn functions(map: &CoverageMap, bytes: &[u8]) -> Vec<Function> {
    let profiles = profile::read(bytes).unwrap();
    let mut functions: Vec<Function> = map
        .functions
        .iter()
        .map(|function| evaluated(map, function, &profiles))
        .collect();
    functions.sort();
    functions
}

/// The counters of a function; zeros if it was not compiled.
pub(crate) fn counters(function: &FunctionMap, profiles: &[Profile<'_>]) -> Vec<u64> {
    let key = (function.name_hash, function.hash);
    let mut sums = profiles.iter().map(Profile::sums);
    sums.find_map(|mut sums| sums.remove(&key))
        .map_or(vec![0; function.counters], |sum| sum.counters.into_owned())
}

fn evaluated(map: &CoverageMap, function: &FunctionMap, profiles: &[Profile<'_>]) -> Function {
    let counters = counters(function, profiles);
    let counts = Counts::new(function, &counters).unwrap();
    let mut regions = Vec::new();
    let mut branches = Vec::new();
    for region in &function.regions {
        let count = counts.count(region.counter);
        let [a, b, c, d] = place(region);
        let file = region.file as u64;
        let (expanded, kind) = match region.kind {
            RegionKind::Code => (0, 0),
            RegionKind::Expansion { file } => (file as u64, 1),
            RegionKind::Skipped => (0, 2),
            RegionKind::Gap => (0, 3),
            RegionKind::Branch { false_counter } => {
                let zero = map::Counter::Zero;
                // llvm-cov leaves out conditions that the compiler decided.
                if (region.counter, false_counter) != (zero, zero) {
                    let not = counts.count(false_counter);
                    branches.push([a, b, c, d, count, not, file, 0, 4]);
                }
                continue;
            }
            RegionKind::Decision => continue,
        };
        regions.push([a, b, c, d, count, file, expanded, kind]);
    }
    let path = |index: &usize| path(&map.paths[*index]);
    Function {
        name: function.name.clone(),
        files: function.files.iter().map(path).collect(),
        regions,
        branches,
    }
}

fn place(region: &Region) -> [u64; 4] {
    [
        region.start.line,
        region.start.column,
        region.end.line,
        region.end.column,
    ]
    .map(u64::from)
}

fn path(bytes: &[u8]) -> PathBuf {
    let path = PathBuf::from(std::str::from_utf8(bytes).unwrap());
    assert!(path.is_absolute(), "{}", path.display());
    path.canonicalize().unwrap()
}
