//! `git rts doctor`: checks everything that must be right, a line each.

mod build;
mod check;
mod clone;
mod disk;
mod histories;
mod hooks;
mod names;
mod place;
mod tools;
mod trust;

use clap::Args;

use crate::commands::output::{Format, print, print_json};
use crate::config::Config;
use crate::emit::plan_text::count;
use crate::error::{Error, Result};
use crate::repo::Repository;
use check::{Check, Status};

/// Check everything that must be right: tools, settings, counters, histories, hooks, disk
///
/// Prints a line for each check: ok, warn (it works, but selects more or less well than it could) or fail, with a hint. Nothing is built but a small program in the temporary folder, and nothing is changed.
#[derive(Debug, Args)]
pub struct Doctor {
    /// How to print it
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
}

pub(super) fn run(arguments: &Doctor) -> Result<()> {
    let checks = examine();
    match arguments.format {
        Format::Json => print_json(&serde_json::json!({ "version": 1, "checks": checks }))?,
        Format::Text => print(&checks.iter().map(Check::lines).collect::<String>())?,
    }
    let is_failed = |check: &&Check| check.status == Status::Fail;
    match checks.iter().filter(is_failed).count() {
        0 => Ok(()),
        failed => Err(Error::new(format!(
            "{} of {} failed",
            failed,
            count(checks.len(), "check")
        ))),
    }
}

/// Every check that can be made: what a failed one leaves unknown is left out.
fn examine() -> Vec<Check> {
    let mut checks = vec![place::git()];
    let repository = match Repository::discover() {
        Ok(repository) => repository,
        Err(error) => {
            checks.push(Check::failed("repository", &error));
            return checks;
        }
    };
    checks.push(place::repository(&repository));
    let Some(top) = repository.workdir() else {
        checks.push(place::bare());
        return checks;
    };
    let (work_tree, files) = place::work_tree(&repository);
    checks.push(work_tree);
    checks.push(clone::depth(&repository));
    if let Some(files) = &files {
        checks.extend(clone::contents(&repository, files));
    }
    checks.push(names::in_git(&repository));
    let config = match Config::read(&repository) {
        Ok(config) => {
            checks.push(names::file(top));
            config
        }
        Err(error) => {
            checks.push(Check::failed("settings", &error));
            checks.push(hooks::check(&repository));
            checks.push(disk::check(&repository));
            return checks;
        }
    };
    checks.push(tools::runner(top, &config));
    checks.extend(tools::compiler(top, &config));
    checks.push(tools::following());
    checks.push(build::check(&repository, &config, files.as_deref()));
    let (known, of_history) = histories::check(&repository, &config);
    checks.extend(of_history);
    checks.push(trust::check(&repository));
    checks.push(names::patterns(&config, files.as_deref(), known.as_deref()));
    checks.push(hooks::check(&repository));
    checks.push(disk::check(&repository));
    checks
}
