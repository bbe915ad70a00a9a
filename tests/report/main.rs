//! The report, opened in a real browser.

#![allow(clippy::unwrap_used, clippy::panic)]

mod browser;
mod large;
#[path = "../test_repo/mod.rs"]
mod test_repo;
mod trust;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use browser::{opened, shown};
use serde_json::Value;
use test_repo::TestRepo;

/// Names that want to be more than names.
const HOSTILE: [&str; 4] = [
    "a</script><script>document.title='taken'</script>",
    "b\" onmouseover=\"alert(1)",
    "b<img src=x onerror=alert(1)>",
    "a&lt;'{{script}}",
];

const PROG: &str = "int shared(int x)\n{\n    if (x > 40)\n        return 7;\n    return x + 0;\n}\n\
    int only_b(int x)\n{\n    return x + 0;\n}\n\
    int main(int argc, char **argv)\n{\n    if (argv[1][0] == 'b')\n        return only_b(argc - 2);\n    return argv[1][0] == 'a' ? shared(argc - 2) : 0;\n}\n";

const CONFIG: &str = "[build]\ncommand = \"cc -o prog prog.c\"\n[tests]\nrunner = \"command\"\nlist = \"cat names\"\nrun = \"./prog {test}\"\n";

struct Project {
    repo: TestRepo,
    page: PathBuf,
}

