//! What every reader fills: kernels, copies, calls, waits, steps and host ops, free of any tool's words.

use crate::names::{Name, Names};
use std::collections::BTreeMap;

/// What wrote a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// The profiler of PyTorch: Kineto's JSON.
    Kineto,
    /// rocprof of ROCm, version 1 or 2, as JSON.
    RocprofJson,
    /// rocprof of ROCm, any version, as tables.
    RocprofCsv,
    /// Events in Chrome's format of anything else.
    #[default]
    Chrome,
}

impl Kind {
    /// Its stable name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Kineto => "kineto",
            Self::RocprofJson => "rocprof-json",
            Self::RocprofCsv => "rocprof-csv",
            Self::Chrome => "chrome",
        }
    }
}

/// From when to when, ns on the file's own clock; never backwards.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span {
    /// When it begins.
    pub from: i64,
    /// When it ends.
    pub to: i64,
}

impl Span {
    /// How long it is, ns.
    pub const fn length(self) -> i64 {
        self.to.saturating_sub(self.from)
    }
}

/// A GPU as the file describes it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gpu {
    /// Its name, where the file gives one.
    pub name: Option<String>,
}

/// One kernel on one GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kernel {
    /// When it ran; `None` where the file gives no time that can be.
    pub span: Option<Span>,
    /// The number of its GPU.
    pub gpu: i64,
    /// Its name.
    pub name: Name,
    /// What ties it to the call that launched it.
    pub correlation: Option<i64>,
    /// What ties it to the host op that it belongs to.
    pub external: Option<i64>,
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
    /// When it ran; `None` where the file gives no time that can be.
    pub span: Option<Span>,
    /// The number of its GPU.
    pub gpu: i64,
    /// Which way it goes.
    pub direction: Direction,
    /// How much, where the file says.
    pub bytes: Option<u64>,
    /// What ties it to the call that asked for it.
    pub correlation: Option<i64>,
}

/// One call of the host into the GPU's library that launches or waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    /// When it ran.
    pub span: Span,
    /// What it does.
    pub does: Does,
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
    /// Memory set on a GPU: its number and when.
    pub memsets: Vec<(i64, Option<Span>)>,
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
    /// What kernels are tied to: the host op of each `external`.
    pub op_names: Vec<(i64, Name)>,
    /// When the host fetched data for the next step.
    pub loading: Vec<Span>,
    /// Steps, in the order of the file.
    pub steps: Vec<Step>,
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
        self.kernels.extend(other.kernels.into_iter().map(|kernel| Kernel { name: name(kernel.name), ..kernel }));
        self.ops.extend(other.ops.into_iter().map(|op| HostOp { name: name(op.name), ..op }));
        self.copies.extend(other.copies);
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

    /// Whether anything of it ran on a GPU.
    pub fn has_gpu(&self) -> bool {
        !self.kernels.is_empty() || !self.copies.is_empty() || !self.memsets.is_empty()
    }
}
