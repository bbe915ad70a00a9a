//! The configuration: `.git-rts.toml` at the top of the repository, and git's own `rts.*` beside it.

mod duration;
mod glob;
pub mod misspelt;
mod patterns;
mod settings;

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Deserialize;

use crate::error::{Error, Result};
use crate::order::Parameters;
use crate::order::smoothed::Alphas;
use crate::repo::{RepoPath, Repository};

pub use duration::duration;
pub use glob::NameGlob;
pub use settings::{PRE_COMMIT_BUDGET, PRE_PUSH_BUDGET, SETTINGS, Setting, file_with};

use patterns::Patterns;

/// The file's name at the top of the work tree.
pub const FILE: &str = ".git-rts.toml";

/// What C sources are called unless the configuration adds to it.
const SOURCES: [&str; 4] = ["*.c", "*.h", "*.inc", "*.inl"];

/// The file as it is written. Every value may be left out.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Document {
    build: Build,
    tests: Tests,
    coverage: Coverage,
    files: Files,
    order: Order,
    trust: Trust,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Trust {
    mode: Option<String>,
    canary: Option<String>,
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
    /// Whether everything runs, and the selection is only compared.
    pub is_shadow: bool,
    /// The share of the skipped tests that run all the same.
    pub canary: f64,
    always: Patterns,
    nondeterministic: Patterns,
    sources: Patterns,
    /// Changes here affect no test.
    ignore: Patterns,
    /// Changes here affect every test.
    global: Patterns,
}

/// Values that git's configuration has for a repository.
#[derive(Debug, Default)]
struct FromGit {
    single: BTreeMap<&'static str, String>,
    lists: BTreeMap<&'static str, Vec<String>>,
}

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
        let of_file = SETTINGS.iter().filter(|setting| setting.place.is_some());
        for (name, is_list) in of_file.filter_map(|setting| Some((setting.git?, setting.is_list))) {
            let values = repository.config_list(&format!("rts.{name}"))?;
            if is_list {
                from_git.lists.insert(name, values);
            } else {
                let values = values.into_iter().map(|value| (name, value));
                from_git.single.extend(values);
            }
        }
        Self::parse(&text, from_git)
    }

    fn parse(text: &str, mut from_git: FromGit) -> Result<Self> {
        let document: Document = toml::from_str(text).map_err(|error| {
            let place = error.span().map_or(0, |span| span.start);
            let before = text.bytes().take(place);
            let line = 1 + before.filter(|byte| *byte == b'\n').count();
            let said = error.message();
            let error = Error::new(format!("'{FILE}' line {line} is not valid: {said}"));
            let meant = misspelt::in_file(text).into_iter();
            let meant = meant.filter_map(|name| {
                let right = name.meant?;
                Some(format!("'{}' is perhaps '{right}'", name.name))
            });
            meant
                .fold(error, Error::hint)
                .hint("the manual lists every setting: 'git rts install-man', then 'git help rts'")
        })?;
        let mut single = |name, own: Option<String>| from_git.single.remove(name).or(own);
        let timeout = single("timeout", document.tests.timeout);
        let backend = single("backend", document.coverage.backend);
        let order = single("order", document.order.by.clone());
        let seed = single("seed", None);
        let mode = single("mode", document.trust.mode);
        let canary = single("canary", document.trust.canary);
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
            timeout: timeout
                .as_deref()
                .map(|text| limit(text).map_err(set_by("tests.timeout", "timeout")))
                .transpose()?,
            environment: joined("environment", document.tests.environment),
            backend: backend
                .as_deref()
                .map_or(Ok(WantedBackend::Auto), backend_of)
                .map_err(set_by("coverage.backend", "backend"))?,
            order: order
                .as_deref()
                .map_or(Ok(Default::default()), str::parse)
                .map_err(set_by("order.by", "order"))?,
            parameters: document.order.parameters(seed.as_deref())?,
            is_shadow: mode
                .as_deref()
                .map_or(Ok(false), is_shadow)
                .map_err(set_by("trust.mode", "mode"))?,
            canary: canary
                .as_deref()
                .map_or(Ok(0.0), share)
                .map_err(set_by("trust.canary", "canary"))?,
            always: Patterns::new("always", joined("always", document.tests.always))?,
            nondeterministic: Patterns::new(
                "nondeterministic",
                joined("nondeterministic", document.tests.nondeterministic),
            )?,
            sources: Patterns::new("sources", sources.collect())?,
            ignore: Patterns::new("ignore", joined("ignore", document.files.ignore))?,
            global: Patterns::new("global", joined("global", document.files.global))?,
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
        self.sources.is_match_path(path)
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
        self.ignore.is_match_path(path) && !self.is_global(path)
    }

    /// Whether a change of a file affects every test, because the project says so.
    #[must_use]
    pub fn is_global(&self, path: &RepoPath) -> bool {
        self.global.is_match_path(path)
    }

    /// The patterns that match none of these tests, each with the name of its setting.
    #[must_use]
    pub fn idle_for_tests(&self, tests: &[&str]) -> Vec<(&'static str, &str)> {
        let lists = [
            ("tests.always", &self.always),
            ("tests.nondeterministic", &self.nondeterministic),
        ];
        let mut idle = Vec::new();
        for (name, list) in lists {
            let unmatched = list.unmatched(tests.iter().copied()).into_iter();
            idle.extend(unmatched.map(|text| (name, text)));
        }
        idle
    }

    /// The patterns that match none of these files, each with the name of its setting.
    #[must_use]
    pub fn idle_for_files(&self, files: &[RepoPath]) -> Vec<(&'static str, &str)> {
        let lists = [
            ("files.sources", &self.sources),
            ("files.ignore", &self.ignore),
            ("files.global", &self.global),
        ];
        let mut idle = Vec::new();
        for (name, list) in lists {
            let unmatched = list.unmatched_paths(files).into_iter();
            // Nobody wrote the defaults.
            let written = unmatched.filter(|text| !SOURCES.contains(text));
            idle.extend(written.map(|text| (name, text)));
        }
        idle
    }
}

