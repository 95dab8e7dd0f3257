//! Batch small operations: a Python loop over the rows of an array becomes one call on the whole array.

use super::super::draft::{Draft, edit_loops_after, entries, is_array_work};
use super::super::source::{assignment, carries, operands, statements, without_sums};
use super::super::{Change, Context, Edit};
use super::{calls, elements};
use crate::estimate::Side;
use crate::interval::Z90;
use crate::report::words;
use crate::workload::op::Direction;
use crate::workload::{Entry, Op, Phase, Site, Step};

pub(super) const EDIT: Edit = Edit { id: "vectorise", sides: &[Side::Gpu, Side::Cpu], apply };

/// Rounds from which a loop over rows costs more in Python than it is worth.
const ROUNDS: u64 = 32;
/// A NumPy call however small, ns: what is left of the loop's calls.
pub(super) const CALL_NS: u64 = 1_000;

/// What the call on all rows writes at most, bytes: beyond, the rows go in blocks, which is another loop.
const LARGEST: u64 = 1 << 30;

fn apply<'a>(draft: &Draft<'a>, ctx: &Context, side: Side) -> Option<Change<'a>> {
    by_rows(draft, ctx).or_else(|| elements::apply(draft, ctx)).or_else(|| calls::apply(draft, ctx, side))
}

