//! numexpr: an element-wise chain computed block by block in the CPU's cache, by all cores.

use super::super::draft::Draft;
use super::super::source::{assignment, label, operands};
use super::super::{Change, Context, Edit};
use super::fuse::fuse;
use crate::estimate::Side;
use crate::report::words;
use crate::workload::{Entry, Op, order};

pub(super) const EDIT: Edit = Edit { id: "numexpr", sides: &[Side::Cpu], apply };

/// Elements from which the blocks are worth it.
const LARGE: u64 = 100_000;
/// What numexpr has, by NumPy's names.
const KNOWN: &[&str] = &[
    "add",
    "subtract",
    "multiply",
    "divide",
    "true_divide",
    "power",
    "square",
    "negative",
    "sqrt",
    "exp",
    "expm1",
    "log",
    "log1p",
    "log10",
    "sin",
    "cos",
    "tan",
    "arcsin",
    "arccos",
    "arctan",
    "arctan2",
    "sinh",
    "cosh",
    "tanh",
    "absolute",
    "where",
    "greater",
    "greater_equal",
    "less",
    "less_equal",
    "equal",
    "not_equal",
    "logical_and",
    "logical_or",
    "minimum",
    "maximum",
];

fn apply<'a>(draft: &Draft<'a>, ctx: &Context, _: Side) -> Option<Change<'a>> {
    let (mut out, chains) = fuse(draft)?;
    let known = |e: &Entry| {
        let large = matches!(e.op, Op::Elementwise { n, .. } if n >= LARGE);
        large && e.name.strip_prefix("numpy.").is_some_and(|name| KNOWN.contains(&name))
    };
    let main = chains
        .iter()
        .filter(|c| c.parts.iter().all(|&p| known(draft.entry(p))))
        .max_by(|a, b| a.saved_bytes.total_cmp(&b.saved_bytes))?;
    let site = draft.workload.sites.get(main.site as usize)?.clone();
    let base = draft.workload.ops.len();
    // `fuse` keeps the entries that still run in their order and puts the new ones behind.
    let counts = order::counts(&out.order, out.workload.ops.len())?;
    let first_new = out.workload.ops.len() - chains.len();
    debug_assert!(first_new <= base && counts.iter().all(|&n| n > 0));
    for (chain, entry) in chains.iter().zip(&mut out.workload.ops[first_new..]) {
        if !chain.parts.iter().all(|&p| known(draft.entry(p))) {
            continue;
        }
        let share = |p: &u32| {
            let part = draft.entry(*p);
            let runs = chain.parts.iter().filter(|q| *q == p).count() as u64 * chain.times;
            let mine = (chain.times as f64 / part.count.max(1) as f64).min(1.0);
            Entry { cpu_ns: (part.cpu_ns as f64 * mine) as u64, count: runs.min(chain.times), ..part.clone() }
        };
        let parts: Vec<Entry> = chain.parts.iter().map(share).collect();
        // One core of the model; the blocks are independent, so further cores add up to what memory gives.
        let spread = (f64::from(ctx.question.workload.program.cpu_threads.max(1)) / 2.0).clamp(1.0, 4.0);
        entry.cpu_ns = (ctx.cpu_ns_after(parts.iter(), entry) as f64 / spread) as u64;
    }
    Some(Change {
        title: format!("numexpr for the {} element-wise steps of {}", main.parts.len(), label(&site)),
        why: format!(
            "each step writes an array of {} to memory and the next reads it again",
            words::bytes(main.entry.written_bytes as f64)
        ),
        ready: ready(&site.text, main.one_line),
        draft: out,
        site: Some(site),
        patch: None,
        risk: Some("results may differ in the last digit"),
    })
}

/// The line by numexpr, where it is a plain expression of names.
fn ready(text: &str, one_line: bool) -> Option<String> {
    let (target, operator, value) = assignment(text).filter(|_| one_line)?;
    let plain =
        operator.is_empty() && !value.contains(['[', '"', '\'']) && operands(value).iter().all(|o| !o.contains('.'));
    plain.then(|| format!("{target} = numexpr.evaluate(\"{}\")", value.replace("np.", "")))
}

#[cfg(test)]
mod tests {
    use super::ready;

    #[test]
    fn a_plain_line_is_written_out() {
        assert_eq!(ready("y = np.exp(-x * x) + 1", true).as_deref(), Some("y = numexpr.evaluate(\"exp(-x * x) + 1\")"));
        assert_eq!(ready("y = x[1:] + 1", true), None);
        assert_eq!(ready("y += x", true), None);
        assert_eq!(ready("y = np.exp(x)", false), None);
    }
}
