//! Help, manual and README come from one definition; `man` and git find the manual.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use clap::CommandFactory;
use git_rts::commands::Cli;
use git_rts::exit_code::ExitCode;
use tempfile::TempDir;

const README: &str = include_str!("../README.md");

/// Options of other programs that the README names alone.
const OF_OTHERS: [&str; 5] = [
    "--gtest_filter",
    "--defsym",
    "--all-features",
    "--lib",
    "--doc",
];

/// Somebody's home, with the program in its `.local/bin`.
struct Home(TempDir);

impl Home {
    fn new() -> Self {
        let home = TempDir::new().unwrap();
        let bin = home.path().join(".local/bin");
        fs::create_dir_all(&bin).unwrap();
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_git-rts"), bin.join("git-rts")).unwrap();
        Home(home)
    }

    fn path(&self, below: &str) -> PathBuf {
        self.0.path().join(below)
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        let path = std::env::var("PATH").unwrap();
        let bin = self.path(".local/bin");
        command
            .current_dir(self.0.path())
            .env("HOME", self.0.path())
            .env("PATH", format!("{}:{path}", bin.display()))
            .env("GIT_CONFIG_NOSYSTEM", "1")
            // Newer versions of groff would mark bold words otherwise.
            .envs([("MANPAGER", "cat"), ("PAGER", "cat"), ("MANWIDTH", "200")])
            .env("GROFF_NO_SGR", "1");
        for variable in ["XDG_DATA_HOME", "XDG_CONFIG_HOME", "MANPATH", "MANOPT"] {
            command.env_remove(variable);
        }
        command
    }

    #[track_caller]
    fn git(&self, arguments: &[&str]) -> Output {
        let output = self.command("git").args(arguments).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", said(&output));
        output
    }

    fn pages(&self) -> BTreeSet<String> {
        names_in(&self.path(".local/share/man/man1"))
    }
}

fn names_in(folder: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(folder).unwrap();
    entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect()
}

