//! A page in a real browser, as it is once its script ran.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::said;

/// The page as the browser has it once its script ran, and what the browser said.
pub(crate) fn opened(page: &Path, fragment: &str, options: &[&str]) -> (String, String) {
    let profile = tempfile::TempDir::new().unwrap();
    let output = Command::new("chromium")
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--no-first-run",
        ])
        .args([
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
        ])
        .args(["--enable-logging=stderr", "--dump-dom"])
        .arg(format!("--user-data-dir={}", profile.path().display()))
        .args(options)
        .arg(format!("file://{}{fragment}", page.display()))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", said(&output));
    let dom = String::from_utf8(output.stdout.clone()).unwrap();
    (dom, said(&output))
}

/// The tests that are shown, and of which state.
pub(crate) fn shown(dom: &str) -> BTreeSet<(String, String)> {
    let rows = dom.split("data-state=\"").skip(1);
    let rows = rows.filter_map(|row| {
        let (state, rest) = row.split_once('"').unwrap();
        let (attributes, rest) = rest.split_once('>').unwrap();
        let name = rest.split_once("class=\"name\">").unwrap().1;
        let name = name.split("</span>").next().unwrap();
        (!attributes.contains("hidden")).then(|| (state.to_owned(), plain(name)))
    });
    rows.collect()
}

fn plain(text: &str) -> String {
    let text = text.replace("&lt;", "<").replace("&gt;", ">");
    text.replace("&quot;", "\"").replace("&amp;", "&")
}
