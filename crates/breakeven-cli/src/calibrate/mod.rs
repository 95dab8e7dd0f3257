//! `calibrate`: what Python measures is kept line by line, and becomes a machine file.

mod journal;
mod kit;
pub(crate) mod machine_file;
mod report;
mod told;

pub(crate) use journal::Journal;
pub(crate) use kit::{Ask, run};
pub(crate) use report::{markdown, text};
pub(crate) use told::Told;
