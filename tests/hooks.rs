//! Hooks of git, in a clone that pushes to a bare repository.

#![allow(clippy::unwrap_used, clippy::panic)]

mod pypi;
mod test_repo;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use test_repo::TestRepo;

const TESTS: [&str; 3] = ["one", "two", "three"];

/// A program with a function for each test, recorded, whose clone has a remote.
fn project() -> TestRepo {
    let repo = TestRepo::new();
    let mut source = String::from("#include <string.h>\n");
    for test in TESTS {
        source += &format!("static int f_{test}(int x)\n{{\n    return x * 0;\n}}\n");
    }
    source += "int main(int argc, char **argv)\n{\n";
    for test in TESTS {
        source +=
            &format!("    if (!strcmp(argv[1], \"{test}\"))\n        return f_{test}(argc);\n");
    }
    source += "    return 9;\n}\n";
    let config = "[build]\ncommand = \"cc -o prog p.c\"\n[tests]\nrunner = \"command\"\nlist = \"printf '%s\\\\n' one two three\"\nrun = \"./prog {test}\"\n[files]\nignore = [\"*.md\"]\n";
    repo.commit(&[
        (".git-rts.toml", config),
        (".gitignore", "prog\n"),
        ("p.c", &source),
    ]);
    let run = repo.rts(&["run"]);
    assert!(run.status.success(), "{}", said(&run));
    let bare = repo.top().join("../remote.git");
    repo.git(&["init", "--quiet", "--bare", bare.to_str().unwrap()]);
    repo.git(&["remote", "add", "origin", "../remote.git"]);
    repo
}

fn with_hook(name: &str) -> TestRepo {
    let repo = project();
    repo.git(&["push", "--quiet", "origin", "main"]);
    let installed = repo.rts(&["hook", "install", name]);
    assert!(installed.status.success(), "{}", said(&installed));
    repo
}

