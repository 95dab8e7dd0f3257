//! Sums of products: which axes are shared, from the shapes alone.

use super::Call;
use super::call::{broadcast, product};
use super::elementwise::{self, broadcast_count};
use crate::workload::Op;

/// The forms in which NumPy and SciPy multiply arrays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Product {
    /// `a @ b`: matrices in the last two axes, the others broadcast.
    Matmul,
    /// `dot`: last axis of `a` with the last but one of `b`.
    Dot,
    /// `vdot`: both flattened.
    Vdot,
    /// `inner`: both last axes.
    Inner,
    /// `vecdot`: last axes, the others broadcast.
    Vecdot,
    /// `matvec`: matrices and vectors, the others broadcast.
    Matvec,
    /// `vecmat`: vectors and matrices, the others broadcast.
    Vecmat,
    /// `tensordot`: told by the sizes of the result.
    Tensordot,
    /// `einsum`.
    Einsum,
    /// A chain of matrices.
    Chain,
    /// A matrix with itself, `n` times.
    Power,
    /// The exponential of a matrix.
    Exponential,
    /// Rows of `a` with rows of `b`, `k` columns: distances.
    Pairs,
    /// The same by one product, of rows with two columns more: their squares, and ones for those of the others
    /// (`_euclidean_dist_out` of ATen's Distance.cpp).
    PairsBySquares,
    /// Rows of `a` with each other, each pair once.
    PairsOnce,
    /// Rows of `a` with each other: covariance.
    Gram,
    /// A product for each group of rows, of columns, or of what is summed over: together as large as one of all.
    Grouped,
}

impl Product {
    pub(super) fn parse(text: &str) -> Option<Self> {
        Some(match text {
            "matmul" => Self::Matmul,
            "dot" => Self::Dot,
            "vdot" => Self::Vdot,
            "inner" => Self::Inner,
            "vecdot" => Self::Vecdot,
            "matvec" => Self::Matvec,
            "vecmat" => Self::Vecmat,
            "tensordot" => Self::Tensordot,
            "einsum" => Self::Einsum,
            "chain" => Self::Chain,
            "power" => Self::Power,
            "exponential" => Self::Exponential,
            "pairs" => Self::Pairs,
            "pairs_by_squares" => Self::PairsBySquares,
            "pairs_once" => Self::PairsOnce,
            "gram" => Self::Gram,
            "grouped" => Self::Grouped,
            _ => return None,
        })
    }
}

fn matmul(m: u64, n: u64, k: u64, batch: u64) -> Op {
    Op::Matmul { m, n, k, batch, bias: false }
}

fn scaled(call: &Call) -> Op {
    Op::Elementwise {
        n: broadcast_count(call),
        inputs: call.inputs.len() as u32,
        flop_per_element: 1.0,
        transcendental: false,
    }
}

