//! One op on one device: time, how sure, and what limits it. Device time only; dispatch belongs to the timeline.

use crate::units::{Bytes, Flop, Seconds};
use serde::{Deserialize, Serialize};

/// What limits a kernel or a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Bound {
    /// Arithmetic units.
    Compute,
    /// Device memory bandwidth.
    Memory,
    /// Copies between host and device.
    Transfer,
    /// Handing kernels to the device.
    Launch,
    /// The host waiting for the device to hand a value back.
    Sync,
    /// Python and CPU code.
    Host,
}

/// Device time of one kernel (or of the few that one op needs).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KernelTime {
    /// Median device time; never below the device's smallest kernel.
    pub p50: Seconds,
    /// Standard deviation of ln(time) shared by all kernels of this family on this device.
    pub sigma_shared: f64,
    /// Standard deviation of ln(time) of this kernel alone.
    pub sigma_own: f64,
    /// `Compute`, `Memory` or `Launch` (smaller than the smallest kernel).
    pub bound: Bound,
    /// Arithmetic done.
    pub flop: Flop,
    /// Bytes moved to and from device memory.
    pub bytes: Bytes,
    /// Achieved share of the peak of what bounds it, 0–1.
    pub utilisation: f64,
    /// Kernels that one op launches.
    pub launches: u32,
}
