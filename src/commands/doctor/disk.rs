//! Whether there is room for another build and its histories.

use super::check::Check;
use crate::emit::progress::size;
use crate::history::size_on_disk;
use crate::repo::Repository;
use crate::runner::left_on_disk;

/// With less than this nothing can be built or kept.
const LEAST: u64 = 32_000_000;

pub(super) fn check(repository: &Repository) -> Check {
    let rts = repository.rts_dir();
    judged(left_on_disk(&rts), size_on_disk(&rts))
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
    fn room_is_judged_by_what_is_used() {
        let status = |left, used| judged(left, used).status;
        assert_eq!(status(Some(10_000_000_000), 1_000_000), Status::Ok);
        assert_eq!(status(Some(10_000_000_000), 11_000_000_000), Status::Warn);
        assert_eq!(status(Some(1_000_000), 0), Status::Fail);
        assert_eq!(status(None, 0), Status::Warn);
    }
}
