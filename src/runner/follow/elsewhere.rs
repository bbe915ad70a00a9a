//! Where tests cannot be followed: other systems and other processors.

use std::path::Path;

#[path = "seen.rs"]
mod seen;

pub use seen::Seen;

pub struct Follow;

impl Follow {
    #[must_use]
    pub fn below(_: &[&Path]) -> Self {
        Follow
    }

    pub fn start(&self, _: usize) {}

    #[must_use]
    pub fn end(&self, _: usize, _: bool) -> Option<Seen> {
        None
    }

    #[must_use]
    pub fn obstacle(&self) -> Option<String> {
        Some("this needs Linux on x86-64 or aarch64".to_owned())
    }
}
