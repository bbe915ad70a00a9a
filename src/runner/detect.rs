//! Which runner a project's tests are for.

use std::path::Path;

use super::{RUNNERS, Runner, Settings};
use crate::error::{Error, Result};

/// The runner that the configuration names, or else the first that the tree looks like.
pub fn detect(tree: &Path, settings: &Settings) -> Result<&'static dyn Runner> {
    if let Some(name) = &settings.runner {
        let found = RUNNERS.into_iter().find(|runner| runner.name() == name);
        return found.ok_or_else(|| {
            let known = RUNNERS.map(Runner::name).join(", ");
            Error::new(format!("there is no runner '{name}'"))
                .hint(format!("the runners are {known}"))
                .hint("it is 'tests.runner' in '.git-rts.toml', or 'rts.runner' in git's configuration")
        });
    }
    // The two commands are said by nobody who does not mean them; one alone is an error of that runner.
    let is_said = settings.run.is_some() || settings.list.is_some();
    let named = RUNNERS
        .into_iter()
        .find(|runner| runner.name() == "command" && is_said);
    let fitting = || fitting(tree).next().map(|(runner, _)| runner);
    named.or_else(fitting).ok_or_else(|| {
        Error::new("no tests were found that are run by CTest, Meson, Automake, cargo or make")
            .hint("say in '.git-rts.toml' how tests are listed and run:")
            .hint("[tests]")
            .hint("list = \"cat tests/list\"        # prints a test a line")
            .hint("run = \"tests/run-one {test}\"   # runs one test; exit 0 pass, 77 skip")
    })
}

/// Every runner that the tree looks like, with the reason, in the order in which they are taken.
pub fn fitting(tree: &Path) -> impl Iterator<Item = (&'static dyn Runner, String)> {
    let all = RUNNERS.into_iter();
    all.filter_map(move |runner| Some((runner, runner.evidence(tree)?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn detected(files: &[(&str, &str)], settings: &Settings) -> Result<&'static str> {
        let tree = tempfile::tempdir().expect("there is room");
        for (name, text) in files {
            let file = tree.path().join(name);
            std::fs::create_dir_all(file.parent().expect("it is in the tree")).expect("fresh");
            std::fs::write(file, text).expect("there is room");
        }
        detect(tree.path(), settings).map(Runner::name)
    }

    fn name(files: &[(&str, &str)]) -> &'static str {
        detected(files, &Settings::default()).expect("it is known")
    }

    #[test]
    fn projects_are_known_by_their_files() {
        let cmake = ("CMakeLists.txt", "project(x)\nInclude( CTest )\n");
        let automake = ("configure.ac", "AC_INIT\nAM_INIT_AUTOMAKE\n");
        assert_eq!(name(&[cmake, automake]), "ctest");
        assert_eq!(
            name(&[
                ("CMakeLists.txt", "add_subdirectory(t)"),
                (
                    "t/CMakeLists.txt",
                    "enable_testing()\nadd_test(NAME a COMMAND a)"
                ),
            ]),
            "ctest"
        );
        assert_eq!(
            name(&[
                ("CMakeLists.txt", "project(x)"),
                automake,
                ("Makefile.am", "TESTS = a")
            ]),
            "automake"
        );
        assert_eq!(name(&[("meson.build", "project('x')"), automake]), "meson");
        assert_eq!(
            name(&[("GNUmakefile", "all:\ncheck: all\n\t./t\n")]),
            "make"
        );
        assert_eq!(
            name(&[("Makefile", ".PHONY: all test\nall test: x\n")]),
            "make"
        );
    }

    #[test]
    fn a_makefile_without_tests_is_an_error_that_shows_what_to_write() {
        for text in [
            "all:\n\tcc a.c\n",
            "test := x\n",
            "testing: x\n",
            "# test: x\n",
        ] {
            let error = detected(&[("Makefile", text)], &Settings::default())
                .expect_err("there are no tests");
            let hints = error.hints.join("\n");
            assert!(
                hints.contains("list = ") && hints.contains("run = "),
                "{hints}"
            );
        }
    }

    #[test]
    fn the_configuration_decides() {
        let settings = |runner: Option<&str>, run: Option<&str>| Settings {
            runner: runner.map(str::to_owned),
            run: run.map(str::to_owned),
            ..Settings::default()
        };
        let meson = ("meson.build", "");
        let named = detected(&[meson], &settings(Some("make"), None));
        assert_eq!(named.expect("it is named"), "make");
        let by_command = detected(&[meson], &settings(None, Some("./run {test}")));
        assert_eq!(by_command.expect("it is named"), "command");
        let unknown = detected(&[], &settings(Some("maven"), None)).expect_err("it is unknown");
        assert!(unknown.hints[0].contains("ctest"));
    }
}
