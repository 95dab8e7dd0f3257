//! A kernel as an op of a family: what it computes, and what it moves.

use super::flat::{Flat, Step};
use super::fuse::{FEW, Kernel, Kernels, folded, is_fold, is_of_rows};
use super::graph::Value;
use super::library;
use super::meaning::Meaning;
use crate::workload::op::{Pass, Random};
use crate::workload::{Dtype, Op, Part};
use std::collections::BTreeSet;

/// Elements of a row, and of a column, up to which one kernel folds them.
const ROW_AT_ONCE: u64 = 16_384;
const COLUMN_AT_ONCE: u64 = 4_096;

/// A kernel that copies `n` elements; `strided` where they come to lie otherwise.
pub(super) const fn copy(n: u64, strided: bool, dtype: Dtype) -> Part {
    Part::new(Op::Copy { n, strided, inputs: 1, run: 0 }, dtype, 1)
}

/// A kernel that fills `n` elements.
pub(super) const fn fill(n: u64, dtype: Dtype) -> Part {
    Part::new(Op::Copy { n, strided: true, inputs: 0, run: 0 }, dtype, 1)
}

/// A product's dims.
#[derive(Clone, Copy, Debug)]
pub(super) struct Product {
    pub(super) batch: u64,
    pub(super) m: u64,
    pub(super) n: u64,
    pub(super) k: u64,
    /// Operands that have to be copied first, as no library takes them as they lie.
    pub(super) turned: [bool; 2],
}

impl Product {
    /// One side is a vector.
    pub(super) const fn is_vector(&self) -> bool {
        self.batch == 1 && (self.m == 1 || self.n == 1)
    }
}

/// Dims of a product: axes that both have, that are summed over, and the rest of each side.
pub(super) fn product_of(values: &[Value], step: &Step) -> Product {
    let shape = |place: usize| step.node.reads.get(place).map_or(&[][..], |&read| &values[read].shape);
    let dims = |place: usize, axes: &[u64]| axes.iter().map(|&axis| shape(place)[axis as usize]).product::<u64>();
    let sizes = |name: &str, place: usize| {
        let axes = step.node.sizes(name);
        axes.into_iter().filter(|&axis| (axis as usize) < shape(place).len()).collect::<Vec<_>>()
    };
    let [batch, contract] = ["batch", "contract"].map(|name| sizes(name, 0));
    let [batch_right, contract_right] = ["batch_right", "contract_right"].map(|name| sizes(name, 1));
    let rest = |place: usize, one: &[u64], other: &[u64]| {
        let own = |axis: &u64| !one.contains(axis) && !other.contains(axis);
        (0..shape(place).len() as u64).filter(own).map(|axis| shape(place)[axis as usize]).product::<u64>()
    };
    let turned =
        [is_turned(shape(0).len(), &batch, &contract), is_turned(shape(1).len(), &batch_right, &contract_right)];
    Product {
        batch: dims(0, &batch),
        m: rest(0, &batch, &contract),
        n: rest(1, &batch_right, &contract_right),
        k: dims(0, &contract),
        turned,
    }
}

/// Whether axes lie such that no stride tells a library where the next matrix, row and column is.
fn is_turned(rank: usize, batch: &[u64], contract: &[u64]) -> bool {
    let leading = batch.iter().enumerate().all(|(at, &axis)| axis == at as u64);
    let mut summed = contract.to_vec();
    summed.sort_unstable();
    let together = summed.windows(2).all(|pair| pair[1] == pair[0] + 1);
    let edge =
        summed.first() == Some(&(batch.len() as u64)) || summed.last().is_some_and(|&axis| axis + 1 == rank as u64);
    !(leading && together && (edge || summed.is_empty()))
}

/// The ops of a kernel. `told`: steps whose arithmetic has been counted, in another kernel that computes them too.
pub(super) fn of(kernels: &Kernels<'_>, kernel: &Kernel, told: &mut BTreeSet<usize>) -> Vec<Part> {
    let flat = kernels.flat;
    let alone = kernel.roots.iter().next().map(|&root| &flat.steps[root]);
    let Some(step) = alone else { return Vec::new() };
    let dtype = dtype_of(flat, step);
    let given = step.node.gives.first().map(|&given| flat.values[given].clone());
    let count = given.as_ref().map_or(0, Value::count);
    let axis = |name: &str| step.node.number(name).map_or(0, |axis| axis as usize);
    let read = |place: usize| step.node.reads.get(place).map(|&read| &flat.values[read]);
    let along = |name: &str| {
        let width = read(0).and_then(|value| value.shape.get(axis(name)).copied()).unwrap_or(1);
        (read(0).map_or(0, Value::count) / width.max(1), width)
    };
    let one = |op: Op| vec![Part::new(op, dtype, 1)];
    match step.meaning {
        Some(Meaning::Product) => product(kernels, kernel, step, dtype),
        Some(Meaning::Convolution) => library::convolution(kernel, step, dtype),
        Some(Meaning::Sort) => {
            let (rows, width) = along("dimension");
            one(Op::Sort { kind: library::sort_kind(step), rows, width })
        }
        Some(Meaning::Largest) => {
            let (rows, width) = along("axis");
            library::largest(flat, step, (rows, width), dtype)
        }
        Some(Meaning::Running) => library::running(along("axis"), dtype),
        Some(Meaning::Fourier) => one(library::transform(flat, step)),
        Some(Meaning::Library(kind)) => library::factor(flat, step, kind, dtype),
        Some(Meaning::Put { adds }) => {
            let n = read(2).map_or(0, Value::count);
            with_copy(kernels, step, dtype, Op::Scatter { n, target: count, accumulate: adds })
        }
        Some(Meaning::PutPart) => {
            let n = read(1).map_or(0, Value::count);
            with_copy(kernels, step, dtype, Op::Copy { n, strided: true, inputs: 1, run: 0 })
        }
        Some(Meaning::Host) => one(Op::HostOnly),
        None => one(Op::Opaque),
        _ => loops(kernels, kernel, told),
    }
}

