//! What was probably meant by a name that nothing has.

/// The name that is nearest to a wrong one, if one is near.
#[must_use]
pub(crate) fn nearest<'a>(wrong: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let most = 1 + wrong.chars().count() / 4;
    let wrong = wrong.to_lowercase();
    let all = known.map(|known| (distance(&known.to_lowercase(), &wrong), known));
    let nearest = all.min_by_key(|(distance, _)| *distance);
    nearest
        .filter(|(distance, _)| *distance <= most)
        .map(|(_, known)| known)
}

/// How many letters must be added, taken away or replaced (Levenshtein).
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (above, letter) in one.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = above + 1;
        for (left, same) in other.iter().enumerate() {
            let replaced = diagonal + usize::from(letter != *same);
            diagonal = row[left + 1];
            row[left + 1] = replaced.min(diagonal + 1).min(row[left] + 1);
        }
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_counted() {
        for (one, other, wanted) in [
            ("", "abc", 3),
            ("runner", "runer", 1),
            ("ab", "ba", 2),
            ("x", "x", 0),
        ] {
            assert_eq!(distance(one, other), wanted, "{one} {other}");
            assert_eq!(distance(other, one), wanted, "{other} {one}");
        }
    }

    #[test]
    fn what_is_far_from_everything_means_nothing() {
        let known = || ["function", "file", "macro"].into_iter();
        assert_eq!(nearest("functoin", known()), Some("function"));
        assert_eq!(nearest("Function", known()), Some("function"));
        assert_eq!(nearest("parse", known()), None);
    }
}
