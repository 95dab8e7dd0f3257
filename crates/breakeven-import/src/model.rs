//! What every reader fills: kernels, copies, calls, waits, steps and host ops, free of any tool's words.

use crate::kind::Kind;
use crate::lanes::Lanes;
use crate::names::{Name, Names};
use crate::span::{Span, Tally, When};
use breakeven::carry::Work;
use std::collections::BTreeMap;
use std::num::NonZeroU32;

/// A GPU as the file describes it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gpu {
    /// Its name, where the file gives one.
    pub name: Option<String>,
}

/// One kernel on one GPU. Files hold ten million of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kernel {
    /// When it ran.
    pub when: When,
    /// Its name.
    pub name: Name,
    /// Where it ran: a place among [`Trace::lanes`].
    pub lane: u32,
    /// What it computes, where its op and shapes are in the file: a place among [`Trace::works`].
    pub work: Option<NonZeroU32>,
    /// How long before it began the host asked for it, ns; `u32::MAX` where that is not known.
    pub asked_before: u32,
}

impl Kernel {
    /// One of which neither the op nor the launch is known.
    pub(crate) const fn new(when: When, name: Name, lane: u32) -> Self {
        Self { when, name, lane, work: None, asked_before: u32::MAX }
    }

    /// When the host began to ask for it, where that is known.
    pub fn asked(&self) -> Option<i64> {
        let before = (self.asked_before != u32::MAX).then_some(i64::from(self.asked_before))?;
        self.when.span().map(|span| span.from - before)
    }
}

/// Which way a copy goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Direction {
    /// From the host to a GPU.
    HostToDevice,
    /// From a GPU to the host.
    DeviceToHost,
    /// Within a GPU.
    DeviceToDevice,
    /// From one GPU to another.
    PeerToPeer,
    /// Not said.
    Unknown,
}

impl Direction {
    /// Its stable name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::HostToDevice => "h2d",
            Self::DeviceToHost => "d2h",
            Self::DeviceToDevice => "d2d",
            Self::PeerToPeer => "p2p",
            Self::Unknown => "unknown",
        }
    }

    /// As people write it.
    pub const fn words(self) -> &'static str {
        match self {
            Self::HostToDevice => "host → device",
            Self::DeviceToHost => "device → host",
            Self::DeviceToDevice => "within the device",
            Self::PeerToPeer => "device → device",
            Self::Unknown => "not said",
        }
    }
}

/// One copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Copy {
    /// When it ran.
    pub when: When,
    /// How much, where the file says.
    pub bytes: Option<u64>,
    /// Where it ran: a place among [`Trace::lanes`].
    pub lane: u32,
    /// Which way it goes.
    pub direction: Direction,
}

/// One call of the host into the GPU's library that launches or waits. Files hold millions of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    from: i64,
    /// How long it is in ns, up to 78 h; its process; what it does.
    rest: u64,
}

impl Call {
    /// A call of a process, by number of appearance; of processes beyond 16 383 as of the last of them.
    pub(crate) fn new(span: Span, process: u16, does: Does) -> Self {
        let long = u64::try_from(span.length()).unwrap_or(0).min((1 << 48) - 1);
        Self { from: span.from, rest: long << 16 | u64::from(process.min(0x3fff)) << 2 | does as u64 }
    }

    /// When it ran.
    pub fn span(self) -> Span {
        let long = i64::try_from(self.rest >> 16).unwrap_or(0);
        Span { from: self.from, to: self.from.saturating_add(long) }
    }

    /// Its process, by number of appearance.
    pub const fn process(self) -> u16 {
        (self.rest >> 2 & 0x3fff) as u16
    }

    /// What it does.
    pub const fn does(self) -> Does {
        match self.rest & 3 {
            0 => Does::Launch,
            1 => Does::LaunchGraph,
            _ => Does::Wait,
        }
    }
}

/// What a call of the host does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Does {
    /// Launches one kernel.
    Launch,
    /// Launches a graph: many kernels.
    LaunchGraph,
    /// Waits for the GPU.
    Wait,
}

/// A piece of host work with a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostOp {
    /// When it ran.
    pub span: Span,
    /// Its name.
    pub name: Name,
    /// Its thread, by number of appearance.
    pub thread: u32,
}

/// A step of a loop that the program marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Its number.
    pub number: i64,
    /// When it ran.
    pub span: Span,
    /// Its process, by number of appearance.
    pub process: u16,
}

/// What was not read, or reads otherwise than one may think.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// A stable name in kebab case.
    pub code: &'static str,
    /// What it is, and of how many.
    pub text: String,
}

