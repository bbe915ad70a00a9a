//! The few lines of what a failed build printed that tell why: the first that a compiler or another tool complains in, each with what stands behind it, because a build goes on to say that it failed.

/// So many complaints are shown, with so many lines behind each, or else so many of the last lines.
const COMPLAINTS: usize = 3;
const BEHIND: usize = 2;
const LAST: usize = 5;

/// The lines, without anything that a terminal would obey.
pub(super) fn complaints(printed: &str) -> Vec<String> {
    let lines = printed.lines().map(|line| {
        let letters = line.chars().filter(|letter| !letter.is_control());
        letters.collect::<String>()
    });
    let lines: Vec<String> = lines.filter(|line| !line.trim().is_empty()).collect();
    // A file may be compiled more than once, for two libraries, say.
    let is_first = |place: usize| !lines[..place].contains(&lines[place]);
    let places = (0..lines.len()).filter(|place| is_complaint(&lines[*place]));
    let places = places.filter(|place| is_first(*place));
    let places: Vec<usize> = places.take(COMPLAINTS).collect();
    let mut told = Vec::new();
    for (place, next) in places
        .iter()
        .zip(places.iter().skip(1).chain([&lines.len()]))
    {
        let behind = (place + 1..*next).take(BEHIND);
        let behind = behind.take_while(|behind| is_about_it(&lines[*behind]));
        told.push(*place);
        told.extend(behind);
    }
    if told.is_empty() {
        told.extend(lines.len().saturating_sub(LAST)..lines.len());
    }
    told.into_iter().map(|place| lines[place].clone()).collect()
}

/// Whether a line says what is wrong. Those of make and its like, which say only that something is, do not.
fn is_complaint(line: &str) -> bool {
    let lower = line.to_lowercase();
    let speaks = [
        "error:",
        "error[",
        "cmake error",
        "undefined reference",
        "undefined symbol",
        "multiple definition of",
        "cannot find -l",
        "command not found",
        "*** no rule to make target",
        "missing separator",
    ];
    // What follows from others: the driver of a linker, and what cargo sums up.
    let follows = ["linker command failed", "ld returned", "could not compile"];
    speaks.iter().any(|word| lower.contains(word))
        && !follows.iter().any(|word| lower.contains(word))
}

/// Compilers and CMake show what they complain of in lines that do not begin at the margin.
fn is_about_it(line: &str) -> bool {
    line.starts_with(' ')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_compiler_complains_of_is_told_however_much_comes_behind_it() {
        let mut printed = String::from(
            "[ 1%] Building C object linkhash.c.o\nlinkhash.c:737:9: error: expected expression\n  737 |         )\n      |         ^\n1 error generated.\n",
        );
        for number in 0..20 {
            printed += &format!("gmake[{number}]: *** [all] Error 2\n");
        }
        assert_eq!(
            complaints(&printed),
            [
                "linkhash.c:737:9: error: expected expression",
                "  737 |         )",
                "      |         ^"
            ]
        );
    }

    #[test]
    fn of_many_complaints_the_first_are_told() {
        let printed: String = (0..30)
            .map(|number| format!("a.c:{number}:1: error: no\n"))
            .collect();
        let told = complaints(&printed);
        assert_eq!(told.len(), COMPLAINTS);
        assert_eq!(told[0], "a.c:0:1: error: no");
    }

    #[test]
    fn a_complaint_is_told_once() {
        let printed = "a.c:1:1: error: no\na.c:1:1: error: no\nb.c:2:2: error: no\n";
        assert_eq!(
            complaints(printed),
            ["a.c:1:1: error: no", "b.c:2:2: error: no"]
        );
    }

    #[test]
    fn linkers_rustc_and_cmake_are_understood() {
        let printed = "/usr/bin/ld: a.o: in function `main':\na.c:(.text+0x5): undefined reference to `f'\ncollect2: error: ld returned 1 exit status\n";
        assert_eq!(
            complaints(printed),
            ["a.c:(.text+0x5): undefined reference to `f'"]
        );
        let printed = "   Compiling one v0.1.0\nerror[E0308]: mismatched types\n --> src/lib.rs:1:20\n  |\n1 | pub fn one()\nerror: could not compile `one` (lib)\n";
        assert_eq!(
            complaints(printed),
            [
                "error[E0308]: mismatched types",
                " --> src/lib.rs:1:20",
                "  |"
            ]
        );
        let printed = "-- The C compiler\nCMake Error at CMakeLists.txt:3 (find_package):\n  Could not find X\n\n-- Configuring incomplete, errors occurred!\n";
        assert_eq!(
            complaints(printed),
            [
                "CMake Error at CMakeLists.txt:3 (find_package):",
                "  Could not find X"
            ]
        );
    }

    #[test]
    fn a_build_that_complains_in_no_way_that_we_know_is_told_by_its_end() {
        let printed: String = (0..9).map(|number| format!("line {number}\n\n")).collect();
        assert_eq!(complaints(&printed)[0], "line 4");
        assert_eq!(complaints(&printed)[4], "line 8");
        assert!(complaints("\n").is_empty());
    }
}
