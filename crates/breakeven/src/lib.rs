//! Should this Python calculation run on a GPU? On which one, how fast, at what cost and energy?
//!
//! The engine of breakeven: text and bytes in, estimates out. It opens no file, reads no clock and no environment,
//! starts no thread and builds for wasm32 with the same digits as natively. The faces (command, page, Python, server)
//! carry data to it and show what comes back.
//!
//! The way through: a [`workload::Workload`] (recorded, imported or described) and a [`hardware::Device`] meet in the
//! [`kernel`] model.

pub mod advice;
pub mod answer;
pub mod calculator;
pub mod calibration;
pub mod carry;
pub mod choice;
pub mod compiled;
pub mod crossover;
pub mod error;
pub mod estimate;
pub mod growth;
pub mod hardware;
pub mod interval;
pub mod kernel;
pub mod libraries;
pub mod lower;
pub mod place;
pub mod policy;
pub mod port;
pub mod quantity;
pub mod reasons;
pub mod report;
pub mod request;
pub mod several;
pub mod spend;
pub mod table;
pub mod timeline;
pub mod units;
pub mod workload;

pub use error::{Error, Result};
