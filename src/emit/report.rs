//! A selection as one HTML page that needs nothing else: what changed, what that selects and why, what is skipped and by which certificate, and how it went over time.

mod change;
mod limits;
mod overview;
mod page;
mod selected;
mod skipped;
mod trend;

use std::collections::BTreeMap;

use rustc_hash::FxHashSet;

use crate::emit::edges::DangerousEdge;
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
    selected::write(&mut body, report, &told);
    skipped::write(&mut body, report);
    trend::write(&mut body, &report.trend);
    body.push_str("</main>\n");
    overview::write_end(&mut body, report);
    let title = format!(
        "git rts: {}..{}",
        report.selection.base, report.selection.head
    );
    page::page(&title, &body)
}

/// What has a place on the page that links can lead to.
struct Told {
    tests: FxHashSet<usize>,
    functions: FxHashSet<usize>,
}

impl Told {
    fn new(report: &Report<'_>) -> Self {
        let plan = &report.selection.plan;
        let selected = plan.order.iter().chain(&plan.owed);
        let mut functions = FxHashSet::default();
        let mut edges = 0;
        for edge in report.edges {
            edges += 1;
            if edges <= limits::EDGES {
                functions.insert(edge.function);
            }
        }
        Told {
            tests: selected.copied().take(limits::SELECTED).collect(),
            functions,
        }
    }
}

/// A link to a test that has a place on the page, or its name.
fn test_link(report: &Report<'_>, told: &Told, place: usize) -> String {
    let name = page::escaped(&report.selection.plan.tests[place].name);
    match told.tests.contains(&place) {
        true => format!(r##"<a class="name" href="#t{place}">{name}</a>"##),
        false => format!(r#"<span class="name">{name}</span>"#),
    }
}

impl Report<'_> {
    fn ran(&self, test: &Planned) -> Option<Ran> {
        self.ran.get(test.name.as_str()).copied()
    }
}
