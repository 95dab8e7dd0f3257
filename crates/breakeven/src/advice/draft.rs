//! A program while it is edited.

use crate::estimate::plan::Policy;
use crate::workload::{Entry, Op, Phase, Step, Workload, order};
use std::borrow::Cow;

/// A program that an edit may change. Its order is apart, because most edits leave it and it may be long.
#[derive(Clone, Debug)]
pub struct Draft<'a> {
    /// Everything but order, buffers and markers.
    pub workload: Workload,
    /// The order of its entries, never empty where anything ran.
    pub order: Cow<'a, [Step]>,
    /// How arrays travel.
    pub policy: Policy,
    /// The script hands its network or functions to `torch.compile`, which recording leaves uncompiled.
    pub compiles: bool,
    /// A network is trained.
    pub trains: bool,
    /// ln-sigma of what the edited program takes on the CPU.
    pub cpu_sigma: f64,
    /// Paid once for the edit (compiling, capturing), s: start-up.
    pub once: f64,
    /// By entry: how many operations after its last run its result is still used; 0 where that is not known.
    pub used_for: Vec<u64>,
    /// What each entry's device time is multiplied by: several devices, a library slower than the model knows. Where
    /// there is none, 1.
    pub device_share: Vec<f64>,
}

impl<'a> Draft<'a> {
    /// The program as it is.
    pub fn new(workload: &'a Workload, policy: Policy) -> Self {
        let order = workload.steps();
        let light = Workload {
            format: workload.format.clone(),
            program: workload.program.clone(),
            sites: workload.sites.clone(),
            ops: workload.ops.clone(),
            unseen: workload.unseen.clone(),
            ..Workload::default()
        };
        let mut used_for = vec![0; workload.ops.len()];
        let last_runs = order::last_runs(&order, workload.ops.len());
        for (buffer, made_by) in workload.buffers.iter().filter_map(|b| Some((b, b.producer? as usize))) {
            if let Some(&Some(last_run)) = last_runs.get(made_by) {
                used_for[made_by] = used_for[made_by].max(buffer.last_use.saturating_sub(last_run));
            }
        }
        Self {
            trains: light.ops.iter().any(|e| e.phase == Some(Phase::Backward)),
            workload: light,
            order,
            policy,
            compiles: compiles(workload),
            cpu_sigma: super::CPU_SIGMA,
            once: 0.0,
            used_for,
            device_share: Vec::new(),
        }
    }

    /// The entry at this index.
    pub fn entry(&self, index: u32) -> &Entry {
        &self.workload.ops[index as usize]
    }

    /// Adds an entry; its count, and the times of all its runs, are set.
    pub fn add(&mut self, entry: Entry) -> u32 {
        self.workload.ops.push(entry);
        self.used_for.push(0);
        (self.workload.ops.len() - 1) as u32
    }

    /// An entry takes `times` as long on the device as the model says.
    pub fn slow_down(&mut self, entry: u32, times: f64) {
        let entry = entry as usize;
        self.device_share.resize(self.device_share.len().max(entry + 1), 1.0);
        self.device_share[entry] *= times;
    }

    /// Replaces the order. Entries that now run less often lose that share of their times; those that never run go.
    pub fn reorder(&mut self, steps: Vec<Step>) -> Option<()> {
        let counts = order::counts(&steps, self.workload.ops.len())?;
        for (entry, &count) in self.workload.ops.iter_mut().zip(&counts) {
            entry.set_count(count);
        }
        let mut new = vec![0_u32; counts.len()];
        let mut kept = 0;
        for (place, &count) in new.iter_mut().zip(&counts) {
            *place = kept;
            kept += u32::from(count > 0);
        }
        self.workload.ops.retain(|entry| entry.count > 0);
        keep(&mut self.used_for, &counts);
        keep(&mut self.device_share, &counts);
        self.order = Cow::Owned(order::renumber(steps, &|i| new[i as usize]));
        Some(())
    }
}

/// What a list by entry holds of those that still run; nothing stays nothing.
fn keep<T>(by_entry: &mut Vec<T>, counts: &[u64]) {
    let mut counts = counts.iter();
    by_entry.retain(|_| counts.next().is_some_and(|&n| n > 0));
}

