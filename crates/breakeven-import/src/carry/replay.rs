//! Launches, kernels and waits again with kernels of other lengths: when would it be done?
//!
//! The host goes on as it did, and waits as long as it must. A kernel that began shortly after its launch begins
//! shortly after it again, or when the one before it on its stream is done; one that had waited for longer begins as long after
//! what ended last before it. With all lengths as recorded, everything is where it was.

use super::groups::Groups;
use crate::lanes::Lane;
use crate::model::{Does, Trace};
use crate::span::{Span, When};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// What ran on a GPU.
#[derive(Clone, Copy)]
struct Piece {
    span: Span,
    lane: u32,
    /// When the host asked for it.
    asked: Option<i64>,
    group: u32,
}

/// One process, ready to be played.
pub(super) struct Replay {
    /// In order of their beginning.
    pieces: Vec<Piece>,
    /// Waits of the host, by process, in order of their end.
    waits: Vec<(u16, Span)>,
    lanes: Vec<Lane>,
    /// What is played: from the first step, launch or kernel to the end of the last.
    window: Span,
    steps: Vec<Span>,
    /// ns from a launch to its kernel, where nothing stands between them.
    latency: i64,
}

/// What came of it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Played {
    /// Its length over the recorded one.
    pub(super) factor: f64,
    /// The share of it in which the GPUs were busy.
    pub(super) busy: f64,
}

/// Pieces that are played; of longer traces the first.
const MOST: usize = 200_000;
/// A kernel that began this many latencies after its launch had waited for something else.
const WAITED: i64 = 2;

impl Replay {
    pub(super) fn of(trace: &Trace, groups: &Groups) -> Self {
        let mut pieces = Vec::with_capacity(trace.kernels.len());
        let mut add = |when: When, lane: u32, asked: Option<i64>, group: u32| {
            if let Some(span) = when.span() {
                pieces.push(Piece { span, lane, asked, group });
            }
        };
        for (kernel, group) in trace.kernels.iter().zip(&groups.kernels) {
            add(kernel.when, kernel.lane, kernel.asked(), *group);
        }
        for (copy, group) in trace.copies.iter().zip(&groups.copies) {
            add(copy.when, copy.lane, None, *group);
        }
        for (all, group) in [(&trace.memsets, groups.memsets), (&trace.graphs, groups.graphs)] {
            all.iter().for_each(|(lane, when)| add(*when, *lane, None, group));
        }
        let mut steps: Vec<Span> = trace.steps.iter().map(|step| step.span).collect();
        steps.sort_unstable();
        let begun = steps.first().map(|step| step.from);
        let over = steps.iter().map(|step| step.to).max();
        let inside = |piece: &Piece| {
            let at = piece.asked.unwrap_or(piece.span.from);
            begun.is_none_or(|begun| begun <= at) && over.is_none_or(|over| at <= over)
        };
        // Steps of a clock that no kernel is on say nothing of kernels.
        let any = pieces.iter().any(inside);
        if any {
            pieces.retain(inside);
        } else {
            steps.clear();
        }
        pieces.sort_unstable_by_key(|piece| (piece.span, piece.lane));
        pieces.truncate(MOST);
        let first = pieces.iter().map(|piece| piece.asked.unwrap_or(piece.span.from)).min().unwrap_or(0);
        let end = pieces.iter().map(|piece| piece.span.to).max().unwrap_or(0);
        let from = begun.filter(|_| any).map_or(first, |begun| begun.min(first));
        let to = over.filter(|_| any && pieces.len() < MOST).map_or(end, |over| over.max(end));
        let waits =
            trace.calls.iter().filter(|call| call.does() == Does::Wait).map(|call| (call.process(), call.span()));
        let mut waits: Vec<(u16, Span)> = waits.filter(|(_, span)| span.from >= from && span.to <= to).collect();
        waits.sort_unstable_by_key(|(_, span)| (span.to, span.from));
        let mut delays: Vec<i64> = pieces.iter().filter_map(|piece| Some(piece.span.from - piece.asked?)).collect();
        delays.sort_unstable();
        let latency = delays.get(delays.len() / 20).copied().unwrap_or(0);
        // From 0 on, for times since 1970 are too large for ns in a float.
        let since = |span: Span| Span { from: span.from - from, to: span.to - from };
        for piece in &mut pieces {
            (piece.span, piece.asked) = (since(piece.span), piece.asked.map(|asked| asked - from));
        }
        waits.iter_mut().for_each(|(_, span)| *span = since(*span));
        steps.iter_mut().for_each(|span| *span = since(*span));
        let window = since(Span { from, to });
        Self { pieces, waits, lanes: trace.lanes.all().to_vec(), window, steps, latency }
    }

