//! A larger batch: fewer steps with more in each, as long as the memory lasts.

use super::super::draft::{Draft, edit_loops, entries};
use super::super::{Change, Context, Edit};
use crate::estimate::Side;
use crate::estimate::gpu::device_bytes;
use crate::port;
use crate::report::words;
use crate::workload::{Entry, Op, Phase, Step};
use std::collections::BTreeMap;

pub(super) const EDIT: Edit = Edit { id: "larger-batch", sides: &[Side::Gpu], apply };

const ROUNDS: u64 = 20;
/// How many times as large: a change that most trainings bear with an adapted learning rate.
const TIMES: u64 = 4;
/// Share of the device memory that the larger batch may take.
const MEMORY: f64 = 0.8;

fn apply<'a>(draft: &Draft<'a>, ctx: &Context, _: Side) -> Option<Change<'a>> {
    let need = device_bytes(&draft.workload, draft.policy) * TIMES as f64;
    let batch = batch_of(draft)?;
    if need > ctx.device.memory.get() * MEMORY {
        return None;
    }
    let mut out = draft.clone();
    let mut main: Option<(u64, u32)> = None;
    let mut larger: BTreeMap<u32, u32> = BTreeMap::new();
    let steps = edit_loops(&draft.order, 1, &mut |begun, rounds, body| {
        let inside: Vec<u32> = entries(body);
        if inside.iter().any(|&e| e as usize >= draft.workload.ops.len()) {
            return None;
        }
        let trains = inside
            .iter()
            .any(|&e| draft.workload.ops.get(e as usize).is_some_and(|e| e.phase == Some(Phase::Backward)));
        if rounds < ROUNDS || !trains {
            return None;
        }
        for &e in &inside {
            let entry = draft.entry(e);
            if let Some(op) = scaled(entry, batch) {
                let by = |n: u64| n.saturating_mul(TIMES);
                let new = Entry {
                    op,
                    read_bytes: by(entry.read_bytes),
                    written_bytes: by(entry.written_bytes),
                    shapes: None,
                    ..entry.clone()
                };
                larger.entry(e).or_insert_with(|| out.add(new));
            }
        }
        let site = inside.iter().map(|&e| draft.entry(e)).find(|e| e.phase == Some(Phase::Forward))?.site;
        if main.is_none_or(|(most, _)| begun * rounds > most) {
            main = Some((begun * rounds, site));
        }
        let body = swapped(body, &larger);
        Some(vec![Step::Repeat(rounds.div_ceil(TIMES), body)])
    });
    let (rounds, site) = main?;
    out.workload.program.peak_bytes = out.workload.program.peak_bytes.saturating_mul(TIMES);
    out.workload.program.device_peak_bytes = out.workload.program.device_peak_bytes.saturating_mul(TIMES);
    out.reorder(steps)?;
    let site = draft.workload.sites.get(site as usize)?.clone();
    Some(Change {
        title: format!("A batch of {} instead of {batch} at {}", batch * TIMES, site.label()),
        why: format!("{} steps are too small to keep the GPU busy", words::count(rounds)),
        draft: out,
        site: Some(site),
        patch: None,
        ready: Some(format!("batch_size = {}  # and the learning rate to match", batch * TIMES)),
        risk: Some("fewer, larger steps can train differently: adapt the learning rate, watch the loss"),
    })
}

/// The commonest leading dimension of the products of a forward pass.
fn batch_of(draft: &Draft) -> Option<u64> {
    let mut seen: BTreeMap<u64, u64> = BTreeMap::new();
    for e in draft.workload.ops.iter().filter(|e| e.phase == Some(Phase::Forward) && port::of(&e.name).name == "torch")
    {
        let rows = match e.op {
            Op::Matmul { m, batch: 1, .. } => m,
            Op::Convolution { batch, .. } | Op::Attention { batch, .. } => batch,
            _ => continue,
        };
        *seen.entry(rows).or_default() += e.count;
    }
    seen.into_iter().filter(|(rows, _)| *rows > 1).max_by_key(|(_, count)| *count).map(|(rows, _)| rows)
}

/// The op on a batch [`TIMES`] as large; `None` where the batch is not among its dims.
fn scaled(entry: &Entry, size: u64) -> Option<Op> {
    if entry.phase == Some(Phase::Optimizer) {
        return None;
    }
    let leads =
        entry.shapes.as_deref().is_some_and(|s| s.contains(&format!("[{size},")) || s.contains(&format!("[{size}]")));
    let more = |n: u64| n.saturating_mul(TIMES);
    match entry.op.clone() {
        Op::Matmul { m, n, k, batch, bias } if m == size => Some(Op::Matmul { m: more(m), n, k, batch, bias }),
        Op::Matmul { m, n, k, batch, bias } if k == size => Some(Op::Matmul { m, n, k: more(k), batch, bias }),
        Op::Convolution { pass, batch, cin, cout, groups, input, kernel, output } if batch == size => {
            Some(Op::Convolution { pass, batch: more(batch), cin, cout, groups, input, kernel, output })
        }
        Op::Attention { pass, batch, heads, q_len, kv_len, head_dim, causal } if batch == size => {
            Some(Op::Attention { pass, batch: more(batch), heads, q_len, kv_len, head_dim, causal })
        }
        Op::Elementwise { n, inputs, flop_per_element, transcendental } if leads && n % size == 0 => {
            Some(Op::Elementwise { n: more(n), inputs, flop_per_element, transcendental })
        }
        Op::Reduce { n, out, flop_per_element } if leads && n % size == 0 => {
            Some(Op::Reduce { n: more(n), out, flop_per_element })
        }
        Op::Rowwise { kind, pass, rows, width } if leads && rows % size == 0 => {
            Some(Op::Rowwise { kind, pass, rows: more(rows), width })
        }
        Op::Copy { n, strided, inputs } if leads && n % size == 0 => Some(Op::Copy { n: more(n), strided, inputs }),
        Op::Transfer { direction, bytes, pinned, asynchronous } if leads => {
            Some(Op::Transfer { direction, bytes: more(bytes), pinned, asynchronous })
        }
        Op::Random { kind, n } if leads && n % size == 0 => Some(Op::Random { kind, n: more(n) }),
        _ => None,
    }
}

fn swapped(body: &[Step], new: &BTreeMap<u32, u32>) -> Vec<Step> {
    let swap = |step: &Step| match step {
        Step::Run(e) => Step::Run(*new.get(e).unwrap_or(e)),
        Step::Repeat(n, inner) => Step::Repeat(*n, swapped(inner, new)),
    };
    body.iter().map(swap).collect()
}