/// A page about two commits: the first changes what `a` tests do, the second what `b` tests do and something that nobody reaches.
fn project() -> &'static Project {
    static PROJECT: OnceLock<Project> = OnceLock::new();
    PROJECT.get_or_init(|| {
        let repo = TestRepo::new();
        let mut names = HOSTILE.join("\n");
        for number in 0..30 {
            names.push_str(&format!("\nidle_{number}"));
        }
        names.push('\n');
        repo.commit(&[
            (".git-rts.toml", CONFIG),
            ("prog.c", PROG),
            ("names", &names),
        ]);
        runs(&repo, &["run"]);
        let first = PROG.replacen("return x + 0;", "return x + 0 + 0;", 1);
        repo.write("prog.c", &first);
        repo.commit_all();
        runs(&repo, &["run", "HEAD~1"]);
        let second = first.replace("    return x + 0;", "    return x - 0;");
        repo.write("prog.c", second.replace("return 7;", "return 8;"));
        repo.commit_all();
        runs(&repo, &["run", "HEAD~1"]);
        let page = repo.top().join(".git/report.html");
        runs(
            &repo,
            &["report", "HEAD~1..HEAD", "-o", page.to_str().unwrap()],
        );
        Project { repo, page }
    })
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[track_caller]
fn runs(repo: &TestRepo, arguments: &[&str]) -> String {
    // Cargo sets it, and another environment than the recorded one would select everything.
    let mut command = repo.rts_command();
    let command = command.args(arguments).env_remove("LD_LIBRARY_PATH");
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_names_of_tests_are_nothing_but_names() {
    let (dom, said) = opened(&project().page, "", &[]);
    let names: BTreeSet<String> = shown(&dom).into_iter().map(|(_, name)| name).collect();
    for name in HOSTILE {
        assert!(names.contains(name), "{name}: {names:?}");
    }
    assert_eq!(names.len(), 34);
    assert_eq!(dom.matches("<script").count(), 1);
    assert_eq!(dom.matches("<img").count(), 0);
    assert!(!dom.contains("<title>taken"));
    // Neither an error of the script nor something that the policy forbids.
    assert!(!said.contains("CONSOLE"), "{said}");
}

#[test]
fn a_fragment_filters_by_name_and_state() {
    let page = &project().page;
    let (dom, _) = opened(page, "#filter=IDLE_2", &[]);
    assert_eq!(shown(&dom).len(), 11);
    assert!(dom.contains("11 of 34 tests"));
    let (dom, _) = opened(page, "#state=selected", &[]);
    let names: BTreeSet<String> = shown(&dom).into_iter().map(|(_, name)| name).collect();
    assert_eq!(
        names,
        BTreeSet::from([HOSTILE[1].to_owned(), HOSTILE[2].to_owned()])
    );
    let (dom, _) = opened(page, "#filter=img&state=skipped", &[]);
    assert!(shown(&dom).is_empty());
    assert!(dom.contains("0 of 34 tests"));
}

#[test]
fn without_a_script_everything_is_there_and_the_filter_is_not() {
    let text = std::fs::read_to_string(&project().page).unwrap();
    let page = project().repo.top().join(".git/without.html");
    std::fs::write(
        &page,
        text.replace("script-src 'sha256-", "script-src 'sha256-no"),
    )
    .unwrap();
    let (dom, said) = opened(&page, "#filter=idle", &[]);
    assert!(
        said.contains("violates the following Content Security Policy"),
        "{said}"
    );
    assert_eq!(shown(&dom).len(), 34);
    assert!(dom.contains("<form id=\"filter\" hidden"));
}

#[test]
fn links_lead_from_the_change_to_the_test_and_back() {
    let text = std::fs::read_to_string(&project().page).unwrap();
    let ids: Vec<&str> = text
        .split(" id=\"")
        .skip(1)
        .map(|rest| rest.split('"').next().unwrap())
        .collect();
    let unique: BTreeSet<&str> = ids.iter().copied().collect();
    assert_eq!(ids.len(), unique.len());
    let links: BTreeSet<&str> = text
        .split("href=\"")
        .skip(1)
        .map(|rest| rest.split('"').next().unwrap())
        .collect();
    for link in &links {
        assert!(unique.contains(link.strip_prefix('#').unwrap()), "{link}");
    }
    for kind in ["#t", "#f", "#e"] {
        assert!(
            links.iter().any(|link| link.starts_with(kind)),
            "{kind}: {links:?}"
        );
    }
    assert!(text.contains("crossed by no test"));
    assert!(text.contains("<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"rts\""));
    // Both commits have a history.
    assert!(text.contains("Time saved") && text.contains("<td class=\"number\">34</td>"));
}

#[test]
fn the_page_asks_nobody_for_anything() {
    let asked = asked(&project().page, &project().repo.top().join(".git"));
    assert!(
        asked.iter().all(|url| url.starts_with("file:")),
        "{asked:?}"
    );
    let text = std::fs::read_to_string(&project().page).unwrap();
    assert!(text.contains("default-src 'none'"));
}

/// What is asked for when a page is opened.
fn asked(page: &Path, folder: &Path) -> BTreeSet<String> {
    let log = folder.join("net.json");
    let option = format!("--log-net-log={}", log.display());
    opened(page, "", &[&option]);
    let events: Value = serde_json::from_str(&std::fs::read_to_string(&log).unwrap()).unwrap();
    let events = events["events"].as_array().unwrap();
    let asked = events
        .iter()
        .filter_map(|event| event["params"]["url"].as_str());
    // What the browser itself asks its maker has nothing to do with the page.
    let asked = asked.filter(|url| !url.contains("google"));
    asked.map(str::to_owned).collect()
}

#[test]
fn the_policy_knows_the_style_and_the_script() {
    policy_holds(&project().page, &project().repo.top().join(".git"));
}

#[track_caller]
fn policy_holds(page: &Path, folder: &Path) {
    let text = std::fs::read_to_string(page).unwrap();
    for (kind, tag) in [("style-src", "style"), ("script-src", "script")] {
        let own = text.split(&format!("<{tag}>")).nth(1).unwrap();
        let own = own.split(&format!("</{tag}>")).next().unwrap();
        let file = folder.join(tag);
        std::fs::write(&file, own).unwrap();
        let digest = Command::new("sh")
            .arg("-c")
            .arg("sha256sum \"$0\" | cut -c1-64 | tr a-f A-F | basenc --base16 -d | base64")
            .arg(&file)
            .output()
            .unwrap();
        let digest = String::from_utf8(digest.stdout).unwrap();
        let wanted = format!("{kind} 'sha256-{}'", digest.trim());
        assert!(text.contains(&wanted), "the policy should say {wanted}");
    }
}

#[test]
fn a_project_without_tests_has_nothing_to_report() {
    let repo = TestRepo::new();
    repo.commit(&[("a.c", "int f(void) { return 1; }\n")]);
    let output = repo.rts(&["report", "HEAD"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        said(&output).contains("hint: 'git rts run'"),
        "{}",
        said(&output)
    );
}
