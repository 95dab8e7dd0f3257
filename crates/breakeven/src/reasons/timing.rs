//! The script's own clocks: what each timed span would show on the GPU, and why that may mislead.

use super::account::place;
use crate::estimate::gpu::{Outcome, Question};
use crate::estimate::plan::Policy;
use crate::estimate::spans::{Span, of_device, spans};
use crate::estimate::spread::{HOST_SIGMA, TRANSFER_SIGMA};
use crate::estimate::{Breakdown, Reason, Timer};
use crate::interval::{Basis, Interval};
use crate::port;
use crate::report::words;
use crate::timeline::{Compact, Task, finish, host_time};
use crate::workload::{Marker, Step};
use std::collections::BTreeMap;

/// Spans told of at most, by their pair of lines.
const MOST: usize = 20;
/// Reasons told of at most, each code apart.
const MOST_REASONS: usize = 3;
/// A clock that shows less than this share of the work is stopped too early.
const STOPPED_EARLY: f64 = 0.8;
/// Work that a clock does not wait for is told from here on, s: what a clock shows.
const TOLD: f64 = 1e-6;
/// What is paid at first use is told from this share of what the clock shows.
const FIRST_CALL: f64 = 0.2;
/// Time in a span that no op accounts for is the host's own from this share of it; below, it is the clock's noise.
const UNACCOUNTED: f64 = 0.2;
/// What handing work over takes is assumed, and so is what a clock shows from this share of it.
const ASSUMED: f64 = 0.05;
/// A span without array operations, such as between one timed part and the next, is told from this share of the program.
const TELLING: f64 = 0.01;

/// What every span between two reads of the same clock would show, in the order of the program; a pair of lines that
/// times many spans is one row.
pub fn timers(q: &Question<'_>, out: &Outcome) -> Vec<Timer> {
    if q.workload.markers.len() < 2 {
        return Vec::new();
    }
    let known = !q.workload.order.is_empty() || q.workload.ops.is_empty();
    let first_at = first_positions(q);
    let spans = spans(q, &out.plan);
    let mut rows: Vec<Vec<&Timed<'_>>> = Vec::new();
    let mut at = BTreeMap::new();
    for timed in &spans {
        if timed.2.is_empty() && took(timed) < TELLING * q.host.wall {
            continue;
        }
        let pair = (timed.0.site, timed.1.site, &timed.0.clock);
        match at.get(&pair) {
            Some(&row) => rows.get_mut(row).into_iter().for_each(|row: &mut Vec<_>| row.push(timed)),
            None if rows.len() < MOST => {
                at.insert(pair, rows.len());
                rows.push(vec![timed]);
            }
            None => {}
        }
    }
    rows.into_iter().map(|row| timer(q, out, &row, known, &first_at)).collect()
}

type Timed<'a> = (&'a Marker, &'a Marker, Span);

/// What a span took here, s.
fn took((from, to, _): &Timed<'_>) -> f64 {
    to.at_ns.saturating_sub(from.at_ns) as f64 * 1e-9
}

/// The spans of a row with the most common number of operations, the quickest first; all where none is the common one:
/// `timeit` tries few rounds before it times many.
fn alike<'a, 'b>(row: &[&'b Timed<'a>]) -> Vec<&'b Timed<'a>> {
    let mut counts: BTreeMap<u64, usize> = BTreeMap::new();
    row.iter().for_each(|timed| *counts.entry(timed.2.ops).or_default() += 1);
    let most = counts.iter().max_by_key(|(_, count)| **count).filter(|(_, count)| **count > 1).map(|(ops, _)| *ops);
    let mut found: Vec<_> = row.iter().copied().filter(|timed| most.is_none_or(|ops| timed.2.ops == ops)).collect();
    found.sort_by(|a, b| took(a).total_cmp(&took(b)));
    found
}