/// What is written in part is copied first, unless nobody else needs what was there.
fn with_copy(kernels: &Kernels<'_>, step: &Step, dtype: Dtype, op: Op) -> Vec<Part> {
    let flat = kernels.flat;
    let mut list = vec![Part::new(op, dtype, 1)];
    if let Some(&target) = step.node.reads.first() {
        let shared = flat.maker[target].is_none() && !flat.values[target].constant && !flat.given_up.contains(&target);
        if shared || flat.users[target].len() > 1 && flat.maker[target].is_some() {
            let n = flat.values[target].count();
            list.push(copy(n, false, dtype));
        }
    }
    list
}

fn dtype_of(flat: &Flat, step: &Step) -> Dtype {
    let values = step.node.reads.iter().chain(&step.node.gives).map(|&value| &flat.values[value]);
    let largest = values.filter(|value| value.dtype != Dtype::Bool).max_by_key(|value| value.count());
    largest.map_or(Dtype::F32, |value| value.dtype)
}

fn product(kernels: &Kernels<'_>, kernel: &Kernel, step: &Step, dtype: Dtype) -> Vec<Part> {
    let flat = kernels.flat;
    let Product { batch, m, n, k, turned } = product_of(&flat.values, step);
    let bias = kernel.steps.iter().any(|&at| matches!(flat.steps[at].node.op.as_str(), "add" | "add_any"));
    let mut list = vec![Part::new(Op::Matmul { m, n, k, batch, bias }, dtype, 1)];
    for (turned, count) in turned.into_iter().zip([m, n]) {
        if turned {
            let n = batch.saturating_mul(count).saturating_mul(k);
            list.push(copy(n, true, dtype));
        }
    }
    list
}

/// Arithmetic of a step, whether it is a polynomial's, and whether it is counting places.
fn arithmetic(flat: &Flat, step: &Step) -> (f64, bool) {
    let given = step.node.gives.first().map_or(0.0, |&given| flat.values[given].count() as f64);
    let read = step.node.reads.first().map_or(0.0, |&read| flat.values[read].count() as f64);
    match step.meaning {
        Some(Meaning::Map(cost)) => {
            let times = step.node.number("y").filter(|_| step.node.op == "integer_pow").map_or(1.0, products);
            (given * cost.flop * times, cost.transcendental)
        }
        Some(Meaning::Fold(cost)) => (read * cost.flop, false),
        Some(Meaning::Windows(cost)) => {
            let window: u64 = step.node.sizes("window_dimensions").iter().product();
            (given * window as f64 * cost.flop, false)
        }
        Some(Meaning::Random) => (given * RANDOM, false),
        _ => (0.0, false),
    }
}

/// Operations for a random word, as of `family/random.rs`.
const RANDOM: f64 = 25.0;

/// Multiplications that a power by a whole number takes.
fn products(power: f64) -> f64 {
    let power = power.abs().max(1.0) as u64;
    f64::from(power.ilog2() + power.count_ones() - 1).max(1.0)
}

