//! Mutants of Rust: every test that notices one is selected for it.

use std::collections::BTreeSet;

use crate::Workspace;

const STOCK: &str = r#"use std::collections::BTreeMap;
use std::fmt;
use std::ops::Add;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::OnceLock;

pub const LIMIT: usize = 3;
pub static DROPPED: AtomicUsize = AtomicUsize::new(0);
static NAMES: [&str; 2] = ["nut", "bolt"];
static INDEX: OnceLock<BTreeMap<&str, usize>> = OnceLock::new();

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Amount(pub u32);

impl Add for Amount {
    type Output = Amount;
    fn add(self, other: Amount) -> Amount { Amount(self.0 + other.0) }
}

impl fmt::Display for Amount {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result { write!(out, "{} pieces", self.0) }
}

pub trait Priced {
    const TAX: u32 = 10;
    fn net(&self) -> u32;
    fn gross(&self) -> u32 { self.net() + self.net() / Self::TAX }
}

pub struct Nut;
pub struct Bolt(pub u32);

impl Priced for Nut { fn net(&self) -> u32 { 20 } }
impl Priced for Bolt {
    const TAX: u32 = 5;
    fn net(&self) -> u32 { self.0 }
}

pub trait Named { fn name(&self) -> String; }
impl Named for Nut { fn name(&self) -> String { NAMES[0].to_owned() } }
impl Named for Bolt { fn name(&self) -> String { NAMES[1].to_uppercase() } }
pub fn all() -> Vec<Box<dyn Named>> { vec![Box::new(Nut), Box::new(Bolt(1))] }

pub fn most<T: PartialOrd + Copy>(items: &[T]) -> Option<T> {
    items.iter().copied().fold(None, |best, one| match best {
        Some(best) if best >= one => Some(best),
        _ => Some(one),
    })
}

#[derive(Debug, PartialEq)]
pub enum Trouble { Full, Unknown(String) }

pub fn place(name: &str) -> Result<usize, Trouble> {
    let index = INDEX.get_or_init(|| NAMES.iter().copied().zip(1..).collect());
    index.get(name).copied().ok_or_else(|| Trouble::Unknown(name.to_owned()))
}

pub fn fill(count: usize) -> Result<usize, Trouble> {
    if count > LIMIT { Err(Trouble::Full) } else { Ok(LIMIT - count) }
}

pub struct Held(pub usize);
impl Drop for Held { fn drop(&mut self) { DROPPED.fetch_add(self.0, Ordering::SeqCst); } }

pub const fn square(x: usize) -> usize { x * x }
pub static TABLE: [usize; 2] = [square(2), square(3)];

#[macro_export]
macro_rules! doubled { ($x:expr) => { $x + $x }; }

#[inline(always)]
pub fn apply(times: usize, step: impl Fn(usize) -> usize) -> usize {
    (0..times).fold(1, |so_far, _| step(so_far))
}

pub fn checked(x: i32) -> i32 {
    assert!(x >= 0, "it is negative");
    x
}
"#;

const TESTS: &str = r#"use stock::*;
#[test]
fn amounts() { assert_eq!((Amount(2) + Amount(3)).to_string(), "5 pieces") }
#[test]
fn order() { assert!(Amount(2) < Amount(3) && Amount::default() == Amount(0)) }
#[test]
fn prices() { assert_eq!((Nut.gross(), Bolt(10).gross()), (22, 12)) }
#[test]
fn names() { assert_eq!(all().iter().map(|one| one.name()).collect::<Vec<_>>(), ["nut", "BOLT"]) }
#[test]
fn most_of_numbers() { assert_eq!(most(&[1, 3, 2]), Some(3)) }
#[test]
fn most_of_amounts() { assert_eq!(most(&[Amount(4), Amount(1)]), Some(Amount(4))) }
#[test]
fn places() { assert_eq!((place("bolt"), place("cog")), (Ok(2), Err(Trouble::Unknown("cog".into())))) }
#[test]
fn room() -> Result<(), Trouble> { assert_eq!(fill(4), Err(Trouble::Full)); assert_eq!(fill(1)?, 2); Ok(()) }
#[test]
fn dropped() { drop(Held(2)); assert_eq!(DROPPED.load(std::sync::atomic::Ordering::SeqCst), 2) }
#[test]
fn tables() { assert_eq!(TABLE, [4, 9]) }
#[test]
fn doubles() { assert_eq!(doubled!(4), 8) }
#[test]
fn steps() { assert_eq!(apply(3, |x| x * 2), 8) }
#[test]
#[should_panic(expected = "negative")]
fn refused() { checked(-1); }
#[test]
fn in_a_thread() { assert_eq!(std::thread::spawn(|| checked(1)).join().unwrap(), 1) }
"#;

