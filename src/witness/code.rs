//! The object witness: what a change does to the program shows in the compiled code, and in whatever else the build made.
//!
//! It speaks of the very programs that the test would run. Where these do the same, running it would tell nothing, whatever changed:
//! sources, build files, flags, what sources are generated from.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

use super::driver::Drivers;
use super::versioned::Versioned;
use super::{Certificate, Certified, Way, Witness};
use crate::history::{Beyond, Compiled, Product};
use crate::objects::{Affected, ObjectDifference, readable, test_of_row};
use crate::repo::RepoPath;

/// The two builds, and how their code differs.
pub struct Builds<'a> {
    pub before: &'a Compiled,
    pub after: &'a Compiled,
    pub difference: &'a ObjectDifference,
    /// Libraries that have other names in the build after, in which they are known by those before.
    pub versioned: &'a Versioned,
    /// Of the functions that are affected or made of others, the binaries before that define each.
    pub defining: BTreeMap<&'a str, BTreeSet<&'a str>>,
    pub drivers: Drivers<'a>,
    /// The functions that ran while the build before was made, and so count for every test.
    pub executed_by_build: BTreeSet<&'a str>,
}

/// What one test did with the build.
pub struct Doing<'a> {
    /// Nothing, if it could not be followed.
    pub beyond: Option<&'a Beyond>,
    /// Of the functions that differ, those that it was seen to execute.
    pub executed: &'a BTreeSet<&'a str>,
    /// Whether it executed a function, or may have, because that would not have told.
    pub may_have_executed: &'a dyn Fn(&str) -> bool,
    /// The same, of code that no source of the tree speaks for.
    pub may_have_executed_made: &'a dyn Fn(&str) -> bool,
    /// Its command, with places of the workshop for what is there.
    pub command: &'a [String],
}

/// What the builds do to one test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    Same,
    /// The same but for rows of other tests in a driver that CMake made.
    SameRow,
    /// Code that it executed differs, or may.
    Code(String),
    /// Something else that the build made, and that it looked at, differs.
    Product(String),
    /// Nobody knows what it looked at, or what was in it.
    Unknown,
}

/// What the builds do to all tests; nothing, where one of the builds is not known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Verdicts {
    pub tests: Vec<Verdict>,
    /// For each test, whether the code is the same that it executed and of which the tree has no source.
    pub is_made_alike: Vec<bool>,
    /// For each test, whether the code that it executed is made of the same functions as before; nothing, if that is not known.
    pub is_counted_alike: Vec<Option<bool>>,
    /// What the builds made in C differs, or code of another language, or it uses what does: changes reach code by ways that the
    /// source does not tell.
    pub are_made_otherwise: bool,
}

impl Verdict {
    /// Whether running the test would tell nothing new.
    #[must_use]
    pub fn is_same(&self) -> bool {
        matches!(self, Verdict::Same | Verdict::SameRow)
    }
}

