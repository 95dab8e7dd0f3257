//! The simulation itself.

use super::compact::Word;
use super::{Actor, Compact, Machine, Segment, Sink, Slot, Task};
use crate::estimate::Breakdown;

const SLOTS: usize = 7;
type Parts = [f64; SLOTS];

/// Finish time of the program in seconds, by parts. `tasks` are indexed by the entries of `order`; entries without a
/// task take no time.
pub fn simulate(tasks: &[Task], order: &Compact, machine: &Machine, sink: &mut impl Sink) -> Breakdown {
    let mut run = Run {
        tasks,
        hot: tasks.iter().map(Hot::of).collect(),
        order,
        machine,
        sink,
        at: State { host: 0.0, device: 0.0, host_parts: [0.0; SLOTS], device_parts: [0.0; SLOTS], launched: 0 },
        queue: vec![0.0; machine.queue_depth.max(1) as usize],
        head: 0,
    };
    run.words(order.top());
    let parts = if run.at.device > run.at.host { run.at.device_parts } else { run.at.host_parts };
    let [host, launch, compute, memory, transfer, sync, startup] = parts;
    Breakdown { host, launch, compute, memory, transfer, sync, startup }
}

/// What most tasks are: a gap, a dispatch, a kernel. Small, so that thousands stay in the cache.
#[derive(Clone, Copy)]
struct Hot {
    gap: f64,
    dispatch: f64,
    device: f64,
    slot: u8,
    /// One launch at most, no copy, no wait, nothing on the host.
    plain: bool,
}

impl Hot {
    fn of(task: &Task) -> Self {
        let plain =
            !task.wait && task.launches <= 1 && task.upload + task.download + task.on_host + task.upload_after <= 0.0;
        Self { gap: task.gap, dispatch: task.dispatch, device: task.device, slot: task.slot as u8, plain }
    }
}

/// Both actors' clocks, each with the attribution of the path that led there.
#[derive(Clone, Copy)]
struct State {
    host: f64,
    device: f64,
    host_parts: Parts,
    device_parts: Parts,
    launched: u64,
}

impl State {
    fn since(&self, before: &Self) -> Self {
        let minus = |a: &Parts, b: &Parts| std::array::from_fn(|i| a[i] - b[i]);
        Self {
            host: self.host - before.host,
            device: self.device - before.device,
            host_parts: minus(&self.host_parts, &before.host_parts),
            device_parts: minus(&self.device_parts, &before.device_parts),
            launched: self.launched - before.launched,
        }
    }

    /// Whether two rounds of a loop cost the same, to within rounding.
    fn same_as(&self, other: &Self) -> bool {
        let scale = self.host.abs().max(self.device.abs());
        let close = |a: f64, b: f64| (a - b).abs() <= 1e-9 * scale;
        close(self.host, other.host)
            && close(self.device, other.device)
            && self.host_parts.iter().zip(&other.host_parts).all(|(a, b)| close(*a, *b))
            && self.device_parts.iter().zip(&other.device_parts).all(|(a, b)| close(*a, *b))
    }

    fn add(&mut self, round: &Self, times: u64) {
        let n = times as f64;
        self.host += round.host * n;
        self.device += round.device * n;
        for i in 0..SLOTS {
            self.host_parts[i] += round.host_parts[i] * n;
            self.device_parts[i] += round.device_parts[i] * n;
        }
        self.launched = self.launched.saturating_add(round.launched.saturating_mul(times));
    }
}

struct Run<'a, S: Sink> {
    tasks: &'a [Task],
    hot: Vec<Hot>,
    order: &'a Compact,
    machine: &'a Machine,
    sink: &'a mut S,
    at: State,
    /// Completion times of the last kernels, a ring; `head` is the oldest.
    queue: Vec<f64>,
    head: usize,
}

