//! The hooks: which are installed, and whether git runs them.

use super::check::{Check, some_of};
use crate::commands::guard::Guard;
use crate::commands::hook;
use crate::config::{PRE_COMMIT_BUDGET, PRE_PUSH_BUDGET};
use crate::hooks::Hook;
use crate::repo::Repository;

pub(super) fn check(repository: &Repository) -> Check {
    let folder = match hook::folder(repository) {
        Ok(folder) => folder,
        Err(error) => return Check::failed("hooks", &error),
    };
    for setting in [&PRE_PUSH_BUDGET, &PRE_COMMIT_BUDGET] {
        if let Err(error) = Guard::new(repository, ("push", "git push"), setting) {
            return Check::failed("hooks", &error);
        }
    }
    let ours = Hook::ALL.iter().copied();
    let ours: Vec<Hook> = ours.filter(|hook| folder.state(*hook).is_ours()).collect();
    let asleep = ours.iter().filter(|hook| !folder.is_executable(**hook));
    let asleep: Vec<String> = asleep.map(|hook| hook.name().to_owned()).collect();
    if !asleep.is_empty() {
        return Check::fail(
            "hooks",
            format!(
                "git does not run {}: it may not be executed",
                some_of(&asleep)
            ),
            format!("'git rts hook install {}' puts it right", asleep[0]),
        );
    }
    let states = ours
        .iter()
        .map(|hook| format!("{} {}", hook.name(), folder.state(*hook).words()));
    let states: Vec<String> = states.collect();
    match (states.is_empty(), hook::manager_of(repository, &folder)) {
        (false, _) => Check::ok("hooks", states.join("; ")),
        (true, Some(manager)) => Check::ok("hooks", format!("{} manages them", manager.name())),
        (true, None) => Check::ok(
            "hooks",
            "none is installed; 'git rts hook install pre-push' does it",
        ),
    }
}
