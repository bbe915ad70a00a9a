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
    /// To put something in its place, whatever is there, unless this argument has flags: then that counts, too.
    Replace(Option<usize>),
    /// To open it with these flags.
    OpenWith(i32),
    /// To make it, which needs its folder and that it is not there.
    Make,
}

/// What has to be done about a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Meaning {
    Path(Named),
    Paths(Named, Named),
    /// Code is mapped from the file in argument 4.
    Mapping,
    /// An address in argument 1, so long as argument 2 says, which may be that of a file.
    Socket(Purpose),
    /// From now on paths mean something else, or files can be had without them.
    Unfollowable,
}

/// A path in this argument, relative to the folder in that one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Named {
    pub(super) folder: Option<usize>,
    pub(super) path: usize,
    pub(super) purpose: Purpose,
}

/// Which of the calls with a number a filter picks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Picked {
    All,
    /// Not where this argument is `AT_EMPTY_PATH` and argument 0 is a file: that is how the C library asks about an open file.
    Named(usize),
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
const FCHMODAT2: c_long = 452;
const OPEN_TREE_ATTR: c_long = 467;
const FILE_GETATTR: c_long = 468;

const GIVE: Purpose = Purpose::Give(Last::Kept);

const fn at(number: c_long, purpose: Purpose) -> Row {
    named(number, Some(0), 1, purpose)
}

const fn named(number: c_long, folder: Option<usize>, path: usize, purpose: Purpose) -> Row {
    Row {
        number,
        picked: Picked::All,
        meaning: Meaning::Path(Named {
            folder,
            path,
            purpose,
        }),
    }
}

/// A call with two paths, the second behind the first.
const fn both(number: c_long, are_at: bool, first: Purpose, second: Purpose) -> Row {
    let (one, other) = if are_at {
        ((Some(0), 1), (Some(2), 3))
    } else {
        ((None, 0), (None, 1))
    };
    Row {
        number,
        picked: Picked::All,
        meaning: Meaning::Paths(
            Named {
                folder: one.0,
                path: one.1,
                purpose: first,
            },
            Named {
                folder: other.0,
                path: other.1,
                purpose: second,
            },
        ),
    }
}

const fn picking(picked: Picked, row: Row) -> Row {
    Row { picked, ..row }
}

const fn socket(number: c_long, purpose: Purpose) -> Row {
    Row {
        number,
        picked: Picked::All,
        meaning: Meaning::Socket(purpose),
    }
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
    at(libc::SYS_openat, Purpose::Open(2)),
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
    both(libc::SYS_renameat2, true, GIVE, Purpose::Replace(Some(4))),
    both(libc::SYS_renameat, true, GIVE, Purpose::Replace(None)),
    both(
        libc::SYS_linkat,
        true,
        Purpose::Give(Last::FollowedIf(4, FOLLOW)),
        Purpose::Make,
    ),
    // These fail, or not, by what is there.
    at(libc::SYS_mkdirat, Purpose::Make),
    at(libc::SYS_mknodat, Purpose::Make),
    at(libc::SYS_unlinkat, look(Last::Kept)),
    named(libc::SYS_symlinkat, Some(1), 2, Purpose::Make),
    named(libc::SYS_truncate, None, 0, look(Last::Followed)),
    at(libc::SYS_fchmodat, look(Last::Followed)),
    at(FCHMODAT2, look(Last::KeptIf(3, NOFOLLOW))),
    at(libc::SYS_fchownat, look(Last::KeptIf(4, NOFOLLOW))),
    at(libc::SYS_utimensat, look(Last::KeptIf(3, NOFOLLOW))),
    named(libc::SYS_setxattr, None, 0, look(Last::Followed)),
    named(libc::SYS_lsetxattr, None, 0, look(Last::Kept)),
    named(libc::SYS_removexattr, None, 0, look(Last::Followed)),
    named(libc::SYS_lremovexattr, None, 0, look(Last::Kept)),
    socket(libc::SYS_bind, Purpose::Make),
    socket(libc::SYS_connect, look(Last::Followed)),
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
    named(libc::SYS_open, None, 0, Purpose::Open(1)),
    named(libc::SYS_stat, None, 0, look(Last::Followed)),
    named(libc::SYS_lstat, None, 0, look(Last::Kept)),
    named(libc::SYS_access, None, 0, look(Last::Followed)),
    named(libc::SYS_readlink, None, 0, look(Last::Kept)),
    both(libc::SYS_rename, false, GIVE, Purpose::Replace(None)),
    both(libc::SYS_link, false, GIVE, Purpose::Make),
    named(
        libc::SYS_creat,
        None,
        0,
        Purpose::OpenWith(libc::O_CREAT | libc::O_WRONLY | libc::O_TRUNC),
    ),
    named(libc::SYS_mkdir, None, 0, Purpose::Make),
    named(libc::SYS_mknod, None, 0, Purpose::Make),
    named(libc::SYS_rmdir, None, 0, look(Last::Kept)),
    named(libc::SYS_unlink, None, 0, look(Last::Kept)),
    named(libc::SYS_symlink, None, 1, Purpose::Make),
    named(libc::SYS_chmod, None, 0, look(Last::Followed)),
    named(libc::SYS_chown, None, 0, look(Last::Followed)),
    named(libc::SYS_lchown, None, 0, look(Last::Kept)),
    named(libc::SYS_utime, None, 0, look(Last::Followed)),
    named(libc::SYS_utimes, None, 0, look(Last::Followed)),
    at(libc::SYS_futimesat, look(Last::Followed)),
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