impl Builds<'_> {
    /// Whether the code is the same that a test executed and of which the tree has no source.
    #[must_use]
    pub fn is_made_alike(&self, test: &Doing<'_>) -> bool {
        let ran = self.ran(test);
        let counted = self.counted_alike(&ran, test, test.may_have_executed_made);
        let is_same = self.compare(ran, test, test.may_have_executed_made).is_ok();
        test.beyond.is_some() && is_same && counted == Some(true)
    }

    /// Whether the code that a test executed is made of the same functions as before; nothing, if that is not known.
    #[must_use]
    pub fn is_counted_alike(&self, test: &Doing<'_>) -> Option<bool> {
        let ran = self.ran(test);
        let is_defined = |function: &str| {
            let binaries = self.defining.get(function);
            binaries.is_some_and(|binaries| !binaries.is_disjoint(&ran))
        };
        let is_elsewhere = |function: &str| {
            let mut elsewhere = self.difference.binaries.iter();
            elsewhere.any(|(name, binary)| {
                let recounted = binary.recounted.as_ref();
                !ran.contains(name.as_str()) && recounted.is_some_and(|all| all.contains(function))
            })
        };
        // There may be a copy somewhere.
        let mut executed = test.executed.iter();
        let is_copied = executed.any(|one| !is_defined(one) && is_elsewhere(one));
        match is_copied {
            true => Some(false),
            false => self.counted_alike(&ran, test, test.may_have_executed),
        }
    }

    fn counted_alike(
        &self,
        ran: &BTreeSet<&str>,
        test: &Doing<'_>,
        may_have_executed: &dyn Fn(&str) -> bool,
    ) -> Option<bool> {
        let mut is_alike = true;
        for binary in ran {
            let recounted = self.difference.binaries.get(*binary)?.recounted.as_ref()?;
            let mut recounted = recounted.iter();
            is_alike &= !recounted.any(|function| match test_of_row(function) {
                Some(path) => !is_of_another_test(path, binary, test.command),
                None => may_have_executed(function) && !self.is_excused(binary, function, test),
            });
        }
        Some(is_alike)
    }

    /// The binaries of both builds that a test ran or loaded.
    fn ran(&self, test: &Doing<'_>) -> BTreeSet<&str> {
        let made = test.beyond.into_iter().flat_map(|beyond| &beyond.made);
        made.filter_map(|place| self.binary(place)).collect()
    }

    /// Whether a function is the `main` of a driver that does the same for a test as before.
    fn is_excused(&self, binary: &str, function: &str, test: &Doing<'_>) -> bool {
        let drivers = &self.drivers;
        function == "main" && drivers.do_the_same(binary, test.command, test.may_have_executed)
    }

    /// What the builds do to a test.
    #[must_use]
    pub fn judge(&self, test: &Doing<'_>) -> Verdict {
        let Some(beyond) = test.beyond else {
            return Verdict::Unknown;
        };
        let mut ran = BTreeSet::new();
        for place in &beyond.made {
            let is_read = beyond.made_read.contains(place);
            if self.is_made_by_tests(place) {
                return Verdict::Unknown;
            }
            if self.versioned.is_noticed(place, beyond) || !self.agree(place, is_read) {
                return Verdict::Product(format!("'{place}', which the build made, differs"));
            }
            ran.extend(self.binary(place).filter(|_| !is_read));
        }
        for folder in &beyond.made_listed {
            if !self.agree(&folder.entries(), true) {
                let why = format!("what the build puts into '{folder}' differs");
                return Verdict::Product(why);
            }
        }
        if let Some(why) = self.seen_from_outside(&ran) {
            return Verdict::Product(why);
        }
        if let Some((function, binary)) = self.executed_elsewhere(&ran, test) {
            return Verdict::Code(match self.executed_by_build.contains(function) {
                true => format!(
                    "'{function}' in '{binary}' differs, and it or the build executed a function of that name"
                ),
                false => format!(
                    "'{function}', which it executed in something that is not where the build made it, differs"
                ),
            });
        }
        match self.compare(ran, test, test.may_have_executed) {
            Ok(verdict) => verdict,
            Err(affected) => Verdict::Code(sentence(&affected)),
        }
    }

    /// Compares the code of what a test ran.
    fn compare(
        &self,
        ran: BTreeSet<&str>,
        test: &Doing<'_>,
        may_have_executed: &dyn Fn(&str) -> bool,
    ) -> Result<Verdict, Affected> {
        let is_excused = Cell::new(false);
        let meets = |binary: &str, function: &str| {
            if let Some(path) = test_of_row(function) {
                return !is_of_another_test(path, binary, test.command);
            }
            if !may_have_executed(function) {
                return false;
            }
            let excuse = self.is_excused(binary, function, test);
            is_excused.set(is_excused.get() || excuse);
            !excuse
        };
        self.difference.certify(ran, &meets)?;
        Ok(match is_excused.get() {
            true => Verdict::SameRow,
            false => Verdict::Same,
        })
    }

    /// What differs to a program that is not of the build, and that loads some of its libraries.
    fn seen_from_outside(&self, ran: &BTreeSet<&str>) -> Option<String> {
        let binaries = &self.before.contents.binaries;
        let is_program = |name: &&&str| binaries.get(**name).is_some_and(|one| one.is_program);
        if ran.iter().any(|name| is_program(&name)) {
            return None;
        }
        ran.iter().find_map(|name| {
            let seen = self.difference.binaries.get(*name)?.exported.first()?;
            Some(format!(
                "'{seen}' in '{name}', which others may look at, differs"
            ))
        })
    }

    /// An affected function that a test executed, and that nothing defines which it ran where the build made it: there is a copy
    /// somewhere. With a binary in which it is affected.
    fn executed_elsewhere(&self, ran: &BTreeSet<&str>, test: &Doing<'_>) -> Option<(&str, &str)> {
        let affected_in = |function: &str| {
            let mut all = self.difference.binaries.iter();
            all.find(|(_, binary)| binary.affected.contains_key(function))
        };
        let mut executed = test.executed.iter();
        executed.find_map(|function| {
            let (function, binaries) = self.defining.get_key_value::<str>(function)?;
            let is_elsewhere = binaries.is_disjoint(ran);
            let (binary, _) = is_elsewhere.then(|| affected_in(function))??;
            Some((*function, binary.as_str()))
        })
    }

    /// Whether tests built a binary themselves: of what it was made then, neither build tells.
    fn is_made_by_tests(&self, place: &RepoPath) -> bool {
        let made = self.before.products.get(place);
        made.is_some_and(|made| made.mode == 0)
            && self
                .before
                .contents
                .binaries
                .contains_key(&place.to_string())
    }

    /// The name of a binary that both builds have at a place.
    fn binary(&self, place: &RepoPath) -> Option<&str> {
        let name = place.to_string();
        let (name, _) = self.before.contents.binaries.get_key_value(&name)?;
        let is_there = self.after.contents.binaries.contains_key(name);
        is_there.then_some(name)
    }

    /// Whether both builds made the same at a place; what is not known is not the same.
    fn agree(&self, place: &RepoPath, is_read: bool) -> bool {
        let made = |build: &Compiled| -> Option<Product> { build.products.get(place).copied() };
        let both = made(self.before).zip(made(self.after));
        both.is_some_and(|(before, after)| before.is_same(after, is_read))
    }
}

