//! The batch of a network, found from the recorded shapes, and its operations on a batch of another size.

use super::resize::count;
use super::size::{Shapes, elements};
use crate::port;
use crate::workload::{Entry, Op, Phase, Workload};
use std::collections::{BTreeMap, BTreeSet};

/// Share of the forward pass's weight whose results must begin with a multiple of the batch.
const COVERS: f64 = 0.9;
/// Share of it that results of a single sample take where the batch is 1.
const SINGLY: f64 = 0.05;
/// Networks whose first dimension may be time instead.
const RECURRENT: [&str; 3] = ["lstm", "gru", "rnn"];

/// The batch: what the results of a forward pass begin with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch {
    /// As recorded: rows that come in at once.
    pub value: u64,
    /// Samples in those, where each has several rows (the tokens of a text) that layers take as one.
    pub samples: Option<u64>,
    /// Leading dimensions that hold it as a factor: `batch`, `batch × tokens`, `batch × heads`.
    leading: BTreeSet<u64>,
}

/// Whether modules of PyTorch were called or gradients taken, and not only operations on tensors.
pub(super) fn is_network(workload: &Workload) -> bool {
    workload
        .ops
        .iter()
        .any(|e| e.name.starts_with("aten.") && matches!(e.phase, Some(Phase::Forward | Phase::Backward)))
}

/// The largest number of which nearly all results of the forward pass have a multiple as their first dimension; `None`
/// for programs that are no networks of PyTorch, and for recurrent ones, whose first dimension may be time.
pub fn batch_of(workload: &Workload) -> Option<Batch> {
    let network = |e: &&Entry| port::of(&e.name).name == "torch" && e.op.is_array_work();
    let recurrent = |e: &Entry| RECURRENT.iter().any(|name| e.name.contains(name));
    if !is_network(workload) || workload.ops.iter().any(recurrent) {
        return None;
    }
    let mut weights: BTreeMap<u64, f64> = BTreeMap::new();
    let mut samples = Vec::new();
    // What is written in place may be a parameter: an average of them is kept after the step.
    let forward = |e: &&Entry| matches!(e.phase, None | Some(Phase::Forward)) && !e.name.ends_with('_');
    let layered = workload.ops.iter().any(|e| e.phase == Some(Phase::Forward));
    for entry in workload.ops.iter().filter(network).filter(forward) {
        // Vectors are parameters and statistics more often than results.
        let Some(shape) = Shapes::of(entry).outputs.into_iter().find(|shape| shape.len() > 1) else { continue };
        // One product that `einsum` made of a single one is none of a single sample.
        let single = matches!(entry.op, Op::Matmul { batch: 1, .. }) && shape.len() > 2 && shape[0] == 1;
        *weights.entry(shape[usize::from(single)]).or_default() += entry.flop().get() + entry.bytes().get();
        // What is copied beside the layers may be their weights.
        if let [outer, inner, _, ..] = shape[..]
            && inner > 1
            && !single
            && (entry.phase == Some(Phase::Forward) || !layered)
        {
            samples.push((outer.saturating_mul(inner), outer));
        }
    }
    let all: f64 = weights.values().sum();
    let multiples = |of: u64| weights.iter().filter(move |(dim, _)| of > 0 && *dim % of == 0);
    let covers = |of: &u64| all > 0.0 && multiples(*of).map(|(_, weight)| weight).sum::<f64>() >= COVERS * all;
    // One is a factor of all: it is the batch only where samples come singly.
    let singly = |of: &u64| *of > 1 || weights[of] >= SINGLY * all;
    let value = weights.keys().rev().copied().find(covers).filter(singly).filter(|of| !is_asked(workload, *of))?;
    let leading = multiples(value).map(|(dim, _)| *dim).collect();
    let samples = samples.iter().rev().find(|(rows, _)| *rows == value).map(|(_, samples)| *samples);
    Some(Batch { value, samples, leading })
}

/// Whether the network is asked about so many samples and trained on others, as one that acts is: no gradient comes of them.
fn is_asked(workload: &Workload, samples: u64) -> bool {
    let products = |of: Phase| {
        workload.ops.iter().filter(move |e| e.phase == Some(of)).filter_map(|e| match e.op {
            Op::Matmul { m, n, k, batch, .. } => Some([m, n, k, batch]),
            _ => None,
        })
    };
    samples > 1
        && products(Phase::Forward).any(|[m, .., batch]| m == samples && batch == 1)
        && products(Phase::Backward).next().is_some()
        && !products(Phase::Backward).any(|dims| dims.contains(&samples))
}