fn said(output: &Output) -> String {
    format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

fn edit(repo: &TestRepo, old: &str, new: &str) {
    let text = fs::read_to_string(repo.top().join("p.c")).unwrap();
    assert!(text.contains(old), "{old}");
    repo.write("p.c", text.replacen(old, new, 1));
}

/// A change that one test executes, and that is right.
fn good(repo: &TestRepo, test: &str) {
    let function = format!("f_{test}(int x)\n{{\n");
    edit(repo, &function, &format!("{function}    x += 1;\n"));
    repo.commit_all();
}

/// A change that breaks one test.
fn bad(repo: &TestRepo, test: &str) {
    let function = format!("f_{test}(int x)\n{{\n");
    edit(repo, &function, &format!("{function}    return 1;\n"));
    repo.commit_all();
}

fn git(repo: &TestRepo, arguments: &[&str], variables: &[(&str, &str)]) -> Output {
    let mut git = repo.command("git");
    git.args(arguments).envs(variables.iter().copied());
    git.output().unwrap()
}

/// Pushes; what was said, and whether it went.
fn push(repo: &TestRepo, arguments: &[&str]) -> (bool, String) {
    let output = git(repo, &[&["push", "origin"], arguments].concat(), &[]);
    (output.status.success(), said(&output))
}

#[track_caller]
fn goes(repo: &TestRepo, arguments: &[&str]) -> String {
    let (went, said) = push(repo, arguments);
    assert!(went, "{said}");
    said
}

#[track_caller]
fn is_stopped(repo: &TestRepo, arguments: &[&str]) -> String {
    let (went, said) = push(repo, arguments);
    assert!(!went, "{said}");
    said
}

fn owed(repo: &TestRepo) -> BTreeSet<String> {
    let all = repo.json(&["owed", "--format", "json"]);
    let all = all["owed"].as_array().unwrap().iter();
    all.map(|one| one["name"].as_str().unwrap().to_owned())
        .collect()
}

fn is_on_remote(repo: &TestRepo, name: &str) -> bool {
    let bare = repo.top().join("../remote.git");
    let mut git = Command::new("git");
    let git = git.arg("--git-dir").arg(bare);
    let status = git.args(["rev-parse", "--quiet", "--verify", name]);
    status.output().unwrap().status.success()
}

#[test]
fn what_affects_nobody_goes_at_once() {
    let repo = with_hook("pre-push");
    repo.write("README.md", "A project.\n");
    repo.commit_all();
    let started = Instant::now();
    let said = goes(&repo, &["main"]);
    assert!(started.elapsed() < Duration::from_secs(10), "{said}");
    assert!(
        said.contains("affects no test that has not passed"),
        "{said}"
    );
    assert!(!said.contains("testing"), "{said}");
    // Nothing to push, which git also asks about.
    goes(&repo, &["main"]);
}

#[test]
fn a_push_that_was_tested_before_is_not_said_to_change_no_file() {
    let repo = with_hook("pre-push");
    bad(&repo, "two");
    assert!(!repo.rts(&["run"]).status.success());
    let said = is_stopped(&repo, &["main"]);
    let head = repo.git(&["rev-parse", "--short=7", "HEAD"]);
    let words = format!("base {head}, history of {head}; nothing changed since\n");
    assert!(said.contains(&words), "{said}");
    assert!(said.contains("FAIL two"), "{said}");
    good(&repo, "one");
    let said = is_stopped(&repo, &["main"]);
    let words = format!("; history of {head}; 1 file changed\n");
    assert!(said.contains(&words), "{said}");
}

#[test]
fn a_push_that_breaks_a_test_is_stopped_and_told_what_to_do() {
    let repo = with_hook("pre-push");
    good(&repo, "one");
    let said = goes(&repo, &["main"]);
    assert!(said.contains("1 passed, 2 skipped safely"), "{said}");
    bad(&repo, "two");
    let said = is_stopped(&repo, &["main"]);
    assert!(
        said.contains("FAIL two") && said.contains("tests fail"),
        "{said}"
    );
    assert!(said.contains("GIT_RTS_SKIP=1 git push"), "{said}");
    // What failed is not forgotten because it was run once.
    is_stopped(&repo, &["main"]);
    edit(&repo, "    return 1;\n", "");
    repo.commit_all();
    goes(&repo, &["main"]);
    // What has run here before it is pushed does not run again.
    good(&repo, "three");
    assert!(repo.rts(&["run"]).status.success());
    let said = goes(&repo, &["main"]);
    assert!(said.contains("affects no test"), "{said}");
}

#[test]
fn every_kind_of_ref_is_understood() {
    let repo = with_hook("pre-push");
    // A new branch with a commit that the remote has: nothing is new.
    let said = goes(&repo, &["main:copy"]);
    assert!(!said.contains("git rts:"), "{said}");
    // A new branch with a new commit.
    repo.git(&["checkout", "--quiet", "-b", "topic"]);
    bad(&repo, "one");
    is_stopped(&repo, &["topic"]);
    assert!(!is_on_remote(&repo, "topic"));
    // A tag of it, with a message and without.
    repo.git(&["tag", "light"]);
    repo.git(&["tag", "-m", "heavy", "heavy"]);
    is_stopped(&repo, &["light"]);
    is_stopped(&repo, &["heavy"]);
    // Several refs, one of them broken.
    repo.git(&["checkout", "--quiet", "-b", "fine", "main"]);
    good(&repo, "two");
    is_stopped(&repo, &["topic", "fine"]);
    assert!(!is_on_remote(&repo, "fine"));
    goes(&repo, &["fine"]);
    // A tag of what is there, and one of a file.
    repo.git(&["tag", "-m", "there", "there"]);
    let said = goes(&repo, &["there"]);
    assert!(!said.contains("git rts:"), "{said}");
    let blob = repo.git(&["rev-parse", "HEAD:p.c"]);
    repo.git(&["tag", "file", &blob]);
    goes(&repo, &["file"]);
    // Deletions.
    let said = goes(&repo, &["--delete", "copy", "file"]);
    assert!(!said.contains("git rts:"), "{said}");
    assert!(!is_on_remote(&repo, "copy"));
    // A branch that is put back to an older commit, and one that is rewritten.
    let said = goes(&repo, &["--force", "main:fine"]);
    assert!(!said.contains("git rts:"), "{said}");
    goes(&repo, &["fine"]);
    repo.git(&["reset", "--quiet", "--hard", "main"]);
    good(&repo, "three");
    assert!(!push(&repo, &["fine"]).0, "it is no fast-forward");
    let said = goes(&repo, &["--force", "fine"]);
    assert!(said.contains("three") || said.contains("passed"), "{said}");
    bad(&repo, "three");
    is_stopped(&repo, &["--force", "fine"]);
    // Somebody else rewrote the branch meanwhile: what is there is not here.
    let bare = repo.top().join("../remote.git");
    let theirs = Command::new("git")
        .arg("--git-dir")
        .arg(&bare)
        .args(["-c", "user.name=x", "-c", "user.email=x@y"])
        .args(["commit-tree", "main^{tree}", "-m", "theirs"])
        .output()
        .unwrap();
    let theirs = String::from_utf8(theirs.stdout).unwrap();
    let update = Command::new("git")
        .arg("--git-dir")
        .arg(&bare)
        .args(["update-ref", "refs/heads/fine", theirs.trim()])
        .status()
        .unwrap();
    assert!(update.success());
    repo.git(&["reset", "--quiet", "--hard", "HEAD~1"]);
    goes(&repo, &["--force", "fine"]);
    // By its address, the remote is not known by a name.
    good(&repo, "one");
    let output = git(&repo, &["push", "../remote.git", "fine"], &[]);
    assert!(output.status.success(), "{}", self::said(&output));
}

#[test]
fn what_holds_no_tests_and_comes_from_nowhere_goes() {
    let repo = with_hook("pre-push");
    repo.write("index.html", "<p>");
    let page = repo.git(&["hash-object", "-w", "index.html"]);
    fs::remove_file(repo.top().join("index.html")).unwrap();
    repo.write("list", format!("100644 blob {}\tindex.html\n", page.trim()));
    let made = repo
        .command("sh")
        .args([
            "-c",
            "git commit-tree -m pages $(git mktree < list); rm list",
        ])
        .output()
        .unwrap();
    let pages = String::from_utf8(made.stdout).unwrap();
    let said = goes(&repo, &[&format!("{}:refs/heads/pages", pages.trim())]);
    assert!(said.contains("holds no tests"), "{said}");
    assert!(is_on_remote(&repo, "pages"));
    repo.git(&["notes", "add", "-m", "a note"]);
    goes(&repo, &["refs/notes/commits"]);
    // What comes from here is tested, and who takes the settings away is asked about it.
    repo.git(&["rm", "--quiet", ".git-rts.toml"]);
    repo.commit_all();
    is_stopped(&repo, &["main"]);
}

#[test]
fn the_commit_is_tested_whatever_lies_in_the_work_tree() {
    let repo = with_hook("pre-push");
    bad(&repo, "one");
    // The work tree mends it, the commit does not.
    edit(&repo, "    return 1;\n", "");
    let said = is_stopped(&repo, &["main"]);
    assert!(said.contains("FAIL one"), "{said}");
    repo.commit_all();
    // The work tree is broken, the commit is not.
    edit(
        &repo,
        "f_two(int x)\n{\n",
        "f_two(int x)\n{\n    return 1;\n",
    );
    repo.write(".git-rts.toml", "nonsense");
    goes(&repo, &["main"]);
    repo.git(&["checkout", "--quiet", "--", "."]);
    // Another branch than the one that is checked out.
    repo.git(&["checkout", "--quiet", "-b", "other"]);
    bad(&repo, "three");
    repo.git(&["checkout", "--quiet", "main"]);
    let base = repo.git(&["rev-parse", "--short=7", "main"]);
    let other = repo.git(&["rev-parse", "--short=7", "other"]);
    let said = is_stopped(&repo, &["other"]);
    assert!(said.contains("FAIL three"), "{said}");
    let (base, other) = (base.trim(), other.trim());
    let why = format!("hint: 'git rts why TEST {base} {other}' tells why");
    assert!(said.contains(&why), "{said}");
    let why = repo.rts(&["why", "three", base, other]);
    let why = String::from_utf8_lossy(&why.stdout).into_owned();
    assert!(why.contains("function f_three changed"), "{why}");
    // In another worktree, where git sets GIT_DIR for hooks.
    repo.git(&["worktree", "add", "--quiet", "../beside", "other"]);
    let beside = repo.top().join("../beside");
    let output = repo
        .command("git")
        .args(["push", "origin", "HEAD:refs/heads/x"])
        .current_dir(beside)
        .output()
        .unwrap();
    assert!(!output.status.success());
    assert!(
        self::said(&output).contains("FAIL three"),
        "{}",
        self::said(&output)
    );
    let removed = repo.rts(&["hook", "uninstall", "pre-push"]);
    assert!(removed.status.success(), "{}", self::said(&removed));
    let worktrees = repo.git(&["worktree", "list"]);
    assert!(!worktrees.contains("pushed"), "{worktrees}");
}

#[test]
fn submodules_are_tested_as_the_work_tree_has_them() {
    let repo = with_hook("pre-push");
    let library = repo.top().join("../library");
    let library = library.to_str().unwrap();
    repo.git(&["init", "--quiet", library]);
    repo.git(&[
        "-C",
        library,
        "commit",
        "--quiet",
        "--allow-empty",
        "-m",
        "x",
    ]);
    let allowed = ["-c", "protocol.file.allow=always"];
    repo.git(
        &[
            &allowed[..],
            &["submodule", "--quiet", "add", library, "library"],
        ]
        .concat(),
    );
    repo.commit_all();
    goes(&repo, &["main"]);
    good(&repo, "one");
    repo.write("unfinished.c", "int x;\n");
    let said = goes(&repo, &["main"]);
    assert!(said.contains("1 passed, 2 skipped safely"), "{said}");
    let brought = repo.top().join(".git/rts/pushed/library/.git");
    assert!(brought.exists(), "{said}");
    // Who does not have it builds without it.
    repo.git(&["submodule", "--quiet", "deinit", "--force", "library"]);
    good(&repo, "two");
    repo.write("unfinished.c", "int y;\n");
    let said = goes(&repo, &["main"]);
    assert!(said.contains("1 passed, 2 skipped safely"), "{said}");
    // A commit that only somebody else has.
    let elsewhere = "1".repeat(40);
    let gitlink = format!("160000,{elsewhere},library");
    repo.git(&[&allowed[..], &["submodule", "--quiet", "update", "--init"]].concat());
    good(&repo, "three");
    repo.git(&["update-index", "--cacheinfo", &gitlink]);
    repo.git(&["commit", "--quiet", "-m", "elsewhere"]);
    let said = is_stopped(&repo, &["main"]);
    assert!(
        said.contains("has no commit 1111111") && said.contains("GIT_RTS_SKIP=1"),
        "{said}"
    );
}

#[test]
fn a_thousand_tags_are_looked_up_together() {
    let repo = with_hook("pre-push");
    let commit = repo.git(&["rev-parse", "HEAD"]);
    let packed: String = (0..1000)
        .map(|number| format!("{commit} refs/tags/v{number:04}\n"))
        .collect();
    fs::write(repo.top().join(".git/packed-refs"), packed).unwrap();
    let said = goes(&repo, &["--tags"]);
    assert!(!said.contains("git rts:"), "{said}");
}

#[test]
fn what_is_skipped_or_does_not_fit_is_owed() {
    let repo = with_hook("pre-push");
    bad(&repo, "two");
    let skipped = git(&repo, &["push", "origin", "main"], &[("GIT_RTS_SKIP", "1")]);
    let text = said(&skipped);
    assert!(skipped.status.success(), "{text}");
    assert!(text.contains("1 test owed"), "{text}");
    assert_eq!(owed(&repo), BTreeSet::from(["two".to_owned()]));
    let why = repo.rts(&["why", "two"]);
    assert!(said(&why).contains("it is owed since"), "{}", said(&why));
    // Later pushes are about it, too, until it has passed.
    repo.write("README.md", "x");
    repo.commit_all();
    is_stopped(&repo, &["main"]);
    edit(&repo, "    return 1;\n", "");
    repo.commit_all();
    goes(&repo, &["main"]);
    assert!(owed(&repo).is_empty());
    // The debts of another branch are not those of the work tree.
    repo.git(&["checkout", "--quiet", "-b", "other"]);
    bad(&repo, "three");
    let other = repo.git(&["rev-parse", "--short=7", "other"]);
    repo.git(&["checkout", "--quiet", "main"]);
    repo.git(&["config", "rts.prePushBudget", "1ms"]);
    let text = goes(&repo, &["other"]);
    let other = other.trim();
    assert!(
        text.contains(&format!("hint: 'git rts owed {other}'")),
        "{text}"
    );
    assert!(owed(&repo).is_empty());
    let listed = repo.rts(&["owed", other]);
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    assert!(listed.starts_with("three "), "{listed}");
    // Nor are those of a commit that was let through, and whoever runs elsewhere does not pay them.
    repo.git(&["config", "--unset", "rts.prePushBudget"]);
    repo.git(&["checkout", "--quiet", "-b", "skipped"]);
    bad(&repo, "one");
    repo.git(&["checkout", "--quiet", "main"]);
    let skip = [("GIT_RTS_SKIP", "1")];
    let skipped = git(&repo, &["push", "origin", "skipped"], &skip);
    assert!(said(&skipped).contains("1 test owed"), "{}", said(&skipped));
    let owed_there = || {
        let listed = repo.rts(&["owed", "skipped"]);
        String::from_utf8_lossy(&listed.stdout).into_owned()
    };
    assert!(owed_there().starts_with("one "), "{}", owed_there());
    assert!(owed(&repo).is_empty());
    let run = repo.rts(&["run", "--all"]);
    assert!(run.status.success(), "{}", said(&run));
    assert!(owed_there().starts_with("one "), "{}", owed_there());
    repo.git(&["checkout", "--quiet", "skipped"]);
    assert_eq!(owed(&repo), BTreeSet::from(["one".to_owned()]));
    assert_eq!(repo.rts(&["run"]).status.code(), Some(100));
    assert!(owed(&repo).is_empty());
    repo.git(&["checkout", "--quiet", "main"]);
    assert!(owed(&repo).is_empty());
    // A budget that is too small for any test.
    repo.git(&["config", "rts.prePushBudget", "1ms"]);
    edit(&repo, "f_one(int x)\n{\n", "f_one(int x)\n{\n    x += 2;\n");
    repo.commit_all();
    let text = goes(&repo, &["main"]);
    assert!(text.contains("1 owed"), "{text}");
    assert_eq!(owed(&repo), BTreeSet::from(["one".to_owned()]));
    repo.git(&["config", "rts.prePushBudget", "soon"]);
    let text = is_stopped(&repo, &["main:again"]);
    assert!(
        text.contains("'rts.prePushBudget' cannot be 'soon'"),
        "{text}"
    );
    // Whoever wants out gets out, whatever is wrong.
    fs::rename(repo.top().join(".git/rts"), repo.top().join("../rts")).unwrap();
    fs::write(repo.top().join(".git/rts"), "no folder").unwrap();
    repo.write("README.md", "y");
    repo.commit_all();
    for budget in ["soon", "1min"] {
        repo.git(&["config", "rts.prePushBudget", budget]);
        is_stopped(&repo, &["main"]);
    }
    let skipped = git(&repo, &["push", "origin", "main"], &[("GIT_RTS_SKIP", "1")]);
    let text = said(&skipped);
    assert!(skipped.status.success(), "{text}");
    assert!(text.contains("that is not kept"), "{text}");
}

#[test]
fn a_failure_that_the_budget_does_not_see_again_stops_the_push() {
    let repo = with_hook("pre-push");
    bad(&repo, "two");
    good(&repo, "one");
    assert_eq!(repo.rts(&["run"]).status.code(), Some(100));
    repo.git(&["config", "rts.prePushBudget", "1ms"]);
    let text = is_stopped(&repo, &["main"]);
    for words in [
        "'two' failed with what is in",
        "'git rts run' runs what failed",
        "'git config rts.prePushBudget none'",
        "GIT_RTS_SKIP=1",
    ] {
        assert!(text.contains(words), "{text}");
    }
    // Nor does what has nothing to do with it make it pass.
    repo.write("README.md", "x");
    repo.commit_all();
    is_stopped(&repo, &["main"]);
    // What changed since may have mended it.
    edit(&repo, "    return 1;\n", "");
    repo.commit_all();
    let text = goes(&repo, &["main"]);
    assert!(text.contains("owed"), "{text}");
    assert!(owed(&repo).contains("two"));
}

#[test]
fn what_only_a_build_can_tell_is_owed_until_there_is_one() {
    let repo = with_hook("pre-push");
    let config = fs::read_to_string(repo.top().join(".git-rts.toml")).unwrap();
    let config = config.replace("cc -o", "cc $(cat options) -o");
    repo.write(".git-rts.toml", config);
    repo.write("options", "-DA\n");
    repo.commit_all();
    assert!(repo.rts(&["run"]).status.success());
    goes(&repo, &["main"]);
    // Options that change nothing, and one function that differs.
    repo.write("options", "-DB\n");
    good(&repo, "three");
    let skipped = git(&repo, &["push", "origin", "main"], &[("GIT_RTS_SKIP", "1")]);
    assert!(
        said(&skipped).contains("3 tests owed"),
        "{}",
        said(&skipped)
    );
    assert_eq!(owed(&repo), TESTS.map(str::to_owned).into());
    let listed = repo.rts(&["select"]);
    assert_eq!(String::from_utf8_lossy(&listed.stdout).lines().count(), 3);
    let run = repo.rts(&["run"]);
    let text = said(&run);
    assert!(run.status.success(), "{text}");
    assert!(text.contains("1 passed, 2 skipped safely"), "{text}");
    assert!(owed(&repo).is_empty());
}

/// What a version owes, each test with the version that owed it first.
fn owed_at(repo: &TestRepo, version: &str) -> BTreeMap<String, String> {
    let listed = repo.rts(&["owed", version, "--format", "json"]);
    let listed: serde_json::Value = serde_json::from_slice(&listed.stdout).unwrap();
    let word = |one: &serde_json::Value, name: &str| one[name].as_str().unwrap().to_owned();
    let tests = listed["owed"].as_array().unwrap().iter();
    tests
        .map(|one| (word(one, "name"), word(one, "since")))
        .collect()
}

#[test]
fn what_was_let_through_is_owed_by_versions_that_contain_it_and_by_no_others() {
    let repo = with_hook("pre-push");
    let skip = [("GIT_RTS_SKIP", "1")];
    let id = |revision: &str| {
        let id = repo.git(&["rev-parse", "--short=7", revision]);
        id.trim().to_owned()
    };
    let since = |pairs: &[(&str, &str)]| -> BTreeMap<String, String> {
        let pairs = pairs.iter();
        pairs
            .map(|(test, version)| ((*test).to_owned(), id(version)))
            .collect()
    };
    // Two pushes of a branch from one history.
    repo.git(&["checkout", "--quiet", "-b", "side"]);
    bad(&repo, "one");
    git(&repo, &["push", "origin", "side"], &skip);
    bad(&repo, "two");
    let second = git(&repo, &["push", "origin", "side"], &skip);
    assert!(
        said(&second).contains("2 tests owed ('git rts owed')"),
        "{}",
        said(&second)
    );
    let both = since(&[("one", "side~1"), ("two", "side")]);
    assert_eq!(owed_at(&repo, "side"), both);
    assert_eq!(owed_at(&repo, "side~1"), since(&[("one", "side~1")]));
    // Neither a run nor a recording elsewhere pays.
    repo.git(&["checkout", "--quiet", "main"]);
    assert!(owed(&repo).is_empty());
    for command in ["run --all", "record"] {
        let arguments: Vec<&str> = command.split(' ').collect();
        let done = repo.rts(&arguments);
        assert!(done.status.success(), "{}", said(&done));
        assert_eq!(owed_at(&repo, "side"), both, "{command}");
    }
    // What another branch owes is its own, and no older for it.
    repo.git(&["config", "rts.prePushBudget", "1ms"]);
    edit(&repo, "f_one(int x)\n{\n", "f_one(int x)\n{\n    x += 2;\n");
    repo.commit_all();
    goes(&repo, &["main"]);
    assert_eq!(owed_at(&repo, "main"), since(&[("one", "main")]));
    repo.git(&["config", "--unset", "rts.prePushBudget"]);
    // Two commits with one tree are two commits.
    let twin = repo.git(&["commit-tree", "side^{tree}", "-p", "side", "-m", "twin"]);
    repo.git(&["branch", "twin", twin.trim()]);
    repo.git(&["branch", "third", "side~2"]);
    repo.git(&["checkout", "--quiet", "third"]);
    bad(&repo, "three");
    let other = repo.git(&[
        "commit-tree",
        "third^{tree}",
        "-p",
        "third~1",
        "-m",
        "other",
    ]);
    repo.git(&["branch", "other", other.trim()]);
    git(&repo, &["push", "origin", "third", "other"], &skip);
    for branch in ["third", "other"] {
        assert_eq!(owed_at(&repo, branch), since(&[("three", branch)]));
    }
    // Who contains a commit pays for it.
    repo.git(&["checkout", "--quiet", "twin"]);
    assert_eq!(owed_at(&repo, "twin"), both);
    assert_eq!(repo.rts(&["run"]).status.code(), Some(100));
    assert_eq!(owed_at(&repo, "twin"), BTreeMap::new());
}

#[test]
fn a_clone_without_a_history_tests_everything() {
    let repo = with_hook("pre-push");
    fs::remove_dir_all(repo.top().join(".git/rts")).unwrap();
    let skipped =
        |repo: &TestRepo| git(repo, &["push", "origin", "main"], &[("GIT_RTS_SKIP", "1")]);
    repo.write("README.md", "x");
    repo.commit_all();
    let output = skipped(&repo);
    assert!(output.status.success(), "{}", said(&output));
    assert!(
        said(&output).contains("stays selected"),
        "{}",
        said(&output)
    );
    repo.write("README.md", "y");
    repo.commit_all();
    let text = goes(&repo, &["main"]);
    assert!(text.contains("3 passed"), "{text}");
}

fn hook_file(repo: &TestRepo, name: &str, text: &str) -> PathBuf {
    let file = repo.top().join(".git/hooks").join(name);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, text).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    file
}

