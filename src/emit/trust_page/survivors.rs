//! The mutants that no test noticed: where the tests look away.

use std::fmt::Write as _;

use super::{difference, limits};
use crate::emit::page::escaped;
use crate::emit::trust::survivors;
use crate::emit::trust_text::reached;
use crate::trust::Trial;

pub(super) fn write(body: &mut String, trials: &[Trial]) {
    body.push_str("<section aria-labelledby=\"survivors\">\n<h2 id=\"survivors\">Survivors</h2>\n");
    let survivors = survivors(trials);
    let all = survivors.len();
    if all == 0 {
        body.push_str("<p>Every mutant was noticed by some test.</p>\n</section>\n");
        return;
    }
    body.push_str("<p class=\"soft\">No test noticed these. They say nothing about the selection, and something about the tests.</p>\n<ul class=\"plain\">\n");
    for trial in survivors.into_iter().take(limits::SURVIVORS) {
        let _ = writeln!(
            body,
            "<li><code>{}</code> <span class=\"soft\">{}</span>{}</li>",
            escaped(&trial.change),
            match trial.is_unreached() {
                true => "no test reaches it".to_owned(),
                false => reached(trial),
            },
            difference(&trial.title)
        );
    }
    body.push_str("</ul>\n");
    limits::left_out(body, all, limits::SURVIVORS, "survivor");
    body.push_str("</section>\n");
}
