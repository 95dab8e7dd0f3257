//! Copy before the loop what the loop copies unchanged each round.

use super::super::draft::{Draft, edit_loops, entries, is_array_work, loops};
use super::super::{Change, Context, Edit};
use crate::estimate::Side;
use crate::estimate::plan::Policy;
use crate::report::words;
use crate::workload::op::Direction;
use crate::workload::{Op, Step};

pub(super) const EDIT: Edit = Edit { id: "hoist-transfers", sides: &[Side::Gpu], apply };

const ROUNDS: u64 = 3;

fn apply<'a>(draft: &Draft<'a>, ctx: &Context, _: Side) -> Option<Change<'a>> {
    if draft.policy != Policy::AsWritten {
        return None;
    }
    let mut found: Vec<u32> = Vec::new();
    for l in loops(&draft.order).iter().filter(|l| l.rounds >= ROUNDS) {
        found.extend(same_each_round(draft, ctx, l.body));
    }
    let bytes = |e: &u32| if let Op::Transfer { bytes, .. } = draft.entry(*e).op { bytes } else { 0 };
    found.sort_unstable();
    found.dedup();
    let &main = found.iter().max_by_key(|e| bytes(e).saturating_mul(draft.entry(**e).count))?;
    let steps = edit_loops(&draft.order, 1, &mut |_, rounds, body| {
        let mine = |s: &&Step| rounds >= ROUNDS && matches!(s, Step::Run(e) if found.contains(e));
        let lifted: Vec<Step> = body.iter().filter(mine).cloned().collect();
        if lifted.is_empty() {
            return None;
        }
        let inside: Vec<Step> = body.iter().filter(|s| !mine(s)).cloned().collect();
        Some(lifted.into_iter().chain((!inside.is_empty()).then_some(Step::Repeat(rounds, inside))).collect())
    });
    let entry = draft.entry(main);
    let site = draft.workload.sites.get(entry.site as usize)?.clone();
    let why = format!(
        "{} copies of {} bring what looks like the same array: no array operation changes it on the host in between",
        words::count(entry.count),
        words::bytes(bytes(&main) as f64)
    );
    let title = format!("Copying the array of {} once, before the loop", site.label());
    let mut out = draft.clone();
    out.reorder(steps)?;
    let risk = Some("only if nothing else writes to it: a file read into it, a memoryview, a C extension");
    Some(Change { draft: out, title, why, site: Some(site), patch: None, ready: None, risk })
}

/// Copies of a body that carry one and the same array: the program has one array of that size on the host, and nothing
/// in the body could have written to it or taken part of another.
pub(super) fn same_each_round(draft: &Draft, ctx: &Context, body: &[Step]) -> Vec<u32> {
    let inside: Vec<u32> = entries(body);
    let idle_host = inside.iter().all(|&e| {
        let entry = draft.entry(e);
        entry.device.is_some()
            || !(is_array_work(&entry.op) || matches!(entry.op, Op::View | Op::HostOnly | Op::Opaque))
            || entry.name == "torch.host_scalar"
    });
    if !idle_host {
        return Vec::new();
    }
    // Who holds an array's memory (`memoryview`, another library) may write to it at any time, unseen.
    let lent = |size: u64| draft.workload.ops.iter().any(|e| e.name.ends_with("__buffer__") && e.read_bytes == size);
    let comes_back = |size: u64| {
        inside.iter().any(
            |&e| matches!(draft.entry(e).op, Op::Transfer { direction: Direction::D2h, bytes, .. } if bytes == size),
        )
    };
    let copied = |step: &Step| match step {
        Step::Run(e) => match draft.entry(*e).op {
            Op::Transfer { direction: Direction::H2d, bytes, .. }
                if bytes > 0
                    && !lent(bytes)
                    && !comes_back(bytes)
                    && on_host(ctx, bytes).is_one_left_alone(draft.entry(*e).count) =>
            {
                Some(*e)
            }
            _ => None,
        },
        Step::Repeat(..) => None,
    };
    body.iter().filter_map(copied).collect()
}

/// Arrays of one size that the host ever had.
struct OnHost {
    count: u64,
    /// How often Python touched one: a value read, a file read into it.
    touches: u64,
}

impl OnHost {
    /// It is one array, and Python does not touch it in each of that many rounds.
    fn is_one_left_alone(&self, rounds: u64) -> bool {
        self.count == 1 && self.touches < rounds
    }
}

fn on_host(ctx: &Context, bytes: u64) -> OnHost {
    let workload = ctx.question.workload;
    let of_host = |producer: Option<u32>| {
        producer.is_none_or(|e| workload.ops.get(e as usize).is_some_and(|entry| entry.device.is_none()))
    };
    let ever = workload.buffers.iter().filter(|b| b.bytes == bytes && of_host(b.producer));
    ever.fold(OnHost { count: 0, touches: 0 }, |sum, b| OnHost {
        count: sum.count.saturating_add(b.count),
        touches: sum.touches.saturating_add(b.host_touches),
    })
}
