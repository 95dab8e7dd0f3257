//! Nsight Systems, exported as SQLite: schema versions from 2020 on, of which tables and columns differ.

mod database;
mod device;
mod gpus;
mod host;
mod nest;
mod steps;

use crate::kind::Kind;
use crate::model::Trace;
use crate::reader::Reader;
use crate::source::Source;
use breakeven::report::words::several;
use breakeven::{Error, Result};
use database::Database;
use host::Launches;

/// Reads them.
pub(crate) struct NsysReader;

/// What is told in notes.
#[derive(Default)]
struct Count {
    untimed: u64,
    negative: u64,
    without_launch: u64,
}

/// Blocks of metadata that are never copied: they hold command lines, environments, names of machines and users.
const METADATA: [&str; 6] = [
    "META_DATA_CAPTURE",
    "META_DATA_EXPORT",
    "TARGET_INFO_SYSTEM_ENV",
    "ProcessStreams",
    "ANALYSIS_FILE",
    "TARGET_INFO_PROCESS",
];

impl Reader for NsysReader {
    fn knows(&self, head: &[u8]) -> bool {
        head.starts_with(b"SQLite format 3\0")
    }

    fn read(&self, source: Source) -> Result<Trace> {
        let name = source.name.clone();
        let database = Database::open(source)?;
        check(&database, &name)?;
        let mut trace = Trace { file: name.clone(), kind: Kind::Nsys, ..Trace::default() };
        let mut count = Count::default();
        let launches = host::read(&database, &mut trace, &mut count);
        let names = gpus::read(&database, &mut trace, &launches, &mut count);
        trace.describe(|gpu| names.get(&gpu).cloned().flatten());
        if trace.events == 0 && database.cut_short() {
            let message = format!("{name} is not whole: nothing of it can be read");
            return Err(Error::new("trace-read", message).hint("copy the file again, or export it again"));
        }
        notes(&database, &mut trace, &count, &launches);
        Ok(trace)
    }
}

/// Refuses other databases by name.
fn check(database: &Database, name: &str) -> Result<()> {
    if let Some(why) = database.unreadable() {
        let message = format!("{name} is a SQLite database that is damaged or not whole: {why}");
        return Err(Error::new("trace-read", message).hint("copy the file again, or export it again"));
    }
    let has = |table: &str| database.has(table);
    let (what, hint) = match () {
        () if has("StringIds") => return Ok(()),
        () if has("StringTable") && has("CUPTI_ACTIVITY_KIND_RUNTIME") => (
            "a database of nvprof, which ended with CUDA 12",
            "record it again with `nsys profile`, then `nsys export`",
        ),
        () if has("COPY") || has("KernelExecution") || database.any("rocpd_") => {
            ("a database of rocprof", "name its tables (`…_kernel_trace.csv`) or its JSON")
        }
        () => ("a SQLite database, but not of Nsight Systems", "`nsys export --type sqlite report.nsys-rep` makes one"),
    };
    Err(Error::new("trace-kind", format!("{name} is {what}")).hint(hint))
}

fn notes(database: &Database, trace: &mut Trace, count: &Count, launches: &Launches) {
    if database.cut_short() {
        trace.note("cut-short", "the file is damaged or not whole: of some tables only what comes before was read");
    }
    if !trace.has_gpu() {
        trace.note("no-gpu-events", "no kernel is in the file: nsys did not trace CUDA, or nothing ran on a GPU");
    }
    trace.note_nameless_gpus();
    if !trace.graphs.is_empty() {
        let runs = several(trace.graphs.len() as u64, "run of a graph is", "runs of graphs are");
        let text = format!(
            "{runs} one event each: busy, but their kernels are not in the file; record with --cuda-graph-trace=node"
        );
        trace.note("graphs", text);
    }
    if count.negative > 0 {
        let events = several(count.negative, "event ends", "events end");
        trace.note("negative-duration", format!("{events} before it begins; counted, without a time"));
    }
    if count.untimed > 0 {
        let events = several(count.untimed, "event has", "events have");
        trace.note("no-time", format!("{events} no beginning or no end; counted, without a time"));
    }
    trace.note_without_launch(count.without_launch);
    if launches.out_of_order > 0 {
        let ranges = several(launches.out_of_order, "range is", "ranges are");
        trace.note("out-of-order", format!("{ranges} out of order: own times of the host leave out what such contain"));
    }
    let blocks = METADATA.iter().filter(|table| database.has(table)).count() as u64;
    if blocks > 0 {
        let blocks = several(blocks, "block", "blocks");
        trace.note(
            "metadata",
            format!("{blocks} of metadata not copied: such blocks may hold an environment or credentials"),
        );
    }
}
