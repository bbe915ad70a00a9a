//! Whether there is room for another build and its histories.

use std::fs;
use std::path::Path;

use super::check::Check;
use crate::emit::progress::size;
use crate::error::{Error, Result};
use crate::history::size_on_disk;
use crate::repo::Repository;
use crate::runner::left_on_disk;

/// With less than this nothing can be built or kept.
const LEAST: u64 = 32_000_000;

pub(super) fn check(repository: &Repository) -> Check {
    let rts = repository.rts_dir();
    let parent = rts.parent().unwrap_or(&rts);
    if let Err(error) = tried(if rts.exists() { &rts } else { parent }) {
        let hint = "'git rts run' keeps its build and its histories there; give yourself the right to write";
        return Check::fail("disk", error.message, hint);
    }
    judged(left_on_disk(&rts), size_on_disk(&rts))
}

/// Whether something can be written in a folder.
fn tried(folder: &Path) -> Result<()> {
    let file = folder.join("git-rts-doctor");
    let written = fs::write(&file, "").and_then(|()| fs::remove_file(&file));
    written.map_err(|error| Error::new(format!("cannot write in '{}': {error}", folder.display())))
}

/// A build from nothing may need as much again as everything that is there.
fn judged(left: Option<u64>, used: u64) -> Check {
    let Some(left) = left else {
        let hint = "look at it with 'df'";
        return Check::warn("disk", "it does not tell how much room is left", hint);
    };
    let says = format!("{} left; the folder 'rts' takes {}", size(left), size(used));
    let hint = "make room; 'git rts gc' drops old histories, and the folder 'rts' in the git directory may be removed";
    if left < LEAST {
        Check::fail("disk", says, hint)
    } else if left < used {
        Check::warn("disk", says, hint)
    } else {
        Check::ok("disk", says)
    }
}

#[cfg(test)]
mod tests {
    use super::super::check::Status;
    use super::*;

    #[test]
    fn where_nothing_can_be_written_is_told() {
        let room = tempfile::tempdir().expect("there is room");
        assert!(tried(room.path()).is_ok());
        assert!(
            room.path()
                .read_dir()
                .is_ok_and(|mut left| left.next().is_none())
        );
        let file = room.path().join("file");
        fs::write(&file, "").expect("there is room");
        assert!(tried(&file).is_err_and(|error| error.message.contains("cannot write in")));
    }

    #[test]
    fn room_is_judged_by_what_is_used() {
        let status = |left, used| judged(left, used).status;
        assert_eq!(status(Some(10_000_000_000), 1_000_000), Status::Ok);
        assert_eq!(status(Some(10_000_000_000), 11_000_000_000), Status::Warn);
        assert_eq!(status(Some(1_000_000), 0), Status::Fail);
        assert_eq!(status(None, 0), Status::Warn);
    }
}
