//! The experiment of Kim and Porter on generated fault matrices: their findings, and the command that shows them.

#![allow(clippy::unwrap_used)]

mod fault_matrix;
mod test_repo;

use std::fs;
use std::process::Output;
use std::sync::LazyLock;

use git_rts::simulate::evolution::Model;
use git_rts::simulate::matrix::Matrix;
use git_rts::simulate::statistics::{deviation, mean};
use git_rts::simulate::{Row, Settings, simulate};

use test_repo::TestRepo;

/// So many programs, as the paper has eight.
const PROGRAMS: u64 = 8;
const PERCENTS: [&str; 3] = ["5", "10", "20"];

static MODEL_1: LazyLock<Vec<Row>> = LazyLock::new(|| pooled(Model::One));
static MODEL_2: LazyLock<Vec<Row>> = LazyLock::new(|| pooled(Model::Two));

/// The rows of all programs together.
fn pooled(model: Model) -> Vec<Row> {
    let settings = Settings {
        repetitions: 12,
        ..Settings::default()
    };
    let of = |seed| {
        simulate(
            &Matrix::parse(&fault_matrix::matrix(seed)).unwrap(),
            model,
            &settings,
        )
    };
    let mut pooled = of(1);
    for seed in 2..=PROGRAMS {
        for (row, other) in pooled.iter_mut().zip(of(seed)) {
            assert_eq!(row.name, other.name);
            row.ages.extend(other.ages);
            row.efforts.extend(other.efforts);
            row.missed += other.missed;
        }
    }
    pooled
}

#[track_caller]
fn row<'r>(rows: &'r [Row], name: &str) -> &'r Row {
    rows.iter().find(|row| row.name == name).unwrap()
}

#[track_caller]
fn is_less(rows: &[Row], measure: fn(&Row) -> f64, one: &str, other: &str) {
    let (less, more) = (measure(row(rows, one)), measure(row(rows, other)));
    assert!(less < more, "{one}: {less:.2}, {other}: {more:.2}");
}

fn age(row: &Row) -> f64 {
    mean(&row.ages)
}

fn effort(row: &Row) -> f64 {
    mean(&row.efforts)
}

fn age_deviation(row: &Row) -> f64 {
    deviation(&row.ages)
}

#[test]
fn safe_and_retest_all_find_every_fault_at_once_in_model_1() {
    let rows = &*MODEL_1;
    for name in ["safe", "all"] {
        assert!(row(rows, name).ages.iter().all(|age| *age == 1.0), "{name}");
    }
    assert!(
        row(rows, "all")
            .efforts
            .iter()
            .all(|effort| *effort == 100.0)
    );
    is_less(rows, effort, "safe", "all");
}

#[test]
fn minimization_has_the_least_effort_and_the_greatest_age() {
    for rows in [&*MODEL_1, &*MODEL_2] {
        for other in rows.iter().filter(|row| row.name != "minimize") {
            is_less(rows, effort, "minimize", &other.name);
            is_less(rows, age, &other.name, "minimize");
        }
    }
}

#[test]
fn lru_varies_less_than_random_and_finds_every_fault() {
    for rows in [&*MODEL_1, &*MODEL_2] {
        for n in PERCENTS {
            let (lru, random) = (format!("lru({n})"), format!("random({n})"));
            is_less(rows, age_deviation, &lru, &random);
            assert_eq!(row(rows, &lru).missed, 0.0, "{lru}");
        }
    }
}

#[test]
fn safe_random_finds_faults_earlier_and_with_less_effort_than_random() {
    for rows in [&*MODEL_1, &*MODEL_2] {
        for n in PERCENTS {
            let (safe, random) = (format!("safe-random({n})"), format!("random({n})"));
            is_less(rows, age, &safe, &random);
            is_less(rows, effort, &safe, &random);
        }
    }
}

