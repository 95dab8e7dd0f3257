//! Tables of rocprof: a row a kernel, a copy or a call; version 1 and 2 (`results.csv`) and 3 (`…_trace.csv`).

use crate::calls::{direction, does};
use crate::kind::Kind;
use crate::lanes::Lane;
use crate::model::{Call, Copy, Direction, HostOp, Kernel, Trace};
use crate::reader::Reader;
use crate::source::Source;
use crate::span::Span;
use crate::times::whole;
use breakeven::report::words::several;
use breakeven::{Error, Result};
use csv::{ByteRecord, ReaderBuilder};

/// Reads them.
pub(crate) struct TablesReader;

/// What a row is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Row {
    Kernel,
    Copy,
    Call,
}

/// Where what is asked stands in a row.
struct Columns {
    row: Row,
    name: usize,
    from: usize,
    to: usize,
    agent: Option<usize>,
    source: Option<usize>,
    stream: Option<usize>,
    thread: Option<usize>,
    count: usize,
}

impl Columns {
    /// What a header names; `None` where it is of no such table.
    fn of(header: &ByteRecord) -> Option<Self> {
        let place = |name: &str| header.iter().position(|cell| cell.trim_ascii() == name.as_bytes());
        let any = |names: [&str; 2]| names.into_iter().find_map(place);
        let kinds = [
            (Row::Kernel, any(["Kernel_Name", "KernelName"])),
            (Row::Copy, place("Direction")),
            (Row::Call, place("Function")),
        ];
        let (row, name) = kinds.into_iter().find_map(|(row, at)| Some((row, at?)))?;
        Some(Self {
            row,
            name,
            from: any(["Start_Timestamp", "BeginNs"])?,
            to: any(["End_Timestamp", "EndNs"])?,
            agent: any(["Agent_Id", "gpu-id"]).or_else(|| place("Destination_Agent_Id")),
            source: place("Source_Agent_Id"),
            stream: any(["Stream_Id", "queue-id"]),
            thread: any(["Thread_Id", "tid"]),
            count: header.len(),
        })
    }
}

impl Reader for TablesReader {
    fn knows(&self, head: &[u8]) -> bool {
        let line = head.split(|byte| *byte == b'\n').next().unwrap_or(head);
        let header = ReaderBuilder::new().has_headers(false).from_reader(line).into_byte_records().next();
        header.is_some_and(|header| header.is_ok_and(|header| Columns::of(&header).is_some()))
    }

    fn read(&self, source: Source) -> Result<Trace> {
        let mut trace = Trace { file: source.name.clone(), kind: Kind::RocprofCsv, ..Trace::default() };
        let mut reader = ReaderBuilder::new().flexible(true).from_reader(source);
        let unreadable =
            |e: &csv::Error| Error::new("trace-read", format!("cannot read on: {e}")).hint("copy the file again");
        let Some(columns) = Columns::of(reader.byte_headers().map_err(|e| unreadable(&e))?) else {
            return Err(
                Error::new("trace-kind", "the table names no kernels, copies or calls").hint("see docs/import.md")
            );
        };
        let (mut short, mut untimed, mut last_short) = (0_u64, 0_u64, false);
        let mut record = ByteRecord::new();
        while reader.read_byte_record(&mut record).map_err(|e| unreadable(&e))? {
            last_short = record.len() < columns.count;
            if last_short {
                short += 1;
                continue;
            }
            trace.events += 1;
            untimed += u64::from(!row(&mut trace, &columns, &record));
        }
        let cut = last_short || reader.get_ref().ended_badly();
        if cut {
            trace.note(
                "cut-short",
                format!("the file ends in the middle, after {}", several(trace.events, "row", "rows")),
            );
        }
        let broken = short - u64::from(last_short);
        if broken > 0 {
            trace.note("broken", format!("{} cells and were passed over", several(broken, "row lacks", "rows lack")));
        }
        if untimed > 0 {
            let rows = several(untimed, "row has", "rows have");
            trace.note("no-time", format!("{rows} no time that can be; counted, without a time"));
        }
        finish(&mut trace, columns.row);
        Ok(trace)
    }
}

/// Takes one row; false where it has no time.
fn row(trace: &mut Trace, columns: &Columns, record: &ByteRecord) -> bool {
    let cell = |at: usize| record.get(at).unwrap_or_default();
    let number = |at: Option<usize>| at.and_then(|at| agent(cell(at)));
    let span = whole(cell(columns.from)).zip(whole(cell(columns.to)));
    let span = span.filter(|(from, to)| from <= to).map(|(from, to)| Span { from, to });
    let name = cell(columns.name);
    let when = span.into();
    let mut lane =
        |gpu: Option<i64>| trace.lanes.of(Lane { gpu: gpu.unwrap_or(0), stream: number(columns.stream), process: 0 });
    match columns.row {
        Row::Kernel => {
            let lane = lane(number(columns.agent));
            let name = trace.names.name(name);
            trace.kernels.push(Kernel::new(when, name, lane));
        }
        Row::Copy => {
            let direction = direction(name);
            let to_host = direction == Direction::DeviceToHost;
            let lane = lane(number(if to_host { columns.source } else { columns.agent }));
            trace.copies.push(Copy { when, bytes: None, lane, direction });
        }
        Row::Call => {
            if let Some(span) = span {
                trace.calls.extend(does(name).map(|does| Call::new(span, 0, does)));
                let thread = number(columns.thread).and_then(|id| u32::try_from(id).ok()).unwrap_or(0);
                let name = trace.names.name(name);
                trace.ops.push(HostOp { span, name, thread });
            }
        }
    }
    span.is_some()
}

/// The number of `Agent 4` or `4`.
fn agent(cell: &[u8]) -> Option<i64> {
    whole(cell.strip_prefix(b"Agent ").unwrap_or(cell))
}

/// The GPUs, and what such a table does not hold.
fn finish(trace: &mut Trace, row: Row) {
    trace.describe(|_| None);
    trace.has_calls = row == Row::Call;
    trace.holds_kernels = row == Row::Kernel;
    trace.holds_copies = row == Row::Copy;
    if row != Row::Call {
        trace.note("no-gpu-name", "the table does not say which GPU it was");
    }
    if row == Row::Copy {
        trace.note("no-bytes", "the table does not say how much was copied");
    }
}
