//! Which steps are one kernel, by the rules that XLA's fusion passes for GPUs come to:
//!
//! 1. *Loops join their readers*: a step computed element by element is part of every kernel that reads it, where all
//!    its readers can take it in; else it is written to memory once.
//! 2. *Folds are roots*: what they read is computed within; few elements folded are a loop's own business.
//! 3. *Rows stay in registers*: a fold of rows whose result goes back to the rows is one kernel with that (soft-max).
//! 4. *What is done to a fold's result* is done by its kernel, unless it is one number.
//! 5. *Kernels that go over the same* are one with several results.
//! 6. *Products take an epilogue*: a factor, a matrix or row to add, a ReLU or GELU.
//!
//! Fitted against what XLA's own compiler printed for an H100 (`python/tests/recorders/jax/kernels.csv`).

use super::flat::{Flat, Step};
use super::meaning::Meaning;
use std::collections::{BTreeMap, BTreeSet};

/// Folds of so few elements are part of a loop.
pub(super) const FEW: u64 = 32;
/// Elements of which functions are not computed twice.
const MANY: u64 = 1 << 18;

/// Steps that run as one.
#[derive(Clone, Debug, Default)]
pub(super) struct Kernel {
    /// What it computes, in order; a step may be part of several kernels.
    pub(super) steps: BTreeSet<usize>,
    /// Of these, what it leaves in memory, or is part of no other kernel.
    pub(super) roots: BTreeSet<usize>,
}

/// The kernels of a function, in an order in which they can run.
#[derive(Debug)]
pub(super) struct Kernels<'a> {
    pub(super) flat: &'a Flat,
    pub(super) list: Vec<Kernel>,
}

pub(super) fn is_fold(step: &Step) -> bool {
    matches!(step.meaning, Some(Meaning::Fold(_)))
}

pub(super) fn is_loop_or_fold(step: &Step) -> bool {
    is_loop(step) || is_fold(step)
}

fn is_loop(step: &Step) -> bool {
    step.meaning.is_some_and(Meaning::is_loop)
}

pub(super) fn is_product(step: &Step) -> bool {
    matches!(step.meaning, Some(Meaning::Product | Meaning::Convolution))
}

/// Makes keys for other random numbers, which are stored.
fn makes_keys(step: &Step) -> bool {
    step.meaning == Some(Meaning::Random) && matches!(step.node.op.as_str(), "random_split" | "random_fold_in")
}

/// Writes into an array, with what it writes computed on the way.
fn is_put(step: &Step) -> bool {
    matches!(step.meaning, Some(Meaning::Put { .. } | Meaning::PutPart))
}

/// How many elements a fold makes one of.
pub(super) fn folded(flat: &Flat, step: &Step) -> u64 {
    let (read, given) = (step.node.reads.first(), step.node.gives.first());
    let count = |value: Option<&usize>| value.map_or(1, |&value| flat.values[value].count());
    count(read) / count(given).max(1)
}

/// Whether a fold is of the last axes.
pub(super) fn is_of_rows(flat: &Flat, step: &Step) -> bool {
    let rank = step.node.reads.first().map_or(0, |&read| flat.values[read].shape.len());
    let mut axes = step.node.sizes("axes");
    axes.sort_unstable();
    let first = rank.saturating_sub(axes.len());
    !axes.is_empty() && axes.iter().enumerate().all(|(at, &axis)| axis as usize == first + at)
}

impl<'a> Kernels<'a> {
    pub(super) fn of(flat: &'a Flat) -> Self {
        let mut kernels = Self { flat, list: Vec::new() };
        let epilogues = kernels.epilogues();
        let taken: BTreeSet<usize> = epilogues.values().flatten().copied().collect();
        let roots = kernels.roots(&taken);
        for &root in &roots {
            let mut kernel = Kernel { steps: BTreeSet::from([root]), roots: BTreeSet::from([root]) };
            kernel.steps.extend(epilogues.get(&root).into_iter().flatten());
            if kernels.computes(root) {
                kernels.cone(root, &roots, &mut kernel.steps);
            }
            kernels.list.push(kernel);
        }
        kernels.list.retain(|kernel| !kernels_is_free(flat, kernel));
        kernels.rows();
        kernels.results_of_folds();
        kernels.same_again();
        kernels
    }

