//! Test drivers that CMake makes: another row in the table of one is nothing to the tests of the other rows.
//!
//! The driver compares the name that it is given with one row after the other, and runs the function of the first that fits. So it
//! does the same for a test as before if nothing but rows differs, and the rows behind which the test went are as they were.

use std::collections::{BTreeMap, BTreeSet};

use crate::digest::Name;
use crate::lang::c::driver::TABLE;
use crate::lang::facts::{MadeFacts, TestDriver};
use crate::objects::{Contents, ObjectDigest};

/// The drivers that both builds have, by their places in the workshop.
#[derive(Debug, Default)]
pub struct Drivers<'a> {
    both: BTreeMap<&'a str, [&'a TestDriver; 2]>,
}

/// A build: its code, and what it said in C.
pub type Side<'a> = (&'a Contents, &'a [MadeFacts]);

impl<'a> Drivers<'a> {
    /// Finds the binaries that are drivers in both builds, with nothing but their rows between them.
    #[must_use]
    pub fn find(before: Side<'a>, after: Side<'a>) -> Self {
        let names = before.0.binaries.keys();
        let both = names.filter_map(|name| {
            let (old, new) = (driver_of(before, name)?, driver_of(after, name)?);
            let is_same = old.says_the_same(new);
            let drivers = [old.driver.as_ref()?, new.driver.as_ref()?];
            is_same.then_some((name.as_str(), drivers))
        });
        Drivers {
            both: both.collect(),
        }
    }

    /// The functions of their rows before, by the symbols that these may have.
    #[must_use]
    pub fn functions(&self) -> BTreeSet<String> {
        let rows = self
            .both
            .values()
            .flat_map(|[before, _]| before.rows.values());
        rows.flat_map(|function| [function.clone(), mangled(function)])
            .collect()
    }

    /// Whether a driver does the same for a test as before, given its command as places of the workshop and words, and what it may
    /// have executed.
    #[must_use]
    pub fn do_the_same(
        &self,
        binary: &str,
        command: &[String],
        may_have_executed: &dyn Fn(&str) -> bool,
    ) -> bool {
        let Some([before, after]) = self.both.get(binary) else {
            return false;
        };
        // Who is called in another way lists the table, or runs all of it.
        let is_named = match command {
            [program, name, ..] => {
                program == binary && before.rows.contains_key(&name.to_lowercase())
            }
            _ => false,
        };
        // It may call the driver again, under other names.
        let mut taken = before.rows.iter().filter(|(_, function)| {
            may_have_executed(function) || may_have_executed(&mangled(function))
        });
        is_named && taken.all(|(name, function)| after.rows.get(name) == Some(function))
    }
}

/// What a build said in C of the driver that a binary is, if it is one.
fn driver_of<'a>((contents, made): Side<'a>, binary: &str) -> Option<&'a MadeFacts> {
    let objects = contents.binaries.get(binary)?.objects.iter();
    let mut objects = objects.filter_map(|number| contents.objects.get(*number as usize));
    let object = objects.find(|object| defines(object, "main"))?;
    let mut symbols = object.symbols.iter();
    let table = symbols.find(|symbol| !symbol.is_code && symbol.name.contains(TABLE))?;
    let mentions = |function: &String| {
        let mut names = [function.clone(), mangled(function)].into_iter();
        names.any(|name| table.mentions.contains(Name::of(name.as_bytes())))
    };
    let mut drivers = made.iter().filter(|one| {
        one.driver.as_ref().is_some_and(|driver| {
            let functions: BTreeSet<&String> = driver.rows.values().collect();
            functions.len() == table.mentions.len() && functions.into_iter().all(mentions)
        })
    });
    // Where several fit, nobody knows which it is.
    drivers.next().filter(|_| drivers.next().is_none())
}

fn defines(object: &ObjectDigest, function: &str) -> bool {
    let mut symbols = object.symbols.iter();
    symbols.any(|symbol| symbol.is_code && symbol.name == function)
}

