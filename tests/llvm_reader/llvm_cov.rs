//! What LLVM's own tools say about a binary and a profile.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::ours::Function;
use crate::toolchain::Bench;

/// The functions as llvm-cov exports them.
pub(crate) fn functions(bench: &Bench, binary: &Path, profile: &Path) -> Vec<Function> {
    let merged = profile.with_extension("profdata");
    let (binary, profile) = (binary.to_str().unwrap(), profile.to_str().unwrap());
    let target = merged.to_str().unwrap();
    bench.llvm("profdata", &["merge", profile, "-o", target]);
    let text = bench.llvm(
        "cov",
        &["export", "-format=text", "-instr-profile", target, binary],
    );
    let exported: Value = serde_json::from_str(&text).unwrap();
    let mut functions: Vec<Function> = exported["data"][0]["functions"]
        .as_array()
        .unwrap()
        .iter()
        .map(function)
        .collect();
    functions.sort();
    functions
}

fn function(value: &Value) -> Function {
    let name = value["name"].as_str().unwrap();
    let files = value["filenames"].as_array().unwrap();
    Function {
        // With its file, if that is not the absolute path.
        name: name.rsplit([':', ';']).next().unwrap().to_owned(),
        files: files
            .iter()
            .map(|file| {
                PathBuf::from(file.as_str().unwrap())
                    .canonicalize()
                    .unwrap()
            })
            .collect(),
        regions: rows(&value["regions"]),
        branches: rows(&value["branches"])
            .into_iter()
            .map(|mut row: [u64; 9]| {
                // A condition of MC/DC is a branch too.
                row[8] = if row[8] == 6 { 4 } else { row[8] };
                row
            })
            .collect(),
    }
}

fn rows<const N: usize>(value: &Value) -> Vec<[u64; N]> {
    let rows = value.as_array().unwrap().iter();
    rows.map(|row| {
        let numbers: Vec<u64> = row.as_array().unwrap().iter().map(count).collect();
        numbers.try_into().unwrap()
    })
    .collect()
}

/// A difference below zero comes out as the greatest number.
fn count(value: &Value) -> u64 {
    match value.as_u64().unwrap() {
        number if number == i64::MAX as u64 => 0,
        number => number,
    }
}

/// Name, hash and counters of each record, as llvm-profdata shows them.
pub(crate) fn records(bench: &Bench, profile: &Path) -> Vec<(String, u64, Vec<u64>)> {
    let profile = profile.to_str().unwrap();
    let text = bench.llvm(
        "profdata",
        &["show", "--all-functions", "--counts", profile],
    );
    let mut records: Vec<(String, u64, Vec<u64>)> = Vec::new();
    for line in text.lines() {
        if let Some(name) = line
            .strip_prefix("  ")
            .filter(|rest| !rest.starts_with(' '))
        {
            let name = name.strip_suffix(':').unwrap();
            records.push((name.to_owned(), 0, Vec::new()));
            continue;
        }
        let Some((key, value)) = line.strip_prefix("    ").and_then(|l| l.split_once(": ")) else {
            continue;
        };
        let (_, hash, counters) = records.last_mut().unwrap();
        match key {
            "Hash" => *hash = u64::from_str_radix(value.trim_start_matches("0x"), 16).unwrap(),
            "Function count" => counters.push(value.parse().unwrap()),
            "Block counts" => {
                let list = value.trim_matches(['[', ']']).split(", ");
                counters.extend(
                    list.filter(|number| !number.is_empty())
                        .map(|number| number.parse::<u64>().unwrap()),
                );
            }
            _ => {}
        }
    }
    records.sort();
    records
}
