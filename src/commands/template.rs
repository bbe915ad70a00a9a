//! `git rts template`: files that bring `git rts` into builds, CI systems and hook managers.

use clap::Args;

use crate::commands::output::{print, print_raw};
use crate::error::{Error, Result};
use crate::exit_code::ExitCode;

/// Print a file that brings git rts into a build or a CI system; without a name, list them
///
/// Each begins with how it is used, for instance: git rts template cmake > GitRts.cmake
#[derive(Debug, Args)]
pub struct Template {
    /// cmake, make, meson, github, gitlab, pre-commit
    name: Option<String>,
}

/// One file.
struct File {
    name: &'static str,
    /// Where it belongs.
    file: &'static str,
    what: &'static str,
    text: &'static str,
}

const FILES: [File; 6] = [
    File {
        name: "cmake",
        file: "GitRts.cmake",
        what: "targets check-affected and ctest-affected",
        text: include_str!("../../templates/GitRts.cmake"),
    },
    File {
        name: "make",
        file: "git-rts.mk",
        what: "targets check-affected and check-affected-here, for Makefiles and Automake",
        text: include_str!("../../templates/git-rts.mk"),
    },
    File {
        name: "meson",
        file: "meson.build",
        what: "targets check-affected and test-affected",
        text: include_str!("../../templates/meson.build"),
    },
    File {
        name: "github",
        file: ".github/workflows/tests.yml",
        what: "jobs for GitHub Actions",
        text: include_str!("../../templates/github.yml"),
    },
    File {
        name: "gitlab",
        file: ".gitlab-ci.yml",
        what: "jobs for GitLab CI",
        text: include_str!("../../templates/gitlab-ci.yml"),
    },
    File {
        name: "pre-commit",
        file: ".pre-commit-config.yaml",
        what: "an entry for pre-commit",
        text: include_str!("../../templates/pre-commit-config.yaml"),
    },
];

pub(super) fn run(arguments: &Template) -> Result<()> {
    let Some(name) = &arguments.name else {
        let lines = FILES
            .iter()
            .map(|file| format!("{:<11} {:<28} {}\n", file.name, file.file, file.what));
        return print(&lines.collect::<String>());
    };
    let Some(file) = FILES.iter().find(|file| file.name == name) else {
        let names: Vec<&str> = FILES.iter().map(|file| file.name).collect();
        return Err(Error::new(format!("there is no template '{name}'"))
            .hint(format!("the templates are {}", names.join(", ")))
            .exit_code(ExitCode::Usage));
    };
    // Machines get the version that the histories here are of.
    print_raw(&file.text.replace("@VERSION@", env!("CARGO_PKG_VERSION")))
}
