//! Whether a skip was found to be wrong.

use super::check::Check;
use crate::history::Ledger;
use crate::repo::Repository;

pub(super) fn check(repository: &Repository) -> Check {
    match Ledger::of(&repository.rts_dir()).distrust() {
        None => Check::ok("trust", "no skip is known to have been wrong"),
        Some(why) => Check::fail(
            "trust",
            format!("everything is selected: {why}"),
            "'git rts trust' shows the evidence, and 'git rts trust --acknowledge REASON' trusts again",
        ),
    }
}
