//! What a program does, free of hardware: ops in order, buffers, host time, source lines.
//!
//! [`Workload`] is both the in-memory form and, through serde, format `breakeven.workload/1` (a `NAME.breakeven.json`
//! file). Integers carry their unit in the key. Reading validates; see [`Workload::from_json`].

mod check;
pub mod dtype;
pub mod family;
mod host_code;
pub mod merge;
pub mod op;
pub mod order;
mod read;
mod rounds;
pub mod sequence;
mod totals;
mod write;

#[cfg(test)]
pub(crate) mod samples;
#[cfg(test)]
mod schema;

pub use dtype::Dtype;
pub use host_code::{HostCode, HostKind};
pub use op::{Family, Op, Part, Pass};
pub use order::Step;
pub use rounds::{Lines, rounds_in};
pub use sequence::Sequence;
pub use totals::{CUT_SHORT, SHAPES_PER_SITE, bucket};

use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// The only value `Workload::format` may have.
pub const FORMAT: &str = "breakeven.workload/1";

/// `Program::recorder` of a program that was described by its size: nobody ran it.
pub const DESCRIBED: &str = "described";
/// `Program::recorder` of a program that was read from a model file: nobody ran it.
pub const MODEL_FILE: &str = "model-file";
/// [`DESCRIBED`] where the CPU's time was given with it.
pub const GIVEN: &str = "described-timed";

/// One recorded, imported or described program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Workload {
    /// Always [`FORMAT`].
    pub format: String,
    /// What ran, where, for how long.
    pub program: Program,
    /// Places in the user's source; `Entry::site` indexes this.
    #[serde(default)]
    pub sites: Vec<Site>,
    /// Distinct (site, op, shapes, dtypes), each with how often it ran.
    #[serde(default)]
    pub ops: Vec<Entry>,
    /// The order in which entries ran, compressed. Empty means "as listed, each `count` times".
    #[serde(default)]
    pub order: Vec<Step>,
    /// Array buffers, grouped by producing entry and size bucket; single rows only for the largest.
    #[serde(default)]
    pub buffers: Vec<Buffer>,
    /// The script's own clock reads.
    #[serde(default)]
    pub markers: Vec<Marker>,
    /// Where the program waited.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waits: Vec<Wait>,
    /// Host time outside recorded ops by line, as sampled; empty where no sampler ran.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub host_code: Vec<HostCode>,
    /// What was not seen, and why; one line each kind.
    #[serde(default)]
    pub unseen: Vec<Unseen>,
    /// Field names that a newer writer marks as safe to ignore.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub optional_fields: Vec<String>,
}

impl Default for Workload {
    /// Nothing ran.
    fn default() -> Self {
        Self {
            format: FORMAT.to_owned(),
            program: Program { processes: 1, sampling: 1, ..Program::default() },
            sites: Vec::new(),
            ops: Vec::new(),
            order: Vec::new(),
            buffers: Vec::new(),
            markers: Vec::new(),
            waits: Vec::new(),
            host_code: Vec::new(),
            unseen: Vec::new(),
            optional_fields: Vec::new(),
        }
    }
}

impl Workload {
    /// Where the program waited, each with how long, s: never more together than it waited at all.
    pub fn waited(&self) -> impl Iterator<Item = (&Wait, f64)> {
        let idle = self.program.idle_ns as f64;
        let scale = 1e-9 * (idle / self.waits.iter().map(|w| w.ns as f64).sum::<f64>()).min(1.0);
        self.waits.iter().map(move |wait| (wait, wait.ns as f64 * scale))
    }

    /// The order of the entries: as listed, each as often as it ran, where none was recorded.
    pub fn steps(&self) -> Cow<'_, [Step]> {
        if !self.order.is_empty() {
            return Cow::Borrowed(&self.order);
        }
        self.ops.iter().enumerate().map(|(i, e)| Step::Repeat(e.count, vec![Step::Run(i as u32)])).collect()
    }
}

