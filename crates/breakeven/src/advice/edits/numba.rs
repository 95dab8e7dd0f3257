//! Numba: a loop of operations on small arrays or single elements, compiled for the CPU.

use super::super::draft::{Draft, is_array_work, loops};
use super::super::{Change, Context, Edit};
use crate::estimate::Side;
use crate::report::words;
use crate::workload::{Entry, Family, Op, Step};

pub(super) const EDIT: Edit = Edit { id: "numba", sides: &[Side::Cpu], apply };

const ROUNDS: u64 = 1000;
/// Elements up to which a NumPy call takes its time for being called.
const SMALL: u64 = 1000;
/// What compiled code spends on an array that it makes, on an element and on a FLOP, ns: a loop of additions to ten
/// numbers took 19 ns each on an AMD EPYC (Numba 0.68.1, CPU time, 2026-11-21), most of it the allocation.
const ALLOCATION_NS: u64 = 16;
const ELEMENT_NS: f64 = 0.3;
const FLOP_NS: f64 = 0.25;
/// Python around a NumPy call that goes when the loop is compiled, ns: arguments, names, the loop itself. What takes
/// longer is other code, which Numba may not know (dictionaries, text).
pub(super) const CALL_NS: u64 = 1500;
/// Compiling the function, s: assumed; Numba's guide says that it takes seconds and can be cached.
const COMPILE: f64 = 2.0;

fn apply<'a>(draft: &Draft<'a>, _: &Context, _: Side) -> Option<Change<'a>> {
    if has_numba(draft) {
        return None;
    }
    let mut compiled: Vec<u32> = Vec::new();
    let mut main: Option<(u64, u32, bool)> = None;
    for l in loops(&draft.order).iter().filter(|l| l.total >= ROUNDS) {
        let inside: Vec<u32> =
            l.body.iter().filter_map(|s| if let Step::Run(e) = s { Some(*e) } else { None }).collect();
        let small = inside.len() == l.body.len() && inside.iter().all(|&e| compiles(draft, draft.entry(e)));
        let picks = |e: &&u32| picks(draft.entry(**e));
        let work = inside.iter().find(|e| is_array_work(&draft.entry(**e).op) || picks(e));
        if let Some(&work) = work.filter(|_| small) {
            compiled.extend(&inside);
            if main.is_none_or(|(most, ..)| l.total > most) {
                main = Some((l.total, draft.entry(work).site, 2 * inside.iter().filter(picks).count() > inside.len()));
            }
        }
    }
    compiled.sort_unstable();
    compiled.dedup();
    let (rounds, site, numbers) = main?;
    let mut out = draft.clone();
    for &e in &compiled {
        let entry = &mut out.workload.ops[e as usize];
        let scalar = entry.flop().get() * FLOP_NS + elements(entry) as f64 * ELEMENT_NS * entry.count as f64;
        let made = if is_array_work(&entry.op) { ALLOCATION_NS.saturating_mul(entry.count) } else { 0 };
        let alone = (scalar as u64).saturating_add(made);
        entry.cpu_ns = entry.cpu_ns.min(alone);
        entry.gap_ns = entry.gap_ns.saturating_sub(CALL_NS.saturating_mul(entry.count));
    }
    out.once += COMPILE;
    let site = draft.workload.sites.get(site as usize)?.clone();
    Some(Change {
        draft: out,
        title: format!("Compiling the loop of {} with Numba", site.loop_label()),
        why: format!(
            "{} rounds {}",
            words::count(rounds),
            if numbers {
                "take single numbers out of arrays, and Python does the rest, one by one"
            } else {
                "call NumPy for arrays so small that the calls take the time"
            }
        ),
        site: Some(site),
        patch: None,
        ready: Some("@numba.njit(cache=True)  # on a function that holds the loop".to_owned()),
        risk: Some("Numba knows most of NumPy, but not all; compiling takes a few seconds the first time"),
    })
}

/// Whether the program has functions that Numba compiled: its author knows Numba.
fn has_numba(draft: &Draft) -> bool {
    draft.workload.ops.iter().any(|entry| entry.name.starts_with("numba."))
}

/// A single number has at most so many bytes.
const NUMBER: u64 = 16;

/// Small work of families that Numba has, called by the script itself: what another library does inside (rows of a
/// dataframe) it does not compile.
fn compiles(draft: &Draft, entry: &Entry) -> bool {
    let via = draft.workload.sites.get(entry.site as usize).and_then(|site| site.via.as_deref());
    if via.is_some_and(|via| !via.starts_with("numpy.")) {
        return false;
    }
    // Of what the host reads only numbers stay in compiled code: lists, text and bytes of an array do not.
    if matches!(entry.op, Op::HostRead { bytes } if bytes > NUMBER) {
        return false;
    }
    let known = matches!(
        entry.op.family(),
        Family::Elementwise
            | Family::Reduce
            | Family::Copy
            | Family::Matmul
            | Family::View
            | Family::HostRead
            | Family::Gather
    );
    known && entry.name.starts_with("numpy.") && elements(entry) <= SMALL && !matches!(entry.op, Op::Opaque)
}

/// `a[i]`: takes one number out of an array.
fn picks(entry: &Entry) -> bool {
    matches!(entry.op, Op::HostRead { .. }) && entry.name == "numpy.ndarray.item"
}

fn elements(entry: &Entry) -> u64 {
    (entry.read_bytes.max(entry.written_bytes)) / entry.dtype.bytes().max(1)
}
