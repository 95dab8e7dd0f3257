//! In place: the result of an element-wise step takes the memory of its operand, which nobody needs any more.

use super::super::draft::Draft;
use super::super::source::{assignment, operands, patch};
use super::super::{Change, Context, Edit};
use crate::estimate::Side;
use crate::estimate::hosttime::host_time;
use crate::kernel::fresh_pages;
use crate::report::words;
use crate::workload::{Entry, Family, Site};

pub(super) const EDIT: Edit = Edit { id: "in-place", sides: &[Side::Cpu], apply };

fn apply<'a>(draft: &Draft<'a>, _: &Context, _: Side) -> Option<Change<'a>> {
    let mut out = draft.clone();
    let mut main: Option<(f64, &Site, String)> = None;
    // Times are as recorded, those of other programs among them.
    let own = host_time(&draft.workload).own;
    for (old, entry) in draft.workload.ops.iter().zip(&mut out.workload.ops) {
        let fresh = fresh_pages(old.written_bytes as f64) * old.count as f64;
        if fresh <= 0.0 || !writes_all_it_reads(old) {
            continue;
        }
        let Some(site) = draft.workload.sites.get(old.site as usize) else { continue };
        let Some(line) = rewritten(&site.text) else { continue };
        // Other steps of the line make temporaries of their own, which stay.
        let alone = draft.workload.ops.iter().filter(|e| e.site == old.site && e.written_bytes > 0).count() == 1;
        if !alone {
            continue;
        }
        entry.cpu_ns = old.cpu_ns.saturating_sub((fresh / own * 1e9) as u64).max(old.cpu_ns / 2);
        if main.as_ref().is_none_or(|(most, ..)| fresh > *most) {
            main = Some((fresh, site, line));
        }
    }
    let (_, site, line) = main?;
    let bytes = draft.workload.ops.iter().filter(|e| draft.workload.sites.get(e.site as usize) == Some(site));
    let bytes = bytes.map(|e| e.written_bytes).max().unwrap_or(0);
    out.workload.program.peak_bytes = out.workload.program.peak_bytes.saturating_sub(bytes);
    Some(Change {
        draft: out,
        title: format!("Working in place at {}", site.label()),
        why: format!(
            "each call asks the system for {} of new memory, which it must first clear",
            words::bytes(bytes as f64)
        ),
        site: Some(site.clone()),
        patch: Some(patch(site, &line)),
        ready: None,
        risk: Some("other names for the same array see the change; the element type stays that of the array"),
    })
}

/// An element-wise step whose result is as large as one of its operands.
fn writes_all_it_reads(entry: &Entry) -> bool {
    entry.op.family() == Family::Elementwise
        && entry.read_bytes >= entry.written_bytes
        && entry.name.starts_with("numpy.")
}

/// `a = a + b` as `a += b`; `None` for anything else.
fn rewritten(text: &str) -> Option<String> {
    let (target, operator, value) = assignment(text)?;
    let name = !target.is_empty() && target.chars().all(|c| c.is_alphanumeric() || c == '_');
    let rest = value.strip_prefix(target)?.trim_start();
    let sign = rest.chars().next().filter(|c| matches!(c, '+' | '-' | '*' | '/'))?;
    let operand = rest[sign.len_utf8()..].trim();
    let doubled = operand.starts_with(['*', '/']);
    // One operand only: with more, `*` and `+` would have to be told apart, and there are temporaries.
    let plain = operands(operand).len() <= 1 && !operand.contains([' ', '#', '(', ',']);
    (name && operator.is_empty() && plain && !doubled && !operand.is_empty())
        .then(|| format!("{target} {sign}= {operand}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_plain_line_is_rewritten() {
        assert_eq!(rewritten("x = x + y").as_deref(), Some("x += y"));
        assert_eq!(rewritten("x = x * 0.5").as_deref(), Some("x *= 0.5"));
        assert_eq!(rewritten("field = field - mean[0]").as_deref(), Some("field -= mean[0]"));
        for text in
            ["x = y + x", "x = xy + 1", "x = x ** 2", "x = x + y * z", "x = x + f(y)", "x += 1", "x[0] = x[0] + 1", ""]
        {
            assert_eq!(rewritten(text), None, "{text}");
        }
    }
}
