//! The host runs ahead, the device queues: when is the program done?
//!
//! Three actors: the host thread (Python between ops, dispatch of each op), the device queue (kernels in order, at
//! most [`Machine::queue_depth`] waiting), and the copy engine (pageable copies: in stream order, and the host waits).
//! The host runs ahead of the device until it needs a value. Every moment of the finish time is attributed to what the
//! critical path was doing, so the parts sum to the whole by construction.
//!
//! A loop is simulated until two of its rounds cost the same, then the rest is added in one step; a million equal
//! rounds cost the same as a few.

use crate::estimate::Breakdown;
use crate::workload::Step;

/// Where a moment of the critical path goes. The index into a [`Parts`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the bounds by name, then start-up")]
pub enum Slot {
    Host,
    Launch,
    Compute,
    Memory,
    Transfer,
    Sync,
    Startup,
}

const SLOTS: usize = 7;
type Parts = [f64; SLOTS];

/// One op as the timeline sees it; times in seconds, zero for what it does not have. Happens in the order of the
/// fields.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Task {
    /// Python and CPU code before the op.
    pub gap: f64,
    /// Host-to-device copy of its inputs.
    pub upload: f64,
    /// Host cost of handing it over.
    pub dispatch: f64,
    /// Device time of its kernels.
    pub device: f64,
    /// Kernels launched, for the queue.
    pub launches: u32,
    /// What its device time counts as: `Compute`, `Memory` or `Launch`.
    pub slot: Slot,
    /// The host waits for the device, even with nothing to copy.
    pub wait: bool,
    /// Device-to-host copy; the host waits for the device first.
    pub download: f64,
    /// Time on the host itself: an op without a GPU counterpart.
    pub on_host: f64,
    /// Host-to-device copy of what that made.
    pub upload_after: f64,
}

impl Task {
    /// Nothing at all; fill in what there is.
    pub const NONE: Self = Self {
        gap: 0.0,
        upload: 0.0,
        dispatch: 0.0,
        device: 0.0,
        launches: 0,
        slot: Slot::Memory,
        wait: false,
        download: 0.0,
        on_host: 0.0,
        upload_after: 0.0,
    };
}

/// What the timeline must know of the machine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Machine {
    /// From the launch call to the start of the kernel on an idle device, s.
    pub launch_latency: f64,
    /// From the end of the device's work to the host going on, s.
    pub sync_latency: f64,
    /// Kernels that may wait (1 024 in CUDA's default queue); the host blocks beyond.
    pub queue_depth: u32,
}

/// Who was busy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the three actors")]
pub enum Actor {
    Host,
    Device,
    Copy,
}

/// A stretch of one actor's time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Segment {
    /// Who.
    pub actor: Actor,
    /// Doing what.
    pub slot: Slot,
    /// Index of the task.
    pub task: u32,
    /// From the start of the program, s.
    pub start: f64,
    /// How long, s.
    pub duration: f64,
}

/// Takes segments as they happen. Rounds of a loop that are added in one step are told once, by `repeated`.
pub trait Sink {
    /// One stretch.
    fn segment(&mut self, segment: Segment);
    /// The segments since `start` happen `times` more, each `period` later.
    fn repeated(&mut self, start: f64, period: f64, times: u64);
}

/// Takes nothing.
impl Sink for () {
    fn segment(&mut self, _: Segment) {}
    fn repeated(&mut self, _: f64, _: f64, _: u64) {}
}

/// Finish time of the program in seconds, by parts. `tasks` are indexed by the steps of `order`.
pub fn simulate(tasks: &[Task], order: &[Step], machine: &Machine, sink: &mut impl Sink) -> Breakdown {
    let mut run = Run {
        tasks,
        machine,
        sink,
        at: State { host: 0.0, device: 0.0, host_parts: [0.0; SLOTS], device_parts: [0.0; SLOTS], launched: 0 },
        queue: vec![0.0; machine.queue_depth.max(1) as usize],
        head: 0,
    };
    run.steps(order);
    let parts = if run.at.device > run.at.host { run.at.device_parts } else { run.at.host_parts };
    let [host, launch, compute, memory, transfer, sync, startup] = parts;
    Breakdown { host, launch, compute, memory, transfer, sync, startup }
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
        self.launched += round.launched.saturating_mul(times);
    }
}

