//! Fuse element-wise chains: one kernel that reads each input once and writes the result.

use super::super::draft::{Draft, edit_bodies};
use super::super::source::{assignment, operands};
use super::super::{Change, Context, Edit};
use super::inductor;
use crate::estimate::Side;
use crate::port;
use crate::report::words;
use crate::workload::{Entry, Op, Phase, Step};
use std::collections::BTreeMap;

pub(super) const EDIT: Edit = Edit { id: "fuse", sides: &[Side::Gpu], apply };

/// Compiling a graph of PyTorch's before its first use, s: assumed; the guide only says that it takes tens of seconds
/// for large models.
pub(super) const TORCH_COMPILE: f64 = 10.0;

/// Which steps make a chain.
pub(super) struct Rule<'r> {
    /// Whether a step may be part of one.
    pub(super) takes: &'r dyn Fn(&Entry) -> bool,
    /// It ends with its line.
    pub(super) one_line: bool,
    /// CPU time of one run of all its steps as one, ns.
    pub(super) cpu_ns: &'r dyn Fn(&[u32], &Entry) -> u64,
}

const ANY: Rule<'_> = Rule { takes: &|_| true, one_line: false, cpu_ns: &|_, whole| whole.cpu_ns };

fn apply<'a>(draft: &Draft<'a>, _: &Context, _: Side) -> Option<Change<'a>> {
    // What the script does already is no advice.
    if draft.compiles {
        return None;
    }
    let (out, chains) = fuse(draft, &ANY)?;
    let main = chains.iter().max_by(|a, b| a.saved_bytes.total_cmp(&b.saved_bytes))?;
    let site = draft.workload.sites.get(main.site as usize)?.clone();
    let torch = port::of(&draft.entry(main.parts[0]).name).name == "torch";
    let elsewhere = match chains.len() {
        1 => String::new(),
        2 => " and one other place".to_owned(),
        n => format!(" and {} other places", n - 1),
    };
    let mut out = out;
    if torch {
        // The compiler fuses more than chains.
        out = inductor::compiled(draft).map_or(out, |(compiled, _)| compiled);
        out.once += TORCH_COMPILE;
    }
    let why = format!(
        "{} launches become {}, and what each step hands to the next stays in registers",
        words::count(chains.iter().map(|c| c.parts.len() as u64 * c.times).sum()),
        words::count(chains.iter().map(|c| c.times).sum())
    );
    Some(Change {
        title: format!("Fusing the {} element-wise steps of {}{elsewhere}", main.parts.len(), site.label()),
        why,
        ready: Some(ready(&site.text, main.one_line, torch)),
        draft: out,
        site: Some(site),
        patch: None,
        risk: Some("results may differ in the last digit"),
    })
}

/// The line to write, in the user's own names where the chain is one line.
fn ready(text: &str, one_line: bool, torch: bool) -> String {
    if torch {
        return "model = torch.compile(model)  # or @torch.compile on the function of the chain".to_owned();
    }
    match assignment(text).filter(|_| one_line) {
        Some((target, "", value)) => {
            let mut names: Vec<String> = Vec::new();
            for name in operands(value).iter().filter_map(|o| o.split(['[', '.']).next()) {
                if !names.iter().any(|n| n == name) {
                    names.push(name.to_owned());
                }
            }
            if value.contains('[') {
                return format!(
                    "@cupy.fuse()\ndef fused(…):  # slices are taken outside and handed in\n    return {value}"
                );
            }
            let names = names.join(", ");
            format!("@cupy.fuse()\ndef fused({names}):\n    return {value}\n\n{target} = fused({names})")
        }
        _ => "@cupy.fuse()  # on a function that holds the chain and returns what is used after it".to_owned(),
    }
}

/// A chain that was fused.
pub(super) struct Chain {
    /// The entries it was made of, in order.
    pub(super) parts: Vec<u32>,
    /// Runs in all.
    pub(super) times: u64,
    /// Site of the first.
    pub(super) site: u32,
    /// Bytes that need not be moved any more, all runs.
    pub(super) saved_bytes: f64,
    /// All of it stands on one line.
    one_line: bool,
}

/// The program with every chain of two or more fused; `None` where there is none.
pub(super) fn fuse<'a>(draft: &Draft<'a>, rule: &Rule<'_>) -> Option<(Draft<'a>, Vec<Chain>)> {
    let mut out = draft.clone();
    let mut chains = Chains::default();
    let steps =
        edit_bodies(&draft.order, &mut |body, times| fuse_body(draft, rule, &mut out, &mut chains, body, times));
    if chains.list.is_empty() {
        return None;
    }
    out.reorder(steps)?;
    Some((out, chains.list))
}

