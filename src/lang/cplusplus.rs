//! C++ has no front end here: what is made of it is compared as compiled code. Its files are known by their names.

use crate::repo::RepoPath;

/// Endings of what is compiled.
pub const SOURCES: [&str; 7] = ["C", "CPP", "c++", "cc", "cp", "cpp", "cxx"];
/// Endings of what is included, and by C is not.
pub const HEADERS: [&str; 11] = [
    "H", "HPP", "h++", "hh", "hp", "hpp", "hxx", "ipp", "tcc", "tpp", "txx",
];

/// Whether a file is compiled as C++.
#[must_use]
pub fn is_source(path: &RepoPath) -> bool {
    has_ending(path, &SOURCES)
}

/// Whether sources of C++ include a file, and sources of C do not.
#[must_use]
pub fn is_header(path: &RepoPath) -> bool {
    has_ending(path, &HEADERS)
}

fn has_ending(path: &RepoPath, known: &[&str]) -> bool {
    let ending = path.extension();
    known.iter().any(|known| known.as_bytes() == ending)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_told_by_their_endings() {
        let path = |name: &str| RepoPath::new(name.as_bytes());
        assert!(is_source(&path("src/a.cc")) && is_source(&path("a.b.c++")));
        assert!(!is_source(&path("a.c")) && !is_source(&path("cc")) && !is_source(&path("a.cc/b")));
        assert!(is_header(&path("a.hpp")) && !is_header(&path("a.h")) && !is_header(&path("a.cc")));
    }
}
