//! Devices as their datasheets describe them, and the catalogue of them.

pub mod device;

pub use device::{Device, DeviceKind, Peaks, Vendor};
