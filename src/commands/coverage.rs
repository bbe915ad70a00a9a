//! `git rts coverage`: what no test reaches, that of the current change first.

use std::collections::BTreeSet;

use clap::{Args, ValueEnum};

use crate::commands::history::open;
use crate::commands::needs_c;
use crate::commands::output::{print, print_json};
use crate::commands::patterns::{check, of_entities};
use crate::commands::select::{say_other_base, select};
use crate::config::Config;
use crate::difference::{Difference, SameVersion};
use crate::emit::edges::{Texts, node_texts};
use crate::emit::lcov::lcov;
use crate::emit::uncovered::{
    Listed, OfChange, Totals, Uncovered, What, json, summary, text, vary,
};
use crate::error::Result;
use crate::history::{FunctionTraces, TestNumber, TestRecord};
use crate::lang::facts::{Entity, Kind};
use crate::query::change::{Crossers, Crossing};
use crate::query::executed::{Executed, Function, functions as executed_of, graph_of};
use crate::query::pattern::Pattern;
use crate::query::uncovered::{line_of, uncrossed_edges, unmentioned};
use crate::query::{Past, past};
use crate::repo::{BlobId, RepoPath, Repository};
use crate::selection::Witnesses;

/// List the entities and edges that no test reaches, those of the current change first
///
/// Prints a line `FILE:LINE: KIND NAME` for each function that no test enters and for each variable, type and macro that nothing mentions which a test executes; and `FILE:LINE: edge in FUNCTION: 'FROM' -LABEL-> 'TO'` for each edge that no test crosses although one reaches its beginning. Lines that begin with 'change: ' are the dangerous edges and the new functions of the current change.
///
/// What is listed is certain: an edge counts as crossed rather than be missed, and what has no counters may have been executed by anybody. With '--format lcov' the counts are tests, and the lines are those of the version whose history was used.
#[derive(Debug, Args)]
pub struct Coverage {
    /// What to list, as 'KIND NAME file=FILE', where KIND may also be edge [default: everything]
    #[arg(value_name = "PATTERN")]
    patterns: Vec<String>,
    /// The version that the change is compared with [default: where HEAD left its upstream, else HEAD]
    #[arg(long, value_name = "REVISION")]
    base: Option<String>,
    /// List only what belongs to the current change
    #[arg(long)]
    change: bool,
    /// How to print it
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// A line for each
    Text,
    /// For programs, with a version number
    Json,
    /// A tracefile for genhtml and editors
    Lcov,
}

pub(super) fn run(arguments: &Coverage) -> Result<()> {
    let repository = Repository::discover()?;
    let config = Config::read(&repository)?;
    let past = past(&repository, &open(&repository)?, None)?;
    let same = past.entities(&repository, &config)?;
    needs_c::check(same.tree(), past.version)?;
    let patterns = of_entities(&arguments.patterns, &same)?;
    let functions = executed_of(same.facts(), &past.functions, &past.about.uncounted);
    for notice in &past.notices {
        notice!("{notice}");
    }
    let varying = varying(&past, &config);
    if arguments.format == Format::Lcov {
        if let Some(vary) = vary(varying.len()) {
            notice!("{vary}");
        }
        check(&patterns, &same, past.version)?;
        return print(&lcov(&wanted_functions(functions, &patterns)));
    }
    let asked = Asked {
        repository: &repository,
        past: &past,
        same: &same,
        functions: &functions,
    };
    let mut texts = Texts::new(&repository)?;
    let mut uncovered = Uncovered {
        history: past.version,
        change: asked.of_change(&config, arguments.base.as_deref(), &mut texts)?,
        unreached: match arguments.change {
            true => Vec::new(),
            false => asked.of_tree(&mut texts)?,
        },
        totals: totals(&functions),
        varying: varying.len(),
        of_others: {
            let of_others = without(&past.functions, &varying);
            let executed = executed_of(same.facts(), &of_others, &past.about.uncounted);
            totals(&executed)
        },
        doubtful: past
            .doubtful()
            .map(|(test, why)| (test.name.clone(), why.to_owned()))
            .collect(),
    };
    let is_wanted = |listed: &Listed| {
        let mut wanted = patterns.iter();
        patterns.is_empty() || wanted.any(|pattern| listed.is_meant(pattern))
    };
    uncovered.unreached.retain(is_wanted);
    if let Ok(change) = &mut uncovered.change {
        change.unreached.retain(is_wanted);
    }
    // What is new in the change is known to nobody else.
    let change = uncovered.change.as_ref();
    if change.map_or(true, |change| change.unreached.is_empty()) {
        check(&patterns, &same, past.version)?;
    }
    match arguments.format {
        Format::Json => print_json(&json(&uncovered))?,
        _ => print(&text(&uncovered))?,
    }
    notice!("{}", summary(&uncovered));
    Ok(())
}

fn wanted_functions<'a>(all: Vec<Function<'a>>, patterns: &[Pattern]) -> Vec<Function<'a>> {
    let is_wanted = |function: &Function<'_>| {
        let (file, name) = (function.file, &function.entity.name);
        let mut wanted = patterns.iter();
        patterns.is_empty() || wanted.any(|one| one.matches(Kind::Function, file, name))
    };
    all.into_iter().filter(is_wanted).collect()
}

/// The tests whose traces hold all that they could reach.
fn varying(past: &Past, config: &Config) -> BTreeSet<TestNumber> {
    let varies = |test: &TestRecord| test.varies || config.is_nondeterministic(&test.name);
    let tests = past.tests.iter().filter(|(_, test)| varies(test));
    tests.map(|(number, _)| *number).collect()
}

