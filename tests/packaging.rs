//! The Debian package: whatever it is to hold is made before it is packed.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

use cargo_metadata::MetadataCommand;
use tempfile::TempDir;

#[test]
fn all_that_the_package_is_to_hold_is_made_first() {
    let room = TempDir::new().unwrap();
    let project = room.path().join("project");
    let top = Path::new(env!("CARGO_MANIFEST_DIR"));
    for folder in [".ci", "target/release", "bin"] {
        fs::create_dir_all(project.join(folder)).unwrap();
    }
    let script = project.join(".ci/deb");
    fs::copy(top.join(".ci/deb"), &script).unwrap();
    let program = project.join("target/release/git-rts");
    symlink(env!("CARGO_BIN_EXE_git-rts"), program).unwrap();
    // To build and to pack takes minutes, and is cargo's business.
    let cargo = project.join("bin/cargo");
    fs::write(&cargo, "#!/bin/sh\necho \"$*\"\n").unwrap();
    fs::set_permissions(&cargo, fs::Permissions::from_mode(0o755)).unwrap();
    let path = std::env::var("PATH").unwrap();
    let path = format!("{}:{path}", project.join("bin").display());
    let output = Command::new(script).env("PATH", path).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert_eq!(output.stdout, b"build --release\ndeb --no-build\n");
    let metadata = MetadataCommand::new().no_deps().exec().unwrap();
    let assets = &metadata.root_package().unwrap().metadata["deb"]["assets"];
    for asset in assets.as_array().unwrap() {
        let wanted = asset[0].as_str().unwrap();
        let (folder, ending) = wanted.split_once("/*").unwrap_or((wanted, ""));
        let place = project.join(folder);
        let is_there = match ending {
            "" => place.exists(),
            ending => fs::read_dir(place).unwrap().any(|entry| {
                let name = entry.unwrap().file_name();
                name.to_string_lossy().ends_with(ending)
            }),
        };
        assert!(is_there, "{wanted}");
    }
}