/// The chains of a program, and which is which.
#[derive(Default)]
struct Chains {
    list: Vec<Chain>,
    known: BTreeMap<Vec<u32>, usize>,
}

/// Steps in a row without a loop beyond which they are no chain that a person wrote.
const STRAIGHT: usize = 10_000;
/// Chains beyond which a program is no matter of fusing some lines.
const CHAINS: usize = 500;

/// The body with its chains fused; `None` where nothing changes.
fn fuse_body(
    draft: &Draft,
    rule: &Rule,
    out: &mut Draft,
    chains: &mut Chains,
    body: &[Step],
    times: u64,
) -> Option<Vec<Step>> {
    if body.len() > STRAIGHT {
        return None;
    }
    let mut steps: Vec<Step> = Vec::with_capacity(body.len());
    let mut changed = false;
    let mut at = 0;
    while at < body.len() {
        let (parts, views, end) = chain(draft, rule, body, at);
        let known = chains.known.get(&parts).copied();
        if parts.len() < 2 || (known.is_none() && chains.list.len() >= CHAINS) {
            steps.push(body[at].clone());
            at += 1;
            continue;
        }
        let new = match known {
            Some(i) => {
                chains.list[i].times = chains.list[i].times.saturating_add(times);
                let entry = draft.workload.ops.len() as u32 + i as u32;
                widen(&mut out.workload.ops[entry as usize], chains.list[i].times);
                entry
            }
            None => {
                let entry = fused(draft, rule, &parts, &kept(draft, &body[at..end]), times);
                let moved = |e: &Entry| e.read_bytes as f64 + e.written_bytes as f64;
                let before: f64 = parts.iter().map(|&p| moved(draft.entry(p))).sum();
                let site = draft.entry(parts[0]).site;
                chains.known.insert(parts.clone(), chains.list.len());
                chains.list.push(Chain {
                    times,
                    site,
                    saved_bytes: (before - moved(&entry)) * times as f64,
                    one_line: parts.iter().all(|&p| draft.entry(p).site == site),
                    parts,
                });
                out.add(entry)
            }
        };
        steps.extend(views.into_iter().map(Step::Run));
        steps.push(Step::Run(new));
        changed = true;
        at = end;
    }
    changed.then_some(steps)
}

/// The longest chain from `at` on: its entries, the views among them, and where it ends.
fn chain(draft: &Draft, rule: &Rule, body: &[Step], at: usize) -> (Vec<u32>, Vec<u32>, usize) {
    let (mut parts, mut views, mut end) = (Vec::new(), Vec::new(), at);
    let mut pending = Vec::new();
    for (i, step) in body.iter().enumerate().skip(at) {
        let Step::Run(e) = step else { break };
        let Some(entry) = draft.workload.ops.get(*e as usize) else { break };
        match entry.op {
            Op::View if !parts.is_empty() => pending.push(*e),
            _ if (matches!(entry.op, Op::Elementwise { .. }) || (converts(entry) && !parts.is_empty()))
                && fusable(draft, entry)
                && (rule.takes)(entry)
                && parts.first().is_none_or(|&p| {
                    alike(draft.entry(p), entry) && (!rule.one_line || draft.entry(p).site == entry.site)
                }) =>
            {
                parts.push(*e);
                views.append(&mut pending);
                end = i + 1;
            }
            _ => break,
        }
    }
    (parts, views, end)
}

/// Of a chain, the entries before its end whose result is used after it as well; how long is known of the last run of
/// each. What autograd keeps for the way back a compiler computes again instead: a network that trains is not asked.
fn kept(draft: &Draft, chain: &[Step]) -> Vec<u32> {
    let trains = |e: u32| draft.trains && port::of(&draft.entry(e).name).name == "torch";
    let run = |(i, step): (usize, &Step)| {
        let left = &chain[i + 1..];
        match step {
            Step::Run(e) if left.is_empty() || left.contains(step) || trains(*e) => None,
            Step::Run(e) => (draft.used_for[*e as usize] > left.len() as u64).then_some(*e),
            Step::Repeat(..) => None,
        }
    };
    chain.iter().enumerate().filter_map(run).collect()
}

/// Another element type for what a step of a chain made.
fn converts(entry: &Entry) -> bool {
    matches!(entry.op, Op::Copy { strided: false, inputs: 1, .. })
        && ["_to_copy", ".astype"].iter().any(|name| entry.name.ends_with(name))
}

fn fusable(draft: &Draft, entry: &Entry) -> bool {
    let made = ["fuse", "Kernel", "compile", "triton"].iter().any(|word| entry.name.contains(word));
    !made && !stands_alone(draft, entry)
}

