//! Elements one by one: a Python loop that sets each element of an array from those at the same place becomes a few
//! operations on whole arrays.

use super::super::draft::Draft;
use super::super::source::{assignment, carries, operands};
use super::super::{Change, Context};
use super::{numba, vectorise};
use crate::report::words;
use crate::workload::{Entry, Op, Site, Step};

/// Elements from which the loop costs more in Python than it is worth.
const MANY: u64 = 1000;

/// What a loop over elements is made of.
struct Loop {
    entries: Vec<u32>,
    /// Elements that it sets.
    n: u64,
    branches: bool,
}

pub(super) fn apply<'a>(draft: &Draft<'a>, ctx: &Context) -> Option<Change<'a>> {
    let of = |entry: &Entry| draft.workload.sites.get(entry.site as usize);
    let sets = draft.workload.ops.iter().filter(|e| e.count >= MANY && target(e).is_some());
    let main = sets.max_by_key(|e| e.count)?;
    let found = whole(draft, of(main)?)?;
    let parts: Vec<&Entry> = found.entries.iter().map(|&e| draft.entry(e)).collect();
    let all = |what: fn(&Entry) -> u64| parts.iter().fold(0_u64, |sum, e| sum.saturating_add(what(e)));
    let steps = parts.iter().filter(|e| matches!(e.op, Op::Elementwise { .. } | Op::Copy { .. })).count() as u64;
    let bytes = found.n.checked_mul(main.dtype.bytes())?;
    let reads = parts.iter().filter(|e| matches!(e.op, Op::View | Op::HostRead { .. })).count().max(1) as u32;
    let mut new = Entry {
        op: Op::Elementwise { n: found.n, inputs: reads, flop_per_element: steps as f64, transcendental: false },
        name: format!("{}.where", main.name.split('.').next().unwrap_or("numpy")),
        count: 1,
        kernels: steps,
        read_bytes: bytes.checked_mul(steps)?,
        written_bytes: bytes.checked_mul(steps)?,
        host_input_bytes: 0,
        host_input_count: 0,
        shapes: None,
        ..main.clone()
    };
    // Python around the calls that goes with them; what takes longer is other code, which stays.
    let calls = numba::CALL_NS.saturating_mul(all(|e| e.count));
    new.gap_ns = all(|e| e.gap_ns).saturating_sub(calls);
    new.cpu_ns = (((ctx.cpu_seconds(&new) * 1e9) as u64) + vectorise::CALL_NS * steps).min(all(|e| e.cpu_ns));
    let mut out = draft.clone();
    let new = out.add(new);
    let mut placed = false;
    let mut order = Vec::with_capacity(draft.order.len());
    for step in draft.order.iter() {
        let left = without(step, &found.entries);
        if !placed && left.as_ref() != Some(step) {
            order.push(Step::Run(new));
            placed = true;
        }
        order.extend(left);
    }
    out.reorder(order)?;
    let site = of(parts.first()?)?.clone();
    let ready = if found.branches {
        "# np.where(condition, one, other) on the whole arrays"
    } else {
        "# the same expression on the whole arrays"
    };
    Some(Change {
        draft: out,
        title: format!("Whole arrays instead of the loop over {} elements of {}", words::count(found.n), site.label()),
        why: "the loop sets one element after the other, and none needs the one before".to_owned(),
        site: Some(site),
        patch: None,
        ready: Some(ready.to_owned()),
        risk: Some(
            "only if the rounds do not depend on each other; both sides of a condition are then computed for all",
        ),
    })
}

/// The loop over elements in this function, if it is one, and its lines say that no round needs another.
fn whole(draft: &Draft, within: &Site) -> Option<Loop> {
    let mut found = Loop { entries: Vec::new(), n: 0, branches: false };
    let (mut lines, mut set): (Vec<(u32, &str)>, u64) = (Vec::new(), 0);
    for (i, entry) in draft.workload.ops.iter().enumerate() {
        let Some(site) = draft.workload.sites.get(entry.site as usize) else { continue };
        if (&site.file, &site.function) != (&within.file, &within.function) || entry.count < MANY {
            continue;
        }
        if site.via.is_some() || !is_of_one(entry) {
            return None;
        }
        if let Some(n) = target(entry) {
            if found.n != 0 && found.n != n {
                return None;
            }
            found.n = n;
            set = set.saturating_add(entry.count);
        }
        lines.push((site.line, site.text.as_str()));
        found.entries.push(i as u32);
    }
    lines.sort_unstable();
    lines.dedup();
    let texts: Vec<&str> = lines.iter().map(|(_, text)| *text).collect();
    found.branches = texts.iter().any(|text| text.starts_with("if ") || text.starts_with("elif "));
    // Each element once, the first and last of them perhaps apart; lines between are an `else:` at most.
    let once = set <= found.n && set + 2 >= found.n;
    let close = lines.windows(2).all(|pair| pair[1].0 - pair[0].0 <= 2);
    (once && close && found.n >= MANY && independent(&texts)).then_some(found)
}