fn by_rows<'a>(draft: &Draft<'a>, ctx: &Context) -> Option<Change<'a>> {
    let mut out = draft.clone();
    // The loop that takes the most, as its line and how often it begins.
    let mut main: Option<((u32, u64), u64)> = None;
    // A loop that was watched in parts stands in the order in pieces, of the same entries.
    let (mut pieces, mut inside_any) = (Vec::new(), Vec::new());
    let steps = edit_loops_after(&draft.order, 1, &mut |begun, before, rounds, body| {
        let inside = entries(body);
        let whole = whole(&mut out, ctx, begun, before, rounds, body)?;
        let spent = inside.iter().map(|&e| out.entry(e));
        let spent = spent.fold(0_u64, |sum, e| sum.saturating_add(e.gap_ns).saturating_add(e.cpu_ns));
        let here = (out.entry(*inside.first()?).site, begun);
        pieces.push((here, rounds));
        if main.is_none_or(|(_, most)| spent > most) {
            main = Some((here, spent));
        }
        inside_any.extend(inside);
        Some(whole)
    });
    let (here, _) = main?;
    inside_any.sort_unstable();
    inside_any.dedup();
    let (mut spent_ns, mut modelled_ns) = (0.0, 0.0);
    for entry in inside_any.into_iter().map(|e| out.entry(e)) {
        spent_ns += entry.cpu_ns as f64 * ctx.question.host.cpu_scale;
        modelled_ns += ctx.cpu_seconds(entry) * 1e9 + (CALL_NS.saturating_mul(entry.count)) as f64;
    }
    out.reorder(steps)?;
    // Calls that took longer than the model says that such calls take were held up, by threads that wait for each other
    // on a busy machine: on a quiet one the loop may be faster, and the gain less.
    let now = ctx.question.cpu.time.p50;
    let quiet = (now - (spent_ns - modelled_ns) * 1e-9).clamp(0.01 * now, now);
    out.cpu_sigma = out.cpu_sigma.max(libm::log(now / quiet) / Z90);
    let site = draft.workload.sites.get(here.0 as usize)?.clone();
    let rounds = pieces.iter().filter(|(piece, _)| *piece == here).fold(0_u64, |sum, (_, n)| sum.saturating_add(*n));
    let rounds = words::count(rounds);
    Some(Change {
        title: format!("One call on all {rounds} rows instead of the loop of {}", site.loop_label()),
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

/// What does the work of all `rounds` at once; `None` where the loop is not one over rows, or hands something from round
/// to round, or cannot be told.
fn whole(
    out: &mut Draft,
    ctx: &Context,
    begun: u64,
    before: Option<u32>,
    rounds: u64,
    body: &[Step],
) -> Option<Vec<Step>> {
    if rounds < ROUNDS {
        return None;
    }
    let inside = entries(body);
    let trains = |&e: &u32| matches!(out.entry(e).phase, Some(Phase::Backward | Phase::Optimizer));
    let over_rows = inside.iter().any(|&e| takes_row(out.entry(e), rounds))
        || before.is_some_and(|e| goes_through(out, e, rounds, &inside))
        || goes_through_tensor(out, ctx, &inside)
        || inside.iter().any(|&e| sends_its_own(out, ctx, e, rounds, &inside))
        || (inside.iter().any(|&e| sets_part(out.entry(e), rounds)) && knows_no_other_names(&lines(out, &inside)));
    if inside.iter().any(trains) || !over_rows || !independent(out, &inside) {
        return None;
    }
    let steps = at_once(out, ctx, begun, rounds, body)?;
    let works = entries(&steps).iter().any(|&e| !matches!(out.entry(e).op, Op::View));
    works.then_some(steps)
}

/// `steps` for `rows` rows at once. A loop inside whose rounds need nothing of each other goes the same way.
fn at_once(out: &mut Draft, ctx: &Context, begun: u64, rows: u64, steps: &[Step]) -> Option<Vec<Step>> {
    let mut all = Vec::new();
    // Views since the last op: what they give by shape, and what it is part of, bytes an element left out.
    let mut parts: Vec<(String, u64)> = Vec::new();
    for step in steps {
        match step {
            Step::Repeat(rounds, body) if independent(out, &entries(body)) => {
                all.extend(at_once(out, ctx, begun, rows.checked_mul(*rounds)?, body)?);
            }
            Step::Repeat(rounds, body) => {
                all.push(Step::Repeat(*rounds, at_once(out, ctx, begun.checked_mul(*rounds)?, rows, body)?));
            }
            Step::Run(e) => {
                let entry = out.entry(*e);
                let new = of_all_rows(entry, ctx, begun, rows, &parts)?;
                match entry.op {
                    Op::View => parts.extend(part(entry)),
                    _ => parts.clear(),
                }
                all.extend(new.map(|new| Step::Run(out.add(new))));
            }
        }
    }
    Some(all)
}

/// The call on all rows; nothing where it only puts a row in its place. `None` where there is no such call.
fn of_all_rows(entry: &Entry, ctx: &Context, begun: u64, rows: u64, parts: &[(String, u64)]) -> Option<Option<Entry>> {
    let once = (entry.count.max(1) / (begun.max(1) * rows).max(1)).max(1);
    let (cpu_ns, gap_ns) = (entry.cpu_ns / once, entry.gap_ns / rows / once);
    if matches!(entry.op, Op::View) {
        return Some(Some(Entry { count: begun, cpu_ns: cpu_ns / rows, gap_ns, ..entry.clone() }));
    }
    if entry.name.ends_with("__setitem__") && matches!(entry.op, Op::Copy { .. }) {
        return Some(None);
    }
    let written_bytes = entry.written_bytes.checked_mul(rows).filter(|bytes| *bytes <= LARGEST)?;
    let mut new = Entry {
        op: widened(&entry.op, rows)?,
        count: begun,
        written_bytes,
        gap_ns,
        host_input_bytes: entry.host_input_bytes / once,
        host_input_count: (entry.host_input_count / rows).max(u64::from(entry.host_input_bytes > 0)),
        shapes: None,
        ..entry.clone()
    };
    new.read_bytes = read_by(entry, &new, rows).min(read_at_most(entry, rows, parts));
    let modelled = ((ctx.cpu_seconds(&new) * 1e9) as u64).saturating_add(CALL_NS.saturating_mul(begun));
    new.cpu_ns = modelled.min(cpu_ns);
    Some(Some(new))
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

/// `for row in a:`, which is noted as a view of `a` that gives no array. The loop's own lines must be in sight: what it
/// calls does not tell what it hands on.
fn goes_through(draft: &Draft, before: u32, rounds: u64, inside: &[u32]) -> bool {
    let entry = draft.entry(before);
    let rows = entry.shapes.as_deref().and_then(|s| s.strip_suffix(" ->")?.strip_prefix('[')?.split(',').next());
    let sites = &draft.workload.sites;
    let head = sites.get(entry.site as usize);
    let below = |e: &u32| {
        let site = sites.get(draft.entry(*e).site as usize).zip(head);
        site.is_some_and(|(site, head)| {
            let comprehension = site.line == head.line && site.function.ends_with("comp>");
            site.file == head.file && (site.function == head.function || comprehension)
        })
    };
    matches!(entry.op, Op::View)
        && rows.and_then(|rows| rows.parse().ok()).is_some_and(|rows: u64| rows == rounds || rows == rounds + 1)
        && inside.iter().all(below)
}

/// `for row in tensor:`, which PyTorch has all rows made for at once: as many as an op of the round, which takes such a row,
/// ran in all, however many pieces the loop stands in the order in. The end of the loop may have begun another round.
fn goes_through_tensor(draft: &Draft, ctx: &Context, inside: &[u32]) -> bool {
    let workload = ctx.question.workload;
    let rows = workload.ops.iter().filter(|e| matches!(e.op, Op::View) && e.name == "aten.unbind" && e.count == 1);
    rows.filter_map(|e| {
        let (first, rest) = e.shapes.as_deref()?.strip_prefix('[')?.split_once(']')?.0.split_once(',')?;
        Some((first.parse::<u64>().ok()?, format!("[{rest}]")))
    })
    .any(|(rows, row)| {
        inside.iter().map(|&e| draft.entry(e)).any(|e| {
            let takes = e.shapes.as_deref().is_some_and(|shapes| shapes.split(' ').next() == Some(row.as_str()));
            takes && (rows..=rows.saturating_add(1)).contains(&e.count)
        })
    })
}

/// Whether the lines of a round say that it needs nothing from the round before, but for a sum of what all give. They
/// stand in one function, so that all assignments among them are in sight.
fn independent(draft: &Draft, inside: &[u32]) -> bool {
    let site = |&e: &u32| draft.workload.sites.get(draft.entry(e).site as usize);
    let sites: Vec<_> = inside.iter().filter_map(site).collect();
    let Some(first) = sites.first() else { return false };
    // Rows of a dataframe are another matter: see `columns`.
    let plain = |s: &&Site| !s.via.as_deref().is_some_and(|via| via.starts_with("pandas."));
    sites.iter().all(|s| (&s.file, &s.function) == (&first.file, &first.function) && plain(s))
        && carries(&without_sums(&lines(draft, inside))) == Some(false)
}

/// The statements of a round, from the first line to the last.
fn lines<'d>(draft: &'d Draft, inside: &[u32]) -> Vec<&'d str> {
    let site = |&e: &u32| draft.workload.sites.get(draft.entry(e).site as usize);
    let mut lines: Vec<(u32, &str)> = inside.iter().filter_map(site).map(|s| (s.line, s.text.as_str())).collect();
    lines.sort_unstable();
    lines.dedup();
    lines.into_iter().flat_map(|(_, text)| statements(text)).collect()
}

/// `s.to(device)` for each `s` of a list: as many arrays of that size were made on the host before the loop.
fn sends_its_own(draft: &Draft, ctx: &Context, entry: u32, rounds: u64, inside: &[u32]) -> bool {
    let Op::Transfer { direction: Direction::H2d, bytes, .. } = draft.entry(entry).op else { return false };
    let workload = ctx.question.workload;
    let before = |made_by: u32| {
        !inside.contains(&made_by) && workload.ops.get(made_by as usize).is_some_and(|e| e.device.is_none())
    };
    let own = workload.buffers.iter().filter(|b| b.bytes == bytes && b.producer.is_some_and(before));
    own.map(|b| b.count).fold(0, u64::saturating_add) >= rounds
}

/// `out[i, j] = …` in as many rounds as the array has such parts: each is set once.
fn sets_part(entry: &Entry, rounds: u64) -> bool {
    let Op::Copy { n, .. } = entry.op else { return false };
    let whole = entry.shapes.as_deref().and_then(|shapes| elements(shapes.split(' ').next()?));
    let parts = whole.map(|whole| whole / n.max(1));
    entry.name.ends_with("ndarray.__setitem__") && parts.is_some_and(|parts| parts == rounds || parts == rounds + 1)
}

/// Whether the lines read nothing but parts of arrays and what they have set themselves, and call nothing but functions
/// of modules: any other name may be changed, and any other function may do what it likes, without arrays, and nobody
/// would have recorded that.
fn knows_no_other_names(lines: &[&str]) -> bool {
    let mut set: Vec<&str> = Vec::new();
    let mut parts = false;
    for line in lines {
        let (target, _, value) = assignment(line).unwrap_or(("", "", line));
        let called = |before: &str| {
            let name = before.rsplit(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '.'))).next();
            name.is_none_or(|name| name.is_empty() || name.contains('.') || matches!(name, "float" | "abs"))
        };
        let mut calls = value.split('(').collect::<Vec<_>>();
        calls.pop();
        if !calls.into_iter().all(called) {
            return false;
        }
        for operand in operands(value) {
            let own = set.contains(&operand.as_str());
            if !own && !operand.ends_with(']') {
                return false;
            }
            parts |= !own;
        }
        set.push(target);
    }
    parts
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
        Op::Copy { n, strided, inputs, run } => Op::Copy { n: more(n)?, strided, inputs, run },
        Op::Fft { kind, n, batch } => Op::Fft { kind, n, batch: more(batch)? },
        Op::Factor { kind, m, n, rhs, batch } => Op::Factor { kind, m, n, rhs, batch: more(batch)? },
        Op::HostRead { bytes } => Op::HostRead { bytes: more(bytes)? },
        Op::Transfer { direction, bytes, pinned, asynchronous } => {
            Op::Transfer { direction, bytes: more(bytes)?, pinned, asynchronous }
        }
        _ => return None,
    })
}

