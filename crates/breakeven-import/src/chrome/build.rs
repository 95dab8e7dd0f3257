//! From events in the order of the file to what it holds.

use super::args::Args;
use super::category::{Category, category};
use crate::calls::{direction, does};
use crate::json::{Event, Visitor, members, text};
use crate::model::{Call, Copy, Gpu, HostOp, Kernel, Kind, Span, Step, Trace};
use crate::names::{Name, Names};
use crate::times::{nanoseconds, whole};
use breakeven::report::words::several;
use std::collections::{BTreeSet, HashMap};

/// A file in the making.
pub(super) struct Build {
    trace: Trace,
    /// The power of ten of the unit of times over 1 ns: µs, but for writers that confuse them.
    unit: i32,
    threads: Names,
    /// What the processes of rocprof are, by pid.
    processes: HashMap<Box<[u8]>, Process>,
    /// Events that have begun and not ended, by thread.
    open: HashMap<u32, Vec<(Name, i64)>>,
    /// Calls of the host: correlation, and the host op that they belong to.
    calls: Vec<(i64, Option<i64>)>,
    /// Bytes that calls say, for copies that do not.
    sizes: HashMap<i64, u64>,
    kineto: bool,
    rocprof: bool,
    xla: bool,
    described: Vec<(i64, String)>,
    count: Count,
}

/// What is told in notes.
#[derive(Default)]
struct Count {
    untimed: u64,
    negative: u64,
    counters: u64,
    frames: u64,
    blocks: u64,
    host_name: bool,
}

/// What the events of a process of rocprof are.
#[derive(Clone, Copy)]
enum Process {
    Gpu(i64),
    Copies,
    Calls,
}

/// Times from here on are ns where others write µs: as µs they would be in the year 5138.
const NS_NOT_US: i64 = 100_000_000_000_000_000;
/// Blocks of the top level that say how the profiler was set and nothing else.
const PLAIN_BLOCKS: [&[u8]; 22] = [
    b"schemaVersion",
    b"displayTimeUnit",
    b"baseTimeNanoseconds",
    b"traceName",
    b"traceEvents",
    b"deviceProperties",
    b"distributedInfo",
    b"record_shapes",
    b"with_stack",
    b"with_flops",
    b"with_modules",
    b"profile_memory",
    b"trace_id",
    b"cupti_version",
    b"cuda_runtime_version",
    b"cuda_driver_version",
    b"roctracer_version",
    b"hip_runtime_version",
    b"hip_driver_version",
    b"stackFrames",
    b"samples",
    b"systemTraceEvents",
];
/// What a name of each step begins with.
const STEP: &[u8] = b"ProfilerStep#";
/// What fetching the next batch begins with.
const LOADING: &[u8] = b"enumerate(DataLoader)";

impl Build {
    pub(super) fn new(file: &str) -> Self {
        Self {
            trace: Trace { file: file.to_owned(), holds_kernels: true, holds_copies: true, ..Trace::default() },
            unit: 3,
            threads: Names::default(),
            processes: HashMap::new(),
            open: HashMap::new(),
            calls: Vec::new(),
            sizes: HashMap::new(),
            kineto: false,
            rocprof: false,
            xla: false,
            described: Vec::new(),
            count: Count::default(),
        }
    }

    /// A point in time, ns.
    fn point(&mut self, text: &[u8]) -> Option<i64> {
        if let Some(at) = nanoseconds(text, self.unit) {
            return Some(at);
        }
        let at = nanoseconds(text, 0).filter(|at| *at >= NS_NOT_US)?;
        self.unit = 0;
        self.trace
            .note("times-in-ns", "times are taken as ns: as µs, which the format has, they would be beyond year 5000");
        Some(at)
    }

    /// From when to when; `None` is counted.
    fn span(&mut self, event: &Event<'_>) -> Option<Span> {
        let from = self.point(event.ts);
        let long = nanoseconds(event.dur, self.unit);
        let span = match (from, long) {
            (_, Some(..0)) => {
                self.count.negative += 1;
                return None;
            }
            (Some(from), Some(long)) => from.checked_add(long).map(|to| Span { from, to }),
            _ => None,
        };
        self.count.untimed += u64::from(span.is_none());
        span
    }

