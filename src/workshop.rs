//! The workshop: a copy of the work tree that is ours, in which projects are built and tests run.
//!
//! The user's own build stays as it is, and an edit while tests run reaches neither the build nor the tests.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::error::{Error, Result};
use crate::repo::{FileEntry, FileKind, RepoPath, Repository, Version};

/// How often the copy is taken anew when files change under our hands.
const ATTEMPTS: usize = 5;

/// The folder of the copy, and that of what is built beside it.
pub const TREE: &str = "tree";
pub const BUILD: &str = "out";

#[derive(Debug)]
pub struct Workshop {
    /// The copy of the tree.
    pub tree: PathBuf,
    /// Where projects that build beside their sources are built.
    pub build: PathBuf,
    /// The compilers that are ours.
    pub compilers: PathBuf,
    /// What builds and tests printed.
    pub logs: PathBuf,
    /// What tests leave behind while they run.
    pub profiles: PathBuf,
    /// What programs counted that ran while the project was built: what they made is in the build for as long as it is.
    pub made: PathBuf,
    /// What programs counted that a test started without its environment.
    pub strays: PathBuf,
    manifest: PathBuf,
    opened: PathBuf,
    pending: PathBuf,
}

/// How the work tree differs from its copy.
#[derive(Debug, Default)]
pub struct Differences {
    pub modified: BTreeSet<RepoPath>,
    pub came_or_went: BTreeSet<RepoPath>,
}

impl Differences {
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.modified.is_empty() && self.came_or_went.is_empty()
    }
}

/// What the copy of one file is known by: the content it was made from, and how it looked when it was made.
type Manifest = BTreeMap<RepoPath, Copied>;

#[derive(Debug, Clone, PartialEq, Eq)]
struct Copied {
    content: String,
    size: u64,
    modified: u128,
}

impl Workshop {
    /// Where the workshop of a work tree is, whether or not it is there.
    #[must_use]
    pub fn of(repository: &Repository) -> Self {
        Self::named(repository, &repository.worktree_name())
    }

    /// Beside it, the workshop of a build in which mutants are chosen at run time.
    #[must_use]
    pub fn of_switched(repository: &Repository) -> Self {
        Self::named(repository, Path::new("switched"))
    }

    /// And that of a build with nothing of ours in it.
    #[must_use]
    pub fn of_plain(repository: &Repository) -> Self {
        Self::named(repository, Path::new("plain"))
    }

    fn named(repository: &Repository, name: &Path) -> Self {
        let root = repository.rts_dir().join("build").join(name);
        let folder = |name: &str| root.join(name);
        Workshop {
            tree: folder(TREE),
            build: folder(BUILD),
            compilers: folder("compilers"),
            logs: folder("logs"),
            profiles: folder("profiles"),
            made: folder("made"),
            strays: folder("strays"),
            manifest: folder("manifest"),
            opened: folder("opened"),
            pending: folder("pending"),
        }
    }

    /// The workshop of a work tree, with its folders.
    pub fn open(repository: &Repository) -> Result<Self> {
        repository.create_rts_dir()?;
        let workshop = Self::of(repository);
        workshop.make_folders()?;
        Ok(workshop)
    }

    pub fn make_folders(&self) -> Result<()> {
        for folder in [&self.tree, &self.build, &self.logs] {
            fs::create_dir_all(folder).map_err(|error| cannot("create", folder, &error))?;
        }
        Ok(())
    }

    /// Whether a folder is one of its own, or named after one with an extension.
    #[must_use]
    pub fn has(&self, folder: &Path) -> bool {
        let own = [&self.tree, &self.build, &self.compilers, &self.logs];
        let more = [&self.profiles, &self.made, &self.strays];
        let plain = folder.with_extension("");
        own.into_iter().chain(more).any(|own| *own == plain)
    }

    /// What the last build printed.
    #[must_use]
    pub fn build_log(&self) -> PathBuf {
        self.logs.join("build.log")
    }

