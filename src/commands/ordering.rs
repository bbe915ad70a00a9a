//! The options by which tests are chosen and ordered, which `select` and `run` share.

use std::str::FromStr;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};

use crate::commands::values::with_hints;
use crate::config::Config;
use crate::emit::plan_text::count;
use crate::error::{Error, Result};
use crate::exit_code::ExitCode;
use crate::order::budget::Limit;
use crate::order::shard::Shard;
use crate::order::technique::Technique;
use crate::order::{Order, Parameters, ci};
use crate::selection::{Arrangement, Selection, Wishes};

#[derive(Debug, Args)]
pub(super) struct Ordering {
    /// Which tests come first: history, lru, faults, coverage, fastest, random, listed [default: history]
    #[arg(long, value_name = "ORDER", hide_possible_values = true, value_parser = among::<Order>(&Order::ALL.map(Order::name)))]
    order: Option<Order>,
    /// Only the best tests that fit into a time, such as 90s; the others stay selected, and a run keeps them as owed
    #[arg(long, value_name = "TIME", value_parser = with_hints::<Limit>)]
    budget: Option<Limit>,
    /// Only so many of the best tests, such as 40, or such a share of all, such as 25%; the others stay selected, and a run keeps them as owed
    #[arg(long, value_name = "TESTS", value_parser = with_hints::<Limit>)]
    limit: Option<Limit>,
    /// How tests are chosen: safe, minimize, safe-random, lru, random, all; only 'safe' and 'all' miss nothing
    #[arg(long, value_name = "NAME", default_value_t = Technique::Safe, hide_possible_values = true, value_parser = among::<Technique>(&Technique::ALL.map(Technique::name)))]
    technique: Technique,
    /// Only one part of several, such as 2/5, for machines side by side; 'auto' asks the CI system which
    #[arg(long, value_name = "K/N")]
    shard: Option<String>,
    /// Where draws at random begin [default: 0]
    #[arg(long, value_name = "NUMBER")]
    seed: Option<u64>,
}

/// One of some names, told to whoever writes another.
fn among<T>(names: &[&'static str]) -> impl TypedValueParser<Value = T> + use<T>
where
    T: FromStr<Err = Error> + Clone + Send + Sync + 'static,
{
    PossibleValuesParser::new(names.to_vec()).try_map(|name| name.parse::<T>())
}

impl Ordering {
    /// What is wished for, with the configuration behind it. Time counts for each of the jobs that run at once.
    pub(super) fn wishes(&self, config: &Config, jobs: usize) -> Result<Wishes> {
        let wrong = |option: &str, what: &str| {
            let error = Error::new(format!("'{option}' is for {what}"));
            Err(error.exit_code(ExitCode::Usage))
        };
        let mut limits = Vec::new();
        match self.limit {
            Some(Limit::Time(_)) => {
                return wrong("--limit", "a number or a share; '--budget' is for time");
            }
            limit => limits.extend(limit),
        }
        match self.budget {
            Some(Limit::Time(time)) => limits.push(Limit::Time(time.saturating_mul(jobs as u64))),
            Some(_) => return wrong("--budget", "a time; '--limit' is for a number or a share"),
            None => {}
        }
        let parameters = Parameters {
            seed: self.seed.unwrap_or(config.parameters.seed),
            ..config.parameters
        };
        if !limits.is_empty() && self.is_shard() {
            return Err(Error::new(
                "a shard keeps nothing, so what does not fit could not be owed",
            )
            .hint("leave out '--budget' and '--limit', or '--shard'")
            .exit_code(ExitCode::Usage));
        }
        Ok(Wishes {
            order: self.order.unwrap_or(config.order),
            parameters,
            technique: self.technique,
            limits,
            shard: self.shard()?,
        })
    }

    /// Whether the technique misses nothing.
    pub(super) fn is_safe(&self) -> bool {
        self.technique.is_safe()
    }

    pub(super) fn is_shard(&self) -> bool {
        self.shard.is_some()
    }

    fn shard(&self) -> Result<Option<Shard>> {
        match self.shard.as_deref() {
            None => Ok(None),
            Some("auto") => match ci::shard(|name| std::env::var(name).ok())? {
                Some(shard) => Ok(Some(shard)),
                None => Err(Error::new("no CI system says which shard this is")
                    .hint("name it: '--shard 2/5' for the second of five")
                    .exit_code(ExitCode::Usage)),
            },
            Some(text) => text
                .parse()
                .map(Some)
                .map_err(|error: Error| error.exit_code(ExitCode::Usage)),
        }
    }
}

/// What people should know about how tests were chosen.
pub(super) fn say_arrangement(selection: &Selection, wishes: &Wishes, arrangement: &Arrangement) {
    if !wishes.technique.is_safe() {
        anstream::eprintln!(
            "warning: the technique '{}' leaves out tests that may fail",
            wishes.technique
        );
    }
    if let [place, ..] = arrangement.too_large.as_slice() {
        let more = match arrangement.too_large.len() {
            1 => String::new(),
            all => format!(" and {}", count(all - 1, "more test")),
        };
        anstream::eprintln!(
            "warning: '{}'{more} can never run within this limit",
            selection.plan.tests[*place].name
        );
    }
    if arrangement.elsewhere > 0 {
        notice!(
            "{} left to other shards",
            count(arrangement.elsewhere, "test")
        );
    }
}
