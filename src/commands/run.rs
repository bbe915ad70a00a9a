//! `git rts run`: build, select, run what is selected, and keep what each test did.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;

use crate::commands::built::{Built, How};
use crate::commands::formats::{Format, Listing};
use crate::commands::ordering::{Ordering, say_arrangement};
use crate::commands::output::print_raw;
use crate::commands::own_tree;
use crate::commands::results::{can_write_junit, cases, write_junit};
use crate::commands::select::say;
use crate::commands::testing::{
    build, needs_work_tree, no_tests, report_doubts, report_kept, waiting,
};
use crate::commands::values::at_least_one;
use crate::commands::versions::selected_between;
use crate::commands::witnesses::ChosenWitnesses;
use crate::commands::{controls, idle, ledger};
use crate::config::Config;
use crate::emit::junit::junit;
use crate::emit::list::unrun::tap;
use crate::emit::progress::Meanwhile;
use crate::error::{Error, Result};
use crate::exit_code::ExitCode;
use crate::history::{self, PATIENCE, keep};
use crate::order::shard::Shard;
use crate::repo::Repository;
use crate::runner::{Interrupt, Limits};
use crate::selection::{RECORD, Selection};

/// Build, run the tests that a change can affect, and keep what they did
///
/// Compares the work tree with BASE, selects as `git rts select` does, and also tests that are new or defined in another way. After the run this version has a complete history: tests that ran have new traces, the others keep theirs. Exits with 100 if a test failed, with 101 if the project could not be built.
#[derive(Debug, Args)]
pub struct Run {
    /// The version to compare with: any revision [default: where HEAD left its upstream, else HEAD]
    #[arg(value_name = "BASE")]
    base: Option<String>,
    /// Run all tests, whatever changed
    #[arg(long)]
    all: bool,
    /// Build, then print the tests that would run
    #[arg(long)]
    dry_run: bool,
    /// Stop at the first failure; what is left stays selected
    #[arg(long)]
    fail_fast: bool,
    /// Stop after N failures
    #[arg(long, value_name = "N", conflicts_with = "fail_fast", value_parser = at_least_one)]
    max_fail: Option<NonZeroUsize>,
    /// How many tests run at once
    #[arg(short, long, value_name = "N", default_value = "1", value_parser = at_least_one)]
    jobs: NonZeroUsize,
    /// Write the results as JUnit XML
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// Keep nothing of this run
    #[arg(long)]
    no_record: bool,
    #[command(flatten)]
    witnesses: ChosenWitnesses,
    #[command(flatten)]
    ordering: Ordering,
    #[command(flatten)]
    listing: Listing,
    /// Arguments to add to the command of every test; what it does with them is not kept
    #[arg(last = true, value_name = "ARGUMENT")]
    extra: Vec<std::ffi::OsString>,
}

impl Run {
    fn limits(&self) -> Limits {
        let most = self.max_fail.map(NonZeroUsize::get);
        Limits {
            jobs: self.jobs.get(),
            failures: self.fail_fast.then_some(1).or(most),
        }
    }

    /// The skipped tests that run all the same. Who asks for other witnesses or techniques does not ask whether ours can be trusted.
    fn controls(
        &self,
        config: &Config,
        built: &Built<'_>,
        selection: &Selection,
        shard: Option<Shard>,
    ) -> Vec<usize> {
        let share = match config.is_shadow {
            true => 1.0,
            false => config.canary,
        };
        let is_ours = self.witnesses.are_all() && self.ordering.is_safe();
        match is_ours && self.extra.is_empty() {
            true => controls::drawn(built, selection, share, shard),
            false => Vec::new(),
        }
    }

    /// Where the results are written to.
    pub(super) fn written(&self) -> Option<&Path> {
        self.junit.as_deref()
    }
}

pub(super) fn run(arguments: &Run) -> Result<()> {
    run_until(arguments, &Interrupt::on_signals()?)
}