/// The op of a product of this form.
pub(super) fn op(form: Product, call: &Call) -> Op {
    let a = call.inputs.first().map_or(&[][..], |a| &a.shape);
    let b = call.inputs.get(1).map_or(&[][..], |b| &b.shape);
    match (form, a, b) {
        (Product::Einsum, ..) => einsum(call),
        (Product::Chain, ..) => chain(call),
        (Product::Power, &[ref lead @ .., m, n], _) => {
            // Squarings, and a product for each further bit: about 1.5 log2(power).
            let power = call.number("n").map_or(2.0, f64::abs).clamp(2.0, 1e9) as u64;
            let products = u64::from(power.ilog2() + power.count_ones() - 1);
            matmul(m, n, n, product(lead).saturating_mul(products))
        }
        // The Taylor polynomial of degree 18 in five products (Bader et al. 2019), for matrices of small norm.
        (Product::Exponential, &[ref lead @ .., m, n], _) => matmul(m, n, n, product(lead).saturating_mul(5)),
        (Product::Pairs, &[ref lead @ .., m, k], &[.., n, _]) => matmul(m, n, k, product(lead)),
        (Product::PairsBySquares, &[ref lead @ .., m, k], &[.., n, _]) => {
            matmul(m, n, k.saturating_add(2), product(lead))
        }
        (Product::PairsOnce, &[m, k], _) => matmul(m, m.saturating_sub(1) / 2, k, 1),
        (Product::Gram, &[m, k], _) => matmul(m, call.outputs.first().map_or(m, |o| o.last()), k, 1),
        (Product::Gram, &[k], _) => matmul(1, 1, k, 1),
        (Product::Grouped, &[groups, m, k], &[_, _, n]) => matmul(m, n, k, groups),
        (Product::Grouped, &[.., m, k], &[.., n]) => matmul(m, n, k, 1),
        (Product::Matmul | Product::Dot, &[.., _, _], []) if call.inputs.len() == 1 && !same_shape(call) => {
            with_list(call)
        }
        // A scalar among the operands.
        (_, [], _) | (_, _, []) => scaled(call),
        (Product::Matmul, &[k], &[_]) => matmul(1, 1, k, 1),
        (Product::Matmul, &[k], &[ref lead @ .., _, n]) => matmul(1, n, k, product(lead)),
        (Product::Matmul, &[ref lead @ .., m, k], &[_]) => matmul(m.saturating_mul(product(lead)), 1, k, 1),
        (Product::Matmul, &[ref lead_a @ .., m, k], &[ref lead_b @ .., _, n]) => {
            matmul(m, n, k, product(&broadcast([lead_a, lead_b])))
        }
        (Product::Dot, &[ref lead @ .., k], &[_]) => matmul(product(lead), 1, k, 1),
        (Product::Dot, &[ref lead_a @ .., k], &[ref lead_b @ .., _, n]) => {
            matmul(product(lead_a), product(lead_b).saturating_mul(n), k, 1)
        }
        (Product::Vdot, ..) => matmul(1, 1, product(a), 1),
        (Product::Inner, &[ref lead_a @ .., k], &[ref lead_b @ .., _]) => {
            matmul(product(lead_a), product(lead_b), k, 1)
        }
        (Product::Vecdot, &[ref lead_a @ .., k], &[ref lead_b @ .., _]) => {
            matmul(1, 1, k, product(&broadcast([lead_a, lead_b])))
        }
        (Product::Matvec, &[ref lead_a @ .., m, k], &[ref lead_b @ .., _]) => {
            matmul(m, 1, k, product(&broadcast([lead_a, lead_b])))
        }
        (Product::Vecmat, &[ref lead_a @ .., k], &[ref lead_b @ .., _, n]) => {
            matmul(1, n, k, product(&broadcast([lead_a, lead_b])))
        }
        (Product::Tensordot, ..) => by_size(product(a), product(b), call.out()),
        (Product::Power | Product::Exponential | Product::Matvec | Product::Vecmat | Product::Gram, ..) => Op::Opaque,
        (Product::Pairs | Product::PairsBySquares | Product::PairsOnce | Product::Grouped, ..) => Op::Opaque,
    }
}

fn same_shape(call: &Call) -> bool {
    call.outputs.first().is_some_and(|out| out.shape == call.inputs[0].shape)
}

/// A matrix and a list, on either side of it: what the list's shape was shows in the result.
fn with_list(call: &Call) -> Op {
    let (a, out) = (&call.inputs[0], call.outputs.first().map_or(&[][..], |out| &out.shape));
    let (rows, columns) = (a.count() / a.last().max(1), a.last());
    let other = |axis: u64| product(out).checked_div(axis).unwrap_or(0);
    if out.last() == Some(&columns) && out.first() != a.shape.first() {
        matmul(other(columns), columns, rows, 1)
    } else {
        matmul(rows, other(rows), columns, 1)
    }
}

/// |a| = m·k, |b| = k·n and |out| = m·n determine all three.
fn by_size(a: u64, b: u64, out: u64) -> Op {
    if a == 0 || b == 0 || out == 0 {
        // Nothing to add up: results, if any, are zeros.
        return matmul(out, 1, 0, 1);
    }
    let k = isqrt(u128::from(a) * u128::from(b) / u128::from(out)).max(1);
    matmul(a.div_ceil(k), b.div_ceil(k), k, 1)
}

fn isqrt(x: u128) -> u64 {
    u64::try_from(x.isqrt()).unwrap_or(u64::MAX)
}

/// Neighbours multiplied from the left, all in one op with the FLOP of the whole chain.
fn chain(call: &Call) -> Op {
    let (Some(first), Some(last)) = (call.inputs.first(), call.inputs.last()) else { return Op::Opaque };
    let m = if first.shape.len() == 1 { 1 } else { first.shape.first().copied().unwrap_or(1) };
    let n = if last.shape.len() == 1 { 1 } else { last.last() };
    // Σ kᵢ·nᵢ of the steps from the left, as one k for m×n.
    let steps = call.inputs[1..].iter().map(|b| match *b.shape {
        [k] => k,
        [.., k, n] => k.saturating_mul(n),
        [] => 1,
    });
    let total = steps.fold(0, u64::saturating_add);
    matmul(m, n, total.div_ceil(n.max(1)), 1)
}

