//! `solve` instead of `inv`: the system is solved without its inverse, at a third of the arithmetic or less.

use super::super::draft::{Draft, edit_loops};
use super::super::source::patch;
use super::super::{Change, Context, Edit};
use crate::estimate::Side;
use crate::workload::op::Factor;
use crate::workload::{Entry, Op, Site, Step};

pub(super) const EDIT: Edit = Edit { id: "solve", sides: &[Side::Gpu, Side::Cpu], apply };

/// The part of its own time that the family's formula, 2n³, is of NumPy's inverse: that solves for the identity, 8n³/3.
const COUNTED: f64 = 0.75;

fn apply<'a>(draft: &Draft<'a>, ctx: &Context, _: Side) -> Option<Change<'a>> {
    let mut out = draft.clone();
    let mut found: Vec<(u32, u32, u32)> = Vec::new();
    let steps = {
        let mut in_body = |body: &[Step], times: u64| solved(draft, ctx, &mut out, &mut found, body, times);
        let inner = edit_loops(&draft.order, 1, &mut |begun, rounds, body| {
            in_body(body, begun.saturating_mul(rounds)).map(|body| vec![Step::Repeat(rounds, body)])
        });
        in_body(&inner, 1).unwrap_or(inner)
    };
    let &(inverse, ..) = found.iter().max_by_key(|(inverse, ..)| draft.entry(*inverse).cpu_ns)?;
    let site = draft.workload.sites.get(draft.entry(inverse).site as usize)?.clone();
    let n = if let Op::Factor { n, .. } = draft.entry(inverse).op { n } else { 0 };
    let patch = rewritten(&site).map(|new| patch(&site, &new));
    out.reorder(steps)?;
    Some(Change {
        draft: out,
        title: format!("Solving instead of inverting at {}", site.label()),
        why: format!(
            "the inverse of the {n}×{n} matrix is only multiplied with; `solve` needs a third of its arithmetic, or less"
        ),
        ready: patch.is_none().then(|| "x = numpy.linalg.solve(a, b)  # for numpy.linalg.inv(a) @ b".to_owned()),
        site: Some(site),
        patch,
        risk: None,
    })
}

/// The body with each inverse that the next product uses up, and that product, made one solve; `None` where there is none.
fn solved(
    draft: &Draft,
    ctx: &Context,
    out: &mut Draft,
    found: &mut Vec<(u32, u32, u32)>,
    body: &[Step],
    times: u64,
) -> Option<Vec<Step>> {
    let mut steps: Vec<Step> = Vec::with_capacity(body.len());
    let mut changed = false;
    let mut at = 0;
    while at < body.len() {
        if let Some((inverse, product, end)) = pair(draft, body, at) {
            let known = found.iter().find(|f| (f.0, f.1) == (inverse, product)).map(|f| f.2);
            // An entry that runs in several places stays as it is in the others.
            if known.is_none() && draft.entry(inverse).count == times && draft.entry(product).count == times {
                let new = out.add(solve(ctx, draft.entry(inverse), draft.entry(product))?);
                found.push((inverse, product, new));
                steps.extend(body[at + 1..end - 1].iter().cloned());
                steps.push(Step::Run(new));
                changed = true;
                at = end;
                continue;
            }
        }
        steps.push(body[at].clone());
        at += 1;
    }
    changed.then_some(steps)
}

/// An inverse at `at` and the product right after it (views between them) that takes it, and where that ends.
fn pair(draft: &Draft, body: &[Step], at: usize) -> Option<(u32, u32, usize)> {
    let entry = |i: usize| match body.get(i)? {
        Step::Run(e) => Some((*e, draft.workload.ops.get(*e as usize)?)),
        Step::Repeat(..) => None,
    };
    let (inverse, first) = entry(at)?;
    let Op::Factor { kind: Factor::Inverse, n, batch, .. } = first.op else { return None };
    let mut next = at + 1;
    while matches!(entry(next)?.1.op, Op::View) {
        next += 1;
    }
    let (product, second) = entry(next)?;
    let Op::Matmul { m, n: columns, k, batch: b, .. } = second.op else { return None };
    let fits = b == batch && k == n && (m == n || columns == n) && first.dtype == second.dtype;
    (fits && first.device == second.device && first.site == second.site).then_some((inverse, product, next + 1))
}

