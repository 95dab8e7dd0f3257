//! What `measure` does with a script: sides run and read, results compared, all of it reported.

mod activity;
mod compared;
mod measured;
mod report;
mod side;
mod table;

pub(crate) use activity::Activity;
pub(crate) use compared::{Compared, compare};
pub(crate) use measured::{Measured, Prediction, Reached, SCHEMA, ratio};
pub(crate) use report::{markdown, text};
pub(crate) use side::{How, Runner, Side, has_gpu};
