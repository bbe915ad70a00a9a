//! What is kept between runs, in sled under the common git directory: for now the facts of blobs.

mod database;
pub mod facts;
mod lock;
