//! From events in the order of the file to what it holds.

use super::args::Args;
use super::category::{Category, category};
use super::process::Processes;
use super::shapes::{Said, Shapes, memory};
use super::tie::Ties;
use crate::calls::{direction, does};
use crate::json::{Event, Visitor, members, text};
use crate::lanes::Lane;
use crate::model::{Call, Copy, HostOp, Kernel, Step, Trace};
use crate::names::{Name, Names};
use crate::span::Span;
use crate::times::{nanoseconds, whole};
use std::collections::HashMap;

/// A file in the making.
pub(super) struct Build {
    pub(super) trace: Trace,
    /// The power of ten of the unit of times over 1 ns: µs, but for writers that confuse them.
    unit: i32,
    threads: Names,
    pub(super) processes: Processes,
    /// Events that have begun and not ended, by thread.
    open: HashMap<u32, Vec<(Name, i64)>>,
    pub(super) ties: Ties,
    pub(super) shapes: Shapes,
    pub(super) kineto: bool,
    pub(super) onnxruntime: bool,
    pub(super) described: Vec<(i64, String)>,
    pub(super) count: Count,
}

/// What is told in notes.
#[derive(Default)]
pub(super) struct Count {
    pub(super) untimed: u64,
    pub(super) negative: u64,
    pub(super) counters: u64,
    pub(super) frames: u64,
    pub(super) blocks: u64,
    pub(super) host_name: bool,
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
            processes: Processes::default(),
            open: HashMap::new(),
            ties: Ties::default(),
            shapes: Shapes::default(),
            kineto: false,
            onnxruntime: false,
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
    pub(super) fn span(&mut self, event: &Event<'_>) -> Option<Span> {
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

    /// Where something ran.
    fn lane(&mut self, event: &Event<'_>, args: &Args) -> u32 {
        let gpu = args.device.or_else(|| whole(event.pid)).unwrap_or(0);
        self.trace.lanes.of(Lane { gpu, stream: args.stream.or_else(|| whole(event.tid)), process: 0 })
    }

    pub(super) fn kernel(&mut self, event: &Event<'_>, args: &Args) {
        let when = self.span(event).into();
        let (name, lane) = (self.trace.names.name(event.name), self.lane(event, args));
        self.trace.kernels.push(Kernel::new(when, name, lane));
        self.ties.kernel(args);
    }

    pub(super) fn copy(&mut self, event: &Event<'_>, args: &Args) {
        let when = self.span(event).into();
        let lane = self.lane(event, args);
        self.trace.copies.push(Copy { when, bytes: args.bytes, lane, direction: direction(event.name) });
        self.ties.copy(args);
    }

    pub(super) fn memset(&mut self, event: &Event<'_>, args: &Args) {
        let when = self.span(event).into();
        let lane = self.lane(event, args);
        self.trace.memsets.push((lane, when));
    }

    pub(super) fn call(&mut self, event: &Event<'_>, args: &Args) {
        self.trace.has_calls = true;
        let at = self.point(event.ts).unwrap_or(i64::MIN);
        let thread = self.thread(event);
        self.ties.call(args, thread, at);
        if let Some(does) = does(event.name)
            && let Some(span) = self.span(event)
        {
            self.trace.calls.push(Call::new(span, 0, does));
        }
    }

    pub(super) fn host(&mut self, event: &Event<'_>, of_kineto: bool) {
        if let Some(number) = event.name.strip_prefix(STEP) {
            if let (Some(number), Some(span)) = (whole(number), self.span(event)) {
                self.trace.steps.push(Step { number, span, process: 0 });
            }
            return;
        }
        let Some(span) = self.span(event) else { return };
        if event.name.starts_with(LOADING) {
            self.trace.loading.push(span);
        }
        let name = self.trace.names.name(event.name);
        if of_kineto {
            let said = Said::of(event.args);
            if let Some(external) = said.external {
                let work = self.shapes.of(event.name, &said);
                self.ties.op(external, name, work);
            }
        }
        let thread = self.thread(event);
        self.trace.ops.push(HostOp { span, name, thread });
    }

    pub(super) fn thread(&mut self, event: &Event<'_>) -> u32 {
        let mut both = [0; 64];
        let pid = &event.pid[..event.pid.len().min(31)];
        let tid = &event.tid[..event.tid.len().min(31)];
        both[..pid.len()].copy_from_slice(pid);
        both[32..32 + tid.len()].copy_from_slice(tid);
        self.threads.name(&both).0
    }

    /// A frame of Python: the module or the line that it is of, where it says.
    fn frame(&mut self, event: &Event<'_>) {
        self.count.frames += 1;
        let Some((name, frames)) = self.ties.frames(event.name) else { return };
        let name = self.trace.names.name(name);
        let Some(span) = self.point(event.ts).zip(nanoseconds(event.dur, self.unit).filter(|long| *long >= 0)) else {
            return;
        };
        let thread = self.thread(event);
        let span = Span { from: span.0, to: span.0.saturating_add(span.1) };
        self.ties.frame(frames, HostOp { span, name, thread });
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
                    _ => self.memset(event, &args),
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
            Category::Aside if event.category.eq_ignore_ascii_case(b"python_function") => self.frame(event),
            Category::Aside => {}
            Category::Other => self.of_process(event),
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
}

impl Visitor for Build {
    fn event(&mut self, event: &Event<'_>) {
        self.trace.events += 1;
        match event.phase {
            b"X" => self.complete(event),
            b"B" | b"E" => self.half(event),
            b"M" => self.processes.told(event),
            b"i" if event.name == b"[memory]" => {
                self.trace.peak_bytes = self.trace.peak_bytes.max(memory(event.args));
            }
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