    fn kernel(&mut self, event: &Event<'_>, args: &Args) {
        let span = self.span(event);
        let kernel = Kernel {
            span,
            gpu: args.device.or_else(|| whole(event.pid)).unwrap_or(0),
            name: self.trace.names.name(event.name),
            correlation: args.correlation,
            external: args.external.filter(|id| *id != 0),
        };
        self.trace.kernels.push(kernel);
    }

    fn copy(&mut self, event: &Event<'_>, args: &Args) {
        let copy = Copy {
            span: self.span(event),
            gpu: args.device.or_else(|| whole(event.pid)).unwrap_or(0),
            direction: direction(event.name),
            bytes: args.bytes,
            correlation: args.correlation,
        };
        self.trace.copies.push(copy);
    }

    fn call(&mut self, event: &Event<'_>, args: &Args) {
        self.trace.has_calls = true;
        if let Some(correlation) = args.correlation {
            self.calls.push((correlation, args.external.filter(|id| *id != 0)));
            if let Some(bytes) = args.bytes {
                self.sizes.insert(correlation, bytes);
            }
        }
        if let Some(does) = does(event.name)
            && let Some(span) = self.span(event)
        {
            self.trace.calls.push(Call { span, does });
        }
    }

    fn host(&mut self, event: &Event<'_>, of_kineto: bool) {
        if let Some(number) = event.name.strip_prefix(STEP) {
            if let (Some(number), Some(span)) = (whole(number), self.span(event)) {
                self.trace.steps.push(Step { number, span });
            }
            return;
        }
        let Some(span) = self.span(event) else { return };
        if event.name.starts_with(LOADING) {
            self.trace.loading.push(span);
        }
        let name = self.trace.names.name(event.name);
        if of_kineto && let Some(external) = Args::of(event.args).external {
            self.trace.op_names.push((external, name));
        }
        let thread = self.thread(event);
        self.trace.ops.push(HostOp { span, name, thread });
    }

    fn thread(&mut self, event: &Event<'_>) -> u32 {
        let mut both = [0; 64];
        let pid = &event.pid[..event.pid.len().min(31)];
        let tid = &event.tid[..event.tid.len().min(31)];
        both[..pid.len()].copy_from_slice(pid);
        both[32..32 + tid.len()].copy_from_slice(tid);
        self.threads.name(&both).0
    }

    /// A whole event, with its duration.
    fn complete(&mut self, event: &Event<'_>) {
        let category = category(event.category);
        match category {
            Category::Kernel | Category::Copy | Category::Memset => {
                let args = Args::of(event.args);
                // Others have a category `kernel` too: that of an operating system.
                if args.device.is_none() && args.correlation.is_none() && !self.kineto {
                    return self.host(event, false);
                }
                self.kineto = true;
                match category {
                    Category::Kernel => self.kernel(event, &args),
                    Category::Copy => self.copy(event, &args),
                    _ => {
                        let gpu = args.device.or_else(|| whole(event.pid)).unwrap_or(0);
                        let span = self.span(event);
                        self.trace.memsets.push((gpu, span));
                    }
                }
            }
            Category::Call => {
                let args = Args::of(event.args);
                self.kineto |= args.correlation.is_some();
                self.call(event, &args);
            }
            Category::HostOp => {
                self.kineto = true;
                self.host(event, true);
            }
            // Marks of the user contain ops: they are steps and loading, and no ops themselves.
            Category::Annotation => {
                self.kineto = true;
                if event.name.starts_with(STEP) {
                    self.host(event, true);
                } else if event.name.starts_with(LOADING) {
                    let span = self.span(event);
                    self.trace.loading.extend(span);
                }
            }
            Category::Counters => {
                self.kineto = true;
                self.count.counters += 1;
            }
            Category::Aside => {
                self.count.frames += u64::from(event.category.eq_ignore_ascii_case(b"python_function"));
            }
            Category::Other if self.rocprof => self.rocprof_event(event),
            Category::Other => self.host(event, false),
        }
    }

