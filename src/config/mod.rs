//! The configuration: `.git-rts.toml` at the top of the repository, and git's own `rts.*` beside it.

mod duration;
mod glob;

use std::collections::BTreeMap;
use std::time::Duration;

use globset::{Glob, GlobSet, GlobSetBuilder};
use serde::Deserialize;

use crate::error::{Error, Result};
use crate::order::Parameters;
use crate::order::smoothed::Alphas;
use crate::repo::{RepoPath, Repository};

pub use duration::duration;
pub use glob::NameGlob;

/// The file's name at the top of the work tree.
pub const FILE: &str = ".git-rts.toml";

/// What C sources are called unless the configuration adds to it.
const SOURCES: [&str; 3] = ["*.c", "*.h", "*.inc"];

/// The file as it is written. Every value may be left out.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Document {
    build: Build,
    tests: Tests,
    coverage: Coverage,
    files: Files,
    order: Order,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Order {
    by: Option<String>,
    seed: Option<u64>,
    alpha_execution: Option<f64>,
    alpha_faults: Option<f64>,
    alpha_coverage: Option<f64>,
    failures: Option<f64>,
    new_dangers: Option<f64>,
    all_dangers: Option<f64>,
    coverage: Option<f64>,
    floor: Option<f64>,
    start: Option<f64>,
}

