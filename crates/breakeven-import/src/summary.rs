//! What files come to: totals by GPU, by kind of kernel, by direction; causes of idle time; steps.

use crate::class::Class;
use crate::idle::{Host, Lane, Use};
use crate::model::{Direction, Does, HostOp, Kind, Note, Span, Trace};
use crate::names::Name;
use std::collections::BTreeMap;

/// How often, and how long together.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Times {
    /// How often.
    pub count: u64,
    /// How long together, s.
    pub seconds: f64,
}

/// One GPU in one file.
#[derive(Clone, Debug, PartialEq)]
pub struct GpuTotal {
    /// The file.
    pub file: String,
    /// The rank of the process, where the file says.
    pub rank: Option<i64>,
    /// Its number.
    pub number: i64,
    /// Its name, where the file says.
    pub name: Option<String>,
    /// Kernels that ran on it; `None` where the file holds none of any GPU.
    pub kernels: Option<u64>,
    /// The sum of their durations, s; `None` where none has one.
    pub kernel_s: Option<f64>,
    /// The union of kernels, copies and memsets, s.
    pub busy_s: Option<f64>,
    /// From the first to the last of them, s.
    pub span_s: Option<f64>,
    /// Copies; `None` where the file holds none of any GPU.
    pub copies: Option<u64>,
    /// The sum of their durations, s.
    pub copy_s: Option<f64>,
    /// Memory set; `None` where the file tells it from nothing else.
    pub memsets: Option<u64>,
}

/// Where the time went in which no kernel computed, s, of all GPUs together.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Causes {
    /// Copies ran and no kernel; `None` where the files do not hold both.
    pub copy_s: Option<f64>,
    /// Communication ran and no other kernel.
    pub communication_s: f64,
    /// Nothing ran while the host was launching; `None` where the file has no calls of the host.
    pub launch_s: Option<f64>,
    /// Nothing ran while the host waited for the GPU.
    pub sync_s: Option<f64>,
    /// Nothing ran while the host fetched the next batch.
    pub loading_s: Option<f64>,
    /// Nothing ran while the host did anything else.
    pub host_s: Option<f64>,
}

/// Kernels of one kind, or of one name.
#[derive(Clone, Debug, PartialEq)]
pub struct KernelTotal {
    /// What they do.
    pub class: Class,
    /// How many they are, and how long together.
    pub times: Times,
    /// The name that has most of the time.
    pub name: String,
}

/// Copies of one direction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CopyTotal {
    /// Which way.
    pub direction: Direction,
    /// How many, and how long together.
    pub times: Times,
    /// How much; `None` where one of them does not say.
    pub bytes: Option<u64>,
}

/// Host work of one name, without what it calls.
#[derive(Clone, Debug, PartialEq)]
pub struct HostTotal {
    /// Its name.
    pub name: String,
    /// How often, and how long together without what it calls.
    pub times: Times,
}

/// Steps of the loop that the program marked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Steps {
    /// How many are whole.
    pub count: u64,
    /// Their mean, s.
    pub mean_s: f64,
    /// The shortest, s.
    pub least_s: f64,
    /// The longest, s.
    pub most_s: f64,
}

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
    /// Copies by direction.
    pub copies: Vec<CopyTotal>,
    /// Launches of single kernels by the host; `None` where the files have no calls of the host.
    pub launches: Option<Times>,
    /// Launches of graphs.
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
const LISTED: usize = 20;

