//! What cargo is told from outside of the repository decides about documentation, too.

use crate::{Workspace, names};

const LIB: &str =
    "/// ```\n/// assert!(!cfg!(zed));\n/// ```\npub fn f() {}\n#[test]\nfn unit() {}\n";

#[test]
fn what_cargo_is_told_from_outside_of_the_repository_selects_everything() {
    let mut workspace = Workspace::recorded(&[
        (".gitignore", "target\n"),
        (
            "Cargo.toml",
            "[package]\nname = \"p\"\nversion = \"0.1.0\"\nedition = \"2021\"\n",
        ),
        ("src/lib.rs", LIB),
    ]);
    let all = names(&["p unit", "p --doc"]);
    assert_eq!(workspace.would_run(), names(&[]));

    let variable = "CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUSTDOCFLAGS";
    workspace.variables.push((variable, "--cfg zed"));
    for verb in [&["run", "HEAD", "--dry-run"][..], &["select", "HEAD"]] {
        let (printed, said) = workspace.rts(verb);
        assert_eq!(names(&printed.lines().collect::<Vec<_>>()), all, "{said}");
        assert!(said.contains(variable), "{said}");
    }
    workspace.variables.clear();
    assert_eq!(workspace.would_run(), names(&[]));

    // Above the repository, as for a whole folder of projects.
    let above = workspace.repo.top().parent().unwrap().join(".cargo");
    std::fs::create_dir(&above).unwrap();
    let settings = "[build]\nrustdocflags = [\"--cfg\", \"zed\"]\n";
    std::fs::write(above.join("config.toml"), settings).unwrap();
    for verb in [&["run", "HEAD", "--dry-run"][..], &["select", "HEAD"]] {
        let (printed, said) = workspace.rts(verb);
        assert_eq!(names(&printed.lines().collect::<Vec<_>>()), all, "{said}");
        let why = "the settings of cargo outside of the repository changed";
        assert!(said.contains(why), "{said}");
    }
}