/// The symbol of a test's function in C++.
fn mangled(function: &str) -> String {
    format!("_Z{}{function}iPPc", function.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::objects::{BinaryDigest, Symbol};

    fn symbol(name: &str, is_code: bool, mentions: &[&str]) -> Symbol {
        let names = mentions.iter().map(|name| Name::of(name.as_bytes()));
        Symbol {
            name: name.to_owned(),
            is_own: false,
            is_code,
            counters: 1,
            digest: 1,
            mentions: names.collect(),
        }
    }

    fn build(rows: &[(&str, &str)], rest: u64) -> (Contents, Vec<MadeFacts>) {
        let functions: Vec<&str> = rows.iter().map(|(_, function)| *function).collect();
        let object = ObjectDigest {
            symbols: vec![symbol("main", true, &[]), symbol(TABLE, false, &functions)],
            ..ObjectDigest::default()
        };
        let mut contents = Contents::new();
        contents.objects.push(object);
        let binary = BinaryDigest {
            objects: vec![0],
            ..BinaryDigest::default()
        };
        contents.binaries.insert("out/driver".to_owned(), binary);
        let rows = rows.iter();
        let rows = rows.map(|(name, function)| ((*name).to_owned(), (*function).to_owned()));
        let made = MadeFacts {
            digest: rest,
            driver: Some(TestDriver {
                rest,
                rows: rows.collect(),
            }),
            ..MadeFacts::default()
        };
        (contents, vec![made])
    }

    fn is_same(before: &(Contents, Vec<MadeFacts>), after: &(Contents, Vec<MadeFacts>)) -> bool {
        is_same_for(before, after, &["out/driver", "One"], &["one"])
    }

    fn is_same_for(
        before: &(Contents, Vec<MadeFacts>),
        after: &(Contents, Vec<MadeFacts>),
        command: &[&str],
        executed: &[&str],
    ) -> bool {
        let drivers = Drivers::find((&before.0, &before.1), (&after.0, &after.1));
        let command: Vec<String> = command.iter().map(|word| (*word).to_owned()).collect();
        drivers.do_the_same("out/driver", &command, &|name| executed.contains(&name))
    }

    #[test]
    fn another_row_is_nothing_to_who_runs_its_own() {
        let before = build(&[("one", "one"), ("two", "two")], 1);
        let after = build(&[("new", "new"), ("one", "one"), ("three", "two")], 1);
        assert!(is_same(&before, &after));
        let call =
            |command: &[&str], executed: &[&str]| is_same_for(&before, &after, command, executed);
        // Its own row, and those of whatever else it calls the driver for.
        assert!(!call(&["out/driver", "two"], &["two"]));
        assert!(!call(&["out/driver", "one"], &["one", "two"]));
        // Who is called in another way may list the table.
        assert!(!call(&["out/driver"], &["one"]));
        assert!(!call(&["out/driver", "-R", "one"], &["one"]));
        assert!(!call(&["sh", "script"], &["one"]));
        assert!(!call(&["out/driver", "new"], &[]));
    }

    #[test]
    fn a_row_with_another_function_reaches_who_runs_it() {
        let before = build(&[("one", "one"), ("two", "two")], 1);
        assert!(!is_same(
            &before,
            &build(&[("one", "two"), ("two", "one")], 1)
        ));
        assert!(!is_same(&before, &build(&[("two", "two")], 1)));
    }

    #[test]
    fn a_driver_that_nobody_knows_for_one_excuses_nobody() {
        let before = build(&[("one", "one")], 1);
        assert!(!is_same(&before, &build(&[("one", "one")], 2)));
        let mut unread = build(&[("one", "one")], 1);
        unread.1[0].driver = None;
        assert!(!is_same(&before, &unread));
        let mut doubled = build(&[("one", "one")], 1);
        doubled.1.push(doubled.1[0].clone());
        assert!(!is_same(&before, &doubled));
        let mut elsewhere = build(&[("one", "one")], 1);
        elsewhere.0.objects[0].symbols.remove(1);
        assert!(!is_same(&before, &elsewhere));
    }
}
