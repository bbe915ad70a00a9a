//! The repository room on real repositories, made with the `git` program.

#![allow(clippy::unwrap_used)]

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use git_rts::error::Error;
use git_rts::exit_code::ExitCode;
use git_rts::repo::{BlobId, Change, ChangeKind, FileKind, RepoPath, Repository, Version};
use tempfile::TempDir;

/// A repository in a folder of its own, with room for clones beside it.
struct TestRepo {
    room: TempDir,
    top: PathBuf,
}

impl TestRepo {
    fn new() -> Self {
        let room = TempDir::new().unwrap();
        let top = room.path().join("repo");
        fs::create_dir(&top).unwrap();
        let repo = TestRepo { room, top };
        repo.git(&["init", "--quiet", "--initial-branch=main"]);
        repo
    }

    /// With `a.c` and `dir/b.c` in one commit.
    fn with_commit() -> Self {
        let repo = Self::new();
        repo.write("a.c", "int a;\n");
        repo.write("dir/b.c", "int b;\n");
        repo.commit("first");
        repo
    }

    fn git(&self, args: &[&str]) -> String {
        git_in(&self.top, args)
    }

    fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        let file = self.top.join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }

    fn remove(&self, path: &str) {
        fs::remove_file(self.top.join(path)).unwrap();
    }

    fn commit(&self, message: &str) -> String {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--allow-empty", "--message", message]);
        self.git(&["rev-parse", "HEAD"])
    }

    fn open(&self) -> Repository {
        Repository::open(&self.top).unwrap()
    }

    /// `git clone` with these options, over the wire protocol so that depth counts.
    fn clone(&self, name: &str, options: &[&str]) -> PathBuf {
        let source = format!("file://{}", self.top.display());
        let target = self.room.path().join(name);
        let mut args = vec!["clone", "--quiet"];
        args.extend(options);
        args.extend([source.as_str(), target.to_str().unwrap()]);
        self.git(&args);
        target
    }

    /// What changed in the working tree since HEAD, one line each.
    fn work_changes(&self) -> Vec<String> {
        self.changes(Some("HEAD"), None)
    }

    fn changes(&self, base: Option<&str>, head: Option<&str>) -> Vec<String> {
        let repository = self.open();
        let (base, head) = repository.resolve(base, head).unwrap();
        repository
            .changes(&base, &head)
            .unwrap()
            .iter()
            .map(line)
            .collect()
    }

    fn refusal(&self, base: Option<&str>, head: Option<&str>) -> Error {
        refusal(&self.top, base, head)
    }
}

fn git_in(directory: &Path, args: &[&str]) -> String {
    let output = git_command(directory).args(args).output().unwrap();
    assert!(
        output.status.success(),
        "git {args:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8_lossy(&output.stdout)
        .trim_end()
        .to_owned()
}

fn git_command(directory: &Path) -> Command {
    let mut command = Command::new("git");
    command.current_dir(directory);
    for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"] {
        command.env_remove(name);
    }
    let fixed = [
        ("GIT_CONFIG_GLOBAL", "/dev/null"),
        ("GIT_CONFIG_NOSYSTEM", "1"),
        ("GIT_AUTHOR_NAME", "A U Thor"),
        ("GIT_AUTHOR_EMAIL", "author@example.com"),
        ("GIT_AUTHOR_DATE", "2024-01-01T00:00:00Z"),
        ("GIT_COMMITTER_NAME", "C O Mitter"),
        ("GIT_COMMITTER_EMAIL", "committer@example.com"),
        ("GIT_COMMITTER_DATE", "2024-01-01T00:00:00Z"),
        ("GIT_ALLOW_PROTOCOL", "file"),
        ("GIT_EDITOR", "true"),
    ];
    command.envs(fixed);
    command
}

fn line(change: &Change) -> String {
    let path = |entry: &Option<git_rts::repo::FileEntry>| {
        entry.as_ref().map(|entry| entry.path.to_string())
    };
    match (change.kind, path(&change.old), path(&change.new)) {
        (ChangeKind::Renamed, Some(old), Some(new)) => format!("Renamed {old} {new}"),
        (kind, old, new) => format!("{kind:?} {}", new.or(old).unwrap()),
    }
}

fn refusal(directory: &Path, base: Option<&str>, head: Option<&str>) -> Error {
    let refusal = Repository::open(directory)
        .unwrap()
        .resolve(base, head)
        .unwrap_err();
    assert!(!refusal.hints.is_empty(), "no hint: {refusal}");
    refusal
}

fn commit_of(version: &Version) -> String {
    version.commit().unwrap().to_string()
}

fn paths(repository: &Repository, version: &Version) -> Vec<String> {
    let files = repository.files(version).unwrap();
    files.iter().map(|file| file.path.to_string()).collect()
}