fn timer(q: &Question<'_>, out: &Outcome, row: &[&Timed<'_>], known: bool, first_at: &[u64]) -> Timer {
    let site = |marker: &Marker| q.workload.sites.get(marker.site as usize).map_or_else(|| "?".to_owned(), place);
    let alike = alike(row);
    let median = alike[alike.len() / 2];
    let ((from, to, span), here) = (median, took(median));
    let steps = span.order.clone().finish();
    let order = Compact::new(&steps);
    let mut counts = BTreeMap::new();
    count(&steps, 1, &mut counts);
    let (gaps, left) = host_part(q, here, &counts);
    let left = left / q.host.gap_speed(q.host_speed);
    let tasks: Vec<Task> = out.plan.tasks.iter().map(|task| Task { gap: task.gap * gaps, ..*task }).collect();
    let parts = finish(&tasks, &order, q.port.machine());
    let (work, sigma) = (parts.total() + left, spread(out, &counts, &parts, left));
    // An event is reached when the device has done what came before it.
    let shown = if of_device(to) { work } else { host_time(&tasks, &order, q.port.machine()) + left };
    let first = row[0];
    let mut timer = Timer {
        from: site(from),
        to: site(to),
        clock: to.clock.clone(),
        times: alike.len() as u64,
        here_s: here,
        gpu_s: known.then(|| Interval::log_normal(shown, sigma)),
        basis: if parts.launch > ASSUMED * work { Basis::Assumed } else { Basis::Modelled },
        first_call_s: if q.exclude_startup { 0.0 } else { first_use(q, first_at, first.0.position, first.1.position) },
        work_s: known.then_some(work.max(shown)),
        text: String::new(),
    };
    timer.text = text(&timer);
    timer
}

/// ln-sigma of what a span shows: kernels, launches, copies and host code, each by its part of it.
fn spread(out: &Outcome, counts: &BTreeMap<u32, u64>, parts: &Breakdown, left: f64) -> f64 {
    let (mut device, mut wide) = (0.0, 0.0);
    for (&entry, &runs) in counts {
        let (Some(task), Some(time)) = (out.plan.tasks.get(entry as usize), out.plan.entries.get(entry as usize))
        else {
            continue;
        };
        let seconds = task.device * runs as f64;
        device += seconds;
        wide += seconds * libm::sqrt(time.sigma_shared * time.sigma_shared + time.sigma_own * time.sigma_own);
    }
    let kernels = if device > 0.0 { wide / device } else { 0.0 };
    let total = parts.total() + left;
    if total <= 0.0 {
        return 0.0;
    }
    let of = |seconds: f64, sigma: f64| (seconds * sigma / total) * (seconds * sigma / total);
    libm::sqrt(
        of(parts.compute + parts.memory, kernels)
            + of(parts.launch, out.plan.dispatch_sigma)
            + of(parts.transfer + parts.sync, TRANSFER_SIGMA)
            + of(parts.host + left, HOST_SIGMA),
    )
}

/// The host's own part of a span: what share of the gaps before its ops it has, and what neither they nor its ops account
/// for, s: Python after the last of them.
///
/// A gap is the mean of all runs of an op: where one run waited for an import or a file, the span of another has less.
fn host_part(q: &Question<'_>, here: f64, counts: &BTreeMap<u32, u64>) -> (f64, f64) {
    let program = &q.workload.program;
    let (mut ops, mut gaps, mut hooks) = (0.0, 0.0, 0.0);
    for (&entry, &runs) in counts {
        let Some(op) = q.workload.ops.get(entry as usize) else { continue };
        let runs_s = runs as f64 * 1e-9;
        ops += op.cpu_ns as f64 * q.host.cpu_scale / op.count.max(1) as f64 * runs_s;
        hooks += program.hook_ns * runs_s;
        gaps += op.gap_ns as f64 * q.host.gap_scale / op.count.max(1) as f64 * runs_s;
    }
    let rest = ((here - hooks) * q.host.own - ops).max(0.0);
    let left = (rest - gaps).max(0.0);
    // Without values an op's time is the recorder's.
    let share = if gaps > rest && !program.untimed() { rest / gaps } else { 1.0 };
    (share, if left > UNACCOUNTED * here { left } else { 0.0 })
}

/// How often each entry runs in `steps`.
fn count(steps: &[Step], times: u64, into: &mut BTreeMap<u32, u64>) {
    for step in steps {
        match step {
            Step::Run(entry) => *into.entry(*entry).or_default() += times,
            Step::Repeat(more, body) => count(body, times.saturating_mul(*more), into),
        }
    }
}

/// What is first used between two positions of the program, s: libraries and kernels.
fn first_use(q: &Question<'_>, first_at: &[u64], from: u64, to: u64) -> f64 {
    let Some(profile) = port::named(q.port.library()) else { return 0.0 };
    let written = q.port.policy() == Policy::AsWritten;
    let until = |position: u64| {
        let used = q.workload.ops.iter().zip(first_at).filter(|(_, at)| **at < position).map(|(entry, _)| entry);
        profile.first_use(used, written).p50
    };
    (until(to) - until(from)).max(0.0)
}

/// The position at which each entry runs first.
fn first_positions(q: &Question<'_>) -> Vec<u64> {
    fn walk(steps: &[Step], mut at: u64, first: &mut [u64]) -> u64 {
        for step in steps {
            match step {
                Step::Run(entry) => {
                    if let Some(first) = first.get_mut(*entry as usize) {
                        *first = at.min(*first);
                    }
                    at += 1;
                }
                Step::Repeat(times, body) => {
                    let end = walk(body, at, first);
                    at = at.saturating_add((end - at).saturating_mul(*times));
                }
            }
        }
        at
    }
    let mut first = vec![u64::MAX; q.workload.ops.len()];
    walk(&q.workload.order, 0, &mut first);
    first
}

