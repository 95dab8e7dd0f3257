//! What the script's own clocks would show on a GPU: a span between two reads of a clock, and what lies in it.

use super::Note;
use super::gpu::Question;
use super::plan::Plan;
use crate::report::words;
use crate::timeline::{Compact, Task, finish, host_time};
use crate::workload::{Marker, Sequence, file_name, order};
use std::collections::{BTreeMap, BTreeSet};

/// Ops that are looked at; a clock read after so many says nothing new.
const MOST_OPS: usize = 1_000_000;
/// Clocks that are looked at, each with all ops: the recorders know thirteen.
const MOST_CLOCKS: usize = 16;
/// Spans that are told of, each code apart.
const MOST_NOTES: usize = 3;

/// What lies between two reads of the same clock.
#[derive(Default)]
pub(crate) struct Span {
    /// The ops in it.
    pub(crate) order: Sequence,
    /// It hands work to the device.
    kernels: bool,
    /// The host has waited since.
    waited: bool,
    /// It copies.
    copies: bool,
    /// Nothing ran on the device before.
    first: bool,
    /// Ops in it.
    pub(crate) ops: u64,
}

/// Notes on spans of a program that uses a GPU library itself.
pub(super) fn notes(q: &Question, plan: &Plan) -> Vec<Note> {
    let (mut unwaited, mut partial) = (Vec::new(), Vec::new());
    let mut told = BTreeSet::new();
    let crosses = plan.tasks.iter().any(|task| task.upload + task.download > 0.0);
    for (from, to, span) in spans(q, plan) {
        if !span.kernels || of_device(from) || !told.insert((from.site, to.site)) {
            continue;
        }
        let order = Compact::new(&span.order.clone().finish());
        let shown = host_time(&plan.tasks, &order, q.port.machine());
        let takes = finish(&plan.tasks, &order, q.port.machine()).total();
        let place = place(q, from, to);
        if !span.waited {
            unwaited.push(Note::new(
                "timer-without-wait",
                format!(
                    "the clock of {place} is stopped without waiting for the GPU: it would show about {}, the work \
                     takes about {}; synchronise before reading it",
                    words::seconds(shown),
                    words::seconds(takes)
                ),
            ));
        }
        let copies = (!span.copies && crosses).then(|| {
            let bytes = |b| if b > 0.0 { words::bytes(b) } else { "nothing".to_owned() };
            format!("leaves out the copies ({} to the GPU, {} back)", bytes(plan.h2d_bytes), bytes(plan.d2h_bytes))
        });
        let set_up = (span.first && q.first_use.p50 > 0.0)
            .then(|| format!("includes set-up at first use (about {}, assumed)", words::seconds(q.first_use.p50)));
        let parts: Vec<String> = [copies, set_up].into_iter().flatten().collect();
        if !parts.is_empty() {
            let text = format!(
                "on a GPU the time that {place} takes {}; without set-up it would show about {}",
                parts.join(" and "),
                words::seconds(shown)
            );
            partial.push(Note::new("timed-span", text));
        }
    }
    unwaited.truncate(MOST_NOTES);
    partial.truncate(MOST_NOTES);
    unwaited.extend(partial);
    unwaited
}

fn place(q: &Question, from: &Marker, to: &Marker) -> String {
    let site = |marker: &Marker| q.workload.sites.get(marker.site as usize).map_or(("?", 0), |s| (&s.file, s.line));
    let ((file, first), (_, last)) = (site(from), site(to));
    format!("{}:{}–{}", words::printable(file_name(file), 80), first.min(last), first.max(last))
}

/// Every pair of reads of the same clock that follow each other, whatever other clocks say in between; as they begin.
pub(crate) fn spans<'a>(q: &Question<'a>, plan: &Plan) -> Vec<(&'a Marker, &'a Marker, Span)> {
    let mut by_clock: BTreeMap<&str, Vec<&Marker>> = BTreeMap::new();
    for marker in &q.workload.markers {
        by_clock.entry(&marker.clock).or_default().push(marker);
    }
    let mut found: Vec<_> =
        by_clock.into_values().take(MOST_CLOCKS).flat_map(|reads| of_clock(q, plan, &reads)).collect();
    found.sort_by_key(|(from, ..)| (from.position, from.at_ns));
    found
}

fn of_clock<'a>(q: &Question<'a>, plan: &Plan, reads: &[&'a Marker]) -> Vec<(&'a Marker, &'a Marker, Span)> {
    let mut ops = order::expand(&q.workload.order).take(MOST_OPS).enumerate().peekable();
    let mut found = Vec::new();
    let mut device_used = false;
    for pair in reads.windows(2) {
        let (from, to) = (pair[0], pair[1]);
        while let Some((_, entry)) = ops.next_if(|(at, _)| (*at as u64) < from.position) {
            device_used |= plan.tasks[entry as usize].device > 0.0;
        }
        let mut span = Span { first: !device_used, ..Span::default() };
        while let Some((_, entry)) = ops.next_if(|(at, _)| (*at as u64) < to.position) {
            span.order.push(entry);
            span.ops += 1;
            span.see(&plan.tasks[entry as usize]);
        }
        device_used |= span.kernels;
        if ops.peek().is_some() || to.position < MOST_OPS as u64 {
            found.push((from, to, span));
        }
    }
    found
}

impl Span {
    /// No array operation lies in it.
    pub(crate) fn is_empty(&self) -> bool {
        self.ops == 0
    }

    fn see(&mut self, task: &Task) {
        if task.device > 0.0 {
            (self.kernels, self.waited) = (true, false);
        }
        let reads_back = task.download > 0.0 && !task.asynchronous;
        self.copies |= task.upload + task.download > 0.0;
        self.waited |= task.wait || task.wait_stream || reads_back;
    }
}

/// Whether the clock is the device's: its events take the time at which the device comes to them.
pub(crate) fn of_device(marker: &Marker) -> bool {
    marker.clock.starts_with("cuda.")
}