/// Whether a script hands its network or functions to `torch.compile`.
pub fn compiles(workload: &Workload) -> bool {
    workload.unseen.iter().any(|unseen| unseen.reason == "torch-compile")
}

/// A loop of a program: how often its body runs in all, how often in a row, and the body.
#[derive(Clone, Copy, Debug)]
pub struct Loop<'a> {
    /// Rounds in a row.
    pub rounds: u64,
    /// Rounds in all: loops around it multiply.
    pub total: u64,
    /// What runs in a round.
    pub body: &'a [Step],
}

/// Every loop of `steps`, outer ones first.
pub fn loops(steps: &[Step]) -> Vec<Loop<'_>> {
    fn collect<'a>(steps: &'a [Step], outer: u64, found: &mut Vec<Loop<'a>>) {
        for step in steps {
            if let Step::Repeat(rounds, body) = step {
                let total = outer.saturating_mul(*rounds);
                found.push(Loop { rounds: *rounds, total, body });
                collect(body, total, found);
            }
        }
    }
    let mut found = Vec::new();
    collect(steps, 1, &mut found);
    found
}

/// `steps` with each loop replaced by what `edit` says (it sees how often the loop itself begins, and its inside is
/// edited already); `None` leaves it.
pub fn edit_loops(steps: &[Step], begun: u64, edit: &mut EditLoop<'_>) -> Vec<Step> {
    edit_loops_after(steps, begun, &mut |begun, _, rounds, body| edit(begun, rounds, body))
}

/// See [`edit_bodies`].
type EditBody<'a> = dyn FnMut(&[Step], u64) -> Option<Vec<Step>> + 'a;
/// See [`edit_loops`].
type EditLoop<'a> = dyn FnMut(u64, u64, &[Step]) -> Option<Vec<Step>> + 'a;
/// See [`edit_loops_after`].
type EditLoopAfter<'a> = dyn FnMut(u64, Option<u32>, u64, &[Step]) -> Option<Vec<Step>> + 'a;

/// `steps` with each body of a loop, and at last all of them, replaced by what `edit` says of it and how often it runs; `None`
/// leaves it.
pub fn edit_bodies(steps: &[Step], edit: &mut EditBody<'_>) -> Vec<Step> {
    let inner = edit_loops(steps, 1, &mut |begun, rounds, body| {
        edit(body, begun.saturating_mul(rounds)).map(|body| vec![Step::Repeat(rounds, body)])
    });
    edit(&inner, 1).unwrap_or(inner)
}

/// As [`edit_loops`]; `edit` is also told the entry that runs right before the loop.
pub fn edit_loops_after(steps: &[Step], begun: u64, edit: &mut EditLoopAfter<'_>) -> Vec<Step> {
    let mut before = None;
    let mut out = Vec::with_capacity(steps.len());
    for step in steps {
        match step {
            Step::Run(entry) => out.push(Step::Run(*entry)),
            Step::Repeat(rounds, body) => {
                let body = edit_loops_after(body, begun.saturating_mul(*rounds), edit);
                match edit(begun, before, *rounds, &body) {
                    Some(steps) => out.extend(steps.into_iter().filter(|s| !matches!(s, Step::Repeat(0, _)))),
                    None if body.is_empty() => {}
                    None => out.push(Step::Repeat(*rounds, body)),
                }
            }
        }
        before = if let Step::Run(entry) = step { Some(*entry) } else { None };
    }
    out
}

/// Every entry that runs in `steps`, each time it is named; loops inside are gone through once.
pub fn entries(steps: &[Step]) -> Vec<u32> {
    let mut found = Vec::new();
    for step in steps {
        match step {
            Step::Run(entry) => found.push(*entry),
            Step::Repeat(_, body) => found.extend(entries(body)),
        }
    }
    found
}

/// Whether an op works on arrays where they are, so that an edit may move, merge or widen it.
pub fn is_array_work(op: &Op) -> bool {
    op.is_array_work() && !matches!(op, Op::Collective { .. } | Op::Routine { .. } | Op::Dataframe { .. })
}
