//! Loops and branches: what runs inside, so often, and what XLA adds to each round.

use super::flat::{Flat, Step};
use super::fuse::{Kernels, is_loop_or_fold};
use super::graph::Graph;
use super::meaning::Meaning;
use super::price::{self, copy, fill};
use crate::workload::op::Direction;
use crate::workload::{Dtype, Op, Part};
use std::collections::BTreeSet;

/// What a function comes to.
#[derive(Debug, Default)]
pub(super) struct Total {
    /// With how often each runs.
    pub(super) parts: Vec<(Part, f64)>,
    /// Primitives without a meaning.
    pub(super) unknown: BTreeSet<String>,
    /// Primitives of loops and branches that nobody counted.
    pub(super) uncounted: BTreeSet<String>,
}

/// The rounds are counted on the device.
const COUNTER: Part =
    Part::new(Op::Elementwise { n: 1, inputs: 1, flop_per_element: 0.0, transcendental: false }, Dtype::I32, 1);
/// The host reads a condition.
const CONDITION: Part =
    Part::new(Op::Transfer { direction: Direction::D2h, bytes: 1, pinned: true, asynchronous: false }, Dtype::Bool, 1);

impl Total {
    fn add(&mut self, part: Part, times: f64) {
        if times > 0.0 {
            self.parts.push((part, times));
        }
    }

    /// Adds a function that runs so many times.
    pub(super) fn function(&mut self, graph: &Graph, times: f64) {
        let flat = Flat::of(graph);
        let kernels = Kernels::of(&flat);
        let mut told = BTreeSet::new();
        for kernel in &kernels.list {
            let root = kernel.roots.iter().next().map(|&root| &flat.steps[root]);
            match root.map(|step| (step, step.meaning)) {
                Some((step, Some(Meaning::Repeat))) => self.repeat(&flat, step, times),
                Some((step, Some(Meaning::While))) => self.while_loop(&flat, step, times),
                Some((step, Some(Meaning::Branch))) => self.branch(step, times),
                Some((step, None)) => {
                    self.unknown.insert(step.node.op.clone());
                    self.add(Part::new(Op::Opaque, Dtype::Other, 1), times);
                }
                _ => {
                    let ops = price::of(&kernels, kernel, &mut told);
                    self.parts.extend(ops.into_iter().map(|part| (part, times)));
                }
            }
        }
    }

    /// Results that are arguments under another shape are copies.
    pub(super) fn results_that_are_given(&mut self, graph: &Graph) {
        let flat = Flat::of(graph);
        for &output in &flat.outputs {
            let behind = flat.behind_shapes(output);
            if behind != output && flat.maker[behind].is_none() {
                let value = &flat.values[output];
                self.add(copy(value.count(), false, value.dtype), 1.0);
            }
        }
    }

    /// A loop of known length: a kernel counts the rounds, results of each round are put into place.
    fn repeat(&mut self, flat: &Flat, step: &Step, times: f64) {
        let [body] = &step.node.bodies[..] else { return };
        let length = step.node.number("length").unwrap_or(1.0);
        let number = |name: &str| step.node.number(name).unwrap_or(0.0) as usize;
        let (constants, carried) = (number("num_consts"), number("num_carry"));
        let rounds = times * length;
        if rounds <= 0.0 {
            return;
        }
        let mut inner = body.clone();
        inner.given_up = inner.inputs.iter().copied().skip(constants).take(carried).collect();
        self.function(&inner, rounds);
        let counts = |&output: &usize| body.values[output].count() == 1 && body.values[output].dtype == Dtype::I32;
        if !body.outputs.iter().take(carried).any(counts) {
            self.add(COUNTER, rounds);
        }
        self.rows_for_libraries(&inner, constants + carried, rounds);
        self.carried(&inner, constants, 0, rounds);
        for &output in body.outputs.iter().skip(carried) {
            let value = &body.values[output];
            self.add(copy(value.count(), true, value.dtype), rounds);
        }
        for &given in step.node.gives.iter().skip(carried) {
            let value = &flat.values[given];
            self.add(fill(value.count(), value.dtype), times);
        }
        self.begins(flat, &step.node.reads[constants.min(step.node.reads.len())..], carried, times);
    }