    /// Where a test's output is kept.
    #[must_use]
    pub fn log_of(&self, test: &str) -> PathBuf {
        let plain: String = test
            .chars()
            .map(|letter| match letter {
                letter if letter.is_ascii_alphanumeric() || "-_.+".contains(letter) => letter,
                _ => '_',
            })
            .take(80)
            .collect();
        // Names that look alike once they are plain stay apart.
        let digest = crate::digest::bytes(test.as_bytes()) as u32;
        self.logs.join(format!("{plain}-{digest:08x}.log"))
    }

    /// What the work tree has that the copy has not, and the reverse.
    pub fn differences(&self, repository: &Repository) -> Result<Differences> {
        let version = repository.work_tree()?;
        let mut known = self.read_manifest();
        let mut found = Differences::default();
        for file in repository.files(&version)? {
            match known.remove(&file.path) {
                Some(copied) if copied.content == content_of(&file) => {}
                Some(_) => {
                    found.modified.insert(file.path);
                }
                None => {
                    found.came_or_went.insert(file.path);
                }
            }
        }
        found.came_or_went.extend(known.into_keys());
        Ok(found)
    }

    /// Makes the copy equal to the work tree, and answers the version that it is.
    pub fn copy(&self, repository: &Repository) -> Result<Version> {
        let top = repository.workdir().ok_or_else(|| {
            Error::new("a bare repository has no work tree to build")
                .hint("run it in a clone or a worktree")
        })?;
        let mut version = repository.work_tree()?;
        for _ in 0..ATTEMPTS {
            let files = repository.files(&version)?;
            self.copy_files(top, &files, |path| repository.is_untracked(path))?;
            let now = repository.work_tree()?;
            if now.tree() == version.tree() {
                return Ok(version);
            }
            version = now;
        }
        Err(Error::new("the work tree keeps changing").hint("try again when nothing writes to it"))
    }

    fn copy_files(
        &self,
        top: &Path,
        files: &[FileEntry],
        is_untracked: impl Fn(&RepoPath) -> bool,
    ) -> Result<()> {
        let mut known = self.read_manifest();
        let mut wanted = Manifest::new();
        let mut missing = Vec::new();
        for file in files {
            let content = content_of(file);
            let to = file.path.under(&self.tree);
            let found = known.remove(&file.path);
            if file.kind == FileKind::Submodule {
                // What went from it must go from its copy, too, and nobody noted what that is.
                if found.is_some_and(|copied| copied.content != content) {
                    let _ = fs::remove_dir_all(&to);
                }
                missing.push((file, content));
                continue;
            }
            let is_same = found.is_some_and(|copied| {
                copied.content == content
                    && fs::symlink_metadata(&to)
                        .is_ok_and(|metadata| copied == looks(&content, &metadata))
            });
            match fs::symlink_metadata(&to) {
                Ok(metadata) if is_same => {
                    wanted.insert(file.path.clone(), looks(&content, &metadata));
                }
                _ => missing.push((file, content)),
            }
        }
        // What is about to change is forgotten first: a copy that was stopped half-way is not taken for a whole one.
        self.write_manifest(&wanted)?;
        for path in known.keys() {
            let gone = path.under(&self.tree);
            let is_folder = fs::symlink_metadata(&gone).is_ok_and(|metadata| metadata.is_dir());
            let _ = match is_folder {
                true => fs::remove_dir_all(gone),
                false => fs::remove_file(gone),
            };
        }
        // Nobody knows which of them was written first: none looks as if it were made of another.
        let now = SystemTime::now();
        for (file, content) in missing {
            let (from, to) = (file.path.under(top), file.path.under(&self.tree));
            let copied = copy_one(file.kind, &from, &to).and_then(|()| match file.kind {
                FileKind::File if is_untracked(&file.path) => keep_time(&from, &to, now),
                FileKind::File => set_time(&to, now),
                FileKind::Symlink | FileKind::Submodule => Ok(()),
            });
            copied.map_err(|error| cannot("copy", &from, &error))?;
            let metadata =
                fs::symlink_metadata(&to).map_err(|error| cannot("read", &to, &error))?;
            wanted.insert(file.path.clone(), looks(&content, &metadata));
        }
        self.write_manifest(&wanted)
    }