/// What the other tests did.
fn without(traces: &[FunctionTraces], tests: &BTreeSet<TestNumber>) -> Vec<FunctionTraces> {
    let mut others = traces.to_vec();
    for (_, group) in others.iter_mut().flat_map(|one| &mut one.groups) {
        group.retain(|test| !tests.contains(test));
    }
    others
}

/// How much of the tree is executed.
fn totals(functions: &[Function<'_>]) -> Totals {
    let mut totals = Totals::default();
    for function in functions {
        match &function.executed {
            Executed::NotBuilt => totals.not_built += 1,
            Executed::Unknown => totals.uncounted += 1,
            Executed::By(counts) => {
                totals.functions += 1;
                totals.entered += usize::from(counts.entered > 0);
                totals.edges += counts.edges.len();
                let crossed = counts.edges.iter().filter(|count| **count > 0);
                totals.crossed_edges += crossed.count();
            }
        }
    }
    totals
}

struct Asked<'a> {
    repository: &'a Repository,
    past: &'a Past,
    same: &'a SameVersion,
    functions: &'a [Function<'a>],
}

impl Asked<'_> {
    /// Functions, edges, then what only they mention; by file and line.
    fn of_tree(&self, texts: &mut Texts) -> Result<Vec<Listed>> {
        let never = self.functions.iter().filter(|one| one.is_never_entered());
        let mut found: Vec<Listed> = never.map(|one| entity(one.file, one.entity)).collect();
        for one in uncrossed_edges(self.functions) {
            let function = &self.functions[one.function];
            if let Some(blob) = self.same.blob(function.file) {
                let place = (function.file, blob, function.entity);
                found.extend(edge(place, one.edge, texts)?);
            }
        }
        let files = self.same.program().files.iter();
        let macros = files.flat_map(|file| &file.lex.macros);
        let data = unmentioned(self.same.facts(), self.functions, macros);
        found.extend(data.into_iter().map(|(file, one)| entity(file, one)));
        found.sort_by(|one, two| (&one.file, one.line).cmp(&(&two.file, two.line)));
        found.dedup();
        Ok(found)
    }

    fn of_change(
        &self,
        config: &Config,
        base: Option<&str>,
        texts: &mut Texts,
    ) -> Result<std::result::Result<OfChange, String>> {
        let selection = select(self.repository, config, base, None, Witnesses::ALL)?;
        let Some(difference) = &selection.difference else {
            return Ok(Err(selection.everything.unwrap_or_default()));
        };
        say_other_base(&selection);
        let crossing = Crossing::new(&selection.source);
        let mut change = OfChange {
            base: difference.base,
            head: difference.head,
            dangerous: 0,
            uncounted: 0,
            not_built: 0,
            unrun: 0,
            unreached: Vec::new(),
        };
        for (place, function) in difference.functions.iter().enumerate() {
            let base = difference.files[function.file].base.as_ref();
            let facts = difference.pairs[function.file].base.as_ref();
            let defined = facts.and_then(|facts| facts.entities.get(function.base?));
            let (Some((file, blob)), Some(entity)) = (base, defined) else {
                continue;
            };
            for dangerous in &function.walk.dangerous {
                change.dangerous += 1;
                match crossing.of(place, *dangerous) {
                    Crossers::Tests(..) => {}
                    Crossers::Anybody => change.uncounted += 1,
                    Crossers::NotBuilt => change.not_built += 1,
                    Crossers::Nobody => {
                        let found = edge((file, *blob, entity), *dangerous, texts)?;
                        change.unreached.extend(found);
                    }
                }
            }
        }
        self.add_new_functions(&mut change, difference);
        Ok(Ok(change))
    }

    /// Who executes a new function is known once tests have run on the head.
    fn add_new_functions(&self, change: &mut OfChange, difference: &Difference) {
        let is_known = self.past.version.tree() == difference.head.tree();
        for function in difference.functions.iter().filter(|one| one.base.is_none()) {
            let head = difference.files[function.file].head.as_ref();
            let Some((file, _)) = head else {
                continue;
            };
            if !is_known {
                change.unrun += 1;
                continue;
            }
            let never = self.functions.iter().filter(|one| one.is_never_entered());
            let mut never = never.filter(|one| one.file == file);
            let found = never.find(|one| one.entity.name == function.name);
            let found = found.map(|one| entity(one.file, one.entity));
            change.unreached.extend(found);
        }
    }
}

fn entity(file: &RepoPath, entity: &Entity) -> Listed {
    Listed {
        file: file.clone(),
        line: entity.span.line,
        what: What::Entity {
            kind: entity.kind,
            name: entity.name.clone(),
        },
    }
}

/// An edge of a function; of one without a graph, the function itself.
fn edge(
    (file, blob, function): (&RepoPath, BlobId, &Entity),
    edge: usize,
    texts: &mut Texts,
) -> Result<Option<Listed>> {
    let Some(cfg) = graph_of(function) else {
        return Ok(Some(entity(file, function)));
    };
    let Some(found) = cfg.edges.get(edge) else {
        return Ok(None);
    };
    let names = node_texts(texts.get(blob)?, cfg, &function.name);
    Ok(Some(Listed {
        file: file.clone(),
        line: line_of(cfg, edge, function),
        what: What::Edge {
            function: function.name.clone(),
            from: names[found.from as usize].clone(),
            label: found.label.text(),
            to: names[found.to as usize].clone(),
        },
    }))
}