/// The run of those who are told of interrupts by somebody else.
pub(super) fn run_until(arguments: &Run, interrupt: &Arc<Interrupt>) -> Result<()> {
    let repository = Repository::discover()?;
    let config = Config::read(&repository)?;
    // First what can fail at once.
    needs_work_tree(&repository)?;
    if let Some(range) = arguments.base.as_deref().filter(|base| base.contains("..")) {
        return Err(Error::new(format!(
            "'{range}' is a range, but the work tree is what runs"
        ))
        .hint("name the base alone")
        .exit_code(ExitCode::Usage));
    }
    arguments.listing.check(&repository, &config)?;
    let reports = [Format::Plain, Format::Junit, Format::Tap];
    let lists = arguments.listing.knows_tests() || !reports.contains(&arguments.listing.format);
    if lists && !arguments.dry_run {
        return Err(Error::new("this lists tests; it tells nothing of a run")
            .hint("add '--dry-run' to list what would run; '--format junit' and '--format tap' tell how tests went")
            .exit_code(ExitCode::Usage));
    }
    if let Some(file) = &arguments.junit {
        can_write_junit(file)?;
    }
    let wishes = arguments.ordering.wishes(&config, arguments.jobs.get())?;
    if arguments.all && !wishes.limits.is_empty() {
        return Err(Error::new("'--all' leaves no room for a limit")
            .hint("'--technique all' orders all tests and runs those that fit")
            .exit_code(ExitCode::Usage));
    }
    let (base, _) = selected_between(&repository, arguments.base.as_deref(), None)?;
    let building = Meanwhile::show("building with counters");
    let (session, reason) = build(&repository, &config, interrupt)?;
    let tests = session.list()?;
    drop(building);
    if let Some(reason) = reason {
        notice!("recording with gcov, because {reason}");
    }
    if tests.is_empty() {
        return Err(no_tests(&session));
    }
    idle::warn(&repository, &config, &tests)?;
    let placer = session.placer(&repository, &config)?;
    let recorder = session.recorder(&placer);
    let recorder = recorder.as_ref();
    let built = Built::new(&repository, &config, &session, &tests, &placer, recorder)?;
    let mut selection = built.select(base, arguments.all, arguments.witnesses.chosen())?;
    let arrangement = built.arrange(&mut selection, &wishes)?;
    say(&selection);
    // That a run records is being done.
    if let Some(hint) = selection.hint.filter(|hint| *hint != RECORD) {
        notice!("hint: {hint}");
    }
    say_arrangement(&selection, &wishes, &arrangement);
    arguments.witnesses.say(&selection);
    let is_kept =
        !arguments.no_record && arguments.extra.is_empty() && !arguments.ordering.is_shard();
    if !is_kept && !selection.plan.owed.is_empty() {
        anstream::eprintln!(
            "warning: nothing is kept of this run, so what does not fit is not owed"
        );
    }
    if config.is_shadow {
        notice!("shadow mode: everything runs, and the selection is only compared");
    }
    if arguments.dry_run {
        return arguments.listing.print(&repository, &selection);
    }
    let how = How {
        extra: &arguments.extra,
        limits: arguments.limits(),
        controls: arguments.controls(&config, &built, &selection, wishes.shard),
        is_hasty: false,
        is_told: true,
    };
    let mut results = built.execute(&how, &selection);
    controls::judge(&built, &how, &selection, &mut results);
    built.note_left();
    // A shard is a part of a run, and yet what it finds out about the selection is true.
    let accused = match is_kept || !results.controls.is_empty() {
        true => ledger::enter(&built, &config, &selection, &results)?,
        false => Vec::new(),
    };
    let elsewhere = match own_tree::is_own(&repository) {
        true => {
            let head = repository.commit("HEAD")?;
            // What ran before it was committed says nothing of what changed.
            let known = selection
                .baseline
                .filter(|known| known.commit().is_some() && known.tree() != head.tree());
            // The first commit, or the last that a shallow clone has, has none before it.
            let parent = repository.commit(&format!("{}~1", head.id())).is_ok();
            let parent = if parent { "~1" } else { "" };
            let before = known.map_or_else(|| format!("{head}{parent}"), |known| known.to_string());
            Some((before, head))
        }
        false => None,
    };
    // A shard is a part of a run: what it saw is not the history of this version.
    if is_kept {
        let controls = std::mem::take(&mut results.control_recording);
        results.recording.replace(&controls);
        let recording = built.history(&mut results, selection)?;
        let kept = keep(
            &repository.create_rts_dir()?,
            built.version,
            &recording,
            PATIENCE,
            &mut waiting,
        )?;
        report_kept(kept);
        let ran = recording.tests().iter();
        report_doubts(ran.filter(|test| {
            test.ran_on == built.version && test.outcome != history::Outcome::NotRun
        }));
    }
    let sentences = results.sentences();
    let cases = cases(&session, &tests, &results, &sentences);
    let written = match &arguments.junit {
        Some(file) => write_junit(file, &cases),
        None => Ok(()),
    };
    let printed = match arguments.listing.format {
        Format::Junit => print_raw(&junit(&cases)),
        Format::Tap => {
            let results = cases.iter().map(|case| (case.name, case.result));
            print_raw(&tap(&results.collect::<Vec<_>>()))
        }
        _ => Ok(()),
    };
    ledger::accuse(&tests, &results, &accused);
    results.report(elsewhere.as_ref())?;
    written.and(printed)
}
