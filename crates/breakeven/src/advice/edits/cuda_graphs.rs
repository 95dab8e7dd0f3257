//! CUDA graphs: the launches of a loop's round are recorded once and then handed over all at once.

use super::super::draft::{Draft, edit_loops, entries, is_array_work};
use super::super::{Change, Context, Edit};
use crate::estimate::Side;
use crate::port;
use crate::report::words;
use crate::workload::{Entry, InGraph, Lines, Op, Phase, Step};

pub(super) const EDIT: Edit = Edit { id: "cuda-graphs", sides: &[Side::Gpu], apply };

/// Rounds from which recording a graph is worth it.
const ROUNDS: u64 = 50;
/// Launches of a round from which a graph is less to hand over than they are.
const LAUNCHES: usize = 4;
/// Warming up and recording, s: assumed.
const CAPTURE: f64 = 0.3;
/// The call that hands a graph over.
const REPLAY: &str = "torch.cuda.CUDAGraph.replay";

fn apply<'a>(draft: &Draft<'a>, _: &Context, _: Side) -> Option<Change<'a>> {
    let mut out = draft.clone();
    let mut nodes: Vec<u32> = Vec::new();
    let mut main: Option<(u64, usize, u32)> = None;
    let lines = Lines::new(&draft.workload.ops);
    let order = edit_loops(&draft.order, 1, &mut |_, rounds, body| {
        // Loading the next batch stays outside of the graph.
        let inside: Vec<u32> = entries(body)
            .into_iter()
            .filter(|&e| draft.workload.ops.get(e as usize).is_none_or(|e| !loads(e)))
            .collect();
        let is_known = |e: &u32| (*e as usize) < draft.workload.ops.len();
        // A loop within that is a graph already.
        if !inside.iter().all(is_known) {
            return None;
        }
        let first = inside.iter().find(|&&e| is_array_work(&draft.entry(e).op))?;
        let launches = inside.iter().filter(|&&e| is_array_work(&draft.entry(e).op)).count();
        let total = lines.rounds(body);
        if total < ROUNDS || launches < LAUNCHES || !inside.iter().all(|&e| capturable(draft, e)) {
            return None;
        }
        // Work that also runs elsewhere keeps its own launches there; a few runs outside (the first round) do not matter.
        let mine = |e: &&u32| {
            draft.entry(**e).count <= total.saturating_mul(runs_of(body, **e)).saturating_add(total / 50 + 8)
        };
        let own: Vec<u32> = inside.iter().filter(mine).copied().collect();
        if own.is_empty() {
            return None;
        }
        nodes.extend(own);
        if main.is_none_or(|(most, ..)| total > most) {
            main = Some((total, launches, draft.entry(*first).site));
        }
        let launch = out.add(launch(draft.entry(*first), total));
        Some(vec![Step::Repeat(rounds, [&[Step::Run(launch)], body].concat())])
    });
    let (rounds, launches, site) = main?;
    for node in nodes {
        out.workload.ops[node as usize].graph = Some(InGraph::Node);
    }
    out.reorder(order)?;
    out.once += CAPTURE;
    let site = draft.workload.sites.get(site as usize)?.clone();
    Some(Change {
        title: format!("Replaying the {launches} launches of each round at {} as a CUDA graph", site.label()),
        why: format!(
            "{} rounds hand over the same {launches} launches one by one, and Python decides nothing in between",
            words::count(rounds)
        ),
        draft: out,
        site: Some(site),
        patch: None,
        ready: Some(
            "step = torch.compile(step, mode=\"reduce-overhead\")  # or torch.cuda.graph, warmed up".to_owned(),
        ),
        risk: Some("shapes and addresses must stay the same; an optimizer needs capturable=True"),
    })
}

fn loads(entry: &Entry) -> bool {
    entry.phase == Some(Phase::Data)
}

/// The call that hands over, `times` times, the graph whose first node is `first`.
fn launch(first: &Entry, times: u64) -> Entry {
    Entry {
        name: REPLAY.to_owned(),
        op: Op::View,
        count: times,
        read_bytes: 0,
        written_bytes: 0,
        cpu_ns: 0,
        gap_ns: 0,
        host_input_bytes: 0,
        host_input_count: 0,
        kernels: 0,
        shapes: None,
        layout: None,
        graph: Some(InGraph::Launch),
        ..first.clone()
    }
}

/// What may stand in a graph: kernels of PyTorch's, and views and counters that cost nothing once it is recorded.
fn capturable(draft: &Draft, entry: u32) -> bool {
    let e = draft.entry(entry);
    let work = is_array_work(&e.op) || matches!(e.op, Op::View);
    // What the script does already is no advice.
    let single = e.graph.is_none();
    single && ((work && port::of(&e.name).name == "torch") || e.name == "torch.host_scalar")
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
