//! The host runs ahead, the device queues: when is the program done?
//!
//! Three actors: the host thread (Python between ops, dispatch of each op), the device queue (kernels in order, at
//! most [`Machine::queue_depth`] waiting), and the copy engines, one each way. A copy is in the order of its stream; the
//! host waits for it unless it is asynchronous. Kernels of all streams share the device one after the other; copies of
//! another stream go on beside them. The host runs ahead of the device until it needs a value. Every moment of the finish time is attributed to what the
//! critical path was doing, so the parts sum to the whole by construction.
//!
//! A loop is simulated until two of its rounds cost the same, then the rest is added in one step; a million equal
//! rounds cost the same as a few.

pub mod chrome;
mod compact;
mod lanes;
mod run;
pub mod sketch;
mod startup;
mod streams;
pub mod zoom;

pub use chrome::Chrome;
pub use compact::Compact;
pub use lanes::{LANES, finish, finishes, host_time};
pub use run::simulate;
pub use sketch::Sketch;
pub use startup::AfterStartup;
pub use zoom::Zoom;

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
    /// The host waits for the device, all streams of it, even with nothing to copy.
    pub wait: bool,
    /// Device-to-host copy; the host waits for the device first.
    pub download: f64,
    /// Time on the host itself: an op without a GPU counterpart.
    pub on_host: f64,
    /// Host-to-device copy of what that made.
    pub upload_after: f64,
    /// Its place among the streams; 0 is the default one.
    pub stream: u8,
    /// The host does not wait for `upload` and `download`.
    pub asynchronous: bool,
    /// The host waits for its stream alone.
    pub wait_stream: bool,
    /// Its stream waits for all others.
    pub joins_streams: bool,
}

/// Streams that a timeline keeps apart; plans put further ones together.
pub const STREAMS: usize = 16;

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
        stream: 0,
        asynchronous: false,
        wait_stream: false,
        joins_streams: false,
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
pub enum Actor {
    /// The host's one thread.
    Host,
    /// The device's kernels.
    Device,
    /// The engine that copies to the device.
    Upload,
    /// The engine that copies back.
    Download,
}

/// A stretch of one actor's time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Segment {
    /// Who.
    pub actor: Actor,
    /// Doing what; `Sync` on the host is waiting.
    pub slot: Slot,
    /// Index of the task.
    pub task: u32,
    /// From the start of the program, s.
    pub start: f64,
    /// How long, s.
    pub duration: f64,
}

/// A round of a loop, and how often it happens again as it was.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Round {
    /// Times after this one.
    pub more: u64,
    /// The host's.
    pub host: Lap,
    /// The device's.
    pub device: Lap,
    /// Of the engine that copies to the device.
    pub upload: Lap,
    /// Of the engine that copies back.
    pub download: Lap,
}

impl Round {
    /// Of one actor.
    pub fn lap(&self, actor: Actor) -> Lap {
        match actor {
            Actor::Host => self.host,
            Actor::Device => self.device,
            Actor::Upload => self.upload,
            Actor::Download => self.download,
        }
    }
}

/// One actor's share of a round.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Lap {
    /// When it was done with the round, s.
    pub end: f64,
    /// By how much each further round is later, s.
    pub period: f64,
}

/// Takes segments as they happen. Rounds of a loop are told one by one until two are alike; how many more there are
/// comes with the end of the last one told. Loops nest, so rounds do.
pub trait Sink {
    /// One stretch.
    fn segment(&mut self, segment: Segment);
    /// A round of a loop begins.
    fn round(&mut self);
    /// The round that began last is over.
    fn round_over(&mut self, round: Round);
}

/// A sink that somebody else keeps.
impl<S: Sink> Sink for &mut S {
    fn segment(&mut self, segment: Segment) {
        (**self).segment(segment);
    }
    fn round(&mut self) {
        (**self).round();
    }
    fn round_over(&mut self, round: Round) {
        (**self).round_over(round);
    }
}

