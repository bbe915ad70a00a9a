//! `git rts simulate`: what the techniques of test selection come to over many versions.

use std::path::{Path, PathBuf};

use clap::Args;

use crate::commands::output::print;
use crate::emit::box_plot::{Plot, svg};
use crate::emit::simulation_text::{effort_unit, model_title, table};
use crate::error::{Error, Result};
use crate::exit_code::ExitCode;
use crate::simulate::evolution::Model;
use crate::simulate::matrix::Matrix;
use crate::simulate::{Row, Settings, simulate};

/// Replay a fault matrix through every technique, and tell how long faults live and what testing costs
///
/// Repeats the experiment of Kim and Porter (ICSE 2002): the techniques safe, all, minimize, lru(n), random(n) and safe-random(n), under two models. In Model 1 each session brings the next version with its faults; in Model 2 all faults are there at once, and what a session finds is corrected before the next. The age of a fault is the number of sessions in which it was there.
///
/// A fault matrix is a text file whose fields are separated by tabs; lines that begin with '#' are not read:
///
///   fault-matrix  1
///   test     NAME  MILLISECONDS
///   version  NAME
///   crosses  TEST  EDGE...
///   reveals  TEST  FAULT...
///
/// All tests come first. After each version: the tests that the safe technique selects for its change, with the dangerous edges that each crosses, and the tests that reveal the faults which came with it.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub struct Simulate {
    /// The file with the fault matrix
    #[arg(value_name = "MATRIX")]
    matrix: PathBuf,
    /// Also draw the distributions as box plots, as SVG
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// How many percent of the suite lru(n), random(n) and safe-random(n) run
    #[arg(short, long = "percent", value_name = "N", value_delimiter = ',', default_values_t = [5.0, 10.0, 20.0], value_parser = percent)]
    n: Vec<f64>,
    /// How often everything is repeated with other draws
    #[arg(long, value_name = "TIMES", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    repetitions: u32,
    /// After how many sessions testing ends, whatever was not found
    #[arg(long, value_name = "COUNT", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    sessions: u32,
    /// The smoothing constant of lru: nearly 0 for who was left out for longest, 1 for whoever was left out last time
    #[arg(long, default_value_t = Settings::default().alpha, value_parser = alpha)]
    alpha: f64,
    /// The number from which everything random is drawn
    #[arg(long, default_value_t = 0)]
    seed: u64,
}

pub(super) fn run(arguments: &Simulate) -> Result<()> {
    let matrix = read(&arguments.matrix)?;
    let sessions = arguments.sessions as usize;
    if matrix.versions.len() > sessions {
        let versions = matrix.versions.len();
        return Err(Error::new(format!(
            "{versions} versions cannot be tested in {sessions} sessions"
        ))
        .hint(format!(
            "'--sessions {}' leaves some for what is not found at once",
            versions + 50
        ))
        .exit_code(ExitCode::Usage));
    }
    let settings = Settings {
        percents: arguments.n.clone(),
        repetitions: arguments.repetitions as usize,
        sessions,
        alpha: arguments.alpha,
        seed: arguments.seed,
    };
    let models = [Model::One, Model::Two];
    let results = models.map(|model| (model, simulate(&matrix, model, &settings)));
    if let Some(path) = &arguments.svg {
        std::fs::write(path, picture(&results))
            .map_err(|error| Error::new(format!("cannot write '{}': {error}", path.display())))?;
    }
    let tables = results.iter().map(|(model, rows)| table(*model, rows));
    print(&tables.collect::<Vec<_>>().join("\n"))
}

fn read(path: &Path) -> Result<Matrix> {
    let text = std::fs::read(path).map_err(|error| {
        Error::new(format!("cannot read '{}': {error}", path.display()))
            .hint("name a file with a fault matrix; 'git rts simulate --help' describes it")
    })?;
    let text = String::from_utf8_lossy(&text);
    Matrix::parse(&text).map_err(|error| Error {
        message: format!("'{}': {error}", path.display()),
        ..error
    })
}

/// The four figures of the paper.
fn picture(results: &[(Model, Vec<Row>)]) -> String {
    let mut titles = Vec::new();
    for (model, _) in results {
        titles.push(format!("Fault age, {}", model_title(*model)));
        titles.push(format!("Total effort, {}", model_title(*model)));
    }
    let mut titles = titles.iter();
    let mut plots = Vec::new();
    for (model, rows) in results {
        let ages = rows
            .iter()
            .map(|row| (row.name.as_str(), row.ages.as_slice()));
        let efforts = rows
            .iter()
            .map(|row| (row.name.as_str(), row.efforts.as_slice()));
        let both = [
            ("sessions", ages.collect()),
            (effort_unit(*model), efforts.collect()),
        ];
        for ((unit, boxes), title) in both.into_iter().zip(titles.by_ref()) {
            plots.push(Plot { title, unit, boxes });
        }
    }
    svg(&plots)
}

fn percent(text: &str) -> std::result::Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(percent) if percent > 0.0 && percent <= 100.0 => Ok(percent),
        _ => Err("it must be above 0 and at most 100".to_owned()),
    }
}

fn alpha(text: &str) -> std::result::Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(alpha) if (0.0..=1.0).contains(&alpha) => Ok(alpha),
        _ => Err("it must be between 0 and 1".to_owned()),
    }
}
