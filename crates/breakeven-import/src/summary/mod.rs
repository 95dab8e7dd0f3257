//! What files come to: totals by GPU, by kind of kernel, by direction; causes of idle time; steps.

mod gpus;
mod host;
mod kernels;
mod notes;
mod parts;
mod steps;

pub use parts::{
    Causes, CopyTotal, GpuTotal, HostTotal, KernelTotal, SmallKernels, StepTotal, Steps, StreamTotal, Times,
};

use crate::idle::Use;
use crate::kind::Kind;
use crate::model::{Does, Note, Trace};
use crate::span::Tally;
use gpus::{Gpus, Small};
use host::ByText;

/// What files come to.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// The files, as they were given.
    pub files: Vec<String>,
    /// What wrote the first of them.
    pub kind: Kind,
    /// Each GPU of each file.
    pub gpus: Vec<GpuTotal>,
    /// Kernels; `None` where the files do not hold what ran on a GPU.
    pub kernels: Option<u64>,
    /// The sum of their durations, s.
    pub kernel_s: Option<f64>,
    /// The union of kernels, copies and memsets of each GPU, added up, s.
    pub busy_s: Option<f64>,
    /// What is between them, added up, s.
    pub idle_s: Option<f64>,
    /// From the first to the last on each GPU, added up, s.
    pub span_s: Option<f64>,
    /// The longest time that nothing ran on a GPU, s.
    pub longest_gap_s: Option<f64>,
    /// Where the time went in which no kernel computed.
    pub causes: Option<Causes>,
    /// Kernels by what they do, the longest together first.
    pub classes: Vec<KernelTotal>,
    /// Kernels by name, the longest together first.
    pub top: Vec<KernelTotal>,
    /// Streams of each GPU, where there are several.
    pub streams: Vec<StreamTotal>,
    /// Short kernels that come again and again, where each was launched by itself.
    pub small: Option<SmallKernels>,
    /// Kernels by the module that launched them, where modules are recorded.
    pub modules: Vec<HostTotal>,
    /// Kernels by the source line that launched them, where lines are recorded.
    pub lines: Vec<HostTotal>,
    /// Copies by direction.
    pub copies: Vec<CopyTotal>,
    /// Launches of single kernels by the host; `None` where the files have no calls of the host.
    pub launches: Option<Times>,
    /// Launches of graphs by the host.
    pub graph_launches: Option<Times>,
    /// Calls in which the host waited.
    pub waits: Option<Times>,
    /// Host ops with the time of the kernels that they asked for, the longest first.
    pub ops: Vec<HostTotal>,
    /// Host work by name without what it calls, the longest first.
    pub host: Vec<HostTotal>,
    /// Steps, where the program marked them.
    pub steps: Option<Steps>,
    /// What was not read.
    pub not_read: Vec<Note>,
}

/// Names that a list holds.
const LISTED: usize = 500;

impl Summary {
    /// Adds up files; each is a process of its own, with its own clock.
    pub fn of(mut traces: Vec<Trace>) -> Self {
        let files = traces.iter().map(|trace| trace.file.clone()).collect();
        join_tables(&mut traces);
        let [mut host, mut ops, mut modules, mut lines] = std::array::from_fn(|_| ByText::default());
        let (mut all, mut steps, mut small) = (Gpus::default(), Vec::new(), None);
        for trace in &mut traces {
            notes::missing(trace);
            let own = host::own_times(trace);
            trace.ops = Vec::new();
            host.add(trace, &own);
            host.add(trace, &trace.own_times);
            ops.add(trace, &trace.by_op);
            modules.add(trace, &trace.by_module);
            lines.add(trace, &trace.by_line);
            let gpus = gpus::gpus(trace);
            steps.extend(steps::of_trace(trace, &gpus.steps));
            small = longer(small, launched_alone(trace, &gpus.small));
            all.totals.extend(gpus.totals);
            all.streams.extend(gpus.streams);
            all.used.add(&gpus.used);
        }
        let traces = traces.as_slice();
        let Gpus { totals: gpus, streams, used, .. } = all;
        let timed = !gpus.is_empty() && used.busy > 0;
        let (classes, mut top) = kernels::by_kernel(traces);
        top.truncate(LISTED);
        Self {
            files,
            kind: traces.first().map(|trace| trace.kind).unwrap_or_default(),
            kernels: gpus.iter().filter_map(|gpu| gpu.kernels).reduce(|sum, more| sum + more),
            kernel_s: sum(gpus.iter().map(|gpu| gpu.kernel_s)),
            busy_s: timed.then(|| seconds(used.busy)),
            idle_s: timed.then(|| seconds(used.span - used.busy)),
            span_s: timed.then(|| seconds(used.span)),
            longest_gap_s: timed.then(|| seconds(used.gap)),
            causes: timed.then(|| causes(traces, &used)),
            classes,
            top,
            streams: if streams.len() > gpus.len() { streams } else { Vec::new() },
            small,
            modules: modules.longest(),
            lines: lines.longest(),
            copies: kernels::by_direction(traces),
            launches: calls(traces, Does::Launch),
            graph_launches: calls(traces, Does::LaunchGraph),
            waits: calls(traces, Does::Wait),
            ops: ops.longest(),
            host: host.longest(),
            steps: steps::of(steps),
            not_read: notes::notes(traces),
            gpus,
        }
    }
}