fn einsum(call: &Call) -> Op {
    let subscripts = call.keyword("subscripts").map(|s| s.replace(' ', ""));
    if let Some(op) = subscripts.and_then(|s| einsum_by_letters(call, &s)) {
        return op;
    }
    match call.inputs {
        [] => Op::Opaque,
        [a] if call.out() < a.count() => Op::Reduce { n: a.count(), out: call.out(), flop_per_element: 1.0 },
        [_] => super::index::copy(call, true),
        [a, b] => {
            let out = call.outputs.first().map_or(&[][..], |o| &o.shape);
            // Leading axes that all three share are most likely a batch.
            let shared = a.shape.iter().zip(&b.shape).zip(out).take_while(|((a, b), o)| a == b && b == o).count();
            // At least a matrix is left of each.
            let shared = shared.min(out.len().saturating_sub(2));
            let batch = if a.shape.len() > 2 && b.shape.len() > 2 { product(&out[..shared]).max(1) } else { 1 };
            let each = |n: u64| n / batch;
            match by_size(each(a.count()), each(b.count()), each(call.out())) {
                Op::Matmul { m, n, k, .. } => matmul(m, n, k, batch),
                op => op,
            }
        }
        [..] => {
            // Without subscripts: every element of the largest operand against each of the result's.
            let n = call.largest().max(call.out());
            Op::Elementwise {
                n,
                inputs: call.inputs.len() as u32,
                flop_per_element: call.inputs.len() as f64,
                transcendental: false,
            }
        }
    }
}

/// `ij,jk->ik`: pairs from the left, each a product over the letters that only the pair has.
fn einsum_by_letters(call: &Call, subscripts: &str) -> Option<Op> {
    if !subscripts.is_ascii() || subscripts.contains('.') {
        return None;
    }
    let (terms, result) = subscripts.split_once("->").unwrap_or((subscripts, ""));
    let terms: Vec<&str> = terms.split(',').collect();
    if terms.len() != call.inputs.len() {
        return None;
    }
    let mut sizes = [1_u64; 128];
    for (term, array) in terms.iter().zip(call.inputs) {
        if term.len() != array.shape.len() {
            return None;
        }
        for (letter, &size) in term.bytes().zip(&array.shape) {
            let known = &mut sizes[usize::from(letter)];
            *known = if *known == 1 { size } else { *known };
        }
    }
    let size = |letters: &str| product(&letters.bytes().map(|l| sizes[usize::from(l)]).collect::<Vec<_>>());
    let result = if subscripts.contains("->") {
        result.to_owned()
    } else {
        // Implicit form: letters that occur once.
        let all = terms.concat();
        let mut once: Vec<char> = all.chars().filter(|c| all.matches(*c).count() == 1).collect();
        once.sort_unstable();
        once.into_iter().collect()
    };
    if let [a] = call.inputs {
        let (n, out) = (a.count(), size(&result));
        return Some(if out < n {
            Op::Reduce { n, out, flop_per_element: 1.0 }
        } else {
            super::index::copy(call, true)
        });
    }
    let mut steps = Vec::new();
    let mut left = unique(terms[0]);
    for (i, right) in terms.iter().enumerate().skip(1) {
        let later = terms[i + 1..].concat() + &result;
        let right = unique(right);
        let both = unique(&(left.clone() + &right));
        let of = |in_left: bool, in_right: bool, kept: bool| {
            let letters: String = both
                .chars()
                .filter(|&c| left.contains(c) == in_left && right.contains(c) == in_right && later.contains(c) == kept)
                .collect();
            size(&letters)
        };
        // Letters of one side alone that are not kept are summed first: they count with the shared ones here.
        let k = of(true, true, false).saturating_mul(of(true, false, false)).saturating_mul(of(false, true, false));
        steps.push((of(true, false, true), of(false, true, true), k, of(true, true, true)));
        left = both.chars().filter(|&c| later.contains(c)).collect();
    }
    let work = |&(m, n, k, batch): &(u64, u64, u64, u64)| [m, n, k, batch].into_iter().fold(1, u64::saturating_mul);
    let &(m, n, k, batch) = steps.iter().max_by_key(|s| work(s))?;
    if k == 1 && (m == 1 || n == 1) {
        // Nothing is summed: a product of elements.
        let cost = elementwise::Cost { operands: 2, flop: steps.len() as f64, transcendental: false };
        let n = work(&(m, n, 1, batch));
        return Some(Op::Elementwise {
            n,
            inputs: call.inputs.len() as u32,
            flop_per_element: cost.flop,
            transcendental: false,
        });
    }
    if m == 1 && n == 1 && steps.len() == 1 {
        // Every letter is of both: products of elements, folded, which NumPy and CuPy do at once.
        return Some(Op::Reduce { n: k.saturating_mul(batch), out: batch, flop_per_element: 2.0 });
    }
    Some(matmul(m, n, k, batch))
}

fn unique(letters: &str) -> String {
    let mut seen = String::new();
    for letter in letters.chars() {
        if !seen.contains(letter) {
            seen.push(letter);
        }
    }
    seen
}
