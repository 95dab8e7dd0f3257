//! From planes to what a file holds: device planes give kernels and copies, host planes calls, steps and ops.

use super::hlo::Sources;
use super::plane::{Event, Line, Metadata, Plane};
use super::wire::Value;
use super::words::{DeviceLine, HostEvent, bytes_of, contains_others, device_line, device_number, loads};
use crate::calls::{direction, does};
use crate::lanes::Lane;
use crate::model::{Call, Copy, HostOp, Kernel, Step, Trace};
use crate::span::Span;
use std::collections::BTreeMap;

/// A file in the making.
pub(super) struct Fill {
    pub(super) trace: Trace,
    pub(super) sources: Sources,
    pub(super) count: Count,
    /// Names that the file gives its GPUs.
    pub(super) named: BTreeMap<i64, String>,
    /// Correlations of calls, and of kernels.
    calls: Vec<i64>,
    kernels: Vec<Option<i64>>,
    threads: u32,
}

/// What is told in notes.
#[derive(Default)]
pub(super) struct Count {
    pub(super) negative: u64,
    pub(super) frames: u64,
    pub(super) planes: u64,
    pub(super) nameless: u64,
}

/// What the stats of an event on a device say.
#[derive(Default)]
struct Said<'a> {
    op: &'a [u8],
    module: &'a [u8],
    program: u64,
    path: &'a [u8],
    correlation: Option<i64>,
    bytes: Option<u64>,
}

/// Stats by which planes name their device.
const NAMES: [&[u8]; 3] = [b"device_type_string", b"device_name", b"gpu_device_name"];

impl Fill {
    pub(super) fn new(trace: Trace) -> Self {
        Self {
            trace,
            sources: Sources::default(),
            count: Count::default(),
            named: BTreeMap::new(),
            calls: Vec::new(),
            kernels: Vec::new(),
            threads: 0,
        }
    }

    /// Takes a plane; those of devices after that of metadata.
    pub(super) fn plane(&mut self, plane: &Plane<'_>) {
        self.count.planes += 1;
        match device_number(&String::from_utf8_lossy(plane.name)) {
            Some(number) => self.device(plane, number),
            None if plane.name.starts_with(b"/host:CPU") => {
                plane.lines.iter().for_each(|line| self.host(plane, &Line::of(line)));
            }
            None if plane.name == b"/host:metadata" => self.sources.add(plane),
            None => {}
        }
    }

    /// From when to when; `None` is counted.
    fn span(&mut self, line: &Line<'_>, event: &Event<'_>) -> Option<Span> {
        if event.duration_ps < 0 {
            self.count.negative += 1;
            return None;
        }
        // ps are added up before they are rounded, so that neighbours touch.
        let at = |ps: i64| line.from.checked_add((ps + 500).div_euclid(1000));
        let end = event.offset_ps.checked_add(event.duration_ps)?;
        let (from, to) = (at(event.offset_ps.min(i64::MAX - 500))?, at(end.min(i64::MAX - 500))?);
        Some(Span { from, to })
    }

    fn device(&mut self, plane: &Plane<'_>, number: i64) {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        for stat in &plane.own {
            if let (name, Value::Bytes(value)) = plane.stat(stat)
                && NAMES.contains(&name)
            {
                self.named.insert(number, text(value));
            }
        }
        let lines: Vec<(Line<'_>, DeviceLine)> = plane
            .lines
            .iter()
            .map(|line| Line::of(line))
            .map(|line| {
                let holds = device_line(&text(line.name));
                (line, holds)
            })
            .collect();
        let streams = lines.iter().any(|(_, holds)| matches!(holds, DeviceLine::Stream(_)));
        for (line, holds) in &lines {
            let stream = match holds {
                DeviceLine::Stream(stream) => stream.or(Some(line.id.cast_signed())),
                DeviceLine::Ops if !streams => None,
                _ => continue,
            };
            for event in line.events() {
                self.on_device(plane, line, &event, Lane { gpu: number, stream, process: 0 });
            }
        }
    }

