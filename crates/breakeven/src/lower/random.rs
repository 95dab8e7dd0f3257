//! Random numbers.

use super::Call;
use crate::workload::Op;
use crate::workload::op::Random;

/// As many as the result has; a shuffle in place has no result and touches its argument.
pub(super) fn op(kind: Random, call: &Call) -> Op {
    let in_place = call.outputs.is_empty() && !call.scalar_result;
    let n = if in_place && kind == Random::Permutation { call.first() } else { call.out() };
    Op::Random { kind, n }
}
