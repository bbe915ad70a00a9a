//! `git rts gc`: drop the histories that nobody can use any more.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use clap::Args;

use crate::config::duration;
use crate::emit::progress::size;
use crate::error::{Error, Result};
use crate::exit_code::ExitCode;
use crate::repo::Repository;

/// Drop histories that no ref reaches or that are too old
///
/// The history of a commit that no branch, tag or remote reaches any more, and of uncommitted work that is older than two weeks, is dropped; the others stay, whatever their age, unless --older-than says otherwise.
#[derive(Debug, Args)]
pub struct Gc {
    /// Drop also what is older, for instance `30d`
    #[arg(long, value_name = "AGE")]
    older_than: Option<String>,
    /// Say what would be dropped, and drop nothing
    #[arg(long)]
    dry_run: bool,
}

/// Uncommitted work is seldom looked at again.
const UNCOMMITTED: Duration = Duration::from_secs(14 * 24 * 3600);

pub(super) fn run(arguments: &Gc) -> Result<()> {
    let repository = Repository::discover()?;
    let oldest = arguments.older_than.as_deref().map(age).transpose()?;
    let reachable = repository.reachable()?;
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    let histories = super::history::open(&repository)?;
    let mut dropped = Vec::new();
    let mut keep = |summary: &crate::history::Summary| {
        let old = now.saturating_sub(Duration::from_millis(summary.created));
        let keeps = oldest.is_none_or(|oldest| old <= oldest)
            && match summary.version.commit {
                Some(commit) => reachable.contains(&commit),
                None => old <= UNCOMMITTED,
            };
        if !keeps {
            dropped.push(super::history::name_of(summary.version));
        }
        keeps
    };
    if arguments.dry_run {
        histories.list()?.iter().for_each(|summary| {
            keep(summary);
        });
        for name in &dropped {
            anstream::eprintln!("would drop {name}");
        }
        anstream::eprintln!("{} would be dropped", count(dropped.len()));
        return Ok(());
    }
    let freed = histories.gc(&mut keep)?;
    for name in &dropped {
        notice!("dropped {name}");
    }
    if freed.histories == 0 && freed.objects == 0 {
        notice!("nothing to drop");
        return Ok(());
    }
    notice!(
        "{} dropped, {} freed",
        count(freed.histories),
        size(freed.bytes)
    );
    Ok(())
}

fn count(histories: usize) -> String {
    match histories {
        1 => "1 history".to_owned(),
        count => format!("{count} histories"),
    }
}

/// An age in days or weeks, or as any other duration.
fn age(text: &str) -> Result<Duration> {
    let bad = || {
        Error::new(format!("'{text}' is not an age"))
            .hint("write '30d', '8w' or '12h'")
            .exit_code(ExitCode::Usage)
    };
    let days = |number: &str, factor: u64| -> Result<Duration> {
        let number: u64 = number.parse().map_err(|_| bad())?;
        Ok(Duration::from_secs(
            number.saturating_mul(factor * 24 * 3600),
        ))
    };
    match (text.strip_suffix('d'), text.strip_suffix('w')) {
        (Some(number), _) => days(number, 1),
        (_, Some(number)) => days(number, 7),
        _ => duration(text).map_err(|_| bad()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_read() {
        let hours = |text| age(text).expect("it is an age").as_secs() / 3600;
        assert_eq!((hours("2d"), hours("1w"), hours("12h")), (48, 168, 12));
        for text in ["soon", "xd"] {
            let error = age(text).expect_err("it is none");
            assert!(error.hints[0].contains("30d"), "{error}");
            assert_eq!(error.exit_code, ExitCode::Usage);
        }
    }
}
