//! The history that a question is answered from: that of the work tree or of HEAD, or else of the nearest ancestor.

use std::collections::BTreeMap;

use crate::config::Config;
use crate::difference::SameVersion;
use crate::error::{Error, Result};
use crate::history::{
    About, FunctionTraces, Histories, History, TestNumber, TestRecord, VersionKey,
};
use crate::lang::c;
use crate::lang::facts::MadeFacts;
use crate::repo::{Repository, Version};

/// So far back a history is looked for.
const FARTHEST: usize = 10_000;

/// A version with all that its tests did.
pub struct Past {
    pub version: Version,
    pub about: About,
    pub tests: BTreeMap<TestNumber, TestRecord>,
    pub functions: Vec<FunctionTraces>,
    /// What people should know about it.
    pub notices: Vec<String>,
}

impl Past {
    /// The tests whose traces do not tell everything, with the reason.
    pub fn doubtful(&self) -> impl Iterator<Item = (&TestRecord, String)> {
        self.tests.values().filter_map(|test| {
            let is_unrun = test.outcome == crate::history::Outcome::NotRun;
            let beyond = || test.beyond_trace.as_ref().map(ToString::to_string);
            let unrun = || is_unrun.then(|| "it was not run".to_owned());
            Some((test, test.doubt.clone().or_else(beyond).or_else(unrun)?))
        })
    }

    /// The entities of the version.
    pub fn entities(&self, repository: &Repository, config: &Config) -> Result<SameVersion> {
        SameVersion::read(repository, config, self.version, self.about.made.clone())
    }
}

/// Finds and reads the nearest history; `revision` stands in for the work tree and HEAD.
pub fn past(
    repository: &Repository,
    histories: &Histories,
    revision: Option<&str>,
) -> Result<Past> {
    let start = match revision {
        Some(revision) => repository.commit(revision)?,
        None => head_of(repository)?,
    };
    let mut search = Search::default();
    let Some((history, version)) = search.nearest(repository, histories, start)? else {
        return Err(missing(repository, histories, search.is_refused));
    };
    let about = history.about()?;
    let mut notices = Vec::new();
    if about.partial {
        notices.push(format!(
            "the history of {version} is not complete: some tests are not in it"
        ));
    }
    if version.tree() != start.tree() {
        notices.push(format!(
            "answered from the history of {version}, the nearest to {start}"
        ));
    }
    Ok(Past {
        version,
        tests: history.tests()?,
        functions: history.functions_in(&history.files()?)?,
        about,
        notices,
    })
}

/// The work tree, by the name of the commit if it is as committed.
fn head_of(repository: &Repository) -> Result<Version> {
    let head = repository.default_head()?;
    let committed = repository.commit("HEAD")?;
    let is_same = committed.tree() == head.tree();
    Ok(if is_same { committed } else { head })
}

/// What the last build on the way to a version said in C that is not in the tree; nothing, if nobody recorded one.
#[must_use]
pub fn made_before(
    repository: &Repository,
    histories: &Histories,
    version: Version,
) -> Vec<MadeFacts> {
    let found = Search::default().nearest(repository, histories, version);
    let about = found.ok().flatten().map(|(history, _)| history.about());
    about
        .and_then(Result::ok)
        .map_or(Vec::new(), |about| about.made)
}

#[derive(Default)]
struct Search {
    /// The nearest history that is not complete.
    partial: Option<(History, Version)>,
    is_refused: bool,
}

impl Search {
    fn nearest(
        &mut self,
        repository: &Repository,
        histories: &Histories,
        start: Version,
    ) -> Result<Option<(History, Version)>> {
        if let Some(own) = self.accept(histories, start)? {
            return Ok(Some(own));
        }
        let from = match start.commit() {
            Some(commit) => Some(commit),
            None => repository.commit("HEAD")?.commit(),
        };
        let found = from.map_or(Ok(None), |from| {
            repository.nearest(from, FARTHEST, |version| self.accept(histories, version))
        })?;
        Ok(found.or(self.partial.take()))
    }

    fn accept(
        &mut self,
        histories: &Histories,
        version: Version,
    ) -> Result<Option<(History, Version)>> {
        let key = VersionKey {
            commit: version.commit(),
            tree: version.tree(),
        };
        let Some(history) = histories.find(key)? else {
            return Ok(None);
        };
        // Edges are numbered by the front end.
        if history.front_end() != c::VERSION {
            self.is_refused = true;
            return Ok(None);
        }
        if history.about()?.partial {
            self.partial.get_or_insert((history, version));
            return Ok(None);
        }
        Ok(Some((history, version)))
    }
}

fn missing(repository: &Repository, histories: &Histories, is_refused: bool) -> Error {
    let nothing = histories.list().is_ok_and(|all| all.is_empty());
    let error = Error::new(match (nothing, is_refused) {
        (true, _) => "there is no history yet",
        (_, true) => "all histories on the way here were recorded by another version of git rts",
        _ if repository.is_shallow() => "no version of this shallow clone has a history",
        _ => "neither this version nor an ancestor of it has a history",
    });
    error.hint("'git rts run' runs and records the tests of the work tree")
}
