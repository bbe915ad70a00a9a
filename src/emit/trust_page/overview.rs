//! The head of the page, with the verdict in large and the numbers that matter; and what belongs to them: reasons, flaky and strayed tests.

use std::fmt::Write as _;
use std::time::Duration;

use super::limits;
use crate::emit::page::escaped;
use crate::emit::plan_text::count;
use crate::emit::progress::span;
use crate::emit::trust::{
    Subject, Tone, mean_analysis, middle, noticing_among_selected, percent, promise, survivors,
    verdict,
};
use crate::trust::score::Score;
use crate::trust::{Times, Trial, ratio};

pub(super) fn write(body: &mut String, subject: &Subject, trials: &[Trial], score: &Score) {
    let (tone, text) = verdict(subject, score);
    let class = match tone {
        Tone::Good => "good",
        Tone::Doubtful => "warn",
        Tone::Bad => "bad",
    };
    let _ = writeln!(
        body,
        "<a class=\"jump\" href=\"#changes\">Skip to the {}s</a>\n<header>\n<h1>{}</h1>\n<p class=\"verdict {class}\">{}</p>\n<p>{}</p>",
        subject.change(),
        escaped(&subject.title()),
        escaped(&text),
        escaped(&promise(subject, score))
    );
    let mut tiles = Tiles(Vec::new());
    match subject.is_audit() {
        true => audit(&mut tiles, subject, trials, score),
        false => replay(&mut tiles, subject, trials, score),
    }
    body.push_str("<ul class=\"tiles\">\n");
    for (number, what, class) in tiles.0 {
        let (number, what) = (escaped(&number), escaped(&what));
        let _ = writeln!(
            body,
            "<li class=\"{class}\"><b>{number}</b><span>{what}</span></li>"
        );
    }
    body.push_str("</ul>\n</header>\n");
}

