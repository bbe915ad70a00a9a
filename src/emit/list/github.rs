//! A matrix for jobs of GitHub Actions, an entry for each part of the tests.

use serde::Serialize;

#[derive(Serialize)]
struct Matrix {
    include: Vec<Entry>,
}

#[derive(Serialize)]
struct Entry {
    /// For `git rts run --shard`.
    shard: String,
}

/// So many jobs GitHub makes of a matrix.
pub const MOST: usize = 256;

/// As many parts as are wanted, but no more than there are tests. There is always one: GitHub fails for an empty matrix, and only a job that builds finds tests that are new.
#[must_use]
pub fn matrix(tests: usize, wanted: usize) -> String {
    let parts = tests.min(wanted).clamp(1, MOST);
    let include = (1..=parts).map(|part| Entry {
        shard: format!("{part}/{parts}"),
    });
    let matrix = Matrix {
        include: include.collect(),
    };
    // Plain text can always be written.
    serde_json::to_string(&matrix).unwrap_or_default() + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_no_more_parts_than_tests() {
        assert_eq!(
            matrix(2, 5),
            "{\"include\":[{\"shard\":\"1/2\"},{\"shard\":\"2/2\"}]}\n"
        );
        assert_eq!(matrix(0, 5), "{\"include\":[{\"shard\":\"1/1\"}]}\n");
        assert_eq!(matrix(1000, 1000).matches("shard").count(), MOST);
    }
}
