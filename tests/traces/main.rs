//! Traces of real programs, compiled by clang and gcc, against expectations that were worked out by hand.

#![allow(clippy::unwrap_used, clippy::panic)]

mod bench;
mod copies;
mod damage;
mod kinds;
mod lost;
mod widening;