    /// How many are played.
    pub(super) fn pieces(&self) -> usize {
        self.pieces.len()
    }

    /// The recorded length of a step in the mean, s; of all where none is marked.
    #[expect(clippy::cast_precision_loss, reason = "104 days in ns are exact")]
    pub(super) fn step_s(&self) -> f64 {
        let all: i64 = self.steps.iter().map(|step| step.length()).sum();
        if self.steps.is_empty() { self.whole_s() } else { all as f64 * 1e-9 / self.steps.len() as f64 }
    }

    /// The recorded length of all that is played, s.
    #[expect(clippy::cast_precision_loss, reason = "104 days in ns are exact")]
    pub(super) fn whole_s(&self) -> f64 {
        self.window.length() as f64 * 1e-9
    }

    /// Plays it with each group's kernels so many times as long, and the host's own time `host` times as long.
    #[expect(clippy::cast_precision_loss, reason = "104 days in ns are exact")]
    pub(super) fn play(&self, factors: &[f64], host: f64) -> Played {
        let mut hosts = Hosts { from: self.window.from as f64, marks: BTreeMap::new(), pace: host };
        let mut gpus: BTreeMap<i64, Running> = BTreeMap::new();
        let mut on_lane: Vec<Option<(i64, f64)>> = vec![None; self.lanes.len()];
        let mut waits = self.waits.iter().peekable();
        for piece in &self.pieces {
            while let Some((process, span)) = waits.next_if(|(_, span)| span.to <= piece.span.from) {
                hosts.wait(*process, *span, &mut gpus, &self.lanes);
            }
            let lane = self.lanes.get(piece.lane as usize).copied().unwrap_or_default();
            let running = gpus.entry(lane.gpu).or_default();
            running.settle(piece.span.from);
            let before = on_lane.get(piece.lane as usize).copied().flatten().filter(|(end, _)| *end <= piece.span.from);
            let asked = piece.asked.filter(|asked| *asked >= self.window.from);
            let delay = asked.map(|asked| piece.span.from - asked);
            let from = match (asked, delay) {
                (Some(asked), Some(delay)) if delay <= WAITED * self.latency + 2000 => {
                    let free = before.map_or(f64::MIN, |(_, now)| now);
                    (hosts.at(lane.process, asked) + delay as f64).max(free)
                }
                _ => {
                    let launched = asked.map_or(f64::MIN, |asked| hosts.at(lane.process, asked) + self.latency as f64);
                    let after = running.last.map(|(end, now)| now + (piece.span.from - end) as f64);
                    after.unwrap_or_else(|| hosts.at(lane.process, piece.span.from)).max(launched)
                }
            };
            let factor = factors.get(piece.group as usize).copied().unwrap_or(1.0);
            let to = from + piece.span.length() as f64 * factor;
            running.begin(piece.span.to, from, to);
            if let Some(place) = on_lane.get_mut(piece.lane as usize) {
                let later = place.is_none_or(|(_, now)| now <= to);
                *place = if later { Some((piece.span.to, to)) } else { *place };
            }
        }
        for (process, span) in waits {
            hosts.wait(*process, *span, &mut gpus, &self.lanes);
        }
        let last = self.steps.iter().map(|step| step.to).max().filter(|last| *last <= self.window.to);
        let host_end = last.map_or(f64::MIN, |last| hosts.latest(last));
        let end = gpus.values().map(|running| running.frontier).fold(host_end, f64::max);
        let (old, new) = (self.window.length() as f64, end - self.window.from as f64);
        let busy: f64 = gpus.values().map(|running| running.busy).sum::<f64>() / gpus.len().max(1) as f64;
        Played {
            factor: if old > 0.0 && new > 0.0 { new / old } else { 1.0 },
            busy: if new > 0.0 { (busy / new).min(1.0) } else { 0.0 },
        }
    }
}