/// Where a value stands that cannot be.
pub fn set_by(in_file: &'static str, in_git: &'static str) -> impl Fn(Error) -> Error {
    move |error| {
        error.hint(format!(
            "it is '{in_file}' in '{FILE}', or 'rts.{in_git}' in git's configuration"
        ))
    }
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

/// Whether a mode is that in which everything runs.
fn is_shadow(name: &str) -> Result<bool> {
    match name {
        "enforce" => Ok(false),
        "shadow" => Ok(true),
        _ => Err(Error::new(format!("there is no mode '{name}'"))
            .hint("the modes are 'enforce' and 'shadow'")),
    }
}

/// A share as people write it, such as `1%`.
fn share(text: &str) -> Result<f64> {
    let number = text.trim().strip_suffix('%');
    let percent = number.and_then(|number| number.trim().parse::<f64>().ok());
    match percent.filter(|percent| (0.0..=100.0).contains(percent)) {
        Some(percent) => Ok(percent / 100.0),
        None => Err(Error::new(format!("'canary' cannot be '{text}'"))
            .hint("it is a share of the skipped tests, such as '1%'")),
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
                && is_source(&config, "include/x.inl")
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
            "[trust]\nmode = \"maybe\"",
            "[trust]\ncanary = \"0.01\"",
            "[trust]\ncanary = \"101%\"",
        ] {
            assert!(Config::parse(text, FromGit::default()).is_err(), "{text}");
        }
    }

    /// The names that the reader would have taken in place of one that it does not know.
    fn expected(text: &str) -> Vec<String> {
        let error = toml::from_str::<Document>(text).expect_err("it is unknown");
        let said = error.message().to_owned();
        let (_, names) = said.split_once("expected").expect("it says what it knows");
        let quoted = names.split('`').skip(1).step_by(2);
        quoted.map(str::to_owned).collect()
    }

    #[test]
    fn every_setting_that_is_read_is_in_the_table_and_none_besides() {
        let read = expected("unknown = 1").into_iter().flat_map(|table| {
            let names = expected(&format!("[{table}]\nunknown = 1")).into_iter();
            names.map(move |name| format!("{table}.{name}"))
        });
        let places = SETTINGS.iter().filter_map(|setting| setting.place);
        let known = places.map(|(table, name)| format!("{table}.{name}"));
        let sorted = |names: &mut dyn Iterator<Item = String>| {
            let mut names: Vec<String> = names.collect();
            names.sort();
            names
        };
        assert_eq!(sorted(&mut { read }), sorted(&mut { known }));
    }

    #[test]
    fn the_file_for_a_new_project_is_valid_and_shows_the_defaults() {
        let text = file_with(&[]);
        assert!(
            text.lines()
                .all(|line| !line.contains(" = ") || line.starts_with('#'))
        );
        parse(&text);
        let all: String = text
            .lines()
            .map(|line| match line.strip_prefix('#') {
                Some(setting) if !setting.starts_with(' ') => format!("{setting}\n"),
                _ => format!("{line}\n"),
            })
            .collect();
        let (shown, default) = (parse(&all), parse(""));
        assert_eq!(shown.parameters, default.parameters);
        assert_eq!(shown.order, default.order);
        assert_eq!(shown.backend, default.backend);
        assert_eq!(shown.is_shadow, default.is_shadow);
        assert!(shown.canary == default.canary);
        assert_eq!(shown.timeout, Some(crate::runner::DEFAULT_TIMEOUT));
        assert_eq!(shown.environment, default.environment);
        assert!(shown.run.is_some() && shown.list.is_some() && shown.build.is_some());
        let set = file_with(&[(("tests", "runner"), "\"make\"".to_owned())]);
        assert_eq!(parse(&set).runner.as_deref(), Some("make"));
    }

    #[test]
    fn patterns_that_match_nothing_are_found() {
        let config = parse(
            "[tests]\nalways = [\"slow_*\", \"gone_*\"]\n[files]\nignore = [\"*.md\", \"doc/**\"]\nsources = [\"*.def\"]",
        );
        let idle = config.idle_for_tests(&["slow_one", "fast"]);
        assert_eq!(idle, [("tests.always", "gone_*")]);
        let files = ["a/README.md", "x.def", "main.c"].map(|path| RepoPath::new(path.as_bytes()));
        assert_eq!(config.idle_for_files(&files), [("files.ignore", "doc/**")]);
    }
}
