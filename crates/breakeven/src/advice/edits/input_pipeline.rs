//! The input pipeline: worker processes load the next batches while this one is worked on.

use super::super::draft::{Draft, entries, loops};
use super::super::{Change, Context, Edit};
use crate::estimate::Side;
use crate::estimate::loaders::{HANDOVER, feeds};
use crate::report::words;
use crate::workload::Entry;

pub(super) const EDIT: Edit = Edit { id: "input-pipeline", sides: &[Side::Gpu], apply };

const ROUNDS: u64 = 3;
/// Worker processes: what most guides begin with; fewer where the machine has fewer threads.
const WORKERS: u32 = 4;

fn apply<'a>(draft: &Draft<'a>, ctx: &Context, _: Side) -> Option<Change<'a>> {
    // What the script does already is no advice.
    if draft.workload.program.loaders.is_some() {
        return None;
    }
    let inside = loops(&draft.order).into_iter().filter(|l| l.rounds >= ROUNDS).flat_map(|l| entries(l.body));
    // What ran in a data loader, be it of its framework or of NumPy.
    let feeds = feeds(&draft.workload.ops, &draft.order);
    let mut loading: Vec<u32> = inside.filter(|e| feeds[*e as usize]).collect();
    loading.sort_unstable();
    loading.dedup();
    // As the estimate takes recorded times: what other programs had is off.
    let host = ctx.question.host;
    let spent = |e: &Entry| (e.cpu_ns as f64 * host.cpu_scale + e.gap_ns as f64 * host.gap_scale) * 1e-9;
    let all: f64 = loading.iter().map(|e| spent(draft.entry(*e))).sum();
    let rounds = loading.iter().map(|e| draft.entry(*e).count).min()?;
    // Each worker needs a thread, and so does the script.
    let workers = WORKERS.min(draft.workload.program.cpu_threads.saturating_sub(1));
    if all <= 0.0 || workers == 0 {
        return None;
    }
    let each = all / rounds as f64;
    let rest = ((ctx.before.time?.p50 - ctx.before.parts.startup - all) / rounds as f64).max(0.0);
    let left = (each / f64::from(workers) - rest).max(HANDOVER).min(each) / each;
    let mut out = draft.clone();
    for &e in &loading {
        let entry = &mut out.workload.ops[e as usize];
        entry.cpu_ns = (entry.cpu_ns as f64 * left) as u64;
        entry.gap_ns = (entry.gap_ns as f64 * left) as u64;
    }
    let main = loading.iter().max_by(|a, b| spent(draft.entry(**a)).total_cmp(&spent(draft.entry(**b))))?;
    let site = draft.workload.sites.get(draft.entry(*main).site as usize)?.clone();
    Some(Change {
        title: format!(
            "Loading the batches of {} ahead, in {}",
            site.label(),
            words::several(u64::from(workers), "worker process", "worker processes")
        ),
        why: format!(
            "{} of loading before each of {} steps, while the GPU has nothing to do",
            words::seconds(each),
            words::count(rounds)
        ),
        draft: out,
        site: Some(site),
        patch: None,
        ready: Some(format!("DataLoader(…, num_workers={workers}, pin_memory=True, persistent_workers=True)")),
        risk: Some("workers take memory and start slowly; data that must come in one order needs care"),
    })
}
