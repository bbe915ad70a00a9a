//! Symbolic links of a tree: a file has a further path for each link that leads to it or to a folder above it.

/// A symbolic link, and the path in the tree to which it leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    pub path: Vec<u8>,
    pub target: Vec<u8>,
}

impl Link {
    /// A link with its content; nothing if it leads out of the tree.
    #[must_use]
    pub fn new(path: &[u8], content: &[u8]) -> Option<Self> {
        if content.starts_with(b"/") {
            return None;
        }
        let folder = path.iter().rposition(|byte| *byte == b'/').unwrap_or(0);
        let mut parts: Vec<&[u8]> = path[..folder]
            .split(|byte| *byte == b'/')
            .filter(|part| !part.is_empty())
            .collect();
        for part in content.split(|byte| *byte == b'/') {
            match part {
                b"" | b"." => {}
                b".." => {
                    parts.pop()?;
                }
                part => parts.push(part),
            }
        }
        Some(Link {
            path: path.to_vec(),
            target: parts.join(&b'/'),
        })
    }

    /// The path of a file through this link.
    fn path_of(&self, file: &[u8]) -> Option<Vec<u8>> {
        let rest = match self.target.as_slice() {
            b"" => Some(file),
            target if target == file => return Some(self.path.clone()),
            target => file.strip_prefix(target)?.strip_prefix(b"/"),
        };
        let is_inside = file.starts_with(&self.path) && file.get(self.path.len()) == Some(&b'/');
        rest.filter(|_| !is_inside)
            .map(|rest| [self.path.as_slice(), b"/", rest].concat())
    }
}

/// How often a link may lead to another: compilers stop somewhere, too.
const LONGEST_CHAIN: usize = 4;

/// All further paths of some files, each with what the file's own path came with.
pub(super) fn through<T: Copy>(links: &[Link], files: &[(Vec<u8>, T)]) -> Vec<(Vec<u8>, T)> {
    let mut found: Vec<(Vec<u8>, T)> = Vec::new();
    if links.is_empty() {
        return found;
    }
    let follow = |files: &[(Vec<u8>, T)]| -> Vec<(Vec<u8>, T)> {
        let pairs = files
            .iter()
            .flat_map(|file| links.iter().map(move |link| (link, file)));
        pairs
            .filter_map(|(link, (path, what))| Some((link.path_of(path)?, *what)))
            .collect()
    };
    let mut latest = follow(files);
    for _ in 0..LONGEST_CHAIN {
        if latest.is_empty() || found.len() > 4 * files.len() {
            break;
        }
        let next = follow(&latest);
        found.append(&mut latest);
        latest = next;
    }
    found.append(&mut latest);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(links: &[(&str, &str)], file: &str) -> Vec<String> {
        let links: Vec<Link> = links
            .iter()
            .filter_map(|(path, content)| Link::new(path.as_bytes(), content.as_bytes()))
            .collect();
        through(&links, &[(file.as_bytes().to_vec(), ())])
            .into_iter()
            .map(|(path, ())| String::from_utf8_lossy(&path).into_owned())
            .collect()
    }

    #[test]
    fn a_link_to_a_file_or_to_its_folder_is_a_further_path() {
        assert_eq!(paths(&[("inc/l.h", "../src/r.h")], "src/r.h"), ["inc/l.h"]);
        assert_eq!(
            paths(&[("inc/pkg", "../src")], "src/a/r.h"),
            ["inc/pkg/a/r.h"]
        );
        assert!(paths(&[("inc/pkg", "../src")], "source/r.h").is_empty());
    }

    #[test]
    fn links_lead_to_links() {
        assert_eq!(
            paths(&[("a", "b"), ("b", "c")], "c/x.h"),
            ["b/x.h", "a/x.h"]
        );
    }

    #[test]
    fn what_leads_out_of_the_tree_or_in_a_circle_ends() {
        assert!(Link::new(b"a/l", b"../../x").is_none());
        assert!(Link::new(b"l", b"/usr").is_none());
        assert!(paths(&[("l", ".")], "x.h").len() < 10);
    }
}