/// rocprof writes kernels, copies and calls of one run as a table each: they are one.
fn join_tables(traces: &mut Vec<Trace>) {
    let is_table = |trace: &Trace| trace.kind == Kind::RocprofCsv;
    let (tables, others) = std::mem::take(traces).into_iter().partition(is_table);
    *traces = others;
    let joined = Vec::into_iter(tables).reduce(|mut all, one: Trace| {
        all.absorb(one);
        all
    });
    traces.extend(joined);
}

/// s of so many ns.
#[expect(clippy::cast_precision_loss, reason = "104 days in ns are exact, and longer ones to 1e-16")]
fn seconds(ns: i64) -> f64 {
    ns as f64 / 1e9
}

impl From<Tally> for Times {
    fn from(tally: Tally) -> Self {
        Self { count: tally.count, seconds: seconds(tally.ns) }
    }
}

/// The sum of what is known; `None` where nothing is.
fn sum(parts: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    parts.flatten().fold(None, |sum, part| Some(sum.unwrap_or(0.0) + part))
}

fn causes(traces: &[Trace], used: &Use) -> Causes {
    let both = traces.iter().all(|trace| trace.holds_kernels && trace.holds_copies);
    let has_calls = traces.iter().all(|trace| trace.has_calls || !trace.has_gpu());
    Causes {
        copy_s: both.then(|| seconds(used.copy)),
        communication_s: seconds(used.communication),
        launch_s: has_calls.then(|| seconds(used.launch)),
        sync_s: has_calls.then(|| seconds(used.wait)),
        loading_s: has_calls.then(|| seconds(used.loading)),
        host_s: has_calls.then(|| seconds(used.host())),
    }
}

/// Calls of the host that do one thing; `None` where no file has calls.
fn calls(traces: &[Trace], wanted: Does) -> Option<Times> {
    traces.iter().any(|trace| trace.has_calls).then(|| {
        let mut tally = Tally::default();
        for call in traces.iter().flat_map(|trace| &trace.calls).filter(|call| call.does() == wanted) {
            tally.add(call.span().length());
        }
        Times::from(tally)
    })
}

/// Short kernels of a file, where most of its kernels have a launch of their own.
fn launched_alone(trace: &Trace, small: &Small) -> Option<SmallKernels> {
    let launches = trace.calls.iter().filter(|call| call.does() == Does::Launch).count();
    let (name, _) = small.by_name.iter().max_by_key(|(_, count)| **count)?;
    (launches * 2 > trace.kernels.len()).then(|| SmallKernels {
        times: Times::from(small.tally),
        idle_before_s: seconds(small.idle_before),
        name: trace.names.text(*name),
    })
}

/// Both together, with the name of the more frequent.
fn longer(a: Option<SmallKernels>, b: Option<SmallKernels>) -> Option<SmallKernels> {
    let (Some(a), Some(b)) = (&a, &b) else { return a.or(b) };
    let name = if a.times.count >= b.times.count { a } else { b }.name.clone();
    let times = Times { count: a.times.count + b.times.count, seconds: a.times.seconds + b.times.seconds };
    Some(SmallKernels { times, idle_before_s: a.idle_before_s + b.idle_before_s, name })
}
