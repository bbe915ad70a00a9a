//! `git rts demo`: a small C project with a history, changed in four ways, and what each change endangers.

use std::path::{Path, PathBuf};
use std::process::Command;

use anstyle::{AnsiColor, Style};
use clap::Args;

use crate::error::{Error, Result};

/// Make a small C project, change it in four ways, and show what each change endangers
///
/// The project is a calculator in a temporary folder, which stays for you to look at.
#[derive(Debug, Args)]
pub struct Demo {
    /// The folder to make [default: a new one for temporary files]
    folder: Option<PathBuf>,
}

const FILES: [(&str, &str); 3] = [
    ("stack.h", include_str!("../../templates/demo/stack.h")),
    ("stack.c", include_str!("../../templates/demo/stack.c")),
    (
        "calculator.c",
        include_str!("../../templates/demo/calculator.c"),
    ),
];

/// One edit: what it is, the file, the text and what takes its place.
struct Edit {
    title: &'static str,
    file: &'static str,
    from: &'static str,
    to: &'static str,
}

const EDITS: [Edit; 4] = [
    Edit {
        title: "A function: division by zero is refused. Only tests that divide are in danger.",
        file: "calculator.c",
        from: "    case '/':\n",
        to: "    case '/':\n        if (right == 0)\n            return -1;\n",
    },
    Edit {
        title: "A macro: results are printed with more digits. Only tests that get as far as its use are in danger.",
        file: "calculator.c",
        from: "#define FORMAT \"%g\\n\"",
        to: "#define FORMAT \"%.12g\\n\"",
    },
    Edit {
        title: "A comment: nothing is in danger.",
        file: "stack.c",
        from: "int stack_pop(",
        to: "/* Takes the topmost value. */\nint stack_pop(",
    },
    Edit {
        title: "A struct: everything that touches its memory is in danger.",
        file: "stack.h",
        from: "    int depth;\n",
        to: "    long depth;\n",
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
    std::fs::create_dir_all(&folder)
        .map_err(|error| Error::new(format!("cannot make '{}': {error}", folder.display())))?;
    for (name, text) in FILES {
        write(&folder, name, text)?;
    }
    git(&folder, &["init", "--quiet"])?;
    commit(&folder, "A calculator")?;
    let title = AnsiColor::Cyan.on_default().bold();
    for (number, edit) in EDITS.iter().enumerate() {
        let path = folder.join(edit.file);
        let text = std::fs::read_to_string(&path)
            .map_err(|error| Error::new(format!("cannot read '{}': {error}", path.display())))?;
        write(&folder, edit.file, &text.replacen(edit.from, edit.to, 1))?;
        anstream::println!("\n{title}{}. {}{title:#}", number + 1, edit.title);
        show_edit(edit);
        let muted = Style::new().dimmed();
        anstream::println!("{muted}$ git rts diff HEAD{muted:#}");
        git_rts(&folder, &["diff", "HEAD"])?;
        if number == 0 {
            git_rts(
                &folder,
                &["graph", "apply", "HEAD", "--output", "apply.svg"],
            )?;
        }
        commit(&folder, edit.title)?;
    }
    let bold = Style::new().bold();
    anstream::println!("\nThe project is in {bold}{}{bold:#}", folder.display());
    anstream::println!(
        "The picture of the first change is {bold}{}{bold:#}",
        folder.join("apply.svg").display()
    );
    Ok(())
}

fn write(folder: &Path, name: &str, text: &str) -> Result<()> {
    let path = folder.join(name);
    std::fs::write(&path, text)
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
    if status.success() {
        Ok(())
    } else {
        Err(Error::new(format!(
            "'git rts {}' failed",
            arguments.join(" ")
        )))
    }
}
