//! A set of edges of one function, by their places in its graph.

use serde::{Deserialize, Serialize};

/// A bitmap without trailing zeros, so that equal sets are equal values.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct EdgeSet(Vec<u8>);

impl EdgeSet {
    pub fn insert(&mut self, edge: usize) {
        if self.0.len() <= edge / 8 {
            self.0.resize(edge / 8 + 1, 0);
        }
        self.0[edge / 8] |= 1 << (edge % 8);
    }

    #[must_use]
    pub fn contains(&self, edge: usize) -> bool {
        self.0
            .get(edge / 8)
            .is_some_and(|byte| byte & (1 << (edge % 8)) != 0)
    }

    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.0.len() * 8).filter(|edge| self.contains(*edge))
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn union(&mut self, other: &EdgeSet) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            *mine |= theirs;
        }
    }
}

impl FromIterator<usize> for EdgeSet {
    fn from_iter<I: IntoIterator<Item = usize>>(edges: I) -> Self {
        let mut set = EdgeSet::default();
        for edge in edges {
            set.insert(edge);
        }
        set
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_holds_what_was_put_in() {
        let set: EdgeSet = [3, 17, 8].into_iter().collect();
        assert_eq!(set.iter().collect::<Vec<_>>(), [3, 8, 17]);
        assert!(!set.contains(4) && !set.contains(1000));
    }

    #[test]
    fn a_union_holds_both() {
        let mut set: EdgeSet = [1].into_iter().collect();
        set.union(&[40, 1].into_iter().collect());
        assert_eq!(set, [1, 40].into_iter().collect());
    }
}
