//! Languages: a blob becomes entities and control-flow graphs.

pub mod c;
pub mod cfg;
pub mod cplusplus;
pub mod facts;
