//! What `torch.compile` makes of a program (TorchInductor): everything element by element between two calls of a library
//! becomes one kernel, with casts, copies, soft-max and normalisations, and convolutions go channels last. Products,
//! convolutions, attention and sorts stay the library's, and nothing is fused into them but with `max-autotune`.
//!
//! `x = x + product; layer_norm(x).half()` before another product is one kernel, which reads `x` and the product and writes
//! the sum and the half.

use super::super::draft::{Draft, edit_bodies};
use super::fuse::{place, stands_alone, widen};
use crate::port;
use crate::workload::{Entry, Op, Step, op::Rowwise};
use std::collections::BTreeMap;

/// Steps in a row without a loop beyond which they are no network.
const STRAIGHT: usize = 100_000;

/// The program once it is compiled, and how many of its kernels take the place of several; `None` where there is none.
pub(in crate::advice) fn compiled<'a>(draft: &Draft<'a>) -> Option<(Draft<'a>, usize)> {
    let mut out = draft.clone();
    let mut fused = Fused::default();
    let steps = edit_bodies(&draft.order, &mut |body, times| fused.body(draft, &mut out, body, times));
    if fused.known.is_empty() {
        return None;
    }
    let kernels = fused.known.len();
    out.reorder(steps)?;
    if turns(&out.workload.ops, draft.trains) {
        for entry in &mut out.workload.ops {
            if matches!(entry.op, Op::Convolution { .. } | Op::Rowwise { kind: Rowwise::BatchNorm, .. }) {
                entry.layout = Some("channels_last".to_owned());
            }
        }
    }
    Some((out, kernels))
}

/// Kernels made so far, by the entries they take the place of.
#[derive(Default)]
struct Fused {
    known: BTreeMap<Vec<u32>, u32>,
}

/// Entries of as many elements that nothing keeps apart, with their places in the body.
struct Group {
    elements: u64,
    parts: Vec<(usize, u32)>,
}

impl Fused {
    /// The body with its groups fused; `None` where nothing changes.
    fn body(&mut self, draft: &Draft, out: &mut Draft, body: &[Step], times: u64) -> Option<Vec<Step>> {
        if body.len() > STRAIGHT {
            return None;
        }
        let (mut steps, mut open, mut changed) = (Vec::with_capacity(body.len()), Vec::<Group>::new(), false);
        for (i, step) in body.iter().enumerate() {
            let joins = match step {
                Step::Run(e) => draft.workload.ops.get(*e as usize).map(|entry| (*e, elements(draft, entry))),
                Step::Repeat(..) => None,
            };
            match joins {
                Some((e, Some(elements))) => {
                    let takes = |group: &Group| place(draft.entry(group.parts[0].1)) == place(draft.entry(e));
                    match open.iter_mut().find(|group| group.elements == elements && takes(group)) {
                        Some(group) => group.parts.push((i, e)),
                        None => open.push(Group { elements, parts: vec![(i, e)] }),
                    }
                }
                // Another view of the same memory takes no time and keeps nothing apart.
                Some((e, None)) if matches!(draft.entry(e).op, Op::View) => steps.push(step.clone()),
                _ => {
                    changed |= self.close(draft, out, &mut open, &mut steps, times);
                    steps.push(step.clone());
                }
            }
        }
        changed |= self.close(draft, out, &mut open, &mut steps, times);
        changed.then_some(steps)
    }

    /// Ends all groups, each as one kernel; whether one took the place of several.
    fn close(
        &mut self,
        draft: &Draft,
        out: &mut Draft,
        open: &mut Vec<Group>,
        steps: &mut Vec<Step>,
        times: u64,
    ) -> bool {
        let mut changed = false;
        for group in open.drain(..) {
            if let [(_, alone)] = group.parts[..] {
                steps.push(Step::Run(alone));
                continue;
            }
            changed = true;
            let parts: Vec<u32> = group.parts.iter().map(|part| part.1).collect();
            let entry = *self.known.entry(parts).or_insert_with_key(|_| out.add(kernel(draft, &group)));
            let entry_now = &mut out.workload.ops[entry as usize];
            let runs = entry_now.count.saturating_add(times);
            widen(entry_now, runs);
            steps.push(Step::Run(entry));
        }
        changed
    }
}

