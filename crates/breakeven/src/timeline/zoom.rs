//! A timeline to look at closely: how busy each row was in any stretch of it, and what ran there.
//!
//! Each row keeps its stretches in the order of time, with the busy time before each, so that the busy time of any
//! window is the difference of two searches: as fast over the whole run as over a microsecond. Rounds of a loop that
//! are alike are kept once.

use super::sketch::{ROWS, actor, row};
use super::{Round, Segment, Sink};

/// A stretch of one row; where [`REPEAT`] is set, rounds that are alike.
#[derive(Clone, Copy, Debug)]
struct Item {
    start: f64,
    /// Busy time of the row before it, s.
    before: f64,
    length: f32,
    what: u32,
}

/// Set in [`Item::what`] for an index into the repeats of the row, and not a task.
const REPEAT: u32 = 1 << 31;

/// The items from `from` up to the one that says so, again.
#[derive(Clone, Copy, Debug)]
struct Repeat {
    from: usize,
    more: u64,
    /// By how much each round is later, s.
    period: f64,
    /// Busy time of one round, s.
    once: f64,
}

#[derive(Clone, Debug, Default)]
struct Row {
    items: Vec<Item>,
    repeats: Vec<Repeat>,
    /// Busy time so far, s.
    busy: f64,
}

/// One stretch of a row as it is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Piece {
    /// Index into [`ROWS`].
    pub row: usize,
    /// From the beginning, s.
    pub start: f64,
    /// s.
    pub length: f64,
    /// Index of the task.
    pub task: u32,
}

/// The whole timeline, ready for any window.
#[derive(Clone, Debug, Default)]
pub struct Zoom {
    rows: [Row; ROWS.len()],
    /// Items that each row had when each open round began.
    open: Vec<[usize; ROWS.len()]>,
}

impl Zoom {
    /// Start-up of so many seconds, before all else.
    pub fn startup(&mut self, time: f64) {
        self.rows[0].push(0.0, time, !REPEAT);
        self.rows[0].busy += time;
    }

    /// Share of `columns` equal parts of the time from `from` to `to` that each row was busy: all columns of the first
    /// row, then those of the next.
    pub fn shares(&self, from: f64, to: f64, columns: usize) -> Vec<f32> {
        let width = (to - from) / columns.max(1) as f64;
        let mut out = Vec::with_capacity(ROWS.len() * columns);
        for row in &self.rows {
            let mut before = row.busy(0, row.items.len(), from);
            for column in 1..=columns {
                let after = row.busy(0, row.items.len(), from + width * column as f64);
                let share = if width > 0.0 { ((after - before) / width).clamp(0.0, 1.0) } else { 0.0 };
                out.push(share as f32);
                before = after;
            }
        }
        out
    }

    /// Every stretch between `from` and `to`, if there are at most `most`.
    pub fn pieces(&self, from: f64, to: f64, most: usize) -> Option<Vec<Piece>> {
        let mut out = Vec::new();
        for (index, row) in self.rows.iter().enumerate() {
            let mut put = |item: &Item, shift: f64| {
                let (start, length) = (item.start + shift, f64::from(item.length));
                if start + length > from {
                    out.push(Piece { row: index, start, length, task: item.what });
                }
                out.len() <= most
            };
            if !row.visit(0, row.items.len(), 0.0, (from, to), &mut put) {
                return None;
            }
        }
        Some(out)
    }
}

impl Row {
    fn push(&mut self, start: f64, length: f64, what: u32) {
        self.items.push(Item { start, before: self.busy, length: length as f32, what });
    }

