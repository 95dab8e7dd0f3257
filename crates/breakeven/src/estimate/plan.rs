//! A workload on one GPU as tasks for the timeline.

use super::hosttime::HostTime;
use crate::hardware::Device;
use crate::interval::{Interval, Z90};
use crate::kernel::{self, Bound, Link};
use crate::port::{self, Callable, Counterpart, PortProfile, Work};
use crate::timeline::{Machine, STREAMS, Slot, Task};
use crate::units::Bytes;
use crate::workload::op::Direction;
use crate::workload::{Entry, Family, InGraph, Op, Phase, Site, Workload};
use std::collections::BTreeMap;

/// How arrays travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// Arrays stay on the device; copies at real entries and exits only.
    Resident,
    /// Each call copies its inputs in and its outputs out.
    Naive,
    /// The program uses a GPU library itself: it copies where it says so, waits where it says so, and what has no
    /// device stays on the host.
    AsWritten,
}

impl Policy {
    /// As options and answers name it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Resident => "resident",
            Self::Naive => "naive",
            Self::AsWritten => "as-written",
        }
    }
}

/// A kernel that moves its bytes at less than this share of the memory's rate waits for something else.
const IDLE: f64 = 0.01;

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

impl EntryTime {
    /// Nothing on the device.
    const NONE: Self = Self {
        device: 0.0,
        sigma_shared: 0.0,
        sigma_own: 0.0,
        family: Family::Opaque,
        utilisation: 0.0,
        bound: Bound::Launch,
    };
}

/// The whole program's time by what it does, each as if nothing overlapped, s.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sums {
    /// Python and CPU code that does not grow with the arrays; start-up of the script excluded.
    pub host: f64,
    /// Array work that stays on the host.
    pub on_host: f64,
    /// Handing ops over.
    pub dispatch: f64,
    /// Kernels.
    pub device: f64,
    /// What these kernels take however little they do.
    pub smallest: f64,
    /// Copies either way.
    pub copies: f64,
    /// If every call copied in and out, one thing after the other.
    pub naive: f64,
    /// The copies of that.
    pub naive_copies: f64,
}

/// Everything the timeline and the report need of one workload on one GPU.
#[derive(Clone, Debug, Default)]
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
    /// Copies in.
    pub h2d_copies: f64,
    /// Copies out.
    pub d2h_copies: f64,
    /// ln-sigma of the dispatch costs.
    pub dispatch_sigma: f64,
    /// See [`Sums`].
    pub sums: Sums,
}

/// What of one entry does not depend on the GPU: looked up once, used for each.
#[derive(Clone, Copy, Debug)]
struct Prepared {
    place: Place,
    runs: f64,
    gap: f64,
    on_cpu: f64,
    dispatch: f64,
    /// Part of a graph that is handed over as a whole.
    node: bool,
    waits: bool,
    stream: u8,
    work: Work,
}

/// A workload under one port, ready to be laid out on any GPU.
#[derive(Clone, Debug)]
pub struct Port<'a> {
    workload: &'a Workload,
    prepared: Vec<Prepared>,
    outside: f64,
    startup: f64,
    dispatch_sigma: f64,
    machine: Machine,
    policy: Policy,
    profile: &'static PortProfile,
}