/// Numbers, what they count, and the class that colours them.
struct Tiles(Vec<(String, String, &'static str)>);

impl Tiles {
    fn add(&mut self, number: &impl ToString, what: impl Into<String>, class: &'static str) {
        self.0.push((number.to_string(), what.into(), class));
    }

    /// A share, if there is one.
    fn share(&mut self, share: Option<f64>, what: impl Into<String>, class: &'static str) {
        if let Some(share) = share {
            self.add(&percent(share), what, class);
        }
    }
}

fn replay(tiles: &mut Tiles, subject: &Subject, trials: &[Trial], score: &Score) {
    compared(tiles, subject, score);
    tiles.share(score.mean_share, "of the tests selected, on average", "");
    let with = middle(trials, Times::with_build).zip(score.times.with_build());
    if let Some((median, sum)) = with {
        let sum = percent(sum);
        let what = format!("of the time with the build (median; {sum} in all)");
        tiles.share(Some(median), what, "");
    }
    let without = middle(trials, Times::without_build).zip(score.times.without_build());
    if let Some((median, sum)) = without {
        let sum = percent(sum);
        let what = format!("of the time without the build (median; {sum} in all)");
        tiles.share(Some(median), what, "");
    }
    let plain = middle(trials, Times::beside_plain).zip(score.times.beside_plain());
    if let Some((median, sum)) = plain {
        let sum = percent(sum);
        let what = format!("of the time of a plain build and all tests (median; {sum} in all)");
        tiles.share(Some(median), what, "");
    }
    if let Some(mean) = mean_analysis(score) {
        let mean = span(Duration::from_millis(mean));
        tiles.add(&mean, "for the analysis, on average", "");
    }
    everything(tiles, score);
    let class = |share: Option<f64>| match share {
        Some(share) if share < 1.0 => "bad",
        _ => "",
    };
    let what = format!("change recall, of {} noticed", score.noticed);
    let share = score.change_recall();
    tiles.share(share, what, class(share));
    let what = format!("test recall, of {} that noticed", score.noticing);
    let share = score.test_recall();
    tiles.share(share, what, class(share));
    let what = "precision: selected tests that did something else";
    tiles.share(score.precision(), what, "");
}

fn audit(tiles: &mut Tiles, subject: &Subject, trials: &[Trial], score: &Score) {
    compared(tiles, subject, score);
    let noticed = ratio(score.noticed as u64, score.changes as u64);
    let noticed = noticed.map_or_else(String::new, |share| format!(" ({})", percent(share)));
    tiles.add(&score.noticed, format!("noticed by a test{noticed}"), "");
    let survived = survivors(trials).len();
    tiles.add(
        &survived,
        "survived",
        if survived > 0 { "warn" } else { "" },
    );
    let class = if score.missed.is_empty() { "" } else { "bad" };
    let tests = if score.missed.len() == 1 {
        "test"
    } else {
        "tests"
    };
    tiles.add(&score.missed.len(), format!("{tests} missed"), class);
    tiles.share(score.mean_share, "of the tests selected, on average", "");
    let what = "precision: selected tests that noticed";
    tiles.share(noticing_among_selected(score), what, "");
    let what = "of the selected tests reached the mutant, or did something else";
    tiles.share(score.precision(), what, "");
    everything(tiles, score);
}

fn compared(tiles: &mut Tiles, subject: &Subject, score: &Score) {
    let s = if score.changes == 1 { "" } else { "s" };
    tiles.add(
        &score.changes,
        format!("{}{s} compared", subject.change()),
        "",
    );
    if score.stopped > 0 {
        tiles.add(&score.stopped, "could not be compared", "warn");
    }
    let s = if subject.tests == 1 { "" } else { "s" };
    tiles.add(&subject.tests, format!("test{s}"), "");
}

fn everything(tiles: &mut Tiles, score: &Score) {
    let times = if score.selecting_all == 1 {
        "time"
    } else {
        "times"
    };
    tiles.add(
        &score.selecting_all,
        format!("{times} everything was selected"),
        "",
    );
}

/// What the numbers stand for, in words.
pub(super) fn write_more(body: &mut String, subject: &Subject, score: &Score) {
    if !score.everything.is_empty() {
        body.push_str("<section aria-labelledby=\"everything\">\n<h2 id=\"everything\">Why everything was selected</h2>\n<ul>\n");
        let mut reasons: Vec<(&String, &usize)> = score.everything.iter().collect();
        reasons.sort_by_key(|(_, changes)| std::cmp::Reverse(**changes));
        for (reason, changes) in reasons {
            let changes = count(*changes, subject.change());
            let _ = writeln!(
                body,
                "<li>{} <span class=\"soft\">({changes})</span></li>",
                escaped(reason)
            );
        }
        body.push_str("</ul>\n</section>\n");
    }
    if !score.flaky.is_empty() {
        body.push_str("<section aria-labelledby=\"flaky\">\n<h2 id=\"flaky\">Flaky tests</h2>\n<p class=\"soft\">They end in different ways on one tree, and were not counted.</p>\n<ul class=\"names\">\n");
        for name in &score.flaky {
            let name = escaped(name);
            let _ = writeln!(body, "<li><span class=\"name\">{name}</span></li>");
        }
        body.push_str("</ul>\n</section>\n");
    }
    if !score.strayed.is_empty() {
        body.push_str("<section aria-labelledby=\"strayed\">\n<h2 id=\"strayed\">Skipped tests that did something else</h2>\n<p class=\"soft\">They ended as before, so nothing was missed; but their traces differ.</p>\n<ul>\n");
        for (change, name) in score.strayed.iter().take(limits::STRAYED) {
            let (change, name) = (escaped(subject.short(change)), escaped(name));
            let _ = writeln!(
                body,
                "<li><code>{change}</code> <span class=\"name\">{name}</span></li>"
            );
        }
        body.push_str("</ul>\n");
        let all = score.strayed.len();
        limits::left_out(body, all, limits::STRAYED, "skipped test");
        body.push_str("</section>\n");
    }
}
