//! `git rts report`: a selection, its reasons and its past as one HTML page.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::Args;

use crate::commands::history::{name_of, open};
use crate::commands::ordering::Ordering;
use crate::commands::output::print;
use crate::commands::select::{say, say_other_base, select};
use crate::commands::testing::now;
use crate::commands::witnesses::ChosenWitnesses;
use crate::config::Config;
use crate::difference::Difference;
use crate::emit::edges::{Texts, dangerous_edges, node_texts, side as side_of};
use crate::emit::graph::{GraphPair, Side, inline_svg};
use crate::emit::graph_side::side;
use crate::emit::reasons::Teller;
use crate::emit::report::{PICTURE_BYTES, PICTURES, Point, Ran, Report, report};
use crate::error::{Error, Result};
use crate::history::{Histories, History, Outcome, VersionKey};
use crate::query::change::Crossing;
use crate::repo::{CommitId, Repository, Version};
use crate::selection::{Selection, arrange};

/// Write a page about a selection: what changed, what that selects and why, what is skipped, and how it went
///
/// The page is one HTML file that needs nothing else and asks nobody for anything. For a range of commits it also shows how the tests of each went, as far as they were recorded; with one version, the last versions on the way here. It builds nothing and runs nothing: 'git rts run' first, and the page tells how the tests ended.
#[derive(Debug, Args)]
pub struct WriteReport {
    /// The version to compare with: any revision, BASE..HEAD, or BASE...HEAD for the merge base [default: where HEAD left its upstream, else HEAD]
    #[arg(value_name = "BASE")]
    base: Option<String>,
    /// The version to look at [default: the working tree]
    #[arg(value_name = "HEAD")]
    head: Option<String>,
    #[command(flatten)]
    ordering: Ordering,
    #[command(flatten)]
    witnesses: ChosenWitnesses,
    /// The file to write [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// So many versions are shown over time.
const VERSIONS: usize = 60;

/// So far back they are looked for.
const FARTHEST: usize = 2000;

pub(super) fn run(arguments: &WriteReport) -> Result<()> {
    let repository = Repository::discover()?;
    let config = Config::read(&repository)?;
    let (base, head) = (arguments.base.as_deref(), arguments.head.as_deref());
    let wishes = arguments.ordering.wishes(&config, 1)?;
    let mut selection = select(
        &repository,
        &config,
        base,
        head,
        arguments.witnesses.chosen(),
    )?;
    if selection.plan.tests.is_empty() {
        return Err(
            Error::new("no test is known, so there is nothing to report")
                .hint("'git rts run' lists, runs and records all tests"),
        );
    }
    arrange(&mut selection, &wishes, &|_| Vec::new())?;
    let selection = selection;
    let is_range = head.is_some() || base.is_some_and(|base| base.contains(".."));
    let first = selection.base.commit().filter(|_| is_range);
    let trend = trend(&repository, &open(&repository)?, selection.head, first)?;
    let mut texts = Texts::new(&repository)?;
    let teller = Teller::new(&selection, &mut texts)?;
    let edges = match &selection.difference {
        Some(difference) => dangerous_edges(difference, &mut texts)?,
        None => Vec::new(),
    };
    let (pictures, pictures_left_out) = match &selection.difference {
        Some(difference) => pictures(difference, &mut texts)?,
        None => (BTreeMap::new(), 0),
    };
    let page = report(&Report {
        teller: &teller,
        edges: &edges,
        crossing: &Crossing::new(&selection.source),
        ran: ran(&selection),
        pictures,
        pictures_left_out,
        trend,
        written: now(),
        selection: &selection,
    });
    match &arguments.output {
        None => print(&page)?,
        Some(path) => std::fs::write(path, page)
            .map_err(|error| Error::new(format!("cannot write '{}': {error}", path.display())))?,
    }
    say(&selection);
    say_other_base(&selection);
    arguments.witnesses.say(&selection);
    Ok(())
}

/// How the tests ended that ran on the head.
fn ran(selection: &Selection) -> BTreeMap<&str, Ran> {
    let tests = selection.latest.tests.values();
    let here = tests.filter(|test| {
        test.ran_on.tree == selection.head.tree() && test.outcome != Outcome::NotRun
    });
    let ran = here.map(|test| {
        let ran = Ran {
            outcome: test.outcome,
            milliseconds: test.milliseconds,
        };
        (test.name.as_str(), ran)
    });
    ran.collect()
}

/// The graphs of the functions in danger, the ones that changed themselves first; and how many were left out.
fn pictures(
    difference: &Difference,
    texts: &mut Texts,
) -> Result<(BTreeMap<usize, String>, usize)> {
    let functions = difference.functions.iter().enumerate();
    let mut wanted: Vec<usize> = functions
        .filter(|(_, function)| !function.walk.dangerous.is_empty())
        .map(|(place, _)| place)
        .collect();
    wanted.sort_by_key(|place| difference.functions[*place].change);
    let mut drawn = BTreeMap::new();
    let (mut bytes, mut left_out) = (0, 0);
    for place in wanted {
        if drawn.len() >= PICTURES || bytes > PICTURE_BYTES {
            left_out += 1;
            continue;
        }
        if let Some(picture) = picture(difference, place, texts)? {
            bytes += picture.len();
            drawn.insert(place, picture);
        }
    }
    Ok((drawn, left_out))
}

/// Nothing, if a side is known only as a whole.
fn picture(difference: &Difference, place: usize, texts: &mut Texts) -> Result<Option<String>> {
    let function = &difference.functions[place];
    let file = &difference.files[function.file];
    let mut sides: Vec<Option<Side<'_>>> = Vec::new();
    for is_base in [true, false] {
        let (blob, version) = match is_base {
            true => (&file.base, difference.base),
            false => (&file.head, difference.head),
        };
        let found = side_of(difference, function, is_base).zip(blob.as_ref());
        let Some(((entity, cfg), (_, blob))) = found else {
            sides.push(None);
            continue;
        };
        let Some(cfg) = cfg else {
            return Ok(None);
        };
        let names = node_texts(texts.get(*blob)?, cfg, &entity.name);
        let walk = Some((&function.walk, is_base));
        sides.push(Some(side(version.to_string(), cfg, names, walk)));
    }
    let head = sides.pop().flatten();
    let base = sides.pop().flatten();
    let pair = GraphPair {
        function: function.name.clone(),
        file: file.path().to_string(),
        base,
        head,
    };
    Ok(Some(inline_svg(&pair)))
}

/// The versions with a history on the way to the head, back to the first; the oldest first.
fn trend(
    repository: &Repository,
    histories: &Histories,
    head: Version,
    first: Option<CommitId>,
) -> Result<Vec<Point>> {
    let mut points = Vec::new();
    let find = |version: Version| {
        histories.find(VersionKey {
            commit: version.commit(),
            tree: version.tree(),
        })
    };
    let committed = repository.commit("HEAD").ok();
    // Uncommitted work has a history of its own, unless it is as committed.
    if head.commit().is_none()
        && committed.is_none_or(|committed| committed.tree() != head.tree())
        && let Some(history) = find(head)?
    {
        points.push(point(&history)?);
    }
    let from = head
        .commit()
        .or(committed.and_then(|version| version.commit()));
    if let Some(from) = from {
        repository.nearest(from, FARTHEST, |version| {
            if let Some(history) = find(version)? {
                points.push(point(&history)?);
            }
            let is_enough = points.len() >= VERSIONS || version.commit() == first;
            Ok(is_enough.then_some(()))
        })?;
    }
    points.reverse();
    Ok(points)
}

fn point(history: &History) -> Result<Point> {
    let version = history.version();
    let mut point = Point {
        version: name_of(version),
        tests: 0,
        ran: 0,
        failed: 0,
        owed: 0,
        ran_milliseconds: 0,
        saved_milliseconds: 0,
        all_milliseconds: 0,
    };
    for test in history.tests()?.values() {
        point.tests += 1;
        point.all_milliseconds += test.milliseconds;
        point.owed += usize::from(test.owed.is_some());
        if test.ran_on == version && test.outcome != Outcome::NotRun {
            point.ran += 1;
            point.ran_milliseconds += test.milliseconds;
            point.failed += usize::from(!test.outcome.is_fine());
        } else if test.owed.is_none() {
            point.saved_milliseconds += test.milliseconds;
        }
    }
    Ok(point)
}
