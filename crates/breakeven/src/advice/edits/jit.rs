//! `jax.jit` and `tf.function`: operations that a loop calls one by one become one call of a compiled function.
//!
//! Only the calls are saved: what XLA fuses comes on top, and is not counted, because which results of a round are used
//! after it is not known.

use super::super::draft::{Draft, edit_loops};
use super::super::{Change, Context, Edit};
use super::fuse::widen;
use crate::estimate::Side;
use crate::report::words;
use crate::workload::op::Part;
use crate::workload::{Entry, Op, Step};

pub(super) const EDIT: Edit = Edit { id: "jit", sides: &[Side::Gpu], apply };

/// Rounds from which compiling is worth it.
const ROUNDS: u64 = 20;

fn apply<'a>(draft: &Draft<'a>, _: &Context, _: Side) -> Option<Change<'a>> {
    let mut out = draft.clone();
    let mut main: Option<(u64, usize, u32)> = None;
    let order = edit_loops(&draft.order, 1, &mut |begun, rounds, body| {
        let total = begun.saturating_mul(rounds);
        if total < ROUNDS {
            return None;
        }
        let (mut steps, mut row, mut changed) = (Vec::with_capacity(body.len()), Vec::new(), false);
        let mut close = |row: &mut Vec<u32>, steps: &mut Vec<Step>| {
            if row.len() > 1 && row.iter().any(|&e| is_eager(draft.entry(e))) {
                changed = true;
                if main.is_none_or(|(most, calls, _)| total * row.len() as u64 > most * calls as u64) {
                    main = Some((total, row.len(), draft.entry(row[0]).site));
                }
                steps.push(Step::Run(out.add(one_call(draft, row, total))));
            } else {
                steps.extend(row.iter().map(|&e| Step::Run(e)));
            }
            row.clear();
        };
        for step in body {
            match step {
                Step::Run(e) if draft.workload.ops.get(*e as usize).is_some_and(joins) => row.push(*e),
                other => {
                    close(&mut row, &mut steps);
                    steps.push(other.clone());
                }
            }
        }
        close(&mut row, &mut steps);
        changed.then(|| vec![Step::Repeat(rounds, steps)])
    });
    let (rounds, calls, site) = main?;
    out.reorder(order)?;
    let site = draft.workload.sites.get(site as usize)?.clone();
    let of_jax = out.workload.ops.iter().any(|entry| entry.name == JAX);
    Some(Change {
        title: format!(
            "Compiling the {calls} operations of each round at {} with {}",
            site.label(),
            if of_jax { "jax.jit" } else { "tf.function" }
        ),
        why: format!(
            "{} rounds call them one by one, each with a dispatch of its own; kernels that XLA then fuses are not counted",
            words::count(rounds)
        ),
        draft: out,
        site: Some(site),
        patch: None,
        ready: Some(if of_jax {
            "@jax.jit  # on a function of what a round computes: it takes the arrays and gives the new ones".to_owned()
        } else {
            "@tf.function  # on a function of what a round computes; jit_compile=True has XLA fuse it".to_owned()
        }),
        risk: Some(
            "values that Python looks at (`if x > 0`) must become lax.cond, jnp.where or tf.cond; shapes must stay",
        ),
    })
}

const JAX: &str = "jax.jit";
const TENSORFLOW: &str = "tensorflow.function";

/// Whether an operation is called by itself, with a dispatch of its own.
fn is_eager(entry: &Entry) -> bool {
    entry.name == "jax.eager" || (entry.name.starts_with("tensorflow.") && entry.name != TENSORFLOW)
}

/// What may be part of a compiled function: known work on the device.
fn joins(entry: &Entry) -> bool {
    (entry.name == JAX || entry.name == TENSORFLOW || is_eager(entry))
        && !matches!(entry.op, Op::Opaque | Op::Transfer { .. } | Op::HostRead { .. } | Op::Synchronise)
}

/// One call of a function that does what these do, `times` times.
fn one_call(draft: &Draft, row: &[u32], times: u64) -> Entry {
    let entries: Vec<&Entry> = row.iter().map(|&e| draft.entry(e)).collect();
    let each = |of: u64, entry: &Entry| of as f64 / entry.count.max(1) as f64;
    let sum = |of: &dyn Fn(&Entry) -> u64| entries.iter().map(|entry| each(of(entry), entry)).sum::<f64>() as u64;
    let mut made = Entry {
        name: if entries[0].name.starts_with("jax.") { JAX } else { TENSORFLOW }.to_owned(),
        op: Op::Routine { parts: entries.iter().flat_map(|entry| parts(entry)).collect() },
        count: 1,
        cpu_ns: sum(&|entry| entry.cpu_ns),
        gap_ns: sum(&|entry| entry.gap_ns),
        host_input_bytes: sum(&|entry| entry.host_input_bytes),
        host_input_count: sum(&|entry| entry.host_input_count),
        kernels: 0,
        shapes: None,
        layout: None,
        ..entries[0].clone()
    };
    widen(&mut made, times);
    made
}

/// What one run of an entry is made of.
pub(super) fn parts(entry: &Entry) -> Vec<Part> {
    match &entry.op {
        Op::Routine { parts } => parts.clone(),
        Op::View => Vec::new(),
        op => vec![Part {
            read_bytes: entry.read_bytes,
            written_bytes: entry.written_bytes,
            ..Part::new(op.clone(), entry.dtype, 1)
        }],
    }
}
