//! The files of the toolchain as they were when this machine recorded: a look at their sizes and times tells whether they changed.

use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// In the `rts` folder: the digest of a fingerprint, then a line for each file.
const FILE: &str = "toolchain";

/// Writes down what some files look like now. It is a help: what cannot be written is not checked.
pub(super) fn remember(rts: &Path, fingerprint: &str, files: &[PathBuf]) {
    let mut text = format!("{fingerprint}\n").into_bytes();
    for file in files {
        if let Some(look) = look(file) {
            text.extend(format!("{look} ").into_bytes());
            text.extend(file.as_os_str().as_bytes());
            text.push(b'\n');
        }
    }
    let temporary = rts.join(format!("{FILE}.{}", std::process::id()));
    if fs::write(&temporary, text).is_ok() {
        let _ = fs::rename(&temporary, rts.join(FILE));
    }
}

/// The file that is not as it was, if the fingerprint was taken on this machine.
pub(super) fn what_changed(rts: &Path, fingerprint: &str) -> Option<String> {
    let text = fs::read(rts.join(FILE)).ok()?;
    let mut lines = text.split(|byte| *byte == b'\n');
    if lines.next()? != fingerprint.as_bytes() {
        return None;
    }
    let changed = lines.find_map(|line| {
        let at = line.iter().position(|byte| *byte == b' ')?;
        let (then, path) = (&line[..at], &line[at + 1..]);
        let path = PathBuf::from(std::ffi::OsString::from_vec(path.to_vec()));
        let is_same = look(&path).is_some_and(|now| now.as_bytes() == then);
        (!is_same).then_some(path)
    });
    changed.map(|path| format!("'{}' changed since", path.display()))
}

/// Size and time of a file, through links.
fn look(path: &Path) -> Option<String> {
    let about = fs::metadata(path).ok()?;
    Some(format!(
        "{}:{}.{:09}",
        about.size(),
        about.mtime(),
        about.mtime_nsec()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_replaced_compiler_is_noticed() {
        let folder = tempfile::tempdir().expect("there is room");
        let compiler = folder.path().join("cc with a space");
        fs::write(&compiler, "one").expect("there is room");
        remember(folder.path(), "abc", std::slice::from_ref(&compiler));
        assert_eq!(what_changed(folder.path(), "abc"), None);
        fs::write(&compiler, "two and more").expect("there is room");
        let changed = what_changed(folder.path(), "abc").expect("it is another");
        assert!(changed.contains("cc with a space"), "{changed}");
        // Of another fingerprint, taken elsewhere, nothing is known.
        assert_eq!(what_changed(folder.path(), "abd"), None);
        fs::remove_file(&compiler).expect("it is there");
        assert!(what_changed(folder.path(), "abc").is_some());
    }
}
