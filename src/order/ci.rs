//! Which shard this machine is, as the usual CI systems tell it.

use crate::error::{Error, Result};

use super::shard::Shard;

/// How a system says which of its parallel jobs this is.
struct System {
    name: &'static str,
    /// Set on its machines and nowhere else. Other tools use GitLab's names for numbers with another beginning.
    mark: &'static str,
    index: &'static str,
    count: &'static str,
    /// The number of the first job.
    first: usize,
}

const SYSTEMS: [System; 6] = [
    System {
        name: "GitLab",
        mark: "GITLAB_CI",
        index: "CI_NODE_INDEX",
        count: "CI_NODE_TOTAL",
        first: 1,
    },
    System {
        name: "CircleCI",
        mark: "CIRCLECI",
        index: "CIRCLE_NODE_INDEX",
        count: "CIRCLE_NODE_TOTAL",
        first: 0,
    },
    System {
        name: "Buildkite",
        mark: "BUILDKITE",
        index: "BUILDKITE_PARALLEL_JOB",
        count: "BUILDKITE_PARALLEL_JOB_COUNT",
        first: 0,
    },
    System {
        name: "Azure Pipelines",
        mark: "TF_BUILD",
        index: "SYSTEM_JOBPOSITIONINPHASE",
        count: "SYSTEM_TOTALJOBSINPHASE",
        first: 1,
    },
    System {
        name: "Semaphore",
        mark: "SEMAPHORE",
        index: "SEMAPHORE_JOB_INDEX",
        count: "SEMAPHORE_JOB_COUNT",
        first: 1,
    },
    System {
        name: "Bitbucket",
        mark: "BITBUCKET_BUILD_NUMBER",
        index: "BITBUCKET_PARALLEL_STEP",
        count: "BITBUCKET_PARALLEL_STEP_COUNT",
        first: 0,
    },
];

/// The shard that the environment tells; none where jobs are not parallel.
pub fn shard(variable: impl Fn(&str) -> Option<String>) -> Result<Option<Shard>> {
    for system in SYSTEMS
        .iter()
        .filter(|system| variable(system.mark).is_some_and(|mark| !mark.is_empty()))
    {
        let (index, count) = (variable(system.index), variable(system.count));
        let is_only_one = count.as_ref().is_some_and(|count| count.trim() == "1");
        if index.is_none() && is_only_one {
            return Shard::new(1, 1).map(Some);
        }
        let (Some(index), Some(count)) = (index, count) else {
            continue;
        };
        let number = |text: &str| text.trim().parse::<usize>().ok();
        let told = number(&index).zip(number(&count));
        let shard = told.and_then(|(index, count)| {
            let number = index.checked_add(1)?.checked_sub(system.first)?;
            Shard::new(number, count).ok()
        });
        return match shard {
            Some(shard) => Ok(Some(shard)),
            None => Err(Error::new(format!(
                "{} says {}={index} and {}={count}, which is no shard",
                system.name, system.index, system.count
            ))
            .hint("say it with '--shard', for instance '--shard 2/5'")),
        };
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(variables: &[(&str, &str)]) -> Result<Option<Shard>> {
        shard(|name| {
            let found = variables.iter().find(|(other, _)| *other == name);
            found.map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn each_system_counts_in_its_own_way() {
        for (variables, expected) in [
            (
                [
                    ("GITLAB_CI", "true"),
                    ("CI_NODE_INDEX", "2"),
                    ("CI_NODE_TOTAL", "5"),
                ],
                "2/5",
            ),
            (
                [
                    ("CIRCLECI", "true"),
                    ("CIRCLE_NODE_INDEX", "0"),
                    ("CIRCLE_NODE_TOTAL", "4"),
                ],
                "1/4",
            ),
            (
                [
                    ("BUILDKITE", "true"),
                    ("BUILDKITE_PARALLEL_JOB", "2"),
                    ("BUILDKITE_PARALLEL_JOB_COUNT", "3"),
                ],
                "3/3",
            ),
            (
                [
                    ("TF_BUILD", "True"),
                    ("SYSTEM_JOBPOSITIONINPHASE", "1"),
                    ("SYSTEM_TOTALJOBSINPHASE", "2"),
                ],
                "1/2",
            ),
            (
                [
                    ("SEMAPHORE", "true"),
                    ("SEMAPHORE_JOB_INDEX", "4"),
                    ("SEMAPHORE_JOB_COUNT", "4"),
                ],
                "4/4",
            ),
            (
                [
                    ("BITBUCKET_BUILD_NUMBER", "7"),
                    ("BITBUCKET_PARALLEL_STEP", "0"),
                    ("BITBUCKET_PARALLEL_STEP_COUNT", "2"),
                ],
                "1/2",
            ),
        ] {
            let shard = told(&variables).expect("it is one").expect("it is told");
            assert_eq!(shard.to_string(), expected);
        }
    }

    #[test]
    fn a_job_that_is_not_parallel_is_the_only_shard() {
        assert_eq!(told(&[]).expect("fine"), None);
        assert_eq!(told(&[("GITLAB_CI", "")]).expect("fine"), None);
        assert_eq!(
            told(&[("GITLAB_CI", "true"), ("CI_NODE_TOTAL", "1")]).expect("fine"),
            Shard::new(1, 1).ok()
        );
        // Not GitLab's: other tools count from 0 in variables of this name.
        assert_eq!(
            told(&[("CI_NODE_INDEX", "0"), ("CI_NODE_TOTAL", "2")]).expect("fine"),
            None
        );
    }

    #[test]
    fn nonsense_is_refused_with_a_hint() {
        for (index, count) in [
            ("0", "5"),
            ("6", "5"),
            ("x", "5"),
            ("1", ""),
            ("18446744073709551615", "5"),
        ] {
            let variables = [
                ("GITLAB_CI", "true"),
                ("CI_NODE_INDEX", index),
                ("CI_NODE_TOTAL", count),
            ];
            let error = told(&variables).expect_err("it is none");
            assert!(!error.hints.is_empty(), "{index}/{count}");
        }
    }
}
