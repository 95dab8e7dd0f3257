//! `lax.scan`: a Python loop that calls one compiled function of JAX after the other becomes one call.

use super::super::draft::{Draft, edit_loops};
use super::super::{Change, Context, Edit};
use super::jit::parts;
use crate::estimate::Side;
use crate::report::words;
use crate::workload::op::Part;
use crate::workload::{Entry, Op, Step};

pub(super) const EDIT: Edit = Edit { id: "scan", sides: &[Side::Gpu], apply };

/// Rounds from which that is worth it.
const ROUNDS: u64 = 50;
/// Calls of a round: beyond so many it is no loop that a person would move into one function.
const CALLS: usize = 16;
/// Python between two calls from which on it does more than hand arrays on, ns a call.
const BETWEEN_NS: u64 = 100_000;

fn apply<'a>(draft: &Draft<'a>, _: &Context, _: Side) -> Option<Change<'a>> {
    let mut out = draft.clone();
    let mut main: Option<(u64, u32)> = None;
    let order = edit_loops(&draft.order, 1, &mut |begun, rounds, body| {
        let calls: Vec<&Entry> = body.iter().map_while(|step| call(draft, step)).collect();
        if rounds < ROUNDS || calls.len() != body.len() || calls.len() > CALLS || calls.is_empty() {
            return None;
        }
        let total = begun.saturating_mul(rounds);
        if main.is_none_or(|(most, _)| total > most) {
            main = Some((total, calls[0].site));
        }
        let whole: Vec<Part> = calls
            .iter()
            .flat_map(|entry| parts(entry))
            .map(|part| Part { count: part.count.saturating_mul(rounds), ..part })
            .collect();
        let each = |of: &dyn Fn(&Entry) -> u64| {
            calls.iter().map(|entry| of(entry) as f64 / entry.count.max(1) as f64).sum::<f64>() * total as f64
        };
        let scan = out.add(Entry {
            op: Op::Routine { parts: whole },
            count: begun,
            cpu_ns: each(&|entry| entry.cpu_ns) as u64,
            gap_ns: 0,
            host_input_bytes: each(&|entry| entry.host_input_bytes) as u64,
            host_input_count: each(&|entry| entry.host_input_count) as u64,
            kernels: 0,
            shapes: None,
            ..calls[0].clone()
        });
        Some(vec![Step::Run(scan)])
    });
    let (rounds, site) = main?;
    out.reorder(order)?;
    let site = draft.workload.sites.get(site as usize)?.clone();
    Some(Change {
        title: format!(
            "Running the loop of {} inside one jitted function, by lax.scan or lax.fori_loop",
            site.loop_label()
        ),
        why: format!(
            "{} times Python calls a function that is compiled already, and looks at nothing in between",
            words::count(rounds)
        ),
        draft: out,
        site: Some(site),
        patch: None,
        ready: Some(
            "state, ys = jax.lax.scan(step, state, xs)  # step(state, x) -> (state, y); xs: one row a round".to_owned(),
        ),
        risk: Some("the whole loop is compiled: nothing can be printed or decided by Python within it"),
    })
}

/// A call of a compiled function of JAX's that takes no array of the host, with next to no Python before it.
fn call<'d>(draft: &'d Draft, step: &Step) -> Option<&'d Entry> {
    let Step::Run(entry) = step else { return None };
    let entry = draft.workload.ops.get(*entry as usize)?;
    let is_call = matches!(entry.name.as_str(), "jax.jit" | "jax.eager");
    let fed = parts(entry).iter().any(|part| matches!(part.op, Op::Transfer { bytes, .. } if bytes > VALUE));
    let quick = entry.gap_ns / entry.count.max(1) <= BETWEEN_NS;
    (is_call && !fed && quick && !matches!(entry.op, Op::Opaque)).then_some(entry)
}

/// What is copied of at most so many bytes is a number, which a loop on the device can count itself.
const VALUE: u64 = 64;
