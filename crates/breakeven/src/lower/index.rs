//! Reading and writing at computed places, copies and views.

use super::Call;
use super::call::product;
use crate::workload::{Dtype, Op};

/// As many elements as the result has, from the first array.
pub(super) fn gather(call: &Call) -> Op {
    let n = if call.outputs.is_empty() && !call.scalar_result { call.largest() } else { call.out() };
    Op::Gather { n, source: call.first() }
}

/// The elements that truth values choose: every element is looked at, the chosen ones are written.
pub(super) fn mask(call: &Call) -> Op {
    Op::Gather { n: call.out(), source: call.largest() }
}

/// `where(mask, a, b)` chooses for each element; `where(mask)` finds the places.
pub(super) fn choose(call: &Call) -> Op {
    let shape = super::call::broadcast(call.inputs.iter().map(|a| a.shape.as_slice()));
    match call.outputs {
        [out] if out.shape == shape => element_choice(product(&shape), call),
        _ => mask(call),
    }
}

/// Every element of the first array looked at, and written where the mask says.
pub(super) fn masked_write(call: &Call) -> Op {
    element_choice(call.input(0), call)
}

fn element_choice(n: u64, call: &Call) -> Op {
    Op::Elementwise { n, inputs: call.inputs.len() as u32, flop_per_element: 1.0, transcendental: false }
}

/// Elements written at the places that the second array names, into the first (or, where the target is made by the
/// call, into the result).
pub(super) fn scatter(call: &Call, accumulate: bool) -> Op {
    let target = call.outputs.first().map_or(call.input(0), super::ArrayRef::count);
    let n = call.inputs.get(1).or(call.inputs.first()).map_or(1, super::ArrayRef::count);
    Op::Scatter { n, target, accumulate }
}

/// `a[key]`: arrays in the key gather; else it is a view, or the copy that the recorder saw.
pub(super) fn get_item(call: &Call) -> Op {
    match call.inputs.get(1) {
        Some(key) if key.dtype == Dtype::Bool => mask(call),
        Some(_) => gather(call),
        None if call.keyword("copied") == Some("true") => copy(call, true),
        None => Op::View,
    }
}

/// `a[key] = value`: a slice is a copy of what it selects, which the recorder passes as the result; without a result
/// the key holds arrays: places scatter, a mask chooses over the whole array.
pub(super) fn set_item(call: &Call) -> Op {
    let whole = call.input(0);
    if let Some(region) = call.outputs.first() {
        let n = region.count();
        let inputs = call.inputs.len().saturating_sub(1) as u32;
        return call.copied(n, n != whole || call.strided(), inputs);
    }
    match call.inputs.get(1).filter(|key| key.is_index()) {
        Some(mask) if mask.dtype == Dtype::Bool => element_choice(whole, call),
        Some(places) => {
            let rows = call.inputs.first().map_or(&[][..], |a| a.shape.get(1..).unwrap_or_default());
            let keys = call.inputs[1..].iter().take_while(|a| a.is_index()).count();
            // A single array of places chooses whole rows; one for each axis chooses elements.
            let each = if keys == 1 { product(rows) } else { 1 };
            Op::Scatter { n: places.count().saturating_mul(each), target: whole, accumulate: false }
        }
        // A list of places, which is no array: as many as there are values.
        None => {
            Op::Scatter { n: call.inputs.get(1).map_or(1, super::ArrayRef::count), target: whole, accumulate: false }
        }
    }
}

/// `copyto(a, b)`: every element of `a` written. Recorders list `a` as what is written, or as the first array.
pub(super) fn copy_into(call: &Call) -> Op {
    let (n, read) = match call.outputs.first() {
        Some(target) => (target.count(), call.inputs),
        None => (call.input(0), call.inputs.get(1..).unwrap_or_default()),
    };
    // A single number is at hand: that is a fill.
    let inputs = read.iter().filter(|a| a.count() > 1).count() as u32;
    call.copied(n, call.strided(), inputs)
}

/// Every element of the results copied from the arrays read.
pub(super) fn copy(call: &Call, strided: bool) -> Op {
    let n = call.outputs.iter().fold(0, |n: u64, a| n.saturating_add(a.count()));
    let n = if call.outputs.is_empty() { call.largest() } else { n };
    call.copied(n, strided, call.inputs.len() as u32)
}

/// Every element of the result written; nothing read.
pub(super) fn fill(call: &Call) -> Op {
    let n = if call.outputs.is_empty() { call.first() } else { call.out() };
    Op::Copy { n, strided: false, inputs: 0, run: 0 }
}
