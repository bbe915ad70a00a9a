//! The results of a run as JUnit's XML, which CI systems read.

use std::fmt::Write as _;
use std::time::Duration;

/// How one test went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Result<'a> {
    Passed,
    Skipped(&'a str),
    Failed(&'a str),
}

pub struct Case<'a> {
    pub name: &'a str,
    pub duration: Duration,
    pub result: Result<'a>,
    /// What a failed test printed.
    pub output: String,
}

/// The document.
#[must_use]
pub fn junit(cases: &[Case<'_>]) -> String {
    let count = |is: fn(&Result<'_>) -> bool| cases.iter().filter(|case| is(&case.result)).count();
    let time: Duration = cases.iter().map(|case| case.duration).sum();
    let time = time.as_secs_f64();
    let mut xml = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n");
    let _ = writeln!(
        xml,
        "  <testsuite name=\"git rts\" tests=\"{}\" failures=\"{}\" skipped=\"{}\" time=\"{time:.3}\">",
        cases.len(),
        count(|result| matches!(result, Result::Failed(_))),
        count(|result| matches!(result, Result::Skipped(_))),
    );
    for case in cases {
        let _ = write!(
            xml,
            "    <testcase name=\"{}\" time=\"{:.3}\"",
            escaped(case.name),
            case.duration.as_secs_f64()
        );
        match case.result {
            Result::Passed => xml.push_str("/>\n"),
            Result::Skipped(why) => {
                let _ = writeln!(xml, "><skipped message=\"{}\"/></testcase>", escaped(why));
            }
            Result::Failed(why) => {
                let _ = writeln!(
                    xml,
                    "><failure message=\"{}\">{}</failure></testcase>",
                    escaped(why),
                    escaped(&case.output)
                );
            }
        }
    }
    xml.push_str("  </testsuite>\n</testsuites>\n");
    xml
}

/// Text that XML accepts: it has no way to write most control characters.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            '\n' => out.push_str("&#10;"),
            '\t' | '\r' => out.push(letter),
            letter if letter.is_control() || matches!(letter, '\u{fffe}' | '\u{ffff}') => {
                out.push('\u{fffd}');
            }
            letter => out.push(letter),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_names_and_outputs_are_valid_xml() {
        let case = |name, result, output: &str| Case {
            name,
            duration: Duration::from_millis(1500),
            result,
            output: output.to_owned(),
        };
        let xml = junit(&[
            case("a<b> & \"c\"", Result::Passed, ""),
            case("two", Result::Skipped("safely"), ""),
            case(
                "three",
                Result::Failed("exit 1"),
                "\u{1b}[31mred\nline</failure>",
            ),
        ]);
        assert!(xml.contains("tests=\"3\" failures=\"1\" skipped=\"1\" time=\"4.500\""));
        assert!(xml.contains("name=\"a&lt;b&gt; &amp; &quot;c&quot;\""));
        assert!(xml.contains("\u{fffd}[31mred&#10;line&lt;/failure&gt;</failure>"));
    }
}