impl<'a> Port<'a> {
    /// Looks up every entry; times are those of a host `host_speed` as fast as the recording one. `profile` is the
    /// library that a NumPy program would be ported to; a program as it is written is of its own library.
    pub fn new(
        workload: &'a Workload,
        host: &HostTime,
        profile: &'static PortProfile,
        host_speed: f64,
        policy: Policy,
    ) -> Self {
        let (mut p50, mut p90) = (0.0, 0.0);
        let mut streams: Vec<u32> = Vec::new();
        let gap_speed = host.gap_speed(host_speed);
        let lacking: Vec<bool> = workload.sites.iter().map(|site| lacks(profile, site)).collect();
        // Programs call few functions, each in many shapes.
        let mut callables: BTreeMap<&str, Callable> = BTreeMap::new();
        let mut prepare = |entry: &'a Entry| {
            let runs = entry.count.max(1) as f64;
            let name = entry.name.as_str();
            let callable = *callables.entry(name).or_insert_with(|| {
                let own = match policy {
                    Policy::AsWritten => port::of(name),
                    Policy::Resident | Policy::Naive => profile.for_callable(name),
                };
                own.callable(name)
            });
            let own = callable.profile;
            let (place, dispatch, waits) = match policy {
                // What a call waits for by itself was recorded as a read.
                Policy::AsWritten => (
                    place_as_written(entry),
                    callable.written(&entry.op).1,
                    matches!(entry.op, Op::HostRead { .. } | Op::Synchronise),
                ),
                Policy::Resident | Policy::Naive => {
                    let via = workload.sites.get(entry.site as usize).and_then(|site| site.via.as_deref());
                    let lacking = lacking.get(entry.site as usize).is_some_and(|lacking| *lacking);
                    (place(entry, (via, lacking), &callable), callable.dispatch(&entry.op), callable.waits(&entry.op))
                }
            };
            let place = in_graph(entry, place);
            let dispatch = match entry.graph {
                Some(InGraph::Launch) => own.graph_launch(),
                Some(InGraph::Node) => Interval::exact(0.0),
                Some(InGraph::Capture) | None => dispatch,
            };
            if !matches!(place, Place::Host { .. }) {
                p50 += dispatch.p50 * host.pace(own.name) * runs;
                p90 += dispatch.p90 * host.pace(own.name) * runs;
            }
            let node = entry.graph == Some(InGraph::Node);
            Prepared {
                place,
                runs,
                gap: if node { 0.0 } else { entry.gap_ns as f64 * 1e-9 * host.gap_scale / runs / gap_speed },
                on_cpu: entry.cpu_ns as f64 * 1e-9 * host.cpu_scale / runs / host_speed,
                dispatch: dispatch.p50 * host.pace(own.name) / host_speed,
                node,
                waits,
                stream: entry.stream.map_or(0, |stream| among(&mut streams, stream)),
                work: callable.work(&entry.op),
            }
        };
        let mut prepared: Vec<Prepared> = workload.ops.iter().map(&mut prepare).collect();
        if policy != Policy::AsWritten && !prepared.iter().any(|ready| matches!(ready.place, Place::Kernel)) {
            prepared.iter_mut().for_each(|ready| ready.place = ready.place.at_home());
        }
        Self {
            workload,
            prepared,
            outside: host.outside / gap_speed,
            startup: (host.startup / host_speed).min(host.outside / gap_speed),
            dispatch_sigma: if p50 > 0.0 { libm::log(p90 / p50) / Z90 } else { 0.0 },
            machine: Machine {
                launch_latency: profile.launch_latency().p50,
                sync_latency: profile.sync_latency().p50,
                queue_depth: 1024,
            },
            policy,
            profile,
        }
    }

    /// Latencies and queue of the device under this port.
    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    /// What of the time outside all ops is the script's own start-up, s.
    pub fn host_startup(&self) -> f64 {
        self.startup
    }

    /// The array library by its name: `cupy`.
    pub fn library(&self) -> &'static str {
        self.profile.name
    }

    /// What it costs, and what becomes of each callable in it.
    pub fn profile(&self) -> &'static PortProfile {
        self.profile
    }

    /// How arrays travel in it.
    pub fn policy(&self) -> Policy {
        self.policy
    }

    /// Lays the workload out for `device`.
    pub fn plan(&self, device: &Device) -> Plan {
        self.plan_in(device, Plan::default())
    }

    /// [`Self::plan`] in the memory of a plan that is no longer needed.
    pub fn plan_in(&self, device: &Device, old: Plan) -> Plan {
        let (machine, link) = (kernel::Machine::of(device), Link::of(device));
        let (mut tasks, mut entries) = (old.tasks, old.entries);
        tasks.clear();
        tasks.reserve(self.prepared.len() + 1);
        entries.clear();
        entries.reserve(self.prepared.len());
        let sums = Sums { host: self.outside - self.startup, naive: self.outside - self.startup, ..Sums::default() };
        let mut out = Plan { tasks, entries, dispatch_sigma: self.dispatch_sigma, sums, ..Plan::default() };
        for (entry, ready) in self.workload.ops.iter().zip(&self.prepared) {
            self.lay(entry, ready, &machine, &link, &mut out);
        }
        out.tasks.push(Task { gap: self.outside, ..Task::NONE });
        out
    }

    fn lay(&self, entry: &Entry, ready: &Prepared, machine: &kernel::Machine, link: &Link, out: &mut Plan) {
        let device = machine.device();
        let (runs, policy) = (ready.runs, self.policy);
        let mut task = Task { gap: ready.gap, dispatch: ready.dispatch, stream: ready.stream, ..Task::NONE };
        let mut time = EntryTime { family: entry.op.family(), ..EntryTime::NONE };
        let (mut up, mut down) = (0.0, 0.0);
        let mut copies_in = None;
        let mut naive = ready.gap;
        let mut naive_copies = 0.0;
        let mut smallest = 0.0;
        match ready.place {
            Place::Kernel => {
                let (read, written) = (entry.read_bytes as f64, entry.written_bytes as f64);
                let k = ready.work.time(entry, machine);
                let launches = u64::from(k.launches);
                task.device = k.p50.get();
                smallest = k.smallest.get();
                task.launches = launches.min(u64::from(u32::MAX)) as u32;
                task.slot = match k.bound {
                    Bound::Compute => Slot::Compute,
                    Bound::Launch => Slot::Launch,
                    // Passes over a few numbers, each after the other (a sort): no memory is that slow.
                    _ if read + written < IDLE * device.bandwidth.get() * task.device => Slot::Launch,
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
                if !ready.node {
                    out.launches = out.launches.saturating_add(launches.saturating_mul(entry.count));
                }
                let serial = self.machine.launch_latency + self.machine.sync_latency + ready.dispatch + task.device;
                naive_copies = link.up(read) + link.down(written);
                naive += naive_copies + serial;
                match policy {
                    Policy::Resident => {
                        up = entry.host_input_bytes as f64 / runs;
                        let copies = entry.host_input_count as f64 / runs;
                        copies_in = Some(copies);
                        task.upload = link.ups(up, copies);
                        task.wait = ready.waits;
                        down = if ready.waits { TOLD } else { 0.0 };
                    }
                    Policy::AsWritten => task.wait_stream = ready.waits,
                    Policy::Naive => {
                        (up, down) = (read, written);
                        task.upload = link.up(up);
                        task.download = link.down(down);
                        task.wait = true;
                    }
                }
            }
            Place::Dispatch => {
                naive += ready.dispatch;
                if entry.graph == Some(InGraph::Launch) {
                    out.launches = out.launches.saturating_add(entry.count);
                }
            }
            Place::Host { computes } => {
                naive += ready.on_cpu;
                task.dispatch = 0.0;
                task.on_host = ready.on_cpu;
                if policy == Policy::Resident && computes {
                    down = (entry.read_bytes as f64 - entry.host_input_bytes as f64 / runs).max(0.0);
                    up = entry.written_bytes as f64;
                    task.download = link.down(down);
                    task.upload_after = link.up(up);
                }
            }
            Place::Read(bytes) => match policy {
                Policy::Resident | Policy::AsWritten => {
                    task.wait_stream = true;
                    down = bytes;
                    task.download = link.down(bytes);
                }
                Policy::Naive => task.dispatch = 0.0,
            },
            Place::Copy { direction, bytes, pinned } => {
                let t = link.explicit(direction, bytes, pinned);
                naive += ready.dispatch + t;
                task.asynchronous = entry.op.is_copied_beside();
                match direction {
                    Direction::H2d => (up, task.upload) = (bytes, t),
                    Direction::D2h => {
                        (down, task.download) = (bytes, t);
                        task.wait_stream = !task.asynchronous;
                    }
                    Direction::D2d => {
                        task.device = (Bytes(2.0 * bytes) / device.bandwidth).get();
                        task.launches = 1;
                    }
                    // The host's own work, before anything is copied.
                    Direction::H2h => task.on_host = t,
                }
            }
            Place::Wait => {
                naive += ready.dispatch + self.machine.sync_latency;
                task.wait = entry.stream.is_none();
                task.wait_stream = !task.wait;
            }
            Place::JoinStreams => {
                naive += ready.dispatch;
                task.joins_streams = true;
            }
        }
        let one_if = |bytes: f64| if bytes > 0.0 { 1.0 } else { 0.0 };
        out.h2d_bytes += up * runs;
        out.d2h_bytes += down * runs;
        out.h2d_copies += copies_in.unwrap_or_else(|| one_if(up)) * runs;
        out.d2h_copies += one_if(down) * runs;
        let sums = &mut out.sums;
        let stays = matches!(ready.place, Place::Host { computes: false });
        sums.host += (task.gap + if stays { task.on_host } else { 0.0 }) * runs;
        sums.on_host += if stays { 0.0 } else { task.on_host * runs };
        sums.dispatch += task.dispatch * runs;
        sums.device += task.device * runs;
        sums.smallest += smallest * runs;
        sums.copies += (task.upload + task.download + task.upload_after) * runs;
        sums.naive += naive * runs;
        sums.naive_copies += naive_copies * runs;
        out.tasks.push(task);
        out.entries.push(time);
    }
}

