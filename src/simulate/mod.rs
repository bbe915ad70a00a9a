//! The experiment of Kim and Porter on a fault matrix: every technique, both evolution models, many repetitions.

pub mod evolution;
pub mod matrix;
pub mod statistics;

use crate::order::draw::Draw;
use crate::order::smoothed::Alphas;
use crate::order::technique::Technique;

use self::evolution::{Model, Trial, evolve};
use self::matrix::Matrix;

/// The settings of the experiment; by default those of the paper.
#[derive(Debug, Clone)]
pub struct Settings {
    /// n of lru(n), random(n) and safe-random(n) (section 5.4.1).
    pub percents: Vec<f64>,
    /// Section 5.4.1. The paper repeats with other test suites; here the draws differ.
    pub repetitions: usize,
    /// The cutoff (section 5.2.1).
    pub sessions: usize,
    /// The smoothing constant of lru (section 4.1).
    pub alpha: f64,
    pub seed: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            percents: vec![5.0, 10.0, 20.0],
            repetitions: 100,
            sessions: 50,
            alpha: Alphas::default().execution,
            seed: 0,
        }
    }
}

/// What one technique came to under one model.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// As the paper writes it: `lru(5)`.
    pub name: String,
    pub technique: Technique,
    /// The age of every fault in every repetition.
    pub ages: Vec<f64>,
    /// The tests that ran in each repetition, in percent: under Model 1 of what retest-all runs (section 6.1.2), under Model 2 of the suite (section 6.2.2).
    pub efforts: Vec<f64>,
    /// The same for the time that the tests took.
    pub times: Vec<f64>,
    /// The share of faults that were never found, in percent.
    pub missed: f64,
}

/// Tries every technique under a model, in the order of the paper's tables.
#[must_use]
pub fn simulate(matrix: &Matrix, model: Model, settings: &Settings) -> Vec<Row> {
    let whole = [Technique::Safe, Technique::All, Technique::Minimize];
    let whole = whole.into_iter().map(|technique| (technique, None));
    let part = [Technique::Lru, Technique::Random, Technique::SafeRandom];
    let part = part.into_iter().flat_map(|technique| {
        let percents = settings.percents.iter().copied();
        percents.map(move |percent| (technique, Some(percent)))
    });
    whole
        .chain(part)
        .map(|(technique, percent)| row(matrix, model, settings, technique, percent))
        .collect()
}

fn row(
    matrix: &Matrix,
    model: Model,
    settings: &Settings,
    technique: Technique,
    percent: Option<f64>,
) -> Row {
    let mut row = Row {
        name: match percent {
            Some(percent) => format!("{technique}({percent})"),
            None => technique.to_string(),
        },
        technique,
        ages: Vec::new(),
        efforts: Vec::new(),
        times: Vec::new(),
        missed: 0.0,
    };
    let sessions = match model {
        Model::One => matrix.versions.len(),
        Model::Two => 1,
    };
    let runs = (matrix.tests.len() * sessions) as f64;
    let suite: f64 = matrix
        .tests
        .iter()
        .map(|test| test.milliseconds as f64)
        .sum();
    let time = suite * sessions as f64;
    let mut draw = Draw::new(settings.seed);
    let mut missed = 0;
    for _ in 0..settings.repetitions {
        let outcome = evolve(
            matrix,
            &Trial {
                model,
                technique,
                percent: percent.unwrap_or(100.0),
                sessions: settings.sessions,
                alpha: settings.alpha,
                seed: draw.number(),
            },
        );
        row.ages
            .extend(outcome.ages.iter().map(|age| f64::from(*age)));
        row.efforts
            .push(100.0 * outcome.runs as f64 / runs.max(1.0));
        row.times
            .push(100.0 * outcome.milliseconds as f64 / time.max(1.0));
        missed += outcome.missed;
    }
    row.missed = 100.0 * missed as f64 / row.ages.len().max(1) as f64;
    row
}
