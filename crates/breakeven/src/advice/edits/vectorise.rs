//! Batch small operations: a Python loop over the rows of an array becomes one call on the whole array.

use super::super::draft::{Draft, edit_loops, is_array_work};
use super::super::source::carries;
use super::super::{Change, Context, Edit};
use crate::estimate::Side;
use crate::report::words;
use crate::workload::{Entry, Op, Phase, Step};

pub(super) const EDIT: Edit = Edit { id: "vectorise", sides: &[Side::Gpu, Side::Cpu], apply };

/// Rounds from which a loop over rows costs more in Python than it is worth.
const ROUNDS: u64 = 32;
/// A NumPy call however small, ns: what is left of the loop's calls.
const CALL_NS: u64 = 1_000;

fn apply<'a>(draft: &Draft<'a>, ctx: &Context, _: Side) -> Option<Change<'a>> {
    let mut out = draft.clone();
    let mut main: Option<(u32, u64, usize)> = None;
    let steps = edit_loops(&draft.order, 1, &mut |begun, rounds, body| {
        let whole = whole(draft, ctx, begun, rounds, body)?;
        let spent = body.iter().filter_map(run).map(|e| draft.entry(e));
        let spent = spent.fold(0_u64, |sum, e| sum.saturating_add(e.gap_ns).saturating_add(e.cpu_ns));
        if main.is_none_or(|(_, most, _)| spent > most) {
            main = body.iter().filter_map(run).next().map(|e| (draft.entry(e).site, spent, rounds as usize));
        }
        Some(whole.into_iter().map(|entry| Step::Run(out.add(entry))).collect())
    });
    let (site, _, rounds) = main?;
    out.reorder(steps)?;
    let site = draft.workload.sites.get(site as usize)?.clone();
    Some(Change {
        title: format!("One call on all {} rows instead of the loop of {}", words::count(rounds as u64), site.label()),
        why: "the loop takes one row after the other, and no row needs the one before".to_owned(),
        ready: Some(
            "# the same expression on the whole array; matmul, bmm and vmap take a leading batch axis".to_owned(),
        ),
        draft: out,
        site: Some(site),
        patch: None,
        risk: Some("only if the rounds do not depend on each other; the results of all rows are in memory at once"),
    })
}

fn run(step: &Step) -> Option<u32> {
    if let Step::Run(e) = step { Some(*e) } else { None }
}

/// The entries that do the work of all `rounds` at once; `None` where the loop is not one over rows, or hands something
/// from round to round, or cannot be told.
fn whole(draft: &Draft, ctx: &Context, begun: u64, rounds: u64, body: &[Step]) -> Option<Vec<Entry>> {
    if rounds < ROUNDS {
        return None;
    }
    let inside: Vec<u32> = body.iter().map(run).collect::<Option<_>>()?;
    let entries: Vec<&Entry> = inside.iter().map(|&e| draft.workload.ops.get(e as usize)).collect::<Option<_>>()?;
    let trains = entries.iter().any(|e| matches!(e.phase, Some(Phase::Backward | Phase::Optimizer)));
    if trains || !entries.iter().any(|e| takes_row(e, rounds)) || !independent(draft, &entries) {
        return None;
    }
    let mut out = Vec::new();
    for entry in entries {
        let row_only = matches!(entry.op, Op::View)
            || (entry.name.ends_with("__setitem__") && matches!(entry.op, Op::Copy { .. }));
        if row_only {
            continue;
        }
        let op = widened(&entry.op, rounds)?;
        let once = entry.count.max(1) / (begun.max(1) * rounds).max(1);
        let mut new = Entry {
            op,
            count: begun,
            written_bytes: entry.written_bytes.saturating_mul(rounds),
            gap_ns: entry.gap_ns / rounds / once.max(1),
            host_input_bytes: entry.host_input_bytes / once.max(1),
            host_input_count: (entry.host_input_count / rounds).max(u64::from(entry.host_input_bytes > 0)),
            shapes: None,
            ..entry.clone()
        };
        new.read_bytes = read_by(entry, &new, rounds);
        let was = Entry { cpu_ns: entry.cpu_ns / once.max(1), count: begun.saturating_mul(rounds), ..entry.clone() };
        let modelled = ((ctx.cpu_seconds(&new) * 1e9) as u64).saturating_add(CALL_NS.saturating_mul(begun));
        new.cpu_ns = modelled.min(was.cpu_ns);
        out.push(new);
    }
    (!out.is_empty()).then_some(out)
}

