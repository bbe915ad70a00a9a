//! A selection as one HTML page that needs nothing else: what changed, what that selects and why, what is skipped and by which certificate, and how it went over time.

mod change;
mod limits;
mod overview;
mod selected;
mod skipped;
mod trend;

use std::collections::BTreeMap;
use std::ops::Range;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::emit::edges::DangerousEdge;
use crate::emit::page::{escaped, page};
use crate::emit::reasons::Teller;
use crate::history::Outcome;
use crate::query::change::Crossing;
use crate::select::Planned;
use crate::selection::Selection;

pub use limits::{PICTURE_BYTES, PICTURES};
pub use trend::Point;

/// All that the page tells.
pub struct Report<'a> {
    pub selection: &'a Selection,
    pub teller: &'a Teller<'a>,
    /// The dangerous edges, by function.
    pub edges: &'a [DangerousEdge],
    pub crossing: &'a Crossing,
    /// How tests ended that ran on the head, by name.
    pub ran: BTreeMap<&'a str, Ran>,
    /// Graphs of changed functions as pictures, by their places in the difference.
    pub pictures: BTreeMap<usize, String>,
    /// How many pictures were too many.
    pub pictures_left_out: usize,
    /// The versions with a history, the oldest first.
    pub trend: Vec<Point>,
    /// When it was written, in seconds since 1970.
    pub written: u64,
}

/// How a test went on the head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ran {
    pub outcome: Outcome,
    pub milliseconds: u64,
}

/// The page.
#[must_use]
pub fn report(report: &Report<'_>) -> String {
    let told = Told::new(report);
    let mut body = String::new();
    overview::write(&mut body, report);
    body.push_str("<main>\n");
    change::write(&mut body, report, &told);
    body.push_str(overview::FILTER);
    selected::write(&mut body, report, &told);
    skipped::write(&mut body, report);
    trend::write(&mut body, &report.trend);
    body.push_str("</main>\n");
    overview::write_end(&mut body, report);
    let title = format!(
        "git rts: {}..{}",
        report.selection.base, report.selection.head
    );
    page(&title, &body)
}

/// What has a place on the page that links can lead to.
struct Told {
    tests: FxHashSet<usize>,
    /// Functions with the places of their edges, which stand together.
    functions: FxHashMap<usize, Range<usize>>,
}

impl Told {
    fn new(report: &Report<'_>) -> Self {
        let plan = &report.selection.plan;
        let selected = plan.order.iter().chain(&plan.owed);
        let mut functions: FxHashMap<usize, Range<usize>> = FxHashMap::default();
        for (place, edge) in report.edges.iter().enumerate() {
            if place < limits::EDGES {
                let own = functions.entry(edge.function).or_insert(place..place);
                own.end = place + 1;
            }
        }
        Told {
            tests: selected.copied().take(limits::SELECTED).collect(),
            functions,
        }
    }

    /// The edges of a function that have a place on the page.
    fn edges<'a>(&self, report: &Report<'a>, function: usize) -> &'a [DangerousEdge] {
        let own = self.functions.get(&function);
        let own = own.and_then(|own| report.edges.get(own.clone()));
        own.unwrap_or_default()
    }
}

/// A link to a test that has a place on the page, or its name.
fn test_link(report: &Report<'_>, told: &Told, place: usize) -> String {
    let name = escaped(&report.selection.plan.tests[place].name);
    match told.tests.contains(&place) {
        true => format!(r##"<a class="name" href="#t{place}">{name}</a>"##),
        false => format!(r#"<span class="name">{name}</span>"#),
    }
}

impl Report<'_> {
    fn ran(&self, test: &Planned) -> Option<Ran> {
        self.ran.get(test.name.as_str()).copied()
    }

    /// Selected, and not run on any version with the change: because a limit says so now, or said so before.
    fn is_owed(&self, place: usize) -> bool {
        let plan = &self.selection.plan;
        let test = &plan.tests[place];
        let is_left = test.owed.is_some() && test.is_selected() && !test.ran_here;
        is_left || plan.owed.contains(&place)
    }
}
