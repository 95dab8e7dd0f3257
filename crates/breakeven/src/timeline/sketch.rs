//! A timeline in few columns: how busy each row was in each stretch of the run.

use super::{Actor, Round, Segment, Sink, Slot};

/// What the rows are.
pub const ROWS: [&str; 7] = ["start-up", "Python", "launching", "waiting", "kernels", "copies in", "copies back"];

/// Shares of busy time, filled as things happen. Rounds that repeat are spread evenly over the time they take.
#[derive(Clone, Debug)]
pub struct Sketch {
    span: f64,
    busy: [Vec<f64>; ROWS.len()],
    /// Busy time since the beginning of each open round, by row.
    open: Vec<[f64; ROWS.len()]>,
}

impl Sketch {
    /// `columns` for a run of `span` seconds.
    pub fn new(span: f64, columns: usize) -> Self {
        Self { span, busy: std::array::from_fn(|_| vec![0.0; columns.max(1)]), open: Vec::new() }
    }

    /// Start-up of so many seconds, before all else.
    pub fn startup(&mut self, time: f64) {
        self.add(0, 0.0, time, time);
    }

    /// Share of each column's time, 0 to 1, by row.
    pub fn shares(self) -> [Vec<f64>; ROWS.len()] {
        let width = self.span / self.busy[0].len() as f64;
        self.busy
            .map(|row| row.into_iter().map(|t| if width > 0.0 { (t / width).clamp(0.0, 1.0) } else { 0.0 }).collect())
    }

    /// `time` seconds of work, spread evenly over a stretch.
    fn add(&mut self, row: usize, from: f64, to: f64, time: f64) {
        let columns = self.busy[row].len();
        let scale = columns as f64 / self.span;
        if !(scale.is_finite() && to > from) {
            return;
        }
        let column = |at: f64| ((at * scale).max(0.0) as usize).min(columns - 1);
        for i in column(from)..=column(to) {
            let (left, right) = (i as f64 / scale, (i + 1) as f64 / scale);
            self.busy[row][i] += (to.min(right) - from.max(left)).max(0.0) / (to - from) * time;
        }
    }
}

/// The row that shows it.
pub(super) fn row(actor: Actor, slot: Slot) -> Option<usize> {
    match (actor, slot) {
        (Actor::Host, Slot::Launch) => Some(2),
        (Actor::Host, Slot::Sync) => Some(3),
        // The engine's own row shows it.
        (Actor::Host, Slot::Transfer) => None,
        (Actor::Host, _) => Some(1),
        (Actor::Device, _) => Some(4),
        (Actor::Upload, _) => Some(5),
        (Actor::Download, _) => Some(6),
    }
}

/// Whose time a row shows.
pub(super) fn actor(row: usize) -> Actor {
    match row {
        0..=3 => Actor::Host,
        4 => Actor::Device,
        5 => Actor::Upload,
        _ => Actor::Download,
    }
}

impl Sink for Sketch {
    fn segment(&mut self, segment: Segment) {
        let Some(row) = row(segment.actor, segment.slot) else { return };
        self.add(row, segment.start, segment.start + segment.duration, segment.duration);
        if let Some(open) = self.open.last_mut() {
            open[row] += segment.duration;
        }
    }

    fn round(&mut self) {
        self.open.push([0.0; ROWS.len()]);
    }

    fn round_over(&mut self, round: Round) {
        let Some(once) = self.open.pop() else { return };
        let more = round.more as f64;
        for (row, time) in once.into_iter().enumerate() {
            let lap = round.lap(actor(row));
            if more > 0.0 {
                self.add(row, lap.end, lap.end + lap.period * more, time * more);
            }
            if let Some(outer) = self.open.last_mut() {
                outer[row] += time * (1.0 + more);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::timeline::{Compact, Machine, Task, simulate};
    use crate::workload::Step;

    #[test]
    fn rows_hold_as_much_time_as_the_timeline_has() {
        let machine = Machine { launch_latency: 4e-6, sync_latency: 5e-6, queue_depth: 1024 };
        let kernel = Task { gap: 2e-6, dispatch: 1e-6, device: 1e-5, launches: 1, ..Task::NONE };
        let read = Task { download: 1e-5, wait_stream: true, ..Task::NONE };
        let body = vec![Step::Repeat(50, vec![Step::Run(0)]), Step::Run(1)];
        let order = Compact::new(&[Step::Repeat(1000, body)]);
        let span = simulate(&[kernel, read], &order, &machine, &mut ()).total();
        let mut sketch = Sketch::new(span, 40);
        simulate(&[kernel, read], &order, &machine, &mut sketch);
        let shares = sketch.shares();
        let busy = |row: usize| shares[row].iter().sum::<f64>() * span / 40.0;
        for (row, expected) in [(1, 0.1), (2, 0.05), (4, 0.5), (6, 0.01)] {
            assert!((busy(row) / expected - 1.0).abs() < 1e-2, "{}: {}", ROWS[row], busy(row));
        }
        let host = busy(1) + busy(2) + busy(3) + busy(6);
        assert!((host / span - 1.0).abs() < 2e-2, "{host} of {span}");
    }

    #[test]
    fn nothing_at_all_is_all_zero() {
        let sketch = Sketch::new(0.0, 8);
        assert!(sketch.shares().iter().flatten().all(|share| *share == 0.0));
    }
}
