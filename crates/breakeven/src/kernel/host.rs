//! What the host link carries. The timeline has its own copy engines; this is the time of one copy alone.

use super::cost::{Cost, Job};
use super::machine::Machine;

/// Share of the link's rate that a large copy reaches.
const LINK_SHARE: f64 = 0.8;
/// PCIe 3.0 ×16 where the datasheet says nothing, B/s.
const DEFAULT_LINK: f64 = 15.75e9;

pub(super) fn link(machine: &Machine<'_>, job: &Job) -> Cost {
    let rate = machine.device.host_link.map_or(DEFAULT_LINK, |r| r.get()).max(1.0);
    let seconds = job.bytes / (rate * LINK_SHARE);
    Cost { chain: seconds, launches: 1.0, bytes: job.bytes, link: true, ..Cost::NOTHING }
}
