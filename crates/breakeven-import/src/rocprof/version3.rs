//! The JSON of rocprofv3: records that name kernels, calls and agents by number, and tables of what the numbers mean.

use crate::calls::{direction, does};
use crate::json::{Climber, Ending, Go, Window, climb, members, text};
use crate::kind::Kind;
use crate::lanes::Lane;
use crate::model::{Call, Copy, Direction, HostOp, Kernel, Trace};
use crate::names::Name;
use crate::reader::Reader;
use crate::source::{Source, unreadable};
use crate::span::{Span, When};
use crate::times::{unquoted, whole};
use breakeven::report::words::several;
use breakeven::{Error, Result};
use std::collections::{BTreeMap, HashMap, HashSet};

/// Reads it.
pub(crate) struct Version3Reader;

/// The only key of the top level.
const TOOL: &str = "\"rocprofiler-sdk-tool\"";

impl Reader for Version3Reader {
    fn knows(&self, head: &[u8]) -> bool {
        head.trim_ascii_start().first() == Some(&b'{') && memchr::memmem::find(head, TOOL.as_bytes()).is_some()
    }

    fn read(&self, mut source: Source) -> Result<Trace> {
        let name = source.name.clone();
        let mut window = Window::new(&mut source);
        let mut records = Records::default();
        let ending = climb(&mut window, &mut records).map_err(|e| unreadable(&name, &e))?;
        let mut trace = Trace {
            file: name.clone(),
            kind: Kind::Rocprof3Json,
            holds_kernels: true,
            holds_copies: true,
            ..Trace::default()
        };
        if records.events == 0 && ending.cut.is_none() {
            let error = Error::new("trace-kind", format!("{name} is of rocprofv3, but holds no records"));
            return Err(error.hint("record with --kernel-trace, --hip-trace and --memory-copy-trace"));
        }
        records.fill(&mut trace, ending);
        Ok(trace)
    }
}

/// What a record says, whatever it is of.
#[derive(Clone, Copy, Default)]
struct Record {
    when: Option<Span>,
    kind: i64,
    operation: i64,
    correlation: i64,
    thread: i64,
    agent: i64,
    stream: Option<i64>,
    kernel: i64,
    bytes: Option<u64>,
    from_agent: i64,
    process: u16,
}

/// A GPU or CPU as the file describes it.
struct Agent {
    is_gpu: bool,
    /// Its number among GPUs, where the file gives it.
    number: Option<i64>,
    name: Option<String>,
}

/// All that is read before numbers have a meaning.
#[derive(Default)]
struct Records {
    kernels: Vec<Record>,
    copies: Vec<Record>,
    calls: Vec<Record>,
    agents: BTreeMap<(u16, i64), Agent>,
    symbols: HashMap<(u16, i64), Box<[u8]>>,
    /// What kinds of records and their operations are called.
    operations: Vec<Vec<Box<[u8]>>>,
    process: u16,
    events: u64,
    untimed: u64,
    negative: u64,
    metadata: bool,
}

/// The last number of a handle: `{"handle": 17}`, or a plain number.
fn handle(value: &[u8]) -> i64 {
    let mut found = whole(value);
    members(value, |key, value| {
        if matches!(key, b"handle" | b"internal") {
            found = whole(value);
        }
    });
    found.unwrap_or(0)
}

/// The keys below a process: the top level holds one, or a list of them.
fn below(path: &[Vec<u8>]) -> Vec<&[u8]> {
    let keys = path.iter().skip(1).map(Vec::as_slice);
    keys.enumerate().filter(|(at, key)| *at > 0 || !key.is_empty()).map(|(_, key)| key).collect()
}