/// What a call reads back by itself: a count, or a state.
const TOLD: f64 = 8.0;

/// Where an entry runs, and as what.
#[derive(Clone, Copy, Debug)]
enum Place {
    Kernel,
    Dispatch,
    /// On the host; `computes` when its arrays come from the device and go back there.
    Host {
        computes: bool,
    },
    Read(f64),
    Copy {
        direction: Direction,
        bytes: f64,
        pinned: bool,
    },
    Wait,
    JoinStreams,
}

impl Place {
    /// The same where the device is given no work: nothing is read or copied from it.
    fn at_home(self) -> Self {
        match self {
            Self::Read(_) | Self::Host { .. } => Self::Host { computes: false },
            other => other,
        }
    }
}

/// Whether a line calls a function of SciPy's that the library has nothing for.
pub fn lacks(profile: &'static PortProfile, site: &Site) -> bool {
    site.via.as_deref().is_some_and(|via| via.starts_with("scipy.") && profile.for_callable(via).lacks(via))
}

fn place(entry: &Entry, (via, lacking): (Option<&str>, bool), callable: &Callable) -> Place {
    // Rows of a dataframe are pandas' own objects, on the host, and their numbers are taken from there.
    let rows = |via: &str| {
        let number = matches!(entry.op, Op::HostRead { .. });
        via.starts_with("pandas.") && (number || via.ends_with(".iterrows")) && !matches!(entry.op, Op::View)
    };
    // The host has what it prepares itself.
    let read = matches!(entry.op, Op::HostRead { .. } | Op::Transfer { direction: Direction::D2h, .. });
    // NumPy's arrays in a program of another library are the host's, and so are what it reads of them and their views.
    let of_another = port::of(&entry.name).name != callable.profile.name;
    let at_home = (read && entry.phase == Some(Phase::Data))
        || (of_another && matches!(entry.op, Op::HostRead { .. } | Op::View));
    // What a function of SciPy does that no library has is done on the host, call by call.
    if lacking || at_home || via.is_some_and(rows) {
        return Place::Host { computes: false };
    }
    place_of(entry).unwrap_or_else(|| match callable.counterpart {
        // What a data loader does stays with it.
        _ if entry.phase == Some(Phase::Data) || of_another => Place::Host { computes: false },
        Counterpart::Device(_) => Place::Kernel,
        Counterpart::View(_) => Place::Dispatch,
        Counterpart::Host(_) => Place::Host { computes: true },
    })
}

