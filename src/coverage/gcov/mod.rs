//! What gcc's `--coverage` recorded, read from the `.gcno` and `.gcda` files themselves: calling `gcov` for each test costs a hundred times more.
//!
//! The compiler writes *notes*, one file for each object: the blocks of each function, the arcs between them, the source lines of each block. A program that ends by `exit` writes *data*: a counter for each arc that is not on a spanning tree of the graph. The remaining counts follow, because what enters a block leaves it.

mod bytes;
pub mod collect;
pub mod data;
pub mod executed;
pub mod notes;
pub mod solve;
mod unreadable;

pub use unreadable::Unreadable;
