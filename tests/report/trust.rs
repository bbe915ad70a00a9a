//! The page on trust, in a real browser: of a replay and of an audit that nobody ran.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use git_rts::emit::trust::{Deed, Subject};
use git_rts::emit::trust_page::page;
use git_rts::history::Outcome;
use git_rts::trust::score::score;
use git_rts::trust::{Observed, Times, Trial};
use tempfile::TempDir;

use crate::browser::{opened, shown};
use crate::{HOSTILE, asked, policy_holds};

struct Pages {
    folder: TempDir,
    replay: PathBuf,
    audit: PathBuf,
}

fn pages() -> &'static Pages {
    static PAGES: OnceLock<Pages> = OnceLock::new();
    PAGES.get_or_init(|| {
        let folder = TempDir::new().unwrap();
        let write = |name: &str, deed, trials: &[Trial]| {
            let subject = Subject {
                deed,
                git_rts: "0.1.0".to_owned(),
                tests: 44,
                elsewhere: name.to_owned(),
                written: 1_735_689_599,
            };
            let path = folder.path().join(name);
            std::fs::write(&path, page(&subject, trials, &score(trials))).unwrap();
            path
        };
        let range = format!("v1.0..{}", HOSTILE[0]);
        let replay = write("replay.html", Deed::Replay { range }, &commits());
        let version = "a1b2c3d4e (HEAD)".to_owned();
        let audit = write("audit.html", Deed::Audit { version }, &mutants());
        Pages {
            folder,
            replay,
            audit,
        }
    })
}

/// The tests of a change: those below `selected` were, and those below `noticing` ended in another way.
fn tests(selected: usize, noticing: usize) -> Vec<Observed> {
    let names = (0..40).map(|number| format!("suite_{}/the_case_{number}", number % 4));
    let names = HOSTILE.iter().map(|name| (*name).to_owned()).chain(names);
    let test = |(place, name)| Observed {
        name,
        selected: place < selected,
        before: Some(Outcome::Passed),
        after: match place < noticing {
            true => Outcome::Failed,
            false => Outcome::Passed,
        },
        milliseconds: 50,
        flaky: false,
        moved: Some(place < selected / 2),
    };
    names.enumerate().map(test).collect()
}

fn trial(change: String, title: &str, selected: usize, tests: Vec<Observed>) -> Trial {
    Trial {
        obstacle: None,
        tests,
        times: Times {
            build: 4000,
            analysis: 210,
            selected: 50 * selected as u64,
            all: 2200,
            plain: Some(5000),
        },
        ..Trial::stopped(change, title.to_owned(), String::new())
    }
}

fn commits() -> Vec<Trial> {
    // Of as many digits as a real one, and different from the first on.
    let commit = |number: u64| {
        let digits = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        format!("{digits:016x}").repeat(3)[..40].to_owned()
    };
    let mut trials: Vec<Trial> = (1..25)
        .map(|number| {
            let selected = number as usize * 7 % 23;
            let tests = tests(selected, selected / 4);
            trial(
                commit(number),
                "Reads headers only once, and closes them",
                selected,
                tests,
            )
        })
        .collect();
    trials[3].title = HOSTILE[2].to_owned();
    let last = trials[5].tests.len() - 1;
    trials[5].tests[last].after = Outcome::Crashed;
    let missed = trials[5].tests[last].name.clone();
    let story = format!(
        "{missed} may be skipped\n  src/parser.c\n    compiled in  source: crosses none of the 4 dangerous edges\n    read         files: did not look at it\nit printed:\n{}\n<b>core dumped</b>",
        "a line that a test printed and that is longer than a phone is wide ".repeat(3)
    );
    trials[5].stories.insert(missed, story);
    trials[8] = trial(
        commit(9),
        "Moves the build to another tool",
        44,
        tests(44, 0),
    );
    trials[8].everything = Some("'CMakeLists.txt' came, went or moved".to_owned());
    trials[8].times.analysis = 3000;
    trials[11].tests[43].flaky = true;
    trials[12].tests[42].moved = Some(true);
    let broken = "does not build\ncc: error: src/parser.c:12: expected ';' before '}' token";
    trials.push(Trial::stopped(
        commit(99),
        "Half of it".to_owned(),
        broken.to_owned(),
    ));
    trials
}