    /// Busy time of the items from `from` up to `to` before the moment `at`.
    fn busy(&self, from: usize, to: usize, at: f64) -> f64 {
        let items = &self.items[from..to];
        let begun = items.partition_point(|item| item.start < at);
        let Some(item) = begun.checked_sub(1).map(|last| items[last]) else { return 0.0 };
        let before = item.before - items[0].before;
        if item.what & REPEAT == 0 {
            return before + (at - item.start).min(f64::from(item.length));
        }
        let repeat = self.repeats[(item.what & !REPEAT) as usize];
        let round = (at - item.start) / repeat.period;
        if round >= repeat.more as f64 {
            return before + repeat.once * repeat.more as f64;
        }
        let done = libm::floor(round);
        before + repeat.once * done + self.busy(repeat.from, from + begun - 1, at - (done + 1.0) * repeat.period)
    }

    /// Hands over each task's item of `from..to`, later by `shift`, that may touch the window; false when that was
    /// enough.
    fn visit(
        &self,
        from: usize,
        to: usize,
        shift: f64,
        window: (f64, f64),
        put: &mut impl FnMut(&Item, f64) -> bool,
    ) -> bool {
        let items = &self.items[from..to];
        // The one before may reach into the window.
        let first = items.partition_point(|item| item.start + shift < window.0).saturating_sub(1);
        for (index, item) in items.iter().enumerate().skip(first) {
            if item.start + shift > window.1 {
                break;
            }
            if item.what & REPEAT == 0 {
                if !put(item, shift) {
                    return false;
                }
                continue;
            }
            let repeat = self.repeats[(item.what & !REPEAT) as usize];
            let begins = item.start + shift;
            let mut round = libm::floor((window.0 - begins) / repeat.period).max(0.0);
            while round < repeat.more as f64 && begins + round * repeat.period <= window.1 {
                let later = shift + (round + 1.0) * repeat.period;
                if !self.visit(repeat.from, from + index, later, window, put) {
                    return false;
                }
                round += 1.0;
            }
        }
        true
    }
}

impl Sink for Zoom {
    fn segment(&mut self, segment: Segment) {
        let Some(index) = row(segment.actor, segment.slot) else { return };
        if segment.duration > 0.0 {
            let row = &mut self.rows[index];
            row.push(segment.start, segment.duration, segment.task & !REPEAT);
            row.busy += segment.duration;
        }
    }

    fn round(&mut self) {
        self.open.push(std::array::from_fn(|i| self.rows[i].items.len()));
    }