/// `[5000,64] -> [64]` or `-> [1,64]`: a row of as many as there are rounds.
fn takes_row(entry: &Entry, rounds: u64) -> bool {
    let Some((from, to)) = entry.shapes.as_deref().and_then(|s| s.split_once(" -> ")) else { return false };
    let Some((first, rest)) = from.trim_matches(['[', ']']).split_once(',') else { return false };
    let to = to.trim_matches(['[', ']']);
    matches!(entry.op, Op::View)
        && ["__getitem__", "aten.select", "aten.slice"].iter().any(|name| entry.name.ends_with(name))
        // The last round may stand apart from the others.
        && first.parse().is_ok_and(|rows: u64| rows == rounds || rows == rounds + 1)
        && to.strip_prefix("1,").unwrap_or(to) == rest
}

/// Whether the lines of a round say that it needs nothing from the round before. They stand in one function, so that
/// all assignments among them are in sight.
fn independent(draft: &Draft, entries: &[&Entry]) -> bool {
    let sites: Vec<_> = entries.iter().filter_map(|e| draft.workload.sites.get(e.site as usize)).collect();
    let Some(first) = sites.first() else { return false };
    let mut lines: Vec<(u32, &str)> = sites.iter().map(|s| (s.line, s.text.as_str())).collect();
    lines.sort_unstable();
    lines.dedup();
    let lines: Vec<&str> = lines.into_iter().map(|(_, text)| text).collect();
    sites.iter().all(|s| (&s.file, &s.function) == (&first.file, &first.function)) && carries(&lines) == Some(false)
}

/// The op on `rows` times as many rows.
fn widened(op: &Op, rows: u64) -> Option<Op> {
    let more = |n: u64| n.checked_mul(rows);
    Some(match *op {
        Op::Matmul { m: 1, n, k, batch: 1, bias } => Op::Matmul { m: rows, n, k, batch: 1, bias },
        Op::Matmul { m, n, k, batch, bias } => Op::Matmul { m, n, k, batch: more(batch)?, bias },
        Op::Elementwise { n, inputs, flop_per_element, transcendental } => {
            Op::Elementwise { n: more(n)?, inputs, flop_per_element, transcendental }
        }
        Op::Reduce { n, out, flop_per_element } => Op::Reduce { n: more(n)?, out: more(out.max(1))?, flop_per_element },
        Op::Rowwise { kind, pass, rows: r, width } => Op::Rowwise { kind, pass, rows: more(r)?, width },
        Op::Scan { rows: r, width } => Op::Scan { rows: more(r)?, width },
        Op::Sort { kind, rows: r, width } => Op::Sort { kind, rows: more(r)?, width },
        Op::Copy { n, strided, inputs } => Op::Copy { n: more(n)?, strided, inputs },
        Op::Fft { kind, n, batch } => Op::Fft { kind, n, batch: more(batch)? },
        Op::Factor { kind, m, n, rhs, batch } => Op::Factor { kind, m, n, rhs, batch: more(batch)? },
        Op::HostRead { bytes } => Op::HostRead { bytes: more(bytes)? },
        _ => return None,
    })
}

/// Bytes that the call on all rows reads: a matrix that all rows share is read once, the rest `rows` times.
fn read_by(entry: &Entry, new: &Entry, rows: u64) -> u64 {
    match entry.op {
        Op::Matmul { m: 1, n, k, batch: 1, .. } => {
            let shared = n.saturating_mul(k).saturating_mul(entry.dtype.bytes()).min(entry.read_bytes);
            (entry.read_bytes - shared).saturating_mul(rows).saturating_add(shared)
        }
        _ if is_array_work(&new.op) || matches!(new.op, Op::HostRead { .. }) => entry.read_bytes.saturating_mul(rows),
        _ => entry.read_bytes,
    }
}
