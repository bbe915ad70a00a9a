//! The templates, each with the tool that it is for.

#![allow(clippy::unwrap_used, clippy::panic)]

mod pypi;
mod test_repo;

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use test_repo::TestRepo;

const TESTS: [&str; 3] = ["one", "two", "three"];

/// A program with a function for each test, which notes in $RAN that it ran.
fn program() -> String {
    let mut text = String::from(
        "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n\
         static int note(const char *name)\n{\n    const char *path = getenv(\"RAN\");\n    FILE *file = path ? fopen(path, \"a\") : NULL;\n    if (file) {\n        fprintf(file, \"%s\\n\", name);\n        fclose(file);\n    }\n    return 0;\n}\n",
    );
    for test in TESTS {
        text +=
            &format!("static int f_{test}(int x)\n{{\n    return note(\"{test}\") + x * 0;\n}}\n");
    }
    text += "int main(int argc, char **argv)\n{\n";
    for test in TESTS {
        text += &format!("    if (!strcmp(argv[1], \"{test}\"))\n        return f_{test}(argc);\n");
    }
    text + "    return 9;\n}\n"
}

/// Changes what some tests execute.
fn change(repo: &TestRepo, tests: &[&str], line: &str) {
    let mut text = fs::read_to_string(repo.top().join("p.c")).unwrap();
    text = format!("/* Nobody notices. */\n{text}");
    for test in tests {
        let function = format!("f_{test}(int x)\n{{\n");
        assert!(text.contains(&function));
        text = text.replacen(&function, &format!("{function}    {line}\n"), 1);
    }
    repo.write("p.c", text);
    repo.commit_all();
}

fn template(name: &str) -> String {
    let printed = Command::new(env!("CARGO_BIN_EXE_git-rts"))
        .args(["template", name])
        .output()
        .unwrap();
    assert!(printed.status.success());
    String::from_utf8(printed.stdout).unwrap()
}

