//! The coverage map of a binary: which source regions each function has, and which counter counts each region.

use std::collections::BTreeSet;
use std::collections::hash_map::Entry;

use rustc_hash::FxHashMap;

use super::Unreadable;
use super::binary::Binary;
use super::cursor::Cursor;
use super::file_tables::FileTables;
use super::function;
use super::names::{self, Names};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CoverageMap {
    /// Empty if the binary was linked without one.
    pub build_id: Vec<u8>,
    /// The paths of the source files, absolute where clang knew its working directory. They may hold `..`.
    pub paths: Vec<Vec<u8>>,
    pub functions: Vec<FunctionMap>,
    /// The symbols of functions that count and are not described, as those of system headers are not; in their order.
    pub undescribed: Vec<String>,
}

/// One function. Two that share a name, as static functions of files with one name do, are both kept if they differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FunctionMap {
    /// The symbol.
    pub name: String,
    /// For a static function, the source file as it was named to the compiler.
    pub static_in: Option<String>,
    /// The hash of the whole name, by which a profile mentions it.
    pub name_hash: u64,
    /// The hash of the function's structure. A profile's record fits only if it has the same.
    pub hash: u64,
    /// Nobody in the unit used the function, so it was not compiled: one region that is never counted.
    pub is_unused: bool,
    /// Each virtual file, as an index into the paths: the first holds the function, others are expanded macros and included text.
    pub files: Vec<usize>,
    /// Each mentions only earlier ones.
    pub expressions: Vec<Expression>,
    pub regions: Vec<Region>,
    /// How many counters a record must have at least.
    pub counters: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Region {
    pub kind: RegionKind,
    /// How often the region was entered; for a branch, how often the condition was true.
    pub counter: Counter,
    /// The virtual file.
    pub file: usize,
    pub start: Position,
    /// Exclusive.
    pub end: Position,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RegionKind {
    Code,
    /// White space between two statements, counted as the second.
    Gap,
    /// Text that the preprocessor left out.
    Skipped,
    /// The use of a macro or an `#include`: the text that stands for it is another virtual file.
    Expansion {
        file: usize,
    },
    /// A condition.
    Branch {
        false_counter: Counter,
    },
    /// A whole decision for MC/DC; its conditions are branches.
    Decision,
}

/// Both counted from one; columns in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    pub line: u32,
    pub column: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Counter {
    /// Never executed.
    Zero,
    /// An index into the counters of the function's record.
    Count(usize),
    /// An index into the function's expressions.
    Expression(usize),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Expression {
    pub kind: ExpressionKind,
    pub left: Counter,
    pub right: Counter,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ExpressionKind {
    Subtract,
    Add,
}

/// Reads the map of a program, shared library or object file.
pub fn read(binary: &[u8]) -> Result<CoverageMap, Unreadable> {
    let binary = Binary::parse(binary)?;
    let mut tables = FileTables::default();
    for section in binary.sections("__llvm_covmap")? {
        tables.add(section)?;
    }
    if tables.is_empty() {
        return Err(Unreadable::NoMap);
    }
    let mut names = Names::default();
    for section in binary.sections("__llvm_prf_names")? {
        names.add(section)?;
    }
    let mut functions = Functions::default();
    for section in binary.sections("__llvm_covfun")? {
        functions.add(section, &tables, &names)?;
    }
    let undescribed: BTreeSet<String> = names
        .iter()
        .filter(|(hash, _)| !functions.by_name.contains_key(hash))
        .map(|(_, name)| symbol(name))
        .collect();
    Ok(CoverageMap {
        build_id: binary.build_id()?,
        paths: tables.paths,
        functions: functions.functions,
        undescribed: undescribed.into_iter().collect(),
    })
}

/// The symbol of a function, by the name under which it counts.
#[must_use]
pub fn symbol(name: &[u8]) -> String {
    let (symbol, _) = names::split(name);
    // Clang marks names that are to be taken as they are.
    symbol.trim_start_matches('\u{1}').to_owned()
}

#[derive(Default)]
struct Functions {
    functions: Vec<FunctionMap>,
    /// The first of each name.
    by_name: FxHashMap<u64, usize>,
}

impl Functions {
    fn add(
        &mut self,
        section: &[u8],
        tables: &FileTables,
        names: &Names,
    ) -> Result<(), Unreadable> {
        let mut cursor = Cursor::new(section);
        while !cursor.is_at_end() {
            let name_hash = cursor.u64()?;
            let length = cursor.u32()?;
            let hash = cursor.u64()?;
            let table = cursor.u64()?;
            let mapping = cursor.take_long(u64::from(length))?;
            cursor.align(section.len() - cursor.rest().len());

            let table = tables
                .get(table)
                .ok_or(Unreadable::Damaged("a function of unknown files"))?;
            let name = names
                .get(name_hash)
                .ok_or(Unreadable::Damaged("a function without a name"))?;
            let (name, static_in) = names::split(name);
            let mapping = function::read(mapping, table)?;
            self.insert(FunctionMap {
                name,
                static_in,
                name_hash,
                hash,
                is_unused: hash == 0 && is_never_counted(&mapping.regions),
                files: mapping.files,
                expressions: mapping.expressions,
                regions: mapping.regions,
                counters: mapping.counters,
            });
        }
        Ok(())
    }

    /// Inline functions have a record for each unit; those that did not use one say nothing.
    fn insert(&mut self, function: FunctionMap) {
        match self.by_name.entry(function.name_hash) {
            Entry::Vacant(entry) => {
                entry.insert(self.functions.len());
                self.functions.push(function);
            }
            Entry::Occupied(entry) => {
                let first = &mut self.functions[*entry.get()];
                if first.is_unused {
                    *first = function;
                } else if !function.is_unused && *first != function {
                    self.functions.push(function);
                }
            }
        }
    }
}

fn is_never_counted(regions: &[Region]) -> bool {
    matches!(regions, [region] if region.counter == Counter::Zero)
}
