//! A workload on one GPU as tasks for the timeline.

use super::hosttime::HostTime;
use crate::hardware::Device;
use crate::interval::Z90;
use crate::kernel::{Bound, kernel_time};
use crate::port::{Counterpart, PortProfile};
use crate::timeline::{Slot, Task};
use crate::units::Bytes;
use crate::workload::op::Direction;
use crate::workload::{Entry, Family, Op, Workload};

/// How arrays travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// Arrays stay on the device; copies at real entries and exits only.
    Resident,
    /// Each call copies its inputs in and its outputs out.
    Naive,
}

/// What to believe of the ops that are not understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpaqueTime {
    /// They stay on the host and take there what they took.
    OnHost,
    /// They cost nothing: the best case.
    Zero,
}

/// Fixed cost of one copy between host and device, s. Driver call and DMA set-up; the usual figure in CUDA's own
/// best-practice texts is "about 10 µs".
pub const COPY_LATENCY: f64 = 10e-6;
/// Share of the link's rate that a copy from ordinary (pageable) memory reaches; it is staged through a pinned buffer.
pub const PAGEABLE: f64 = 0.5;
/// The same from page-locked memory.
pub const PINNED: f64 = 0.8;
/// Assumed link where the catalogue knows none: PCIe 3.0 x16, B/s.
const FALLBACK_LINK: f64 = 15.75e9;

/// One entry's device time and what it rests on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EntryTime {
    /// All runs together, s.
    pub device: f64,
    /// Shared with its family on this device.
    pub sigma_shared: f64,
    /// Its own.
    pub sigma_own: f64,
    /// See [`Family`].
    pub family: Family,
    /// Achieved share of the peak of what bounds it.
    pub utilisation: f64,
    /// What bounds it.
    pub bound: Bound,
}

/// Everything the timeline and the report need of one workload on one GPU.
#[derive(Clone, Debug)]
pub struct Plan {
    /// By entry index; the last one is the time outside all ops.
    pub tasks: Vec<Task>,
    /// By entry index.
    pub entries: Vec<EntryTime>,
    /// Kernel launches.
    pub launches: u64,
    /// Copied in, bytes.
    pub h2d_bytes: f64,
    /// Copied out, bytes.
    pub d2h_bytes: f64,
    /// ln-sigma of the dispatch costs.
    pub dispatch_sigma: f64,
}