    /// The part of an array that a round is for is cut out where a library reads it.
    fn rows_for_libraries(&mut self, body: &Graph, first: usize, rounds: f64) {
        let flat = Flat::of(body);
        for &input in body.inputs.iter().skip(first) {
            let by_library = |&user: &usize| !is_loop_or_fold(&flat.steps[user]);
            if flat.users[input].iter().any(by_library) {
                let value = &flat.values[input];
                self.add(copy(value.count(), true, value.dtype), rounds);
            }
        }
    }

    /// A loop with a condition, which the host waits for before each round.
    fn while_loop(&mut self, flat: &Flat, step: &Step, times: f64) {
        let [condition, body] = &step.node.bodies[..] else { return };
        let rounds = step.node.number("rounds").unwrap_or_else(|| {
            self.uncounted.insert(step.node.op.clone());
            times
        });
        let number = |name: &str| step.node.number(name).unwrap_or(0.0) as usize;
        let constants = number("body_nconsts");
        let mut inner = body.clone();
        inner.given_up = inner.inputs.iter().copied().skip(constants).collect();
        if rounds > 0.0 {
            self.function(&inner, rounds);
            self.carried(&inner, constants, 0, rounds);
        }
        self.function(condition, rounds + times);
        self.add(CONDITION, rounds + times);
        let first = constants + number("cond_nconsts");
        self.begins(flat, &step.node.reads[first.min(step.node.reads.len())..], inner.outputs.len(), times);
    }

    /// What a loop begins with is copied where others own it.
    fn begins(&mut self, flat: &Flat, given: &[usize], carried: usize, times: f64) {
        for &value in given.iter().take(carried) {
            if flat.maker[value].is_none() && !flat.given_up.contains(&value) {
                let n = flat.values[value].count();
                self.add(copy(n, false, flat.values[value].dtype), times);
            }
        }
    }

    /// Carried values whose place still is read when the next ones are there are copied.
    fn carried(&mut self, body: &Graph, constants: usize, first: usize, rounds: f64) {
        let flat = Flat::of(body);
        let kernels = Kernels::of(&flat);
        let inputs = body.inputs.get(constants..).unwrap_or_default();
        for (&old, &new) in inputs.iter().zip(flat.outputs.get(first..).unwrap_or_default()) {
            let value = &flat.values[new];
            if old == new || value.count() <= 1 {
                continue;
            }
            let moved_on = inputs.contains(&new);
            let maker = flat.maker[new];
            let in_place = |kernel: &super::fuse::Kernel| {
                kernel.steps.iter().all(|&at| {
                    let step = &flat.steps[at];
                    let same = step.node.gives.iter().all(|&given| flat.values[given].count() == value.count());
                    matches!(step.meaning, Some(Meaning::Map(_) | Meaning::Bitcast)) && same
                        || !step.node.reads.contains(&old)
                })
            };
            let read_by_it = kernels.list.iter().any(|kernel| {
                let makes = maker.is_some_and(|maker| kernel.steps.contains(&maker));
                makes && kernels.reads(kernel).contains(&old) && !in_place(kernel)
            });
            if moved_on || read_by_it {
                self.add(copy(value.count(), false, value.dtype), rounds);
            }
        }
    }

    /// The branches that were taken, or the dearest.
    fn branch(&mut self, step: &Step, times: f64) {
        self.add(CONDITION, times);
        let taken = step.node.list("taken");
        if taken.len() == step.node.bodies.len() {
            for (body, &taken) in step.node.bodies.iter().zip(taken) {
                if taken > 0.0 {
                    self.function(body, taken);
                }
            }
            return;
        }
        let each = step.node.bodies.iter().map(|body| {
            let mut total = Self::default();
            total.function(body, times);
            total
        });
        let weight = |total: &Self| {
            let bytes = |(part, times): &(Part, f64)| times * part.op.min_bytes(part.dtype).get();
            total.parts.iter().map(bytes).sum::<f64>()
        };
        if let Some(dearest) = each.max_by(|a, b| weight(a).total_cmp(&weight(b))) {
            self.uncounted.insert(step.node.op.clone());
            self.uncounted.extend(dearest.uncounted);
            self.parts.extend(dearest.parts);
            self.unknown.extend(dearest.unknown);
        }
    }
}