    fn step(&self, at: usize) -> &'a Step {
        &self.flat.steps[at]
    }

    /// Whether a kernel with this root computes what it reads on the way.
    fn computes(&self, at: usize) -> bool {
        let step = self.step(at);
        is_loop(step) || is_fold(step) || is_put(step)
    }

    fn readers(&self, at: usize) -> impl Iterator<Item = usize> + '_ {
        self.step(at).node.gives.iter().flat_map(|&given| self.flat.users[given].iter().copied())
    }

    fn is_output(&self, at: usize) -> bool {
        self.step(at).node.gives.iter().any(|given| self.flat.outputs.contains(given))
    }

    /// Rules 1 and 2: steps that begin kernels.
    fn roots(&self, taken: &BTreeSet<usize>) -> BTreeSet<usize> {
        let mut roots = BTreeSet::new();
        for at in 0..self.flat.steps.len() {
            let step = self.step(at);
            if taken.contains(&at) || matches!(step.meaning, Some(Meaning::Nothing)) {
                continue;
            }
            let joins = (is_loop(step) && !makes_keys(step)) || (is_fold(step) && folded(self.flat, step) <= FEW);
            let mut readers = self.readers(at);
            if !(joins && !self.is_output(at) && readers.all(|reader| self.takes_in(reader, at, taken))) {
                roots.insert(at);
            }
        }
        roots
    }

    /// Whether a reader computes a step on its way.
    fn takes_in(&self, reader: usize, at: usize, taken: &BTreeSet<usize>) -> bool {
        let (step, of) = (self.step(at), self.step(reader));
        if is_put(of) {
            return !is_fold(step) && !self.is_put_by(at, of);
        }
        if is_product(of) {
            return step.meaning == Some(Meaning::Turn) && self.keeps_batches(step);
        }
        if of.node.op == "gather" && self.makes(at, of.node.reads.first()) {
            // Rows of what was computed are picked from memory.
            return self.is_light(at);
        }
        if is_fold(of) {
            return !(is_fold(step) || self.is_one_number(of) && self.is_heavy(at, &mut 0));
        }
        is_loop(of) && !(self.is_dear(at) && self.gives(of) > self.gives(step))
            || (taken.contains(&reader) && self.is_light(at))
    }

    /// Repeats, and changes of shape.
    fn is_light(&self, at: usize) -> bool {
        matches!(self.step(at).meaning, Some(Meaning::Spread | Meaning::Bitcast))
    }

    /// Whether it makes the array that a step writes to, or what is written: both are in memory first.
    fn is_put_by(&self, at: usize, put: &Step) -> bool {
        let places = if put.meaning == Some(Meaning::PutPart) { [0, 1] } else { [0, 2] };
        places.iter().any(|&place| self.makes(at, put.node.reads.get(place)))
    }

    /// Whether a step makes this value.
    fn makes(&self, at: usize, value: Option<&usize>) -> bool {
        value.is_some_and(|&value| self.flat.maker[value] == Some(at))
    }

    /// Elements of its result.
    pub(super) fn gives(&self, step: &Step) -> u64 {
        step.node.gives.first().map_or(0, |&given| self.flat.values[given].count())
    }

    pub(super) fn is_one_number(&self, step: &Step) -> bool {
        self.gives(step) == 1
    }

    /// Whether so much is computed for each element, or at computed places, that the few threads of a fold to one number
    /// are too few for it. `seen` bounds how far this looks.
    pub(super) fn is_heavy(&self, at: usize, seen: &mut u32) -> bool {
        *seen += 1;
        let step = self.step(at);
        let own = match step.meaning {
            Some(Meaning::Map(cost)) => cost.transcendental,
            Some(Meaning::Pick | Meaning::Random | Meaning::Windows(_)) => true,
            _ => false,
        };
        let makers = step.node.reads.iter().filter_map(|&read| self.flat.maker[read]);
        let mut loops = makers.filter(|&maker| is_loop_or_fold(self.step(maker)));
        own || (*seen < 32 && loops.any(|maker| self.is_heavy(maker, seen)))
    }

    /// Whether it is too dear to be computed again for each place that it is repeated at.
    fn is_dear(&self, at: usize) -> bool {
        let step = self.step(at);
        self.gives(step) >= MANY && matches!(step.meaning, Some(Meaning::Map(cost)) if cost.transcendental)
    }

    /// Whether a library takes the axes so exchanged: those of a stack of matrices stay where they are.
    fn keeps_batches(&self, step: &Step) -> bool {
        let order = step.node.sizes("permutation");
        order.iter().rev().skip(2).rev().enumerate().all(|(at, &axis)| axis == at as u64)
    }

    /// Adds the steps that make what `at` reads, up to roots.
    fn cone(&self, at: usize, roots: &BTreeSet<usize>, steps: &mut BTreeSet<usize>) {
        let mut left = vec![at];
        while let Some(at) = left.pop() {
            for &read in &self.step(at).node.reads {
                if let Some(maker) = self.flat.maker[read]
                    && !roots.contains(&maker)
                    && is_loop_or_fold(self.step(maker))
                    && steps.insert(maker)
                {
                    left.push(maker);
                }
            }
        }
    }

    /// Rule 6: what products do to their results, by product.
    fn epilogues(&self) -> BTreeMap<usize, Vec<usize>> {
        let mut found = BTreeMap::new();
        let mut taken = BTreeSet::new();
        for at in 0..self.flat.steps.len() {
            if !is_product(self.step(at)) {
                continue;
            }
            let (mut last, mut steps) = (at, Vec::new());
            while let Some(next) = self.follows(last)
                && !taken.contains(&next)
                && self.is_epilogue(last, next)
            {
                steps.push(next);
                taken.insert(next);
                last = next;
            }
            // A trailing change of shape is nobody's work.
            if !steps.is_empty() {
                found.insert(at, steps);
            }
        }
        found
    }

    /// The only reader of a step's result, where nothing else needs it.
    fn follows(&self, at: usize) -> Option<usize> {
        let mut readers = self.readers(at);
        let next = readers.next()?;
        (readers.next().is_none() && !self.is_output(at)).then_some(next)
    }

    fn is_epilogue(&self, last: usize, next: usize) -> bool {
        let (step, flat) = (self.step(next), self.flat);
        let own = &self.step(last).node.gives;
        let mut others = step.node.reads.iter().copied().filter(|read| !own.contains(read));
        let constant = |value: usize| flat.is_constant(value);
        match step.node.op.as_str() {
            _ if step.meaning == Some(Meaning::Bitcast) => true,
            _ if step.meaning == Some(Meaning::Turn) => self.keeps_batches(step),
            "mul" | "div" | "max" => others.all(constant),
            "add" | "add_any" => others.all(|other| {
                // A row from an array of its own, or a matrix that was computed before.
                let from = self.behind(other);
                let matrix = flat.maker[from].is_some_and(|at| is_product(self.step(at)));
                constant(other) || flat.values[from].shape.len() <= 1 || matrix
            }),
            _ => false,
        }
    }

    /// What a value is, but for its shape.
    fn behind(&self, mut value: usize) -> usize {
        while let Some(step) = self.flat.maker[value].map(|at| self.step(at))
            && matches!(step.meaning, Some(Meaning::Bitcast | Meaning::Spread))
            && let Some(&read) = step.node.reads.first()
        {
            value = read;
        }
        value
    }

    /// What a kernel reads from memory: values of others.
    pub(super) fn reads(&self, kernel: &Kernel) -> BTreeSet<usize> {
        let flat = self.flat;
        let reads = kernel.steps.iter().flat_map(|&at| self.step(at).node.reads.iter().copied());
        let inside = |value: usize| flat.maker[value].is_some_and(|at| kernel.steps.contains(&at));
        reads
            .filter(|&value| !inside(value) && !flat.is_constant(value))
            .map(|value| flat.behind_shapes(value))
            .collect()
    }

    /// What it leaves in memory.
    pub(super) fn writes(&self, kernel: &Kernel) -> Vec<usize> {
        kernel.roots.iter().flat_map(|&root| self.step(root).node.gives.iter().copied()).collect()
    }
}

/// A kernel that would only give bytes another shape.
fn kernels_is_free(flat: &Flat, kernel: &Kernel) -> bool {
    kernel.steps.iter().all(|&at| flat.steps[at].meaning == Some(Meaning::Bitcast))
}