impl Climber for Records {
    fn go(&mut self, path: &[Vec<u8>]) -> Go {
        let keys = below(path);
        match keys.as_slice() {
            [] if path[0] != b"rocprofiler-sdk-tool" => Go::Pass,
            [] | [b"agents" | b"kernel_symbols" | b"buffer_records" | b"strings"] => Go::Enter,
            [b"agents" | b"kernel_symbols", _] => Go::Take,
            [b"strings", b"buffer_records"] => Go::Enter,
            [b"strings", b"buffer_records", _] => Go::Take,
            [b"buffer_records", b"kernel_dispatch" | b"memory_copy" | b"hip_api"] => Go::Enter,
            [b"buffer_records", _, _] => Go::Take,
            [b"metadata"] => {
                self.metadata = true;
                // Each process of the list begins with it.
                self.process = self.process.saturating_add(u16::from(self.events > 0));
                Go::Pass
            }
            _ => Go::Pass,
        }
    }

    fn take(&mut self, path: &[Vec<u8>], value: &[u8]) {
        match below(path).as_slice() {
            [b"agents", _] => self.agent(value),
            [b"kernel_symbols", _] => self.symbol(value),
            [b"strings", ..] => {
                let mut names = Vec::new();
                members(value, |key, value| {
                    if key == b"operations" {
                        let all: Vec<String> = serde_json::from_slice(value).unwrap_or_default();
                        names = all.into_iter().map(|name| name.into_bytes().into()).collect();
                    }
                });
                self.operations.push(names);
            }
            [b"buffer_records", table, _] => self.record(table, value),
            _ => {}
        }
    }
}

impl Records {
    fn agent(&mut self, value: &[u8]) {
        let (mut id, mut agent) = (0, Agent { is_gpu: false, number: None, name: None });
        members(value, |key, value| match key {
            b"id" => id = handle(value),
            b"type" => agent.is_gpu = whole(value) == Some(2) || unquoted(value) == b"GPU",
            b"logical_node_type_id" => agent.number = whole(value),
            b"product_name" => agent.name = Some(text(unquoted(value))).filter(|name| !name.is_empty()),
            _ => {}
        });
        self.agents.insert((self.process, id), agent);
    }

    fn symbol(&mut self, value: &[u8]) {
        let (mut id, mut name): (_, &[u8]) = (0, &[]);
        members(value, |key, value| match key {
            b"kernel_id" => id = whole(value).unwrap_or(0),
            b"formatted_kernel_name" => name = unquoted(value),
            b"demangled_kernel_name" | b"kernel_name" if name.is_empty() => name = unquoted(value),
            _ => {}
        });
        self.symbols.insert((self.process, id), name.into());
    }

    fn record(&mut self, table: &[u8], value: &[u8]) {
        self.events += 1;
        let mut record = Record { process: self.process, ..Record::default() };
        let (mut from, mut to) = (None, None);
        members(value, |key, value| match key {
            b"start_timestamp" => from = whole(value),
            b"end_timestamp" => to = whole(value),
            b"kind" => record.kind = whole(value).unwrap_or(-1),
            b"operation" => record.operation = whole(value).unwrap_or(-1),
            b"correlation_id" => record.correlation = handle(value),
            b"thread_id" => record.thread = whole(value).unwrap_or(0),
            b"stream_id" => record.stream = Some(handle(value)),
            b"dst_agent_id" => record.agent = handle(value),
            b"src_agent_id" => record.from_agent = handle(value),
            b"bytes" => record.bytes = whole(value).and_then(|n| u64::try_from(n).ok()),
            b"dispatch_info" => members(value, |key, value| match key {
                b"agent_id" => record.agent = handle(value),
                b"queue_id" => record.stream = record.stream.or(Some(handle(value))),
                b"kernel_id" => record.kernel = handle(value),
                _ => {}
            }),
            _ => {}
        });
        record.when = from.zip(to).filter(|(from, to)| from <= to).map(|(from, to)| Span { from, to });
        self.untimed += u64::from(from.is_none() || to.is_none());
        self.negative += u64::from(from.zip(to).is_some_and(|(from, to)| to < from));
        match table {
            b"kernel_dispatch" => self.kernels.push(record),
            b"memory_copy" => self.copies.push(record),
            _ => self.calls.push(record),
        }
    }