fn said(output: &Output) -> String {
    format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

/// Text without what makes letters bold, and with single spaces.
fn plain(text: &str) -> String {
    let mut letters: Vec<char> = Vec::new();
    for letter in text.chars() {
        match letter {
            '\u{8}' => drop(letters.pop()),
            letter => letters.push(letter),
        }
    }
    let text: String = letters.into_iter().collect();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn definition() -> clap::Command {
    let mut command = Cli::command().disable_help_subcommand(true);
    command.build();
    command
}

/// The options of a verb and of the verbs below it.
fn options_of(verb: &clap::Command) -> BTreeSet<String> {
    let own = verb.get_arguments().filter_map(|option| option.get_long());
    let own = own.map(|name| format!("--{name}"));
    own.chain(verb.get_subcommands().flat_map(options_of))
        .collect()
}

/// The verbs and their options.
fn verbs() -> BTreeMap<String, BTreeSet<String>> {
    let definition = definition();
    let verbs = definition.get_subcommands();
    verbs
        .map(|verb| (verb.get_name().to_owned(), options_of(verb)))
        .collect()
}

// The manual

#[test]
fn git_shows_the_manual() {
    let home = Home::new();
    let installed = said(&home.git(&["rts", "install-man"]));
    assert!(
        installed.contains("'git rts --help' shows them"),
        "{installed}"
    );
    let by_option = home.git(&["rts", "--help"]);
    let by_help = home.git(&["help", "rts"]);
    assert_eq!(by_option.stdout, by_help.stdout);
    let page = plain(&String::from_utf8_lossy(&by_help.stdout));
    let about = definition().get_about().unwrap().to_string();
    assert!(page.contains(&format!("NAME git-rts - {about}")), "{page}");
    for verb in verbs().keys() {
        assert!(page.contains(&format!("git-rts-{verb}(1)")), "{verb}");
    }
    for code in ExitCode::ALL {
        let line = format!("{} {}", code as u8, code.meaning());
        assert!(page.contains(&line), "{line}");
    }
    for word in [".git-rts.toml", ".git/rts", "GIT_RTS_SKIP", "NO_COLOR"] {
        assert!(page.contains(word), "{word}");
    }
    let run = home.command("man").arg("git-rts-run").output().unwrap();
    let run = plain(&said(&run));
    for option in &verbs()["run"] {
        assert!(run.contains(option), "{option}");
    }
}

#[test]
fn every_verb_has_a_page() {
    fn pages(command: &clap::Command, found: &mut BTreeSet<String>) {
        found.insert(format!(
            "{}.1",
            command.get_display_name().unwrap_or("git-rts")
        ));
        for verb in command.get_subcommands() {
            pages(verb, found);
        }
    }
    let home = Home::new();
    home.git(&["rts", "install-man"]);
    let mut wanted = BTreeSet::new();
    pages(&definition(), &mut wanted);
    assert!(wanted.contains("git-rts-run.1"));
    assert!(wanted.contains("git-rts-hook-install.1"));
    assert_eq!(home.pages(), wanted);
}

#[test]
fn pages_are_formatted_without_a_warning() {
    let home = Home::new();
    home.git(&["rts", "install-man"]);
    let folder = home.path(".local/share/man/man1");
    for page in home.pages() {
        let output = home
            .command("groff")
            .args(["-man", "-Tutf8", "-ww", "-P-c"])
            .arg(folder.join(&page))
            .output()
            .unwrap();
        let warnings = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.success() && warnings.is_empty(),
            "{page}: {warnings}"
        );
        let text = String::from_utf8_lossy(&output.stdout);
        // A backtick is printed as one of these.
        assert!(!plain(&text).contains(['`', '\u{2018}']), "{page}: {text}");
        if page == "git-rts-run.1" {
            let bold = |word: &str| -> String {
                word.chars()
                    .flat_map(|letter| [letter, '\u{8}', letter])
                    .collect()
            };
            for word in ["NAME", "--junit", "select"] {
                assert!(text.contains(&bold(word)), "'{word}' is not bold: {text}");
            }
            assert!(!text.contains(&bold("Write")), "{text}");
        }
    }
}

/// How a page says that its command is called, in one line for each way.
fn synopsis(home: &Home, page: &str) -> Vec<String> {
    let output = home.command("man").env("MANWIDTH", "90").arg(page).output();
    let text = String::from_utf8(output.unwrap().stdout).unwrap();
    let lines = text.lines().map(plain);
    let lines = lines.skip_while(|line| line != "SYNOPSIS").skip(1);
    let lines = lines.take_while(|line| line != "DESCRIPTION");
    let mut forms: Vec<String> = Vec::new();
    for line in lines.filter(|line| !line.is_empty()) {
        match forms.last_mut() {
            Some(form) if !line.starts_with("git rts") => *form += &format!(" {line}"),
            _ => forms.push(line),
        }
    }
    forms
}

#[test]
fn the_synopsis_tells_how_each_option_is_written() {
    let home = Home::new();
    home.git(&["rts", "install-man"]);
    let run = synopsis(&home, "git-rts-run");
    let [run] = run.as_slice() else {
        panic!("{run:?}")
    };
    for part in [
        "git rts run [--all] [--dry-run] [--fail-fast] [--max-fail <N>] [-j <N> | --jobs <N>] [",
        "[--witness <WITNESS>[,...]] [--stats]",
        "[-q | --quiet] [-v | --verbose] [<BASE>] [-- <ARGUMENT>...]",
    ] {
        assert!(run.contains(part), "'{part}' in {run}");
    }
    let general = "[--color <WHEN>] [-q | --quiet] [-v | --verbose]";
    let first = format!("git rts [-h | --help] [-V | --version] {general} <command> [<arguments>]");
    assert_eq!(synopsis(&home, "git-rts"), [first]);
    let history = format!("git rts history [--format <FORMAT>] {general}");
    let show = format!("git rts history show [--format <FORMAT>] {general} [<TEST> [<COMMIT>]]");
    assert_eq!(synopsis(&home, "git-rts-history"), [history, show]);
    // Nothing but a verb behind it can be meant.
    let hook = synopsis(&home, "git-rts-hook");
    assert!(hook.iter().all(|form| form.starts_with("git rts hook ")));
    assert!(hook.contains(&format!("git rts hook uninstall {general} <HOOK>")));
    assert_eq!(hook.len(), 4, "{hook:?}");
}

#[test]
fn no_synopsis_leaves_an_option_out() {
    let home = Home::new();
    home.git(&["rts", "install-man"]);
    for (verb, options) in verbs() {
        let forms = synopsis(&home, &format!("git-rts-{verb}")).join("\n");
        for option in options.iter().filter(|option| *option != "--help") {
            let is_shown = ["]", " <"].iter().any(|end| {
                let written = format!("{option}{end}");
                forms.contains(&format!("[{written}")) || forms.contains(&format!("| {written}"))
            });
            assert!(is_shown, "{option} in {forms}");
        }
    }
}

#[test]
fn just_the_pages_are_removed() {
    let home = Home::new();
    home.git(&["rts", "install-man"]);
    let folder = home.path(".local/share/man/man1");
    fs::write(folder.join("git-rts-other.1"), "").unwrap();
    home.git(&["rts", "install-man", "--uninstall"]);
    assert_eq!(home.pages(), BTreeSet::from(["git-rts-other.1".to_owned()]));
    let again = said(&home.git(&["rts", "install-man", "--uninstall"]));
    assert!(again.contains("0 manual pages removed"), "{again}");
}

#[test]
fn any_folder_can_be_given_to_man() {
    let home = Home::new();
    let told = said(&home.git(&["rts", "install-man", "elsewhere"]));
    assert!(told.contains("in 'elsewhere/man1'"), "{told}");
    let man = |page: &str| {
        let mut man = home.command("man");
        man.args(["-M", "elsewhere", page]).output().unwrap()
    };
    for page in ["git-rts", "git-rts-run"] {
        let shown = man(page);
        assert!(shown.status.success(), "{}", said(&shown));
        assert!(plain(&said(&shown)).contains("SYNOPSIS git rts"), "{page}");
    }
    home.git(&["rts", "install-man", "--uninstall", "elsewhere"]);
    assert!(!man("git-rts").status.success());
    // A folder that is called so already gets no other below it, though it is named from within.
    let mut git = home.command("git");
    git.current_dir(home.path("elsewhere"));
    let within = said(&git.args(["rts", "install-man", "man1"]).output().unwrap());
    assert!(within.contains("in 'man1'"), "{within}");
    let manuals = home.path("elsewhere").canonicalize().unwrap();
    let hint = format!("export MANPATH='{}:'", manuals.display());
    assert!(within.contains(&hint), "{within}");
    assert!(man("git-rts").status.success());
}

#[test]
fn a_folder_where_man_does_not_look_is_told() {
    let home = Home::new();
    let named = said(&home.git(&["rts", "install-man", "pages/man1"]));
    let line = named.split_once("MANPATH='").expect("there is a hint").1;
    let value = line.split_once('\'').unwrap().0;
    let mut git = home.command("git");
    let again = git.args(["rts", "install-man", "pages/man1"]);
    let again = said(&again.env("MANPATH", value).output().unwrap());
    assert!(again.contains("'git rts --help' shows them"), "{again}");
    let data = home.path("data");
    let mut git = home.command("git");
    let output = git.args(["rts", "install-man"]).env("XDG_DATA_HOME", &data);
    assert!(output.output().unwrap().status.success());
    assert!(names_in(&data.join("man/man1")).contains("git-rts.1"));
}

#[test]
fn without_a_home_a_folder_must_be_named() {
    let output = Command::new(env!("CARGO_BIN_EXE_git-rts"))
        .arg("install-man")
        .env_remove("HOME")
        .env_remove("XDG_DATA_HOME")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(said(&output).contains("hint: name a folder"));
}

// The README

/// What is between backticks, and the lines of code blocks.
fn code(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (at, part) in text.split("```").enumerate() {
        match at % 2 {
            1 => found.extend(part.lines().map(str::to_owned)),
            _ => {
                for line in part.lines() {
                    found.extend(line.split('`').skip(1).step_by(2).map(str::to_owned));
                }
            }
        }
    }
    found
}

/// The name of an option at the beginning of a word: of `--limit=40`, `--limit`.
fn option_in(word: &str) -> Option<String> {
    let name = word.strip_prefix("--")?;
    let end = name
        .find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '-' && letter != '_')
        .unwrap_or(name.len());
    (end > 0).then(|| format!("--{}", &name[..end]))
}

