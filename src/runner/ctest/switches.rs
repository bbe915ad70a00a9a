//! Switches of a CMake project that may bring tests: options with TEST in their name that are off.

use std::fs;
use std::path::Path;

/// Those of a build that was configured, in the order of their names. CMake's own are no switches of the project.
pub(super) fn switched_off(build: &Path) -> Vec<String> {
    let cache = fs::read_to_string(build.join("CMakeCache.txt")).unwrap_or_default();
    let mut found: Vec<String> = cache
        .lines()
        .filter_map(switch)
        .map(str::to_owned)
        .collect();
    found.sort();
    found
}

fn switch(line: &str) -> Option<&str> {
    let (name, value) = line.split_once(":BOOL=")?;
    let is_off = ["OFF", "NO", "FALSE", "N", "0"].contains(&value.to_ascii_uppercase().as_str());
    let may_bring_tests = name.to_ascii_uppercase().contains("TEST");
    (is_off && may_bring_tests && !name.starts_with("CMAKE_")).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_options_of_the_project_that_are_off_are_told() {
        let room = tempfile::tempdir().expect("there is room");
        let cache = "// Build the tests\nWITH_TESTS:BOOL=OFF\nBUILD_TESTING:BOOL=ON\nunit_tests:BOOL=no\nCMAKE_TESTS:BOOL=OFF\nTEST_DIR:PATH=OFF\nSHARED:BOOL=OFF\n";
        fs::write(room.path().join("CMakeCache.txt"), cache).expect("there is room");
        assert_eq!(switched_off(room.path()), ["WITH_TESTS", "unit_tests"]);
        assert!(switched_off(&room.path().join("none")).is_empty());
    }
}