fn said(output: &Output) -> String {
    format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

/// A command that finds `git rts`, and notes which tests ran.
fn command(repo: &TestRepo, program: &str) -> Command {
    let mut command = repo.command(program);
    let binary = Path::new(env!("CARGO_BIN_EXE_git-rts"));
    let path = std::env::var("PATH").unwrap();
    let folder = binary.parent().unwrap().display();
    command
        .env("PATH", format!("{folder}:{path}"))
        .env("RAN", log(repo));
    command
}

fn log(repo: &TestRepo) -> PathBuf {
    repo.top().join("../ran")
}

/// The names of the tests that ran, and forgets them.
fn ran(repo: &TestRepo) -> BTreeSet<String> {
    let text = fs::read_to_string(log(repo)).unwrap_or_default();
    let _ = fs::remove_file(log(repo));
    text.lines().map(str::to_owned).collect()
}

#[track_caller]
fn succeeds(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", said(&output));
    said(&output)
}

#[track_caller]
fn shell(repo: &TestRepo, text: &str) -> String {
    succeeds(command(repo, "sh").args(["-ec", text]))
}

fn set(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

/// One's own build runs everything while nothing is recorded, then what is affected, and fails where a test does; `git rts run` records.
#[track_caller]
fn behaves(repo: &TestRepo, here: &str, recording: &str, knows_new_tests: bool) {
    if knows_new_tests {
        shell(repo, here);
        assert_eq!(ran(repo), set(&TESTS), "nothing is recorded");
    } else {
        let refused = command(repo, "sh").args(["-ec", here]).output().unwrap();
        assert!(!refused.status.success(), "{}", said(&refused));
        assert_eq!(ran(repo), set(&[]));
    }
    shell(repo, recording);
    assert_eq!(ran(repo), set(&TESTS));
    change(repo, &[], "");
    shell(repo, here);
    assert_eq!(ran(repo), set(&[]));
    // The compiled code must differ, or a run that builds has nothing to do.
    change(repo, &["one", "three"], "if (x > 100) return 1;");
    shell(repo, here);
    assert_eq!(ran(repo), set(&["one", "three"]));
    shell(repo, recording);
    assert_eq!(ran(repo), set(&["one", "three"]));
    change(repo, &["two"], "exit(1);");
    for fails in [here, recording] {
        let output = command(repo, "sh").args(["-ec", fails]).output().unwrap();
        assert!(!output.status.success(), "{}", said(&output));
    }
}

#[test]
fn cmake_has_targets_for_affected_tests() {
    let repo = TestRepo::new();
    let lists = "cmake_minimum_required(VERSION 3.20)\nproject(p C)\nenable_testing()\nadd_executable(p p.c)\n\
        foreach(t one two three)\nadd_test(NAME ${t} COMMAND p ${t})\nendforeach()\ninclude(GitRts.cmake)\n";
    repo.commit(&[
        ("CMakeLists.txt", lists),
        ("GitRts.cmake", &template("cmake")),
        ("p.c", &program()),
        (".gitignore", "/build/\n"),
    ]);
    let build = "cmake -S . -B build && cmake --build build";
    let target = |name: &str| format!("{build} && cmake --build build --target {name}");
    behaves(
        &repo,
        &target("ctest-affected"),
        &target("check-affected"),
        true,
    );
    // The oldest and the newest CMake, and a base that is given.
    for package in ["cmake==3.20.5", "cmake"] {
        let bin = pypi::programs(package);
        let text = format!(
            "rm -rf build; PATH='{}':$PATH; cmake -DGIT_RTS_BASE=HEAD~1 -S . -B build && cmake --build build && ! cmake --build build --target ctest-affected",
            bin.display()
        );
        let text = shell(&repo, &text);
        assert_eq!(ran(&repo), set(&[]), "{package}: {text}");
        assert!(text.contains("two"), "{text}");
    }
}

#[test]
fn makefiles_have_targets_for_affected_tests() {
    let repo = TestRepo::new();
    let makefile = "TESTS = one two three\nall: prog\nprog: p.c\n\tcc -o prog p.c\ncheck:\n\tfor t in $(TESTS); do ./prog $$t || exit 1; done\ninclude git-rts.mk\n";
    repo.commit(&[
        ("Makefile", makefile),
        ("git-rts.mk", &template("make")),
        ("p.c", &program()),
        (".gitignore", "/prog\n"),
    ]);
    behaves(
        &repo,
        "make check-affected-here",
        "make check-affected",
        false,
    );
}

#[test]
fn automake_has_targets_for_affected_tests() {
    let repo = TestRepo::new();
    // A test may read what it is given, which is not the rest of the list.
    let script =
        |test: &str, up: &str| format!("#!/bin/sh\ncat >/dev/null\nexec {up}./prog {test}\n");
    repo.commit(&[
        ("configure.ac", "AC_INIT([p], [1])\nAM_INIT_AUTOMAKE([foreign -Wall -Werror])\nAC_PROG_CC\nAC_CONFIG_FILES([Makefile sub/Makefile])\nAC_OUTPUT\n"),
        ("Makefile.am", "SUBDIRS = . sub\nbin_PROGRAMS = prog\nprog_SOURCES = p.c\nTEST_EXTENSIONS = .test\nTESTS = one.test two.test\nEXTRA_DIST = $(TESTS)\ninclude $(top_srcdir)/git-rts.mk\n"),
        ("sub/Makefile.am", "TEST_EXTENSIONS = .test\nTESTS = three.test\n"),
        ("one.test", &script("one", "")),
        ("two.test", &script("two", "")),
        ("sub/three.test", &script("three", "../")),
        ("p.c", &program()),
        ("git-rts.mk", &template("make")),
        (".gitignore", "*.o\n*.log\n*.trs\nMakefile\nMakefile.in\naclocal.m4\nautom4te.cache\nconfig*\n!configure.ac\ncompile\ndepcomp\ninstall-sh\nmissing\ntest-driver\n/prog\n.deps\n"),
    ]);
    shell(&repo, "chmod +x *.test sub/*.test");
    repo.commit_all();
    shell(&repo, "autoreconf -fi && ./configure && make");
    behaves(
        &repo,
        "make check-affected-here",
        "make check-affected",
        false,
    );
}

#[test]
fn meson_has_targets_for_affected_tests() {
    let repo = TestRepo::new();
    let build = "project('p', 'c')\np = executable('p', 'p.c')\nforeach t : ['one', 'two', 'three']\n  test(t, p, args: [t])\nendforeach\n";
    repo.commit(&[
        ("meson.build", &format!("{build}{}", template("meson"))),
        ("p.c", &program()),
        (".gitignore", "/build/\n"),
    ]);
    // The newest Meson takes the targets, too.
    let newest = pypi::programs("meson").join("meson");
    shell(&repo, &format!("'{}' setup ../newest", newest.display()));
    shell(&repo, "meson setup build");
    let target = |name: &str| format!("meson compile -C build && meson compile -C build {name}");
    behaves(
        &repo,
        &target("test-affected"),
        &target("check-affected"),
        false,
    );
}

/// A document of YAML.
fn yaml(text: &str) -> Value {
    let python = pypi::programs("pyyaml").join("python3");
    let mut read = Command::new(python);
    read.args([
        "-c",
        "import json, sys, yaml; print(json.dumps(yaml.load(sys.argv[1], yaml.BaseLoader)))",
        text,
    ]);
    let output = read.output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn text(value: &Value) -> &str {
    value
        .as_str()
        .unwrap_or_else(|| panic!("{value} is no text"))
}

/// A project whose main branch and a branch with a change beside it are at hand, as on a machine of a CI system.
fn project_with_branch() -> TestRepo {
    let repo = TestRepo::new();
    let config = "[build]\ncommand = \"cc -o prog p.c\"\n[tests]\nrunner = \"command\"\nlist = \"printf '%s\\\\n' one two three\"\nrun = \"./prog {test}\"\n[files]\nignore = [\"*.md\"]\n";
    repo.commit(&[
        (".git-rts.toml", config),
        (".gitignore", "prog\n"),
        ("p.c", &program()),
    ]);
    repo
}

/// Merges a branch with a change, as CI systems do for a request.
fn merge_request(repo: &TestRepo) {
    repo.git(&["checkout", "--quiet", "-b", "topic"]);
    change(repo, &["one", "three"], "x += 1;");
    repo.git(&["checkout", "--quiet", "main"]);
    repo.write("README.md", "Meanwhile.\n");
    repo.commit_all();
    repo.git(&["checkout", "--quiet", "--detach", "main"]);
    repo.git(&["merge", "--quiet", "--no-edit", "topic"]);
}

#[test]
fn the_jobs_are_what_their_systems_accept() {
    let room = tempfile::TempDir::new().unwrap();
    for (name, arguments) in [
        (
            "github",
            &["--builtin-schema", "vendor.github-workflows"][..],
        ),
        (
            "gitlab",
            &[
                "--builtin-schema",
                "vendor.gitlab-ci",
                "--data-transform",
                "gitlab-ci",
            ],
        ),
    ] {
        let file = room.path().join(format!("{name}.yml"));
        fs::write(&file, template(name)).unwrap();
        let check = pypi::programs("check-jsonschema").join("check-jsonschema");
        succeeds(Command::new(check).args(arguments).arg(&file));
    }
}

#[test]
fn the_jobs_for_github_run_what_is_affected() {
    let document = yaml(&template("github"));
    let jobs = &document["jobs"];
    for (name, job) in jobs.as_object().unwrap() {
        let steps = job["steps"].as_array().unwrap();
        let checkout = steps
            .iter()
            .find(|step| step["uses"] == "actions/checkout@v4");
        assert_eq!(checkout.unwrap()["with"]["fetch-depth"], "0", "{name}");
        let is_cache = |step: &&Value| step["with"]["path"] == ".git/rts/history";
        let cache = steps.iter().find(is_cache).unwrap();
        // Who only takes a part must not leave it to others.
        let saves = cache["uses"] == "actions/cache@v4";
        assert_eq!(saves, name == "record", "{name}");
    }
    let repo = project_with_branch();
    let room = repo.top().join("..");
    let (path, installed) = installers(&repo);
    // Runs the steps of a job as the machine would.
    let job = |name: &str, base: &str, shard: &str| {
        for step in jobs[name]["steps"].as_array().unwrap() {
            if step["run"].is_null() {
                continue;
            }
            let output = command(&repo, "bash")
                .args(["-eo", "pipefail", "-c", text(&step["run"])])
                .env("PATH", &path)
                .env("PACKAGES", text(&document["env"]["PACKAGES"]))
                .env("GIT_RTS", text(&document["env"]["GIT_RTS"]))
                .env("BASE", base)
                .env("SHARD", shard)
                .env("RUNNER_TEMP", &room)
                .env("GITHUB_OUTPUT", room.join("output"))
                .env("GITHUB_ENV", room.join("variables"))
                .output()
                .unwrap();
            assert!(output.status.success(), "{step}: {}", said(&output));
        }
        let results = room.join("tests.xml");
        assert!(name == "plan" || results.exists(), "{name}");
        ran(&repo)
    };
    let matrix = || {
        let text = fs::read_to_string(room.join("output")).unwrap();
        fs::remove_file(room.join("output")).unwrap();
        let matrix: Value = serde_json::from_str(text.strip_prefix("matrix=").unwrap()).unwrap();
        let parts = matrix["include"].as_array().unwrap().iter();
        parts
            .map(|part| self::text(&part["shard"]).to_owned())
            .collect::<Vec<_>>()
    };
    // The base of a request, as the expression of the document has it.
    let base = text(&document["env"]["BASE"]);
    assert!(
        base.contains("'pull_request' && 'HEAD^1' || 'HEAD'"),
        "{base}"
    );
    job("plan", "HEAD", "");
    assert_eq!(matrix(), ["1/1"], "nothing is recorded");
    // What builds nothing needs nothing of the project.
    assert_eq!(fs::read_to_string(&installed).unwrap_or_default(), "");
    assert_eq!(job("record", "HEAD", ""), set(&TESTS));
    merge_request(&repo);
    job("plan", "HEAD^1", "");
    let parts = matrix();
    assert_eq!(parts, ["1/2", "2/2"]);
    let ran: Vec<BTreeSet<String>> = parts
        .iter()
        .map(|part| job("test", "HEAD^1", part))
        .collect();
    assert_eq!((ran[0].len(), ran[1].len()), (1, 1));
    assert_eq!(&ran[0] | &ran[1], set(&["one", "three"]));
    let variables = fs::read_to_string(room.join("variables")).unwrap();
    assert_eq!(variables, "RESULTS=tests-1\nRESULTS=tests-2\n");
    let installs = "apt-get update -qq\napt-get install -y -qq clang\n";
    assert_eq!(fs::read_to_string(&installed).unwrap(), installs.repeat(3));
}

/// A PATH in which what would change the machine is only noted, in a file.
fn installers(repo: &TestRepo) -> (String, PathBuf) {
    let bin = repo.top().join("../bin");
    let notes = repo.top().join("../installed");
    fs::create_dir_all(&bin).unwrap();
    let note = format!("echo \"$*\" >> '{}'", notes.display());
    let scripts = [
        ("sudo", "exec \"$@\"".to_owned()),
        ("apt-get", note.replacen("echo", "echo apt-get", 1)),
        ("cargo", note.replacen("echo", "echo cargo", 1)),
    ];
    for (name, line) in scripts {
        let script = bin.join(name);
        fs::write(&script, format!("#!/bin/sh\n{line}\n")).unwrap();
        fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let with_git_rts = command(repo, "sh");
    let mut variables = with_git_rts.get_envs();
    let path = variables.find_map(|(name, value)| value.filter(|_| name == "PATH"));
    let path = path.unwrap().to_str().unwrap();
    (format!("{}:{path}", bin.display()), notes)
}

#[test]
fn the_jobs_for_gitlab_run_what_is_affected() {
    let document = yaml(&template("gitlab"));
    assert_eq!(document[".affected"]["variables"]["GIT_DEPTH"], "0");
    assert_eq!(document["test"]["cache"]["policy"], "pull");
    let repo = project_with_branch();
    let cache = repo.top().join("../cache");
    let (path, installed) = installers(&repo);
    // A machine begins with what the cache has, and leaves what the job says.
    let job = |name: &str, variables: &[(&str, &str)]| {
        let _ = fs::remove_dir_all(repo.top().join(".git/rts"));
        shell(
            &repo,
            "rm -rf rts-cache; test ! -d ../cache || cp -a ../cache rts-cache",
        );
        for (part, at) in [
            ("before_script", ".affected"),
            ("script", name),
            ("after_script", name),
        ] {
            let lines = document[at][part].as_array();
            let lines: Vec<&str> = lines.into_iter().flatten().map(text).collect();
            let output = command(&repo, "bash")
                .args(["-eo", "pipefail", "-c", &lines.join("\n")])
                .env("PATH", &path)
                .env(
                    "PACKAGES",
                    text(&document[".affected"]["variables"]["PACKAGES"]),
                )
                .envs(variables.iter().copied())
                .output()
                .unwrap();
            assert!(output.status.success(), "{lines:?}: {}", said(&output));
        }
        if document[name]["cache"]["policy"].is_null() {
            let _ = fs::remove_dir_all(&cache);
            shell(&repo, "cp -a rts-cache ../cache");
        }
        assert!(repo.top().join("rts-tests.xml").exists());
        ran(&repo)
    };
    assert_eq!(job("record", &[]), set(&TESTS));
    let base = repo.git(&["rev-parse", "HEAD"]);
    merge_request(&repo);
    let mut all = BTreeSet::new();
    for index in ["1", "2"] {
        let variables = [
            ("GITLAB_CI", "true"),
            ("CI_NODE_INDEX", index),
            ("CI_NODE_TOTAL", "2"),
            ("CI_MERGE_REQUEST_DIFF_BASE_SHA", &base),
        ];
        let part = job("test", &variables);
        assert_eq!(part.len(), 1);
        all.extend(part);
    }
    assert_eq!(all, set(&["one", "three"]));
    // Merged, it is recorded on the main branch; the next push has nothing to run.
    assert_eq!(job("record", &[]), set(&["one", "three"]));
    assert_eq!(job("record", &[]), set(&[]));
    let installs = "apt-get update -qq\napt-get install -y -qq clang\n";
    assert_eq!(fs::read_to_string(&installed).unwrap(), installs.repeat(5));
}

#[test]
fn pre_commit_runs_the_hook() {
    let bin = pypi::programs("pre-commit");
    let pre_commit = bin.join("pre-commit");
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join(".pre-commit-hooks.yaml");
    succeeds(
        Command::new(&pre_commit)
            .arg("validate-manifest")
            .arg(manifest),
    );
    let repo = project_with_branch();
    repo.write(".pre-commit-config.yaml", template("pre-commit"));
    repo.commit_all();
    shell(&repo, "git rts run");
    ran(&repo);
    let bare = repo.top().join("../remote.git");
    repo.git(&["init", "--quiet", "--bare", bare.to_str().unwrap()]);
    repo.git(&["remote", "add", "origin", "../remote.git"]);
    let cache = repo.top().join("../cache");
    let in_cache = |mut command: Command| {
        command.env("PRE_COMMIT_HOME", &cache);
        command
    };
    let mut install = in_cache(command(&repo, pre_commit.to_str().unwrap()));
    succeeds(install.args(["install", "--hook-type", "pre-push"]));
    let push = || {
        let mut push = in_cache(command(&repo, "git"));
        push.args(["push", "origin", "main"]).output().unwrap()
    };
    assert!(push().status.success());
    change(&repo, &["one"], "x += 1;");
    let output = push();
    assert!(output.status.success(), "{}", said(&output));
    assert_eq!(ran(&repo), set(&["one"]));
    change(&repo, &["two"], "exit(1);");
    let output = push();
    assert!(!output.status.success(), "{}", said(&output));
    assert!(
        said(&output).contains("GIT_RTS_SKIP=1"),
        "{}",
        said(&output)
    );
}

#[test]
fn templates_are_listed_and_named() {
    let list = Command::new(env!("CARGO_BIN_EXE_git-rts"))
        .arg("template")
        .output()
        .unwrap();
    let list = String::from_utf8(list.stdout).unwrap();
    for line in list.lines() {
        let name = line.split(' ').next().unwrap();
        assert!(template(name).len() > 100, "{name}");
    }
    assert_eq!(list.lines().count(), 6);
    let wrong = Command::new(env!("CARGO_BIN_EXE_git-rts"))
        .args(["template", "bazel"])
        .output()
        .unwrap();
    assert_eq!(wrong.status.code(), Some(2));
    assert!(
        said(&wrong).contains("cmake, make, meson"),
        "{}",
        said(&wrong)
    );
}
