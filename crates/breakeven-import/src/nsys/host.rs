//! What the host did: calls into CUDA's library and ranges that the program marked, in one order of time.

use super::Count;
use super::database::{Database, TableRows};
use super::nest::Nest;
use super::steps::{Candidates, loads};
use crate::calls::does;
use crate::model::{Call, Does, Trace};
use crate::names::Name;
use crate::span::Span;
use rusqlite::Statement;
use std::collections::{BTreeMap, HashMap};

/// Launches: which call launched what, and in which range of the program.
#[derive(Default)]
pub(super) struct Launches {
    /// By process and correlation, in order: CUPTI counts in 32 bits.
    all: Vec<(u16, u32, Name)>,
    processes: BTreeMap<i64, u16>,
    pub(super) out_of_order: u64,
}

impl Launches {
    /// The process of a serialized id, by number of appearance.
    pub(super) fn process(&self, global: Option<i64>) -> u16 {
        global.and_then(|global| self.processes.get(&process_part(global)).copied()).unwrap_or(0)
    }

    /// Whether a call launched it, and in which range.
    pub(super) fn find(&self, process: u16, correlation: i64) -> Option<Option<Name>> {
        let correlation = u32::try_from(correlation).ok()?;
        let at = self.all.partition_point(|(p, c, _)| (*p, *c) < (process, correlation));
        let same = self.all[at..].iter().take_while(|(p, c, _)| (*p, *c) == (process, correlation));
        same.map(|(_, _, op)| (*op != NO_RANGE).then_some(*op)).max()
    }
}

/// In the place of a range, where there is none around a launch.
const NO_RANGE: Name = Name::NONE;

/// A serialized id without its thread.
fn process_part(global: i64) -> i64 {
    global & !0xff_ffff
}

/// Texts that rows name by number, asked for once.
pub(super) struct Strings<'a> {
    statement: Option<Statement<'a>>,
    known: HashMap<i64, Name>,
}

impl<'a> Strings<'a> {
    pub(super) fn of(database: &'a Database) -> Self {
        let statement = database.lookup("SELECT value FROM StringIds WHERE id = ?1");
        Self { statement, known: HashMap::new() }
    }

    /// The name with this number.
    pub(super) fn name(&mut self, id: Option<i64>, trace: &mut Trace) -> Name {
        let Some(id) = id else { return trace.names.name(b"(no name)") };
        if let Some(known) = self.known.get(&id) {
            return *known;
        }
        let asked = self.statement.as_mut().and_then(|statement| {
            statement
                .query_row([id], |row| Ok(trace.names.name(plain(row.get_ref(0)?.as_bytes().unwrap_or_default()))))
                .ok()
        });
        let name = asked.unwrap_or_else(|| trace.names.name(b"(no name)"));
        self.known.insert(id, name);
        name
    }
}

/// A range's or a call's name without what differs each time: PyTorch writes `aten::mm, seq = 3, op_id = 17`, CUDA the
/// version of a call's arguments.
fn plain(name: &[u8]) -> &[u8] {
    let cut = [", op_id = ", ", seq = ", ", sizes = ", ", stashed seq"]
        .iter()
        .filter_map(|mark| memchr::memmem::find(name, mark.as_bytes()))
        .min();
    let name = &name[..cut.unwrap_or(name.len())];
    match memchr::memmem::rfind(name, b"_v") {
        Some(at) if name.starts_with(b"cu") && name.len() > at + 2 && name[at + 2..].iter().all(u8::is_ascii_digit) => {
            &name[..at]
        }
        _ => name,
    }
}

/// A row of either table.
struct Row {
    span: Span,
    thread: i64,
    name: Name,
    correlation: Option<i64>,
}

/// Calls or ranges, one after the other.
struct Stream<'a, 'b> {
    rows: Option<TableRows<'a>>,
    strings: Strings<'b>,
    ahead: Option<Row>,
}

/// Ranges of a thread that were pushed, and popped; those that begin and end on any thread.
const PUSHED: i64 = 59;
const STARTED: i64 = 60;