/// Whether these lines of a round set elements from elements, and no round needs another. A plain name among them may be
/// handed on by lines that compute without arrays, which nobody recorded.
fn independent(lines: &[&str]) -> bool {
    let assigned = |line: &&str| assignment(line).map(|(target, ..)| target.to_owned());
    let targets: Vec<String> = lines.iter().filter_map(assigned).collect();
    let index = |operand: &str| operand.split_once('[').map(|(_, index)| index.to_owned());
    let Some(own) = targets.first().and_then(|target| index(target)) else { return false };
    let plain = own.strip_suffix(']').is_some_and(|own| own.chars().all(|c| c.is_alphanumeric() || "_, ".contains(c)));
    if !plain || targets.iter().any(|target| index(target).as_ref() != Some(&own)) {
        return false;
    }
    let mut left: Vec<String> = Vec::new();
    let mut at_own = false;
    for line in lines {
        let suite =
            ["if ", "elif ", "for ", "while "].iter().any(|word| line.starts_with(word)) && !line.ends_with(':');
        if line.is_empty() || line.contains(';') || suite || line.starts_with("while ") {
            return false;
        }
        let (target, operator, value) = assignment(line).unwrap_or(("", "", line));
        let mut value = value.to_owned();
        for operand in operands(&value) {
            if !operand.ends_with(']') {
                return false;
            }
            // The same place of an array that is set is the round's own.
            at_own |= index(&operand).as_ref() == Some(&own);
            if targets.contains(&operand) {
                value = value.replace(&operand, "0");
            }
        }
        left.push(if target.is_empty() { value } else { format!("{target} {operator}= {value}") });
    }
    at_own && carries(&left.iter().map(String::as_str).collect::<Vec<_>>()) == Some(false)
}

/// The size of the array of which this sets one element.
fn target(entry: &Entry) -> Option<u64> {
    if !entry.name.ends_with("ndarray.__setitem__") || !matches!(entry.op, Op::Copy { n: 1, .. }) {
        return None;
    }
    let shape = entry.shapes.as_deref()?.split(' ').next()?;
    vectorise::elements(shape)
}

/// Takes, computes with or sets single numbers.
fn is_of_one(entry: &Entry) -> bool {
    match entry.op {
        Op::View => entry.shapes.as_deref().is_some_and(|shapes| shapes.ends_with("-> []")),
        Op::HostRead { bytes } => bytes <= 16,
        Op::Elementwise { n, .. } | Op::Copy { n, .. } => n == 1,
        _ => false,
    }
}

/// The step without these entries; `None` where nothing is left.
fn without(step: &Step, entries: &[u32]) -> Option<Step> {
    match step {
        Step::Run(entry) => (!entries.contains(entry)).then_some(Step::Run(*entry)),
        Step::Repeat(rounds, body) => {
            let body: Vec<Step> = body.iter().filter_map(|step| without(step, entries)).collect();
            (!body.is_empty()).then_some(Step::Repeat(*rounds, body))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_elements_at_the_same_place_are_independent() {
        for lines in [
            &["if x[i] > 0.5:", "out[i] = x[i] * 2", "out[i] = 0"][..],
            &["c[i, j] = a[i, j] + b[i, j]"],
            &["x[i] = math.sin(x[i]) + y[i - 1]"],
            &["if x[i] < 0:", "x[i] = 0"],
        ] {
            assert!(independent(lines), "{lines:?}");
        }
        for lines in [
            &["out[i] = state * x[i]"][..],
            &["if x[i] > best:", "out[i] = 1"],
            &["if x[i] > best: out[i] = 1"],
            &["x[i] = x[i] + x[i - 1]"],
            &["h[b[i]] += 1"],
            &["out[j] = x[i]"],
            &["a[i] = x[i]", "b[j] = x[i]"],
            &["out[i] = 0"],
            &["while x[i] > 1:", "x[i] = x[i] / 2"],
            &["out[i] = x[i]", ""],
            &[],
        ] {
            assert!(!independent(lines), "{lines:?}");
        }
    }
}
