//! Kernels that become one: rules 3 to 5 of [`super::fuse`].

use super::fuse::{Kernel, Kernels, is_fold, is_of_rows};
use super::meaning::Meaning;
use std::collections::{BTreeMap, BTreeSet};

impl Kernels<'_> {
    fn is_of_loops(&self, kernel: &Kernel) -> bool {
        kernel.roots.iter().all(|&root| self.flat.steps[root].meaning.is_some_and(Meaning::is_loop))
    }

    fn is_of_folds(&self, kernel: &Kernel) -> bool {
        kernel.roots.iter().all(|&root| is_fold(&self.flat.steps[root]))
    }

    /// Elements that a kernel goes over: those of its result, or those that it folds.
    pub(super) fn extent(&self, kernel: &Kernel) -> Vec<u64> {
        let root = kernel.roots.iter().max_by_key(|&&root| self.over(root));
        root.map_or_else(Vec::new, |&root| {
            let node = &self.flat.steps[root].node;
            let value = if is_fold(&self.flat.steps[root]) { node.reads.first() } else { node.gives.first() };
            let shape = value.map_or(&[][..], |&value| &self.flat.values[value].shape);
            shape.iter().copied().filter(|&dim| dim != 1).collect()
        })
    }

    fn over(&self, root: usize) -> u64 {
        let node = &self.flat.steps[root].node;
        let value = if is_fold(&self.flat.steps[root]) { node.reads.first() } else { node.gives.first() };
        value.map_or(0, |&value| self.flat.values[value].count())
    }

    /// The kernels that read what each one leaves.
    fn readers_of(&self) -> Vec<BTreeSet<usize>> {
        let mut by: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (at, kernel) in self.list.iter().enumerate() {
            self.reads(kernel).into_iter().for_each(|value| by.entry(value).or_default().push(at));
        }
        let of = |kernel: &Kernel| {
            let mut written: Vec<usize> = self.writes(kernel);
            written.dedup();
            written.iter().filter_map(|value| by.get(value)).flatten().copied().collect()
        };
        self.list.iter().map(of).collect()
    }

    fn is_given_out(&self, kernel: &Kernel) -> bool {
        self.writes(kernel).iter().any(|value| self.flat.outputs.contains(value))
    }

    /// `from` becomes part of `into`, and is empty afterwards; what it left stays inside unless `kept`.
    fn join(&mut self, from: usize, into: usize, kept: bool) {
        let taken = std::mem::take(&mut self.list[from]);
        self.list[into].steps.extend(taken.steps);
        if kept {
            self.list[into].roots.extend(taken.roots);
        }
    }

    /// Rule 3: folds of rows that go back to the rows, last first.
    pub(super) fn rows(&mut self) {
        for at in (0..self.list.len()).rev() {
            let kernel = &self.list[at];
            let of_rows =
                |&root: &usize| is_fold(&self.flat.steps[root]) && is_of_rows(self.flat, &self.flat.steps[root]);
            if kernel.roots.is_empty() || !kernel.roots.iter().all(of_rows) || self.is_given_out(kernel) {
                continue;
            }
            let readers = self.readers_of();
            let readers: Vec<usize> = readers[at].iter().copied().filter(|&reader| reader != at).collect();
            let [reader] = readers[..] else { continue };
            let other = &self.list[reader];
            let back = (self.is_of_loops(other) || other.roots.iter().all(of_rows))
                && self.extent(other) == self.extent(kernel);
            if back {
                self.join(at, reader, false);
            }
        }
        self.list.retain(|kernel| !kernel.roots.is_empty());
    }

    /// Rule 4.
    pub(super) fn results_of_folds(&mut self) {
        for at in 0..self.list.len() {
            let kernel = &self.list[at];
            let result = kernel.roots.first().map_or(1, |&root| self.results(root));
            if kernel.roots.len() != 1 || !self.is_of_folds(kernel) || self.is_given_out(kernel) || result <= 1 {
                continue;
            }
            let readers = self.readers_of();
            let readers: Vec<usize> = readers[at].iter().copied().filter(|&reader| reader != at).collect();
            if let [reader] = readers[..]
                && self.is_of_loops(&self.list[reader])
                && self.list[reader].roots.iter().all(|&root| self.results(root) == result)
            {
                self.join(at, reader, false);
            }
        }
        self.list.retain(|kernel| !kernel.roots.is_empty());
    }

    fn results(&self, root: usize) -> u64 {
        self.flat.steps[root].node.gives.first().map_or(0, |&given| self.flat.values[given].count())
    }

    /// Rule 5: those that go over the same elements and read something in common, or one what the other leaves.
    pub(super) fn same_again(&mut self) {
        for at in 0..self.list.len() {
            for other in at + 1..self.list.len().min(at + 200) {
                if self.could_join(at, other) {
                    self.join(at, other, true);
                    break;
                }
            }
        }
        self.list.retain(|kernel| !kernel.roots.is_empty());
    }

    fn could_join(&self, at: usize, other: usize) -> bool {
        let (a, b) = (&self.list[at], &self.list[other]);
        let (loops, folds) = (self.is_of_loops(a), self.is_of_folds(a));
        let alike = (loops && (self.is_of_loops(b) || self.is_of_folds(b))) || (folds && self.is_of_folds(b));
        let group = |kernel: &Kernel| kernel.roots.first().and_then(|&root| self.flat.steps[root].node.group);
        if group(a) != group(b)
            || a.roots.is_empty()
            || b.roots.is_empty()
            || !alike
            || self.extent(a) != self.extent(b)
        {
            return false;
        }
        let written: BTreeSet<usize> = self.writes(a).into_iter().collect();
        let (reads, reads_too) = (self.reads(a), self.reads(b));
        let follows = reads_too.iter().any(|read| written.contains(read));
        let shares = reads.intersection(&reads_too).any(|&value| self.flat.values[value].count() > 1);
        let one_number = b.roots.iter().any(|&root| self.is_one_number(&self.flat.steps[root]));
        if follows && one_number && a.roots.iter().any(|&root| self.is_heavy(root, &mut 0)) {
            return false;
        }
        // One that reads the elements as they are made goes over them at the same time.
        (if follows { loops && self.reads_in_place(b, &written) } else { shares }) && !self.lies_between(at, other)
    }

    /// Whether a kernel reads these values element by element.
    fn reads_in_place(&self, kernel: &Kernel, values: &BTreeSet<usize>) -> bool {
        kernel.steps.iter().map(|&at| &self.flat.steps[at]).all(|step| {
            let in_place = matches!(step.meaning, Some(Meaning::Map(_) | Meaning::Bitcast | Meaning::Fold(_)));
            in_place || !step.node.reads.iter().any(|read| values.contains(read))
        })
    }

    /// Whether a third kernel reads what `at` leaves and gives what `other` reads.
    fn lies_between(&self, at: usize, other: usize) -> bool {
        let mut after: BTreeSet<usize> = self.writes(&self.list[at]).into_iter().collect();
        for kernel in &self.list[at + 1..other] {
            if self.reads(kernel).iter().any(|read| after.contains(read)) {
                after.extend(self.writes(kernel));
            }
        }
        let own: BTreeSet<usize> = self.writes(&self.list[at]).into_iter().collect();
        self.reads(&self.list[other]).iter().any(|read| after.contains(read) && !own.contains(read))
    }
}