fn mutants() -> Vec<Trial> {
    let mutant = |number: usize| {
        let selected = number * 11 % 31;
        let noticing = if number.is_multiple_of(7) {
            0
        } else {
            selected / 3
        };
        let place = format!("src/parser/expressions.c:{}", 100 + number);
        let title =
            "-\tif (length < limit && *text != '\\0')\n+\tif (length <= limit && *text != '\\0')";
        trial(place, title, selected, tests(selected, noticing))
    };
    (1..61).map(mutant).collect()
}

#[test]
fn names_and_subjects_are_nothing_but_text() {
    for (page, changes) in [(&pages().replay, 25), (&pages().audit, 60)] {
        let (dom, said) = opened(page, "", &[]);
        assert_eq!(shown(&dom).len(), changes);
        assert_eq!(dom.matches("<script").count(), 1);
        assert_eq!(dom.matches("<img").count(), 0);
        assert!(!dom.contains("<title>taken") && !dom.contains("<b>core"));
        assert!(!said.contains("CONSOLE"), "{said}");
    }
}

#[test]
fn the_pages_ask_nobody_for_anything_and_the_policy_holds() {
    for page in [&pages().replay, &pages().audit] {
        let asked = asked(page, pages().folder.path());
        assert!(
            asked.iter().all(|url| url.starts_with("file:")),
            "{asked:?}"
        );
        policy_holds(page, pages().folder.path());
    }
}

#[test]
fn a_fragment_filters_changes() {
    let (dom, _) = opened(&pages().replay, "#state=missed", &[]);
    assert_eq!(shown(&dom).len(), 1);
    assert!(dom.contains("1 of 25 changes</output>"));
    let (dom, _) = opened(&pages().replay, "#filter=HALF of&state=stopped", &[]);
    assert_eq!(shown(&dom).len(), 1);
    let (dom, _) = opened(
        &pages().audit,
        "#filter=expressions.c:15&state=noticed",
        &[],
    );
    let names: BTreeSet<String> = shown(&dom).into_iter().map(|(_, name)| name).collect();
    assert!(!names.is_empty() && names.len() < 10, "{names:?}");
    assert!(names.iter().all(|name| name.contains("expressions.c:15")));
}

#[test]
fn the_pages_are_readable_on_a_phone_and_in_the_dark() {
    for page in [&pages().replay, &pages().audit] {
        for dark in [false, true] {
            let [width, contrast] = measured(page, dark);
            assert!(width <= 360.0, "{} is {width} wide", page.display());
            // What the Web Content Accessibility Guidelines ask for (AA).
            assert!(
                contrast >= 4.5,
                "{}, dark {dark}: {contrast}",
                page.display()
            );
        }
    }
}

/// How wide the page is on a phone, and the least contrast of a text with what is behind it. The page lets no script in, so
/// another page looks at it.
fn measured(page: &Path, dark: bool) -> [f64; 2] {
    let name = page.file_name().unwrap().to_str().unwrap();
    let outer = page.with_file_name(format!("measured-{dark}-{name}"));
    std::fs::write(
        &outer,
        include_str!("measure.html").replace("{{page}}", name),
    )
    .unwrap();
    let scheme = format!("--blink-settings=preferredColorScheme={}", u8::from(!dark));
    let options = ["--allow-file-access-from-files", scheme.as_str()];
    let (dom, said) = opened(&outer, "", &options);
    let text = dom.split("<title>").nth(1).unwrap();
    let text = text.split("</title>").next().unwrap();
    let (scheme, numbers) = text
        .split_once(' ')
        .unwrap_or_else(|| panic!("{text}: {said}"));
    assert_eq!(scheme, if dark { "dark" } else { "light" });
    let (width, contrast) = numbers.split_once(' ').unwrap();
    [width, contrast].map(|number| number.parse().unwrap())
}
