//! Git's hooks: which there are for, where they live, and what a push says.

mod folder;
mod manager;
pub mod pushed;

pub use folder::{HookFolder, Installed, State};
pub use manager::{Manager, manager};

use std::path::Path;

/// The hooks that can be installed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hook {
    PrePush,
    PreCommit,
    PostMerge,
    PostCheckout,
}

impl Hook {
    pub const ALL: [Hook; 4] = [
        Hook::PrePush,
        Hook::PreCommit,
        Hook::PostMerge,
        Hook::PostCheckout,
    ];

    /// As git calls it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Hook::PrePush => "pre-push",
            Hook::PreCommit => "pre-commit",
            Hook::PostMerge => "post-merge",
            Hook::PostCheckout => "post-checkout",
        }
    }
}

/// The script that git runs; it is the same for every hook, and knows which it is by its name.
const SCRIPT: &str = include_str!("../../hooks/hook.sh");

/// By this line a script is known to be ours.
const MARK: &str = "# Installed by 'git rts hook install'";

/// The script for a program at this place.
fn script(program: &Path) -> String {
    let quoted = program.to_string_lossy().replace('\'', "'\\''");
    SCRIPT.replace("@PROGRAM@", &format!("'{quoted}'"))
}

/// Variables by which git tells a hook about its repository. What a hook starts must find its own.
pub const LOCAL_VARIABLES: [&str; 13] = [
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_DIR",
    "GIT_GRAFT_FILE",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_INTERNAL_SUPER_PREFIX",
    "GIT_NO_REPLACE_OBJECTS",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_REPLACE_REF_BASE",
    "GIT_SHALLOW_FILE",
    "GIT_WORK_TREE",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_is_known_by_its_mark_and_names_the_program() {
        let script = script(Path::new("/it's here/git-rts"));
        assert!(script.contains(MARK));
        assert!(script.contains("program='/it'\\''s here/git-rts'"));
        assert!(!script.contains("@PROGRAM@"));
    }
}