struct Run<'a, S: Sink> {
    tasks: &'a [Task],
    machine: &'a Machine,
    sink: &'a mut S,
    at: State,
    /// Completion times of the last kernels, a ring.
    queue: Vec<f64>,
    head: usize,
}

impl<S: Sink> Run<'_, S> {
    fn steps(&mut self, steps: &[Step]) {
        for step in steps {
            match step {
                Step::Run(entry) => {
                    if let Some(&task) = self.tasks.get(*entry as usize) {
                        self.task(*entry, &task);
                    }
                }
                Step::Repeat(times, body) => self.repeat(*times, body),
            }
        }
    }

    fn repeat(&mut self, times: u64, body: &[Step]) {
        let mut last: Option<State> = None;
        let mut done = 0;
        while done < times {
            let before = self.at;
            self.steps(body);
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
            let slot = (self.head + depth - 1 - back) % depth;
            self.queue[slot] = (self.at.device - spacing * back as f64).max(0.0);
        }
    }

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
        self.sink.segment(Segment {
            actor: Actor::Copy,
            slot: Slot::Transfer,
            task: entry,
            start: self.at.host,
            duration,
        });
        self.at.host += duration;
        self.at.host_parts[Slot::Transfer as usize] += duration;
        self.at.device = self.at.host;
        self.at.device_parts = self.at.host_parts;
    }

    fn launch(&mut self, entry: u32, task: &Task) {
        let launches = task.launches.max(1) as usize;
        for _ in 0..launches.min(self.queue.len()) {
            let oldest = self.queue[self.head];
            if oldest > self.at.host {
                self.wait_for_queue(oldest);
            }
            self.queue[self.head] = f64::INFINITY;
            self.head = (self.head + 1) % self.queue.len();
        }
        let ready = self.at.host + self.machine.launch_latency;
        if ready > self.at.device {
            self.at.device = ready;
            self.at.device_parts = self.at.host_parts;
            self.at.device_parts[Slot::Launch as usize] += self.machine.launch_latency;
        }
        self.sink.segment(Segment {
            actor: Actor::Device,
            slot: task.slot,
            task: entry,
            start: self.at.device,
            duration: task.device,
        });
        self.at.device += task.device;
        self.at.device_parts[task.slot as usize] += task.device;
        self.at.launched += launches as u64;
        let depth = self.queue.len();
        for back in 0..launches.min(depth) {
            let slot = (self.head + depth - 1 - back) % depth;
            self.queue[slot] = self.at.device;
        }
    }

    /// The queue is full: the host waits for a completion, which lies on the device's path less what is still queued.
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

    fn task(&mut self, entry: u32, task: &Task) {
        self.host(entry, Slot::Host, task.gap);
        self.copy(entry, task.upload);
        self.host(entry, Slot::Launch, task.dispatch);
        if task.device > 0.0 {
            self.launch(entry, task);
        }
        if task.download > 0.0 || task.wait {
            self.join(self.machine.sync_latency, entry);
            self.copy(entry, task.download);
        }
        self.host(entry, Slot::Host, task.on_host);
        self.copy(entry, task.upload_after);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MACHINE: Machine = Machine { launch_latency: 4e-6, sync_latency: 5e-6, queue_depth: 1024 };

    fn kernel(dispatch: f64, device: f64) -> Task {
        Task { dispatch, device, launches: 1, ..Task::NONE }
    }

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() <= 1e-9 * a.abs().max(b.abs())
    }

    #[test]
    fn device_bound_loop_is_first_dispatch_plus_all_kernels() {
        let n = 1_000_000;
        let t = simulate(&[kernel(1e-6, 1e-5)], &[Step::Repeat(n, vec![Step::Run(0)])], &MACHINE, &mut ());
        assert!(close(t.total(), 1e-6 + 4e-6 + n as f64 * 1e-5), "{t:?}");
        assert!(close(t.memory, n as f64 * 1e-5), "{t:?}");
    }

    #[test]
    fn host_bound_loop_is_all_dispatches_plus_last_kernel() {
        let n = 1_000_000;
        let t = simulate(&[kernel(1e-5, 2e-6)], &[Step::Repeat(n, vec![Step::Run(0)])], &MACHINE, &mut ());
        assert!(close(t.total(), n as f64 * 1e-5 + 4e-6 + 2e-6), "{t:?}");
        assert!(t.launch > 0.99 * t.total());
    }

    #[test]
    fn a_read_each_round_puts_everything_in_a_row() {
        let read = Task { gap: 2e-6, wait: true, download: 3e-6, ..Task::NONE };
        let n = 1000;
        let body = vec![Step::Run(0), Step::Run(1)];
        let t = simulate(&[kernel(1e-6, 1e-5), read], &[Step::Repeat(n, body)], &MACHINE, &mut ());
        let round = 1e-6 + 4e-6 + 1e-5 + 5e-6 + 3e-6;
        assert!(close(t.total(), n as f64 * round), "{} {}", t.total(), n as f64 * round);
        assert!(close(t.sync, n as f64 * 5e-6));
    }

    fn task() -> impl Strategy<Value = Task> {
        (
            0.0..1e-4f64,
            0.0..1e-4f64,
            1e-6..1e-4f64,
            proptest::bool::weighted(0.1),
            0.0..1e-4f64,
            proptest::bool::weighted(0.1),
        )
            .prop_map(|(gap, dispatch, device, wait, copy, up)| Task {
                gap,
                upload: if up { copy } else { 0.0 },
                dispatch,
                device,
                launches: 1,
                slot: Slot::Compute,
                wait,
                download: if wait { copy } else { 0.0 },
                ..Task::NONE
            })
    }

    fn unroll(order: &[Step]) -> Vec<Step> {
        let mut out = Vec::new();
        for s in order {
            match s {
                Step::Run(e) => out.push(Step::Run(*e)),
                Step::Repeat(n, body) => (0..*n).for_each(|_| out.extend(unroll(body))),
            }
        }
        out
    }

    proptest! {
        #[test]
        fn a_loop_costs_what_its_rounds_cost(tasks in proptest::collection::vec(task(), 1..6), times in 1..3000u64, depth in 1..64u32) {
            let body: Vec<Step> = (0..tasks.len() as u32).map(Step::Run).collect();
            let looped = [Step::Run(0), Step::Repeat(times, body)];
            let machine = Machine { queue_depth: depth, ..MACHINE };
            let a = simulate(&tasks, &looped, &machine, &mut ()).total();
            let b = simulate(&tasks, &unroll(&looped), &machine, &mut ()).total();
            prop_assert!((a - b).abs() <= 1e-3 * b, "folded {a} unrolled {b}");
        }

        #[test]
        fn never_faster_than_either_actor_alone_nor_slower_than_both_in_a_row(tasks in proptest::collection::vec(task(), 1..40)) {
            let order: Vec<Step> = (0..tasks.len() as u32).map(Step::Run).collect();
            let t = simulate(&tasks, &order, &MACHINE, &mut ());
            let host: f64 = tasks.iter().map(|t| t.gap + t.dispatch).sum();
            let device: f64 = tasks.iter().map(|t| t.device).sum();
            let copies: f64 = tasks.iter().map(|t| t.upload + t.download).sum();
            let waits = tasks.len() as f64 * (MACHINE.launch_latency + MACHINE.sync_latency);
            prop_assert!(t.total() >= (host + copies).max(device + copies) * (1.0 - 1e-12));
            prop_assert!(t.total() <= host + device + copies + waits + 1e-12);
        }

        #[test]
        fn slower_parts_never_make_it_faster(tasks in proptest::collection::vec(task(), 1..20), k in 1.0..4.0f64) {
            let order: Vec<Step> = vec![Step::Repeat(20, (0..tasks.len() as u32).map(Step::Run).collect())];
            let slow: Vec<Task> = tasks.iter().map(|t| Task { device: t.device * k, ..*t }).collect();
            let a = simulate(&tasks, &order, &MACHINE, &mut ()).total();
            let b = simulate(&slow, &order, &MACHINE, &mut ()).total();
            prop_assert!(b >= a * (1.0 - 1e-9));
        }
    }
}