/// `timed.py:6–8 would show 0.4 ms (152 ms here); …`.
fn text(timer: &Timer) -> String {
    let last = match timer.to.rsplit_once(':') {
        Some((file, line)) if timer.from.starts_with(&format!("{file}:")) => line,
        _ => timer.to.as_str(),
    };
    let place = if timer.from == timer.to { timer.from.clone() } else { format!("{}–{last}", timer.from) };
    let here = words::seconds(timer.here_s);
    let Some(gpu) = timer.gpu_s else {
        return format!(
            "{place}: {here} here; the order of the program was not recorded, so nothing is known of the GPU"
        );
    };
    let mut text = format!("{place} would show {} ({here} here)", words::time(gpu));
    if timer.first_call_s > 0.0 {
        text += &format!("; first call +{}", words::seconds(timer.first_call_s));
    }
    if let Some(work) = timer.work_s.filter(|_| stopped_early(timer)) {
        text += &format!("; the work takes {}: wait for the GPU before reading the clock", words::seconds(work));
    } else if let Some(hidden) = timer.work_s.map(|work| work - gpu.p50).filter(|hidden| *hidden >= TOLD) {
        text += &format!("; it stops without waiting for the GPU, which hides {}", words::seconds(hidden));
    }
    text
}

fn stopped_early(timer: &Timer) -> bool {
    matches!((timer.gpu_s, timer.work_s), (Some(shown), Some(work)) if shown.p50 < STOPPED_EARLY * work)
}

/// Clocks that show something else than the work.
pub(super) fn reasons(timers: &[Timer]) -> Vec<Reason> {
    let early = timers.iter().filter(|timer| stopped_early(timer)).take(MOST_REASONS).map(without_wait);
    let first = timers.iter().filter(|timer| {
        let warm = timer.gpu_s.map_or(0.0, |shown| shown.p50);
        timer.first_call_s > FIRST_CALL * (timer.first_call_s + warm)
    });
    early.chain(first.take(MOST_REASONS).map(first_call)).collect()
}

fn without_wait(timer: &Timer) -> Reason {
    let shown = timer.gpu_s.map_or(0.0, |shown| shown.p50);
    let work = timer.work_s.unwrap_or(shown);
    let reason = Reason::new(
        "timing-without-wait",
        None,
        format!(
            "On the GPU this clock would show {}, how long it takes to hand the work over; the work takes {}.",
            words::seconds(shown),
            words::seconds(work)
        ),
        "Wait for the GPU before reading the clock, or use the GPU's own events.".to_owned(),
    );
    at(timer, reason).with("shown", shown, "s", words::seconds(shown)).with("work", work, "s", words::seconds(work))
}

fn first_call(timer: &Timer) -> Reason {
    let warm = timer.gpu_s.map_or(0.0, |shown| shown.p50);
    let first = timer.first_call_s;
    let reason = Reason::new(
        "timing-first-call",
        None,
        format!(
            "The first time, this clock includes loading libraries and kernels, about {} (assumed); after that it \
             shows {}.",
            words::seconds(first),
            words::seconds(warm)
        ),
        "Call once before the clock starts.".to_owned(),
    );
    at(timer, reason).with("first_call", first, "s", words::seconds(first)).with(
        "warm",
        warm,
        "s",
        words::seconds(warm),
    )
}

fn at(timer: &Timer, mut reason: Reason) -> Reason {
    reason.site = Some(timer.from.clone());
    if timer.to != timer.from {
        reason.also = vec![timer.to.clone()];
    }
    reason
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_clock_does_not_wait_for_is_told() {
        let timer = |work: f64| Timer {
            from: "x.py:3".to_owned(),
            to: "x.py:9".to_owned(),
            clock: "time.time".to_owned(),
            times: 1,
            here_s: 0.2,
            gpu_s: Some(Interval::exact(0.3)),
            basis: Basis::Modelled,
            first_call_s: 0.0,
            work_s: Some(work),
            text: String::new(),
        };
        assert_eq!(text(&timer(0.3)), "x.py:3–9 would show 300 ms (200 ms here)");
        assert!(text(&timer(0.300012)).ends_with("; it stops without waiting for the GPU, which hides 12 µs"));
        assert!(text(&timer(1.0)).ends_with("; the work takes 1 s: wait for the GPU before reading the clock"));
    }
}