    fn round_over(&mut self, round: Round) {
        let Some(from) = self.open.pop() else { return };
        if round.more == 0 {
            return;
        }
        for (index, (row, from)) in self.rows.iter_mut().zip(from).enumerate() {
            let lap = round.lap(actor(index));
            let Some(first) = row.items.get(from).copied() else { continue };
            if lap.period <= 0.0 {
                continue;
            }
            let once = row.busy - first.before;
            let what = REPEAT | row.repeats.len() as u32;
            row.repeats.push(Repeat { from, more: round.more, period: lap.period, once });
            row.push(first.start + lap.period, 0.0, what);
            row.busy += once * round.more as f64;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::timeline::{Compact, Machine, Task, simulate};
    use crate::workload::Step;
    use proptest::prelude::*;

    /// Its queue is never full: what a full one does to rounds that are folded is the simulation's affair.
    const MACHINE: Machine = Machine { launch_latency: 4e-6, sync_latency: 5e-6, queue_depth: 4096 };

    fn zoom(tasks: &[Task], order: &[Step]) -> (Zoom, f64) {
        let mut zoom = Zoom::default();
        let span = simulate(tasks, &Compact::new(order), &MACHINE, &mut zoom).total();
        (zoom, span)
    }

    fn unrolled(order: &[Step]) -> Vec<Step> {
        let again = |step: &Step| match step {
            Step::Run(entry) => vec![Step::Run(*entry)],
            Step::Repeat(times, body) => (0..*times).flat_map(|_| unrolled(body)).collect(),
        };
        order.iter().flat_map(again).collect()
    }

    fn task() -> impl Strategy<Value = Task> {
        (0.0..1e-4f64, 1e-6..1e-4f64, 1e-6..1e-4f64, proptest::bool::weighted(0.2)).prop_map(
            |(gap, dispatch, device, read)| {
                let download = if read { 2e-5 } else { 0.0 };
                Task { gap, dispatch, device, launches: 1, download, wait: read, ..Task::NONE }
            },
        )
    }

    proptest! {
        /// What is kept once and told again is what a timeline without loops holds.
        #[test]
        fn any_window_of_a_loop_is_that_of_its_rounds(
            tasks in proptest::collection::vec(task(), 1..5), inner in 1..20u64, outer in 1..20u64,
            window in (0.0..1.0f64, 0.0..1.0f64), columns in 1..40usize,
        ) {
            let body: Vec<Step> = (0..tasks.len() as u32).map(Step::Run).collect();
            let order = [Step::Run(0), Step::Repeat(outer, vec![Step::Run(0), Step::Repeat(inner, body)])];
            let (folded, span) = zoom(&tasks, &order);
            let (plain, _) = zoom(&tasks, &unrolled(&order));
            let (from, to) = (window.0.min(window.1) * span, window.0.max(window.1) * span);
            let (a, b) = (folded.shares(from, to, columns), plain.shares(from, to, columns));
            // A stretch may lie beside a column's edge by what rounds differ in their last digits.
            let slack = 1e-3 * span / ((to - from) / columns as f64).max(1e-12);
            for (i, (a, b)) in a.iter().zip(&b).enumerate() {
                prop_assert!(f64::from((a - b).abs()) <= slack.max(1e-6), "column {i}: {a} {b} of {slack}");
            }
            // Waiting that lasts no longer than the last digit may be there or not.
            let count = |zoom: &Zoom| {
                zoom.pieces(-1.0, 2.0 * span, 1 << 20).map(|all| all.iter().filter(|piece| piece.length > 1e-12).count())
            };
            prop_assert_eq!(count(&folded), count(&plain));
        }

        #[test]
        fn pieces_hold_the_time_that_shares_say(
            tasks in proptest::collection::vec(task(), 1..5), times in 1..200u64, window in (0.0..1.0f64, 0.0..1.0f64),
        ) {
            let order = [Step::Repeat(times, (0..tasks.len() as u32).map(Step::Run).collect())];
            let (zoom, span) = zoom(&tasks, &order);
            let (from, to) = (window.0.min(window.1) * span, window.0.max(window.1) * span);
            let pieces = zoom.pieces(from, to, usize::MAX).expect("as many as there are");
            for (row, share) in zoom.shares(from, to, 1).into_iter().enumerate() {
                let of_row = pieces.iter().filter(|piece| piece.row == row);
                let busy: f64 = of_row.map(|p| (p.start + p.length).min(to) - p.start.max(from)).sum();
                prop_assert!((busy - f64::from(share) * (to - from)).abs() <= 1e-5 * span, "{row}: {busy} {share}");
            }
        }
    }

    #[test]
    fn a_million_rounds_are_a_few_items_and_a_close_look_finds_each() {
        let task = Task { gap: 2e-6, dispatch: 1e-6, device: 1e-6, launches: 1, ..Task::NONE };
        let (zoom, span) = zoom(&[task], &[Step::Repeat(1_000_000, vec![Step::Run(0)])]);
        assert!(zoom.rows.iter().all(|row| row.items.len() < 20));
        assert!(zoom.pieces(0.0, span, 1000).is_none());
        let close = zoom.pieces(span / 2.0, span / 2.0 + 30e-6, 1000).expect("few");
        assert!((25..40).contains(&close.len()), "{}", close.len());
        let shares = zoom.shares(0.0, span, 100);
        assert!(shares[100..200].iter().all(|share| (share - 2.0 / 3.0).abs() < 1e-3), "{:?}", &shares[100..200]);
    }

    #[test]
    fn nothing_at_all_is_all_zero() {
        let empty = Zoom::default();
        assert_eq!(empty.shares(0.0, 0.0, 3), [0.0; 21]);
        assert_eq!(empty.pieces(0.0, 1.0, 0), Some(Vec::new()));
    }
}
