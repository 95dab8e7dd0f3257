//! Reduce before copying back: what the host takes only the sum, mean or largest value of, the GPU reduces.

use super::super::draft::{Draft, edit_loops, entries};
use super::super::{Change, Context, Edit};
use crate::estimate::Side;
use crate::estimate::plan::Policy;
use crate::port::{self, Counterpart};
use crate::report::words;
use crate::workload::op::Direction;
use crate::workload::{Buffer, Op, Step};

pub(super) const EDIT: Edit = Edit { id: "reduce-before-copy", sides: &[Side::Gpu], apply };

/// Copies from this size on are worth it.
const LARGE: u64 = 1 << 16;
/// Longer lists of steps are not looked through: a loop's body is short.
const LONGEST: usize = 1000;
/// A result is less than the array by this factor or more.
const LESS: u64 = 16;

/// A copy back, and the reductions that alone use it.
type Found = (u32, Vec<u32>);

fn apply<'a>(draft: &Draft<'a>, ctx: &Context, _: Side) -> Option<Change<'a>> {
    if draft.policy != Policy::AsWritten {
        return None;
    }
    let mut found: Vec<Found> = Vec::new();
    let whole = [Step::Repeat(1, draft.order.to_vec())];
    let mut steps = edit_loops(&whole, 1, &mut |_, rounds, body| {
        let here = of_body(draft, ctx, body);
        if here.is_empty() {
            return None;
        }
        let mut steps = body.to_vec();
        for (copy, reductions) in &here {
            steps.retain(|step| *step != Step::Run(*copy));
            let last = steps.iter().rposition(|step| reductions.iter().any(|r| *step == Step::Run(*r)))?;
            steps.insert(last + 1, Step::Run(*copy));
        }
        found.extend(here);
        Some(vec![Step::Repeat(rounds, steps)])
    });
    let bytes = |copy: u32| if let Op::Transfer { bytes, .. } = draft.entry(copy).op { bytes } else { 0 };
    let &(main, ref reductions) = found.iter().max_by_key(|(copy, _)| bytes(*copy) * draft.entry(*copy).count)?;
    let mut out = draft.clone();
    for (copy, reductions) in &found {
        let mut left = 0;
        for &reduction in reductions {
            let entry = &mut out.workload.ops[reduction as usize];
            left += results(&entry.op) * entry.dtype.bytes();
            entry.device.clone_from(&draft.entry(*copy).device);
            if let Counterpart::Device(name) = port::of(&entry.name).counterpart(&entry.name) {
                entry.name = name.to_owned();
            }
        }
        let entry = &mut out.workload.ops[*copy as usize];
        if let Op::Transfer { bytes, .. } = &mut entry.op {
            *bytes = left;
        }
    }
    let site = draft.workload.sites.get(draft.entry(main).site as usize)?.clone();
    let name = draft.entry(*reductions.first()?).name.rsplit('.').next().unwrap_or_default().to_owned();
    let why = format!(
        "{} copies of {} come back, and the host takes only the {name} of each",
        words::count(draft.entry(main).count),
        words::bytes(bytes(main) as f64),
    );
    let title = format!("Reducing the array of {} on the GPU before it is copied back", site.label());
    if let [Step::Repeat(1, all)] = steps.as_mut_slice() {
        steps = std::mem::take(all);
    }
    out.reorder(steps)?;
    let ready = Some(format!("x.{name}()  # on the GPU: one value comes back"));
    let risk = Some("only if nothing else uses the copy; sums on a GPU differ in the last digits");
    Some(Change { draft: out, title, why, site: Some(site), patch: None, ready, risk })
}

/// What a body copies back only to reduce it.
fn of_body(draft: &Draft, ctx: &Context, body: &[Step]) -> Vec<Found> {
    if body.len() > LONGEST {
        return Vec::new();
    }
    let inside = entries(body);
    let at = |entry: u32| body.iter().position(|step| *step == Step::Run(entry));
    let host = |e: &&u32| draft.entry(**e).device.is_none();
    let mut found = Vec::new();
    for &copy in &inside {
        let entry = draft.entry(copy);
        let (Op::Transfer { direction: Direction::D2h, bytes, .. }, Some(place)) = (&entry.op, at(copy)) else {
            continue;
        };
        let goes_back = |e: &u32| matches!(draft.entry(*e).op, Op::Transfer { direction: Direction::H2d, bytes: b, .. } if b == *bytes);
        // `host[i]` reads an array that cannot be told.
        let picks = |e: &u32| draft.entry(*e).name.ends_with(".item");
        let kept = |b: &Buffer| b.producer.is_none_or(|by| by == copy) && b.bytes == *bytes && b.peak_live > 2;
        if *bytes < LARGE
            || entry.op.is_copied_beside()
            || inside.iter().any(goes_back)
            || inside.iter().filter(host).any(picks)
            || ctx.question.workload.buffers.iter().any(kept)
        {
            continue;
        }
        let mut reductions: Vec<u32> = inside.iter().filter(host).copied().collect();
        reductions.sort_unstable();
        reductions.dedup();
        let shape = |e: &u32| draft.entry(*e).shapes.as_deref().and_then(|s| s.split(" -> ").next()).map(str::to_owned);
        let reduces = |e: &u32| {
            let e = draft.entry(*e);
            matches!(e.op, Op::Reduce { .. }) && e.read_bytes == *bytes && e.count == entry.count
        };
        let Some(whole) = reductions.iter().find(|e| reduces(e)).and_then(shape) else { continue };
        reductions.retain(|e| draft.entry(*e).read_bytes >= *bytes || shape(e).is_some_and(|s| s.contains(&whole)));
        let small = |e: &u32| results(&draft.entry(*e).op) * draft.entry(*e).dtype.bytes() * LESS <= *bytes;
        if reductions.iter().all(|e| reduces(e) && small(e) && at(*e) > Some(place)) {
            found.push((copy, reductions));
        }
    }
    found
}

/// How many numbers a reduction leaves.
fn results(op: &Op) -> u64 {
    if let Op::Reduce { out, .. } = op { (*out).max(1) } else { 0 }
}