impl Batch {
    /// Makes the batch of this operation `by` times as large, with its bytes; whether it has one. Its times stay.
    pub fn scale(&self, entry: &mut Entry, by: f64) -> bool {
        // A step of the optimizer works on parameters, which no batch changes.
        if entry.phase == Some(Phase::Optimizer) || by == 1.0 {
            return false;
        }
        let shapes = Shapes::of(entry);
        let product = matches!(entry.op, Op::Matmul { .. });
        // The gradient of a weight has the batch as the inner dimension of a product.
        let grows = |shape: &Vec<u64>| {
            shape.first().is_some_and(|dim| self.leading.contains(dim))
                || product && shape.iter().any(|dim| self.leading.contains(dim))
        };
        let begins = shapes.all().any(grows);
        let Some(dims) = self.dims(&mut entry.op, begins) else { return false };
        for dim in dims {
            *dim = count(*dim as f64, by).max(1);
        }
        let ratio = |side: &[Vec<u64>]| {
            let sum = |of: &dyn Fn(&Vec<u64>) -> f64| side.iter().map(|s| elements(s) as f64 * of(s)).sum::<f64>();
            let (old, new) = (sum(&|_| 1.0), sum(&|shape| if grows(shape) { by } else { 1.0 }));
            if old > 0.0 { new / old } else { by }
        };
        let (read, written) = (ratio(&shapes.inputs), ratio(&shapes.outputs));
        entry.read_bytes = count(entry.read_bytes as f64, read);
        entry.written_bytes = count(entry.written_bytes as f64, written);
        entry.host_input_bytes = count(entry.host_input_bytes as f64, read);
        entry.shapes = None;
        true
    }

    /// What a user calls the batch: samples.
    pub fn called(&self) -> u64 {
        self.samples.unwrap_or(self.value)
    }

