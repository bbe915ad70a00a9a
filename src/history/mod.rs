//! What is kept between runs, in sled under the common git directory: the facts of blobs, and the histories of tests.

mod compiled;
mod copy;
mod database;
mod experience;
pub mod facts;
mod functions;
mod generations;
mod histories;
#[expect(
    clippy::module_inception,
    reason = "a history is what this room is about"
)]
mod history;
mod inbox;
mod ledger;
mod lock;
mod looked;
mod numbers;
mod objects;
mod open;
mod pages;
mod record;
mod recording;
mod roots;
mod store;
mod test_set;
mod tests_by_number;

pub use compiled::{Compiled, Product};
pub use experience::{Experience, Experiences};
pub use functions::FunctionTraces;
pub use generations::size_on_disk;
pub use histories::{Freed, Histories, Kept, PATIENCE, PastRun, Summary, Written, keep};
pub use history::History;
pub use ledger::{Entry, Ledger, Miss};
pub use looked::{Beyond, Looked};
pub use record::{About, BeyondTrace, Outcome, Outside, TestRecord, Uncounted, VersionKey};
pub use recording::Recording;
pub use test_set::TestNumber;