fn id_of(repository: &Repository, version: &Version, path: &str) -> BlobId {
    let files = repository.files(version).unwrap();
    files
        .iter()
        .find(|file| file.path.as_bytes() == path.as_bytes())
        .unwrap()
        .id
}

// Opening.

#[test]
fn a_directory_outside_any_repository_is_refused_as_git_does() {
    let room = TempDir::new().unwrap();
    let refusal = Repository::open(room.path()).err().unwrap();
    assert!(
        refusal.message.starts_with("not a git repository"),
        "{refusal}"
    );
    assert_eq!(refusal.exit_code, ExitCode::Repository);
    assert!(!refusal.hints.is_empty());
}

#[test]
fn a_repository_is_found_from_a_subdirectory() {
    let repo = TestRepo::with_commit();
    let repository = Repository::open(repo.top.join("dir")).unwrap();
    assert_eq!(
        repository.workdir().unwrap().canonicalize().unwrap(),
        repo.top.canonicalize().unwrap()
    );
}

#[test]
fn the_environment_names_the_repository_and_its_work_tree() {
    let repo = TestRepo::with_commit();
    let elsewhere = TempDir::new().unwrap();
    fs::write(elsewhere.path().join("a.c"), "int changed;\n").unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_git-rts"))
        .args(["diff", "--format", "ttdiff"])
        .current_dir(elsewhere.path())
        .env("GIT_DIR", repo.top.join(".git"))
        .env("GIT_WORK_TREE", elsewhere.path())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(
        text.lines().collect::<Vec<_>>(),
        [
            "variable;a.c;a",
            "variable;a.c;changed",
            "variable;dir/b.c;b"
        ],
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

// Versions.

#[test]
fn a_base_alone_is_compared_with_the_working_tree() {
    let repo = TestRepo::with_commit();
    let first = repo.git(&["rev-parse", "HEAD"]);
    let (base, head) = repo.open().resolve(Some("main"), None).unwrap();
    assert_eq!(commit_of(&base), first);
    assert!(matches!(head, Version::WorkTree { .. }));
    assert_eq!(
        (base.to_string(), head.to_string()),
        (first[..7].to_owned(), "working tree".to_owned())
    );
}

#[test]
fn two_dots_and_two_arguments_name_the_same_ends() {
    let repo = TestRepo::with_commit();
    let second = repo.commit("second");
    let repository = repo.open();
    let expected = repository.resolve(Some("HEAD~1"), Some("HEAD")).unwrap();
    assert_eq!(commit_of(&expected.1), second);
    for range in ["HEAD~1..HEAD", "HEAD~1..", "@~1..@"] {
        assert_eq!(
            repository.resolve(Some(range), None).unwrap(),
            expected,
            "{range}"
        );
    }
    let (base, head) = repository.resolve(Some("..HEAD~1"), None).unwrap();
    assert_eq!((base, head), (expected.1, expected.0));
}

#[test]
fn three_dots_start_at_the_merge_base() {
    let repo = TestRepo::with_commit();
    let fork = repo.git(&["rev-parse", "HEAD"]);
    repo.git(&["checkout", "--quiet", "-b", "topic"]);
    let topic = repo.commit("on topic");
    repo.git(&["checkout", "--quiet", "main"]);
    repo.commit("on main");
    let (base, head) = repo.open().resolve(Some("main...topic"), None).unwrap();
    assert_eq!((commit_of(&base), commit_of(&head)), (fork.clone(), topic));
    let (base, _) = repo.open().resolve(Some("topic..."), None).unwrap();
    assert_eq!(commit_of(&base), fork);
}

#[test]
fn a_tag_is_peeled_to_its_commit() {
    let repo = TestRepo::with_commit();
    let first = repo.git(&["rev-parse", "HEAD"]);
    repo.git(&["tag", "--annotate", "--message=one", "v1"]);
    repo.commit("second");
    let (base, _) = repo.open().resolve(Some("v1"), None).unwrap();
    assert_eq!(commit_of(&base), first);
}

#[test]
fn the_default_base_is_where_head_left_its_upstream() {
    let repo = TestRepo::with_commit();
    let fork = repo.git(&["rev-parse", "HEAD"]);
    let clone = repo.clone("clone", &[]);
    repo.write("new.c", "");
    let upstream = repo.commit("upstream goes on");
    fs::write(clone.join("a.c"), "int mine;\n").unwrap();
    git_in(&clone, &["commit", "--quiet", "--all", "--message=mine"]);
    git_in(&clone, &["fetch", "--quiet"]);
    let repository = Repository::open(&clone).unwrap();
    let (base, _) = repository.resolve(None, None).unwrap();
    assert_eq!(commit_of(&base), fork);
    let (base, _) = repository.resolve(Some("@{upstream}"), None).unwrap();
    assert_eq!(commit_of(&base), upstream);
}

#[test]
fn without_an_upstream_the_default_base_is_head() {
    let repo = TestRepo::with_commit();
    let head = repo.git(&["rev-parse", "HEAD"]);
    let (base, _) = repo.open().resolve(None, None).unwrap();
    assert_eq!(commit_of(&base), head);
}

#[test]
fn a_bare_repository_compares_head_with_its_parent() {
    let repo = TestRepo::with_commit();
    let refusal = refusal(&repo.clone("root.git", &["--bare"]), None, None);
    assert_eq!(refusal.message, "'HEAD' has no parent to compare it with");

    let first = repo.git(&["rev-parse", "HEAD"]);
    repo.write("a.c", "int a2;\n");
    let second = repo.commit("second");
    let repository = Repository::open(repo.clone("bare.git", &["--bare"])).unwrap();
    let (base, head) = repository.resolve(None, None).unwrap();
    assert_eq!((commit_of(&base), commit_of(&head)), (first, second));
    assert_eq!(repository.changes(&base, &head).unwrap().len(), 1);
    assert_eq!(repository.workdir(), None);
    assert!(repository.work_tree().is_err());
}

#[test]
fn an_unknown_revision_is_refused() {
    let repo = TestRepo::with_commit();
    for revision in ["mian", "0123456789012345678901234567890123456789", "HEAD~9"] {
        let refusal = repo.refusal(Some(revision), None);
        assert_eq!(refusal.message, format!("unknown revision '{revision}'"));
        assert_eq!(refusal.exit_code, ExitCode::Repository);
        assert!(refusal.hints[0].contains("git fetch"));
    }
}

#[test]
fn a_file_or_directory_is_no_commit() {
    let repo = TestRepo::with_commit();
    assert_eq!(
        repo.refusal(Some("HEAD:a.c"), None).message,
        "'HEAD:a.c' is a file, not a commit"
    );
    assert_eq!(
        repo.refusal(Some("HEAD:dir"), None).message,
        "'HEAD:dir' is a directory, not a commit"
    );
}

#[test]
fn unrelated_histories_have_no_merge_base() {
    let repo = TestRepo::with_commit();
    repo.git(&["checkout", "--quiet", "--orphan", "other"]);
    repo.commit("unrelated");
    let refusal = repo.refusal(Some("main...other"), None);
    assert_eq!(refusal.message, "'main' and 'other' have no merge base");
}

#[test]
fn a_repository_without_commits_is_refused() {
    let refusal = TestRepo::new().refusal(None, None);
    assert_eq!(refusal.message, "'HEAD' has no commits yet");
    assert_eq!(refusal.exit_code, ExitCode::Repository);
}

#[test]
fn a_missing_upstream_is_named() {
    let refusal = TestRepo::with_commit().refusal(Some("@{upstream}"), None);
    assert_eq!(refusal.message, "no upstream for '@{upstream}'");
}

#[test]
fn a_range_and_a_second_head_are_a_usage_error() {
    let repo = TestRepo::with_commit();
    for (base, head) in [("HEAD..HEAD", "HEAD"), ("HEAD", "HEAD..HEAD")] {
        let refusal = repo.open().resolve(Some(base), Some(head)).unwrap_err();
        assert_eq!(refusal.exit_code, ExitCode::Usage, "{refusal}");
    }
}

#[test]
fn empty_variables_of_a_script_do_not_become_head() {
    let repo = TestRepo::with_commit();
    for base in ["", "..", "..."] {
        assert_eq!(
            repo.refusal(Some(base), None).exit_code,
            ExitCode::Usage,
            "'{base}'"
        );
    }
}

// Shallow clones.

/// Three commits on main, then a topic of two.
fn history_of_two_branches() -> TestRepo {
    let repo = TestRepo::with_commit();
    repo.commit("second");
    repo.commit("third");
    repo.git(&["checkout", "--quiet", "-b", "topic"]);
    repo.commit("topic 1");
    repo.commit("topic 2");
    repo.git(&["checkout", "--quiet", "main"]);
    repo
}

fn says_shallow(refusal: &Error) -> bool {
    refusal.message.contains("shallow")
        && refusal.hints[0].contains("--unshallow")
        && refusal.exit_code == ExitCode::Repository
}

#[test]
fn a_revision_beyond_the_shallow_border_is_refused() {
    let repo = history_of_two_branches();
    let clone = repo.clone("shallow", &["--depth=1"]);
    assert!(Repository::open(&clone).unwrap().is_shallow());
    assert!(!repo.open().is_shallow());
    let beyond = repo.git(&["rev-parse", "main~1"]);
    for revision in ["HEAD~1", &beyond] {
        let refusal = refusal(&clone, Some(revision), None);
        assert!(says_shallow(&refusal), "{refusal}");
    }
    let (base, _) = Repository::open(&clone)
        .unwrap()
        .resolve(Some("HEAD"), None)
        .unwrap();
    assert_eq!(commit_of(&base), repo.git(&["rev-parse", "main"]));
}

#[test]
fn a_depth_one_clone_refuses_a_merge_base() {
    let repo = history_of_two_branches();
    let clone = repo.clone("shallow", &["--depth=1"]);
    assert!(says_shallow(&refusal(&clone, None, None)));
    assert!(says_shallow(&refusal(
        &clone,
        Some("origin/main...HEAD"),
        None
    )));
    // As a CI checkout does it: a commit, no branch.
    git_in(&clone, &["checkout", "--quiet", "--detach"]);
    assert!(says_shallow(&refusal(&clone, None, None)));
}

#[test]
fn a_merge_base_hidden_beyond_the_border_is_refused() {
    let repo = history_of_two_branches();
    let clone = repo.clone("shallow", &["--depth=1", "--no-single-branch"]);
    assert!(says_shallow(&refusal(
        &clone,
        Some("origin/main...origin/topic"),
        None
    )));
}

#[test]
fn a_merge_base_may_be_false_when_only_one_way_to_it_is_cut() {
    // The true base of both is 'merged'; the clone sees 'second' only, since the cut hides that main holds 'merged'.
    let repo = TestRepo::with_commit();
    repo.git(&["checkout", "--quiet", "-b", "topic"]);
    repo.write("t.c", "1");
    repo.commit("merged");
    repo.write("t.c", "2");
    repo.commit("topic 2");
    repo.git(&["checkout", "--quiet", "main"]);
    repo.write("m.c", "1");
    repo.commit("main 2");
    repo.git(&["merge", "--quiet", "--no-ff", "--message=merge", "topic~1"]);
    let whole = repo.open().resolve(Some("main...topic"), None).unwrap();
    assert_eq!(commit_of(&whole.0), repo.git(&["rev-parse", "topic~1"]));
    let clone = repo.clone("clone", &["--no-single-branch"]);
    let cut = git_in(&clone, &["rev-parse", "origin/main"]);
    fs::write(clone.join(".git/shallow"), format!("{cut}\n")).unwrap();
    assert!(says_shallow(&refusal(
        &clone,
        Some("origin/main...origin/topic"),
        None
    )));
}

#[test]
fn a_shallow_clone_knows_a_merge_base_on_this_side_of_the_border() {
    let repo = history_of_two_branches();
    let clone = repo.clone("shallow", &["--depth=4", "--no-single-branch"]);
    let third = repo.git(&["rev-parse", "main"]);
    let repository = Repository::open(&clone).unwrap();
    let (base, _) = repository
        .resolve(Some("origin/main...origin/topic"), None)
        .unwrap();
    assert_eq!(commit_of(&base), third);
    let (base, _) = repository.resolve(None, None).unwrap();
    assert_eq!(commit_of(&base), third);
}

#[test]
fn commits_on_top_of_a_depth_one_clone_have_a_base() {
    let repo = history_of_two_branches();
    let clone = repo.clone("shallow", &["--depth=1"]);
    git_in(
        &clone,
        &["commit", "--quiet", "--allow-empty", "--message=mine"],
    );
    let (base, _) = Repository::open(&clone)
        .unwrap()
        .resolve(None, None)
        .unwrap();
    assert_eq!(commit_of(&base), repo.git(&["rev-parse", "main"]));
}

#[test]
fn a_worktree_of_a_shallow_clone_is_shallow_too() {
    let repo = history_of_two_branches();
    let clone = repo.clone("shallow", &["--depth=1", "--no-single-branch"]);
    let linked = repo.room.path().join("linked");
    git_in(
        &clone,
        &["worktree", "add", "--quiet", linked.to_str().unwrap()],
    );
    let repository = Repository::open(&linked).unwrap();
    assert!(repository.is_shallow());
    assert!(says_shallow(&refusal(&linked, Some("HEAD~1"), None)));
    assert!(says_shallow(&refusal(
        &linked,
        Some("origin/main...origin/topic"),
        None
    )));
}

// Files.

#[test]
fn every_file_of_a_commit_is_listed_without_a_checkout() {
    let repo = TestRepo::with_commit();
    repo.write("bin.o", [0, 159, 146, 150]);
    repo.write("run.sh", "#!/bin/sh\n");
    fs::set_permissions(repo.top.join("run.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    symlink("a.c", repo.top.join("link.c")).unwrap();
    repo.commit("second");
    let bare = Repository::open(repo.clone("bare.git", &["--bare"])).unwrap();
    let head = bare.commit("HEAD").unwrap();
    let files = bare.files(&head).unwrap();
    let seen: Vec<_> = files
        .iter()
        .map(|file| (file.path.to_string(), file.kind, file.executable))
        .collect();
    let expected = [
        ("a.c", FileKind::File, false),
        ("bin.o", FileKind::File, false),
        ("dir/b.c", FileKind::File, false),
        ("link.c", FileKind::Symlink, false),
        ("run.sh", FileKind::File, true),
    ];
    assert_eq!(
        seen,
        expected.map(|(path, kind, executable)| (path.to_owned(), kind, executable))
    );
    assert_eq!(
        files[0].id.to_string(),
        repo.git(&["rev-parse", "HEAD:a.c"])
    );
    let reader = bare.reader().unwrap();
    assert_eq!(reader.read(files[1].id).unwrap(), [0, 159, 146, 150]);
    assert_eq!(reader.read(files[3].id).unwrap(), b"a.c");
}

#[test]
fn a_clean_working_tree_is_the_tree_of_head() {
    let repo = TestRepo::with_commit();
    let repository = repo.open();
    let (base, head) = repository.resolve(None, None).unwrap();
    assert_eq!(base.tree(), head.tree());
    assert_eq!(
        repository.files(&base).unwrap(),
        repository.files(&head).unwrap()
    );
    assert_eq!(repository.changes(&base, &head).unwrap(), []);
}

#[test]
fn the_working_tree_holds_staged_unstaged_and_untracked_files_but_not_ignored_ones() {
    let repo = TestRepo::with_commit();
    repo.write(".gitignore", "*.o\nbuild/\n");
    repo.write("gone.c", "int gone;\n");
    repo.commit("second");
    repo.write("staged.c", "int staged;\n");
    repo.git(&["add", "staged.c"]);
    repo.write("a.c", "int a = 1;\n");
    repo.write("dir/deep/new.c", "int untracked;\n");
    repo.write("x.o", "ignored");
    repo.write("build/y.c", "ignored");
    repo.remove("gone.c");
    let repository = repo.open();
    let (_, head) = repository.resolve(None, None).unwrap();
    assert_eq!(
        paths(&repository, &head),
        [".gitignore", "a.c", "dir/b.c", "dir/deep/new.c", "staged.c"]
    );
    assert_eq!(
        repo.work_changes(),
        [
            "Modified a.c",
            "Added dir/deep/new.c",
            "Removed gone.c",
            "Added staged.c"
        ]
    );
    let reader = repository.reader().unwrap();
    let read = |path| reader.read(id_of(&repository, &head, path)).unwrap();
    assert_eq!(read("a.c"), b"int a = 1;\n");
    assert_eq!(read("dir/deep/new.c"), b"int untracked;\n");
    assert_eq!(read("staged.c"), b"int staged;\n");
    assert_eq!(read("dir/b.c"), b"int b;\n");
    assert_eq!(
        reader.read_work_file(&RepoPath::new("x.o")).unwrap(),
        b"ignored"
    );
}

#[test]
fn the_working_tree_has_the_tree_id_that_its_commit_will_have() {
    let repo = TestRepo::with_commit();
    repo.write("a.c", "int a = 1;\n");
    repo.write("new/c.c", "int c;\n");
    repo.remove("dir/b.c");
    let before = repo.open().work_tree().unwrap();
    repo.commit("second");
    assert_eq!(
        before.tree().to_string(),
        repo.git(&["rev-parse", "HEAD^{tree}"])
    );
}

#[test]
fn looking_at_the_working_tree_writes_nothing_to_the_repository() {
    let repo = TestRepo::with_commit();
    repo.write("a.c", "int a = 1;\n");
    repo.write("new.c", "int c;\n");
    let index = fs::read(repo.top.join(".git/index")).unwrap();
    let objects = repo.git(&["count-objects", "--verbose"]);
    repo.work_changes();
    assert_eq!(fs::read(repo.top.join(".git/index")).unwrap(), index);
    assert_eq!(repo.git(&["count-objects", "--verbose"]), objects);
    assert!(repo.git(&["status", "--short"]).contains("?? new.c"));
}

#[test]
fn a_file_touched_without_a_change_is_unchanged() {
    let repo = TestRepo::with_commit();
    repo.write("a.c", "int x;\n");
    repo.write("a.c", "int a;\n");
    assert!(repo.work_changes().is_empty());
}

#[test]
fn a_file_changed_within_the_second_of_its_commit_is_seen() {
    let repo = TestRepo::with_commit();
    repo.write("a.c", "int z;\n");
    assert_eq!(repo.work_changes(), ["Modified a.c"]);
}

#[test]
fn a_file_staged_and_then_taken_back_on_disk_is_unchanged() {
    let repo = TestRepo::with_commit();
    repo.write("a.c", "int staged;\n");
    repo.git(&["add", "a.c"]);
    repo.write("a.c", "int a;\n");
    assert!(repo.work_changes().is_empty());
}

#[test]
fn a_file_removed_from_the_index_but_not_from_disk_is_unchanged() {
    let repo = TestRepo::with_commit();
    repo.git(&["rm", "--quiet", "--cached", "a.c"]);
    assert!(repo.work_changes().is_empty());
}

#[test]
fn a_file_added_with_intent_only_is_added() {
    let repo = TestRepo::with_commit();
    repo.write("new.c", "int new;\n");
    repo.git(&["add", "--intent-to-add", "new.c"]);
    assert_eq!(repo.work_changes(), ["Added new.c"]);
}

#[test]
fn a_checkout_with_other_line_ends_is_unchanged() {
    let repo = TestRepo::with_commit();
    repo.write(".gitattributes", "*.c text eol=crlf\n");
    repo.commit("line ends");
    repo.write("a.c", "int a;\r\n");
    assert!(repo.work_changes().is_empty());
    repo.write("a.c", "int changed;\r\n");
    let repository = repo.open();
    let (_, head) = repository.resolve(None, None).unwrap();
    let id = id_of(&repository, &head, "a.c");
    assert_eq!(
        repository.reader().unwrap().read(id).unwrap(),
        b"int changed;\n"
    );
}

#[test]
fn files_outside_a_sparse_checkout_are_not_removed() {
    let repo = TestRepo::with_commit();
    repo.git(&["sparse-checkout", "set", "--no-cone", "/a.c"]);
    assert!(!repo.top.join("dir/b.c").exists());
    assert!(repo.work_changes().is_empty());
}

#[test]
fn a_directory_can_become_a_file_and_a_file_a_directory() {
    let repo = TestRepo::with_commit();
    fs::remove_dir_all(repo.top.join("dir")).unwrap();
    repo.write("dir", "now a file\n");
    repo.remove("a.c");
    repo.write("a.c/inner.c", "int inner;\n");
    let repository = repo.open();
    let (_, head) = repository.resolve(None, None).unwrap();
    assert_eq!(paths(&repository, &head), ["a.c/inner.c", "dir"]);
}

#[test]
fn a_second_look_at_the_working_tree_sees_later_edits() {
    let repo = TestRepo::with_commit();
    repo.write("a.c", "int first;\n");
    repo.write("new.c", "int new;\n");
    let repository = repo.open();
    let before = repository.work_tree().unwrap();
    assert_eq!(repository.work_tree().unwrap(), before);
    repo.write("a.c", "int second;\n");
    repo.remove("new.c");
    let after = repository.work_tree().unwrap();
    assert_eq!(paths(&repository, &after), ["a.c", "dir/b.c"]);
    let changes = repository.changes(&before, &after).unwrap();
    assert_eq!(
        changes.iter().map(line).collect::<Vec<_>>(),
        ["Modified a.c", "Removed new.c"]
    );
}

#[test]
fn a_file_edited_after_it_was_listed_is_not_read_as_if_it_were_the_old_one() {
    let repo = TestRepo::with_commit();
    repo.write("a.c", "int first;\n");
    let repository = repo.open();
    let version = repository.work_tree().unwrap();
    repo.write("a.c", "int second;\n");
    let refusal = repository
        .reader()
        .unwrap()
        .read(id_of(&repository, &version, "a.c"))
        .unwrap_err();
    assert_eq!(refusal.message, "'a.c' changed while it was being read");
}

#[test]
fn a_huge_file_is_listed_and_read() {
    let repo = TestRepo::with_commit();
    let size = (64 << 20) + 5;
    repo.write("huge.bin", vec![b'x'; size]);
    repo.git(&["mv", "a.c", "moved.c"]);
    let repository = repo.open();
    let (base, head) = repository.resolve(None, None).unwrap();
    assert_eq!(
        repo.work_changes(),
        ["Added huge.bin", "Renamed a.c moved.c"]
    );
    assert_eq!(repository.changes(&base, &head).unwrap().len(), 2);
    let id = id_of(&repository, &head, "huge.bin");
    assert_eq!(id.to_string(), repo.git(&["hash-object", "huge.bin"]));
    assert_eq!(repository.reader().unwrap().read(id).unwrap().len(), size);
}

#[test]
fn paths_need_not_be_utf8() {
    let repo = TestRepo::with_commit();
    let name = OsStr::from_bytes(b"d\xff/caf\xe9.c");
    fs::create_dir(repo.top.join(OsStr::from_bytes(b"d\xff"))).unwrap();
    fs::write(repo.top.join(name), "int latin;\n").unwrap();
    let check = |repository: &Repository, version: &Version| {
        let files = repository.files(version).unwrap();
        let file = files
            .iter()
            .find(|file| file.path.as_bytes() == name.as_bytes())
            .unwrap();
        assert_eq!(
            repository.reader().unwrap().read(file.id).unwrap(),
            b"int latin;\n"
        );
        assert_eq!(file.path.file_name(), b"caf\xe9.c");
    };
    let repository = repo.open();
    check(&repository, &repository.work_tree().unwrap());
    repo.commit("latin");
    check(&repository, &repository.commit("HEAD").unwrap());
    fs::remove_file(repo.top.join(name)).unwrap();
    assert_eq!(repo.work_changes().len(), 1);
}

#[test]
fn conflicts_refuse_the_working_tree_but_not_commits() {
    let repo = TestRepo::with_commit();
    repo.git(&["checkout", "--quiet", "-b", "topic"]);
    repo.write("a.c", "int topic;\n");
    repo.commit("topic");
    repo.git(&["checkout", "--quiet", "main"]);
    repo.write("a.c", "int main;\n");
    repo.commit("main");
    assert!(
        !git_command(&repo.top)
            .args(["merge", "topic"])
            .output()
            .unwrap()
            .status
            .success()
    );
    let refusal = repo.refusal(None, None);
    assert_eq!(refusal.message, "'a.c' is unmerged");
    assert_eq!(repo.changes(Some("HEAD"), Some("topic")), ["Modified a.c"]);
    // Resolved, the merge is still in progress.
    repo.write("a.c", "int both;\n");
    repo.git(&["add", "a.c"]);
    assert_eq!(repo.work_changes(), ["Modified a.c"]);
}

#[test]
fn a_rebase_in_progress_is_no_obstacle() {
    let repo = TestRepo::with_commit();
    repo.commit("second");
    let sequence = [
        "-c",
        "sequence.editor=sed -i s/^pick/edit/",
        "rebase",
        "--quiet",
        "--interactive",
        "HEAD~1",
    ];
    let stopped = git_command(&repo.top).args(sequence).output().unwrap();
    assert!(repo.top.join(".git/rebase-merge").exists(), "{stopped:?}");
    repo.write("a.c", "int rebased;\n");
    assert_eq!(repo.changes(None, None), ["Modified a.c"]);
}

// Changes.

#[test]
fn each_kind_of_change_is_named() {
    let repo = TestRepo::with_commit();
    let body: String = (0..40).map(|line| format!("int line_{line};\n")).collect();
    repo.write("old.c", &body);
    repo.write("type.c", "int type;\n");
    repo.write("mode.sh", "true\n");
    repo.commit("second");
    repo.write("added.c", "something else entirely\n");
    repo.remove("dir/b.c");
    repo.write("a.c", "int a = 2;\n");
    repo.remove("old.c");
    repo.write("sub/new.c", body.replace("line_7", "line_seven"));
    repo.remove("type.c");
    symlink("a.c", repo.top.join("type.c")).unwrap();
    fs::set_permissions(repo.top.join("mode.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    let expected = [
        "Modified a.c",
        "Added added.c",
        "Removed dir/b.c",
        "Modified mode.sh",
        "Renamed old.c sub/new.c",
        "TypeChanged type.c",
    ];
    let sorted = |mut lines: Vec<String>| {
        lines.sort_by_key(|line| line.split(' ').nth(1).map(str::to_owned));
        lines
    };
    assert_eq!(sorted(repo.work_changes()), expected);
    repo.commit("third");
    assert_eq!(sorted(repo.changes(Some("HEAD~1..HEAD"), None)), expected);
}

#[test]
fn an_added_file_has_no_old_side_and_a_removed_one_no_new_side() {
    let repo = TestRepo::with_commit();
    repo.write("z.c", "nothing like the others\n");
    repo.remove("a.c");
    let repository = repo.open();
    let (base, head) = repository.resolve(None, None).unwrap();
    let changes = repository.changes(&base, &head).unwrap();
    assert!(changes[0].kind == ChangeKind::Removed && changes[0].new.is_none());
    assert!(changes[1].kind == ChangeKind::Added && changes[1].old.is_none());
}

#[test]
fn binary_files_and_symbolic_links_change_like_others() {
    let repo = TestRepo::with_commit();
    repo.write("data.bin", [0, 1, 2, 0]);
    symlink("a.c", repo.top.join("link")).unwrap();
    symlink("nowhere", repo.top.join("broken")).unwrap();
    repo.commit("second");
    repo.write("data.bin", [0, 1, 3, 0]);
    repo.remove("link");
    symlink("dir", repo.top.join("link")).unwrap();
    assert_eq!(repo.work_changes(), ["Modified data.bin", "Modified link"]);
    let repository = repo.open();
    let head = repository.work_tree().unwrap();
    assert_eq!(
        repository
            .reader()
            .unwrap()
            .read(id_of(&repository, &head, "link"))
            .unwrap(),
        b"dir"
    );
}

#[test]
fn a_submodule_is_named_not_entered_and_shows_its_uncommitted_work() {
    let inner = TestRepo::with_commit();
    let repo = TestRepo::with_commit();
    let url = inner.top.to_str().unwrap().to_owned();
    repo.git(&["submodule", "--quiet", "add", &url, "sub"]);
    repo.commit("submodule");
    let repository = repo.open();
    let head = repository.commit("HEAD").unwrap();
    let files = repository.files(&head).unwrap();
    let sub = files
        .iter()
        .find(|file| file.path.as_bytes() == b"sub")
        .unwrap();
    assert_eq!(sub.kind, FileKind::Submodule);
    assert_eq!(sub.id.to_string(), inner.git(&["rev-parse", "HEAD"]));
    assert!(repo.work_changes().is_empty());

    repo.write("sub/a.c", "int edited;\n");
    assert_eq!(repo.work_changes(), ["Modified sub"]);
    let edited = repo.open().work_tree().unwrap();
    repo.write("sub/a.c", "int other;\n");
    assert_ne!(repo.open().work_tree().unwrap(), edited);

    git_in(
        &repo.top.join("sub"),
        &["commit", "--quiet", "--all", "--message=inner"],
    );
    assert_eq!(repo.work_changes(), ["Modified sub"]);
}

#[test]
fn a_submodule_that_is_not_checked_out_is_unchanged() {
    let inner = TestRepo::with_commit();
    let repo = TestRepo::with_commit();
    repo.git(&[
        "submodule",
        "--quiet",
        "add",
        inner.top.to_str().unwrap(),
        "sub",
    ]);
    repo.commit("submodule");
    let repository = Repository::open(repo.clone("clone", &[])).unwrap();
    let (base, head) = repository.resolve(Some("HEAD"), None).unwrap();
    assert_eq!(repository.changes(&base, &head).unwrap(), []);
}

#[test]
fn a_repository_within_the_working_tree_is_named_not_entered() {
    let repo = TestRepo::with_commit();
    let inner = repo.top.join("inner");
    fs::create_dir(&inner).unwrap();
    git_in(&inner, &["init", "--quiet"]);
    fs::write(inner.join("x.c"), "int x;\n").unwrap();
    assert_eq!(repo.work_changes(), ["Added inner"]);
}

// Places, configuration, threads.

#[test]
fn all_worktrees_share_one_rts_directory() {
    let repo = TestRepo::with_commit();
    let linked = repo.room.path().join("linked");
    repo.git(&["worktree", "add", "--quiet", linked.to_str().unwrap()]);
    fs::write(linked.join("a.c"), "int linked;\n").unwrap();
    let repository = Repository::open(&linked).unwrap();
    let expected = repo.top.join(".git/rts");
    assert!(!expected.exists());
    assert_eq!(
        repository.create_rts_dir().unwrap().canonicalize().unwrap(),
        expected.canonicalize().unwrap()
    );
    assert_eq!(
        repo.open().rts_dir().canonicalize().unwrap(),
        expected.canonicalize().unwrap()
    );
    let (base, head) = repository.resolve(None, None).unwrap();
    assert_eq!(repository.changes(&base, &head).unwrap().len(), 1);
    assert!(repo.work_changes().is_empty());
}

#[test]
fn a_configuration_variable_can_have_many_values() {
    let repo = TestRepo::with_commit();
    repo.git(&["config", "--add", "rts.sources", "src/**"]);
    repo.git(&["config", "--add", "rts.sources", "lib/*.c"]);
    let repository = repo.open();
    assert_eq!(
        repository.config_list("rts.sources").unwrap(),
        ["src/**", "lib/*.c"]
    );
    assert!(repository.config_list("rts.nothing").unwrap().is_empty());
    assert!(repository.config_list("no name").is_err());
}

#[test]
fn each_thread_reads_with_a_reader_of_its_own() {
    let repo = TestRepo::with_commit();
    repo.write("a.c", "int edited;\n");
    let repository = repo.open();
    let head = repository.work_tree().unwrap();
    let files = repository.files(&head).unwrap();
    let readers = repository.readers();
    let sizes: Vec<usize> = std::thread::scope(|scope| {
        let threads: Vec<_> = files
            .iter()
            .map(|file| {
                let readers = &readers;
                scope.spawn(move || readers.open().unwrap().read(file.id).unwrap().len())
            })
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    });
    assert_eq!(sizes, [12, 7]);
}

#[test]
fn a_blob_that_a_partial_clone_left_behind_is_an_error() {
    let repo = TestRepo::with_commit();
    repo.git(&["config", "uploadpack.allowFilter", "true"]);
    repo.remove("a.c");
    repo.write("z.c", "int z;\n");
    repo.commit("second");
    let clone = repo.clone("partial", &["--filter=blob:none"]);
    let repository = Repository::open(clone).unwrap();
    let (base, head) = repository.resolve(Some("HEAD~1"), Some("HEAD")).unwrap();
    let changes = repository.changes(&base, &head).unwrap();
    let left_behind = changes[0].old.as_ref().unwrap().id;
    let refusal = repository.reader().unwrap().read(left_behind).unwrap_err();
    assert_eq!(refusal.exit_code, ExitCode::Repository);
    assert!(refusal.hints[0].contains("partial clone"), "{refusal}");
}