/// What ran.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Program {
    /// A short name for people: the script's file name.
    pub name: String,
    /// `sys.argv` as the script saw it.
    #[serde(default)]
    pub argv: Vec<String>,
    /// Versions by package: `python`, `numpy`, `breakeven`, …
    #[serde(default)]
    pub versions: std::collections::BTreeMap<String, String>,
    /// The recorder: `numpy-native`, `numpy-ast`, `torch-fake`, …, or [`DESCRIBED`], [`GIVEN`] and [`MODEL_FILE`].
    #[serde(default)]
    pub recorder: String,
    /// Start, milliseconds since 1970 (UTC).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_unix_ms: Option<u64>,
    /// From the script's first line to its exit, hook cost included, ns.
    pub wall_ns: u64,
    /// Wall time of further runs of the same script (`--repeat`), ns.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub repeat_wall_ns: Vec<u64>,
    /// Events recorded, and what one costs as calibrated in this process, ns.
    #[serde(default)]
    pub events: u64,
    /// See `events`.
    #[serde(default)]
    pub hook_ns: f64,
    /// Import of the array library and first-call costs on the CPU, part of `wall_ns`, ns.
    #[serde(default)]
    pub startup_ns: u64,
    /// Waiting outside ops, asleep or for anything but a CPU, part of `wall_ns`, ns.
    #[serde(default)]
    pub idle_ns: u64,
    /// Part of `wall_ns` in which its main thread was ready to run and other programs had the CPU, ns; absent where the
    /// system does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stolen_ns: Option<u64>,
    /// The largest sum of live array buffers, bytes.
    #[serde(default)]
    pub peak_bytes: u64,
    /// The same in the memory of the device, where the program itself uses a GPU library, bytes.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub device_peak_bytes: u64,
    /// What that memory was for: bytes by role, as in [`Buffer::role`].
    #[serde(default, skip_serializing_if = "std::collections::BTreeMap::is_empty")]
    pub peak_roles: std::collections::BTreeMap<String, u64>,
    /// The CPU it ran on, as the system names it.
    #[serde(default)]
    pub cpu: String,
    /// Logical CPUs that the process could use.
    #[serde(default)]
    pub cpu_threads: u32,
    /// Cores that these belong to, where the system says: a core can be two of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_cores: Option<u32>,
    /// The GPU of the machine that ops with a `device` ran on, as its library names it; absent where they ran on the
    /// CPU. Their times are then no CPU's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gpu: Option<String>,
    /// The GPU that was imitated (`--pretend-gpu`), by its id in the catalogue: answers speak of it first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub imitated_gpu: Option<String>,
    /// What worker processes of data loaders did beside the script.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loaders: Option<Loaders>,
    /// Threads that BLAS was allowed, where the environment or the library says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blas_threads: Option<u32>,
    /// How it ended.
    #[serde(default)]
    pub exit: Exit,
    /// Processes merged into this workload.
    #[serde(default = "one")]
    pub processes: u32,
    /// One op in `sampling` was timed; 1 means all.
    #[serde(default = "one")]
    pub sampling: u32,
}

/// Batches that worker processes made while the script was at work on others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Loaders {
    /// Processes side by side.
    pub workers: u32,
    /// Batches made by all of them.
    pub batches: u64,
    /// What these took, summed over the processes, ns.
    pub ns: u64,
}

const fn one() -> u32 {
    1
}

impl Program {
    /// It takes so long instead, ns: other programs had as much of each busy second of it, and its other runs were longer
    /// or shorter alike.
    pub(crate) fn takes(&mut self, wall_ns: u64) {
        let hooks = self.events as f64 * self.hook_ns;
        let busy = |wall: u64| (wall as f64 - hooks - self.idle_ns as f64).max(0.0);
        let own = |program: &Self| (program.wall_ns as f64 - hooks - program.stolen_ns.unwrap_or(0) as f64).max(1.0);
        let ratio = |now: f64, then: f64| if then > 0.0 { now / then } else { 1.0 };
        let (before, longer) = (own(self), ratio(busy(wall_ns), busy(self.wall_ns)));
        self.stolen_ns = self.stolen_ns.map(|stolen| (stolen as f64 * longer) as u64);
        self.wall_ns = wall_ns;
        let longer = own(self) / before;
        self.repeat_wall_ns.iter_mut().for_each(|ns| *ns = (*ns as f64 * longer) as u64);
    }

