//! Compiling and linking with the compilers that are installed, and digesting what comes out.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use git_rts::objects::{Contents, Link, Linked, ObjectDifference, difference, digest};
use tempfile::TempDir;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Counting {
    No,
    Yes,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Setting {
    pub(crate) compiler: &'static str,
    pub(crate) level: &'static str,
    pub(crate) position: &'static str,
    pub(crate) counting: Counting,
}

pub(crate) const PLAIN: Setting = Setting {
    compiler: "gcc",
    level: "-O1",
    position: "-fPIC",
    counting: Counting::No,
};

/// The flags of the masquerade for gcc.
const GCC_FLAGS: [&str; 3] = ["--coverage", "-fprofile-abs-path", "-fno-early-inlining"];

impl Setting {
    fn flags(&self) -> Vec<String> {
        let mut flags: Vec<&str> = git_rts::objects::COMPILER_FLAGS.to_vec();
        flags.extend([self.level, self.position, "-w"]);
        if self.compiler == "gcc" {
            flags.push(git_rts::objects::FLAG_FOR_GCC);
        }
        if self.counting == Counting::Yes {
            match self.compiler {
                "gcc" => flags.extend(GCC_FLAGS),
                _ => flags.extend(git_rts::masquerade::CLANG_FLAGS),
            }
        }
        flags.into_iter().map(str::to_owned).collect()
    }

    /// The masquerade tells clang the whole path of a source, and where to count without an environment.
    fn flags_for(&self, folder: &Path, source: &Path) -> Vec<String> {
        let mut flags = self.flags();
        if self.counting == Counting::Yes && self.compiler != "gcc" {
            flags.push(format!("-fprofile-instr-generate={}/s", folder.display()));
            for part in ["-main-file-name", source.to_str().unwrap()] {
                flags.extend(["-Xclang".to_owned(), part.to_owned()]);
            }
        }
        flags
    }
}

pub(crate) fn run(program: &str, arguments: &[String], folder: &Path) -> String {
    let output = Command::new(program)
        .args(arguments)
        .current_dir(folder)
        .output()
        .unwrap_or_else(|error| panic!("cannot run '{program}': {error}; install it"));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program} {arguments:?}: {errors}");
    String::from_utf8(output.stdout).unwrap()
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// Compiles one source to an object.
pub(crate) fn compile(
    setting: Setting,
    folder: &Path,
    name: &str,
    text: &str,
    more: &[&str],
) -> PathBuf {
    let source = folder.join(name);
    fs::write(&source, text).unwrap();
    let object = source.with_extension("o");
    let mut arguments = setting.flags_for(folder, &source);
    arguments.extend(words(more));
    arguments.extend(words(&[
        "-c",
        source.to_str().unwrap(),
        "-o",
        object.to_str().unwrap(),
    ]));
    run(setting.compiler, &arguments, folder);
    object
}

/// Links objects, and answers the binary and how the linker says that it was made.
pub(crate) fn link(
    setting: Setting,
    folder: &Path,
    inputs: &[PathBuf],
    more: &[&str],
) -> (PathBuf, Link) {
    let output = folder.join("p");
    let mut arguments = setting.flags_for(folder, &folder.join("p"));
    if setting.position == "-fno-pic" {
        arguments.push("-no-pie".to_owned());
    }
    arguments.extend(
        inputs
            .iter()
            .map(|input| input.to_str().unwrap().to_owned()),
    );
    arguments.push(format!("-Wl,{}", git_rts::objects::LINKER_FLAGS.join(",")));
    arguments.extend(words(&["-o", output.to_str().unwrap()]));
    arguments.extend(words(more));
    let trace = run(setting.compiler, &arguments, folder);
    (output, Link::from_trace(&[], &trace))
}

/// Adds a binary, with what went into it as it is on the disk just now.
pub(crate) fn add(contents: &mut Contents, name: &str, binary: &[u8], link: Option<&Link>) {
    let mut objects = BTreeMap::new();
    let linked = link.map(|link| {
        let mut read = |path: &str| Some((fs::read(path).ok()?, false));
        Linked::note(link, binary, &mut read, &mut |key, bytes, _| {
            objects.insert(key, digest(bytes));
        })
    });
    contents.add(name, binary, linked.as_ref(), &mut |key| {
        objects.get(&key).cloned()
    });
}

/// What the program of some sources holds.
pub(crate) fn build(
    setting: Setting,
    sources: &BTreeMap<String, String>,
    more: &[&str],
) -> Contents {
    let folder = TempDir::new().unwrap();
    build_in(setting, folder.path(), sources, more, false)
}

/// The same in a place with a longer path, and with the objects in another order.
pub(crate) fn build_elsewhere(
    setting: Setting,
    sources: &BTreeMap<String, String>,
    more: &[&str],
) -> Contents {
    let folder = TempDir::new().unwrap();
    let inner = folder.path().join("another/and/much/longer/place");
    fs::create_dir_all(&inner).unwrap();
    build_in(setting, &inner, sources, more, true)
}

fn build_in(
    setting: Setting,
    folder: &Path,
    sources: &BTreeMap<String, String>,
    more: &[&str],
    is_reversed: bool,
) -> Contents {
    let mut objects: Vec<PathBuf> = sources
        .iter()
        .map(|(name, text)| compile(setting, folder, name, text, more))
        .collect();
    if is_reversed {
        objects.reverse();
    }
    let (binary, link) = link(setting, folder, &objects, &[]);
    let mut contents = Contents::new();
    add(&mut contents, "p", &fs::read(binary).unwrap(), Some(&link));
    let opaque = &contents.binaries["p"].opaque;
    assert_eq!(*opaque, None, "{setting:?}");
    contents
}

pub(crate) fn compare(before: &Contents, after: &Contents) -> ObjectDifference {
    difference(before, after, &|_| false)
}
