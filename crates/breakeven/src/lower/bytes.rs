//! Bytes of the arrays that a call reads and writes.

use super::{ArrayRef, Call, Rule, device};
use crate::workload::Op;
use crate::workload::op::{Random, Sort};

/// `(read, written)`. Arrays count whole, also where only some of their elements are touched; an array that is only
/// written (`fill`, `a[key] = value`) is not read, one that is changed in place is written though no result says so.
pub(super) fn read_written(rule: Rule, call: &Call, op: &Op) -> (u64, u64) {
    let whole = |arrays: &[ArrayRef]| arrays.iter().fold(0, |sum: u64, a| sum.saturating_add(a.bytes()));
    let in_place = call.outputs.is_empty() && !call.scalar_result;
    let first = call.inputs.first();
    let read_all = whole(call.inputs);
    let others = whole(call.inputs.get(1..).unwrap_or_default());
    let changed = |n: Option<u64>| match (in_place, first) {
        (true, Some(a)) => n.map_or(a.bytes(), |n| n.saturating_mul(a.item_bytes.into())),
        _ => whole(call.outputs),
    };
    match (rule, op) {
        (_, Op::View | Op::Synchronise | Op::StreamWait) => (0, 0),
        (Rule::Described, _) if let Some(bytes) = device::described_bytes(call) => (bytes, 0),
        (Rule::SetItem, Op::Scatter { n, .. } | Op::Copy { n, .. }) => (others, changed(Some(*n))),
        (Rule::CopyInto, _) if in_place => (others, changed(None)),
        (Rule::Fill, _) => (0, changed(None)),
        (_, Op::Scatter { n, .. }) => (read_all, changed(Some(*n))),
        (Rule::SetItem | Rule::MaskedWrite, _)
        | (Rule::Sort(Sort::Sort | Sort::Partition, _) | Rule::Random(Random::Permutation), _) => {
            (read_all, changed(None))
        }
        _ => (read_all, whole(call.outputs)),
    }
}
