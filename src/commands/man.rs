//! `git rts install-man`: puts the manual where `man`, and so `git rts --help`, finds it.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Args;

use crate::commands::man_pages::{Page, pages};
use crate::emit::plan_text::count;
use crate::error::{Error, Result};

/// Where `man` looks for pages on commands, below a folder of manuals.
const SECTION: &str = "man1";

/// Install the manual pages, which `git rts --help` and `git help rts` show
///
/// Says where they are, and whether `man` finds them there. `man` looks for such pages in folders that are called `man1`, so they go to `DIR/man1`, unless DIR is called so itself.
#[derive(Debug, Args)]
pub struct InstallMan {
    /// The folder of manuals to write to, as 'man -M' takes it [default: man in $XDG_DATA_HOME, else in ~/.local/share]
    #[arg(value_name = "DIR")]
    folder: Option<PathBuf>,
    /// Remove the pages from there, and nothing else
    #[arg(long)]
    uninstall: bool,
}

pub(super) fn run(arguments: &InstallMan) -> Result<()> {
    let mut folder = match &arguments.folder {
        Some(folder) => folder.clone(),
        None => default_folder()?,
    };
    if !folder.ends_with(SECTION) {
        folder.push(SECTION);
    }
    let pages = pages().map_err(|error| Error::new(format!("cannot make the manual: {error}")))?;
    if arguments.uninstall {
        return remove(&pages, &folder);
    }
    fs::create_dir_all(&folder).map_err(|error| cannot("create", &folder, &error))?;
    for page in &pages {
        let file = folder.join(&page.file);
        fs::write(&file, &page.text).map_err(|error| cannot("write", &file, &error))?;
    }
    notice!(
        "{} in '{}'",
        count(pages.len(), "manual page"),
        folder.display()
    );
    say_whether_found(&folder);
    Ok(())
}

fn remove(pages: &[Page], folder: &Path) -> Result<()> {
    let mut removed = 0;
    for page in pages {
        let file = folder.join(&page.file);
        match fs::remove_file(&file) {
            Ok(()) => removed += 1,
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(cannot("remove", &file, &error)),
        }
    }
    notice!(
        "{} removed from '{}'",
        count(removed, "manual page"),
        folder.display()
    );
    Ok(())
}

/// Where man-db looks for pages of programs in `~/.local/bin`.
fn default_folder() -> Result<PathBuf> {
    let set = |name: &str| std::env::var_os(name).map(PathBuf::from);
    // One that is relative counts as not set, says the standard.
    let data = set("XDG_DATA_HOME").filter(|folder| folder.is_absolute());
    let data = data.or_else(|| set("HOME").map(|home| home.join(".local/share")));
    match data {
        Some(data) => Ok(data.join("man")),
        None => {
            Err(Error::new("there is no home folder")
                .hint("name a folder: 'git rts install-man DIR'"))
        }
    }
}

/// Asks `man` itself, because each system has its own rules where it looks.
fn say_whether_found(folder: &Path) {
    let asked = Command::new("man").args(["-w", "1", "git-rts"]).output();
    let Ok(answer) = asked else {
        notice!("hint: there is no 'man' here to show them");
        return;
    };
    let answer = String::from_utf8_lossy(&answer.stdout).into_owned();
    let found = answer.lines().next().map(Path::new);
    let whole = |path: &Path| path.canonicalize().ok();
    let is_here = found.is_some_and(|page| page.parent().and_then(whole) == whole(folder));
    if is_here {
        notice!("'git rts --help' shows them");
        return;
    }
    match found {
        Some(page) => notice!("'man' shows '{}' instead", page.display()),
        None => notice!("'man' does not look there"),
    }
    let above = folder.parent().unwrap_or(folder);
    let above = match above.as_os_str().is_empty() {
        true => Path::new("."),
        false => above,
    };
    notice!(
        "hint: a line for your shell's profile: export MANPATH='{}:'",
        whole(above)
            .unwrap_or_else(|| above.to_path_buf())
            .display()
    );
}

fn cannot(what: &str, path: &Path, error: &std::io::Error) -> Error {
    Error::new(format!("cannot {what} '{}': {error}", path.display()))
}