/// Whether a row of rustc's harness is none that a test meets: who runs the binary under one name meets the row of that name.
fn is_of_another_test(path: &str, binary: &str, command: &[String]) -> bool {
    match command {
        [program, exact, own] => program == binary && exact == "--exact" && own != path,
        _ => false,
    }
}

fn sentence(affected: &Affected) -> String {
    let Affected {
        binary,
        function,
        why,
    } = affected;
    match function {
        Some(function) => {
            let function = readable(function);
            format!("the compiled code of '{function}' in '{binary}': {why}")
        }
        None => format!("the compiled code of '{binary}': {why}"),
    }
}

const SAME: &str = "the compiled code of everything it executed is identical, and so is whatever else of the build it looked at";
const SAME_ROW: &str = "the compiled code of everything it executed is identical but for rows of other tests in the driver that CMake made, which runs the test that it is given the name of";

/// Speaks for those to whom both builds are the same.
#[must_use]
pub fn testify(verdicts: &Verdicts) -> Vec<Certificate> {
    let speak = |(verdict, evidence): (Verdict, &str)| {
        let same = verdicts.tests.iter().map(|one| *one == verdict);
        let same: Vec<bool> = same.collect();
        same.contains(&true).then(|| Certificate {
            way: Way::CompiledIn,
            witness: Witness::Object,
            evidence: evidence.to_owned(),
            tests: Certified::Those(same),
        })
    };
    [(Verdict::Same, SAME), (Verdict::SameRow, SAME_ROW)]
        .into_iter()
        .filter_map(speak)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::objects::{BinaryDifference, BinaryDigest};

    fn place(text: &str) -> RepoPath {
        RepoPath::new(text.as_bytes())
    }

    fn made(digest: u64, is_code: bool) -> Product {
        Product {
            mode: 0o100_644,
            is_code,
            digest: Some(digest),
        }
    }

    fn build(data: Product) -> Compiled {
        let mut compiled = Compiled::default();
        let binaries = &mut compiled.contents.binaries;
        binaries.insert("out/p".to_owned(), BinaryDigest::default());
        compiled.products.insert(place("out/data"), data);
        compiled.products.insert(place("out/p"), made(1, true));
        compiled
    }

    fn judged(after: &Compiled, made_at: &[&str], read: &[&str], executed: &str) -> Verdict {
        let before = build(made(7, false));
        let affected = [("f".to_owned(), "it differs".to_owned())];
        let difference = BinaryDifference {
            affected: affected.into(),
            ..BinaryDifference::default()
        };
        let difference = ObjectDifference {
            binaries: [("out/p".to_owned(), difference)].into(),
        };
        let builds = Builds {
            before: &before,
            after,
            difference: &difference,
            versioned: &Versioned::default(),
            defining: [("f", ["out/p"].into())].into(),
            drivers: Drivers::default(),
            executed_by_build: BTreeSet::new(),
        };
        let beyond = Beyond {
            made: made_at.iter().map(|text| place(text)).collect(),
            made_read: read.iter().map(|text| place(text)).collect(),
            ..Beyond::default()
        };
        builds.judge(&Doing {
            beyond: Some(&beyond),
            executed: &[executed].into(),
            may_have_executed: &|name| name == executed,
            may_have_executed_made: &|_| false,
            command: &[],
        })
    }

    #[test]
    fn who_executed_nothing_that_differs_is_certified() {
        let same = build(made(7, false));
        assert_eq!(judged(&same, &["out/p"], &[], "g"), Verdict::Same);
        assert!(matches!(
            judged(&same, &["out/p"], &[], "f"),
            Verdict::Code(_)
        ));
        // Who did not run the binary and executed what is in it ran a copy.
        assert!(matches!(
            judged(&same, &["out/data"], &[], "f"),
            Verdict::Code(_)
        ));
        assert_eq!(judged(&same, &["out/data"], &[], "g"), Verdict::Same);
    }

    #[test]
    fn what_a_test_looks_at_in_the_build_counts_by_its_content() {
        let mut other = build(made(8, false));
        let differs = |after: &Compiled, at: &str, read: &[&str]| {
            matches!(judged(after, &[at], read, "g"), Verdict::Product(_))
        };
        assert!(differs(&other, "out/data", &["out/data"]));
        assert!(differs(&other, "out/data", &[]));
        assert!(differs(&build(Product::default()), "out/data", &[]));
        assert_eq!(judged(&other, &["out/p"], &[], "g"), Verdict::Same);
        // A binary that is read and not only run counts by its content, too, and in any case by who may run it.
        other.products.insert(place("out/p"), made(2, true));
        assert!(differs(&other, "out/p", &["out/p"]));
        assert_eq!(judged(&other, &["out/p"], &[], "g"), Verdict::Same);
        let locked = Product {
            mode: 0o100_600,
            ..made(1, true)
        };
        other.products.insert(place("out/p"), locked);
        assert!(differs(&other, "out/p", &[]));
        // What tests built themselves nobody can compare.
        let before = Compiled {
            products: [(place("out/p"), Product::default())].into(),
            ..build(made(7, false))
        };
        let builds = Builds {
            before: &before,
            after: &before,
            difference: &ObjectDifference::default(),
            versioned: &Versioned::default(),
            defining: [("f", ["out/p"].into())].into(),
            drivers: Drivers::default(),
            executed_by_build: BTreeSet::new(),
        };
        let beyond = Beyond {
            made: [place("out/p")].into(),
            ..Beyond::default()
        };
        let doing = Doing {
            beyond: Some(&beyond),
            executed: &BTreeSet::new(),
            may_have_executed: &|_| false,
            may_have_executed_made: &|_| false,
            command: &[],
        };
        assert_eq!(builds.judge(&doing), Verdict::Unknown);
        // What nobody looked over is not the same.
        assert!(differs(&other, "out/q", &[]));
    }
}