/// Where the op itself says it; `None` for array work.
fn place_of(entry: &Entry) -> Option<Place> {
    Some(match &entry.op {
        Op::View => Place::Dispatch,
        Op::HostRead { bytes } => Place::Read(*bytes as f64),
        Op::Synchronise => Place::Wait,
        Op::StreamWait => Place::JoinStreams,
        Op::Transfer { direction, bytes, pinned, .. } => {
            Place::Copy { direction: *direction, bytes: *bytes as f64, pinned: *pinned }
        }
        Op::HostOnly | Op::Opaque | Op::Collective { .. } => Place::Host { computes: false },
        _ => return None,
    })
}

/// What has a device runs there, whoever else would know how to; the rest is the host's own.
fn place_as_written(entry: &Entry) -> Place {
    match entry.device {
        Some(_) => place_of(entry).unwrap_or(Place::Kernel),
        None => Place::Host { computes: false },
    }
}

/// Nothing runs on the device while it is recorded into a graph, and nothing on the host when that is run.
fn in_graph(entry: &Entry, place: Place) -> Place {
    match (entry.graph, place) {
        (Some(InGraph::Capture), Place::Kernel | Place::Copy { .. }) => Place::Dispatch,
        (Some(InGraph::Node), Place::Host { .. }) => Place::Dispatch,
        (_, place) => place,
    }
}

/// The number of a stream among those of a program: those beyond [`STREAMS`] share the last.
fn among(streams: &mut Vec<u32>, stream: u32) -> u8 {
    if stream == 0 {
        return 0;
    }
    let place = streams.iter().position(|&known| known == stream).unwrap_or_else(|| {
        streams.push(stream);
        streams.len() - 1
    });
    (place + 1).min(STREAMS - 1) as u8
}