    /// The files of the copy that are not what was copied, each with its place: the build changed them.
    #[must_use]
    pub fn altered(&self) -> Vec<(RepoPath, PathBuf)> {
        let copied = self.read_manifest().into_iter();
        let altered = copied.filter_map(|(file, copied)| {
            let path = file.under(&self.tree);
            let is_same = fs::symlink_metadata(&path).is_ok_and(|metadata| {
                // Of a folder, which is a submodule, nothing was kept.
                metadata.is_dir()
                    || looks(&copied.content, &metadata) == copied
                        && (metadata.is_symlink()
                            || copied.content.ends_with("true") == (metadata.mode() & 0o100 != 0))
            });
            (!is_same).then_some((file, path))
        });
        altered.collect()
    }

    /// The files that changed since the last build that succeeded; nothing, if that is not known.
    #[must_use]
    pub fn pending(&self) -> Option<BTreeSet<RepoPath>> {
        match self.pending.exists() {
            true => read_paths(&self.pending),
            false => Some(BTreeSet::new()),
        }
    }

    /// Adds to them.
    pub fn note_pending(&self, more: &BTreeSet<RepoPath>) {
        let written = match self.pending() {
            Some(mut all) => {
                all.extend(more.iter().cloned());
                write_paths(&self.pending, &all)
            }
            None => Ok(()),
        };
        if written.is_err() {
            let _ = fs::write(&self.pending, b"");
        }
    }

    /// A build has taken all of them in.
    pub fn forget_pending(&self) {
        let _ = fs::remove_file(&self.pending);
    }

    /// The files that the builds in this workshop opened since it was empty; nothing, if some may be missing.
    #[must_use]
    pub fn opened(&self) -> Option<BTreeSet<RepoPath>> {
        read_paths(&self.opened)
    }

    /// Adds to them. What cannot be told or written makes all of it unknown.
    pub fn note_opened(&self, more: Option<BTreeSet<RepoPath>>) {
        let known = match self.opened.exists() {
            true => self.opened(),
            false => None,
        };
        let (Some(mut all), Some(more)) = (known, more) else {
            return self.doubt_opened();
        };
        let count = all.len();
        all.extend(more);
        if all.len() > count && write_paths(&self.opened, &all).is_err() {
            self.doubt_opened();
        }
    }

    /// The workshop is empty: nothing was opened.
    pub fn forget_opened(&self) {
        if write_paths(&self.opened, &BTreeSet::new()).is_err() {
            self.doubt_opened();
        }
    }

    fn doubt_opened(&self) {
        // An empty file says so as well as one that cannot be written.
        let _ = fs::write(&self.opened, b"");
    }

    fn read_manifest(&self) -> Manifest {
        let text = fs::read(&self.manifest).unwrap_or_default();
        let entries = text.split(|byte| *byte == 0);
        let entry = |entry: &[u8]| {
            let mut parts = entry.splitn(4, |byte| *byte == b'\t');
            let mut text = || {
                let part = parts.next()?;
                std::str::from_utf8(part).ok().map(str::to_owned)
            };
            let copied = Copied {
                content: text()?,
                size: text()?.parse().ok()?,
                modified: text()?.parse().ok()?,
            };
            Some((RepoPath::new(parts.next()?), copied))
        };
        entries.filter_map(entry).collect()
    }

    fn write_manifest(&self, manifest: &Manifest) -> Result<()> {
        let mut text = Vec::new();
        for (path, copied) in manifest {
            let front = format!("{}\t{}\t{}\t", copied.content, copied.size, copied.modified);
            text.extend_from_slice(front.as_bytes());
            text.extend_from_slice(path.as_bytes());
            text.push(0);
        }
        let beside = self.manifest.with_extension("new");
        fs::write(&beside, text)
            .and_then(|()| fs::rename(&beside, &self.manifest))
            .map_err(|error| cannot("write", &self.manifest, &error))
    }
}