    /// Whether array work was not timed on a CPU: its tensors had no values (`run --fake`), it ran on a GPU, or nobody
    /// ran it.
    pub fn untimed(&self) -> bool {
        matches!(self.recorder.as_str(), "torch-fake" | DESCRIBED | MODEL_FILE) || self.gpu.is_some()
    }

    /// Whether it was told by its size or read from a model file, and nobody ran it.
    pub fn is_described(&self) -> bool {
        matches!(self.recorder.as_str(), DESCRIBED | GIVEN | MODEL_FILE)
    }
}

/// How the program ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Exit {
    /// Not known: still running, or killed before it could say.
    #[default]
    Unknown,
    /// Exit code.
    Code(i32),
    /// Killed by this signal.
    Signal(i32),
}

/// A place in the user's source: the innermost frame outside site-packages and the standard library.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Site {
    /// Path as the interpreter names it.
    pub file: String,
    /// 1-based; 0 when not known.
    pub line: u32,
    /// Function name, `<module>` at top level.
    #[serde(default)]
    pub function: String,
    /// The line itself, trimmed, at most 200 characters.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// The library function between the user's line and the op, where there is one: `scipy.signal.fftconvolve`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub via: Option<String>,
    /// Module path in a network: `encoder.layer.3.attention`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub module: Option<String>,
    /// Line of the innermost `for` or `while` of the same function that it is in; absent where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loop_line: Option<u32>,
}

impl Site {
    /// `heat.py:14`; `worker` of a process that runs no code of the script's, but a library's for it.
    pub fn label(&self) -> String {
        if self.file.is_empty() { WORKER.to_owned() } else { format!("{}:{}", file_name(&self.file), self.line) }
    }

    /// The loop around it as `heat.py:5`: its own line, or this one where that is not known.
    pub fn loop_label(&self) -> String {
        Self { line: self.loop_line.unwrap_or(self.line), ..self.clone() }.label()
    }

    /// Whether both are the same line: library functions and modules have sites of their own on it.
    pub fn same_line(&self, other: &Self) -> bool {
        self.line == other.line && self.file == other.file
    }
}

/// What a site without a file is called.
pub const WORKER: &str = "worker";

/// The last part of a path as any system writes it.
///
/// ```
/// use breakeven::workload::file_name;
/// assert_eq!([file_name("/home/ada/heat.py"), file_name(r"C:\\x\\heat.py"), file_name("heat.py")], ["heat.py"; 3]);
/// ```
pub fn file_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

/// Waiting outside ops, part of `idle_ns`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wait {
    /// The line that waited, an index into `Workload::sites`; absent where only what came next is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub site: Option<u32>,
    /// The line of the op that came next, whose `gap_ns` it is part of; absent where that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<u32>,
    /// How long, ns.
    pub ns: u64,
}

/// Everything that ran with the same site, op, shapes and dtype.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// Index into `Workload::sites`.
    pub site: u32,
    /// The framework's own name: `numpy.add`, `numpy.linalg.svd`.
    pub name: String,
    /// Family and dims.
    pub op: Op,
    /// What it computes in.
    pub dtype: Dtype,
    /// How often it ran.
    pub count: u64,
    /// Bytes of array inputs, one run.
    #[serde(default)]
    pub read_bytes: u64,
    /// Bytes of array outputs, one run.
    #[serde(default)]
    pub written_bytes: u64,
    /// Time on this CPU, all runs together, children excluded, ns.
    #[serde(default)]
    pub cpu_ns: u64,
    /// Host time between the end of the op before and the start of this one, all runs together, ns.
    #[serde(default)]
    pub gap_ns: u64,
    /// Bytes of inputs that the host made or changed since an array op last had them: what a GPU port must copy in,
    /// all runs together.
    #[serde(default)]
    pub host_input_bytes: u64,
    /// In how many separate buffers, all runs together.
    #[serde(default)]
    pub host_input_count: u64,
    /// Kernels that one run launches, where the recorder knows (composite functions); 0 leaves it to the kernel model.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub kernels: u64,
    /// Forward, backward or optimizer, where the framework says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<Phase>,
    /// Device the script itself asked for: `cuda:0`. What has one is estimated as it is written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    /// Stream, where the script itself uses them; absent is the default stream, and for `Synchronise` the device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stream: Option<u32>,
    /// Thread that ran it, where there is more than one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<u32>,
    /// Process, where there is more than one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// Rank in a distributed job.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rank: Option<u32>,
    /// Shapes of inputs then outputs as `[2000,2000]`, for people; after 32 distinct shapes at a site, the bucket.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shapes: Option<String>,
    /// Memory layout where it is not C-contiguous: `f`, `strided`, `channels_last`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layout: Option<String>,
    /// What it has to do with a recorded graph of launches, where it is the device's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub graph: Option<InGraph>,
    /// The installed package whose code called the op: `pandas` for a NumPy call inside `DataFrame.sum`. Absent where
    /// the script itself called it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub library: Option<String>,
}

