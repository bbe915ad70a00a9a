//! What cargo made of other packages than those of the tree: these come from registries, so that nothing in the tree that comes or
//! goes makes them others, and what cargo is told of them in manifests it takes in itself.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::scripts::{entries, files_in, folders_in, is_made_of, package_of, profiles};
use crate::repo::RepoPath;

/// Where cargo keeps what it knows of a profile; who has none is no profile.
pub(super) const FINGERPRINTS: &str = ".fingerprint";
/// Where rustc keeps what it may use again.
pub(super) const INCREMENTAL: &str = "incremental";
/// What cargo writes in each target folder.
const OF_CARGO: [&str; 3] = [".rustc_info.json", "CACHEDIR.TAG", ".cargo-lock"];

/// Whether a changed file may reach packages that are not of the tree: their scripts may read variables, and rustc be another.
pub(super) fn reaches_others(path: &RepoPath) -> bool {
    let name = path.file_name();
    let mut folders = path.as_bytes().split(|byte| *byte == b'/');
    folders.any(|folder| folder == b".cargo") || name.starts_with(b"rust-toolchain")
}

/// Whether the settings of the tree may tell scripts of other packages what to read, or take in more settings from elsewhere.
pub(super) fn tells_others(tree: &Path) -> bool {
    let settings = ["config.toml", "config"].map(|name| tree.join(".cargo").join(name));
    settings.iter().any(|file| {
        let text = fs::read_to_string(file);
        text.map_or(file.exists(), |text| {
            text.contains("env") || text.contains("include")
        })
    })
}

/// Takes away all that cargo made of the tree, and whatever else is in the folder. What rustc keeps for itself stays: it compares that with
/// what it reads now.
pub(super) fn clear(build: &Path, tree: &Path) -> io::Result<()> {
    let profiles: Vec<PathBuf> = profiles(build)
        .into_iter()
        .filter(|folder| folder.join(FINGERPRINTS).is_dir())
        .collect();
    for folder in [build].into_iter().chain(above(&profiles)) {
        keep_only(folder, |path| {
            is_of_cargo(path) || profiles.iter().any(|profile| profile.starts_with(path))
        })?;
    }
    let (own, others) = packages(&profiles, tree);
    let is_other = |package: &String| others.contains(package) && !own.contains(package);
    for profile in &profiles {
        let known = ["build", "deps", INCREMENTAL, FINGERPRINTS].map(|name| profile.join(name));
        keep_only(profile, |path| {
            is_of_cargo(path) || known.iter().any(|known| known == path)
        })?;
        let [build, deps, ..] = &known;
        keep_only(build, |path| {
            package_of(path).is_some_and(|package| is_other(&package))
        })?;
        // Who has no list was made of something that nobody knows.
        let lists = lists_in(deps).into_iter();
        let others: BTreeSet<String> = lists
            .filter(|list| !is_made_of(std::slice::from_ref(list), tree))
            .filter_map(|list| hash_of(&list))
            .collect();
        keep_only(deps, |path| {
            hash_of(path).is_some_and(|hash| others.contains(&hash))
        })?;
    }
    Ok(())
}

/// The packages whose scripts were compiled from the tree, and the others that have some. With a target named, scripts are compiled in
/// one profile, and what they make is in another.
fn packages(profiles: &[PathBuf], tree: &Path) -> (BTreeSet<String>, BTreeSet<String>) {
    let (mut own, mut others) = (BTreeSet::new(), BTreeSet::new());
    for folder in profiles
        .iter()
        .flat_map(|profile| folders_in(&profile.join("build")))
    {
        let lists = lists_in(&folder);
        let Some(package) = package_of(&folder).filter(|_| !lists.is_empty()) else {
            continue;
        };
        match is_made_of(&lists, tree) {
            true => own.insert(package),
            false => others.insert(package),
        };
    }
    (own, others)
}

/// The folders of targets, which stand between.
fn above(profiles: &[PathBuf]) -> BTreeSet<&Path> {
    profiles
        .iter()
        .filter_map(|profile| profile.parent())
        .collect()
}

/// The lists of what rustc read in a folder.
fn lists_in(folder: &Path) -> Vec<PathBuf> {
    let is_list = |file: &PathBuf| file.extension().is_some_and(|extension| extension == "d");
    files_in(folder).into_iter().filter(is_list).collect()
}