/// Reads a list of paths; nothing, if it was not written to its end.
fn read_paths(file: &Path) -> Option<BTreeSet<RepoPath>> {
    let text = fs::read(file).ok()?;
    let text = text.strip_suffix(b"\0\0")?;
    let paths = text
        .split(|byte| *byte == 0)
        .filter(|path| !path.is_empty());
    Some(paths.map(RepoPath::new).collect())
}

fn write_paths(file: &Path, paths: &BTreeSet<RepoPath>) -> io::Result<()> {
    let mut text = Vec::new();
    for path in paths {
        text.extend(path.as_bytes());
        text.push(0);
    }
    text.extend(b"\0\0");
    fs::write(file, text)
}

/// What a copy is made from.
fn content_of(file: &FileEntry) -> String {
    format!("{} {:?} {}", file.id, file.kind, file.executable)
}

fn looks(content: &str, metadata: &Metadata) -> Copied {
    let modified = metadata.modified().unwrap_or(UNIX_EPOCH);
    Copied {
        content: content.to_owned(),
        size: metadata.len(),
        modified: modified
            .duration_since(UNIX_EPOCH)
            .map_or(0, |time| time.as_nanos()),
    }
}

fn copy_one(kind: FileKind, from: &Path, to: &Path) -> io::Result<()> {
    if let Some(folder) = to.parent() {
        make_folder(folder)?;
    }
    match fs::symlink_metadata(to) {
        Ok(metadata) if metadata.is_dir() && kind != FileKind::Submodule => fs::remove_dir_all(to)?,
        Ok(metadata) if !metadata.is_dir() => fs::remove_file(to)?,
        _ => {}
    }
    match kind {
        FileKind::File => fs::copy(from, to).map(|_| ()),
        FileKind::Symlink => std::os::unix::fs::symlink(fs::read_link(from)?, to),
        FileKind::Submodule => copy_folder(from, to),
    }
}

/// What nobody tracks may have been made of something else: a copy that looks new would not be made again.
fn keep_time(from: &Path, to: &Path, now: SystemTime) -> io::Result<()> {
    let made = fs::symlink_metadata(from)?.modified()?;
    set_time(to, made.min(now))
}

fn set_time(to: &Path, time: SystemTime) -> io::Result<()> {
    // Opened for reading: that it may be written is not said.
    fs::File::open(to)?.set_modified(time)
}

/// Makes a folder, also where a file stands in the way.
fn make_folder(folder: &Path) -> io::Result<()> {
    match fs::create_dir_all(folder) {
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::NotADirectory | io::ErrorKind::AlreadyExists
            ) =>
        {
            let file = folder.ancestors().find(|above| above.is_file());
            file.map_or(Err(error), fs::remove_file)?;
            fs::create_dir_all(folder)
        }
        other => other,
    }
}

/// A submodule is taken as it is, without its own repository.
fn copy_folder(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    let Ok(entries) = fs::read_dir(from) else {
        return Ok(());
    };
    for entry in entries {
        let entry = entry?;
        if entry.file_name() == ".git" {
            continue;
        }
        let (kind, from, to) = (entry.file_type()?, entry.path(), to.join(entry.file_name()));
        if kind.is_dir() {
            copy_folder(&from, &to)?;
        } else if kind.is_symlink() {
            copy_one(FileKind::Symlink, &from, &to)?;
        } else if kind.is_file() && !is_newer(&to, &from) {
            copy_one(FileKind::File, &from, &to)?;
        }
    }
    Ok(())
}

/// A copy of the same size that is not older than its original.
fn is_newer(copy: &Path, original: &Path) -> bool {
    let (Ok(copy), Ok(original)) = (fs::metadata(copy), fs::metadata(original)) else {
        return false;
    };
    copy.len() == original.len()
        && matches!((copy.modified(), original.modified()), (Ok(copy), Ok(original)) if copy >= original)
}

fn cannot(what: &str, path: &Path, error: &io::Error) -> Error {
    Error::new(format!("cannot {what} '{}': {error}", path.display()))
}
