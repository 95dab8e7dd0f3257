//! Threads for BLAS: the machine has more than its matrix library was allowed to use.

use super::super::draft::Draft;
use super::super::{Change, Context, Edit};
use crate::estimate::Side;
use crate::report::words;
use crate::workload::{Entry, Family};

pub(super) const EDIT: Edit = Edit { id: "blas-threads", sides: &[Side::Cpu], apply };

/// FLOP of a call from which waking threads pays: tens of microseconds on one core.
const LARGE: f64 = 1e6;
/// What each further thread adds of itself, assumed: they share memory and clock.
const EFFICIENCY: f64 = 0.8;

/// How much faster so many threads are than one.
pub(super) fn speed(threads: u32) -> f64 {
    1.0 + EFFICIENCY * f64::from(threads - 1)
}

fn apply<'a>(draft: &Draft<'a>, _: &Context, _: Side) -> Option<Change<'a>> {
    let program = &draft.workload.program;
    let used = program.blas_threads?;
    // Where two logical CPUs share a core, a second product on the same core gains nothing.
    let there = program.cpu_cores.unwrap_or(program.cpu_threads / 2);
    if used == 0 || used >= there {
        return None;
    }
    let ratio = speed(used) / speed(there);
    let mut out = draft.clone();
    out.workload.program.blas_threads = Some(there);
    let mut main: Option<&Entry> = None;
    for (old, entry) in draft.workload.ops.iter().zip(&mut out.workload.ops) {
        let threaded =
            matches!(old.op.family(), Family::Matmul | Family::Factor | Family::Convolution | Family::Attention);
        if threaded && old.flop().get() >= LARGE * old.count as f64 {
            entry.cpu_ns = (old.cpu_ns as f64 * ratio) as u64;
            if main.is_none_or(|main| old.cpu_ns > main.cpu_ns) {
                main = Some(old);
            }
        }
    }
    let site = draft.workload.sites.get(main?.site as usize)?.clone();
    Some(Change {
        title: format!("{there} threads for matrix products instead of {used}"),
        why: format!(
            "the products, as at {}, ran on {}; the process could use {} logical CPUs",
            site.label(),
            words::several(u64::from(used), "thread", "threads"),
            program.cpu_threads
        ),
        draft: out,
        site: Some(site),
        patch: None,
        ready: Some(format!("OMP_NUM_THREADS={there} OPENBLAS_NUM_THREADS={there} MKL_NUM_THREADS={there} python …")),
        risk: Some("several processes side by side then compete for the same cores"),
    })
}