fn solve(ctx: &Context, inverse: &Entry, product: &Entry) -> Option<Entry> {
    let (Op::Factor { n, batch, .. }, Op::Matmul { m, n: columns, .. }) = (&inverse.op, &product.op) else {
        return None;
    };
    let rhs = if m == n { *columns } else { *m };
    let mut new = Entry {
        name: inverse.name.replace("linalg.inv", "linalg.solve").replace("linalg_inv", "linalg_solve"),
        op: Op::Factor { kind: Factor::Solve, m: *n, n: *n, rhs, batch: *batch },
        read_bytes: inverse.read_bytes.saturating_add(product.written_bytes),
        written_bytes: product.written_bytes,
        gap_ns: inverse.gap_ns,
        shapes: None,
        ..inverse.clone()
    };
    let ratio = if inverse.name.starts_with("numpy.") { COUNTED } else { 1.0 };
    new.cpu_ns = (ctx.cpu_ns_after([inverse, product].into_iter(), &new) as f64 * ratio) as u64;
    Some(new)
}

/// The line with `…linalg.inv(A) @ B` as `…linalg.solve(A, B)`; `None` where it is not as plain as that.
fn rewritten(site: &Site) -> Option<String> {
    let text = &site.text;
    let at = text.find("linalg.inv(")?;
    let open = at + "linalg.inv".len();
    let close = open + matching(&text[open..])?;
    let (before, after) = (text[..at].trim_end(), text[close + 1..].strip_prefix(" @ ")?);
    let start = before.rfind(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '.'))).map_or(0, |i| i + 1);
    let ahead = before[..start].trim_end();
    if ahead.ends_with(['@', '*', '/', '-', '+', '%']) || text.matches("linalg.inv(").count() != 1 {
        return None;
    }
    let operand = operand_length(after)?;
    let rest = &after[operand..];
    // What follows would have come after the product anyway: `@` and `*` are of one rank, `**` is not.
    if rest.trim_start().starts_with("**") {
        return None;
    }
    Some(format!("{}linalg.solve({}, {}){rest}", &text[..at], &text[open + 1..close], &after[..operand]))
}

/// Length of a name with what it is indexed by or called with.
fn operand_length(text: &str) -> Option<usize> {
    let mut i = text.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '.'))).unwrap_or(text.len());
    if i == 0 || text.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    while text[i..].starts_with(['(', '[']) {
        i += matching(&text[i..])? + 1;
        i += text[i..].find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '.'))).unwrap_or(text.len() - i);
    }
    Some(i)
}

/// Where the bracket that `text` begins with is closed.
fn matching(text: &str) -> Option<usize> {
    let mut open = 0;
    for (i, c) in text.char_indices() {
        match c {
            '(' | '[' => open += 1,
            ')' | ']' => open -= 1,
            _ => {}
        }
        if open == 0 {
            return Some(i);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_plain_line_is_rewritten() {
        let new = |text: &str| rewritten(&Site { text: text.to_owned(), ..Site::default() });
        assert_eq!(new("x = np.linalg.inv(a.T @ a) @ b").as_deref(), Some("x = np.linalg.solve(a.T @ a, b)"));
        assert_eq!(new("f(np.linalg.inv(a) @ b[:, 1], c)").as_deref(), Some("f(np.linalg.solve(a, b[:, 1]), c)"));
        assert_eq!(new("x = np.linalg.inv(a) @ g(b).T + 1").as_deref(), Some("x = np.linalg.solve(a, g(b).T) + 1"));
        for text in [
            "x = c @ np.linalg.inv(a) @ b",
            "x = np.linalg.inv(a)",
            "x = np.linalg.inv(a) @ (b + c)",
            "x = np.linalg.inv(a",
            "",
        ] {
            assert_eq!(new(text), None, "{text}");
        }
    }
}