#[test]
fn a_hook_that_was_there_runs_first_and_comes_back() {
    let repo = project();
    let log = repo.top().join("../log");
    let text = format!(
        "#!/bin/sh\necho \"$@\" >> '{0}'\ncat >> '{0}'\ntest ! -e ../refuse\n",
        log.display()
    );
    let file = hook_file(&repo, "pre-push", &text);
    let installed = repo.rts(&["hook", "install", "pre-push"]);
    assert!(
        said(&installed).contains("runs first"),
        "{}",
        said(&installed)
    );
    let status = said(&repo.rts(&["hook", "status"]));
    assert!(
        status.contains("pre-push       installed, behind another hook"),
        "{status}"
    );
    assert!(status.contains("pre-commit     not installed"), "{status}");
    good(&repo, "one");
    let text_of_push = goes(&repo, &["main"]);
    assert!(text_of_push.contains("1 passed"), "{text_of_push}");
    let told = fs::read_to_string(&log).unwrap();
    assert!(
        told.starts_with("origin ../remote.git\nrefs/heads/main "),
        "{told}"
    );
    // It may refuse, and then nothing is tested.
    fs::write(repo.top().join("../refuse"), "").unwrap();
    good(&repo, "two");
    let refused = is_stopped(&repo, &["main"]);
    assert!(!refused.contains("git rts:"), "{refused}");
    fs::remove_file(repo.top().join("../refuse")).unwrap();
    // A script whose program is gone lets everything through, loudly, and the older hook still runs.
    let ours = fs::read_to_string(&file).unwrap();
    let program = ours
        .lines()
        .find(|line| line.starts_with("program="))
        .unwrap();
    fs::write(&file, ours.replace(program, "program='/gone/git-rts'")).unwrap();
    let before = fs::metadata(&log).unwrap().len();
    // Without a 'git rts' that this machine may have.
    let bin = repo.top().join("../bin");
    fs::create_dir(&bin).unwrap();
    for tool in ["git", "sh", "cat"] {
        let found = Command::new("sh")
            .args(["-c", &format!("command -v {tool}")])
            .output()
            .unwrap();
        let found = String::from_utf8(found.stdout).unwrap();
        symlink(found.trim_end(), bin.join(tool)).unwrap();
    }
    let path = [("PATH", bin.to_str().unwrap())];
    let gone = said(&git(&repo, &["push", "origin", "main"], &path));
    assert!(gone.contains("nothing was tested"), "{gone}");
    assert!(fs::metadata(&log).unwrap().len() > before);
    let removed = repo.rts(&["hook", "uninstall", "pre-push"]);
    assert!(removed.status.success(), "{}", said(&removed));
    assert_eq!(fs::read_to_string(&file).unwrap(), text);
}