impl<S: Sink> Run<'_, S> {
    fn words(&mut self, words: &[u32]) {
        let order = self.order;
        for word in words {
            match order.word(*word) {
                Word::Run(entry) => match self.hot.get(entry as usize) {
                    Some(&hot) if hot.plain => self.plain(entry, hot),
                    Some(_) => self.task(entry, self.tasks[entry as usize]),
                    None => {}
                },
                Word::Repeat(times, body) => self.repeat(times, body),
            }
        }
    }

    fn repeat(&mut self, times: u64, body: &[u32]) {
        let mut last: Option<State> = None;
        let mut done = 0;
        while done < times {
            let before = self.at;
            self.words(body);
            done += 1;
            let round = self.at.since(&before);
            if last.is_some_and(|l| round.same_as(&l)) {
                let more = self.rounds_alike(&round).min(times - done);
                if more > 0 {
                    self.sink.repeated(before.host, round.host.max(round.device), more);
                    self.at.add(&round, more);
                    self.refill_queue(&round);
                    done += more;
                }
            }
            last = Some(round);
        }
    }

    /// How many more rounds will cost what `round` did before the device catches up or its queue is full.
    fn rounds_alike(&self, round: &State) -> u64 {
        let drift = round.device - round.host;
        let lag = self.at.device - self.at.host;
        let rounds = if drift.abs() <= 1e-9 * round.device.abs().max(round.host.abs()) {
            return u64::MAX;
        } else if drift > 0.0 {
            if round.launched == 0 {
                return u64::MAX;
            }
            let deep = self.queue.len() as f64 / round.launched as f64 * round.device;
            ((deep - lag) / drift).floor() - 2.0
        } else if lag <= 0.0 {
            // The device is idle and stays so.
            return u64::MAX;
        } else {
            ((lag - round.host) / -drift).floor() - 1.0
        };
        if rounds > 0.0 { rounds as u64 } else { 0 }
    }

    fn refill_queue(&mut self, round: &State) {
        if round.launched == 0 {
            return;
        }
        let depth = self.queue.len();
        let spacing = round.device / round.launched as f64;
        for back in 0..depth {
            let place = (self.head + depth - 1 - back) % depth;
            self.queue[place] = (self.at.device - spacing * back as f64).max(0.0);
        }
    }

    #[inline]
    fn host(&mut self, entry: u32, slot: Slot, duration: f64) {
        if duration > 0.0 {
            self.sink.segment(Segment { actor: Actor::Host, slot, task: entry, start: self.at.host, duration });
            self.at.host += duration;
            self.at.host_parts[slot as usize] += duration;
        }
    }

    /// The host waits until the device is done.
    fn join(&mut self, latency: f64, entry: u32) {
        if self.at.device > self.at.host {
            self.at.host = self.at.device;
            self.at.host_parts = self.at.device_parts;
        }
        self.host(entry, Slot::Sync, latency);
    }

    /// A pageable copy: in stream order, both sides are busy until it ends.
    fn copy(&mut self, entry: u32, duration: f64) {
        if duration <= 0.0 {
            return;
        }
        self.join(0.0, entry);
        let start = self.at.host;
        self.sink.segment(Segment { actor: Actor::Copy, slot: Slot::Transfer, task: entry, start, duration });
        self.at.host += duration;
        self.at.host_parts[Slot::Transfer as usize] += duration;
        self.at.device = self.at.host;
        self.at.device_parts = self.at.host_parts;
    }

    /// The host waits while the queue is full.
    #[inline]
    fn make_room(&mut self) {
        let oldest = self.queue[self.head];
        if oldest > self.at.host {
            self.wait_for_queue(oldest);
        }
    }

    #[inline]
    fn enqueued(&mut self) {
        self.queue[self.head] = self.at.device;
        self.head += 1;
        if self.head == self.queue.len() {
            self.head = 0;
        }
        self.at.launched += 1;
    }

    #[inline]
    fn kernel(&mut self, entry: u32, slot: usize, duration: f64) {
        let ready = self.at.host + self.machine.launch_latency;
        if ready > self.at.device {
            self.at.device = ready;
            self.at.device_parts = self.at.host_parts;
            self.at.device_parts[Slot::Launch as usize] += self.machine.launch_latency;
        }
        let segment = |slot| Segment { actor: Actor::Device, slot, task: entry, start: self.at.device, duration };
        self.sink.segment(segment(self.tasks[entry as usize].slot));
        self.at.device += duration;
        self.at.device_parts[slot] += duration;
    }

    #[inline]
    fn plain(&mut self, entry: u32, hot: Hot) {
        self.host(entry, Slot::Host, hot.gap);
        self.host(entry, Slot::Launch, hot.dispatch);
        if hot.device > 0.0 {
            self.make_room();
            self.kernel(entry, hot.slot as usize, hot.device);
            self.enqueued();
        }
    }

    /// The queue is full: the host waits for a completion, which lies on the device's path less what is still queued.
    #[cold]
    fn wait_for_queue(&mut self, until: f64) {
        let mut parts = self.at.device_parts;
        let still_queued = self.at.device - until;
        let device_work: f64 = [Slot::Compute, Slot::Memory, Slot::Launch].iter().map(|s| parts[*s as usize]).sum();
        if device_work >= still_queued && device_work > 0.0 {
            for slot in [Slot::Compute, Slot::Memory, Slot::Launch] {
                parts[slot as usize] *= 1.0 - still_queued / device_work;
            }
        } else if self.at.device > 0.0 {
            for part in &mut parts {
                *part *= until / self.at.device;
            }
        }
        self.at.host = until;
        self.at.host_parts = parts;
    }

    fn task(&mut self, entry: u32, task: Task) {
        self.host(entry, Slot::Host, task.gap);
        self.copy(entry, task.upload);
        self.host(entry, Slot::Launch, task.dispatch);
        if task.device > 0.0 {
            let launches = (task.launches.max(1) as usize).min(self.queue.len());
            for _ in 0..launches {
                self.make_room();
                self.enqueued();
            }
            self.kernel(entry, task.slot as usize, task.device);
            let depth = self.queue.len();
            for back in 1..=launches {
                self.queue[(self.head + depth - back) % depth] = self.at.device;
            }
        }
        if task.download > 0.0 || task.wait {
            self.join(self.machine.sync_latency, entry);
            self.copy(entry, task.download);
        }
        self.host(entry, Slot::Host, task.on_host);
        self.copy(entry, task.upload_after);
    }
}
