//! Files that say by process what their events are: rocprof's, and those of JAX and TensorFlow.

use super::args::Args;
use super::build::Build;
use super::onnxruntime::is_onnxruntime;
use crate::json::{Event, members, text};
use crate::model::Step;
use crate::times::whole;
use crate::xplane::{DeviceLine, HostEvent, bytes_of, contains_others, device_line, device_number, loads};
use std::collections::{HashMap, HashSet};

/// What the events of a process are.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Process {
    /// Kernels, in a file of rocprof.
    Gpu(i64),
    /// Copies, in a file of rocprof.
    Copies,
    /// Calls, in a file of rocprof.
    Calls,
    /// A device plane of JAX or TensorFlow.
    Device(i64),
}

/// A thread, by pid and tid as they stand in the file.
type Thread = (Box<[u8]>, Box<[u8]>);

/// The processes of a file, and the threads of device planes.
#[derive(Default)]
pub(super) struct Processes {
    by_pid: HashMap<Box<[u8]>, Process>,
    /// What each thread of a device plane holds, by pid and tid.
    lines: HashMap<Thread, DeviceLine>,
    /// Device planes that have streams.
    with_streams: HashSet<Box<[u8]>>,
    /// The file is rocprof's.
    pub(super) rocprof: bool,
    /// The file is of JAX or TensorFlow.
    pub(super) xla: bool,
}

/// The name in `args`, without its quotes.
fn name_of<'a>(event: &Event<'a>) -> &'a [u8] {
    let mut name: &[u8] = b"";
    members(event.args, |key, value| {
        if let (b"name", [b'"', inner @ .., b'"']) = (key, value) {
            name = inner;
        }
    });
    name
}

impl Processes {
    /// Takes an event that names a process or a thread.
    pub(super) fn told(&mut self, event: &Event<'_>) {
        match event.name {
            b"process_name" => self.process(event),
            b"thread_name" if matches!(self.by_pid.get(event.pid), Some(Process::Device(_))) => {
                let line = device_line(&text(name_of(event)));
                if matches!(line, DeviceLine::Stream(_)) {
                    self.with_streams.insert(event.pid.into());
                }
                self.lines.insert((event.pid.into(), event.tid.into()), line);
            }
            _ => {}
        }
    }

    fn process(&mut self, event: &Event<'_>) {
        let name = name_of(event);
        self.xla |= name.starts_with(b"/device:") || name.starts_with(b"/host:CPU");
        let process = match name.strip_prefix(b"GPU").and_then(whole) {
            Some(number) => Process::Gpu(number),
            None => match name {
                b"COPY" => Process::Copies,
                b"CPU HIP API" | b"CPU HSA API" => Process::Calls,
                _ => match device_number(&text(name)) {
                    Some(number) => Process::Device(number),
                    None => return,
                },
            },
        };
        self.rocprof |= process == Process::Calls;
        self.by_pid.insert(event.pid.into(), process);
    }
}

impl Build {
    /// An event whose category says nothing.
    pub(super) fn of_process(&mut self, event: &Event<'_>) {
        self.onnxruntime |= is_onnxruntime(event);
        if self.processes.xla {
            self.xla_event(event);
        } else if self.onnxruntime && matches!(event.category, b"Node" | b"Session") {
            self.onnxruntime_event(event);
        } else if self.processes.rocprof {
            self.rocprof_event(event);
        } else {
            self.host(event, false);
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
        match self.processes.by_pid.get(event.pid) {
            Some(Process::Gpu(number)) => {
                let args = Args { device: Some(*number), ..args };
                self.kernel(&exact, &args);
            }
            Some(Process::Copies) => self.copy(&exact, &args),
            Some(Process::Calls) => {
                self.call(&exact, &args);
                self.host(&exact, false);
            }
            _ => self.host(&exact, false),
        }
    }

    /// An event of JAX or TensorFlow: of a device plane's streams, or of the host.
    fn xla_event(&mut self, event: &Event<'_>) {
        let Some(Process::Device(number)) = self.processes.by_pid.get(event.pid) else {
            return match HostEvent::of(event.name) {
                HostEvent::Aside => {}
                HostEvent::Frame => self.count.frames += 1,
                HostEvent::Call => {
                    let mut args = Args::default();
                    members(event.args, |key, value| {
                        if key == b"correlation_id" {
                            args.correlation = whole(value);
                        }
                    });
                    self.call(event, &args);
                    self.host(event, false);
                }
                HostEvent::Op => self.xla_host(event),
            };
        };
        let mut args = Args { device: Some(*number), ..Args::default() };
        members(event.args, |key, value| match key {
            b"correlation_id" => args.correlation = whole(value),
            b"bytes_transferred" => args.bytes = whole(value).and_then(|n| u64::try_from(n).ok()),
            b"memcpy_details" => args.bytes = args.bytes.or(bytes_of(&text(value))),
            _ => {}
        });
        let line = self.processes.lines.get(&(Box::from(event.pid), Box::from(event.tid)));
        match line {
            Some(DeviceLine::Stream(stream)) => {
                args.stream = *stream;
                match event.name {
                    name if name.starts_with(b"Memcpy") || name.starts_with(b"MEMCPY") => self.copy(event, &args),
                    name if name.starts_with(b"Memset") || name.starts_with(b"MEMSET") => self.memset(event, &args),
                    _ => self.kernel(event, &args),
                }
            }
            Some(DeviceLine::Ops)
                if !self.processes.with_streams.contains(event.pid) && !contains_others(event.name) =>
            {
                self.kernel(event, &args);
            }
            _ => {}
        }
    }

    /// An event of a host thread: a step, a batch that is fetched, any other work.
    fn xla_host(&mut self, event: &Event<'_>) {
        let mut step = None;
        members(event.args, |key, value| {
            if key == b"step_num" {
                step = whole(value);
            }
        });
        if step.is_some() || loads(event.name) {
            let Some(span) = self.span(event) else { return };
            self.trace.steps.extend(step.map(|number| Step { number, span, process: 0 }));
            self.trace.loading.extend(loads(event.name).then_some(span));
        }
        self.host(event, false);
    }
}
