//! Objects of Rust: rustc spreads a crate over as many as it is told, by their sizes, and which others see an item depends on that.

use std::fs;
use std::path::Path;

use git_rts::objects::{BinaryDifference, BinaryDigest, Contents, difference, digest, readable};
use tempfile::TempDir;

use crate::build::run;

const PROGRAM: &str = r#"
use std::fmt::Display;
mod one {
    pub static TABLE: [u32; 3] = [3, 5, 7];
    #[inline(never)]
    pub fn sum(more: u32) -> u32 { TABLE.iter().map(|each| super::three::scaled(*each)).sum::<u32>() + more }
}
mod two {
    pub trait Shape { fn area(&self) -> u32; }
    pub struct Square(pub u32);
    impl Shape for Square { fn area(&self) -> u32 { self.0.checked_mul(self.0).expect("it is small") } }
    #[inline(never)]
    pub fn of(shape: &dyn Shape) -> String { super::shown(shape.area()) }
}
mod three {
    pub fn scaled(number: u32) -> u32 { hidden(number) * 2 }
    #[inline(never)]
    fn hidden(number: u32) -> u32 { if number > 100 { panic!("{number} is too much") } else { number } }
}
#[inline(never)]
fn shown<T: Display>(what: T) -> String { format!("<{what}>") }
fn main() {
    println!("{} {} {}", one::sum(1), two::of(&two::Square(4)), shown("text"));
}
"#;

/// The program, compiled to so many objects.
fn build(source: &str, units: u32) -> Contents {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("p.rs"), source).unwrap();
    let units_option = format!("codegen-units={units}");
    let words = [
        "-C",
        &units_option,
        "-C",
        "save-temps",
        "-C",
        "instrument-coverage",
        "-C",
        "debuginfo=0",
        "p.rs",
    ];
    run("rustc", &words.map(str::to_owned), folder.path());
    let is_object = |path: &Path| path.to_string_lossy().ends_with(".rcgu.o");
    let entries = fs::read_dir(folder.path()).unwrap();
    let mut objects: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    objects.retain(|path| is_object(path));
    objects.sort();
    assert!(units == 1 || objects.len() > 2, "{objects:?}");
    let mut contents = Contents::new();
    let objects = objects
        .iter()
        .map(|path| digest(&fs::read(path).unwrap()).unwrap());
    contents.objects = objects.collect();
    let binary = BinaryDigest {
        whole: u64::from(units),
        objects: (0..contents.objects.len() as u32).collect(),
        is_program: true,
        ..BinaryDigest::default()
    };
    contents.binaries.insert("p".to_owned(), binary);
    contents
}

fn differing(before: &Contents, after: &Contents) -> BinaryDifference {
    let mut difference = difference(before, after, &|_| false);
    difference.binaries.remove("p").unwrap()
}

#[test]
fn what_moves_between_the_objects_of_a_crate_is_the_same() {
    let builds = [1, 2, 3, 16].map(|units| build(PROGRAM, units));
    for before in &builds {
        for after in &builds {
            let found = differing(before, after);
            assert_eq!(
                (&found.everybody, &found.affected),
                (&None, &Default::default())
            );
        }
    }
    let edited = PROGRAM.replace("number > 100", "number > 200");
    for (units, before) in [1, 2, 3, 16].into_iter().zip(builds.iter().rev()) {
        let found = differing(before, &build(&edited, 50 + units));
        let affected: Vec<_> = found.affected.keys().map(|name| readable(name)).collect();
        assert_eq!(affected, ["p::three::hidden"]);
    }
}
