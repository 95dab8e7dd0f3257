//! What files do not hold, and the order in which it is told.

use crate::kind::Kind;
use crate::model::{Note, Trace};

/// Says what is missing for causes, and of tables alone for GPUs: whoever gives several may give them in any order.
pub(super) fn missing(trace: &mut Trace) {
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

/// The notes of all files; where there are several, each says of which.
pub(super) fn notes(traces: &[Trace]) -> Vec<Note> {
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
