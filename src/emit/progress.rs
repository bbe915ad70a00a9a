//! The progress of long work: one line on a terminal that is written anew, and nothing anywhere else.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

use super::loudness;

/// How often the line is written at most.
const PAUSE: Duration = Duration::from_millis(80);

/// What any terminal has room for.
const WIDTH: usize = 79;

pub struct Progress {
    what: String,
    total: usize,
    done: usize,
    failed: usize,
    started: Instant,
    written: Option<Instant>,
    is_shown: bool,
}

impl Progress {
    /// Begins with nothing done.
    #[must_use]
    pub fn new(what: &str, total: usize) -> Self {
        Progress {
            what: what.to_owned(),
            total,
            done: 0,
            failed: 0,
            started: Instant::now(),
            written: None,
            is_shown: is_shown(),
        }
    }

    /// One more is done; `now` is what to show beside the count.
    pub fn step(&mut self, passed: bool, now: &str) {
        self.done += 1;
        self.failed += usize::from(!passed);
        let is_due = self
            .written
            .is_none_or(|written| written.elapsed() >= PAUSE);
        if self.is_shown && (is_due || self.done == self.total) {
            let mut stderr = std::io::stderr().lock();
            let _ = write!(stderr, "\r\x1b[K{}", self.line(now, self.started.elapsed()));
            let _ = stderr.flush();
            self.written = Some(Instant::now());
        }
    }

    fn line(&self, now: &str, elapsed: Duration) -> String {
        let width = self.total.to_string().len();
        let filled = 20 * self.done / self.total.max(1);
        let bar: String = (0..20)
            .map(|at| if at < filled { '#' } else { '.' })
            .collect();
        let failed = match self.failed {
            0 => String::new(),
            failed => format!(", {failed} not passed"),
        };
        let left = elapsed.mul_f64((self.total - self.done) as f64 / self.done.max(1) as f64);
        let mut line = format!(
            "{} [{bar}] {:>width$}/{}{failed}, {} left  ",
            self.what,
            self.done,
            self.total,
            span(left),
        );
        // A line that is broken cannot be written anew.
        let room = WIDTH.saturating_sub(line.chars().count());
        line.extend(now.chars().take(room));
        line
    }

    /// Takes the line away until the next step, so that something else can be said.
    pub fn pause(&mut self) {
        self.finish();
        self.written = None;
    }

    /// Takes the line away.
    pub fn finish(&self) {
        if self.is_shown && self.written.is_some() {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
    }
}

fn is_shown() -> bool {
    std::io::stderr().is_terminal() && !loudness::is_quiet()
}

/// A line on a terminal while something runs whose end cannot be told; it goes when this is dropped.
pub struct Meanwhile {
    is_shown: bool,
}

impl Meanwhile {
    #[must_use]
    pub fn show(what: &str) -> Self {
        let is_shown = is_shown();
        if is_shown {
            let mut stderr = std::io::stderr().lock();
            let _ = write!(stderr, "\r\x1b[K{what} ...");
            let _ = stderr.flush();
        }
        Meanwhile { is_shown }
    }
}

impl Drop for Meanwhile {
    fn drop(&mut self) {
        if self.is_shown {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
    }
}

/// A span of time for people: `40 ms`, `4.2 s`, `12 s`, `3 min 5 s`, `2 h 10 min`.
#[must_use]
pub fn span(duration: Duration) -> String {
    let seconds = duration.as_secs();
    match seconds {
        0 => format!("{} ms", duration.as_millis()),
        1..=9 => format!("{:.1} s", duration.as_secs_f64()),
        10..=59 => format!("{seconds} s"),
        60..=3599 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3600, seconds / 60 % 60),
    }
}

/// A size for people: `640 bytes`, `12.0 KB`, `3.4 MB`, `1.2 GB`.
#[must_use]
pub fn size(bytes: u64) -> String {
    match bytes {
        0..=999 => format!("{bytes} bytes"),
        1_000..=999_999 => format!("{:.1} KB", bytes as f64 / 1e3),
        1_000_000..=999_999_999 => format!("{:.1} MB", bytes as f64 / 1e6),
        _ => format!("{:.1} GB", bytes as f64 / 1e9),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_says_how_far_and_how_long() {
        let mut progress = Progress::new("recording", 200);
        progress.done = 50;
        progress.failed = 2;
        assert_eq!(
            progress.line("suite_one", Duration::from_secs(30)),
            "recording [#####...............]  50/200, 2 not passed, 1 min 30 s left  suite_"
        );
    }

    #[test]
    fn spans_and_sizes_are_short() {
        assert_eq!(span(Duration::from_millis(430)), "430 ms");
        assert_eq!(span(Duration::from_millis(4300)), "4.3 s");
        assert_eq!(span(Duration::from_secs(185)), "3 min 5 s");
        assert_eq!(span(Duration::from_secs(7800)), "2 h 10 min");
        assert_eq!(size(640), "640 bytes");
        assert_eq!(size(3_400_000), "3.4 MB");
        assert_eq!(size(1_250_000_000), "1.2 GB");
    }
}
