//! The baseline: the nearest version with a history that can be used.

use std::collections::BTreeMap;

use super::{Question, Witnesses};
use crate::config::Config;
use crate::error::Result;
use crate::history::{Histories, History, Ledger, VersionKey};
use crate::lang::c;
use crate::recording::fingerprint;
use crate::repo::{CommitId, Repository, Version};

/// So far back a history is looked for.
const FARTHEST: usize = 10_000;

/// What there is to compare with.
pub enum Baseline {
    Found {
        history: History,
        /// What has the tree of the history.
        version: Version,
    },
    Missing {
        reason: String,
        /// What to do about it.
        hint: &'static str,
        /// A history that cannot be used for skipping, but knows the tests.
        newest: Option<History>,
    },
}

/// What to do where nothing can be compared with.
pub const RECORD: &str = "'git rts run' runs and records all tests; from then on it selects";
const COMMIT: &str = "what was recorded last is not committed: once it is, its history counts";
const TRUST: &str = "'git rts trust' shows the evidence, and 'git rts trust --acknowledge REASON' selects again as usual";

/// Looks among the base and its ancestors, then among the ancestors of the head, then at the head itself; a complete history is
/// better than one in which tests are missing.
pub(super) fn find(
    repository: &Repository,
    config: &Config,
    histories: &Histories,
    question: &Question<'_>,
) -> Result<Baseline> {
    if let Some(reason) = Ledger::of(&repository.rts_dir()).distrust() {
        return Ok(Baseline::Missing {
            reason,
            hint: TRUST,
            newest: newest(histories)?,
        });
    }
    if histories.list()?.is_empty() {
        return Ok(Baseline::Missing {
            reason: "there is no history yet".to_owned(),
            hint: RECORD,
            newest: None,
        });
    }
    let mut search = Search {
        repository,
        config,
        histories,
        question,
        partial: None,
        refused: None,
    };
    let starts = [
        question.base.commit(),
        question.head.commit().or_else(|| head_commit(repository)),
    ];
    for start in starts.into_iter().flatten() {
        if let Some(found) = search.from(start)? {
            return Ok(found);
        }
    }
    // Work that is not committed has a history of its own: it counts for that very tree.
    if let Some(own) = search.accept(question.head)? {
        return Ok(own);
    }
    if let Some(partial) = search.partial {
        return Ok(partial);
    }
    if let Some((reason, history)) = search.refused {
        return Ok(Baseline::Missing {
            reason,
            hint: RECORD,
            newest: Some(history),
        });
    }
    let newest = newest(histories)?;
    let is_uncommitted = |history: &History| history.version().commit.is_none();
    Ok(Baseline::Missing {
        reason: match repository.is_shallow() {
            true => "no version of this shallow clone has a history".to_owned(),
            false => format!("no ancestor of {} has a history", question.base),
        },
        hint: match newest.as_ref().is_some_and(is_uncommitted) {
            true => COMMIT,
            false => RECORD,
        },
        newest,
    })
}

/// What a version that is not built would be compared with.
pub fn baseline_of(
    repository: &Repository,
    config: &Config,
    histories: &Histories,
    version: Version,
) -> Result<Baseline> {
    let question = Question {
        base: version,
        head: version,
        listing: None,
        fingerprint: None,
        built: None,
        all: false,
        witnesses: Witnesses::ALL,
    };
    find(repository, config, histories, &question)
}

fn head_commit(repository: &Repository) -> Option<CommitId> {
    repository.commit("HEAD").ok()?.commit()
}

/// The history of the head itself, or of its nearest ancestor: how tests last ended on the way here.
pub(super) fn latest(
    repository: &Repository,
    histories: &Histories,
    head: Version,
) -> Result<Option<History>> {
    let find = |version: Version| {
        histories.find(VersionKey {
            commit: version.commit(),
            tree: version.tree(),
        })
    };
    if let Some(own) = find(head)? {
        return Ok(Some(own));
    }
    let Some(from) = head.commit().or_else(|| head_commit(repository)) else {
        return Ok(None);
    };
    repository.nearest(from, FARTHEST, find)
}

/// The names of the tests that are known where a version stands: from the history that is nearest to it, or else from the newest,
/// which may be one of work that was never committed.
pub fn known_tests(
    repository: &Repository,
    histories: &Histories,
    version: Version,
) -> Result<Vec<String>> {
    let history = match latest(repository, histories, version)? {
        Some(history) => Some(history),
        None => newest(histories)?,
    };
    let tests = history.map_or(Ok(BTreeMap::new()), |history| history.tests())?;
    Ok(tests.into_values().map(|test| test.name).collect())
}

fn newest(histories: &Histories) -> Result<Option<History>> {
    let all = histories.list()?;
    let newest = all.iter().max_by_key(|summary| summary.created);
    newest.map_or(Ok(None), |summary| histories.find(summary.version))
}

struct Search<'a> {
    repository: &'a Repository,
    config: &'a Config,
    histories: &'a Histories,
    question: &'a Question<'a>,
    /// The nearest history that is not complete.
    partial: Option<Baseline>,
    /// The nearest history that cannot be used, and why.
    refused: Option<(String, History)>,
}

impl Search<'_> {
    fn from(&mut self, start: CommitId) -> Result<Option<Baseline>> {
        let repository = self.repository;
        repository.nearest(start, FARTHEST, |version| self.accept(version))
    }

    /// The history of a version, if it has one that can be used.
    fn accept(&mut self, version: Version) -> Result<Option<Baseline>> {
        let key = VersionKey {
            commit: version.commit(),
            tree: version.tree(),
        };
        let Some(history) = self.histories.find(key)? else {
            return Ok(None);
        };
        let about = history.about();
        let obstacle = match &about {
            Err(error) => Some(error.message.clone()),
            Ok(about) if about.front_end != c::VERSION => {
                Some("it was recorded by another version of git rts".to_owned())
            }
            Ok(about) => self.other_fingerprint(&about.fingerprint),
        };
        if let Some(obstacle) = obstacle {
            let reason = format!("the history of {version} cannot be used: {obstacle}");
            self.refused.get_or_insert((reason, history));
            return Ok(None);
        }
        let found = Baseline::Found { history, version };
        if about.is_ok_and(|about| about.partial) {
            self.partial.get_or_insert(found);
            return Ok(None);
        }
        Ok(Some(found))
    }

    /// What is not as it was when the history was recorded: of a head that is not built, as far as that can be told.
    fn other_fingerprint(&self, recorded: &BTreeMap<String, String>) -> Option<String> {
        match self.question.fingerprint {
            Some(now) => fingerprint::difference(recorded, now),
            None => fingerprint::difference_without_build(recorded, self.config, self.repository),
        }
    }
}
