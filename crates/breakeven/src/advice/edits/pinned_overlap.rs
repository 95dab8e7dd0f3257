//! Pinned memory and overlap: the next round's data travels while this round computes.

use super::super::draft::{Draft, loops};
use super::super::{Change, Context, Edit};
use super::{hoist_transfers, keep_resident};
use crate::estimate::Side;
use crate::estimate::plan::Policy;
use crate::port;
use crate::report::words;
use crate::workload::op::Direction;
use crate::workload::{Op, Step};

pub(super) const EDIT: Edit = Edit { id: "pinned-overlap", sides: &[Side::Gpu], apply };

const ROUNDS: u64 = 3;
/// A copy of fewer bytes takes its fixed time, whatever memory it comes from.
const LARGE: u64 = 1 << 16;

fn apply<'a>(draft: &Draft<'a>, ctx: &Context, _: Side) -> Option<Change<'a>> {
    if draft.policy != Policy::AsWritten {
        return None;
    }
    let copied = |step: &Step| match step {
        Step::Run(e) => match draft.entry(*e).op {
            Op::Transfer { direction: Direction::H2d, bytes, pinned: false, .. } if bytes >= LARGE => Some(*e),
            _ => None,
        },
        Step::Repeat(..) => None,
    };
    let mut found: Vec<u32> = Vec::new();
    for l in loops(&draft.order).iter().filter(|l| l.rounds >= ROUNDS) {
        // What comes back in the same round, or never changes, is better not copied at all.
        let needless = |e: &u32| {
            keep_resident::turns(draft, l.body).iter().any(|(up, _)| up == e)
                || hoist_transfers::same_each_round(draft, ctx, l.body).contains(e)
        };
        found.extend(l.body.iter().filter_map(copied).filter(|e| !needless(e)));
    }
    found.sort_unstable();
    found.dedup();
    let &main = found.iter().max_by_key(|e| draft.entry(**e).written_bytes.saturating_mul(draft.entry(**e).count))?;
    let free = draft.workload.ops.iter().filter_map(|e| e.stream).max().map_or(1, |s| s.saturating_add(1));
    let mut out = draft.clone();
    for &e in &found {
        let entry = &mut out.workload.ops[e as usize];
        entry.stream = Some(free);
        if let Op::Transfer { pinned, asynchronous, .. } = &mut entry.op {
            (*pinned, *asynchronous) = (true, true);
        }
    }
    let entry = draft.entry(main);
    let site = draft.workload.sites.get(entry.site as usize)?.clone();
    let torch = port::of(&entry.name).name == "torch";
    let ready = if torch {
        "DataLoader(…, pin_memory=True) and x.to(device, non_blocking=True), a round ahead in a torch.cuda.Stream()"
    } else {
        "buffer = cupyx.empty_pinned(shape, dtype); with cupy.cuda.Stream(non_blocking=True): x.set(buffer)  # a round ahead"
    };
    Some(Change {
        title: format!("Copying the data of {} ahead, from page-locked memory", site.label()),
        why: format!(
            "{} copies in a loop are waited for, at half of the link's rate",
            words::count(found.iter().map(|e| draft.entry(*e).count).sum())
        ),
        draft: out,
        site: Some(site),
        patch: None,
        ready: Some(ready.to_owned()),
        risk: Some("two rounds' data must fit; page-locked memory is taken from the rest of the machine"),
    })
}