    /// An event of rocprof, which has its exact times beside rounded ones.
    fn rocprof_event(&mut self, event: &Event<'_>) {
        let args = Args::of(event.args);
        let mut exact = *event;
        let (from, long);
        if let (Some(begin), Some(end)) = (args.begin_ns, args.end_ns) {
            (from, long) = (format!("{begin}e-3"), format!("{}e-3", end.saturating_sub(begin)));
            (exact.ts, exact.dur) = (from.as_bytes(), long.as_bytes());
        }
        match self.processes.get(event.pid) {
            Some(Process::Gpu(number)) => {
                let args = Args { device: Some(*number), ..args };
                self.kernel(&exact, &args);
            }
            Some(Process::Copies) => self.copy(&exact, &args),
            Some(Process::Calls) => {
                self.call(&exact, &args);
                self.host(&exact, false);
            }
            None => self.host(&exact, false),
        }
    }

    /// Beginnings and ends as events of their own.
    fn half(&mut self, event: &Event<'_>) {
        let Some(at) = self.point(event.ts) else {
            self.count.untimed += 1;
            return;
        };
        let thread = self.thread(event);
        if event.phase == b"B" {
            let name = self.trace.names.name(event.name);
            self.open.entry(thread).or_default().push((name, at));
        } else if let Some((name, from)) = self.open.get_mut(&thread).and_then(Vec::pop) {
            if from <= at {
                self.trace.ops.push(HostOp { span: Span { from, to: at }, name, thread });
            } else {
                self.count.negative += 1;
            }
        }
    }

    /// What a process is called.
    fn process(&mut self, event: &Event<'_>) {
        let mut name: &[u8] = b"";
        members(event.args, |key, value| {
            if let (b"name", [b'"', inner @ .., b'"']) = (key, value) {
                name = inner;
            }
        });
        self.xla |= name.starts_with(b"/device:");
        let number = name.strip_prefix(b"GPU").and_then(whole);
        let process = match (number, name) {
            (Some(number), _) => Process::Gpu(number),
            (None, b"COPY") => Process::Copies,
            (None, b"CPU HIP API" | b"CPU HSA API") => Process::Calls,
            _ => return,
        };
        self.rocprof |= matches!(process, Process::Calls);
        self.processes.insert(event.pid.into(), process);
    }

    /// The finished file, and whether it holds an event at all.
    pub(super) fn finish(mut self) -> (Trace, bool) {
        self.trace.kind = match () {
            () if self.kineto => Kind::Kineto,
            () if self.rocprof => Kind::RocprofJson,
            () => Kind::Chrome,
        };
        self.tie();
        self.describe();
        self.notes();
        let has_events = self.trace.events > 0;
        (self.trace, has_events)
    }

    /// Ties kernels to host ops, and copies to bytes, by the calls that asked for them.
    fn tie(&mut self) {
        self.calls.sort_unstable();
        let external_of = |correlation: i64| {
            let at = self.calls.partition_point(|(known, _)| *known < correlation);
            let same = self.calls[at..].iter().take_while(|(known, _)| *known == correlation);
            same.filter_map(|(_, external)| *external).next()
        };
        for kernel in &mut self.trace.kernels {
            kernel.external = kernel.external.or_else(|| kernel.correlation.and_then(external_of));
        }
        for copy in &mut self.trace.copies {
            copy.bytes = copy.bytes.or_else(|| copy.correlation.and_then(|c| self.sizes.get(&c).copied()));
        }
    }

    /// Names of the GPUs that did something.
    fn describe(&mut self) {
        let trace = &mut self.trace;
        let kernels = trace.kernels.iter().map(|kernel| kernel.gpu);
        let copies = trace.copies.iter().map(|copy| copy.gpu);
        let used: BTreeSet<i64> = kernels.chain(copies).chain(trace.memsets.iter().map(|(gpu, _)| *gpu)).collect();
        let first = self.described.first().map(|(_, name)| name);
        // ROCm numbers the devices of its events from another start than those that it describes.
        let all_alike = first.filter(|first| self.described.iter().all(|(_, name)| name == *first));
        for gpu in used {
            let name = self.described.iter().find(|(id, _)| *id == gpu).map(|(_, name)| name).or(all_alike);
            trace.gpus.insert(gpu, Gpu { name: name.cloned() });
        }
    }