/// A verb and the options that stand behind it, for each `git rts` in some code.
fn uses(code: &str) -> Vec<(String, Vec<String>)> {
    let mut found = Vec::new();
    for part in code.split("git rts ").skip(1) {
        let end = part
            .find(['#', '|', '&', ';', ')', '>'])
            .unwrap_or(part.len());
        // What is for the tests themselves is not ours.
        let ours = part[..end].split(" -- ").next().unwrap_or_default();
        let mut words = ours.split_whitespace();
        let Some(verb) = words.next() else { continue };
        found.push((verb.to_owned(), words.filter_map(option_in).collect()));
    }
    found
}

#[test]
fn the_readme_lists_every_verb_and_no_other() {
    let rows = README
        .lines()
        .filter_map(|line| line.strip_prefix("| `git rts "));
    let listed: BTreeSet<String> = rows
        .map(|row| row.split([' ', '`']).next().unwrap().to_owned())
        .collect();
    let wanted: BTreeSet<String> = verbs().into_keys().collect();
    assert_eq!(listed, wanted);
}

#[test]
fn the_readme_names_no_option_that_does_not_exist() {
    let verbs = verbs();
    let mut checked = 0;
    for code in code(README) {
        for (verb, options) in uses(&code) {
            if verb.starts_with('-') || verb == "VERB" {
                continue;
            }
            let known = verbs.get(&verb);
            let known = known.unwrap_or_else(|| panic!("there is no 'git rts {verb}': {code}"));
            for option in options {
                assert!(known.contains(&option), "'git rts {verb}' has no {option}");
                checked += 1;
            }
        }
        if let Some(option) = option_in(&code) {
            let is_known = verbs.values().any(|options| options.contains(&option));
            let is_other = OF_OTHERS.contains(&option.as_str());
            assert!(is_known != is_other, "{option}: {code}");
            checked += 1;
        }
    }
    for row in README
        .lines()
        .filter(|line| line.starts_with("| `git rts "))
    {
        let verb = row["| `git rts ".len()..].split([' ', '`']).next().unwrap();
        for option in code(row).iter().filter_map(|code| option_in(code)) {
            assert!(
                verbs[verb].contains(&option),
                "'git rts {verb}' has no {option}"
            );
            checked += 1;
        }
    }
    assert!(checked > 20, "only {checked} options were found");
}

#[test]
fn help_and_readme_tell_the_same_exit_codes() {
    let sentence = ExitCode::sentence();
    assert!(README.lines().any(|line| line == sentence), "{sentence}");
    for option in ["-h", "--help"] {
        let help = Command::new(env!("CARGO_BIN_EXE_git-rts"))
            .arg(option)
            .output()
            .unwrap();
        let help = plain(&String::from_utf8_lossy(&help.stdout));
        assert!(help.contains(&sentence), "{help}");
    }
}