#[test]
fn more_room_means_younger_faults() {
    for rows in [&*MODEL_1, &*MODEL_2] {
        for technique in ["lru", "random", "safe-random"] {
            for (less, more) in [("5", "10"), ("10", "20")] {
                is_less(
                    rows,
                    age,
                    &format!("{technique}({more})"),
                    &format!("{technique}({less})"),
                );
            }
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_numbers_and_another_gives_others() {
    let matrix = Matrix::parse(&fault_matrix::matrix(3)).unwrap();
    let with = |seed| {
        let settings = Settings {
            repetitions: 3,
            seed,
            ..Settings::default()
        };
        simulate(&matrix, Model::One, &settings)
    };
    assert_eq!(with(1), with(1));
    assert_ne!(with(1), with(2));
}

/// The numbers in `docs/ordering.md` are from this file.
#[test]
fn the_matrix_of_the_documentation_is_the_generated_one() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/fault_matrix/generated.tsv"
    );
    let generated = fault_matrix::matrix(1);
    if std::env::var_os("WRITE_FAULT_MATRIX").is_some() {
        fs::write(path, &generated).unwrap();
    }
    assert!(
        fs::read_to_string(path).unwrap() == generated,
        "write it again with WRITE_FAULT_MATRIX=1"
    );
}

// The binary

fn rts(folder: &TestRepo, arguments: &[&str]) -> Output {
    folder.rts(&[&["simulate"], arguments].concat())
}

fn stdout(output: &Output) -> &str {
    std::str::from_utf8(&output.stdout).unwrap()
}

fn stderr(output: &Output) -> &str {
    std::str::from_utf8(&output.stderr).unwrap()
}

const QUICK: [&str; 2] = ["--repetitions", "2"];

#[test]
fn tables_are_printed_and_boxes_drawn_outside_of_any_repository() {
    let folder = TestRepo::empty_folder();
    folder.write("faults.tsv", fault_matrix::matrix(1));
    let output = rts(
        &folder,
        &[
            &["faults.tsv", "--svg", "boxes.svg", "-n", "5,12.5"],
            &QUICK[..],
        ]
        .concat(),
    );
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    for words in [
        "Model 1",
        "Model 2",
        "retest-all",
        "minimize",
        "lru(12.5)",
        "safe-random(5)",
        "never",
    ] {
        assert!(
            stdout(&output).contains(words),
            "'{words}' in {}",
            stdout(&output)
        );
    }
    let drawn = fs::read_to_string(folder.top().join("boxes.svg")).unwrap();
    // Nine techniques in four figures.
    assert_eq!(drawn.matches("class=\"median\"").count(), 36);
    let again = rts(
        &folder,
        &[&["faults.tsv", "-n", "5,12.5"], &QUICK[..]].concat(),
    );
    assert_eq!(stdout(&again), stdout(&output));
}

#[test]
fn broken_matrices_are_refused_with_the_line_and_a_hint() {
    let folder = TestRepo::empty_folder();
    let good = fault_matrix::matrix(1);
    for (text, words) in [
        (String::new(), "not a fault matrix"),
        ("\u{0}\u{1}ELF".to_owned(), "not a fault matrix"),
        ("fault-matrix\t1\n".to_owned(), "no test"),
        (good.replacen("version\tv1\n", "", 1), "line 102: "),
        (good.replacen("reveals\tt", "reveals\tx", 1), "is not known"),
    ] {
        folder.write("faults.tsv", &text);
        let output = rts(&folder, &["faults.tsv"]);
        assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
        assert_eq!(stdout(&output), "");
        for words in ["error: 'faults.tsv': ", words, "hint: "] {
            assert!(
                stderr(&output).contains(words),
                "'{words}' in {}",
                stderr(&output)
            );
        }
    }
}

#[test]
fn a_file_that_is_not_there_is_code_1_and_wrong_usage_is_code_2() {
    let folder = TestRepo::empty_folder();
    folder.write("faults.tsv", fault_matrix::matrix(1));
    for (arguments, code) in [
        (&["none.tsv"][..], 1),
        (&["."], 1),
        (
            &[
                "faults.tsv",
                "--svg",
                "no/such/folder.svg",
                "--repetitions",
                "1",
            ],
            1,
        ),
        (&[], 2),
        (&["faults.tsv", "-n", "0"], 2),
        (&["faults.tsv", "-n", "101"], 2),
        (&["faults.tsv", "--alpha", "2"], 2),
        (&["faults.tsv", "--repetitions", "0"], 2),
        (&["faults.tsv", "--sessions", "5"], 2),
    ] {
        let output = rts(&folder, arguments);
        assert_eq!(
            output.status.code(),
            Some(code),
            "{arguments:?}: {}",
            stderr(&output)
        );
        assert_eq!(stdout(&output), "");
        assert!(stderr(&output).contains("error: "), "{}", stderr(&output));
    }
}
