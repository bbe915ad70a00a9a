//! What is kept between runs, in sled under the common git directory: for now the facts of blobs.

pub mod facts;
