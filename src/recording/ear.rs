//! Hears of processes that count but may not write their counters: those of another user, or in another root.

use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::sync::{Mutex, PoisonError};

/// A socket in no file system, so that everybody can reach it.
pub(super) struct Ear {
    /// Nothing, where there cannot be one.
    socket: Option<UnixDatagram>,
    /// How often something was heard.
    heard: Mutex<u64>,
}

impl Ear {
    pub(super) fn open(name: &str) -> Self {
        let address = SocketAddr::from_abstract_name(name).ok();
        let socket = address.and_then(|address| UnixDatagram::bind_addr(&address).ok());
        let socket = socket.filter(|socket| socket.set_nonblocking(true).is_ok());
        Ear {
            socket,
            heard: Mutex::default(),
        }
    }

    /// How often something was heard so far. What comes while several tests run is about any of them. Nothing, where nothing can be heard.
    pub(super) fn heard(&self) -> Option<u64> {
        let socket = self.socket.as_ref()?;
        let mut heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
        while socket.recv(&mut [0]).is_ok() {
            *heard += 1;
        }
        Some(*heard)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_is_heard_once() {
        let name = format!("git-rts-test-{}", std::process::id());
        let ear = Ear::open(&name);
        assert_eq!(Ear::open(&name).heard(), None);
        assert_eq!(ear.heard(), Some(0));
        let mouth = UnixDatagram::unbound().expect("sockets work here");
        let address = SocketAddr::from_abstract_name(&name).expect("it is short");
        for _ in 0..2 {
            mouth.send_to_addr(b"x", &address).expect("it is heard");
        }
        assert_eq!(ear.heard(), Some(2));
        assert_eq!(ear.heard(), Some(2));
    }
}
