//! The last step of a selection: which tests run now, in which order; and which are owed.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use crate::config::Config;
use crate::error::{Error, Result};
use crate::exit_code::ExitCode;
use crate::history::Outcome;
use crate::order::budget::{Limit, Wanted, fit};
use crate::order::owed::by_age;
use crate::order::safe_random::{Kept, Repository};
use crate::order::shard::Shard;
use crate::order::technique::{Session, Technique, choose};
use crate::order::{Order, Parameters, Ticket, order};
use crate::select::{Plan, Planned, Reason};

use super::Selection;

/// How the user wants tests to be chosen and ordered.
#[derive(Debug, Clone)]
pub struct Wishes {
    pub order: Order,
    pub parameters: Parameters,
    pub technique: Technique,
    pub limits: Vec<Limit>,
    pub shard: Option<Shard>,
}

impl Wishes {
    /// All that is selected, in the order of the configuration.
    #[must_use]
    pub fn all(config: &Config) -> Self {
        Wishes {
            order: config.order,
            parameters: config.parameters,
            technique: Technique::Safe,
            limits: Vec::new(),
            shard: None,
        }
    }
}

/// What there is to say about it.
#[derive(Debug, Clone, Default)]
pub struct Arrangement {
    /// Places of the tests that no such limit lets run.
    pub too_large: Vec<usize>,
    /// How many selected tests are left to other shards.
    pub elsewhere: usize,
}

/// Orders what is selected, as far as it is to run. `needs` tells for a test without which others it cannot run.
pub fn arrange(
    selection: &mut Selection,
    wishes: &Wishes,
    needs: &dyn Fn(usize) -> Vec<usize>,
) -> Result<Arrangement> {
    let session = selection.latest.session;
    let plan = &mut selection.plan;
    let tickets = tickets(plan, session, &wishes.parameters);
    let selected: Vec<usize> = plan.selected().collect();
    let mut arrangement = Arrangement::default();
    let is_drawn = wishes.technique != Technique::Safe;
    let needed: Vec<Vec<usize>> =
        match wishes.limits.is_empty() && wishes.shard.is_none() && !is_drawn {
            true => Vec::new(),
            false => (0..tickets.len()).map(needs).collect(),
        };
    let mut run = chosen(plan, &tickets, &selected, session, wishes)?;
    if is_drawn {
        let with_needs = run
            .iter()
            .flat_map(|place| needed[*place].iter().chain([place]));
        let all: BTreeSet<usize> = with_needs.copied().collect();
        run = all.into_iter().collect();
    }
    let of = |places: &[usize]| -> Vec<Ticket> {
        places.iter().map(|place| tickets[*place].clone()).collect()
    };
    let places = order(&of(&run), wishes.order, &wishes.parameters).into_iter();
    run = places.map(|place| run[place]).collect();
    if !wishes.limits.is_empty() {
        // Who ran well on this very tree tells nothing new.
        run.sort_by_key(|place| plan.tests[*place].ran_here);
    }
    if let Some(shard) = wishes.shard {
        let groups = groups(&run, &needed);
        let part: BTreeSet<usize> = shard.part(&of(&run), &groups).into_iter().collect();
        let all = run.len();
        let mut place = 0;
        run.retain(|_| {
            place += 1;
            part.contains(&(place - 1))
        });
        arrangement.elsewhere = all - run.len();
    }
    let has_room = wishes.technique.has_room();
    let shared = if has_room { 1 } else { 0 };
    for limit in wishes.limits.iter().skip(shared) {
        let is_there: BTreeSet<usize> = run.iter().copied().collect();
        let mut debts = debts(plan);
        debts.retain(|place| is_there.contains(place));
        let wanted = Wanted {
            tickets: &tickets,
            order: &run,
            debts: &debts,
            suite: plan.tests.len(),
        };
        let fit = fit(&wanted, *limit, |place| needed[place].as_slice());
        arrangement.too_large.extend(fit.too_large);
        run = fit.run;
    }
    if wishes.shard.is_none() {
        let runs: BTreeSet<usize> = run.iter().copied().collect();
        let left = selected.into_iter();
        let left = left.filter(|place| !runs.contains(place) && !plan.tests[*place].ran_here);
        plan.owed = left.collect();
    }
    for place in &run {
        if !plan.tests[*place].is_selected() {
            let reason = Reason::Drawn(wishes.technique);
            plan.tests[*place].reasons.push(reason);
        }
    }
    plan.order = run;
    Ok(arrangement)
}

/// Each test with what it needs, as places in what is to run.
fn groups(run: &[usize], needed: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let places = run.iter().enumerate().map(|(at, place)| (*place, at));
    let places: FxHashMap<usize, usize> = places.collect();
    let group = |place: &usize| {
        let all = needed[*place].iter().chain([place]);
        all.filter_map(|wanted| places.get(wanted).copied())
            .collect()
    };
    run.iter().map(group).collect()
}

