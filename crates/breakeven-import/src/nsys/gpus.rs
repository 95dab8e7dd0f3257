//! What ran on GPUs: kernels, copies, memsets, graphs.

use super::Count;
use super::database::{Cells, Database};
use super::device::Devices;
use super::host::{Launches, Strings};
use crate::model::{Copy, Direction, Kernel, Trace};
use crate::span::{Span, When};
use std::collections::BTreeMap;

/// From when to when; what has no time that can be is counted.
pub(super) fn when(row: &Cells<'_, '_>, count: &mut Count) -> When {
    let span = match (row.int(0), row.int(1)) {
        (Some(from), Some(to)) if from <= to => Some(Span { from, to }),
        (Some(_), Some(_)) => {
            count.negative += 1;
            None
        }
        _ => {
            count.untimed += 1;
            None
        }
    };
    span.into()
}

/// Reads them all; gives the names of GPUs by number.
pub(super) fn read(
    database: &Database,
    trace: &mut Trace,
    launches: &Launches,
    count: &mut Count,
) -> BTreeMap<i64, Option<String>> {
    let devices = Devices::read(database);
    let mut place = |trace: &mut Trace, row: &Cells<'_, '_>| {
        let (global, device, stream) = (row.int(2), row.int(3).unwrap_or(0), row.int(4));
        let process = launches.process(global);
        (trace.lanes.of(devices.lane(global, device, stream, process)), process)
    };
    trace.holds_kernels = true;
    trace.holds_copies = true;
    kernels(database, trace, launches, count, &mut place);
    let columns = ["start", "end", "globalPid", "deviceId", "streamId", "bytes", "copyKind"];
    if let Some(mut table) = database.table("CUPTI_ACTIVITY_KIND_MEMCPY", &columns) {
        let mut rows = table.rows();
        while let Some(row) = rows.next() {
            trace.events += 1;
            let (lane, _) = place(trace, &row);
            let bytes = row.int(5).and_then(|n| u64::try_from(n).ok());
            let direction = direction(row.int(6).unwrap_or(0));
            trace.copies.push(Copy { when: when(&row, count), bytes, lane, direction });
        }
    }
    let columns = ["start", "end", "globalPid", "deviceId", "streamId"];
    for name in ["CUPTI_ACTIVITY_KIND_MEMSET", "CUPTI_ACTIVITY_KIND_GRAPH_TRACE"] {
        let Some(mut table) = database.table(name, &columns) else { continue };
        let mut rows = table.rows();
        while let Some(row) = rows.next() {
            trace.events += 1;
            let (lane, _) = place(trace, &row);
            let when = when(&row, count);
            if name.ends_with("MEMSET") { &mut trace.memsets } else { &mut trace.graphs }.push((lane, when));
        }
    }
    devices.names
}

fn kernels(
    database: &Database,
    trace: &mut Trace,
    launches: &Launches,
    count: &mut Count,
    place: &mut impl FnMut(&mut Trace, &Cells<'_, '_>) -> (u32, u16),
) {
    // The versions before 2021 have no name that is not demangled, and some tools drop the others.
    let name = ["demangledName", "shortName", "mangledName", "name"]
        .into_iter()
        .find(|name| database.has_column("CUPTI_ACTIVITY_KIND_KERNEL", name))
        .unwrap_or("name");
    let columns = ["start", "end", "globalPid", "deviceId", "streamId", "correlationId", name];
    let Some(mut table) = database.table("CUPTI_ACTIVITY_KIND_KERNEL", &columns) else { return };
    let mut strings = Strings::of(database);
    let mut rows = table.rows();
    while let Some(row) = rows.next() {
        trace.events += 1;
        let (lane, process) = place(trace, &row);
        let when = when(&row, count);
        let name = match row.text(6) {
            Some(text) => trace.names.name(text),
            None => strings.name(row.int(6), trace),
        };
        trace.kernels.push(Kernel::new(when, name, lane));
        match row.int(5).and_then(|correlation| launches.find(process, correlation)) {
            Some(op) => {
                if let Some(op) = op {
                    trace.by_op.entry(op).or_default().add(when.length());
                }
            }
            None => count.without_launch += 1,
        }
    }
}

/// Which way a copy goes, by CUPTI's number for it.
fn direction(kind: i64) -> Direction {
    match kind {
        1 | 3 | 11 => Direction::HostToDevice,
        2 | 4 | 12 => Direction::DeviceToHost,
        5..=8 | 13 => Direction::DeviceToDevice,
        10 => Direction::PeerToPeer,
        _ => Direction::Unknown,
    }
}
