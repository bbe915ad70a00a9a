//! A build that may have failed because what an earlier one left is damaged, by a full disk or a machine that stopped: it is built from
//! nothing once.

use std::fs;
use std::path::Path;

/// What a build says in which a compiler or a linker stumbled over what it was given. Some mistakes in sources look the same.
const SIGNS: [&str; 5] = [
    "compiler unexpectedly panicked",
    "failed to build archive",
    "found invalid metadata files for crate",
    "linking with `",
    "(signal: ",
];

/// There from when a build folder was emptied until a build succeeds: a second time would not help.
const MARK: &str = "emptied";

/// Empties the build folder, if that may help.
pub(super) fn empty(build: &Path, said: &str) -> bool {
    let mark = build.join(MARK);
    SIGNS.iter().any(|sign| said.contains(sign))
        && !mark.exists()
        && fs::remove_dir_all(build).is_ok()
        && fs::create_dir_all(build).is_ok()
        && fs::write(mark, "").is_ok()
}

/// A build succeeded.
pub(super) fn forget(build: &Path) {
    let _ = fs::remove_file(build.join(MARK));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_build_is_emptied_once_and_not_for_a_mistake() {
        let room = tempfile::tempdir().expect("there is room");
        let build = room.path();
        let made = build.join("made");
        let fill = || fs::write(&made, "").expect("there is room");
        fill();
        assert!(!empty(build, "error[E0425]: cannot find function `f`") && made.exists());
        for said in [
            "error: the compiler unexpectedly panicked. This is a bug",
            "error: linking with `cc` failed: exit status: 1",
            "error[E0786]: found invalid metadata files for crate `p` which `q` depends on",
            "error: failed to build archive at `/x/libx.rlib`: bad magic",
            "process didn't exit successfully: `rustc` (signal: 11, SIGSEGV)",
        ] {
            fill();
            assert!(empty(build, said) && !made.exists(), "{said}");
            fill();
            assert!(!empty(build, said) && made.exists(), "{said}");
            forget(build);
        }
    }
}