/// What a file holds.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    /// The file's name as it was given.
    pub file: String,
    /// What wrote it.
    pub kind: Kind,
    /// The rank of the process among others, where the file says.
    pub rank: Option<i64>,
    /// The GPUs that the file describes, by number.
    pub gpus: BTreeMap<i64, Gpu>,
    /// All names.
    pub names: Names,
    /// Kernels, in the order of the file.
    pub kernels: Vec<Kernel>,
    /// Copies, in the order of the file.
    pub copies: Vec<Copy>,
    /// Memory set on a GPU: where, and when.
    pub memsets: Vec<(u32, When)>,
    /// Runs of graphs that the file has as one, without their kernels: where, and when.
    pub graphs: Vec<(u32, When)>,
    /// Where things ran.
    pub lanes: Lanes,
    /// Launches and waits of the host.
    pub calls: Vec<Call>,
    /// Whether calls of the host are in the file at all.
    pub has_calls: bool,
    /// Whether kernels would be in such a file: tables of rocprof have one sort of rows each.
    pub holds_kernels: bool,
    /// Whether copies would be in such a file.
    pub holds_copies: bool,
    /// Host ops, in the order of the file.
    pub ops: Vec<HostOp>,
    /// Kernels by the host op that they belong to.
    pub by_op: BTreeMap<Name, Tally>,
    /// Kernels by the module that launched them, where modules are recorded.
    pub by_module: BTreeMap<Name, Tally>,
    /// Kernels by the source line that launched them, where lines are recorded.
    pub by_line: BTreeMap<Name, Tally>,
    /// Host work by name without what it calls, where the reader added it up itself instead of filling `ops`.
    pub own_times: BTreeMap<Name, Tally>,
    /// When the host fetched data for the next step.
    pub loading: Vec<Span>,
    /// Steps, in the order of the file.
    pub steps: Vec<Step>,
    /// What kernels compute, each kept once with the framework's name of it; [`Kernel::work`] counts from 1.
    pub works: Vec<(String, Work)>,
    /// The most memory of a GPU that was in use at once, bytes, where the file says.
    pub peak_bytes: Option<u64>,
    /// Events read, of whatever sort.
    pub events: u64,
    /// What was not read.
    pub not_read: Vec<Note>,
}

impl Trace {
    /// Adds a note.
    pub(crate) fn note(&mut self, code: &'static str, text: impl Into<String>) {
        self.not_read.push(Note { code, text: text.into() });
    }

    /// Adds what another file of the same run holds, on the same clock.
    pub(crate) fn absorb(&mut self, other: Self) {
        let names: Vec<Name> =
            (0..other.names.len()).map(|n| self.names.name(other.names.bytes(Name::at(n)))).collect();
        let name = |old: Name| names.get(old.0 as usize).copied().unwrap_or(old);
        let lanes: Vec<u32> = other.lanes.all().iter().map(|lane| self.lanes.of(*lane)).collect();
        let lane = |old: u32| lanes.get(old as usize).copied().unwrap_or(old);
        let kernels = other.kernels.into_iter();
        let first = u32::try_from(self.works.len()).unwrap_or(u32::MAX);
        let moved = |work: NonZeroU32| work.checked_add(first);
        let taken = |k: Kernel| Kernel { name: name(k.name), lane: lane(k.lane), work: k.work.and_then(moved), ..k };
        self.kernels.extend(kernels.map(taken));
        self.works.extend(other.works);
        self.peak_bytes = self.peak_bytes.max(other.peak_bytes);
        self.ops.extend(other.ops.into_iter().map(|op| HostOp { name: name(op.name), ..op }));
        self.copies.extend(other.copies.into_iter().map(|copy| Copy { lane: lane(copy.lane), ..copy }));
        self.calls.extend(other.calls);
        self.gpus.extend(other.gpus);
        self.has_calls |= other.has_calls;
        self.holds_kernels |= other.holds_kernels;
        self.holds_copies |= other.holds_copies;
        self.events += other.events;
        for note in other.not_read {
            if !self.not_read.contains(&note) {
                self.not_read.push(note);
            }
        }
    }

    /// Gives each GPU that did something its entry, by `name`.
    pub(crate) fn describe(&mut self, name: impl Fn(i64) -> Option<String>) {
        let used = self.lanes.all().iter().map(|lane| lane.gpu);
        self.gpus = used.map(|gpu| (gpu, Gpu { name: name(gpu) })).collect();
    }

    /// Whether anything of it ran on a GPU.
    pub fn has_gpu(&self) -> bool {
        !(self.kernels.is_empty() && self.copies.is_empty() && self.memsets.is_empty() && self.graphs.is_empty())
    }
}
