//! Questions about one version and its history: what a change would cost, what no test reaches, what nothing mentions (TestTube's `ttidentify` and `ttcoverage`, CIA's `deadobj`).

pub mod change;
pub mod compiled;
pub mod dead;
pub mod executed;
pub mod impact;
mod outside;
mod past;
mod pasting;
pub mod pattern;
pub mod uncovered;

pub use outside::words_outside;
pub use past::{Past, made_before, past};
