//! CUDA graphs: the launches of a loop's round are recorded once and then handed over all at once.

use super::super::draft::{Draft, edit_loops, entries, is_array_work};
use super::super::{Change, Context, Edit};
use crate::estimate::Side;
use crate::port;
use crate::report::words;
use crate::workload::{Op, Phase, Step};

pub(super) const EDIT: Edit = Edit { id: "cuda-graphs", sides: &[Side::Gpu], apply };

/// Rounds from which recording a graph is worth it.
const ROUNDS: u64 = 50;
/// Launches of a round from which a graph is less to hand over than they are.
const LAUNCHES: usize = 4;
/// Handing over one graph, s: assumed, a few launches' worth.
const REPLAY: f64 = 15e-6;
/// Warming up and recording, s: assumed.
const CAPTURE: f64 = 0.3;

fn apply<'a>(draft: &Draft<'a>, _: &Context, _: Side) -> Option<Change<'a>> {
    // What the script does already is no advice.
    if draft.replays { None } else { replayed(draft) }
}

/// The program with its loops replayed.
pub(in crate::advice) fn replayed<'a>(draft: &Draft<'a>) -> Option<Change<'a>> {
    let mut replayed: Vec<(u32, f64)> = Vec::new();
    let mut main: Option<(u64, usize, u32)> = None;
    edit_loops(&draft.order, 1, &mut |begun, rounds, body| {
        // Loading the next batch stays outside of the graph.
        let inside: Vec<u32> =
            entries(body).into_iter().filter(|&e| draft.entry(e).phase != Some(Phase::Data)).collect();
        let launches = inside.iter().filter(|&&e| is_array_work(&draft.entry(e).op)).count();
        if rounds < ROUNDS || launches < LAUNCHES || !inside.iter().all(|&e| capturable(draft, e)) {
            return None;
        }
        let total = begun.saturating_mul(rounds);
        // Work that also runs elsewhere keeps its own launches there; a few runs outside (the first round) do not matter.
        let mine = |e: &&u32| {
            draft.entry(**e).count <= total.saturating_mul(runs_of(body, **e)).saturating_add(total / 50 + 8)
        };
        let share = REPLAY / runs_in(body).max(1) as f64;
        replayed.extend(inside.iter().filter(mine).map(|&e| (e, share)));
        let site = inside.iter().find(|&&e| is_array_work(&draft.entry(e).op)).map(|&e| draft.entry(e).site)?;
        if main.is_none_or(|(most, ..)| total > most) {
            main = Some((total, launches, site));
        }
        None
    });
    let (rounds, launches, site) = main?;
    replayed.sort_unstable_by_key(|r| r.0);
    replayed.dedup_by_key(|r| r.0);
    let site = draft.workload.sites.get(site as usize)?.clone();
    Some(Change {
        title: format!("Replaying the {launches} launches of each round at {} as a CUDA graph", site.label()),
        why: format!(
            "{} rounds hand over the same {launches} launches one by one, and Python decides nothing in between",
            words::count(rounds)
        ),
        draft: Draft { replayed, once: draft.once + CAPTURE, ..draft.clone() },
        site: Some(site),
        patch: None,
        ready: Some(
            "step = torch.compile(step, mode=\"reduce-overhead\")  # or torch.cuda.graph, warmed up".to_owned(),
        ),
        risk: Some("shapes and addresses must stay the same; an optimizer needs capturable=True"),
    })
}

/// What may stand in a graph: kernels of PyTorch's, and views and counters that cost nothing once it is recorded.
fn capturable(draft: &Draft, entry: u32) -> bool {
    let e = draft.entry(entry);
    let work = is_array_work(&e.op) || matches!(e.op, Op::View);
    (work && port::of(&e.name).name == "torch") || e.name == "torch.host_scalar"
}

/// How often an entry runs in one round.
fn runs_of(body: &[Step], entry: u32) -> u64 {
    body.iter()
        .map(|s| match s {
            Step::Run(e) => u64::from(*e == entry),
            Step::Repeat(n, inner) => n.saturating_mul(runs_of(inner, entry)),
        })
        .sum()
}

/// How many entries run in one round.
fn runs_in(body: &[Step]) -> u64 {
    body.iter()
        .map(|s| match s {
            Step::Run(_) => 1,
            Step::Repeat(n, inner) => n.saturating_mul(runs_in(inner)),
        })
        .sum()
}
