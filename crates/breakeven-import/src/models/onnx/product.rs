//! Products of matrices, plain, quantised and by Einstein's notation.

use super::array::{Array, broadcast, count};
use super::call::{Call, Made, Work};
use breakeven::workload::{Dtype, Op};

/// A product; `None` where it is another node, or its inputs are not known.
pub(super) fn of(call: &Call<'_>) -> Option<Made> {
    match (call.node.domain.as_str(), call.node.op.as_str()) {
        ("com.microsoft", "FusedMatMul" | "TransposeMatMul") => {
            let turned = |name: &str| call.int(name).unwrap_or(0) == 1;
            let [a, b] = [(0, "transA"), (1, "transB")].map(|(place, name)| {
                let array = call.input(place)?;
                Some(if turned(name) { turn(array) } else { array.clone() })
            });
            product(&a?, &b?, call.input(0)?.dtype)
        }
        ("com.microsoft", "MatMulNBits" | "MatMulBnb4") => {
            let a = call.input(0)?;
            let [k, n] = ["K", "N"].map(|name| call.int(name).and_then(|n| u64::try_from(n).ok()));
            let b = Array::new(a.dtype, vec![k?, n?]);
            let mut made = product(a, &b, a.dtype)?;
            // Weights are made wide by a kernel of their own where there are many rows; else as they are read.
            if let Work::Kernels(kernels) = &mut made.work {
                kernels.insert(0, (scaled(b.count()), a.dtype));
            }
            Some(made)
        }
        ("com.microsoft", "FusedGemm" | "GemmFastGelu") | ("", "Gemm") => gemm(call),
        ("com.microsoft", "DynamicQuantizeMatMul" | "MatMulIntegerToFloat") | ("", "MatMul") => {
            product(call.input(0)?, call.input(1)?, call.input(0)?.dtype)
        }
        ("", "MatMulInteger") => {
            let mut made = product(call.input(0)?, call.input(1)?, Dtype::I32)?;
            if let Work::Kernels(kernels) = &mut made.work {
                kernels[0].1 = Dtype::I8;
            }
            Some(made)
        }
        ("" | "com.microsoft", "QLinearMatMul" | "QGemm") => {
            let mut made = product(call.input(0)?, call.input(3)?, call.input(0)?.dtype)?;
            if let Work::Kernels(kernels) = &mut made.work {
                kernels[0].1 = Dtype::I8;
            }
            Some(made)
        }
        ("", "Einsum") => einsum(call),
        _ => None,
    }
}

/// One operation on each element.
const fn scaled(n: u64) -> Op {
    Op::Elementwise { n, inputs: 1, flop_per_element: 1.0, transcendental: false }
}

fn turn(array: &Array) -> Array {
    let mut dims = array.dims.clone();
    let rank = dims.len();
    if rank >= 2 {
        dims.swap(rank - 1, rank - 2);
    }
    Array::new(array.dtype, dims)
}

/// As NumPy's matmul: stacks are broadcast, vectors have one row or column that vanishes again.
fn product(a: &Array, b: &Array, to: Dtype) -> Option<Made> {
    if a.rank() == 0 || b.rank() == 0 {
        return None;
    }
    let (row, column) = (a.rank() == 1, b.rank() == 1);
    let left = if row { vec![1, a.dims[0]] } else { a.dims.clone() };
    let right = if column { vec![b.dims[0], 1] } else { b.dims.clone() };
    let [lead @ .., m, k] = &left[..] else { return None };
    let [lead_right @ .., k_right, n] = &right[..] else { return None };
    if k != k_right {
        return None;
    }
    let stack = broadcast([lead, lead_right])?;
    let mut dims = stack.clone();
    dims.extend((!row).then_some(*m));
    dims.extend((!column).then_some(*n));
    // One matrix on the right takes all rows at once.
    let all = count(&stack);
    let (batch, rows) = if count(lead_right) <= 1 { (1, all.saturating_mul(*m)) } else { (all, *m) };
    Some(Made::of(vec![Array::new(to, dims)], Op::Matmul { m: rows, n: *n, k: *k, batch, bias: false }, a.dtype))
}

fn gemm(call: &Call<'_>) -> Option<Made> {
    let (a, b) = (call.input(0)?, call.input(1)?);
    let turned = |name: &str| call.int(name).unwrap_or(0) == 1;
    let [rows, inner] = a.dims[..] else { return None };
    let [inner_right, columns] = b.dims[..] else { return None };
    let (m, k) = if turned("transA") { (inner, rows) } else { (rows, inner) };
    let n = if turned("transB") { inner_right } else { columns };
    let op = Op::Matmul { m, n, k, batch: 1, bias: call.has(2) };
    Some(Made::of(vec![Array::new(a.dtype, vec![m, n])], op, a.dtype))
}

/// Two operands are a product of matrices: letters of both that stay are stacks, those that vanish are summed over.
fn einsum(call: &Call<'_>) -> Option<Made> {
    let equation: String = call.text("equation").chars().filter(|letter| !letter.is_whitespace()).collect();
    let (left, right) = equation.split_once("->").unwrap_or((&equation, ""));
    let terms: Vec<&str> = left.split(',').collect();
    let operands: Vec<&Array> = (0..terms.len()).map(|place| call.input(place)).collect::<Option<_>>()?;
    if equation.contains('.') {
        return None;
    }
    let length = |letter: char| {
        let found = terms.iter().zip(&operands).filter_map(|(term, array)| {
            term.chars().position(|known| known == letter).and_then(|axis| array.dims.get(axis).copied())
        });
        found.max()
    };
    let implicit: String = {
        let mut once: Vec<char> = left.chars().filter(|c| *c != ',' && left.matches(*c).count() == 1).collect();
        once.sort_unstable();
        once.into_iter().collect()
    };
    let result = if equation.contains("->") { right.to_owned() } else { implicit };
    let dims: Vec<u64> = result.chars().map(length).collect::<Option<_>>()?;
    let dtype = operands.first()?.dtype;
    let out = Array::new(dtype, dims);
    let of = |letters: &mut dyn Iterator<Item = char>| -> Option<u64> {
        letters.map(length).try_fold(1_u64, |n, length| Some(n.saturating_mul(length?)))
    };
    let [a, b] = terms[..] else {
        // One operand is summed or turned; more than two are taken one after the other, which nobody orders here.
        let [array] = operands[..] else { return None };
        let op = if out.count() < array.count() {
            Op::Reduce { n: array.count(), out: out.count(), flop_per_element: 1.0 }
        } else {
            Op::Copy { n: out.count(), strided: true, inputs: 1, run: 0 }
        };
        return Some(Made::one(out, op));
    };
    let both = |c: &char| b.contains(*c);
    let batch = of(&mut a.chars().filter(both).filter(|c| result.contains(*c)))?;
    let k = of(&mut a.chars().filter(both).filter(|c| !result.contains(*c)))?;
    let m = of(&mut a.chars().filter(|c| !both(c)))?;
    let n = of(&mut b.chars().filter(|c| !a.contains(*c)))?;
    Some(Made::one(out, Op::Matmul { m, n, k, batch, bias: false }))
}