/// A kernel of loops and folds.
fn loops(kernels: &Kernels<'_>, kernel: &Kernel, told: &mut BTreeSet<usize>) -> Vec<Part> {
    let flat = kernels.flat;
    let (mut flop, mut transcendental, mut random, mut normal) = (0.0, false, 0, false);
    let picks = kernel.steps.iter().any(|&at| flat.steps[at].meaning == Some(Meaning::Pick));
    let mut dtype = None;
    for &at in &kernel.steps {
        let step = &flat.steps[at];
        let kind = step.node.gives.first().map_or(Dtype::Other, |&given| flat.values[given].dtype);
        let places = picks && step.node.reads.iter().all(|&read| is_whole_number(flat.values[read].dtype));
        let (each, polynomial) = arithmetic(flat, step);
        if told.insert(at) && !places {
            flop += each;
        }
        transcendental |= polynomial;
        if step.meaning == Some(Meaning::Random) {
            random = random.max(step.node.gives.first().map_or(0, |&given| flat.values[given].count()));
        }
        normal |= step.node.op == "erf_inv";
        if !is_whole_number(kind) && dtype.is_none_or(|known: Dtype| known.bytes() < kind.bytes()) {
            dtype = Some(kind);
        }
    }
    let written: f64 = kernels.writes(kernel).iter().map(|&value| flat.values[value].bytes()).sum();
    let read: f64 = kernels.reads(kernel).iter().map(|&value| touched(kernels, kernel, value)).sum();
    let n = kernels.extent(kernel).iter().product::<u64>();
    let dtype = dtype.unwrap_or_else(|| {
        let root = kernel.roots.iter().next().map(|&root| dtype_of(flat, &flat.steps[root]));
        root.unwrap_or(Dtype::F32)
    });
    let real = flop / dtype.complex_factor();
    let told = |op: Op| Part { read_bytes: read as u64, written_bytes: written as u64, ..Part::new(op, dtype, 1) };
    if let Some(fold) = fold_of(flat, kernel, n) {
        let step = &flat.steps[fold];
        let count = |value: Option<&usize>| value.map_or(1, |&value| flat.values[value].count());
        let (from, out) = (count(step.node.reads.first()), count(step.node.gives.first()));
        let fold = Op::Reduce { n: from, out, flop_per_element: real / from.max(1) as f64 };
        let mut list = vec![told(fold)];
        if folded(flat, step) > if is_of_rows(flat, step) { ROW_AT_ONCE } else { COLUMN_AT_ONCE } {
            // Places of extremes are found apart from what else is folded.
            let places = |root: &usize| flat.steps[*root].node.op.starts_with("arg");
            let kinds: BTreeSet<bool> = kernel.roots.iter().map(places).collect();
            let parts = out.saturating_mul(folded(flat, step).isqrt());
            let second = Part::new(Op::Reduce { n: parts, out, flop_per_element: 0.0 }, dtype, 1);
            list.extend(kinds.into_iter().map(|_| second.clone()));
        }
        return list;
    }
    if random > 0 && random == n && read <= written {
        let kind = if normal { Random::Normal } else { Random::Uniform };
        return vec![told(Op::Random { kind, n })];
    }
    if flop == 0.0 {
        return vec![told(moves(kernels, kernel, n, read))];
    }
    let inputs = kernels.reads(kernel).len() as u32;
    vec![told(Op::Elementwise { n, inputs, flop_per_element: real / n.max(1) as f64, transcendental })]
}

/// The fold that a kernel of so many results is for.
fn fold_of(flat: &Flat, kernel: &Kernel, n: u64) -> Option<usize> {
    let larger = |&at: &usize| {
        let read = flat.steps[at].node.reads.first();
        is_fold(&flat.steps[at])
            && (kernel.roots.contains(&at) || read.is_some_and(|&read| flat.values[read].count() > n))
    };
    let few = |&at: &usize| !kernel.roots.contains(&at) && folded(flat, &flat.steps[at]) <= FEW;
    kernel.steps.iter().copied().find(|at| larger(at) && !few(at))
}

/// A kernel that computes nothing.
fn moves(kernels: &Kernels<'_>, kernel: &Kernel, n: u64, read: f64) -> Op {
    let flat = kernels.flat;
    let steps = || kernel.steps.iter().map(|&at| &flat.steps[at]);
    if let Some(pick) = steps().find(|step| step.node.op == "gather") {
        let source = pick.node.reads.first().map_or(0, |&read| flat.values[read].count());
        let width = pick.node.sizes("slice_sizes").iter().product::<u64>().max(1);
        return if width > 1 {
            Op::Embedding { pass: Pass::Forward, n: n / width, width, table: source / width }
        } else {
            Op::Gather { n, source }
        };
    }
    let strided = steps().any(|step| matches!(step.meaning, Some(Meaning::Move | Meaning::Turn | Meaning::Pick)));
    Op::Copy { n, strided: strided || read == 0.0, inputs: u32::from(read > 0.0), run: 0 }
}

const fn is_whole_number(dtype: Dtype) -> bool {
    use Dtype::*;
    matches!(dtype, I64 | I32 | I16 | I8 | U64 | U32 | U16 | U8 | Bool)
}

/// Bytes of a value that a kernel reads: of slices and picks, what they take.
fn touched(kernels: &Kernels<'_>, kernel: &Kernel, value: usize) -> f64 {
    let flat = kernels.flat;
    let whole = flat.values[value].bytes();
    let (mut sum, mut at) = (0.0, vec![value]);
    while let Some(value) = at.pop() {
        for &user in flat.users[value].iter().filter(|user| kernel.steps.contains(user)) {
            let step = &flat.steps[user];
            let given: f64 = step.node.gives.iter().map(|&given| flat.values[given].bytes()).sum();
            match step.meaning {
                Some(Meaning::Bitcast) => at.extend(&step.node.gives),
                Some(Meaning::Pick) => sum += given,
                Some(Meaning::Move) if matches!(step.node.op.as_str(), "slice" | "split" | "unstack") => sum += given,
                _ => return whole,
            }
        }
    }
    if sum > 0.0 { sum.min(whole) } else { whole }
}