/// What runs on one GPU, by its recorded end.
#[derive(Default)]
struct Running {
    open: BinaryHeap<Reverse<(i64, u64)>>,
    /// What ended last: when it did, and when it does now.
    last: Option<(i64, f64)>,
    /// When all of what has ended by then is done now.
    done: f64,
    frontier: f64,
    busy: f64,
    begun: bool,
}

impl Running {
    /// What has ended by then is no more running.
    fn settle(&mut self, at: i64) {
        while let Some(Reverse((end, now))) = self.open.peek().copied().filter(|Reverse((end, _))| *end <= at) {
            self.open.pop();
            let now = f64::from_bits(now);
            self.done = self.done.max(now);
            // Of those that ended together the later one holds.
            let later = self.last.is_none_or(|(known, then)| known < end || then < now);
            if later {
                self.last = Some((end, now));
            }
        }
    }

    fn begin(&mut self, end: i64, from: f64, to: f64) {
        if !self.begun {
            (self.frontier, self.begun) = (from, true);
        }
        self.busy += (to - from.max(self.frontier)).max(0.0);
        self.frontier = self.frontier.max(to);
        self.open.push(Reverse((end, to.to_bits())));
    }
}

/// The host's clock of each process: when what it did at a recorded time happens now.
struct Hosts {
    from: f64,
    /// Ends of waits: recorded, and now.
    marks: BTreeMap<u16, Vec<(i64, f64)>>,
    pace: f64,
}

impl Hosts {
    #[expect(clippy::cast_precision_loss, reason = "104 days in ns are exact")]
    fn at(&self, process: u16, at: i64) -> f64 {
        let marks = self.marks.get(&process).map_or(&[][..], Vec::as_slice);
        let place = marks.partition_point(|(then, _)| *then <= at);
        match place.checked_sub(1).and_then(|place| marks.get(place)) {
            Some((then, now)) => now + (at - then) as f64 * self.pace,
            None => self.from + (at as f64 - self.from) * self.pace,
        }
    }

    /// The latest clock of any process.
    fn latest(&self, at: i64) -> f64 {
        let all = self.marks.keys().map(|process| self.at(*process, at));
        // Without any wait the one host there is goes on as it did.
        all.reduce(f64::max).unwrap_or_else(|| self.at(u16::MAX, at))
    }

    /// A wait ends as long after what ended last before it as it did; one that waited for nothing takes as long, unless
    /// what had ended by then has not.
    #[expect(clippy::cast_precision_loss, reason = "104 days in ns are exact")]
    fn wait(&mut self, process: u16, span: Span, gpus: &mut BTreeMap<i64, Running>, lanes: &[Lane]) {
        let begun = self.at(process, span.from);
        let mine = |gpu: i64| lanes.iter().any(|lane| lane.gpu == gpu && lane.process == process);
        let (mut waited, mut end) = (false, begun);
        for (_, running) in gpus.iter_mut().filter(|(gpu, _)| mine(**gpu)) {
            running.settle(span.to);
            if let Some((then, now)) = running.last {
                let held = then > span.from;
                waited |= held;
                end = end.max(running.done).max(if held { now + (span.to - then) as f64 } else { now });
            }
        }
        let end = if waited { end } else { end.max(begun + span.length() as f64 * self.pace) };
        self.marks.entry(process).or_default().push((span.to, end));
    }
}

