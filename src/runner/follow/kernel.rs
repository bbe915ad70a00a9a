//! The system calls of following that no crate wraps: the only file of the program with `unsafe` in it.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

/// One instruction of a filter.
pub(super) type Instruction = libc::sock_filter;

/// Once we have taken in a call, only what kills its caller interrupts it.
const FLAGS: libc::c_ulong =
    libc::SECCOMP_FILTER_FLAG_NEW_LISTENER | libc::SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV;

/// `SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP`
const SAME_PROCESSOR: u64 = 1;

/// A system call that waits for our word.
#[derive(Debug, Clone, Copy)]
pub(super) struct Call {
    pub(super) id: u64,
    pub(super) thread: u32,
    pub(super) architecture: u32,
    pub(super) number: i64,
    pub(super) arguments: [u64; 6],
}

/// Puts a filter on this thread, and on all that it starts from now on; answers where the calls are heard that the filter picks.
pub(super) fn install(filter: &[Instruction]) -> io::Result<OwnedFd> {
    match install_as_we_are(filter) {
        // Whoever may not do so with the right to gain rights may do so without.
        Err(error) if error.raw_os_error() == Some(libc::EACCES) => {
            // SAFETY: takes plain numbers, and changes nothing but a flag of this thread.
            let renounced = unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) };
            if renounced == 0 {
                install_as_we_are(filter)
            } else {
                Err(error)
            }
        }
        result => result,
    }
}

fn install_as_we_are(filter: &[Instruction]) -> io::Result<OwnedFd> {
    let program = libc::sock_fprog {
        len: u16::try_from(filter.len()).map_err(|_| io::ErrorKind::InvalidInput)?,
        filter: filter.as_ptr().cast_mut(),
    };
    // SAFETY: the kernel reads `len` instructions from a slice of that length, writes nothing, and copies what it keeps.
    let listener = unsafe {
        libc::syscall(
            libc::SYS_seccomp,
            libc::c_ulong::from(libc::SECCOMP_SET_MODE_FILTER),
            FLAGS,
            &raw const program,
        )
    };
    let listener = i32::try_from(listener).map_err(|_| io::ErrorKind::InvalidData)?;
    if listener < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel has just made this descriptor, and nobody else knows of it.
    Ok(unsafe { OwnedFd::from_raw_fd(listener) })
}

/// Asks that a caller and we take turns on one processor, which is quicker; kernels before 6.6 do not know how.
pub(super) fn take_turns(listener: BorrowedFd<'_>) {
    // SAFETY: this request takes a number; where it is not known, nothing happens.
    let _ = unsafe {
        libc::ioctl(
            listener.as_raw_fd(),
            libc::SECCOMP_IOCTL_NOTIF_SET_FLAGS,
            SAME_PROCESSOR,
        )
    };
}

/// What there is to hear.
pub(super) enum Heard {
    Call(Call),
    /// A signal broke into a call before we could take it in. The caller may be dead, it may call again, or it may be told that
    /// its call was interrupted, which it would not be without us.
    Broken,
    /// Nobody who has the filter is left.
    End,
}

/// Waits for the next call.
pub(super) fn receive(listener: BorrowedFd<'_>) -> Heard {
    loop {
        // SAFETY: the type is made of numbers, for which zero is a value; the kernel demands zeros.
        let mut notice: libc::seccomp_notif = unsafe { std::mem::zeroed() };
        // SAFETY: the request writes one `seccomp_notif`, whose size is part of its number, and the borrow outlives the call.
        let result = unsafe {
            libc::ioctl(
                listener.as_raw_fd(),
                libc::SECCOMP_IOCTL_NOTIF_RECV,
                &raw mut notice,
            )
        };
        if result == 0 {
            return Heard::Call(Call {
                id: notice.id,
                thread: notice.pid,
                architecture: notice.data.arch,
                number: notice.data.nr.into(),
                arguments: notice.data.args,
            });
        }
        let error = io::Error::last_os_error();
        if error.kind() == io::ErrorKind::Interrupted {
            continue;
        }
        // The kernel says the same where a call is gone and where its callers are.
        if error.raw_os_error() == Some(libc::ENOENT) && has_users(listener) {
            return Heard::Broken;
        }
        return Heard::End;
    }
}

/// Whether somebody who has the filter is alive.
fn has_users(listener: BorrowedFd<'_>) -> bool {
    let mut asked = libc::pollfd {
        fd: listener.as_raw_fd(),
        events: 0,
        revents: 0,
    };
    // SAFETY: one entry, which outlives the call.
    let answered = unsafe { libc::poll(&raw mut asked, 1, 0) };
    answered == 0 || asked.revents & libc::POLLHUP == 0
}

/// Lets a call happen; answers whether its caller was still waiting for that.
pub(super) fn let_happen(listener: BorrowedFd<'_>, id: u64) -> bool {
    let mut answer = libc::seccomp_notif_resp {
        id,
        val: 0,
        error: 0,
        flags: libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE as u32,
    };
    loop {
        // SAFETY: the request reads one `seccomp_notif_resp`, whose size is part of its number.
        let result = unsafe {
            libc::ioctl(
                listener.as_raw_fd(),
                libc::SECCOMP_IOCTL_NOTIF_SEND,
                &raw mut answer,
            )
        };
        if result == 0 {
            return true;
        }
        if io::Error::last_os_error().kind() != io::ErrorKind::Interrupted {
            return false;
        }
    }
}

/// Copies memory of another process; answers how much of it could be.
pub(super) fn read_memory(thread: u32, address: u64, into: &mut [u8]) -> io::Result<usize> {
    let thread = i32::try_from(thread).map_err(|_| io::ErrorKind::InvalidInput)?;
    let here = libc::iovec {
        iov_base: into.as_mut_ptr().cast(),
        iov_len: into.len(),
    };
    let there = libc::iovec {
        iov_base: usize::try_from(address).map_err(|_| io::ErrorKind::InvalidInput)? as *mut _,
        iov_len: into.len(),
    };
    // SAFETY: what is written is a slice that we borrow mutably; the address there is the kernel's to check, not ours to follow.
    let copied =
        unsafe { libc::process_vm_readv(thread, &raw const here, 1, &raw const there, 1, 0) };
    usize::try_from(copied).map_err(|_| io::Error::last_os_error())
}

/// The number of this thread.
pub(super) fn this_thread() -> u32 {
    // SAFETY: takes nothing and cannot fail.
    let number = unsafe { libc::gettid() };
    u32::try_from(number).unwrap_or(0)
}
