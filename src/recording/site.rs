//! Where a project is built and tested: the folders of a workshop, and the environment that counts in all of them.

use std::ffi::OsString;

use super::fingerprint;
use crate::runner::Site;
use crate::workshop::Workshop;

/// The site of a workshop, with more variables.
pub(super) fn site_of(
    workshop: &Workshop,
    variables: Vec<(OsString, OsString)>,
    jobs: usize,
) -> Site {
    let root = workshop.tree.parent().unwrap_or(&workshop.tree);
    // The copy has no repository of its own, and the one around it is none of a test's business.
    let ceiling = ("GIT_CEILING_DIRECTORIES".into(), root.into());
    let variables = variables.into_iter().chain([ceiling]);
    let mut environment: Vec<(OsString, Option<OsString>)> =
        variables.map(|(name, value)| (name, Some(value))).collect();
    // What a make says that called us is not meant for the makes that we call.
    if fingerprint::is_called_by_make() {
        environment.extend(fingerprint::OF_MAKE.map(|name| (name.into(), None)));
    }
    Site {
        tree: workshop.tree.clone(),
        build: workshop.build.clone(),
        environment,
        jobs,
    }
}

/// As many processes at once as there are processors.
pub(super) fn all_processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}