/// What the technique chooses from the suite.
fn chosen(
    plan: &Plan,
    tickets: &[Ticket],
    selected: &[usize],
    session: u64,
    wishes: &Wishes,
) -> Result<Vec<usize>> {
    let technique = wishes.technique;
    let suite = tickets.len().max(1) as f64;
    let percent = match wishes.limits.first() {
        Some(Limit::Share(percent)) => *percent,
        Some(Limit::Count(tests)) => (*tests as f64 * 100.0 / suite).min(100.0),
        _ if technique.has_room() => {
            return Err(Error::new(format!(
                "the technique '{technique}' chooses a part of the tests, and nobody says how large"
            ))
            .hint("say it with '--limit 25%' or '--limit 40'")
            .exit_code(ExitCode::Usage));
        }
        _ => 100.0,
    };
    let kept = debts(plan).into_iter().filter_map(|place| {
        Some(Kept {
            test: plan.tests[place].name.clone(),
            since: plan.tests[place].owed.as_ref()?.at,
        })
    });
    let repository = Repository {
        kept: kept.collect(),
    };
    let chosen = choose(
        technique,
        &Session {
            suite: tickets,
            selected,
            percent,
            number: u64::MAX,
            // Another draw in each session, the same on every machine.
            seed: wishes.parameters.seed.wrapping_add(session),
        },
        &repository,
    );
    let mut run = chosen.run;
    if technique == Technique::Minimize {
        // Who is selected for another reason than a dangerous edge has nobody to stand in for it.
        run.extend(selected.iter().filter(|place| {
            tickets[**place].dangers.is_empty() && tickets[**place].doubts.is_empty()
        }));
    }
    Ok(run)
}

/// The places of the tests that are owed, the oldest debt first.
fn debts(plan: &Plan) -> Vec<usize> {
    let tests = plan.tests.iter().enumerate();
    by_age(tests.filter_map(|(place, test)| {
        let debt = test.owed.as_ref()?;
        test.is_selected().then_some((place, debt))
    }))
}

/// What the order knows of the tests. Dangerous edges are numbered from danger to danger.
fn tickets(plan: &Plan, session: u64, parameters: &Parameters) -> Vec<Ticket> {
    let mut numbers = std::collections::BTreeMap::new();
    let mut number = |danger: (usize, Option<usize>)| {
        let next = numbers.len() as u32;
        *numbers.entry(danger).or_insert(next)
    };
    // Where some test is known to cross edges, having entered is no reason to come before it.
    let reasons = plan.tests.iter().flat_map(|test| &test.reasons);
    let known: BTreeSet<usize> = reasons
        .filter_map(|reason| match reason {
            Reason::Danger(hit) if !hit.edges.is_empty() => Some(hit.danger),
            _ => None,
        })
        .collect();
    let ticket = |test: &Planned| {
        let experience = test.experience.as_ref();
        let has_run = experience.filter(|experience| experience.session > 0);
        let missed = has_run.map(|experience| session.saturating_sub(experience.session));
        let missed = missed.map(|missed| u32::try_from(missed).unwrap_or(u32::MAX));
        let memory = experience.map(|experience| experience.memory);
        let (mut dangers, mut doubts) = (Vec::new(), Vec::new());
        for reason in &test.reasons {
            if let Reason::Danger(hit) = reason {
                match &*hit.edges {
                    [] if known.contains(&hit.danger) => {
                        doubts.push(number((hit.danger, None)));
                    }
                    [] => dangers.push(number((hit.danger, None))),
                    edges => {
                        dangers.extend(edges.iter().map(|edge| number((hit.danger, Some(*edge)))));
                    }
                }
            }
        }
        let has = |wanted: &dyn Fn(&Reason) -> bool| test.reasons.iter().any(wanted);
        Ticket {
            name: test.name.clone(),
            milliseconds: test.milliseconds,
            failed_last: has(
                &|reason| matches!(reason, Reason::NotPassed(outcome, _) if *outcome != Outcome::NotRun),
            ),
            is_new: has(&|reason| *reason == Reason::New),
            is_changed: has(&|reason| *reason == Reason::Redefined),
            memory: memory
                .unwrap_or_default()
                .after_missed(missed.unwrap_or(0), &parameters.alphas),
            dangers,
            doubts,
            since_run: missed,
        }
    };
    plan.tests.iter().map(ticket).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::witness::source::Hit;

    fn planned(edges: &[usize]) -> Planned {
        let hit = Hit {
            danger: 0,
            edges: edges.to_vec().into(),
        };
        Planned {
            name: "test".to_owned(),
            reasons: vec![Reason::Danger(hit)],
            milliseconds: None,
            experience: None,
            owed: None,
            ran_here: false,
            definition: Vec::new(),
        }
    }

    #[test]
    fn having_entered_is_not_crossing_where_others_are_known_to_cross() {
        let numbers = |tests: Vec<Planned>| -> Vec<(usize, usize)> {
            let plan = Plan {
                tests,
                ..Plan::default()
            };
            let tickets = tickets(&plan, 1, &Parameters::default());
            let counts = tickets.iter();
            counts
                .map(|ticket| (ticket.dangers.len(), ticket.doubts.len()))
                .collect()
        };
        assert_eq!(
            numbers(vec![planned(&[3, 5]), planned(&[])]),
            [(2, 0), (0, 1)]
        );
        assert_eq!(numbers(vec![planned(&[]), planned(&[])]), [(1, 0), (1, 0)]);
    }
}