#[test]
fn hooks_go_where_git_looks_for_them() {
    let repo = project();
    repo.git(&["config", "core.hooksPath", "my hooks"]);
    fs::create_dir(repo.top().join("sub")).unwrap();
    let output = repo
        .rts_command()
        .args(["hook", "install", "pre-push"])
        .current_dir(repo.top().join("sub"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", said(&output));
    assert!(repo.top().join("my hooks/pre-push").exists());
    assert!(
        said(&output).contains("let git ignore the hook"),
        "{}",
        said(&output)
    );
    bad(&repo, "one");
    is_stopped(&repo, &["main"]);
    // A folder for all repositories of the user.
    repo.git(&["config", "core.hooksPath", "../for-all"]);
    let refused = repo.rts(&["hook", "install", "pre-push"]);
    assert!(!refused.status.success());
    assert!(said(&refused).contains("--force"), "{}", said(&refused));
    assert!(!repo.top().join("../for-all").exists());
}

#[test]
fn managers_of_hooks_get_a_line_instead() {
    let repo = project();
    for (file, name, line) in [
        ("lefthook.yml", "lefthook", "use_stdin: true"),
        (
            ".pre-commit-config.yaml",
            "pre-commit",
            "entry: git-rts hook run pre-push",
        ),
    ] {
        repo.write(file, "");
        let output = repo.rts(&["hook", "install", "pre-push"]);
        assert_eq!(output.status.code(), Some(1));
        assert!(String::from_utf8_lossy(&output.stdout).contains(line));
        assert!(
            said(&output).contains(&format!("{name} manages")),
            "{}",
            said(&output)
        );
        assert!(!repo.top().join(".git/hooks/pre-push").exists());
        fs::remove_file(repo.top().join(file)).unwrap();
    }
    repo.git(&["config", "core.hooksPath", ".husky/_"]);
    let output = repo.rts(&["hook", "install", "pre-push"]);
    assert_eq!(output.stdout, b"git rts hook run pre-push \"$@\"\n");
    let output = repo.rts(&["hook", "install", "pre-push", "--force"]);
    assert!(output.status.success(), "{}", said(&output));
    assert!(repo.top().join(".husky/_/pre-push").exists());
}

#[test]
fn lefthook_tests_a_push_with_the_lines_that_it_is_told_to_add() {
    let repo = project();
    repo.write("lefthook.yml", "");
    let lines = repo.rts(&["hook", "install", "pre-push"]).stdout;
    repo.write("lefthook.yml", lines);
    repo.commit_all();
    let bin = repo.top().join("../bin");
    fs::create_dir(&bin).unwrap();
    symlink(env!("CARGO_BIN_EXE_git-rts"), bin.join("git-rts")).unwrap();
    let folders = [bin, pypi::programs("lefthook")];
    let path = std::env::var_os("PATH").unwrap();
    let path = std::env::join_paths(folders.into_iter().chain(std::env::split_paths(&path)));
    let path = path.unwrap();
    let run = |program: &str, arguments: &[&str]| {
        let mut command = repo.command(program);
        let output = command.args(arguments).env("PATH", &path).output().unwrap();
        (output.status.success(), said(&output))
    };
    let (is_installed, told) = run("lefthook", &["install"]);
    assert!(is_installed, "{told}");
    let hook = repo.top().join(".git/hooks/pre-push");
    assert!(fs::read_to_string(hook).unwrap().contains("lefthook"));
    // Only what git says on the standard input tells which of two branches is pushed.
    good(&repo, "one");
    repo.git(&["checkout", "--quiet", "-b", "broken"]);
    bad(&repo, "two");
    let (went, told) = run("git", &["push", "origin", "main"]);
    assert!(
        went && told.contains("1 passed, 2 skipped safely"),
        "{told}"
    );
    let (went, told) = run("git", &["push", "origin", "broken"]);
    assert!(!went && told.contains("FAIL two"), "{told}");
    assert!(is_on_remote(&repo, "main") && !is_on_remote(&repo, "broken"));
    // Of a branch that goes away nothing is left to test.
    let (went, told) = run("git", &["push", "--delete", "origin", "main"]);
    assert!(went && !told.contains("git rts:"), "{told}");
}

#[test]
fn a_commit_is_tested_as_it_will_be() {
    let repo = with_hook("pre-commit");
    let commit = |arguments: &[&str]| {
        let output = git(&repo, &[&["commit", "-m", "x"], arguments].concat(), &[]);
        (output.status.success(), said(&output))
    };
    // What is staged is broken; the work tree mends it.
    edit(
        &repo,
        "f_one(int x)\n{\n",
        "f_one(int x)\n{\n    return 1;\n",
    );
    repo.git(&["add", "p.c"]);
    edit(&repo, "    return 1;\n", "");
    let (went, text) = commit(&[]);
    assert!(!went && text.contains("FAIL one"), "{text}");
    assert!(text.contains("GIT_RTS_SKIP=1 git commit"), "{text}");
    // What is staged is fine; the work tree is not, and an index of git's own holds what is committed.
    repo.git(&["add", "p.c"]);
    edit(&repo, "f_two(int x)\n{\n", "f_two(int x)\n{\n    x += 1;\n");
    let (went, text) = commit(&["p.c"]);
    assert!(went && text.contains("1 passed"), "{text}");
    edit(&repo, "    x += 1;\n", "    return 2;\n");
    let (went, text) = commit(&["-a"]);
    assert!(!went && text.contains("FAIL two"), "{text}");
    repo.git(&["checkout", "--quiet", "--", "p.c"]);
    repo.git(&["reset", "--quiet", "--hard"]);
    // What was tested before the commit need not be tested again.
    let story = said(&repo.rts(&["select", "HEAD"]));
    assert!(story.contains("0 of 3 tests"), "{story}");
    repo.write("README.md", "x");
    repo.git(&["add", "README.md"]);
    let (went, text) = commit(&[]);
    assert!(went && text.contains("affects no test"), "{text}");
}

#[test]
fn a_checkout_tells_only_that_no_history_is_on_the_way() {
    let repo = with_hook("post-checkout");
    assert!(
        repo.rts(&["hook", "install", "post-merge"])
            .status
            .success()
    );
    let checkout = |name: &str| said(&git(&repo, &["checkout", name], &[]));
    repo.git(&["branch", "next"]);
    assert!(!checkout("next").contains("git rts"));
    repo.git(&["checkout", "--quiet", "--orphan", "alone"]);
    repo.write("p.c", "int x;\n");
    repo.commit_all();
    checkout("main");
    let text = checkout("alone");
    assert_eq!(
        text.matches("git rts: no version on the way").count(),
        1,
        "{text}"
    );
    assert!(!said(&git(&repo, &["checkout", "--", "p.c"], &[])).contains("git rts"));
    // The code of a hook that was there before is git's.
    repo.git(&["checkout", "--quiet", "main"]);
    repo.rts(&["hook", "uninstall", "post-checkout"]);
    hook_file(&repo, "post-checkout", "#!/bin/sh\nexit 7\n");
    repo.rts(&["hook", "install", "post-checkout"]);
    let output = git(&repo, &["checkout", "next"], &[]);
    assert!(!output.status.success(), "{}", said(&output));
    let merged = git(
        &repo,
        &[
            "merge",
            "--allow-unrelated-histories",
            "-X",
            "ours",
            "-m",
            "m",
            "main",
        ],
        &[],
    );
    assert!(merged.status.success(), "{}", said(&merged));
}
