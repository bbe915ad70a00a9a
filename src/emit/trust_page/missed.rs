//! The full story of each test that was missed.

use std::fmt::Write as _;

use super::{difference, limits};
use crate::emit::page::{escaped, escaped_lines};
use crate::emit::trust::Subject;
use crate::history::Outcome;
use crate::trust::{Judgement, Trial};

pub(super) fn write(body: &mut String, subject: &Subject, trials: &[Trial]) {
    let missed = || {
        let all = trials.iter().enumerate();
        all.flat_map(|(place, trial)| {
            let own = trial.judged(Judgement::Missed);
            own.map(move |test| (place, trial, test))
        })
    };
    let all = missed().count();
    if all == 0 {
        return;
    }
    body.push_str("<section aria-labelledby=\"missed\">\n<h2 id=\"missed\">Missed</h2>\n<p class=\"soft\">These tests were skipped, and ended in another way than before the change.</p>\n");
    for (place, trial, test) in missed().take(limits::MISSES) {
        let before = test.before.map_or("new", Outcome::word);
        let change = escaped(subject.short(&trial.change));
        let change = match place < limits::CHANGES {
            true => format!("<a href=\"#c{place}\"><code>{change}</code></a>"),
            false => format!("<code>{change}</code>"),
        };
        let _ = writeln!(
            body,
            "<article class=\"function\">\n<h3><span class=\"name\">{}</span> <span class=\"soft\">{before}, then</span> <span class=\"bad word\">{}</span></h3>\n<p>{change} {}</p>",
            escaped(&test.name),
            test.after.word(),
            match subject.is_audit() {
                true => String::new(),
                false => escaped(&trial.title),
            }
        );
        if subject.is_audit() {
            body.push_str(&difference(&trial.title));
        }
        if let Some(story) = trial.stories.get(&test.name) {
            let _ = writeln!(body, "<pre tabindex=\"0\">{}</pre>", escaped_lines(story));
        }
        body.push_str("</article>\n");
    }
    limits::left_out(body, all, limits::MISSES, "missed test");
    body.push_str("</section>\n");
}
