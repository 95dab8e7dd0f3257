//! Ops that a library runs: orders, transforms, linear algebra, with what XLA puts around the calls.

use super::flat::{Flat, Step};
use super::fuse::Kernel;
use super::graph::Value;
use super::price::{copy, fill};
use crate::workload::op::{Factor, Fft, Pass, Sort};
use crate::workload::{Dtype, Op, Part};

/// Keys alone, or keys with what belongs to them.
pub(super) fn sort_kind(step: &Step) -> Sort {
    if step.node.reads.len() > 1 { Sort::Argsort } else { Sort::Sort }
}

/// Sixteen elements are summed by one thread, and their sums again: a kernel for each level.
const LEVEL: u64 = 16;

/// A running sum: the first kernel does the work, the others go over sums of sixteen.
pub(super) fn running((rows, width): (u64, u64), dtype: Dtype) -> Vec<Part> {
    let mut list = vec![Part::new(Op::Scan { rows, width }, dtype, 1)];
    let mut left = width / LEVEL;
    while left >= LEVEL {
        let n = rows.saturating_mul(left);
        list.push(copy(n, true, dtype));
        left /= LEVEL;
    }
    list
}

/// The largest few, cut out of what is sorted that far.
pub(super) fn largest(flat: &Flat, step: &Step, (rows, width): (u64, u64), dtype: Dtype) -> Vec<Part> {
    let mut list = vec![Part::new(Op::Sort { kind: Sort::TopK, rows, width }, dtype, 1)];
    for &given in &step.node.gives {
        let value = &flat.values[given];
        list.push(copy(value.count(), true, value.dtype));
    }
    list
}

/// A convolution by cuDNN. Weights that lie otherwise are turned first; a ReLU comes with a row to add, zeros if need be.
pub(super) fn convolution(kernel: &Kernel, step: &Step, dtype: Dtype) -> Vec<Part> {
    let number = |name: &str| step.node.number(name).map_or(1, |number| number as u64);
    let (cin, cout, groups, sizes) = (number("cin"), number("cout"), number("groups"), step.node.sizes("kernel"));
    let weights = sizes.iter().product::<u64>() * cout * (cin / groups.max(1));
    let op = Op::Convolution {
        pass: if step.node.word("pass") == "backward_data" { Pass::BackwardData } else { Pass::Forward },
        batch: number("batch"),
        cin,
        cout,
        groups,
        input: step.node.sizes("input"),
        kernel: sizes,
        output: step.node.sizes("output"),
    };
    let mut list = vec![Part::new(op, dtype, 1)];
    if step.node.number("turned") == Some(1.0) {
        list.push(copy(weights, true, dtype));
    }
    if kernel.steps.len() > 1 {
        list.push(fill(cout, dtype));
    }
    list
}

/// One transform over all its axes.
pub(super) fn transform(flat: &Flat, step: &Step) -> Op {
    let n = step.node.sizes("fft_lengths").iter().product::<u64>().max(1);
    let (read, given) = (step.node.reads.first(), step.node.gives.first());
    let kind = match step.node.word("kind") {
        "r2c" => Fft::R2c,
        "c2r" => Fft::C2r,
        _ => Fft::C2c,
    };
    // The real side has all the points.
    let real = if kind == Fft::C2r { given } else { read };
    Op::Fft { kind, n, batch: real.map_or(0, |&value| flat.values[value].count()) / n }
}

/// A call of cuSOLVER or cuBLAS: a matrix is turned to columns first, unless a kernel makes it so, and those that come of
/// it back; vectors that come of it are given out if it has not failed.
pub(super) fn factor(flat: &Flat, step: &Step, kind: Factor, dtype: Dtype) -> Vec<Part> {
    let value = |number: Option<&usize>| number.map(|&number| &flat.values[number]);
    let first = step.node.reads.first();
    let matrix = value(first).or_else(|| value(step.node.gives.first()));
    let (batch, m, n) = stack(matrix);
    let rhs = match kind {
        Factor::TriangularSolve => value(step.node.reads.get(1)).map_or(1, |right| stack(Some(right)).2),
        _ => 0,
    };
    let alone = step.node.gives.len() == 1;
    let kind = match kind {
        Factor::Svd if alone => Factor::Svdvals,
        Factor::Eigh if alone => Factor::Eigvalsh,
        other => other,
    };
    let mut list = vec![Part::new(Op::Factor { kind, m, n, rhs, batch }, dtype, 1)];
    if kind == Factor::TriangularSolve {
        return list;
    }
    let mut turn = |n: u64| list.push(copy(n, true, dtype));
    if first.is_some_and(|&read| flat.maker[read].is_none()) {
        turn(matrix.map_or(0, Value::count));
    }
    let (matrices, vectors): (Vec<_>, Vec<_>) =
        step.node.gives.iter().map(|&given| &flat.values[given]).partition(|value| value.shape.len() >= 2);
    matrices.iter().for_each(|value| turn(value.count()));
    if let Some(vector) = vectors.first() {
        turn(vector.count());
    }
    // Reflectors, then their product; pivots, then what they come to.
    if matches!(kind, Factor::Qr | Factor::Lu) {
        turn(n.saturating_mul(batch));
    }
    list
}

/// Matrices in a stack, their rows and columns.
fn stack(value: Option<&Value>) -> (u64, u64, u64) {
    match value.map_or(&[][..], |value| &value.shape) {
        [] => (1, 1, 1),
        [m] => (1, *m, 1),
        [lead @ .., m, n] => (lead.iter().product(), *m, *n),
    }
}
