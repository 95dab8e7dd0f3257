//! What the drivers saw the GPUs do while a side ran: that a GPU worked is shown, not believed.

use breakeven_watch::{Field, Machine, Note, Plan, Reading, Sample, Sink, watch};
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::sync::mpsc::{self, Sender};
use std::thread::JoinHandle;
use std::time::Duration;

const INTERVAL: Duration = Duration::from_millis(50);
/// A program that opens a GPU takes more of its memory than that, whatever it does there, bytes.
const OPENED: f64 = 32e6;

/// What the GPU that did most was seen to do. What its driver does not say is `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Activity {
    /// Share of the time in which it was busy, 0 to 1.
    pub(crate) busy: Option<f64>,
    /// Its memory in use beyond that at the start, at most, bytes.
    pub(crate) memory_bytes: Option<f64>,
}

impl Activity {
    /// Whether it did anything; `None` where its driver says too little.
    pub(crate) fn worked(self) -> Option<bool> {
        let (busy, memory) = (self.busy?, self.memory_bytes?);
        Some(busy > 0.0 || memory >= OPENED)
    }
}

/// Looks at the GPUs while something runs.
pub(crate) struct Watching {
    stop: Sender<()>,
    thread: JoinHandle<Option<Activity>>,
}

impl Watching {
    /// Begins, where there are GPUs with a driver that can be asked.
    pub(crate) fn start() -> Option<Self> {
        let mut machine = Machine::find(Path::new("/"));
        if machine.gpus().is_empty() {
            return None;
        }
        let (stop, stopped) = mpsc::channel();
        let thread = std::thread::spawn(move || {
            let mut seen = Seen::default();
            let plan = Plan { interval: INTERVAL, length: None, with_own: false };
            watch(&mut machine, plan, &stopped, &mut [&mut seen]);
            seen.most_active()
        });
        Some(Self { stop, thread })
    }

    /// Ends; what was seen.
    pub(crate) fn finish(self) -> Option<Activity> {
        drop(self.stop);
        self.thread.join().ok().flatten()
    }
}

/// Each GPU, as samples come.
#[derive(Default)]
struct Seen(Vec<One>);

#[derive(Clone, Copy, Default)]
struct One {
    busy: f64,
    looks: f64,
    first: Option<f64>,
    most: Option<f64>,
}

impl One {
    fn take(&mut self, reading: &Reading) {
        if let Some(busy) = reading.get(Field::Busy) {
            self.busy += busy;
            self.looks += 1.0;
        }
        let memory = reading.get(Field::Memory);
        self.first = self.first.or(memory);
        self.most = self.most.into_iter().chain(memory).reduce(f64::max);
    }

    fn activity(self) -> Activity {
        Activity {
            busy: (self.looks > 0.0).then(|| self.busy / self.looks),
            memory_bytes: self.first.zip(self.most).map(|(first, most)| most - first),
        }
    }
}

impl Seen {
    fn most_active(&self) -> Option<Activity> {
        let key = |activity: &Activity| (activity.busy.unwrap_or(0.0), activity.memory_bytes.unwrap_or(0.0));
        let all = self.0.iter().map(|gpu| gpu.activity());
        all.max_by(|one, other| key(one).partial_cmp(&key(other)).unwrap_or(std::cmp::Ordering::Equal))
    }
}

impl Sink for Seen {
    fn sample(&mut self, sample: &Sample) {
        self.0.resize(sample.gpus.len(), One::default());
        for (gpu, reading) in self.0.iter_mut().zip(&sample.gpus) {
            gpu.take(reading);
        }
    }

    fn note(&mut self, _: &Note) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(looks: &[[Option<f64>; 2]]) -> Option<Activity> {
        let mut seen = Seen::default();
        for look in looks {
            let mut reading = Reading::default();
            reading.set(Field::Busy, look[0]);
            reading.set(Field::Memory, look[1]);
            seen.sample(&Sample { gpus: vec![Reading::default(), reading], ..Sample::default() });
        }
        seen.most_active()
    }

    #[test]
    fn a_gpu_that_nobody_opened_did_nothing() {
        let idle = seen(&[[Some(0.0), Some(4e8)], [Some(0.0), Some(4.1e8)]]);
        assert_eq!(idle.and_then(Activity::worked), Some(false));
        let opened = seen(&[[Some(0.0), Some(4e8)], [Some(0.0), Some(9e8)], [Some(0.0), Some(5e8)]]);
        assert_eq!(opened.map(|a| (a.worked(), a.memory_bytes)), Some((Some(true), Some(5e8))));
        let busy = seen(&[[Some(0.0), Some(4e8)], [Some(0.5), Some(4e8)]]);
        assert_eq!(busy.map(|a| (a.worked(), a.busy)), Some((Some(true), Some(0.25))));
    }

    #[test]
    fn what_a_driver_does_not_say_is_no_evidence() {
        assert_eq!(seen(&[[None, Some(4e8)]]).and_then(Activity::worked), None);
        assert_eq!(seen(&[]).and_then(Activity::worked), None);
    }
}
