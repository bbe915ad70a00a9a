//! A small program with the means to compile it, run it and read its trace.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use git_rts::lang::c::macros::MacroTable;
use git_rts::lang::c::{Granularity, file_facts, lex_facts};
use git_rts::lang::cfg::Cfg;
use git_rts::lang::facts::{FileFacts, Flow, Kind};
use git_rts::masquerade::added::{self, Purpose, Source};
use git_rts::program::{Program, SourceFile};
use git_rts::recording::gcov::Gcov;
use git_rts::recording::llvm::Llvm;
use git_rts::recording::{Placer, Recorded, Recorder};
use git_rts::repo::{BlobId, RepoPath};
use git_rts::trace::Crossed;
use tempfile::TempDir;

/// How a program is made to count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Compiler {
    Clang(u32),
    Gcc(&'static str),
}

pub(crate) struct Bench {
    folder: TempDir,
    compiler: Compiler,
    files: Vec<(String, String)>,
}

/// What a test did: for each function, its edges as text, or nothing if they are not known.
pub(crate) type Trace = BTreeMap<String, Option<BTreeSet<String>>>;

impl Bench {
    pub(crate) fn new(compiler: Compiler, files: &[(&str, &str)]) -> Self {
        let folder = TempDir::new().unwrap();
        for (name, text) in files {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        let files = files.iter();
        let owned = files.map(|(name, text)| ((*name).to_owned(), (*text).to_owned()));
        Bench {
            folder,
            compiler,
            files: owned.collect(),
        }
    }

    /// One source, compiled to `program`.
    pub(crate) fn of(compiler: Compiler, source: &str) -> Self {
        let bench = Self::new(compiler, &[("a.c", source)]);
        bench.compile(&["-o", "program", "a.c"]);
        bench
    }

    pub(crate) fn top(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap()
    }

    pub(crate) fn compile(&self, arguments: &[&str]) {
        let (name, flags): (String, &[&str]) = match self.compiler {
            Compiler::Clang(version) => (
                format!("clang-{version}"),
                &git_rts::masquerade::CLANG_FLAGS,
            ),
            Compiler::Gcc(name) => (name.to_owned(), &["--coverage", "-fprofile-abs-path"]),
        };
        let mut command = Command::new(&name);
        if let Compiler::Gcc(name) = self.compiler {
            let arguments: Vec<OsString> = arguments.iter().map(OsString::from).collect();
            let folder = &self.top();
            let source = Source {
                folder,
                purpose: Purpose::Mark,
            };
            let object = added::object(Path::new(name), &arguments, &source);
            let object = object.into_iter().map(PathBuf::into_os_string);
            command.args(object.flat_map(|object| ["-Xlinker".into(), object]));
        }
        let output = command
            .args(flags)
            .arg("-w")
            .args(arguments)
            .current_dir(self.top())
            .output()
            .unwrap_or_else(|error| panic!("cannot run '{name}': {error}; install that package"));
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{name} {arguments:?}: {errors}");
    }

    /// Runs the program and reads what it left.
    pub(crate) fn record(&self, arguments: &[&str]) -> Recorded {
        self.with_recorder(|recorder| recorder.read(self.run(recorder, arguments).path()))
    }

    /// Does something with the reader of what the program leaves.
    pub(crate) fn with_recorder<T>(&self, action: impl FnOnce(&dyn Recorder) -> T) -> T {
        let top = self.top();
        let placer = Placer::new(&top, self.program());
        let folders = [top.as_path()];
        match self.compiler {
            Compiler::Clang(_) => action(&Llvm::new(&placer, &folders, Path::new("strays"))),
            Compiler::Gcc(_) => action(&Gcov::new(&placer, &folders)),
        }
    }

    /// The functions that have counters.
    pub(crate) fn counted(&self) -> BTreeSet<String> {
        let top = self.top();
        let placer = Placer::new(&top, self.program());
        let counted = Llvm::new(&placer, &[&top], Path::new("strays")).counted();
        counted.into_iter().map(|function| function.name).collect()
    }

    /// Runs the program; what it left is in the folder.
    pub(crate) fn run(&self, recorder: &dyn Recorder, arguments: &[&str]) -> TempDir {
        let profiles = TempDir::new().unwrap();
        Command::new(self.top().join("program"))
            .args(arguments)
            .envs(recorder.environment(profiles.path()))
            .env("LD_LIBRARY_PATH", self.top())
            .current_dir(profiles.path())
            .output()
            .unwrap();
        profiles
    }

    fn program(&self) -> Program {
        let mut files: Vec<SourceFile> = self
            .files
            .iter()
            .map(|(name, text)| SourceFile {
                path: RepoPath::new(name.as_bytes()),
                id: BlobId([0; 20]),
                lex: Arc::new(lex_facts(text.as_bytes())),
            })
            .collect();
        files.sort_by(|one, two| one.path.cmp(&two.path));
        Program::new(files, &[])
    }

    fn facts(&self, file: &str) -> (FileFacts, &str) {
        let lex: Vec<_> = self
            .files
            .iter()
            .map(|(_, text)| lex_facts(text.as_bytes()))
            .collect();
        let macros = MacroTable::learn(lex.iter().flat_map(|facts| &facts.macros));
        let (_, text) = self.files.iter().find(|(name, _)| name == file).unwrap();
        let facts = file_facts(text.as_bytes(), &macros, Granularity::Expression);
        (facts, text)
    }

    /// A trace in words.
    pub(crate) fn words(&self, recorded: &Recorded) -> Trace {
        let mut trace = Trace::new();
        for (function, crossed) in &recorded.trace.functions {
            let file = String::from_utf8(function.file.as_bytes().to_vec()).unwrap();
            let (facts, text) = self.facts(&file);
            let entity = facts.entities.iter().find(|entity| {
                entity.kind == Kind::Function
                    && entity.body.is_some()
                    && entity.name == function.name
            });
            let edges = match (&entity.unwrap().body.as_ref().unwrap().flow, crossed) {
                (Flow::Edges(cfg), Crossed::Edges(set)) => {
                    Some(set.iter().map(|edge| describe(cfg, edge, text)).collect())
                }
                _ => None,
            };
            match trace
                .entry(function.name.clone())
                .or_insert_with(|| edges.clone())
            {
                Some(known) => known.extend(edges.into_iter().flatten()),
                known => *known = None,
            }
        }
        trace
    }

    /// What one run did in one function, in words.
    #[track_caller]
    pub(crate) fn edges(&self, arguments: &[&str], function: &str) -> BTreeSet<String> {
        let recorded = self.record(arguments);
        assert_eq!(recorded.doubt, None);
        let mut words = self.words(&recorded);
        words
            .remove(function)
            .unwrap_or_else(|| panic!("'{function}' was not entered"))
            .unwrap_or_else(|| panic!("the edges of '{function}' are not known"))
    }
}

/// An edge as people write it; the way into the function is left out.
fn describe(cfg: &Cfg, edge: usize, text: &str) -> String {
    let edge = &cfg.edges[edge];
    let node = |index: u32| {
        let span = cfg.nodes[index as usize].span;
        match index {
            0 => "entry".to_owned(),
            1 => "exit".to_owned(),
            _ => text[span.start as usize..span.end as usize]
                .split_whitespace()
                .collect::<Vec<_>>()
                .join(" "),
        }
    };
    let label = edge.label.text();
    let arrow = match label.as_str() {
        "" => "->".to_owned(),
        label => format!("-{label}->"),
    };
    format!("{} {arrow} {}", node(edge.from), node(edge.to))
}

/// A set of edges, a line each.
pub(crate) fn lines(text: &str) -> BTreeSet<String> {
    let lines = text.lines().map(str::trim);
    lines
        .filter(|line| !line.is_empty())
        .map(str::to_owned)
        .collect()
}

pub(crate) fn without_entry(edges: &BTreeSet<String>, header: &str) -> BTreeSet<String> {
    let entry = format!("entry -> {header}");
    edges
        .iter()
        .filter(|edge| **edge != entry)
        .cloned()
        .collect()
}
