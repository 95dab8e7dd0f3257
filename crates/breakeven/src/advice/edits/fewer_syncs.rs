//! Ask less often: values that the host reads each round of a loop are read every tenth round.

use super::super::draft::{Draft, edit_loops, loops};
use super::super::{Change, Context, Edit};
use crate::estimate::Side;
use crate::report::words;
use crate::workload::op::Direction;
use crate::workload::{Entry, Op, Step};

pub(super) const EDIT: Edit = Edit { id: "fewer-syncs", sides: &[Side::Gpu], apply };

/// Read in one round of so many.
const EVERY: u64 = 10;
/// Rounds from which that makes a difference.
const ROUNDS: u64 = 2 * EVERY;
/// A copy of at most so many bytes is a value and no array.
const VALUE: u64 = 64;

fn apply<'a>(draft: &Draft<'a>, _: &Context, _: Side) -> Option<Change<'a>> {
    let waits = |s: &Step| matches!(s, Step::Run(e) if is_read(&draft.entry(*e).op) && own(draft, draft.entry(*e)));
    let mut reads: Vec<u32> = Vec::new();
    for l in loops(&draft.order).iter().filter(|l| l.rounds >= ROUNDS) {
        reads.extend(
            l.body.iter().filter(|s| waits(s)).filter_map(|s| if let Step::Run(e) = s { Some(*e) } else { None }),
        );
    }
    reads.sort_unstable();
    reads.dedup();
    let &main = reads.iter().max_by_key(|e| draft.entry(**e).count)?;
    let steps = edit_loops(&draft.order, 1, &mut |_, rounds, body| {
        if rounds < ROUNDS || !body.iter().any(waits) {
            return None;
        }
        let without: Vec<Step> = body.iter().filter(|s| !waits(s)).cloned().collect();
        if without.is_empty() {
            return Some(vec![Step::Repeat(rounds / EVERY, body.to_vec())]);
        }
        let ten = [Step::Repeat(EVERY - 1, without.clone())].into_iter().chain(body.iter().cloned()).collect();
        Some(vec![Step::Repeat(rounds / EVERY, ten), Step::Repeat(rounds % EVERY, without)])
    });
    let entry = draft.entry(main);
    let site = draft.workload.sites.get(entry.site as usize)?.clone();
    let total: u64 = reads.iter().map(|e| draft.entry(*e).count).sum();
    let mut out = draft.clone();
    out.reorder(steps)?;
    // Every entry still runs, and what Python does between them stays.
    for &read in &reads {
        out.workload.ops[read as usize].gap_ns = draft.entry(read).gap_ns;
    }
    // A line that keeps every value needs them all, but not at once.
    let ready = if site.text.contains(".append(") || site.text.contains("+=") {
        kept(&entry.name).to_owned()
    } else {
        format!("if step % {EVERY} == {}:  # the host waits for the GPU here", EVERY - 1)
    };
    Some(Change {
        title: format!("Reading the value of {} every {EVERY}th round", site.label()),
        why: format!("{} times the host waits for the GPU to hand a value back before it goes on", words::count(total)),
        draft: out,
        site: Some(site),
        patch: None,
        ready: Some(ready),
        risk: Some(
            "what the value decides, it decides up to nine rounds late; or collect the values on the GPU and read them once",
        ),
    })
}

/// How a line that keeps every value reads them once, in the words of its framework.
fn kept(name: &str) -> &'static str {
    match name.split('.').next() {
        Some("jax") => {
            "# keep the arrays (without float(), .item()); values = jax.device_get(values) once, after the loop"
        }
        Some("tensorflow") => {
            "# keep the tensors (without .numpy(), float()); tf.stack(values).numpy() once, after the loop"
        }
        _ => {
            "# keep the values on the GPU (without .item(), .cpu(), float()); stack and read them once, after the loop"
        }
    }
}

/// Whether the script itself asks for the value: what a library's function asks for on its way, it needs.
fn own(draft: &Draft, entry: &Entry) -> bool {
    let via = draft.workload.sites.get(entry.site as usize).and_then(|site| site.via.as_deref());
    via.is_none_or(|via| ASKING.iter().any(|asking| via.starts_with(asking)))
}

/// Where a value is asked for: methods of arrays, and what prints them.
const ASKING: [&str; 5] = ["cupy.", "numpy.", "torch.Tensor.", "torch.Event.", "torch.cuda."];

fn is_read(op: &Op) -> bool {
    match op {
        Op::HostRead { .. } | Op::Synchronise => true,
        Op::Transfer { direction: Direction::D2h, bytes, .. } => !op.is_copied_beside() && *bytes <= VALUE,
        _ => false,
    }
}