impl Stream<'_, '_> {
    /// When the next row begins.
    fn at(&self) -> Option<i64> {
        self.ahead.as_ref().map(|row| row.span.from)
    }

    /// The next row.
    fn next(&mut self, trace: &mut Trace, count: &mut Count) -> Option<Row> {
        let row = self.ahead.take();
        self.advance(trace, count);
        row
    }

    /// Reads on to the next row with a time.
    fn advance(&mut self, trace: &mut Trace, count: &mut Count) {
        while let Some(row) = self.rows.as_mut().and_then(TableRows::next) {
            trace.events += 1;
            // Marks, domains and categories are rows too.
            if row.int(5).is_some_and(|kind| kind != PUSHED && kind != STARTED) {
                continue;
            }
            let Some(span) = super::gpus::when(&row, count).span() else { continue };
            let name = match row.text(4) {
                Some(text) => trace.names.name(plain(text)),
                None => self.strings.name(row.int(6), trace),
            };
            // Ranges that end on another thread are on none.
            let thread = if row.int(5) == Some(STARTED) { i64::MIN } else { row.int(2).unwrap_or(0) };
            self.ahead = Some(Row { span, thread, name, correlation: row.int(3) });
            return;
        }
    }
}

/// Reads calls and ranges.
pub(super) fn read(database: &Database, trace: &mut Trace, count: &mut Count) -> Launches {
    let calls = ["start", "end", "globalTid", "correlationId", "name", "NONE", "nameId"];
    let ranges = ["start", "end", "globalTid", "NONE", "text", "eventType", "textId"];
    let mut calls_table = database.in_order("CUPTI_ACTIVITY_KIND_RUNTIME", &calls);
    let mut ranges_table = database.in_order("NVTX_EVENTS", &ranges);
    let mut streams = [&mut calls_table, &mut ranges_table].map(|table| Stream {
        rows: table.as_mut().map(super::database::Table::rows),
        strings: Strings::of(database),
        ahead: None,
    });
    // Rows without a process: then all are of one.
    let one_process = !database.has_column("CUPTI_ACTIVITY_KIND_KERNEL", "globalPid");
    let mut launches = Launches::default();
    let (mut nest, mut steps) = (Nest::default(), Candidates::default());
    streams.iter_mut().for_each(|stream| stream.advance(trace, count));
    loop {
        let [call, range] = &mut streams;
        let marked = match (call.at(), range.at()) {
            (Some(call), Some(range)) => range <= call,
            (call, _) => call.is_none(),
        };
        let Some(row) = if marked { range } else { call }.next(trace, count) else { break };
        let next = u16::try_from(launches.processes.len()).unwrap_or(u16::MAX);
        let process = match process_part(row.thread) {
            _ if one_process || row.thread == i64::MIN => 0,
            global => *launches.processes.entry(global).or_insert(next),
        };
        take(trace, &row, process, marked, &mut nest, &mut steps, &mut launches);
    }
    launches.all.sort_unstable();
    launches.out_of_order = nest.out_of_order;
    trace.own_times = nest.finish();
    steps.choose(trace);
    launches
}

fn take(
    trace: &mut Trace,
    row: &Row,
    process: u16,
    marked: bool,
    nest: &mut Nest,
    steps: &mut Candidates,
    launches: &mut Launches,
) {
    if marked {
        let name = trace.names.bytes(row.name);
        steps.look(name, row.span, process);
        if loads(name) {
            trace.loading.push(row.span);
        }
        if row.thread == i64::MIN {
            return;
        }
    }
    let around = nest.add(row.thread, row.span, row.name, marked);
    if marked {
        return;
    }
    trace.has_calls = true;
    let does = does(trace.names.bytes(row.name));
    trace.calls.extend(does.map(|does| Call::new(row.span, process, does)));
    let launches_one = does.is_some_and(|does| does != Does::Wait);
    if let Some(correlation) = row.correlation.filter(|_| launches_one).and_then(|c| u32::try_from(c).ok()) {
        launches.all.push((process, correlation, around.unwrap_or(NO_RANGE)));
    }
}
