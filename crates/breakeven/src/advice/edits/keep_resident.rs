//! Keep data on the GPU: what is copied out and in again each round of a loop stays there.

use super::super::draft::{Draft, edit_loops, entries, is_array_work, loops};
use super::super::{Change, Context, Edit};
use crate::estimate::Side;
use crate::estimate::plan::Policy;
use crate::port::{self, Counterpart};
use crate::report::words;
use crate::workload::op::Direction;
use crate::workload::{Op, Step};

pub(super) const EDIT: Edit = Edit { id: "keep-resident", sides: &[Side::Gpu], apply };

/// Rounds from which copying each time is a habit and not an accident.
const ROUNDS: u64 = 3;

fn apply<'a>(draft: &Draft<'a>, ctx: &Context, _: Side) -> Option<Change<'a>> {
    match draft.policy {
        Policy::Resident => None,
        Policy::Naive => Some(Change {
            draft: Draft { policy: Policy::Resident, ..draft.clone() },
            title: "Keeping arrays on the GPU between calls".to_owned(),
            why: "every call copies its inputs in and its results out".to_owned(),
            site: None,
            patch: None,
            ready: Some("import cupy as np  # arrays stay on the GPU; .get() only where a result leaves it".to_owned()),
            risk: None,
        }),
        Policy::AsWritten => ping_pong(draft, ctx),
    }
}

fn ping_pong<'a>(draft: &Draft<'a>, _: &Context) -> Option<Change<'a>> {
    let mut pairs: Vec<(u32, u32)> = Vec::new();
    let mut moved: Vec<u32> = Vec::new();
    for l in loops(&draft.order).iter().filter(|l| l.rounds >= ROUNDS) {
        let found = turns(draft, l.body);
        if !found.is_empty()
            && let Some(hosts) = could_move(draft, l.body)
        {
            moved.extend(hosts);
            pairs.extend(found);
        }
    }
    let &(up, down) = pairs.iter().max_by_key(|(up, _)| bytes_of(&draft.entry(*up).op) * draft.entry(*up).count)?;
    let mut out = draft.clone();
    for &host in &moved {
        let entry = &mut out.workload.ops[host as usize];
        entry.device = Some("cuda:0".to_owned());
        if let Counterpart::Device(name) = port::of(&entry.name).counterpart(&entry.name) {
            entry.name = name.to_owned();
        }
    }
    let steps = edit_loops(&draft.order, 1, &mut |_, rounds, body| {
        let mine: Vec<(u32, u32)> =
            turns(draft, body).into_iter().filter(|pair| rounds >= ROUNDS && pairs.contains(pair)).collect();
        if mine.is_empty() {
            return None;
        }
        let stays = |s: &&Step| !matches!(s, Step::Run(e) if mine.iter().any(|(up, down)| e == up || e == down));
        let inside: Vec<Step> = body.iter().filter(stays).cloned().collect();
        let before = mine.iter().map(|(up, _)| Step::Run(*up));
        let after = mine.iter().map(|(_, down)| Step::Run(*down));
        let body = (!inside.is_empty()).then_some(Step::Repeat(rounds, inside));
        Some(before.chain(body).chain(after).collect())
    });
    let (first, back) = (draft.entry(up), draft.entry(down));
    let (site, other) = (draft.workload.sites.get(first.site as usize)?, draft.workload.sites.get(back.site as usize)?);
    let why = format!(
        "{} copies in at {} and {} back at {} carry the same {} each time",
        words::count(first.count),
        site.label(),
        words::count(back.count),
        other.label(),
        words::bytes(bytes_of(&first.op) as f64)
    );
    let title = format!("Keeping the array of {} on the GPU between rounds", site.label());
    let site = Some(site.clone());
    out.reorder(steps)?;
    let ready = (!moved.is_empty()).then(|| {
        let names: Vec<&str> = moved.iter().map(|&i| draft.entry(i).name.as_str()).collect();
        format!("# on the GPU too: {}", names.join(", "))
    });
    Some(Change { draft: out, title, why, site, patch: None, ready, risk: None })
}

/// Copies in of a body with a copy back of the same size.
pub(super) fn turns(draft: &Draft, body: &[Step]) -> Vec<(u32, u32)> {
    let copies = |wanted: Direction| {
        body.iter().filter_map(move |step| match step {
            Step::Run(e) => match &draft.entry(*e).op {
                op if op.is_copied_beside() => None,
                Op::Transfer { direction, bytes, .. } if *direction == wanted => Some((*e, *bytes)),
                _ => None,
            },
            Step::Repeat(..) => None,
        })
    };
    let mut back: Vec<(u32, u64)> = copies(Direction::D2h).collect();
    let mut found = Vec::new();
    for (up, bytes) in copies(Direction::H2d) {
        if let Some(at) = back.iter().position(|(_, b)| *b == bytes && bytes > 0) {
            found.push((up, back.swap_remove(at).0));
        }
    }
    found
}

/// The host's array work of a body, if all of it could run on the GPU.
fn could_move(draft: &Draft, body: &[Step]) -> Option<Vec<u32>> {
    let mut moved = entries(body);
    moved.retain(|&e| draft.entry(e).device.is_none());
    moved.sort_unstable();
    moved.dedup();
    let portable = |&e: &u32| {
        let entry = draft.entry(e);
        match &entry.op {
            Op::View | Op::HostRead { .. } => true,
            op if is_array_work(op) => {
                let own = port::of(&entry.name);
                matches!(own.counterpart(&entry.name), Counterpart::Device(_) | Counterpart::View(_))
            }
            _ => false,
        }
    };
    moved.iter().all(portable).then_some(moved)
}

fn bytes_of(op: &Op) -> u64 {
    if let Op::Transfer { bytes, .. } = op { *bytes } else { 0 }
}
