//! The two versions that a verb compares, as its arguments name them.

use clap::{Args, ValueEnum};

use crate::error::Result;
use crate::lang::c;
use crate::repo::{Repository, Version};

#[derive(Debug, Args)]
pub(super) struct Versions {
    /// The version to compare with: any revision, BASE..HEAD, or BASE...HEAD for the merge base [default: where HEAD left its upstream, else HEAD]
    #[arg(value_name = "BASE")]
    pub base: Option<String>,
    /// The version to look at [default: the working tree]
    #[arg(value_name = "HEAD")]
    pub head: Option<String>,
    /// How finely control flow is told apart
    #[arg(long, value_enum, default_value_t = Granularity::Edge)]
    pub granularity: Granularity,
}

/// The versions between which tests are selected by what was recorded. Whatever has a history is what counts in the end, and a clone
/// without a past selects everything.
pub(super) fn selected_between(
    repository: &Repository,
    base: Option<&str>,
    head: Option<&str>,
) -> Result<(Version, Version)> {
    match repository.resolve(base, head) {
        Err(_) if base.is_none() && repository.is_shallow() => {
            notice!("this clone is shallow, so HEAD is what it is compared with");
            repository.resolve(Some("HEAD"), head)
        }
        resolved => resolved,
    }
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(super) enum Granularity {
    /// Each operand of && and ||, each arm of ?: has its own edges
    Edge,
    /// A node for each statement, as in the paper
    Statement,
}

impl Versions {
    pub(super) fn resolve(&self, repository: &Repository) -> Result<(Version, Version)> {
        repository.resolve(self.base.as_deref(), self.head.as_deref())
    }

    pub(super) fn granularity(&self) -> c::Granularity {
        match self.granularity {
            Granularity::Edge => c::Granularity::Expression,
            Granularity::Statement => c::Granularity::Statement,
        }
    }
}