impl Order {
    /// The constants, each checked.
    fn parameters(&self, seed: Option<&str>) -> Result<Parameters> {
        let default = Parameters::default();
        let checked = |name: &str, value: Option<f64>, default: f64, most: f64| match value {
            None => Ok(default),
            Some(value) if (0.0..=most).contains(&value) => Ok(value),
            Some(value) => Err(Error::new(format!("'order.{name}' cannot be {value}"))
                .hint(format!("it is a number from 0 to {most}"))),
        };
        let weight = |name, value, default| checked(name, value, default, 1e6);
        let alphas = default.alphas;
        let seed = match seed {
            Some(text) => Some(text.parse().map_err(|_| {
                Error::new(format!("'rts.seed' cannot be '{text}'")).hint("it is a whole number")
            })?),
            None => self.seed,
        };
        Ok(Parameters {
            alphas: Alphas {
                execution: checked(
                    "alpha_execution",
                    self.alpha_execution,
                    alphas.execution,
                    1.0,
                )?,
                faults: checked("alpha_faults", self.alpha_faults, alphas.faults, 1.0)?,
                coverage: checked("alpha_coverage", self.alpha_coverage, alphas.coverage, 1.0)?,
            },
            failures: weight("failures", self.failures, default.failures)?,
            new_dangers: weight("new_dangers", self.new_dangers, default.new_dangers)?,
            all_dangers: weight("all_dangers", self.all_dangers, default.all_dangers)?,
            coverage: weight("coverage", self.coverage, default.coverage)?,
            floor: weight("floor", self.floor, default.floor)?,
            // Tests that take no measurable time must not come before all others.
            start: weight("start", self.start, default.start)?.max(1e-6),
            seed: seed.unwrap_or(default.seed),
        })
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Build {
    configure: Option<String>,
    command: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Tests {
    runner: Option<String>,
    list: Option<String>,
    run: Option<String>,
    timeout: Option<String>,
    environment: Vec<String>,
    always: Vec<String>,
    nondeterministic: Vec<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Coverage {
    backend: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Files {
    sources: Vec<String>,
    ignore: Vec<String>,
    global: Vec<String>,
}

/// Which back end the user asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WantedBackend {
    #[default]
    Auto,
    Llvm,
    Gcov,
}

/// The settings of a repository: the file, and git's `rts.*` over it.
#[derive(Debug)]
pub struct Config {
    /// Options for the project's own configuration, for instance `-DENABLE_X=ON`.
    pub configure: Option<String>,
    /// Takes the place of the runner's own way to build.
    pub build: Option<String>,
    /// `ctest`, `automake`, `meson`, `make` or `command`; detected if it is not set.
    pub runner: Option<String>,
    pub list: Option<String>,
    pub run: Option<String>,
    pub timeout: Option<Duration>,
    /// Environment variables that count for the fingerprint.
    pub environment: Vec<String>,
    pub backend: WantedBackend,
    /// The order of tests, if no option says it, and its constants.
    pub order: crate::order::Order,
    pub parameters: Parameters,
    always: GlobSet,
    nondeterministic: GlobSet,
    sources: GlobSet,
    /// Changes here affect no test.
    ignore: GlobSet,
    /// Changes here affect every test.
    global: GlobSet,
}

/// Values that git's configuration has for a repository.
#[derive(Debug, Default)]
struct FromGit {
    single: BTreeMap<&'static str, String>,
    lists: BTreeMap<&'static str, Vec<String>>,
}

const SINGLE: [&str; 9] = [
    "configure",
    "build",
    "runner",
    "list",
    "run",
    "timeout",
    "backend",
    "order",
    "seed",
];
const LISTS: [&str; 6] = [
    "sources",
    "ignore",
    "global",
    "environment",
    "always",
    "nondeterministic",
];

impl Config {
    /// Reads the configuration of a repository; without a file, the defaults.
    pub fn read(repository: &Repository) -> Result<Self> {
        let text = match repository
            .workdir()
            .map(|top| std::fs::read_to_string(top.join(FILE)))
        {
            Some(Ok(text)) => text,
            Some(Err(error)) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(Error::new(format!("cannot read '{FILE}': {error}")));
            }
            _ => String::new(),
        };
        let mut from_git = FromGit::default();
        for name in SINGLE {
            let values = repository.config_list(&format!("rts.{name}"))?;
            from_git
                .single
                .extend(values.into_iter().map(|value| (name, value)));
        }
        for name in LISTS {
            let values = repository.config_list(&format!("rts.{name}"))?;
            from_git.lists.insert(name, values);
        }
        Self::parse(&text, from_git)
    }

    fn parse(text: &str, mut from_git: FromGit) -> Result<Self> {
        let document: Document = toml::from_str(text).map_err(|error| {
            let place = error.span().map_or(0, |span| span.start);
            let before = text.bytes().take(place);
            let line = 1 + before.filter(|byte| *byte == b'\n').count();
            Error::new(format!(
                "'{FILE}' line {line} is not valid: {}",
                error.message()
            ))
            .hint("the README lists every setting with its default")
        })?;
        let mut single = |name, own: Option<String>| from_git.single.remove(name).or(own);
        let timeout = single("timeout", document.tests.timeout);
        let backend = single("backend", document.coverage.backend);
        let order = single("order", document.order.by.clone());
        let seed = single("seed", None);
        let (configure, build) = (
            single("configure", document.build.configure),
            single("build", document.build.command),
        );
        let (runner, list, run) = (
            single("runner", document.tests.runner),
            single("list", document.tests.list),
            single("run", document.tests.run),
        );
        let mut joined = |name, own: Vec<String>| -> Vec<String> {
            let more = from_git.lists.remove(name).unwrap_or_default();
            own.into_iter().chain(more).collect()
        };
        let defaults = SOURCES.map(str::to_owned).into_iter();
        let sources = defaults.chain(joined("sources", document.files.sources));
        Ok(Config {
            configure,
            build,
            runner,
            list,
            run,
            timeout: timeout.as_deref().map(limit).transpose()?,
            environment: joined("environment", document.tests.environment),
            backend: backend
                .as_deref()
                .map_or(Ok(WantedBackend::Auto), backend_of)?,
            order: order
                .as_deref()
                .map_or(Ok(Default::default()), str::parse)?,
            parameters: document.order.parameters(seed.as_deref())?,
            always: patterns("always", joined("always", document.tests.always))?,
            nondeterministic: patterns(
                "nondeterministic",
                joined("nondeterministic", document.tests.nondeterministic),
            )?,
            sources: patterns("sources", sources.collect())?,
            ignore: patterns("ignore", joined("ignore", document.files.ignore))?,
            global: patterns("global", joined("global", document.files.global))?,
        })
    }

    /// The commands that decide what is built and what a test is, by name.
    pub fn commands(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let all = [
            ("configure", &self.configure),
            ("build", &self.build),
            ("list", &self.list),
            ("run", &self.run),
        ];
        let set = all.into_iter();
        set.filter_map(|(name, command)| Some((name, command.as_deref()?)))
    }

    /// Whether a file is read as C.
    #[must_use]
    pub fn is_source(&self, path: &RepoPath) -> bool {
        matches(&self.sources, path)
    }

    /// Whether a test is to run always.
    #[must_use]
    pub fn is_pinned(&self, test: &str) -> bool {
        self.always.is_match(test)
    }

    /// Whether a test may do something else when it runs again.
    #[must_use]
    pub fn is_nondeterministic(&self, test: &str) -> bool {
        self.nondeterministic.is_match(test)
    }

    /// Whether a change of a file affects no test, because the project says so.
    #[must_use]
    pub fn is_ignored(&self, path: &RepoPath) -> bool {
        matches(&self.ignore, path) && !self.is_global(path)
    }

    /// Whether a change of a file affects every test, because the project says so.
    #[must_use]
    pub fn is_global(&self, path: &RepoPath) -> bool {
        matches(&self.global, path)
    }
}

fn matches(patterns: &GlobSet, path: &RepoPath) -> bool {
    let text = String::from_utf8_lossy(path.as_bytes());
    let name = String::from_utf8_lossy(path.file_name());
    patterns.is_match(text.as_ref()) || patterns.is_match(name.as_ref())
}

fn patterns(what: &str, texts: Vec<String>) -> Result<GlobSet> {
    let mut patterns = GlobSetBuilder::new();
    for text in texts {
        let glob = Glob::new(&text).map_err(|error| {
            Error::new(format!("bad pattern '{text}' for {what}: {}", error.kind()))
        })?;
        patterns.add(glob);
    }
    patterns
        .build()
        .map_err(|error| Error::new(format!("bad patterns for {what}: {error}")))
}

/// How long a test may take.
fn limit(text: &str) -> Result<Duration> {
    let limit = duration(text)?;
    match limit.is_zero() {
        true => Err(
            Error::new("a timeout of nothing leaves no test the time to run")
                .hint("without 'timeout' a test may take 25 minutes"),
        ),
        false => Ok(limit),
    }
}

/// A back end by its name.
pub fn backend_of(name: &str) -> Result<WantedBackend> {
    match name {
        "auto" => Ok(WantedBackend::Auto),
        "llvm" => Ok(WantedBackend::Llvm),
        "gcov" => Ok(WantedBackend::Gcov),
        _ => Err(
            Error::new(format!("there is no coverage back end '{name}'"))
                .hint("the back ends are 'llvm', 'gcov' and 'auto'"),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_source(config: &Config, path: &str) -> bool {
        config.is_source(&RepoPath::new(path.as_bytes()))
    }

    fn parse(text: &str) -> Config {
        Config::parse(text, FromGit::default()).expect("it is valid")
    }

    #[test]
    fn c_sources_are_known_without_a_file() {
        let config = parse("");
        assert!(
            is_source(&config, "src/a.c")
                && is_source(&config, "a.h")
                && is_source(&config, "t/x.inc")
        );
        assert!(!is_source(&config, "a.cc") && !is_source(&config, "c"));
        assert_eq!(config.backend, WantedBackend::Auto);
    }

    #[test]
    fn the_file_and_git_add_patterns() {
        let mut from_git = FromGit::default();
        from_git
            .lists
            .insert("sources", vec!["gen/*.tab".to_owned()]);
        let config =
            Config::parse("[files]\nsources = [\"*.def\"]", from_git).expect("it is valid");
        assert!(
            is_source(&config, "a/b.def")
                && is_source(&config, "gen/x.tab")
                && is_source(&config, "a.c")
        );
    }

    #[test]
    fn git_has_the_last_word() {
        let mut from_git = FromGit::default();
        from_git.single.insert("timeout", "5s".to_owned());
        let text = "[tests]\ntimeout = \"2m\"\nrunner = \"make\"\n";
        let config = Config::parse(text, from_git).expect("it is valid");
        assert_eq!(config.timeout, Some(Duration::from_secs(5)));
        assert_eq!(config.runner.as_deref(), Some("make"));
    }

    #[test]
    fn what_affects_every_test_is_never_ignored() {
        let config = parse("[files]\nignore = [\"docs/**\", \"*.md\"]\nglobal = [\"docs/t.md\"]");
        let path = |text: &str| RepoPath::new(text.as_bytes());
        assert!(config.is_ignored(&path("docs/a/b.c")) && config.is_ignored(&path("x/README.md")));
        assert!(!config.is_ignored(&path("docs/t.md")) && config.is_global(&path("docs/t.md")));
    }

    #[test]
    fn a_misspelt_setting_is_an_error_with_its_line_and_a_hint() {
        let error = Config::parse("[files]\nsuorces = []", FromGit::default());
        let error = error.expect_err("it is unknown");
        assert!(error.message.contains("suorces"), "{}", error.message);
        assert!(error.message.contains("line 2"), "{}", error.message);
        assert!(!error.hints.is_empty());
        for text in [
            "[coverage]\nbackend = \"x\"",
            "[tests]\ntimeout = \"soon\"",
            "[tests]\ntimeout = \"0s\"",
            "[files]\nignore = [\"[\"]",
            "[order]\nby = \"luck\"",
            "[order]\nalpha_faults = 1.5",
            "[order]\nfailures = nan",
        ] {
            assert!(Config::parse(text, FromGit::default()).is_err(), "{text}");
        }
    }
}