impl Summary {
    /// Adds up files; each is a process of its own, with its own clock.
    pub fn of(mut traces: Vec<Trace>) -> Self {
        let files = traces.iter().map(|trace| trace.file.clone()).collect();
        join_tables(&mut traces);
        traces.iter_mut().for_each(missing);
        let host = by_host(&mut traces);
        let ops = by_op(&mut traces);
        let traces = traces.as_slice();
        let mut gpus = Vec::new();
        let (mut uses, mut has_calls) = (Use::default(), !traces.is_empty());
        for trace in traces {
            let host = Host::of(trace);
            has_calls &= trace.has_calls || !trace.has_gpu();
            for (number, lane) in lanes(trace) {
                let (total, used) = of_gpu(trace, number, lane, &host);
                gpus.push(total);
                add(&mut uses, &used);
            }
        }
        let has_gpu = !gpus.is_empty();
        let timed = has_gpu && uses.busy > 0;
        let both = traces.iter().all(|trace| trace.holds_kernels && trace.holds_copies);
        let steps: Vec<Span> = traces.iter().flat_map(|trace| &trace.steps).map(|step| step.span).collect();
        let calls = |wanted: Does| {
            let of =
                |trace: &Trace| trace.calls.iter().filter(|c| c.does == wanted).map(|c| c.span).collect::<Vec<_>>();
            let some = traces.iter().any(|trace| trace.has_calls);
            some.then(|| times(traces.iter().flat_map(of)))
        };
        let causes = timed.then(|| Causes {
            copy_s: both.then(|| seconds(uses.copy)),
            communication_s: seconds(uses.communication),
            launch_s: has_calls.then(|| seconds(uses.launch)),
            sync_s: has_calls.then(|| seconds(uses.wait)),
            loading_s: has_calls.then(|| seconds(uses.loading)),
            host_s: has_calls.then(|| seconds(uses.host())),
        });
        let (classes, top) = by_kernel(traces);
        Self {
            files,
            kind: traces.first().map(|trace| trace.kind).unwrap_or_default(),
            kernels: gpus.iter().filter_map(|gpu| gpu.kernels).reduce(|sum, more| sum + more),
            kernel_s: sum(gpus.iter().map(|gpu| gpu.kernel_s)),
            busy_s: timed.then(|| seconds(uses.busy)),
            idle_s: timed.then(|| seconds(uses.span - uses.busy)),
            span_s: timed.then(|| seconds(uses.span)),
            longest_gap_s: timed.then(|| seconds(uses.gap)),
            causes,
            classes,
            top,
            copies: by_direction(traces),
            launches: calls(Does::Launch),
            graph_launches: calls(Does::LaunchGraph),
            waits: calls(Does::Wait),
            ops,
            host,
            steps: of_steps(&steps),
            not_read: notes(traces),
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

/// Says what is missing for causes, and of tables alone for GPUs: whoever gives several may give them in any order.
fn missing(trace: &mut Trace) {
    if trace.kind == Kind::RocprofCsv && !trace.has_gpu() {
        trace.note("no-gpu-events", "no table of kernels or copies is among the files");
    }
    if trace.has_gpu() && !trace.holds_kernels {
        trace.note("no-kernels", "no table of kernels is among the files: busy is the time of copies alone");
    }
    if trace.has_gpu() && !trace.holds_copies {
        trace.note("no-copies", "no table of copies is among the files: busy is the time of kernels alone");
    }
    if trace.has_gpu() && !trace.has_calls {
        trace.note("no-calls", "no launch and no wait of the host is in the file: why the GPU was idle is unknown");
    }
}

/// s of so many ns.
#[expect(clippy::cast_precision_loss, reason = "104 days in ns are exact, and longer ones to 1e-16")]
fn seconds(ns: i64) -> f64 {
    ns as f64 / 1e9
}

fn times(spans: impl Iterator<Item = Span>) -> Times {
    let (count, ns) = spans.fold((0, 0_i64), |(n, sum), span| (n + 1, sum.saturating_add(span.length())));
    Times { count, seconds: seconds(ns) }
}

/// The sum of what is known; `None` where nothing is.
fn sum(parts: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    parts.flatten().fold(None, |sum, part| Some(sum.unwrap_or(0.0) + part))
}

fn add(all: &mut Use, one: &Use) {
    all.span += one.span;
    all.busy += one.busy;
    all.gap = all.gap.max(one.gap);
    all.copy += one.copy;
    all.communication += one.communication;
    all.launch += one.launch;
    all.wait += one.wait;
    all.loading += one.loading;
}

/// Kernels, copies and memsets of one GPU.
type Counts = [u64; 3];

/// What ran on each GPU of a file, and how many of each sort.
fn lanes(trace: &Trace) -> BTreeMap<i64, (Lane, Counts)> {
    let mut lanes: BTreeMap<i64, (Lane, Counts)> = BTreeMap::new();
    let mut communicates: Vec<Option<bool>> = vec![None; trace.names.len()];
    for kernel in &trace.kernels {
        let (lane, [kernels, ..]) = lanes.entry(kernel.gpu).or_default();
        *kernels += 1;
        let known = communicates.get_mut(kernel.name.0 as usize);
        let communicates =
            known.is_some_and(|known| *known.get_or_insert_with(|| is_communication(trace, kernel.name)));
        if communicates { &mut lane.communication } else { &mut lane.kernels }.extend(kernel.span);
    }
    for copy in &trace.copies {
        let (lane, [_, copies, _]) = lanes.entry(copy.gpu).or_default();
        *copies += 1;
        lane.copies.extend(copy.span);
    }
    for (gpu, span) in &trace.memsets {
        let (lane, [.., memsets]) = lanes.entry(*gpu).or_default();
        *memsets += 1;
        lane.memsets.extend(*span);
    }
    lanes
}

/// The totals of one GPU, and how its time was used.
fn of_gpu(trace: &Trace, number: i64, (lane, counts): (Lane, Counts), host: &Host) -> (GpuTotal, Use) {
    let [kernels, copies, memsets] = counts;
    let all = |spans: &[&[Span]], of: u64| {
        let spans = spans.concat();
        (of == 0 || !spans.is_empty()).then(|| times(spans.into_iter()).seconds)
    };
    let kernel_s = all(&[&lane.kernels, &lane.communication], kernels).filter(|_| trace.holds_kernels);
    let copy_s = all(&[&lane.copies], copies).filter(|_| trace.holds_copies);
    let used = lane.used(host);
    let known = used.busy > 0;
    let total = GpuTotal {
        file: trace.file.clone(),
        rank: trace.rank,
        number,
        name: trace.gpus.get(&number).and_then(|gpu| gpu.name.clone()),
        kernels: trace.holds_kernels.then_some(kernels),
        kernel_s,
        busy_s: known.then(|| seconds(used.busy)),
        span_s: known.then(|| seconds(used.span)),
        copies: trace.holds_copies.then_some(copies),
        copy_s,
        memsets: (trace.kind == Kind::Kineto).then_some(memsets),
    };
    (total, used)
}

fn is_communication(trace: &Trace, name: Name) -> bool {
    Class::of(trace.names.bytes(name)) == Class::Communication
}

/// Kernels by what they do and by name, the longest together first.
fn by_kernel(traces: &[Trace]) -> (Vec<KernelTotal>, Vec<KernelTotal>) {
    let mut names: BTreeMap<String, Times> = BTreeMap::new();
    for trace in traces {
        let mut here: BTreeMap<Name, (u64, i64)> = BTreeMap::new();
        for kernel in &trace.kernels {
            let (count, ns) = here.entry(kernel.name).or_default();
            *count += 1;
            *ns = ns.saturating_add(kernel.span.map_or(0, Span::length));
        }
        for (name, (count, ns)) in here {
            let all = names.entry(trace.names.text(name)).or_default();
            all.count += count;
            all.seconds += seconds(ns);
        }
    }
    let mut top: Vec<KernelTotal> =
        names.into_iter().map(|(name, times)| KernelTotal { class: Class::of(name.as_bytes()), times, name }).collect();
    top.sort_by(|a, b| b.times.seconds.total_cmp(&a.times.seconds));
    let mut classes: BTreeMap<Class, KernelTotal> = BTreeMap::new();
    for kernel in &top {
        match classes.get_mut(&kernel.class) {
            Some(class) => {
                class.times.count += kernel.times.count;
                class.times.seconds += kernel.times.seconds;
            }
            None => drop(classes.insert(kernel.class, kernel.clone())),
        }
    }
    let mut classes: Vec<KernelTotal> = classes.into_values().collect();
    classes.sort_by(|a, b| b.times.seconds.total_cmp(&a.times.seconds));
    top.truncate(LISTED);
    (classes, top)
}

fn by_direction(traces: &[Trace]) -> Vec<CopyTotal> {
    let mut all: BTreeMap<Direction, (u64, i64, Option<u64>)> = BTreeMap::new();
    for copy in traces.iter().flat_map(|trace| &trace.copies) {
        let (count, ns, bytes) = all.entry(copy.direction).or_insert((0, 0, Some(0)));
        *count += 1;
        *ns = ns.saturating_add(copy.span.map_or(0, Span::length));
        *bytes = bytes.zip(copy.bytes).and_then(|(a, b)| a.checked_add(b));
    }
    let total =
        |(direction, (count, ns, bytes))| CopyTotal { direction, times: Times { count, seconds: seconds(ns) }, bytes };
    all.into_iter().map(total).collect()
}

/// Host ops with the time of their kernels.
fn by_op(traces: &mut [Trace]) -> Vec<HostTotal> {
    let mut all: BTreeMap<String, Times> = BTreeMap::new();
    for trace in traces {
        trace.op_names.sort_unstable();
        let names = &trace.op_names;
        let mut here: BTreeMap<Name, (u64, i64)> = BTreeMap::new();
        for kernel in &trace.kernels {
            let Some(external) = kernel.external else { continue };
            let at = names.partition_point(|(known, _)| *known < external);
            let Some((_, name)) = names.get(at).filter(|(known, _)| *known == external) else { continue };
            let (count, ns) = here.entry(*name).or_default();
            *count += 1;
            *ns = ns.saturating_add(kernel.span.map_or(0, Span::length));
        }
        gather(&mut all, trace, here);
    }
    longest(all)
}

/// Host work by name, without what it calls on the same thread.
fn by_host(traces: &mut [Trace]) -> Vec<HostTotal> {
    let mut all: BTreeMap<String, Times> = BTreeMap::new();
    for trace in traces {
        trace.ops.sort_unstable_by_key(|op| (op.thread, op.span.from, std::cmp::Reverse(op.span.to)));
        let mut here: BTreeMap<Name, (u64, i64)> = BTreeMap::new();
        // Those that have begun and not ended, and how much of each is their own.
        let mut open: Vec<(HostOp, i64)> = Vec::new();
        for op in trace.ops.iter().copied() {
            while let Some((outer, own)) =
                open.pop_if(|(outer, _)| outer.thread != op.thread || outer.span.to <= op.span.from)
            {
                close(&mut here, &outer, own);
            }
            if let Some((outer, own)) = open.last_mut() {
                *own -= op.span.to.min(outer.span.to) - op.span.from;
            }
            open.push((op, op.span.length()));
        }
        while let Some((outer, own)) = open.pop() {
            close(&mut here, &outer, own);
        }
        gather(&mut all, trace, here);
    }
    longest(all)
}

fn close(here: &mut BTreeMap<Name, (u64, i64)>, op: &HostOp, own: i64) {
    let (count, ns) = here.entry(op.name).or_default();
    *count += 1;
    *ns = ns.saturating_add(own.max(0));
}

fn gather(all: &mut BTreeMap<String, Times>, trace: &Trace, here: BTreeMap<Name, (u64, i64)>) {
    for (name, (count, ns)) in here {
        let times = all.entry(trace.names.text(name)).or_default();
        times.count += count;
        times.seconds += seconds(ns);
    }
}

fn longest(all: BTreeMap<String, Times>) -> Vec<HostTotal> {
    let mut all: Vec<HostTotal> = all.into_iter().map(|(name, times)| HostTotal { name, times }).collect();
    all.sort_by(|a, b| b.times.seconds.total_cmp(&a.times.seconds));
    all.truncate(LISTED);
    all
}

fn of_steps(spans: &[Span]) -> Option<Steps> {
    let total = times(spans.iter().copied());
    let lengths = || spans.iter().map(|span| span.length());
    #[expect(clippy::cast_precision_loss, reason = "a count of steps")]
    let mean_s = total.seconds / total.count as f64;
    Some(Steps { count: total.count, mean_s, least_s: seconds(lengths().min()?), most_s: seconds(lengths().max()?) })
}

/// The notes of all files; where there are several, each says of which.
fn notes(traces: &[Trace]) -> Vec<Note> {
    let several = traces.len() > 1;
    let of = |trace: &Trace| {
        let named = |note: &Note| {
            let text = if several { format!("{}: {}", trace.file, note.text) } else { note.text.clone() };
            Note { code: note.code, text }
        };
        trace.not_read.iter().map(named).collect::<Vec<_>>()
    };
    let mut all: Vec<Note> = traces.iter().flat_map(of).collect();
    // What matters less to the totals comes last.
    all.sort_by_key(|note| match note.code {
        "cut-short" | "broken" => 0,
        "python" | "metadata" => 2,
        _ => 1,
    });
    all
}
