//! The frame of both HTML pages, the report and what is known of trust: a template, its style and its script, and a policy that forbids everything else.

use crate::emit::graph::{PAGE_PATTERNS, PAGE_STYLE};

pub(super) use crate::emit::graph_svg::escaped;

const PAGE: &str = include_str!("../../templates/report/page.html");
const STYLE: &str = include_str!("../../templates/report/style.css");
const SCRIPT: &str = include_str!("../../templates/report/script.js");

/// What may run and what may decorate: these two texts, by their digests. A name of a test that turns out to be a script is not
/// one of them. `tests/report` tells the digests when a text has changed.
const SCRIPT_DIGEST: &str = "lFahiLC3qWeJsri54381PUEL9G9mqcFjAesD2tPSR6Y=";
const STYLE_DIGEST: &str = "AAMLu+A0pxUDyhcOSSjYit6mI0WCOWIxqXo6NGhqcGI=";

/// A text of several lines, which keeps its lines.
pub(super) fn escaped_lines(text: &str) -> String {
    let lines = text
        .lines()
        .map(|line| escaped(&line.replace('\t', "    ")));
    lines.collect::<Vec<_>>().join("\n")
}

/// Puts a body into the frame.
pub(super) fn page(title: &str, body: &str) -> String {
    let policy = format!(
        "default-src 'none'; style-src 'sha256-{STYLE_DIGEST}'; script-src 'sha256-{SCRIPT_DIGEST}'; \
         base-uri 'none'; form-action 'none'"
    );
    let style = format!("{STYLE}{PAGE_STYLE}");
    let mut text = String::new();
    // One pass over the template: what comes from outside is never looked at for places to fill.
    for (index, part) in PAGE.split("{{").enumerate() {
        let Some((name, rest)) = part.split_once("}}").filter(|_| index > 0) else {
            text.push_str(part);
            continue;
        };
        match name {
            "policy" => text.push_str(&policy),
            "title" => text.push_str(&escaped(title)),
            "style" => text.push_str(&style),
            "patterns" => text.push_str(PAGE_PATTERNS),
            "script" => text.push_str(SCRIPT),
            _ => text.push_str(body),
        }
        text.push_str(rest);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_from_outside_fills_no_place() {
        let text = page("</title>{{body}}", "<p>{{script}}</p>");
        assert!(text.contains("<title>&lt;/title&gt;{{body}}</title>"));
        assert!(text.contains("<p>{{script}}</p>"));
        assert_eq!(text.matches("<script>").count(), 1);
    }

    #[test]
    fn the_page_asks_nobody_for_anything() {
        let text = page("", "");
        for word in [
            "http:", "https:", "src=", "url(h", "@import", "<link", "fetch(",
        ] {
            let own = text.replace("http://www.w3.org/2000/svg", "");
            assert!(!own.contains(word), "{word}");
        }
    }
}