    fn on_device(&mut self, plane: &Plane<'_>, line: &Line<'_>, event: &Event<'_>, lane: Lane) {
        self.trace.events += 1;
        let metadata = match plane.events.get(&event.metadata) {
            Some(metadata) => metadata.clone(),
            // Names come behind the events: of a plane that is cut, nobody knows what ran.
            None if plane.broken => {
                self.count.nameless += 1;
                return;
            }
            None => Metadata::default(),
        };
        let name = if metadata.name.is_empty() { b"(no name)" } else { metadata.name };
        if lane.stream.is_none() && contains_others(if metadata.shown.is_empty() { name } else { metadata.shown }) {
            return;
        }
        let when = self.span(line, event).into();
        let mut said = Said::default();
        for stat in metadata.stats.iter().copied().chain(event.stats()) {
            said.add(plane.stat(stat));
        }
        let lane = self.trace.lanes.of(lane);
        let starts = |word: &[u8]| name.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word));
        if starts(b"memset") {
            self.trace.memsets.push((lane, when));
            return;
        }
        if starts(b"memcpy") {
            self.trace.copies.push(Copy { when, bytes: said.bytes, lane, direction: direction(name) });
            return;
        }
        let kernel = Kernel::new(when, self.trace.names.name(name), lane);
        self.trace.kernels.push(kernel);
        self.kernels.push(said.correlation);
        let source = self.sources.find(said.program, said.op).cloned().unwrap_or_default();
        let named = |op: &[u8]| (!op.is_empty()).then(|| Box::from(op));
        let op = named(said.path).or(source.op).or_else(|| named(said.op));
        let trace = &mut self.trace;
        for (name, by) in
            [(op, &mut trace.by_op), (named(said.module), &mut trace.by_module), (source.line, &mut trace.by_line)]
        {
            if let Some(name) = name {
                by.entry(trace.names.name(&name)).or_default().add(kernel.when.length());
            }
        }
    }

    fn host(&mut self, plane: &Plane<'_>, line: &Line<'_>) {
        let thread = self.threads;
        self.threads += 1;
        for event in line.events() {
            self.trace.events += 1;
            let name = plane.events.get(&event.metadata).map_or(&b""[..], |metadata| metadata.name);
            let what = HostEvent::of(name);
            match what {
                HostEvent::Aside => continue,
                HostEvent::Frame => {
                    self.count.frames += 1;
                    continue;
                }
                HostEvent::Call | HostEvent::Op => {}
            }
            let Some(span) = self.span(line, &event) else { continue };
            if loads(name) {
                self.trace.loading.push(span);
            }
            for stat in event.stats() {
                match plane.stat(stat) {
                    (b"step_num", value) => {
                        self.trace.steps.push(Step { number: value.signed(), span, process: 0 });
                    }
                    (b"correlation_id", value) if what == HostEvent::Call => self.calls.push(value.signed()),
                    _ => {}
                }
            }
            if let Some(does) = does(name).filter(|_| what == HostEvent::Call) {
                self.trace.has_calls = true;
                self.trace.calls.push(Call::new(span, 0, does));
            }
            let name = self.trace.names.name(name);
            self.trace.ops.push(HostOp { span, name, thread });
        }
    }

    /// How many kernels have no launch in the file.
    pub(super) fn without_launch(&mut self) -> u64 {
        self.calls.sort_unstable();
        let launched = |correlation: &&Option<i64>| correlation.is_some_and(|c| self.calls.binary_search(&c).is_ok());
        self.kernels.iter().filter(|kernel| !launched(kernel)).count() as u64
    }
}

impl<'a> Said<'a> {
    /// Takes a stat; of one that comes twice, the last holds.
    fn add(&mut self, (name, value): (&'a [u8], Value<'a>)) {
        match name {
            b"hlo_op" => self.op = value.bytes(),
            b"hlo_module" => self.module = value.bytes(),
            b"program_id" => self.program = value.number(),
            b"name" => self.path = value.bytes(),
            // `XlaModule:` is what is said where nothing is known.
            b"tf_op" if self.path.is_empty() && value.bytes().last() != Some(&b':') => self.path = value.bytes(),
            b"correlation_id" => self.correlation = Some(value.signed()),
            b"bytes_transferred" => self.bytes = Some(value.number()),
            b"memcpy_details" => {
                self.bytes = self.bytes.or(bytes_of(&String::from_utf8_lossy(value.bytes())));
            }
            _ => {}
        }
    }
}