/// Takes nothing.
impl Sink for () {
    fn segment(&mut self, _: Segment) {}
    fn round(&mut self) {}
    fn round_over(&mut self, _: Round) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::Breakdown;
    use crate::workload::Step;
    use proptest::prelude::*;

    /// The order as it is, made compact on the way.
    fn simulate(tasks: &[Task], order: &[Step], machine: &Machine, sink: &mut impl Sink) -> Breakdown {
        super::simulate(tasks, &Compact::new(order), machine, sink)
    }

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

    #[test]
    fn an_asynchronous_copy_of_another_stream_hides_behind_kernels() {
        let n = 1000;
        let copy = Task { dispatch: 1e-6, upload: 9e-5, stream: 1, asynchronous: true, ..Task::NONE };
        let body = vec![Step::Run(0), Step::Run(1)];
        let beside = simulate(&[copy, kernel(1e-6, 1e-4)], &[Step::Repeat(n, body.clone())], &MACHINE, &mut ());
        assert!((beside.total() / (n as f64 * 1e-4) - 1.0).abs() < 1e-3, "{beside:?}");
        let same = Task { stream: 0, ..copy };
        let after = simulate(&[same, kernel(1e-6, 1e-4)], &[Step::Repeat(n, body.clone())], &MACHINE, &mut ());
        assert!((after.total() / (n as f64 * 1.9e-4) - 1.0).abs() < 1e-3, "{after:?}");
        let waited = Task { asynchronous: false, ..copy };
        let blocking = simulate(&[waited, kernel(1e-6, 1e-4)], &[Step::Repeat(n, body)], &MACHINE, &mut ());
        assert!(blocking.total() > beside.total(), "{blocking:?}");
    }

    #[test]
    fn a_stream_that_waits_for_the_others_starts_after_them() {
        let order = [Step::Run(0), Step::Run(1), Step::Run(2), Step::Run(3)];
        let copy = Task { upload: 1e-3, stream: 1, asynchronous: true, ..Task::NONE };
        let back = Task { download: 1e-3, stream: 2, asynchronous: true, ..Task::NONE };
        let joins = Task { joins_streams: true, stream: 2, ..Task::NONE };
        let t = |third| simulate(&[copy, third, back, Task::NONE], &order, &MACHINE, &mut ()).total();
        assert!(close(t(joins), 2e-3 + MACHINE.launch_latency), "{}", t(joins));
        assert!(close(t(Task::NONE), 1e-3 + MACHINE.launch_latency), "{}", t(Task::NONE));
    }

    #[test]
    fn waiting_for_one_stream_is_not_waiting_for_all() {
        let long = Task { stream: 1, ..kernel(1e-6, 1e-6) };
        let copy = Task { upload: 1.0, stream: 2, asynchronous: true, ..Task::NONE };
        let wait = Task { wait_stream: true, stream: 1, ..Task::NONE };
        let order = Compact::new(&[Step::Run(0), Step::Run(1), Step::Run(2)]);
        assert!(host_time(&[long, copy, wait], &order, &MACHINE) < 1e-3);
        let all = Task { wait: true, wait_stream: false, ..wait };
        assert!(host_time(&[long, copy, all], &order, &MACHINE) > 1.0);
    }

    /// A task of a program with several streams.
    fn streamed() -> impl Strategy<Value = Task> {
        let copy = || (proptest::bool::weighted(0.3), 0.0..1e-4f64).prop_map(|(some, t)| if some { t } else { 0.0 });
        (task(), 0..3u8, any::<bool>(), copy(), copy(), proptest::bool::weighted(0.1), 0..20u8).prop_map(
            |(task, stream, asynchronous, upload, download, joins_streams, kind)| Task {
                stream,
                asynchronous,
                upload,
                download,
                joins_streams,
                wait: kind == 0,
                wait_stream: kind == 1,
                ..task
            },
        )
    }

