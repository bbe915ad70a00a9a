//! The verbs of `git rts`: one file each, and the help of each on its arguments.

/// Says something on stderr that nobody needs who wants quiet.
macro_rules! notice {
    ($($text:tt)*) => {
        if !$crate::emit::loudness::is_quiet() {
            anstream::eprintln!($($text)*);
        }
    };
}

mod audit;
mod built;
mod completions;
mod controls;
mod coverage;
mod dead;
mod demo;
mod diff;
mod doctor;
mod formats;
mod gc;
mod graph;
mod guard;
mod haste;
mod history;
mod hook;
mod idle;
mod impact;
mod init;
mod ledger;
mod man;
mod man_pages;
mod needs_c;
mod ordering;
mod output;
mod owed;
mod own_tree;
mod patterns;
mod record;
mod rehearsal;
mod replay;
mod report;
mod results;
mod run;
mod select;
mod simulate;
mod submodules;
mod survey;
mod synopsis;
mod template;
mod test_files;
mod testing;
mod trial;
mod trust;
mod values;
mod verdict;
mod versions;
mod watch;
mod why;
mod witnesses;

pub use output::report_error;

use clap::{ColorChoice, Parser, Subcommand};

use crate::error::Result;
use crate::exit_code::ExitCode;

/// Run only the tests that a change can affect
///
/// `git rts` compares two versions of a C project, function by function and edge by edge of their control-flow graphs, and says what changed, what that affects, and which paths through the code are in danger.
///
/// Doubt always counts as a change, and the output says why.
#[derive(Debug, Parser)]
#[command(name = "git-rts", bin_name = "git rts", version, max_term_width = 100, after_help = ExitCode::sentence())]
pub struct Cli {
    /// When to use colours
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub color: ColorChoice,
    /// Say only what failed, and warnings
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub quiet: bool,
    /// Tell more: of each test that runs how it went
    #[arg(short, long, global = true)]
    pub verbose: bool,
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    Audit(audit::Audit),
    Completions(completions::Completions),
    Coverage(coverage::Coverage),
    Dead(dead::DeadEntities),
    Demo(demo::Demo),
    Diff(diff::Diff),
    Doctor(doctor::Doctor),
    Gc(gc::Gc),
    Graph(graph::Graph),
    History(history::ShowHistory),
    Hook(hook::Hooks),
    Impact(impact::ImpactOf),
    Init(init::Init),
    InstallMan(man::InstallMan),
    Owed(owed::Owed),
    Record(record::Record),
    Replay(replay::Replay),
    Report(report::WriteReport),
    Run(run::Run),
    Select(select::Select),
    Simulate(simulate::Simulate),
    Survey(survey::Survey),
    Template(template::Template),
    Trust(trust::Trust),
    Watch(watch::WatchSaves),
    Why(why::Why),
}

/// Runs a verb.
pub fn run(command: &Command) -> Result<()> {
    match command {
        Command::Audit(arguments) => audit::run(arguments),
        Command::Completions(arguments) => completions::run(arguments),
        Command::Coverage(arguments) => coverage::run(arguments),
        Command::Dead(arguments) => dead::run(arguments),
        Command::Demo(arguments) => demo::run(arguments),
        Command::Diff(arguments) => diff::run(arguments),
        Command::Doctor(arguments) => doctor::run(arguments),
        Command::Gc(arguments) => gc::run(arguments),
        Command::Graph(arguments) => graph::run(arguments),
        Command::History(arguments) => history::run(arguments),
        Command::Hook(arguments) => hook::run(arguments),
        Command::Impact(arguments) => impact::run(arguments),
        Command::Init(arguments) => init::run(arguments),
        Command::InstallMan(arguments) => man::run(arguments),
        Command::Owed(arguments) => owed::run(arguments),
        Command::Record(arguments) => record::run(arguments),
        Command::Replay(arguments) => replay::run(arguments),
        Command::Report(arguments) => report::run(arguments),
        Command::Run(arguments) => run::run(arguments),
        Command::Select(arguments) => select::run(arguments),
        Command::Simulate(arguments) => simulate::run(arguments),
        Command::Survey(arguments) => survey::run(arguments),
        Command::Template(arguments) => template::run(arguments),
        Command::Trust(arguments) => trust::run(arguments),
        Command::Watch(arguments) => watch::run(arguments),
        Command::Why(arguments) => why::run(arguments),
    }
}