/// Whether nothing is to be fused with it: an op on a list of arrays, the loading of data, or what another library calls.
pub(super) fn stands_alone(draft: &Draft, entry: &Entry) -> bool {
    let via = draft.workload.sites.get(entry.site as usize).and_then(|site| site.via.as_deref());
    entry.name.contains("_foreach_")
        || entry.phase == Some(Phase::Data)
        || via.is_some_and(|via| !via.starts_with("torch"))
}

/// Where and when an entry runs: what is fused runs in one place, in one phase.
pub(super) fn place(entry: &Entry) -> impl PartialEq + '_ {
    (&entry.device, entry.stream, entry.thread, entry.pid, entry.phase, entry.graph)
}

fn alike(a: &Entry, b: &Entry) -> bool {
    let n = |e: &Entry| if let Op::Elementwise { n, .. } | Op::Copy { n, .. } = e.op { n } else { 0 };
    n(a) == n(b) && a.dtype.complex_factor() == b.dtype.complex_factor() && place(a) == place(b)
}

/// One kernel for these entries, run `times` times. It reads what is not made on the way, or what the lines name if
/// that is less, and writes the last result and what is `kept` of the others.
fn fused(draft: &Draft, rule: &Rule, parts: &[u32], kept: &[u32], times: u64) -> Entry {
    let entries: Vec<&Entry> = parts.iter().map(|&p| draft.entry(p)).collect();
    let (first, last) = (entries[0], entries[entries.len() - 1]);
    let array = entries.iter().map(|e| e.written_bytes).max().unwrap_or(0);
    let made = entries[..entries.len() - 1].iter().fold(0_u64, |sum, e| sum.saturating_add(e.written_bytes));
    let sum = |of: fn(&Entry) -> u64| entries.iter().fold(0_u64, |sum, e| sum.saturating_add(of(e)));
    let read = sum(|e| e.read_bytes);
    let mut external = read.saturating_sub(made).max(array.min(read));
    let mut sites: Vec<u32> = entries.iter().map(|e| e.site).collect();
    sites.dedup();
    if let [site] = sites[..]
        && let Some(text) = draft.workload.sites.get(site as usize).map(|s| s.text.as_str()).filter(|t| !t.is_empty())
    {
        let (target, operator, value) = assignment(text).unwrap_or(("", "", text));
        let named = operands(value).len() + usize::from(!operator.is_empty() && !target.is_empty());
        external = external.min(array.saturating_mul(named.max(1) as u64));
    }
    let also = parts.iter().enumerate().filter(|(i, p)| kept.contains(p) && !parts[i + 1..].contains(p));
    let written = also.fold(last.written_bytes, |sum, (_, &p)| sum.saturating_add(draft.entry(p).written_bytes));
    let n = if let Op::Elementwise { n, .. } = first.op { n } else { 0 };
    let each = |e: &&Entry| match e.op {
        Op::Elementwise { flop_per_element, transcendental, .. } => (flop_per_element, transcendental),
        _ => (0.0, false),
    };
    let widest = entries.iter().map(|e| e.dtype).max_by_key(|d| d.bytes()).unwrap_or(first.dtype);
    let inputs = external.checked_div(array).unwrap_or(1).clamp(1, 64) as u32;
    let mut entry = Entry {
        op: Op::Elementwise {
            n,
            inputs,
            flop_per_element: entries.iter().map(|e| each(e).0).sum(),
            transcendental: entries.iter().any(|e| each(e).1),
        },
        dtype: widest,
        count: 1,
        read_bytes: external,
        written_bytes: written,
        // One call in Python instead of several: the longest pause among them stays.
        gap_ns: entries.iter().map(|e| e.gap_ns / e.count.max(1)).max().unwrap_or(0),
        cpu_ns: sum(|e| e.cpu_ns / e.count.max(1)),
        host_input_bytes: sum(|e| e.host_input_bytes / e.count.max(1)),
        host_input_count: sum(|e| e.host_input_count / e.count.max(1)),
        kernels: 0,
        shapes: None,
        ..first.clone()
    };
    entry.cpu_ns = (rule.cpu_ns)(parts, &entry);
    widen(&mut entry, times);
    entry
}

/// All times for `times` runs instead of those of as many as it has.
pub(super) fn widen(entry: &mut Entry, times: u64) {
    let by = times as f64 / entry.count.max(1) as f64;
    let more = |n: u64| (n as f64 * by) as u64;
    entry.cpu_ns = more(entry.cpu_ns);
    entry.gap_ns = more(entry.gap_ns);
    entry.host_input_bytes = more(entry.host_input_bytes);
    entry.host_input_count = more(entry.host_input_count);
    entry.count = times;
}
