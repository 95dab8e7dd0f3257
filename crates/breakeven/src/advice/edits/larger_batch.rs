//! A larger batch: fewer steps with more in each, as long as the memory lasts.

use super::super::draft::{Draft, edit_loops, entries};
use super::super::{Change, Context, Edit};
use crate::estimate::Side;
use crate::estimate::gpu::device_bytes;
use crate::growth::batch_of;
use crate::port;
use crate::report::words;

use crate::workload::op::Direction;
use crate::workload::{Lines, Op, Phase, Step};
use std::collections::BTreeMap;

pub(super) const EDIT: Edit = Edit { id: "larger-batch", sides: &[Side::Gpu], apply };

const ROUNDS: u64 = 20;
/// How many times as large: a change that most trainings bear with an adapted learning rate.
const TIMES: u64 = 4;
/// Share of the device memory that the larger batch may take.
const MEMORY: f64 = 0.8;

fn apply<'a>(draft: &Draft<'a>, ctx: &Context, _: Side) -> Option<Change<'a>> {
    let need = device_bytes(&draft.workload, draft.policy) * TIMES as f64;
    let batch = batch_of(&draft.workload)?;
    if need > ctx.device.memory.get() * MEMORY || !has_more(draft, batch.called()) {
        return None;
    }
    let mut out = draft.clone();
    let lines = Lines::new(&draft.workload.ops);
    let (mut counted, mut hottest): (Vec<u32>, Option<u32>) = (Vec::new(), None);
    let mut larger: BTreeMap<u32, u32> = BTreeMap::new();
    let steps = edit_loops(&draft.order, 1, &mut |_, rounds, body| {
        let inside: Vec<u32> = entries(body);
        if inside.iter().any(|&e| e as usize >= draft.workload.ops.len()) {
            return None;
        }
        let trains = inside
            .iter()
            .any(|&e| draft.workload.ops.get(e as usize).is_some_and(|e| e.phase == Some(Phase::Backward)));
        // A round that also asks the network about a single sample, to act on it, has a pace of its own.
        let asks = |&e: &u32| {
            let entry = draft.entry(e);
            entry.phase == Some(Phase::Forward) && matches!(entry.op, Op::Matmul { m: 1, batch: 1, .. })
        };
        // A piece of a few rounds is left to the loop around it.
        if rounds < TIMES || lines.rounds(body) < ROUNDS || !trains || (batch.value > 1 && inside.iter().any(asks)) {
            return None;
        }
        // As many samples are loaded as before, whatever loads them.
        let whole = |e: u32| {
            let entry = draft.entry(e);
            entry.phase == Some(Phase::Data) || port::of(&entry.name).name != "torch"
        };
        for &e in &inside {
            let entry = draft.entry(e);
            let mut new = entry.clone();
            if !whole(e) && batch.scale(&mut new, TIMES as f64) {
                larger.entry(e).or_insert_with(|| out.add(new));
            }
        }
        let work = |e: &u32| draft.entry(*e).flop().get() * draft.entry(*e).count as f64;
        let forward =
            inside.iter().filter(|e| draft.entry(**e).phase == Some(Phase::Forward) && larger.contains_key(e));
        let busiest = forward.chain(&hottest).copied().reduce(|a, b| if work(&b) > work(&a) { b } else { a });
        hottest = Some(busiest?);
        counted.extend(once_a_step(draft, &inside).filter(|e| !counted.contains(e)));
        let body = swapped(body, &larger, &whole);
        Some(vec![Step::Repeat(rounds.div_ceil(TIMES), body)])
    });
    let site = draft.entry(hottest?).site;
    // All pieces of the loop have the same ones.
    let rounds = counted.iter().map(|e| draft.entry(*e).count).sum();
    out.workload.program.peak_bytes = out.workload.program.peak_bytes.saturating_mul(TIMES);
    out.workload.program.device_peak_bytes = out.workload.program.device_peak_bytes.saturating_mul(TIMES);
    out.reorder(steps)?;
    let site = draft.workload.sites.get(site as usize)?.clone();
    Some(Change {
        title: format!("A batch of {} instead of {} at {}", batch.called() * TIMES, batch.called(), site.label()),
        why: format!("{} steps are too small to keep the GPU busy", words::count(rounds)),
        draft: out,
        site: Some(site),
        patch: None,
        ready: Some(format!("batch_size = {}  # and the learning rate to match", batch.called() * TIMES)),
        risk: Some("fewer, larger steps can train differently: adapt the learning rate, watch the loss"),
    })
}

/// The entry that runs once in a step of the training with these entries: the optimizer's that runs least, or the
/// backward pass's where the script steps by hand.
fn once_a_step(draft: &Draft, inside: &[u32]) -> Option<u32> {
    let of = |phase| inside.iter().copied().filter(move |e| draft.entry(*e).phase == Some(phase));
    let least = |entries: &mut dyn Iterator<Item = u32>| entries.min_by_key(|e| (draft.entry(*e).count, *e));
    least(&mut of(Phase::Optimizer)).or_else(|| least(&mut of(Phase::Backward)))
}

/// Whether there is more data than one batch: it is loaded, copied or made again and again, or taken from a larger array.
/// A script that trains on all it has in each step has none.
fn has_more(draft: &Draft, batch: u64) -> bool {
    let dims = |shape: &str| -> Option<u64> { shape.trim_start_matches('[').split([',', ']']).next()?.parse().ok() };
    draft.workload.ops.iter().any(|e| {
        let each_round = e.count >= ROUNDS;
        let comes = e.phase == Some(Phase::Data)
            || matches!(e.op, Op::Transfer { direction: Direction::H2d, .. } | Op::Random { .. });
        let shapes = e.shapes.as_deref().and_then(|shapes| shapes.split_once(" -> "));
        let divided = ["split", "chunk", "unbind"].iter().any(|name| e.name.contains(name));
        let taken = shapes.is_some_and(|(from, to)| {
            (divided || dims(to) == Some(batch)) && from.split(' ').filter_map(dims).any(|of| of > batch)
        });
        (each_round && comes) || (taken && matches!(e.op, Op::View | Op::Gather { .. } | Op::Copy { .. }))
    })
}

/// The body on larger batches; what works on each sample apart runs as often as in so many steps.
fn swapped(body: &[Step], new: &BTreeMap<u32, u32>, whole: &impl Fn(u32) -> bool) -> Vec<Step> {
    let swap = |step: &Step| match step {
        Step::Run(e) if !new.contains_key(e) && whole(*e) => Step::Repeat(TIMES, vec![Step::Run(*e)]),
        Step::Run(e) => Step::Run(*new.get(e).unwrap_or(e)),
        Step::Repeat(n, inner) => Step::Repeat(*n, swapped(inner, new, whole)),
    };
    body.iter().map(swap).collect()
}
