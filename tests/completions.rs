//! Completions of `git rts`, each in the shell that it is for.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

/// Somebody's home, where the program is found and a shell has its completions.
struct Home(TempDir);

impl Home {
    fn new(shell: &str, file: &str) -> Self {
        let home = TempDir::new().unwrap();
        let bin = home.path().join("bin");
        fs::create_dir(&bin).unwrap();
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_git-rts"), bin.join("git-rts")).unwrap();
        let printed = Command::new(env!("CARGO_BIN_EXE_git-rts"))
            .args(["completions", shell])
            .output()
            .unwrap();
        assert!(printed.status.success());
        let file = home.path().join(file);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, printed.stdout).unwrap();
        Home(home)
    }

    /// What a shell prints when it runs a script.
    #[track_caller]
    fn run(&self, shell: &str, arguments: &[&str], script: &str) -> String {
        let path = std::env::var("PATH").unwrap();
        let bin = self.path("bin");
        let output = Command::new(shell)
            .args(arguments)
            .args(["-c", script])
            .current_dir(self.0.path())
            .env("HOME", self.0.path())
            .env("PATH", format!("{}:{path}", bin.display()))
            .env("TERM", "dumb")
            .env_remove("XDG_DATA_HOME")
            .env_remove("XDG_CONFIG_HOME")
            .env_remove("ZDOTDIR")
            .output()
            .unwrap();
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{printed}{errors}");
        assert_eq!(errors, "", "{printed}");
        printed
    }

    fn path(&self, below: &str) -> PathBuf {
        self.0.path().join(below)
    }
}

/// Lines that are to be completed, and all that completes them.
const CASES: [(&str, &[&str]); 5] = [
    ("git rts re", &["record", "replay", "report"]),
    ("git rts run --fail", &["--fail-fast"]),
    ("git rts select --order=x --li", &["--limit"]),
    ("git rts hook unin", &["uninstall"]),
    ("git -C . rts run --color ", &["always", "auto", "never"]),
];

#[test]
fn bash_completes_git_rts() {
    let home = Home::new("bash", ".local/share/bash-completion/completions/git-rts");
    let there = Path::new("/usr/share/bash-completion/bash_completion");
    assert!(there.exists(), "the package bash-completion is needed");
    for (line, wanted) in CASES.into_iter().chain([(
        "git rts hook install pre-",
        &["pre-commit", "pre-push"] as &[&str],
    )]) {
        // As bash itself calls it.
        let script = format!(
            "source {}\n\
             _completion_loader git\n\
             COMP_LINE='{line}' COMP_POINT={}\n\
             IFS=' ' read -ra COMP_WORDS <<<\"$COMP_LINE\"\n\
             [[ $COMP_LINE == *' ' ]] && COMP_WORDS+=('')\n\
             COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))\n\
             __git_wrap__git_main git \"${{COMP_WORDS[COMP_CWORD]}}\" \"${{COMP_WORDS[COMP_CWORD-1]}}\"\n\
             printf '%s\\n' \"${{COMPREPLY[@]}}\"",
            there.display(),
            line.len()
        );
        let printed = home.run("bash", &["--norc"], &script);
        let mut found: Vec<&str> = printed.lines().collect();
        found.sort_unstable();
        assert_eq!(found, wanted, "{line}");
    }
}

#[test]
fn fish_completes_git_rts() {
    let home = Home::new("fish", ".config/fish/conf.d/git-rts.fish");
    for (line, wanted) in CASES {
        let printed = home.run("fish", &[], &format!("complete -C '{line}'"));
        let found = printed.lines().map(|line| line.split('\t').next().unwrap());
        let mut found: Vec<&str> = found.collect();
        found.sort_unstable();
        assert_eq!(found, wanted, "{line}");
    }
}

#[test]
fn zsh_completes_git_rts() {
    let home = Home::new("zsh", "functions/_git-rts");
    let file = home.path("functions/_git-rts");
    home.run("zsh", &["-f"], &format!("zsh -n '{}'", file.display()));
    // A terminal in which Tab is pressed; Ctrl-X shows the line as it is then.
    let script = r#"
        zmodload zsh/zpty
        zpty -b shell zsh -f -i
        expect() {
            local seen= part
            repeat 1200; do
                if zpty -r -t shell part; then
                    seen+=$part
                    [[ $seen == *$1* ]] && return
                else
                    sleep 0.05
                fi
            done
            print -r -- "no '$1' in: $seen"
            exit 1
        }
        zpty -w shell 'fpath=(~/functions $fpath); autoload -U compinit; compinit -u -d ~/dump'
        zpty -w shell 'show() { print -r -- "<$BUFFER>"; BUFFER= }; zle -N show; bindkey "^X" show'
        zpty -w shell 'print ready-$((40 + 2))'
        expect ready-42
        zpty -w -n shell $'git rt\t\x18'
        expect '<git rts >'
        zpty -w -n shell $'git rts rec\t\x18'
        expect '<git rts record >'
        zpty -w -n shell $'git rts run --fail\t\x18'
        expect '<git rts run --fail-fast >'
        zpty -w -n shell $'git rts hook install pre-p\t\x18'
        expect '<git rts hook install pre-push >'
        zpty -d shell
    "#;
    home.run("zsh", &["-f"], script);
}

#[test]
fn other_shells_are_refused() {
    let output = Command::new(env!("CARGO_BIN_EXE_git-rts"))
        .args(["completions", "csh"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
}
