//! A folder of our own in the system's temporary folder, which goes away with its owner.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

#[derive(Debug)]
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    pub(crate) fn new() -> io::Result<Self> {
        let base = std::env::temp_dir();
        for attempt in 0..1000 {
            let folder = base.join(format!("git-rts-{}-{attempt}", std::process::id()));
            match DirBuilder::new().mode(0o700).create(&folder) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                other => return other.map(|()| Scratch(folder)),
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    #[must_use]
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