/// Small mistakes, in the library or in its tests.
const MUTANTS: [(&str, &str); 24] = [
    ("LIMIT: usize = 3", "LIMIT: usize = 5"),
    ("[\"nut\", \"bolt\"]", "[\"nut\", \"cog\"]"),
    ("self.0 + other.0", "self.0 - other.0.min(1)"),
    ("{} pieces", "{} piece"),
    (
        "Eq, PartialOrd, Ord, Default)]\npub struct Amount(pub u32);",
        "Eq, Ord, Default)]\npub struct Amount(pub u32);\nimpl PartialOrd for Amount { fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> { other.0.partial_cmp(&self.0) } }",
    ),
    ("TAX: u32 = 10", "TAX: u32 = 2"),
    ("TAX: u32 = 5", "TAX: u32 = 1"),
    ("self.net() + self.net()", "self.net() - self.net()"),
    ("{ 20 }", "{ 10 }"),
    ("NAMES[1].to_uppercase()", "NAMES[1].to_lowercase()"),
    (
        "vec![Box::new(Nut), Box::new(Bolt(1))]",
        "vec![Box::new(Bolt(1)), Box::new(Nut)]",
    ),
    ("best >= one", "best <= one"),
    ("zip(1..)", "zip(0..)"),
    (
        "ok_or_else(|| Trouble::Unknown(name.to_owned()))",
        "ok_or(Trouble::Full)",
    ),
    ("count > LIMIT", "count >= LIMIT + 2"),
    ("LIMIT - count", "LIMIT - 1"),
    ("fetch_add(self.0", "fetch_add(1"),
    ("{ x * x }", "{ x + x }"),
    ("$x + $x", "$x * $x"),
    ("fold(1, |so_far", "fold(2, |so_far"),
    ("x >= 0", "x >= -1"),
    ("\"it is negative\"", "\"it is too small\""),
    ("Full, Unknown(String)", "Unknown(String), Full"),
    ("assert!(x >= 0, \"it is negative\");\n    x", "x.abs() + 1"),
];

#[test]
fn every_test_that_notices_a_mutant_of_rust_is_selected_for_it() {
    let manifest = "[package]\nname = \"stock\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[lib]\ndoctest = false\n";
    let workspace = Workspace::recorded(&[
        ("Cargo.toml", manifest),
        (".gitignore", "target\n"),
        ("src/lib.rs", STOCK),
        ("tests/all.rs", TESTS),
    ]);
    let judge = workspace.repo.top().with_file_name("judge");
    let tests = TESTS.matches("#[test]").count();
    let (mut noticed, mut selected_in_all) = (0, 0);
    for (from, to) in MUTANTS {
        workspace.change("src/lib.rs", from, to);
        let selected = workspace.would_run();
        // Who judges is a build of its own.
        let mut cargo = workspace.command("cargo");
        let cargo = cargo.args(["test", "--no-fail-fast", "--quiet", "--target-dir"]);
        let output = cargo.arg(&judge).args(["--", "--format=pretty"]).output();
        let output = String::from_utf8(output.unwrap().stdout).unwrap();
        let judged = output.lines().filter_map(|line| {
            let (name, end) = line.strip_prefix("test ")?.split_once(" ... ")?;
            let name = name.trim_end_matches(" - should panic");
            Some((name, end == "FAILED"))
        });
        let judged: Vec<(&str, bool)> = judged.collect();
        assert_eq!(judged.len(), tests, "{to}: {output}");
        let failing = judged.iter().filter(|(_, failed)| *failed);
        let failing: BTreeSet<String> = failing
            .map(|(name, _)| format!("stock::all {name}"))
            .collect();
        noticed += usize::from(!failing.is_empty());
        selected_in_all += selected.len();
        assert!(
            selected.is_superset(&failing),
            "{to}: {failing:?}, {selected:?}"
        );
        workspace.restore();
    }
    assert!(noticed > MUTANTS.len() / 2, "{noticed}");
    // Nor is everything selected for everything.
    assert!(
        selected_in_all < MUTANTS.len() * tests / 2,
        "{selected_in_all}"
    );
}