    /// The number of a GPU among those of the file, and whether it is one.
    fn numbers(&self) -> BTreeMap<(u16, i64), i64> {
        let mut numbers = BTreeMap::new();
        let mut counted: BTreeMap<u16, i64> = BTreeMap::new();
        for (id, agent) in self.agents.iter().filter(|(_, agent)| agent.is_gpu) {
            let next = counted.entry(id.0).or_default();
            numbers.insert(*id, agent.number.unwrap_or(*next));
            *next += 1;
        }
        numbers
    }

    /// What an operation of a record is called.
    fn operation(&self, record: &Record) -> &[u8] {
        let kind = usize::try_from(record.kind).ok().and_then(|kind| self.operations.get(kind));
        let name = kind.and_then(|names| names.get(usize::try_from(record.operation).ok()?));
        name.map_or(b"(no name)", |name| name)
    }

    fn fill(self, trace: &mut Trace, ending: Ending) {
        let numbers = self.numbers();
        let gpu = |record: &Record, agent: i64| numbers.get(&(record.process, agent)).copied();
        trace.events = self.events;
        trace.has_calls = !self.calls.is_empty();
        let mut launched = HashSet::new();
        let mut threads: BTreeMap<(u16, i64), u32> = BTreeMap::new();
        for record in &self.calls {
            let Some(span) = record.when else { continue };
            launched.insert((record.process, record.correlation));
            let name = self.operation(record);
            trace.calls.extend(does(name).map(|does| Call::new(span, record.process, does)));
            let next = u32::try_from(threads.len()).unwrap_or(u32::MAX);
            let thread = *threads.entry((record.process, record.thread)).or_insert(next);
            let name = trace.names.name(name);
            trace.ops.push(HostOp { span, name, thread });
        }
        let mut alone = 0;
        for record in &self.kernels {
            let symbol = self.symbols.get(&(record.process, record.kernel)).filter(|name| !name.is_empty());
            let name: Name = trace.names.name(symbol.map_or(b"(no name)", |name| name));
            let gpu = gpu(record, record.agent).unwrap_or(record.agent);
            let lane = trace.lanes.of(Lane { gpu, stream: record.stream, process: record.process });
            trace.kernels.push(Kernel::new(When::from(record.when), name, lane));
            alone += u64::from(!launched.contains(&(record.process, record.correlation)));
        }
        for record in &self.copies {
            let direction = direction(self.operation(record));
            let on = match gpu(record, record.agent).filter(|_| direction != Direction::DeviceToHost) {
                Some(gpu) => gpu,
                None => gpu(record, record.from_agent).unwrap_or(0),
            };
            let lane = trace.lanes.of(Lane { gpu: on, stream: record.stream, process: record.process });
            let when = When::from(record.when);
            trace.copies.push(Copy { when, bytes: record.bytes, lane, direction });
        }
        let names: BTreeMap<i64, &Agent> =
            self.agents.iter().filter_map(|(id, agent)| Some((*numbers.get(id)?, agent))).collect();
        trace.describe(|gpu| names.get(&gpu).and_then(|agent| agent.name.clone()));
        self.notes(trace, ending, alone);
    }

    fn notes(&self, trace: &mut Trace, ending: Ending, alone: u64) {
        if let Some(at) = ending.cut {
            trace.note("cut-short", format!("the file ends in the middle, after {}", several(at, "byte", "bytes")));
        }
        if !trace.has_gpu() {
            trace.note("no-gpu-events", "no kernel is in the file: record with --kernel-trace");
        }
        trace.note_nameless_gpus();
        if self.negative > 0 {
            let records = several(self.negative, "record ends", "records end");
            trace.note("negative-duration", format!("{records} before it begins; counted, without a time"));
        }
        if self.untimed > 0 {
            let records = several(self.untimed, "record has", "records have");
            trace.note("no-time", format!("{records} no time that can be; counted, without a time"));
        }
        trace.note_unsized_copies();
        trace.note_without_launch(alone);
        if self.metadata {
            let text = "1 block of metadata not copied: it may hold a command line, an environment or credentials";
            trace.note("metadata", text);
        }
    }
}
