//! Regression test selection for C, as the library behind the `git-rts` binary.

pub mod commands;
pub mod compare;
pub mod config;
pub mod coverage;
pub mod difference;
pub mod digest;
pub mod emit;
pub mod error;
pub mod exit_code;
pub mod history;
pub mod hooks;
pub mod lang;
pub mod masquerade;
pub mod objects;
pub mod order;
pub mod program;
pub mod query;
pub mod recording;
pub mod repo;
pub mod runner;
pub mod select;
pub mod selection;
pub mod simulate;
pub mod trace;
pub mod witness;
mod workers;
pub mod workshop;