    /// The dims of an op that the batch is a factor of; `None` where there is none. Of a product's dims it is one.
    fn dims<'o>(&self, op: &'o mut Op, begins: bool) -> Option<Vec<&'o mut u64>> {
        let is = |dim: &u64| self.leading.contains(dim);
        let dims = match op {
            Op::Matmul { batch, .. } if *batch > 1 && is(batch) => vec![batch],
            Op::Matmul { m, .. } if is(m) => vec![m],
            Op::Matmul { k, .. } if is(k) => vec![k],
            Op::Matmul { n, .. } if is(n) => vec![n],
            Op::Convolution { batch, .. } | Op::Attention { batch, .. } => vec![batch],
            Op::Elementwise { n, .. } | Op::Copy { n, .. } | Op::Random { n, .. } if begins => vec![n],
            Op::Reduce { n, out, .. } if begins => {
                if *out > 1 && out.is_multiple_of(self.value) && self.value > 1 {
                    vec![n, out]
                } else {
                    vec![n]
                }
            }
            Op::Rowwise { rows, .. } | Op::Scan { rows, .. } | Op::Sort { rows, .. } if begins => vec![rows],
            Op::Gather { n, .. } | Op::Scatter { n, .. } | Op::Embedding { n, .. } if begins => vec![n],
            Op::Window { n, input, .. } if begins => vec![n, input],
            Op::Transfer { bytes, .. } if begins => vec![bytes],
            _ => return None,
        };
        Some(dims)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::{Dtype, samples};
    use proptest::prelude::*;

    fn entry(name: &str, op: Op, phase: Phase, shapes: &str) -> Entry {
        let of = |side: &[Vec<u64>]| side.iter().map(|s| 4 * elements(s)).sum();
        let blank = Entry { shapes: Some(shapes.to_owned()), ..samples::heat().ops[0].clone() };
        let both = Shapes::of(&blank);
        Entry {
            name: name.to_owned(),
            op,
            dtype: Dtype::F32,
            count: 1000,
            phase: Some(phase),
            read_bytes: of(&both.inputs),
            written_bytes: of(&both.outputs),
            ..blank
        }
    }

    /// A layer of 10 → 2 on a batch of 100, forward and its weight's gradient.
    fn layer() -> Workload {
        let product = |m, n, k, bias| Op::Matmul { m, n, k, batch: 1, bias };
        let ops = vec![
            entry("aten.addmm", product(100, 2, 10, true), Phase::Forward, "[2] [100,10] [10,2] -> [100,2]"),
            entry("aten.mm", product(2, 10, 100, false), Phase::Backward, "[2,100] [100,10] -> [2,10]"),
            entry("aten.add", samples::heat().ops[3].op.clone(), Phase::Optimizer, "[2,10] [2,10] -> [2,10]"),
        ];
        Workload { ops, order: Vec::new(), buffers: Vec::new(), ..samples::heat() }
    }

    #[test]
    fn the_batch_of_a_layer_is_a_factor_once() {
        let layer = layer();
        let batch = batch_of(&layer).expect("100");
        assert_eq!(batch.value, 100);
        let scaled: Vec<(Entry, bool)> = layer
            .ops
            .iter()
            .map(|old| {
                let mut entry = old.clone();
                let has = batch.scale(&mut entry, 4.0);
                (entry, has)
            })
            .collect();
        assert_eq!(scaled.iter().map(|(_, has)| *has).collect::<Vec<_>>(), [true, true, false]);
        assert_eq!(scaled[0].0.op, Op::Matmul { m: 400, n: 2, k: 10, batch: 1, bias: true });
        assert_eq!(scaled[1].0.op, Op::Matmul { m: 2, n: 10, k: 400, batch: 1, bias: false });
        assert_eq!(scaled[0].0.written_bytes, 4 * 400 * 2);
        assert_eq!(scaled[1].0.written_bytes, layer.ops[1].written_bytes);
    }

    #[test]
    fn what_an_agent_is_asked_is_no_batch() {
        let mut agent = layer();
        let product = |m, n, k| Op::Matmul { m, n, k, batch: 1, bias: true };
        agent.ops.push(entry("aten.addmm", product(25, 2, 10), Phase::Forward, "[2] [25,10] [10,2] -> [25,2]"));
        assert_eq!(batch_of(&agent), None);
        // Where its answers are trained, too, it is.
        agent.ops.push(entry("aten.mm", product(2, 10, 25), Phase::Backward, "[2,25] [25,10] -> [2,10]"));
        assert_eq!(batch_of(&agent).map(|batch| batch.value), Some(25));
    }

    #[test]
    fn neither_a_copied_weight_nor_a_product_of_one_tells_of_samples() {
        let mut layer = layer();
        let copy = Op::Copy { n: 100, strided: false, inputs: 1, run: 0 };
        layer.ops.push(Entry { phase: None, ..entry("aten.clone", copy, Phase::Forward, "[1,100,1] -> [1,100,1]") });
        let product = Op::Matmul { m: 100, n: 900, k: 10, batch: 1, bias: false };
        layer.ops.push(entry("aten.bmm", product, Phase::Forward, "[1,100,10] [1,10,900] -> [1,100,900]"));
        let found = batch_of(&layer).expect("100");
        assert_eq!((found.value, found.called()), (100, 100));
    }

    #[test]
    fn tokens_of_several_sequences_are_multiples_of_the_batch() {
        let product = |m, n, k, batch| Op::Matmul { m, n, k, batch, bias: false };
        let ops = vec![
            entry("aten.mm", product(512, 768, 768, 1), Phase::Forward, "[512,768] [768,768] -> [512,768]"),
            entry("aten.bmm", product(128, 128, 64, 48), Phase::Forward, "[48,128,64] [48,64,128] -> [48,128,128]"),
            entry(
                "aten.add",
                samples::heat().ops[3].op.clone(),
                Phase::Forward,
                "[4,128,768] [4,128,768] -> [4,128,768]",
            ),
        ];
        let workload = Workload { ops, order: Vec::new(), buffers: Vec::new(), ..samples::heat() };
        assert_eq!(batch_of(&workload).map(|batch| (batch.value, batch.called())), Some((4, 4)));
    }

    #[test]
    fn rows_of_a_text_are_no_batch() {
        let product = Op::Matmul { m: 1024, n: 768, k: 768, batch: 1, bias: false };
        let add = Op::Elementwise { n: 1 << 10, inputs: 2, flop_per_element: 1.0, transcendental: false };
        let ops = vec![
            entry("aten.mm", product, Phase::Forward, "[1024,768] [768,768] -> [1024,768]"),
            entry("aten.add", add, Phase::Forward, "[2,512,768] [2,512,768] -> [2,512,768]"),
        ];
        let workload = Workload { ops, order: Vec::new(), buffers: Vec::new(), ..samples::heat() };
        assert_eq!(batch_of(&workload).map(|batch| (batch.value, batch.called())), Some((1024, 2)));
        let size = crate::growth::problem_size(&workload).expect("the rows");
        assert_eq!(crate::growth::shape_at(&size, 1.0), "1024 rows at once, a batch of 2");
        assert_eq!(crate::growth::shape_at(&size, 1.0 / 128.0), "8 rows at once");
    }

    #[test]
    fn results_that_have_no_number_in_common_have_no_batch() {
        let other = |n, shapes| {
            let op = Op::Elementwise { n, inputs: 2, flop_per_element: 1.0, transcendental: false };
            entry("aten.add", op, Phase::Forward, shapes)
        };
        let mut workload = layer();
        workload.ops.extend([other(700, "[7,100] [7,100] -> [7,100]"), other(2, "[1,2] [1,2] -> [1,2]")]);
        assert_eq!(batch_of(&workload), None);
    }

    #[test]
    fn programs_without_a_network_have_none() {
        assert_eq!(batch_of(&samples::heat()), None);
        let mut recurrent = layer();
        recurrent.ops[0].name = "aten.lstm".to_owned();
        assert_eq!(batch_of(&recurrent), None);
    }

    proptest! {
        #[test]
        fn a_larger_batch_is_never_less_work(by in 1.0..64.0f64) {
            let layer = layer();
            let batch = batch_of(&layer).expect("100");
            for old in &layer.ops {
                let mut entry = old.clone();
                batch.scale(&mut entry, by);
                prop_assert!(entry.flop().get() >= old.flop().get());
                prop_assert!(entry.written_bytes >= old.written_bytes && entry.read_bytes >= old.read_bytes);
            }
        }
    }
}
