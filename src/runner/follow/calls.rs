//! Which system calls look at files, and where their arguments say at which.

use libc::c_long;

/// What becomes of a symbolic link at the end of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Last {
    Followed,
    Kept,
    /// Kept if this argument has this bit.
    KeptIf(usize, u64),
    /// Followed if this argument has this bit.
    FollowedIf(usize, u64),
}

/// Why a call names a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// To open it, with flags in this argument.
    Open(usize),
    /// To open it, with flags in a structure that this argument points to.
    OpenHow(usize),
    /// To learn something about it.
    Look(Last),
    Execute(Last),
    /// To give its content another name.
    Give(Last),
}

/// What has to be done about a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Meaning {
    /// A path in this argument, relative to the folder in that one.
    Path {
        folder: Option<usize>,
        path: usize,
        purpose: Purpose,
    },
    /// Code is mapped from the file in argument 4.
    Mapping,
    /// From now on paths mean something else, or files can be had without them.
    Unfollowable,
}

/// Which of the calls with a number a filter picks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Picked {
    All,
    /// Not where this argument is `AT_EMPTY_PATH` and argument 0 is a file: that is how the C library asks about an open file.
    Named(usize),
    /// Not where this argument says that nothing of the file is left: `O_TRUNC` without `O_EXCL`.
    Kept(usize),
    /// Code from files.
    Code,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Row {
    pub(super) number: c_long,
    pub(super) picked: Picked,
    pub(super) meaning: Meaning,
}

const NOFOLLOW: u64 = libc::AT_SYMLINK_NOFOLLOW as u64;
const FOLLOW: u64 = libc::AT_SYMLINK_FOLLOW as u64;

// The kernel gives new calls the same number everywhere; the C library's crate does not name all of them yet.
const GETXATTRAT: c_long = 464;
const LISTXATTRAT: c_long = 465;
const OPEN_TREE_ATTR: c_long = 467;
const FILE_GETATTR: c_long = 468;

const fn at(number: c_long, purpose: Purpose) -> Row {
    named(number, Some(0), 1, purpose)
}

const fn named(number: c_long, folder: Option<usize>, path: usize, purpose: Purpose) -> Row {
    Row {
        number,
        picked: Picked::All,
        meaning: Meaning::Path {
            folder,
            path,
            purpose,
        },
    }
}

const fn picking(picked: Picked, row: Row) -> Row {
    Row { picked, ..row }
}

const fn unfollowable(number: c_long) -> Row {
    Row {
        number,
        picked: Picked::All,
        meaning: Meaning::Unfollowable,
    }
}

const fn look(last: Last) -> Purpose {
    Purpose::Look(last)
}

/// The calls that every architecture has; the most frequent ones first.
const EVERYWHERE: &[Row] = &[
    Row {
        number: libc::SYS_mmap,
        picked: Picked::Code,
        meaning: Meaning::Mapping,
    },
    picking(Picked::Kept(2), at(libc::SYS_openat, Purpose::Open(2))),
    picking(
        Picked::Named(3),
        at(libc::SYS_newfstatat, look(Last::KeptIf(3, NOFOLLOW))),
    ),
    picking(
        Picked::Named(2),
        at(libc::SYS_statx, look(Last::KeptIf(2, NOFOLLOW))),
    ),
    named(libc::SYS_execve, None, 0, Purpose::Execute(Last::Followed)),
    at(
        libc::SYS_execveat,
        Purpose::Execute(Last::KeptIf(4, NOFOLLOW)),
    ),
    at(libc::SYS_openat2, Purpose::OpenHow(2)),
    at(libc::SYS_faccessat, look(Last::Followed)),
    at(libc::SYS_faccessat2, look(Last::KeptIf(3, NOFOLLOW))),
    at(libc::SYS_readlinkat, look(Last::Kept)),
    named(libc::SYS_chdir, None, 0, look(Last::Followed)),
    named(libc::SYS_statfs, None, 0, look(Last::Followed)),
    named(libc::SYS_getxattr, None, 0, look(Last::Followed)),
    named(libc::SYS_lgetxattr, None, 0, look(Last::Kept)),
    named(libc::SYS_listxattr, None, 0, look(Last::Followed)),
    named(libc::SYS_llistxattr, None, 0, look(Last::Kept)),
    at(GETXATTRAT, look(Last::KeptIf(2, NOFOLLOW))),
    at(LISTXATTRAT, look(Last::KeptIf(2, NOFOLLOW))),
    at(FILE_GETATTR, look(Last::KeptIf(4, NOFOLLOW))),
    named(libc::SYS_inotify_add_watch, None, 1, look(Last::Followed)),
    at(
        libc::SYS_name_to_handle_at,
        look(Last::FollowedIf(4, FOLLOW)),
    ),
    at(libc::SYS_renameat2, Purpose::Give(Last::Kept)),
    at(libc::SYS_renameat, Purpose::Give(Last::Kept)),
    at(libc::SYS_linkat, Purpose::Give(Last::FollowedIf(4, FOLLOW))),
    unfollowable(libc::SYS_io_uring_setup),
    unfollowable(libc::SYS_open_by_handle_at),
    unfollowable(libc::SYS_chroot),
    unfollowable(libc::SYS_pivot_root),
    unfollowable(libc::SYS_mount),
    unfollowable(libc::SYS_umount2),
    unfollowable(libc::SYS_move_mount),
    unfollowable(libc::SYS_open_tree),
    unfollowable(OPEN_TREE_ATTR),
    unfollowable(libc::SYS_fsmount),
    unfollowable(libc::SYS_setns),
];

/// The calls that newer architectures do without.
#[cfg(target_arch = "x86_64")]
const ALSO_HERE: &[Row] = &[
    picking(
        Picked::Kept(1),
        named(libc::SYS_open, None, 0, Purpose::Open(1)),
    ),
    named(libc::SYS_stat, None, 0, look(Last::Followed)),
    named(libc::SYS_lstat, None, 0, look(Last::Kept)),
    named(libc::SYS_access, None, 0, look(Last::Followed)),
    named(libc::SYS_readlink, None, 0, look(Last::Kept)),
    named(libc::SYS_rename, None, 0, Purpose::Give(Last::Kept)),
    named(libc::SYS_link, None, 0, Purpose::Give(Last::Kept)),
];

#[cfg(not(target_arch = "x86_64"))]
const ALSO_HERE: &[Row] = &[];

/// Every call that a filter picks.
pub(super) fn rows() -> impl Iterator<Item = &'static Row> {
    EVERYWHERE.iter().chain(ALSO_HERE)
}

/// What a call with this number means.
pub(super) fn meaning(number: i64) -> Option<Meaning> {
    let row = rows().find(|row| row.number == number)?;
    Some(row.meaning)
}
