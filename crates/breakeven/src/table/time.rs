//! The time of a row on a device.

use super::events;
use super::row::Row;
use crate::hardware::{Device, DeviceKind};
use crate::interval::Interval;
use crate::kernel::{Bound, Support, gaps, kernel_time};
use crate::quantity::format_bytes;
use crate::units::Bytes;
use crate::workload::{Dtype, Op};
use serde::Deserialize;

/// What a time is taken with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Clock {
    /// Device time alone, many launches apart.
    #[default]
    Device,
    /// Events around one eager call on an idle device: a host's launch is in it, and is its floor.
    Events,
}

/// Time of one kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct Timed {
    /// Microseconds.
    pub time_us: Interval,
    /// What limits it.
    pub bound: Bound,
    /// What a reader should know: an emulated dtype, figures that the device's row lacks.
    pub note: Option<Box<str>>,
}

/// Time of `row` on `device`.
///
/// # Errors
/// What cannot be: arrays of more than twice the device's memory, a dtype that the device cannot hold.
pub fn timed(row: &Row, device: &Device, clock: Clock) -> Result<Timed, String> {
    let (op, dtype) = (row.op(), row.dtype());
    let needs = op.min_bytes(dtype);
    // In place, an op needs half of what it reads and writes.
    if needs.get() > 2.0 * device.memory.get() {
        let [needs, has] = [needs, device.memory].map(format_bytes);
        return Err(format!("`{}` moves {needs}, and {} has {has}", row.name(), device.id));
    }
    // A CPU clears the pages of a large result first: it matters how much of the traffic that is.
    let written = if device.kind == DeviceKind::Cpu { result(&op, dtype) } else { Bytes::ZERO }.min(needs);
    let read = if written.get() > 0.0 { needs - written } else { Bytes::ZERO };
    let k = kernel_time(&op, dtype, read, written, device);
    let mut notes = Vec::new();
    match k.support {
        Support::Native => {}
        Support::Emulated => notes.push(format!("{} has no units for {}: emulated", device.id, dtype.name())),
        Support::Refused => return Err(format!("{} cannot compute in {}", device.id, dtype.name())),
    }
    let missing = gaps(device, op.family(), dtype);
    if !missing.is_empty() {
        notes.push(format!("wider, for {} lacks: {}", device.id, missing.join(", ")));
    }
    let sigma = libm::hypot(k.sigma_shared, k.sigma_own);
    let device_us = Interval::log_normal(k.p50.get() * 1e6, sigma);
    let (time_us, bound) = match clock {
        Clock::Events if device.kind == DeviceKind::Gpu => events::clocked(op.family(), device_us, k.bound),
        _ => (device_us, k.bound),
    };
    Ok(Timed { time_us, bound, note: (!notes.is_empty()).then(|| notes.join("; ").into()) })
}

/// Bytes of an op's result, where it is an array of the op's own size.
fn result(op: &Op, dtype: Dtype) -> Bytes {
    let elements = match *op {
        Op::Elementwise { n, .. } | Op::Copy { n, .. } | Op::Gather { n, .. } | Op::Random { n, .. } => n as f64,
        Op::Rowwise { rows, width, .. } | Op::Scan { rows, width } => rows as f64 * width as f64,
        Op::Matmul { m, n, batch, .. } => m as f64 * n as f64 * batch as f64,
        _ => 0.0,
    };
    Bytes(elements * dtype.bytes() as f64)
}