impl Entry {
    /// One run of `op` that nobody timed, on the host, of no bytes that are known.
    pub fn untimed(site: u32, name: &str, op: Op, dtype: Dtype) -> Self {
        Self {
            site,
            name: name.to_owned(),
            op,
            dtype,
            count: 1,
            read_bytes: 0,
            written_bytes: 0,
            cpu_ns: 0,
            gap_ns: 0,
            host_input_bytes: 0,
            host_input_count: 0,
            kernels: 0,
            phase: None,
            device: None,
            stream: None,
            thread: None,
            pid: None,
            rank: None,
            shapes: None,
            layout: None,
            graph: None,
            library: None,
        }
    }

    /// Whether it is an element-wise kernel of CuPy's, a thread of which takes one element where others' take several in one load.
    pub fn one_each(&self) -> bool {
        let package = self.name.split('.').next();
        matches!(self.op, Op::Elementwise { .. }) && matches!(package, Some("cupy" | "cupyx" | "numpy" | "scipy"))
    }

    /// The same entry run so often instead: times and inputs of all runs together change in proportion.
    pub fn set_count(&mut self, count: u64) {
        if count == self.count || self.count == 0 {
            return;
        }
        let share = count as f64 / self.count as f64;
        let part = |n: u64| (n as f64 * share).round() as u64;
        self.cpu_ns = part(self.cpu_ns);
        self.gap_ns = part(self.gap_ns);
        self.host_input_bytes = part(self.host_input_bytes);
        self.host_input_count = part(self.host_input_count);
        self.count = count;
    }
}

fn is_zero(n: &u64) -> bool {
    *n == 0
}

/// Graphs of launches that a program records once and hands over as one (CUDA graphs).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InGraph {
    /// Recorded into one: the host handed it over, and the device did nothing yet.
    Capture,
    /// The call that hands one over, of op `view`; its nodes come next.
    Launch,
    /// Part of one that was handed over: the host does nothing for it, and no time between it and the op before is the
    /// script's.
    Node,
}

/// Part of a training step; `Data` is the loading of its input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say it")]
pub enum Phase {
    Forward,
    Backward,
    Optimizer,
    Data,
}

/// A group of array buffers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Buffer {
    /// Entry that made them; absent when the host did (a list, a file, another library).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub producer: Option<u32>,
    /// Bytes of one (of the largest in its bucket).
    pub bytes: u64,
    /// How many there were.
    pub count: u64,
    /// The most that lived at once.
    pub peak_live: u64,
    /// First and last use as positions in the order.
    #[serde(default)]
    pub first_use: u64,
    /// See `first_use`.
    #[serde(default)]
    pub last_use: u64,
    /// How often the host read or changed one.
    #[serde(default)]
    pub host_touches: u64,
    /// parameter, gradient, optimizer state, activation, input, temporary.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// In page-locked memory.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pinned: bool,
}

/// The script read a clock.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Marker {
    /// Which: `time.time`, `time.perf_counter`, `cuda.Event.record`.
    pub clock: String,
    /// Index into `Workload::sites`.
    pub site: u32,
    /// Ops that had run before it.
    pub position: u64,
    /// Since the start of the program, ns.
    pub at_ns: u64,
}

/// Something that happened and was not seen as ops.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Unseen {
    /// A stable name: `c-extension`, `child-not-recorded`, `hook-off`, `no-gpu`, `no-room`, `subclass`, …
    pub reason: String,
    /// One sentence for people.
    pub text: String,
    /// Time it took, where known, ns.
    #[serde(default)]
    pub ns: u64,
    /// How often, where known.
    #[serde(default)]
    pub count: u64,
}
