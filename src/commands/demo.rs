//! `git rts demo`: a small C project with tests, changed in four ways: what each change selects, why, and the run.

use std::path::{Path, PathBuf};
use std::process::Command;

use anstyle::{AnsiColor, Style};
use clap::Args;

use crate::error::{Error, Result};
use crate::exit_code::ExitCode;

/// Make a small C project, change it in four ways, and show which tests each change selects
///
/// The project is a calculator in a temporary folder, which stays for you to look at.
#[derive(Debug, Args)]
pub struct Demo {
    /// The folder to make [default: a new one for temporary files]
    folder: Option<PathBuf>,
}

const FILES: [(&str, &str); 8] = [
    // The picture is no part of the project.
    (".gitignore", "*.svg\n"),
    ("Makefile", include_str!("../../templates/demo/Makefile")),
    ("stack.h", include_str!("../../templates/demo/stack.h")),
    ("stack.c", include_str!("../../templates/demo/stack.c")),
    (
        "calculator.c",
        include_str!("../../templates/demo/calculator.c"),
    ),
    (
        "tests/cases",
        include_str!("../../templates/demo/tests/cases"),
    ),
    (
        "tests/run-one",
        include_str!("../../templates/demo/tests/run-one"),
    ),
    (
        ".git-rts.toml",
        include_str!("../../templates/demo/git-rts.toml"),
    ),
];

/// One edit: what it is, the file, the text and what takes its place, and a test to ask about.
struct Edit {
    title: &'static str,
    file: &'static str,
    from: &'static str,
    to: &'static str,
    ask_about: &'static str,
}

const EDITS: [Edit; 4] = [
    Edit {
        title: "A function: division by zero is refused. Only tests that divide can notice.",
        file: "calculator.c",
        from: "    case '/':\n",
        to: "    case '/':\n        if (right == 0)\n            return -1;\n",
        ask_about: "divide",
    },
    Edit {
        title: "A comment: nobody can notice.",
        file: "stack.c",
        from: "int stack_pop(",
        to: "/* Takes the topmost value. */\nint stack_pop(",
        ask_about: "add",
    },
    Edit {
        title: "A struct: everything that touches its memory is selected.",
        file: "stack.h",
        from: "    int depth;\n",
        to: "    long depth;\n",
        ask_about: "nothing",
    },
    Edit {
        title: "A macro: results are printed without digits, which is a mistake. Tests that print a result are selected, and one of them finds it.",
        file: "calculator.c",
        from: "#define FORMAT \"%g\\n\"",
        to: "#define FORMAT \"%.0f\\n\"",
        ask_about: "divide_to_a_fraction",
    },
];

pub(super) fn run(arguments: &Demo) -> Result<()> {
    let folder = match &arguments.folder {
        Some(folder) => folder.clone(),
        None => std::env::temp_dir().join(format!("git-rts-demo-{}", std::process::id())),
    };
    if folder.exists() {
        return Err(
            Error::new(format!("'{}' is already there", folder.display()))
                .hint("name a folder that does not exist"),
        );
    }
    for (name, text) in FILES {
        write(&folder, name, text)?;
    }
    git(&folder, &["init", "--quiet"])?;
    commit(&folder, "A calculator")?;
    say_title(
        "A calculator with ten tests. The first run has nothing to compare with: it runs and records all of them.",
    );
    show(&folder, &["run"])?;
    for (number, edit) in EDITS.iter().enumerate() {
        let path = folder.join(edit.file);
        let text = std::fs::read_to_string(&path)
            .map_err(|error| Error::new(format!("cannot read '{}': {error}", path.display())))?;
        write(&folder, edit.file, &text.replacen(edit.from, edit.to, 1))?;
        say_title(&format!("{}. {}", number + 1, edit.title));
        show_edit(edit);
        show(&folder, &["select"])?;
        show(&folder, &["why", edit.ask_about])?;
        show(&folder, &["run"])?;
        if number == 0 {
            let picture = ["graph", "apply", "HEAD", "--output", "apply.svg"];
            git_rts(&folder, &picture)?;
        }
        commit(&folder, edit.title)?;
    }
    let bold = Style::new().bold();
    anstream::println!("\nThe project is in {bold}{}{bold:#}", folder.display());
    if !is_installed() {
        let program = std::env::current_exe().unwrap_or_default();
        let program = program.display();
        anstream::println!(
            "To go on there before it is installed, write {bold}{program}{bold:#} for 'git rts'"
        );
    }
    anstream::println!(
        "The picture of the first change is {bold}{}{bold:#}",
        folder.join("apply.svg").display()
    );
    Ok(())
}

/// Whether git finds this program by its name.
fn is_installed() -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders = std::env::split_paths(&path);
    folders.any(|folder| folder.join("git-rts").is_file())
}

fn say_title(text: &str) {
    let title = AnsiColor::Cyan.on_default().bold();
    anstream::println!("\n{title}{text}{title:#}");
}

/// Runs a command as a user would, and shows it.
fn show(folder: &Path, arguments: &[&str]) -> Result<()> {
    let muted = Style::new().dimmed();
    anstream::println!("{muted}$ git rts {}{muted:#}", arguments.join(" "));
    git_rts(folder, arguments)
}

fn write(folder: &Path, name: &str, text: &str) -> Result<()> {
    let path = folder.join(name);
    let made = path.parent().map_or(Ok(()), std::fs::create_dir_all);
    made.and_then(|()| std::fs::write(&path, text))
        .map_err(|error| Error::new(format!("cannot write '{}': {error}", path.display())))
}

fn commit(folder: &Path, message: &str) -> Result<()> {
    git(folder, &["add", "--all", "."])?;
    git(
        folder,
        &["commit", "--quiet", "--no-verify", "--message", message],
    )
}

/// The lines that an edit takes out and puts in.
fn show_edit(edit: &Edit) {
    let (red, green) = (AnsiColor::Red.on_default(), AnsiColor::Green.on_default());
    let has_line = |text: &str, line: &str| text.lines().any(|other| other == line);
    for line in edit.from.lines().filter(|line| !has_line(edit.to, line)) {
        anstream::println!("  {red}-{line}{red:#}");
    }
    for line in edit.to.lines().filter(|line| !has_line(edit.from, line)) {
        anstream::println!("  {green}+{line}{green:#}");
    }
}

fn git(folder: &Path, arguments: &[&str]) -> Result<()> {
    let status = Command::new("git")
        .args([
            "-c",
            "user.name=git rts",
            "-c",
            "user.email=demo@localhost",
            "-c",
            "commit.gpgSign=false",
        ])
        .args(arguments)
        .current_dir(folder)
        .status()
        .map_err(|error| {
            Error::new(format!("cannot run git: {error}")).hint("git must be installed")
        })?;
    if status.success() {
        Ok(())
    } else {
        Err(Error::new(format!("'git {}' failed", arguments.join(" "))))
    }
}

/// Runs this very program in the project, as a user would.
fn git_rts(folder: &Path, arguments: &[&str]) -> Result<()> {
    let program = std::env::current_exe()
        .map_err(|error| Error::new(format!("cannot find this program: {error}")))?;
    let status = Command::new(program)
        .args(arguments)
        .current_dir(folder)
        .status()
        .map_err(|error| Error::new(format!("cannot run 'git rts': {error}")))?;
    // That a test fails is part of the story.
    if status.success() || status.code() == Some(ExitCode::TestsFailed as i32) {
        Ok(())
    } else {
        Err(Error::new(format!(
            "'git rts {}' failed",
            arguments.join(" ")
        )))
    }
}
