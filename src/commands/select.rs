//! `git rts select`: the tests that a change can reach, and why.

use clap::Args;

use crate::commands::formats::Listing;
use crate::commands::ordering::{Ordering, say_arrangement};
use crate::commands::testing::{setup, waiting};
use crate::commands::versions::selected_between;
use crate::commands::witnesses::ChosenWitnesses;
use crate::config::Config;
use crate::emit::plan_text::{summary, warnings};
use crate::error::{Error, Result};
use crate::repo::Repository;
use crate::runner::{Extent, Interrupt};
use crate::selection::{Question, Selection, Witnesses, arrange, selection, unrecorded_selection};

/// Print the tests that can behave differently because of a change
///
/// Compares two versions, looks up in the recorded history which tests crossed what changed, and prints these, one a line. It builds nothing and writes no history. Tests that the head adds are known only once it is built: `git rts run` finds them.
#[derive(Debug, Args)]
pub struct Select {
    /// The version to compare with: any revision, BASE..HEAD, or BASE...HEAD for the merge base [default: where HEAD left its upstream, else HEAD]
    #[arg(value_name = "BASE")]
    base: Option<String>,
    /// The version to look at [default: the working tree]
    #[arg(value_name = "HEAD")]
    head: Option<String>,
    /// Use no history: a test may do whatever can be reached by name from a `main` (configures the project to list its tests)
    #[arg(long = "static")]
    is_static: bool,
    #[command(flatten)]
    witnesses: ChosenWitnesses,
    #[command(flatten)]
    ordering: Ordering,
    #[command(flatten)]
    listing: Listing,
}

pub(super) fn run(arguments: &Select) -> Result<()> {
    let repository = Repository::discover()?;
    let config = Config::read(&repository)?;
    arguments.listing.check(&repository, &config)?;
    let (base, head) = (arguments.base.as_deref(), arguments.head.as_deref());
    let wishes = arguments.ordering.wishes(&config, 1)?;
    let mut selection = match arguments.is_static {
        true => select_unrecorded(&repository, &config, base, head)?,
        false => select(
            &repository,
            &config,
            base,
            head,
            arguments.witnesses.chosen(),
        )?,
    };
    // A build of one's own knows all tests, though nothing was recorded of them.
    if selection.plan.tests.is_empty()
        && !arguments.listing.knows_tests()
        && let Some(reason) = &selection.everything
    {
        warn(&selection);
        return Err(Error::new(format!(
            "every test is selected, but none is known: {reason}"
        ))
        .hint(selection.hint.unwrap_or_default()));
    }
    let arrangement = arrange(&mut selection, &wishes, &|_| Vec::new())?;
    arguments.listing.print(&repository, &selection)?;
    say(&selection);
    say_arrangement(&selection, &wishes, &arrangement);
    arguments.witnesses.say(&selection);
    if let Some(hint) = selection.hint {
        notice!("hint: {hint}");
    }
    Ok(())
}

/// The selection between two versions, of which nothing is built.
pub(super) fn select(
    repository: &Repository,
    config: &Config,
    base: Option<&str>,
    head: Option<&str>,
    witnesses: Witnesses,
) -> Result<Selection> {
    let (base, head) = selected_between(repository, base, head)?;
    let question = Question {
        base,
        head,
        listing: None,
        fingerprint: None,
        built: None,
        all: false,
        witnesses,
    };
    selection(repository, config, &question, false, &mut waiting)
}

/// The same for a project of which nothing was recorded. The tests are those of the work tree.
fn select_unrecorded(
    repository: &Repository,
    config: &Config,
    base: Option<&str>,
    head: Option<&str>,
) -> Result<Selection> {
    let (base, head) = repository.resolve(base, head)?;
    let (session, _) = setup(repository, config, Interrupt::on_signals()?)?;
    session.build(Extent::Configure)?;
    let tests = session.list()?;
    let question = Question {
        base,
        head,
        listing: Some(&tests),
        fingerprint: None,
        built: None,
        all: false,
        witnesses: Witnesses::ALL,
    };
    unrecorded_selection(repository, config, &question)
}

/// What was found to be wrong with the histories.
pub(super) fn warn(selection: &Selection) {
    for notice in &selection.notices {
        anstream::eprintln!("warning: {notice}");
    }
}

/// What people should know about a selection.
pub(super) fn say(selection: &Selection) {
    warn(selection);
    for warning in warnings(selection) {
        // That nothing could be compared is told whoever wants to hear little; which files reach whom is not.
        if selection.everything.is_some() {
            anstream::eprintln!("{warning}");
        } else {
            notice!("{warning}");
        }
    }
    notice!("{}", summary(selection));
}

/// Says that what is told begins elsewhere than it was asked, where the base was not recorded.
pub(super) fn say_other_base(selection: &Selection) {
    let (base, known) = (selection.base, selection.baseline);
    if let Some(known) = known.filter(|known| known.tree() != base.tree()) {
        notice!("{base} has no history; what is told is what changed since {known}");
        notice!("hint: 'git rts run' at {base}, in a worktree of its own, gives it one");
    }
}
