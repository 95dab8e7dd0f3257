//! Job logs of a cluster, streamed: which jobs waste their GPUs, by what evidence, what that costs, and what to do.
//!
//! A log is a table ([`table`]), its rows are jobs or steps of jobs ([`job`]), read by field. A block of rows becomes
//! judged
//! jobs ([`part`]) by the rules of [`judge`]; a [`Fleet`] adds them up in file order. Nothing is judged without
//! evidence, and
//! every row is counted once: judged, not judged by reason, or no job of its own.

pub mod arrow;
pub mod batch;
pub mod cells;
pub mod field;
pub mod fleet;
pub mod job;
pub mod judge;
mod mapping;
pub mod models;
pub mod names;
pub mod outcome;
pub mod part;
pub mod policy;
#[cfg(feature = "files")]
pub mod read;
pub mod recordings;
pub mod report;
pub mod rows;
pub mod table;
pub mod tally;
pub mod usage;
pub mod values;

pub use fleet::Fleet;
pub use mapping::Mapping;
pub use models::Given;
#[cfg(feature = "files")]
pub use read::{Options, run};
pub use recordings::{Recording, Recordings};
