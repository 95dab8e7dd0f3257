//! Devices as their datasheets describe them, and the catalogue of them.

pub mod catalogue;
#[cfg(test)]
mod checks;
pub mod cpu;
mod curves;
pub mod date;
pub mod device;
pub mod figure;
mod find;
pub mod gpu;
pub mod grid;
pub mod instance;
mod json;
mod lean;
pub mod lists;
#[cfg(test)]
mod overrides;
pub mod price;
mod series;
pub mod smaller;
mod table;

pub use catalogue::Catalogue;
pub use cpu::Cpu;
pub use date::Date;
pub use device::{Device, DeviceKind, Peaks, Vendor};
pub use find::Match;
pub use gpu::Gpu;
pub use json::{cpus_json, gpus_json};
pub use lean::{cited, lean};
