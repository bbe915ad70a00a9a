//! The object witness: what a change does to the program shows in the compiled code, and in whatever else the build made.
//!
//! It speaks of both builds as they are, so what it certifies holds for whatever is built anew when it changes: build files, flags,
//! what sources are generated from. A build may pass over a C source, so of those it speaks where everything was built anew.

use std::collections::{BTreeMap, BTreeSet};

use super::versioned::Versioned;
use super::{Certificate, Certified, Way, Witness};
use crate::history::{Beyond, Compiled, Product};
use crate::objects::{Affected, ObjectDifference};
use crate::repo::RepoPath;

/// The two builds, and how their code differs.
pub struct Builds<'a> {
    pub before: &'a Compiled,
    pub after: &'a Compiled,
    pub difference: &'a ObjectDifference,
    /// Libraries that have other names in the build after, in which they are known by those before.
    pub versioned: &'a Versioned,
    /// Of the affected functions, the binaries before that define each.
    pub defining: BTreeMap<&'a str, BTreeSet<&'a str>>,
}

/// What one test did with the build.
pub struct Doing<'a> {
    /// Nothing, if it could not be followed.
    pub beyond: Option<&'a Beyond>,
    /// Whether it was seen to execute a function.
    pub has_executed: &'a dyn Fn(&str) -> bool,
    /// Whether it executed a function, or may have, because that would not have told.
    pub may_have_executed: &'a dyn Fn(&str) -> bool,
}

/// What the builds do to one test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    Same,
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
    /// No source was passed over in the build of the head, so that they hold for changes of C as well.
    pub are_for_sources: bool,
    /// What the builds made in C differs: changes reach code by ways that the source does not tell.
    pub are_made_otherwise: bool,
}

impl Builds<'_> {
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
        if let Some(function) = self.executed_elsewhere(&ran, test) {
            return Verdict::Code(format!(
                "'{function}', which it executed in something that is not where the build made it, differs"
            ));
        }
        match self.difference.certify(ran, test.may_have_executed) {
            Ok(()) => Verdict::Same,
            Err(affected) => Verdict::Code(sentence(&affected)),
        }
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
    /// somewhere.
    fn executed_elsewhere(&self, ran: &BTreeSet<&str>, test: &Doing<'_>) -> Option<&str> {
        let mut defining = self.defining.iter();
        let found = defining.find(|(function, binaries)| {
            binaries.is_disjoint(ran) && (test.has_executed)(function)
        });
        found.map(|(function, _)| *function)
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

fn sentence(affected: &Affected) -> String {
    let Affected {
        binary,
        function,
        why,
    } = affected;
    match function {
        Some(function) => format!("the compiled code of '{function}' in '{binary}': {why}"),
        None => format!("the compiled code of '{binary}': {why}"),
    }
}

/// Speaks for those to whom both builds are the same.
#[must_use]
pub fn testify(verdicts: &Verdicts) -> Certificate {
    let same = verdicts
        .tests
        .iter()
        .map(|verdict| *verdict == Verdict::Same);
    Certificate {
        way: Way::CompiledIn,
        witness: Witness::Object,
        evidence: "the compiled code of everything it executed is identical, and so is whatever else of the build it looked at".to_owned(),
        tests: Certified::Those(same.collect()),
    }
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
        };
        let beyond = Beyond {
            made: made_at.iter().map(|text| place(text)).collect(),
            made_read: read.iter().map(|text| place(text)).collect(),
            ..Beyond::default()
        };
        builds.judge(&Doing {
            beyond: Some(&beyond),
            has_executed: &|name| name == executed,
            may_have_executed: &|name| name == executed,
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
        };
        let beyond = Beyond {
            made: [place("out/p")].into(),
            ..Beyond::default()
        };
        let doing = Doing {
            beyond: Some(&beyond),
            has_executed: &|_| false,
            may_have_executed: &|_| false,
        };
        assert_eq!(builds.judge(&doing), Verdict::Unknown);
        // What nobody looked over is not the same.
        assert!(differs(&other, "out/q", &[]));
    }
}