/// What a view gives, by shape, and how many elements it is taken from.
fn part(view: &Entry) -> Option<(String, u64)> {
    let (from, to) = view.shapes.as_deref()?.split_once(" -> ")?;
    Some((to.to_owned(), elements(from)?))
}

/// `[20000,8]`: 160 000.
pub(super) fn elements(shape: &str) -> Option<u64> {
    let sizes = shape.strip_prefix('[')?.strip_suffix(']')?;
    let mut all = sizes.split(',').filter(|size| !size.is_empty()).map(str::parse::<u64>);
    all.try_fold(1_u64, |product, size| product.checked_mul(size.ok()?))
}

/// Bytes of the arrays that an element-wise call has its inputs from: rows that several rounds take are read once.
fn read_at_most(entry: &Entry, rows: u64, parts: &[(String, u64)]) -> u64 {
    let inputs = entry.shapes.as_deref().and_then(|s| s.split_once(" ->")).map(|(inputs, _)| inputs);
    let (Op::Elementwise { .. }, Some(inputs)) = (&entry.op, inputs) else { return u64::MAX };
    let mut left: Vec<_> = parts.iter().collect();
    let of = |input: &str| match left.iter().position(|(shape, _)| shape == input) {
        Some(i) => Some(left.swap_remove(i).1),
        None => elements(input)?.checked_mul(rows),
    };
    let all: Option<Vec<u64>> = inputs.split(' ').map(of).collect();
    let all = all.unwrap_or_else(|| vec![u64::MAX]);
    all.into_iter().fold(0, u64::saturating_add).saturating_mul(entry.dtype.bytes())
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
