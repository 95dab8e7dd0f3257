//! A function of Python's called for each number of an array (`np.vectorize`, `Series.apply`): by its contract no call
//! needs another, and a few operations on whole arrays take its place.

use super::super::draft::Draft;
use super::super::{Change, Context};
use super::{numba, vectorise};
use crate::estimate::Side;
use crate::report::words;
use crate::workload::{Dtype, Entry, Op};

/// Numbers from which calling a function for each costs more than it is worth.
const MANY: u64 = 1000;
/// Operations that a function of one expression with a condition is on whole arrays: assumed.
const OPERATIONS: u64 = 4;
/// What calls a function for each number, and the operation that shows it: numbers become Python's objects. Python 3.10
/// leaves out the class.
const CALLERS: [(&str, &str); 4] = [
    ("numpy.vectorize.__call__", "asanyarray"),
    ("numpy.__call__", "asanyarray"),
    ("Series.apply", "astype"),
    ("series.apply", "astype"),
];

pub(super) fn apply<'a>(draft: &Draft<'a>, ctx: &Context, side: Side) -> Option<Change<'a>> {
    let ops = &draft.workload.ops;
    let via = |entry: &Entry| draft.workload.sites.get(entry.site as usize)?.via.as_deref();
    let objects = |entry: &&Entry| {
        let caller = |(caller, op): &(&str, &str)| {
            via(entry).is_some_and(|via| via.ends_with(caller)) && entry.name.rsplit('.').next() == Some(op)
        };
        let made = entry.op == Op::HostOnly && entry.dtype == Dtype::Other && CALLERS.iter().any(caller);
        made && numbers(entry) >= MANY
    };
    // The function runs before its results are made an array of.
    let main = ops.iter().filter(objects).max_by_key(|e| (numbers(e), e.gap_ns))?;
    let here = |entry: &Entry| (entry.site, via(entry)) == (main.site, via(main));
    // A column of a dataframe stays on the host whoever computes with it.
    if side == Side::Gpu && via(main).is_some_and(|via| via.starts_with("pandas.")) {
        return None;
    }
    let (n, bytes) = (numbers(main), main.written_bytes);
    let calls = n.checked_mul(main.count)?;
    let mut new = Entry {
        op: Op::Elementwise { n, inputs: 2, flop_per_element: OPERATIONS as f64, transcendental: false },
        name: "numpy.where".to_owned(),
        dtype: Dtype::F64,
        kernels: OPERATIONS,
        read_bytes: bytes.checked_mul(2 * OPERATIONS)?,
        written_bytes: bytes.checked_mul(OPERATIONS)?,
        host_input_bytes: 0,
        host_input_count: 0,
        shapes: None,
        ..main.clone()
    };
    let spent =
        |what: fn(&Entry) -> u64| ops.iter().filter(|e| here(e)).fold(0, |sum: u64, e| sum.saturating_add(what(e)));
    // What takes longer than the calls themselves is other code, which stays.
    new.gap_ns = spent(|e| e.gap_ns).saturating_sub(numba::CALL_NS.saturating_mul(calls));
    let modelled = (ctx.cpu_seconds(&new) * 1e9) as u64 + (vectorise::CALL_NS * OPERATIONS).saturating_mul(main.count);
    new.cpu_ns = modelled.min(spent(|e| e.cpu_ns).saturating_add(spent(|e| e.gap_ns)));
    let mut out = draft.clone();
    let mut new = Some(new);
    for (entry, old) in out.workload.ops.iter_mut().zip(ops) {
        if here(old) {
            (entry.cpu_ns, entry.gap_ns) = (0, 0);
        }
        if std::ptr::eq(old, main)
            && let Some(new) = new.take()
        {
            *entry = new;
        }
    }
    let site = draft.workload.sites.get(main.site as usize)?.clone();
    Some(Change {
        draft: out,
        title: format!(
            "Whole arrays instead of a function called for each of {} numbers at {}",
            words::count(n),
            site.label()
        ),
        why: "each number becomes an object of Python's, and the function is called for one after the other".to_owned(),
        site: Some(site),
        patch: None,
        ready: Some(
            "np.where(a > b, a - b, a + b)  # the function's expression on arrays; or @numba.vectorize on it"
                .to_owned(),
        ),
        risk: Some("only for a function of numbers; both sides of a condition are then computed for all"),
    })
}

/// Numbers of the array of which this makes objects; 0 for text, which is wider than a number.
fn numbers(entry: &Entry) -> u64 {
    let n = entry.shapes.as_deref().and_then(|shapes| vectorise::elements(shapes.split(' ').next()?)).unwrap_or(0);
    if entry.read_bytes <= n.saturating_mul(8) { n } else { 0 }
}