/// The hash in a name: all that was made at once has the same.
fn hash_of(file: &Path) -> Option<String> {
    let name = file.file_name()?.to_str()?;
    let is_hash =
        |part: &&str| part.len() == 16 && part.bytes().all(|byte| byte.is_ascii_hexdigit());
    name.split(['-', '.']).find(is_hash).map(str::to_owned)
}

fn is_of_cargo(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default();
    OF_CARGO.iter().any(|known| name == *known)
}

fn keep_only(folder: &Path, keep: impl Fn(&Path) -> bool) -> io::Result<()> {
    for path in entries(folder).filter(|path| !keep(path)) {
        match path.is_dir() && !path.is_symlink() {
            true => fs::remove_dir_all(path)?,
            false => fs::remove_file(path)?,
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_made_of_the_tree_goes_and_the_rest_stays() {
        let room = tempfile::tempdir().expect("there is room");
        let (build, tree) = (room.path().join("out"), room.path().join("tree"));
        let other = "0123456789abcdef";
        let own = "fedcba9876543210";
        let write = |path: &str, text: &str| {
            let path = build.join(path);
            fs::create_dir_all(path.parent().expect("it is below")).expect("there is room");
            fs::write(path, text).expect("there is room");
        };
        let outside = "/d/o.d: /r/o.rs\n\n/r/o.rs:\n\n# env-dep:V=1 2\n";
        let inside = format!("/d/m.d: {}/m.rs\n", tree.display());
        let stay = [
            (".rustc_info.json".to_owned(), ""),
            ("debug/.cargo-lock".to_owned(), ""),
            ("debug/incremental/m/x".to_owned(), ""),
            (format!("debug/.fingerprint/o-{other}/lib-o"), ""),
            (format!("debug/deps/o-{other}.d"), outside),
            (format!("debug/deps/libo-{other}.rlib"), ""),
            (format!("debug/deps/o-{other}.o.1a-cgu.0.rcgu.o"), ""),
            (format!("debug/build/o-{other}/o.d"), outside),
            (format!("triple/debug/.fingerprint/o-{other}/lib-o"), ""),
            (format!("triple/debug/build/o-{other}/out/x.rs"), ""),
        ];
        let go = [
            ("tmp/x".to_owned(), ""),
            ("debug/prog".to_owned(), ""),
            ("debug/examples/e".to_owned(), ""),
            (format!("debug/deps/m-{own}.d"), &*inside),
            (format!("debug/deps/m-{own}"), ""),
            (format!("debug/deps/libq-{own}.rlib"), ""),
            (format!("debug/build/m-{own}/m.d"), "m.d: build.rs\n"),
            (format!("debug/build/m-{other}/out/x.rs"), ""),
            (format!("triple/debug/build/m-{own}/out/x.rs"), ""),
        ];
        for (path, text) in stay.iter().chain(&go) {
            write(path, text);
        }
        clear(&build, &tree).expect("all of it is ours");
        for (path, _) in &stay {
            assert!(build.join(path).exists(), "{path}");
        }
        for (path, _) in &go {
            assert!(!build.join(path).exists(), "{path}");
        }
    }

    #[test]
    fn settings_that_tell_others_are_known() {
        let room = tempfile::tempdir().expect("there is room");
        assert!(!tells_others(room.path()));
        fs::create_dir(room.path().join(".cargo")).expect("there is room");
        for (text, tells) in [
            ("[build]\njobs = 1\n", false),
            ("[env]\nX = \"1\"\n", true),
            ("include = \"more.toml\"\n", true),
        ] {
            fs::write(room.path().join(".cargo/config.toml"), text).expect("there is room");
            assert_eq!(tells_others(room.path()), tells, "{text}");
        }
    }

    #[test]
    fn what_may_reach_packages_of_others_is_known() {
        let path = |text: &str| RepoPath::new(text);
        for reaches in [
            ".cargo/config.toml",
            "a/.cargo/config",
            "rust-toolchain.toml",
        ] {
            assert!(reaches_others(&path(reaches)), "{reaches}");
        }
        for other in ["Cargo.toml", "src/cargo/mod.rs", "tests/new.rs"] {
            assert!(!reaches_others(&path(other)), "{other}");
        }
    }
}