/// How many elements the kernel goes through that this may be part of; `None` for what is no such part.
fn elements(draft: &Draft, entry: &Entry) -> Option<u64> {
    if port::of(&entry.name).name != "torch" || stands_alone(draft, entry) {
        return None;
    }
    match entry.op {
        Op::Elementwise { n, .. } | Op::Copy { n, .. } | Op::Reduce { n, .. } => Some(n),
        Op::Rowwise { rows, width, .. } => rows.checked_mul(width),
        _ => None,
    }
}

/// One kernel for a group, with no runs yet. What one part makes the next one reads from registers; it is written where it is
/// used after the group, and at its end.
fn kernel(draft: &Draft, group: &Group) -> Entry {
    let entries: Vec<&Entry> = group.parts.iter().map(|part| draft.entry(part.1)).collect();
    let (first, last) = (entries[0], entries[entries.len() - 1]);
    let each = |of: u64, entry: &Entry| of as f64 / entry.count.max(1) as f64;
    let end = group.parts[group.parts.len() - 1].0;
    // A network that trains computes again on its way back what it did not keep.
    let used_after =
        |&(at, e): &(usize, u32)| at == end || (!draft.trains && draft.used_for[e as usize] > (end - at) as u64);
    let read = entries.iter().map(|entry| entry.read_bytes).fold(0_u64, u64::saturating_add);
    let made = entries[..entries.len() - 1].iter().map(|entry| entry.written_bytes).fold(0_u64, u64::saturating_add);
    let kept = group.parts.iter().filter(|part| used_after(part)).map(|part| draft.entry(part.1).written_bytes);
    let rows = entries.iter().find(|entry| matches!(entry.op, Op::Rowwise { .. }));
    let op = match rows.map(|entry| &entry.op) {
        Some(rows) => rows.clone(),
        None => Op::Elementwise {
            n: group.elements,
            inputs: 1,
            flop_per_element: entries.iter().map(|entry| per_element(&entry.op)).sum(),
            transcendental: entries.iter().any(|e| matches!(e.op, Op::Elementwise { transcendental: true, .. })),
        },
    };
    let dtype = rows.map_or_else(
        || entries.iter().map(|entry| entry.dtype).min_by_key(|dtype| dtype.bytes()).unwrap_or(first.dtype),
        |entry| entry.dtype,
    );
    Entry {
        op,
        dtype,
        count: 0,
        read_bytes: read.saturating_sub(made).max(first.read_bytes.min(read)),
        written_bytes: kept.fold(0, u64::saturating_add),
        gap_ns: entries.iter().map(|entry| each(entry.gap_ns, entry)).fold(0.0, f64::max) as u64,
        cpu_ns: entries.iter().map(|entry| each(entry.cpu_ns, entry)).sum::<f64>() as u64,
        host_input_bytes: entries.iter().map(|entry| each(entry.host_input_bytes, entry)).sum::<f64>() as u64,
        host_input_count: entries.iter().map(|entry| each(entry.host_input_count, entry)).sum::<f64>() as u64,
        kernels: 0,
        shapes: None,
        layout: None,
        ..last.clone()
    }
}

fn per_element(op: &Op) -> f64 {
    match op {
        Op::Elementwise { flop_per_element, .. } | Op::Reduce { flop_per_element, .. } => *flop_per_element,
        _ => 0.0,
    }
}

/// Whether its convolutions go channels last (`decide_layout_opt` in `torch/_inductor/graph.py`, 2.11): not where there are few
/// among many other steps; in inference where that is faster by the ratios of times that it has for each kind; in training unless one
/// has groups of several channels or halves its channels.
fn turns(ops: &[Entry], trains: bool) -> bool {
    let (mut count, mut flop, mut then, mut spoilt) = (0, 0.0, 0.0, false);
    for entry in ops {
        let Op::Convolution { groups, cin, cout, ref kernel, .. } = entry.op else { continue };
        let each = cin / groups.max(1);
        let grouped = groups > 1 && each > 1;
        let halving = 2 * cout <= each && kernel.first().is_some_and(|side| *side > 1);
        let ratio = match () {
            () if grouped => 1.358,
            () if cout <= 64 && each <= 64 => 0.783,
            () if halving => 0.725,
            () => 0.823,
        };
        let work = entry.op.need(entry.dtype).flop * entry.count as f64;
        (count, flop, then) = (count + 1, flop + work, then + ratio * work);
        spoilt |= grouped || halving;
    }
    count > 0 && 300 * count >= ops.len() && if trains { !spoilt } else { then <= flop }
}
