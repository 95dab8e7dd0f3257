//! Watching: a look at each deadline, until something ends it.

use crate::reading::{Note, Sample};
use crate::source::Machine;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

/// How often it is looked whether a watched process still runs.
const ALIVE: Duration = Duration::from_millis(250);

/// How and for how long to watch.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Time from one look to the next.
    pub interval: Duration,
    /// It ends after that.
    pub length: Option<Duration>,
    /// It ends with the process that [`Machine::own`] names.
    pub with_own: bool,
}

/// Who takes what was seen.
pub trait Sink {
    /// The next sample.
    fn sample(&mut self, sample: &Sample);

    /// Something to know, told once.
    fn note(&mut self, note: &Note);

    /// Whether nobody wants more, so that watching may end.
    fn enough(&self) -> bool {
        false
    }
}

/// Deadlines at whole multiples of an interval from the start, so that a late look does not shift the later ones.
#[derive(Debug)]
struct Deadlines {
    interval: Duration,
    next: u32,
    missed: u64,
}

impl Deadlines {
    /// The next deadline after so much time, from the start; those that have passed unused are counted.
    fn after(&mut self, passed: Duration) -> Duration {
        let steps = passed.as_nanos() / self.interval.as_nanos().max(1);
        let due = u32::try_from(steps + 1).unwrap_or(u32::MAX).max(self.next + 1);
        self.missed += u64::from(due - self.next - 1);
        self.next = due;
        self.interval.saturating_mul(due)
    }
}

/// Watches until `stop` says so or the plan ends; how many looks were missed. What was seen goes to the sinks, the last
/// look included.
pub fn watch(machine: &mut Machine, plan: Plan, stop: &Receiver<()>, sinks: &mut [&mut dyn Sink]) -> u64 {
    let start = Instant::now();
    let mut sample = Sample::default();
    let mut deadlines = Deadlines { interval: plan.interval, next: 0, missed: 0 };
    loop {
        look(machine, start, false, &mut sample, sinks);
        let next = start + deadlines.after(start.elapsed());
        let end = plan.length.map(|length| start + length);
        let due = end.map_or(next, |end| end.min(next));
        let enough = sinks.iter().any(|sink| sink.enough());
        if enough || !wait(machine, plan, stop, due) || end.is_some_and(|end| end <= due) {
            break;
        }
    }
    look(machine, start, true, &mut sample, sinks);
    deadlines.missed
}

fn look(machine: &mut Machine, start: Instant, last: bool, sample: &mut Sample, sinks: &mut [&mut dyn Sink]) {
    machine.look(start.elapsed().as_secs_f64(), last, sample);
    let notes = machine.notes();
    for sink in sinks {
        notes.iter().for_each(|note| sink.note(note));
        sink.sample(sample);
    }
}

/// Waits until then; whether to go on.
fn wait(machine: &Machine, plan: Plan, stop: &Receiver<()>, due: Instant) -> bool {
    loop {
        if plan.with_own && !machine.own_runs() {
            return false;
        }
        let left = due.saturating_duration_since(Instant::now());
        let slice = if plan.with_own { left.min(ALIVE) } else { left };
        match stop.recv_timeout(slice) {
            Ok(()) | Err(RecvTimeoutError::Disconnected) => return false,
            Err(RecvTimeoutError::Timeout) if slice >= left => return true,
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deadlines_do_not_drift_and_missed_ones_are_counted() {
        let mut deadlines = Deadlines { interval: Duration::from_millis(100), next: 0, missed: 0 };
        let after = |deadlines: &mut Deadlines, ms| deadlines.after(Duration::from_millis(ms)).as_millis();
        assert_eq!(after(&mut deadlines, 3), 100);
        assert_eq!(after(&mut deadlines, 104), 200);
        assert_eq!((after(&mut deadlines, 455), deadlines.missed), (500, 2));
        assert_eq!(after(&mut deadlines, 499), 600);
    }
}