/// Lays `workload` out for `device`.
pub fn plan(
    workload: &Workload,
    host: &HostTime,
    device: &Device,
    profile: &PortProfile,
    host_speed: f64,
    policy: Policy,
    opaque: OpaqueTime,
) -> Plan {
    let link = Link::of(device);
    let mut out = Plan {
        tasks: Vec::with_capacity(workload.ops.len() + 1),
        entries: Vec::with_capacity(workload.ops.len()),
        launches: 0,
        h2d_bytes: 0.0,
        d2h_bytes: 0.0,
        dispatch_sigma: 0.0,
    };
    let (mut dispatch_p50, mut dispatch_p90) = (0.0, 0.0);
    for entry in &workload.ops {
        let runs = entry.count.max(1) as f64;
        let gap = entry.gap_ns as f64 * 1e-9 * host.gap_scale / runs / host_speed;
        let on_cpu = entry.cpu_ns as f64 * 1e-9 * host.cpu_scale / runs / host_speed;
        let dispatch = profile.dispatch(&entry.name, &entry.op);
        dispatch_p50 += dispatch.p50 * runs;
        dispatch_p90 += dispatch.p90 * runs;
        let mut task = Task { gap, dispatch: dispatch.p50 / host_speed, ..Task::NONE };
        let mut time = EntryTime {
            device: 0.0,
            sigma_shared: 0.0,
            sigma_own: 0.0,
            family: entry.op.family(),
            utilisation: 0.0,
            bound: Bound::Launch,
        };
        let (mut up, mut down) = (0.0, 0.0);
        match place(entry, profile) {
            Place::Kernel => {
                let k = kernel_time(
                    &entry.op,
                    entry.dtype,
                    Bytes(entry.read_bytes as f64),
                    Bytes(entry.written_bytes as f64),
                    device,
                );
                let launches = entry.kernels.max(u64::from(profile.launches(&entry.name, &entry.op).max(k.launches)));
                task.device = k.p50.get();
                task.launches = launches.min(u64::from(u32::MAX)) as u32;
                task.wait = profile.waits(&entry.name, &entry.op);
                task.slot = match k.bound {
                    Bound::Compute => Slot::Compute,
                    Bound::Launch => Slot::Launch,
                    _ => Slot::Memory,
                };
                time = EntryTime {
                    device: k.p50.get() * runs,
                    sigma_shared: k.sigma_shared,
                    sigma_own: k.sigma_own,
                    family: entry.op.family(),
                    utilisation: k.utilisation,
                    bound: k.bound,
                };
                out.launches = out.launches.saturating_add(launches.saturating_mul(entry.count));
                match policy {
                    Policy::Resident => {
                        up = entry.host_input_bytes as f64 / runs;
                        task.upload = link.copies(up, entry.host_input_count as f64 / runs);
                    }
                    Policy::Naive => {
                        up = entry.read_bytes as f64;
                        down = entry.written_bytes as f64;
                        task.upload = link.copy(up);
                        task.download = link.copy(down);
                    }
                }
            }
            Place::Dispatch => {}
            Place::Host => {
                task.dispatch = 0.0;
                task.on_host = match (&entry.op, opaque) {
                    (Op::Opaque, OpaqueTime::Zero) => 0.0,
                    _ => on_cpu,
                };
                let computed = !matches!(entry.op, Op::Opaque | Op::HostOnly);
                if policy == Policy::Resident && computed {
                    down = (entry.read_bytes as f64 - entry.host_input_bytes as f64 / runs).max(0.0);
                    up = entry.written_bytes as f64;
                    task.download = link.copy(down);
                    task.upload_after = link.copy(up);
                }
            }
            Place::Read(bytes) => {
                task.wait = true;
                if policy == Policy::Resident {
                    down = bytes;
                    task.download = link.copy(bytes);
                } else {
                    task.wait = false;
                    task.dispatch = 0.0;
                }
            }
            Place::Copy { direction, bytes, pinned } => {
                let t = link.explicit(bytes, pinned);
                match direction {
                    Direction::H2d => (up, task.upload) = (bytes, t),
                    Direction::D2h => {
                        down = bytes;
                        task.wait = true;
                        task.download = t;
                    }
                    Direction::D2d => {
                        task.device = (Bytes(2.0 * bytes) / device.bandwidth).get();
                        task.launches = 1;
                    }
                }
            }
            Place::Wait => task.wait = true,
        }
        out.h2d_bytes += up * runs;
        out.d2h_bytes += down * runs;
        out.tasks.push(task);
        out.entries.push(time);
    }
    out.tasks.push(Task { gap: host.outside / host_speed, ..Task::NONE });
    if dispatch_p50 > 0.0 {
        out.dispatch_sigma = libm::log(dispatch_p90 / dispatch_p50) / Z90;
    }
    out
}

enum Place {
    Kernel,
    Dispatch,
    Host,
    Read(f64),
    Copy { direction: Direction, bytes: f64, pinned: bool },
    Wait,
}

fn place(entry: &Entry, profile: &PortProfile) -> Place {
    match &entry.op {
        Op::View => Place::Dispatch,
        Op::HostRead { bytes } => Place::Read(*bytes as f64),
        Op::Synchronise => Place::Wait,
        Op::Transfer { direction, bytes, pinned } => {
            Place::Copy { direction: *direction, bytes: *bytes as f64, pinned: *pinned }
        }
        Op::HostOnly | Op::Opaque | Op::Collective { .. } => Place::Host,
        _ => match profile.counterpart(&entry.name) {
            Counterpart::Device(_) => Place::Kernel,
            Counterpart::View(_) => Place::Dispatch,
            Counterpart::Host(_) => Place::Host,
        },
    }
}

/// What a copy takes on one device.
struct Link {
    bytes_per_s: f64,
    unified: bool,
}

impl Link {
    fn of(device: &Device) -> Self {
        let bytes_per_s = device.host_link.map_or(FALLBACK_LINK, |l| l.get());
        Self { bytes_per_s, unified: device.unified_memory }
    }

    fn copy(&self, bytes: f64) -> f64 {
        self.copies(bytes, if bytes > 0.0 { 1.0 } else { 0.0 })
    }

    fn copies(&self, bytes: f64, count: f64) -> f64 {
        if self.unified || bytes <= 0.0 { 0.0 } else { bytes / (self.bytes_per_s * PAGEABLE) + count * COPY_LATENCY }
    }

    fn explicit(&self, bytes: f64, pinned: bool) -> f64 {
        let share = if pinned { PINNED } else { PAGEABLE };
        if self.unified { 0.0 } else { bytes / (self.bytes_per_s * share) + COPY_LATENCY }
    }
}
