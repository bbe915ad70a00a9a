//! The folder of hooks: installing beside what is there, and taking away without a trace.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::{Hook, MARK, script};
use crate::error::{Error, Result};

/// What a hook that was here before is called from then on.
const BEFORE: &str = "before-rts";

/// Where git looks for hooks.
#[derive(Debug, Clone)]
pub struct HookFolder(pub PathBuf);

/// What there is of one hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    Nothing,
    /// Somebody else's.
    Other,
    Ours,
    /// Ours, and what was there before runs first.
    OursBehindAnother,
}

impl State {
    /// For people.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            State::Nothing => "not installed",
            State::Other => "not installed; another hook is there",
            State::Ours => "installed",
            State::OursBehindAnother => "installed, behind another hook",
        }
    }

    #[must_use]
    pub fn is_ours(self) -> bool {
        matches!(self, State::Ours | State::OursBehindAnother)
    }
}

/// What installing did.
#[derive(Debug, PartialEq, Eq)]
pub enum Installed {
    Alone,
    /// What was there before runs first, from here.
    Behind(PathBuf),
    /// It was ours already; it is the newest now.
    Again,
}

impl HookFolder {
    fn file(&self, hook: Hook) -> PathBuf {
        self.0.join(hook.name())
    }

    fn before(&self, hook: Hook) -> PathBuf {
        self.0.join(format!("{}.{BEFORE}", hook.name()))
    }

    #[must_use]
    pub fn state(&self, hook: Hook) -> State {
        // A link that leads nowhere is somebody's, too.
        if fs::symlink_metadata(self.file(hook)).is_err() {
            return State::Nothing;
        }
        let text = fs::read(self.file(hook)).unwrap_or_default();
        match String::from_utf8_lossy(&text).contains(MARK) {
            true if self.before(hook).exists() => State::OursBehindAnother,
            true => State::Ours,
            false => State::Other,
        }
    }

    /// Whether git would run what is there: it passes over files that may not be executed.
    #[must_use]
    pub fn is_executable(&self, hook: Hook) -> bool {
        let about = fs::metadata(self.file(hook));
        about.is_ok_and(|about| about.permissions().mode() & 0o111 != 0)
    }

    /// Puts our script in place. Nothing is overwritten: what was there is moved aside and runs first.
    pub fn install(&self, hook: Hook, program: &Path) -> Result<Installed> {
        let (file, before) = (self.file(hook), self.before(hook));
        fs::create_dir_all(&self.0).map_err(|error| cannot("create", &self.0, &error))?;
        let installed = match self.state(hook) {
            State::Nothing => Installed::Alone,
            State::Ours | State::OursBehindAnother => Installed::Again,
            State::Other => Installed::Behind(before.clone()),
        };
        if matches!(installed, Installed::Behind(_)) {
            if fs::symlink_metadata(&before).is_ok() {
                return Err(Error::new(format!(
                    "both '{}' and '{}' are there, and neither is ours",
                    file.display(),
                    before.display()
                ))
                .hint("somebody replaced our hook: join the two by hand, then try again"));
            }
            fs::rename(&file, &before).map_err(|error| cannot("move", &file, &error))?;
        }
        let written = self.write(&file, &script(program));
        if written.is_err() && matches!(installed, Installed::Behind(_)) {
            let _ = fs::rename(&before, &file);
        }
        written.map_err(|error| cannot("write", &file, &error))?;
        Ok(installed)
    }

    /// Beside it first, so that git never finds half a script.
    fn write(&self, file: &Path, text: &str) -> io::Result<()> {
        let new = file.with_extension("new-rts");
        fs::write(&new, text)?;
        fs::set_permissions(&new, fs::Permissions::from_mode(0o755))?;
        fs::rename(&new, file)
    }

    /// Takes our script away and puts back what was there before; answers whether there was one of ours.
    pub fn uninstall(&self, hook: Hook) -> Result<bool> {
        let (file, before) = (self.file(hook), self.before(hook));
        match self.state(hook) {
            State::Nothing => Ok(false),
            State::Other => Err(Error::new(format!("'{}' is not ours", file.display()))
                .hint("remove the line that calls 'git rts' from it by hand")),
            State::Ours => {
                fs::remove_file(&file).map_err(|error| cannot("remove", &file, &error))?;
                Ok(true)
            }
            State::OursBehindAnother => {
                fs::rename(&before, &file).map_err(|error| cannot("move", &before, &error))?;
                Ok(true)
            }
        }
    }
}

fn cannot(what: &str, path: &Path, error: &io::Error) -> Error {
    Error::new(format!("cannot {what} '{}': {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_there_comes_back_byte_for_byte() {
        let room = tempfile::tempdir().expect("there is room");
        let folder = HookFolder(room.path().join("hooks"));
        let program = Path::new("/bin/git-rts");
        assert_eq!(folder.state(Hook::PrePush), State::Nothing);
        let installed = folder.install(Hook::PrePush, program).expect("it can");
        assert_eq!(installed, Installed::Alone);
        assert!(folder.uninstall(Hook::PrePush).expect("it can"));
        assert!(!folder.uninstall(Hook::PrePush).expect("it can"));

        let file = folder.0.join("pre-push");
        fs::write(&file, "#!/bin/sh\nexit 3\n").expect("there is room");
        assert!(folder.uninstall(Hook::PrePush).is_err());
        let installed = folder.install(Hook::PrePush, program).expect("it can");
        assert!(matches!(installed, Installed::Behind(_)));
        assert_eq!(folder.state(Hook::PrePush), State::OursBehindAnother);
        let again = folder.install(Hook::PrePush, program).expect("it can");
        assert_eq!(again, Installed::Again);
        // Somebody replaces ours: neither of the two may be lost.
        let ours = fs::read(&file).expect("it is there");
        fs::write(&file, "another").expect("there is room");
        assert!(folder.install(Hook::PrePush, program).is_err());
        fs::write(&file, ours).expect("there is room");
        assert!(folder.uninstall(Hook::PrePush).expect("it can"));
        let text = fs::read_to_string(&file).expect("it is back");
        assert_eq!(text, "#!/bin/sh\nexit 3\n");
        assert!(!folder.before(Hook::PrePush).exists());
    }
}
