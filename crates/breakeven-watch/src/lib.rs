//! What GPUs do over time, as their drivers tell it, and what held them back.
//!
//! [`Machine`] finds the GPUs and reads them; [`watch`] looks at each deadline and hands a [`Sample`] to everyone who
//! takes one: [`Totals`] adds up, [`History`] keeps the course in bounded memory, [`save::Writer`] writes a file.

mod energy;
mod gpu;
mod history;
pub mod judge;
mod reading;
pub mod report;
pub mod save;
mod session;
pub mod smaller;
mod source;
mod totals;
mod users;

pub use energy::{By, Meter};
pub use gpu::{Busy, Gpu, pcie};
pub use history::{History, Moment};
pub use judge::{HeldBack, Verdict, judge};
pub use reading::{Field, HEAT, Note, POWER, Process, Reading, SETTING, Sample};
pub use session::{Plan, Sink, watch};
pub use source::Machine;
pub use totals::{DeviceTotals, Idle, Stat, Totals};
pub use users::{User, Users};