    /// A task of which most of a program are made: the host a little ahead of the device or a little behind.
    fn ordinary() -> impl Strategy<Value = Task> {
        (0.0..3e-6f64, 0.0..1e-5f64, proptest::bool::weighted(0.9), 1e-6..2e-5f64).prop_map(
            |(gap, dispatch, kernel, device)| Task {
                gap,
                dispatch,
                device: if kernel { device } else { 0.0 },
                launches: u32::from(kernel),
                ..Task::NONE
            },
        )
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
        fn a_loop_over_streams_costs_what_its_rounds_cost(tasks in proptest::collection::vec(streamed(), 1..6), times in 1..500u64) {
            let body: Vec<Step> = (0..tasks.len() as u32).map(Step::Run).collect();
            let looped = [Step::Repeat(times, body)];
            let a = simulate(&tasks, &looped, &MACHINE, &mut ()).total();
            let b = simulate(&tasks, &unroll(&looped), &MACHINE, &mut ()).total();
            prop_assert!((a - b).abs() <= 1e-3 * b, "folded {a} unrolled {b}");
        }

        #[test]
        fn with_streams_never_faster_than_host_device_or_copies(tasks in proptest::collection::vec(streamed(), 1..40), times in 1..20u64) {
            let order = [Step::Repeat(times, (0..tasks.len() as u32).map(Step::Run).collect())];
            let t = simulate(&tasks, &order, &MACHINE, &mut ());
            let sum = |f: &dyn Fn(&Task) -> f64| tasks.iter().map(f).sum::<f64>() * times as f64;
            let blocking = |t: &Task| if t.asynchronous { 0.0 } else { t.upload + t.download };
            let host = sum(&|t| t.gap + t.dispatch + blocking(t));
            let (device, up, down) = (sum(&|t| t.device), sum(&|t| t.upload), sum(&|t| t.download));
            for least in [host, device, up, down] {
                prop_assert!(t.total() >= least * (1.0 - 1e-9), "{} < {least}", t.total());
            }
            let waits = (3 * tasks.len()) as f64 * times as f64 * (MACHINE.launch_latency + MACHINE.sync_latency);
            prop_assert!(t.total() <= sum(&|t| t.gap + t.dispatch) + device + up + down + waits + 1e-12);
            let parts = [t.host, t.launch, t.compute, t.memory, t.transfer, t.sync, t.startup];
            prop_assert!(parts.iter().all(|p| *p >= -1e-12), "{t:?}");
            let host_alone = host_time(&tasks, &Compact::new(&order), &MACHINE);
            prop_assert!(host_alone <= t.total() * (1.0 + 1e-12));
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
        fn devices_walked_together_come_to_the_digits_of_each_alone(
            tasks in proptest::collection::vec(prop_oneof![task(), streamed(), ordinary(), ordinary(), ordinary()], 1..12),
            picks in proptest::collection::vec(0..12u32, 1..200),
            loops in proptest::collection::vec((0..200usize, 1..40u64), 0..4),
            speeds in proptest::collection::vec(0.05..20.0f64, 1..20),
            depth in 1..200u32,
        ) {
            let mut order: Vec<Step> = picks.into_iter().map(Step::Run).collect();
            for (from, times) in loops {
                let body = order.split_off(from.min(order.len() - 1));
                order.push(Step::Repeat(times, body));
            }
            let order = Compact::new(&order);
            let machine = Machine { queue_depth: depth, ..MACHINE };
            let on = |speed: &f64| -> Vec<Task> {
                let slot = if *speed > 1.0 { Slot::Memory } else { Slot::Compute };
                tasks.iter().map(|task| Task { device: task.device * speed, slot, ..*task }).collect()
            };
            let devices: Vec<Vec<Task>> = speeds.iter().map(on).collect();
            let alone: Vec<Breakdown> =
                devices.iter().map(|tasks| super::simulate(tasks, &order, &machine, &mut ())).collect();
            let slices: Vec<&[Task]> = devices.iter().map(Vec::as_slice).collect();
            prop_assert_eq!(&finishes(&slices, &order, &machine), &alone);
            prop_assert_eq!(finish(&devices[0], &order, &machine), alone[0]);
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