    fn notes(&mut self) {
        let trace = &mut self.trace;
        let count = &self.count;
        if count.counters > 0 {
            let kernels = several(count.counters, "kernel is", "kernels are");
            trace.note("counters", format!("{kernels} there by hardware counters alone, without their times"));
        }
        if !trace.has_gpu() {
            let why = match trace.kind {
                _ if self.xla => "the device planes of JAX and TensorFlow are not read yet: GPU times are unknown",
                Kind::Chrome => "this is no GPU trace: it has no kernels and no copies, only host time by name",
                _ => "no kernel is in the file: the profiler did not record the GPU, or nothing ran on one",
            };
            trace.note("no-gpu-events", why);
        }
        if trace.gpus.values().any(|gpu| gpu.name.is_none()) {
            trace.note("no-gpu-name", "the file does not say which GPU it was");
        }
        if count.negative > 0 {
            let events = several(count.negative, "event has", "events have");
            trace.note("negative-duration", format!("{events} a negative duration; counted, without a time"));
        }
        if count.untimed > 0 {
            let events = several(count.untimed, "event has", "events have");
            trace.note("no-time", format!("{events} no time that can be; counted, without a time"));
        }
        let unsized_copies = trace.copies.iter().filter(|copy| copy.bytes.is_none()).count() as u64;
        if unsized_copies > 0 {
            let copies = several(unsized_copies, "copy does", "copies do");
            trace.note("no-bytes", format!("{copies} not say how much: rates leave such directions out"));
        }
        if trace.has_calls {
            let launched = |correlation: Option<i64>| {
                correlation.is_some_and(|c| self.calls.binary_search_by_key(&c, |(known, _)| *known).is_ok())
            };
            let alone = trace.kernels.iter().filter(|kernel| !launched(kernel.correlation)).count() as u64;
            if alone > 0 {
                let kernels = several(alone, "kernel has", "kernels have");
                trace.note("no-launch", format!("{kernels} no launch in the file"));
            }
        }
        if count.frames > 0 {
            trace.note(
                "python",
                format!("{} not added up", several(count.frames, "Python frame is", "Python frames are")),
            );
        }
        if count.blocks > 0 {
            let blocks = several(count.blocks, "block", "blocks");
            let machine = if count.host_name { ", the recording machine's name among them," } else { "" };
            let text =
                format!("{blocks} of metadata{machine} not copied: such blocks may hold an environment or credentials");
            trace.note("metadata", text);
        }
    }
}

impl Visitor for Build {
    fn event(&mut self, event: &Event<'_>) {
        self.trace.events += 1;
        match event.phase {
            b"X" => self.complete(event),
            b"B" | b"E" => self.half(event),
            b"M" if event.name == b"process_name" => self.process(event),
            _ => {}
        }
    }

    fn block(&mut self, key: &[u8], value: Option<&[u8]>) {
        match (key, value) {
            (b"deviceProperties", Some(value)) => {
                self.kineto = true;
                let gpus = serde_json::from_slice::<Vec<serde_json::Value>>(value).unwrap_or_default();
                let named = |gpu: &serde_json::Value| Some((gpu["id"].as_i64()?, gpu["name"].as_str()?.to_owned()));
                self.described = gpus.iter().filter_map(named).collect();
            }
            (b"distributedInfo", Some(value)) => members(value, |key, value| {
                if key == b"rank" {
                    self.trace.rank = whole(value);
                }
            }),
            (b"schemaVersion", _) => self.kineto = true,
            _ if PLAIN_BLOCKS.contains(&key) => {}
            _ => {
                self.count.blocks += 1;
                self.count.host_name |= matches!(text(key).as_str(), "host_name" | "hostname");
            }
        }
    }
}
