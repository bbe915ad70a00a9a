//! How much goes into one page: a browser should open it at once, and what is left out is always said.

/// Selected tests, each with its reasons.
pub(super) const SELECTED: usize = 2000;
/// Reasons of one test at first sight and folded away, and edges of one reason.
pub(super) const REASONS: usize = 3;
pub(super) const MORE_REASONS: usize = 20;
pub(super) const EDGES_A_REASON: usize = 5;
/// Names of skipped tests, over all certificates.
pub(super) const SKIPPED: usize = 5000;
/// Files of one certificate.
pub(super) const FILES: usize = 20;
/// Entities that differ, and dangerous edges.
pub(super) const ENTITIES: usize = 1000;
pub(super) const EDGES: usize = 1000;
/// Tests under one edge, and those that are shown unfolded.
pub(super) const TESTS_AN_EDGE: usize = 30;
pub(super) const TESTS_UNFOLDED: usize = 8;
/// Pictures of graphs, and the bytes of all of them.
pub const PICTURES: usize = 60;
pub const PICTURE_BYTES: usize = 4 << 20;