#[cfg(test)]
mod tests {
    use super::{Groups, Replay};
    use crate::model::{Call, Does, Gpu, Kernel, Step, Trace};
    use crate::span::{Span, When};
    use breakeven::hardware::Catalogue;
    use proptest::prelude::*;

    /// Steps of `count` launches `every` ns apart, kernels of `long` ns, and a wait at the end of each.
    fn trace(steps: i64, count: i64, every: i64, long: i64) -> Trace {
        let mut trace = Trace { has_calls: true, holds_kernels: true, holds_copies: true, ..Trace::default() };
        trace.gpus.insert(0, Gpu { name: Some("NVIDIA L4".to_owned()) });
        let name = trace.names.name(b"vectorized_elementwise_kernel");
        let lane = trace.lanes.of(crate::lanes::Lane { gpu: 0, stream: Some(7), process: 0 });
        let (mut now, mut free) = (1_000_000, 0);
        for number in 0..steps {
            let begun = now;
            for _ in 0..count {
                let from = (now + 4_000).max(free);
                let when = When::from(Some(Span { from, to: from + long }));
                let asked_before = u32::try_from(from - now).unwrap_or(u32::MAX);
                trace.kernels.push(Kernel { asked_before, ..Kernel::new(when, name, lane) });
                trace.calls.push(Call::new(Span { from: now, to: now + every }, 0, Does::Launch));
                (now, free) = (now + every, from + long);
            }
            let end = free.max(now) + 3_000;
            trace.calls.push(Call::new(Span { from: now, to: end }, 0, Does::Wait));
            now = end;
            trace.steps.push(Step { number, span: Span { from: begun, to: now }, process: 0 });
        }
        trace
    }

    fn played(trace: &Trace, factor: f64, host: f64) -> (f64, f64) {
        let groups = Groups::of(trace, &Catalogue::embedded().gpu("l4").unwrap().device);
        let replay = Replay::of(trace, &groups);
        let played = replay.play(&vec![factor; groups.all.len()], host);
        (played.factor, played.busy)
    }

    proptest! {
        #[test]
        fn with_lengths_as_recorded_all_is_where_it_was(
            steps in 1..5_i64, count in 1..20_i64, every in 1000..50_000_i64, long in 1000..200_000_i64,
        ) {
            let (factor, _) = played(&trace(steps, count, every, long), 1.0, 1.0);
            prop_assert_eq!(factor, 1.0);
        }

        #[test]
        fn longer_kernels_and_slower_hosts_never_end_earlier(
            steps in 1..5_i64, count in 1..20_i64, every in 1000..50_000_i64, long in 1000..200_000_i64,
            a in 0.05..8.0_f64, more in 1.0..4.0_f64, host in 0.3..3.0_f64,
        ) {
            let trace = trace(steps, count, every, long);
            let at = |factor, host| played(&trace, factor, host).0;
            prop_assert!(at(a * more, host) >= at(a, host) * (1.0 - 1e-12));
            prop_assert!(at(a, host * more) >= at(a, host) * (1.0 - 1e-12));
        }
    }

    #[test]
    fn what_is_bound_by_its_kernels_becomes_bound_by_its_host() {
        // 10 launches of 10 µs each, 100 µs of kernel: 4 + 1000 + 3 µs a step.
        let trace = trace(3, 10, 10_000, 100_000);
        let (twice, busy) = played(&trace, 2.0, 1.0);
        assert!((twice - 2007.0 / 1007.0).abs() < 1e-3 && busy > 0.98, "{twice} {busy}");
        // A hundred times faster, launches are left: 90 to the last, 4 to its kernel, 1, 3.
        let (fast, busy) = played(&trace, 0.01, 1.0);
        assert!((fast - 100.0 / 1007.0).abs() < 0.01 && busy < 0.2, "{fast} {busy}");
        assert!((played(&trace, 0.01, 2.0).0 / fast - 2.0).abs() < 0.2);
    }
}
