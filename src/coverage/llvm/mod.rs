//! Clang's source coverage: raw profiles, the maps inside binaries, and what the counters of one say about the other. Plain data, no policy.

pub mod binary;
pub mod counts;
mod cursor;
mod expressions;
mod file_tables;
mod function;
mod inflate;
pub mod map;
pub mod names;
pub mod profile;
mod unreadable;

pub use unreadable::Unreadable;
