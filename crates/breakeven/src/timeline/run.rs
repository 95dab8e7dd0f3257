//! The simulation itself.

use super::compact::Word;
use super::streams::{Clock, Engine, Streams};
use super::{Actor, Compact, Lap, Machine, Round, Segment, Sink, Slot, Task};
use crate::estimate::Breakdown;

pub(super) const SLOTS: usize = 7;
pub(super) type Parts = [f64; SLOTS];

/// Finish time of the program in seconds, by parts, with everything that happens told to `sink`. `tasks` are indexed by
/// the entries of `order`; entries without a task take no time. Without a sink [`super::finish`] is faster.
pub fn simulate(tasks: &[Task], order: &Compact, machine: &Machine, sink: &mut impl Sink) -> Breakdown {
    let mut run = Run::new(tasks, order, machine, sink);
    let hot: Vec<Option<Hot>> = tasks.iter().map(Hot::of).collect();
    run.words(order.top(), &|entry| hot.get(entry as usize).copied().flatten());
    run.at.finished()
}

/// What most tasks are: a gap, a dispatch, a kernel. Small, so that thousands stay in the cache.
#[derive(Clone, Copy)]
pub(super) struct Hot {
    pub(super) gap: f64,
    pub(super) dispatch: f64,
    pub(super) device: f64,
    pub(super) slot: u8,
}

impl Hot {
    /// `None` for a task with more than one launch, a copy, a wait or work on the host.
    pub(super) fn of(task: &Task) -> Option<Self> {
        let waits = task.wait || task.wait_stream || task.joins_streams;
        let copies = task.upload + task.download + task.upload_after;
        let plain = !waits && task.launches <= 1 && copies + task.on_host <= 0.0 && task.stream == 0;
        plain.then_some(Self { gap: task.gap, dispatch: task.dispatch, device: task.device, slot: task.slot as u8 })
    }
}

/// Both actors' clocks, each with the attribution of the path that led there, and those of further streams.
#[derive(Clone)]
pub(super) struct State {
    pub(super) host: f64,
    pub(super) device: f64,
    pub(super) host_parts: Parts,
    pub(super) device_parts: Parts,
    pub(super) launched: u64,
    pub(super) streams: Streams,
}

impl State {
    /// When host, device and streams are all done, by parts.
    pub(super) fn finished(&self) -> Breakdown {
        let end = [self.host_clock(), self.streams.last()].into_iter().fold(self.device_clock(), Clock::later);
        let [host, launch, compute, memory, transfer, sync, startup] = end.parts;
        Breakdown { host, launch, compute, memory, transfer, sync, startup }
    }

    fn host_clock(&self) -> Clock {
        Clock { at: self.host, parts: self.host_parts }
    }

    fn device_clock(&self) -> Clock {
        Clock { at: self.device, parts: self.device_parts }
    }

    pub(super) fn since(&self, before: &Self) -> Self {
        let minus = |a: &Parts, b: &Parts| std::array::from_fn(|i| a[i] - b[i]);
        Self {
            host: self.host - before.host,
            device: self.device - before.device,
            host_parts: minus(&self.host_parts, &before.host_parts),
            device_parts: minus(&self.device_parts, &before.device_parts),
            launched: self.launched - before.launched,
            streams: self.streams.since(&before.streams),
        }
    }

    /// Whether two rounds of a loop cost the same, to within rounding.
    fn same_as(&self, other: &Self) -> bool {
        let scale = self.host.abs().max(self.device.abs()).max(self.streams.last().at.abs());
        let close = |a: f64, b: f64| (a - b).abs() <= 1e-9 * scale;
        close(self.host, other.host)
            && close(self.device, other.device)
            && self.host_parts.iter().zip(&other.host_parts).all(|(a, b)| close(*a, *b))
            && self.device_parts.iter().zip(&other.device_parts).all(|(a, b)| close(*a, *b))
            && self.streams.same_as(&other.streams, close)
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
        self.streams.add(&round.streams, n);
    }
}

/// A loop on its way.
pub(super) struct Rounds {
    pub(super) times: u64,
    pub(super) done: u64,
    /// What the round before cost.
    pub(super) last: Option<State>,
}

impl Rounds {
    /// Whether all rounds are done.
    pub(super) fn over(&self) -> bool {
        self.done >= self.times
    }
}

pub(super) struct Run<'a, S: Sink> {
    pub(super) tasks: &'a [Task],
    order: &'a Compact,
    pub(super) machine: &'a Machine,
    sink: S,
    pub(super) at: State,
    /// Completion times of the last kernels, a ring that never falls; `head` is the oldest.
    pub(super) queue: Vec<f64>,
    pub(super) head: usize,
}

impl<'a, S: Sink> Run<'a, S> {
    pub(super) fn new(tasks: &'a [Task], order: &'a Compact, machine: &'a Machine, sink: S) -> Self {
        let (host_parts, device_parts) = ([0.0; SLOTS], [0.0; SLOTS]);
        let streams = Streams::of(tasks);
        Self {
            tasks,
            order,
            machine,
            sink,
            at: State { host: 0.0, device: 0.0, host_parts, device_parts, launched: 0, streams },
            queue: vec![0.0; machine.queue_depth.max(1) as usize],
            head: 0,
        }
    }

    /// One step after the other; `hot` has the plain tasks by entry.
    pub(super) fn words(&mut self, words: &[u32], hot: &impl Fn(u32) -> Option<Hot>) {
        let order = self.order;
        for word in words {
            match order.word(*word) {
                Word::Run(entry) => match hot(entry) {
                    Some(hot) => self.plain(entry, hot),
                    None => self.entry(entry),
                },
                Word::Repeat(times, body) => self.repeat(times, body, hot),
            }
        }
    }

    /// One run of any entry; nothing where it has no task.
    pub(super) fn entry(&mut self, entry: u32) {
        if let Some(task) = self.tasks.get(entry as usize) {
            self.task(entry, *task);
        }
    }

    fn repeat(&mut self, times: u64, body: &[u32], hot: &impl Fn(u32) -> Option<Hot>) {
        let mut rounds = Rounds { times, done: 0, last: None };
        while !rounds.over() {
            let before = self.at.clone();
            self.sink.round();
            self.words(body, hot);
            self.round_over(&before, &mut rounds);
        }
    }

    /// A round of a loop that began at `before` is over. Where it was like the last one, so are the next ones: they are
    /// added in one step.
    pub(super) fn round_over(&mut self, before: &State, rounds: &mut Rounds) {
        rounds.done += 1;
        let round = self.at.since(before);
        let alike = rounds.last.as_ref().is_some_and(|last| round.same_as(last));
        let more = if alike { self.rounds_alike(&round).min(rounds.times - rounds.done) } else { 0 };
        let told = self.told(&round, more);
        self.sink.round_over(told);
        if more > 0 {
            self.at.add(&round, more);
            self.refill_queue(&round);
            rounds.done += more;
        }
        rounds.last = Some(round);
    }

    /// A round as sinks are told of it.
    fn told(&self, round: &State, more: u64) -> Round {
        let lap = |end, period| Lap { end, period };
        let copies = |engine| match (self.at.streams.of_engine(engine), round.streams.of_engine(engine)) {
            (Some(at), Some(round)) => lap(at.at, round.at),
            _ => lap(self.at.device, round.device),
        };
        let (host, device) = (lap(self.at.host, round.host), lap(self.at.device, round.device));
        Round { more, host, device, upload: copies(Engine::Up), download: copies(Engine::Down) }
    }

    /// How many more rounds will cost what `round` did before the device catches up or its queue is full.
    fn rounds_alike(&self, round: &State) -> u64 {
        let clocks = [(self.at.host, round.host), (self.at.device, round.device)];
        self.rounds_of_one_stream(round).min(self.at.streams.rounds_alike(&round.streams, &clocks))
    }

    fn rounds_of_one_stream(&self, round: &State) -> u64 {
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
        let spacing = round.device / round.launched as f64;
        let (newer, older) = self.queue.split_at_mut(self.head);
        for (back, done) in newer.iter_mut().rev().chain(older.iter_mut().rev()).enumerate() {
            *done = (self.at.device - spacing * back as f64).max(0.0);
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

    /// The host waits until everything given to `stream` is done.
    fn join(&mut self, stream: u8, latency: f64, entry: u32) {
        let until = self.at.streams.of_stream(stream).unwrap_or_else(|| self.at.device_clock());
        self.wait_until(until, latency, entry);
    }

    /// The host waits until the device is done.
    fn join_all(&mut self, latency: f64, entry: u32) {
        self.wait_until(self.at.device_clock().later(self.at.streams.last()), latency, entry);
    }

    fn wait_until(&mut self, until: Clock, latency: f64, entry: u32) {
        if until.at > self.at.host {
            self.idle(entry, until.at);
            self.at.host = until.at;
            self.at.host_parts = until.parts;
        }
        self.host(entry, Slot::Sync, latency);
    }

    /// The host does nothing until then.
    #[inline]
    fn idle(&mut self, task: u32, until: f64) {
        let (start, duration) = (self.at.host, until - self.at.host);
        self.sink.segment(Segment { actor: Actor::Host, slot: Slot::Sync, task, start, duration });
    }

    /// A copy in stream order, both sides busy until it ends.
    fn copy(&mut self, entry: u32, stream: u8, engine: Engine, duration: f64) {
        if duration <= 0.0 {
            return;
        }
        self.join(stream, 0.0, entry);
        if let Some(engine) = self.at.streams.of_engine(engine) {
            self.wait_until(engine, 0.0, entry);
        }
        let segment = Segment { actor: Actor::Host, slot: Slot::Transfer, task: entry, start: self.at.host, duration };
        self.sink.segment(segment);
        self.sink.segment(Segment { actor: engine.actor(), ..segment });
        self.at.host += duration;
        self.at.host_parts[Slot::Transfer as usize] += duration;
        let end = self.at.host_clock();
        self.put(stream, engine, end);
    }

    /// A copy in stream order for which the host does not wait.
    fn copy_beside(&mut self, entry: u32, stream: u8, engine: Engine, duration: f64) {
        if duration <= 0.0 {
            return;
        }
        let handed_over = self.at.host_clock().plus(Slot::Launch, self.machine.launch_latency);
        let free = self.at.streams.of_engine(engine).unwrap_or_else(|| self.at.device_clock());
        let ready = self.at.streams.of_stream(stream).unwrap_or_else(|| self.at.device_clock());
        let begin = handed_over.later(free).later(ready);
        let segment = Segment { actor: engine.actor(), slot: Slot::Transfer, task: entry, start: begin.at, duration };
        self.sink.segment(segment);
        self.put(stream, engine, begin.plus(Slot::Transfer, duration));
    }

    /// The copy that was given to `stream` and `engine` ends then.
    fn put(&mut self, stream: u8, engine: Engine, end: Clock) {
        if !self.at.streams.put(stream, Some(engine), end) {
            self.at.device = end.at;
            self.at.device_parts = end.parts;
        }
    }

    /// The host waits while the queue is full.
    #[inline]
    fn make_room(&mut self, entry: u32) {
        let oldest = self.queue[self.head];
        if oldest > self.at.host {
            self.idle(entry, oldest);
            self.wait_for_queue(oldest);
        }
    }

    /// Whether the host may have to wait before it has given the device so many more kernels, at most as many as fit
    /// the queue.
    pub(super) fn may_wait(&self, kernels: usize) -> bool {
        let newest = self.head + kernels.saturating_sub(1);
        kernels > 0
            && self.queue[if newest < self.queue.len() { newest } else { newest - self.queue.len() }] > self.at.host
    }

    /// Kernels for which there was room are done at these times.
    pub(super) fn enqueue(&mut self, done: impl ExactSizeIterator<Item = f64>) {
        self.at.launched += done.len() as u64;
        for done in done {
            self.queue[self.head] = done;
            self.head += 1;
            if self.head == self.queue.len() {
                self.head = 0;
            }
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
        if let Some(stream) = self.at.streams.of_stream(self.tasks[entry as usize].stream)
            && stream.at > self.at.device
        {
            self.at.device = stream.at;
            self.at.device_parts = stream.parts;
        }
        let segment = |slot| Segment { actor: Actor::Device, slot, task: entry, start: self.at.device, duration };
        self.sink.segment(segment(self.tasks[entry as usize].slot));
        self.at.device += duration;
        self.at.device_parts[slot] += duration;
        if self.at.streams.several() {
            self.at.streams.put(self.tasks[entry as usize].stream, None, self.at.device_clock());
        }
    }

    #[inline]
    fn plain(&mut self, entry: u32, hot: Hot) {
        self.host(entry, Slot::Host, hot.gap);
        self.host(entry, Slot::Launch, hot.dispatch);
        if hot.device > 0.0 {
            self.make_room(entry);
            self.kernel(entry, usize::from(hot.slot), hot.device);
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
        if !task.asynchronous {
            self.copy(entry, task.stream, Engine::Up, task.upload);
        }
        self.host(entry, Slot::Launch, task.dispatch);
        if task.asynchronous {
            self.copy_beside(entry, task.stream, Engine::Up, task.upload);
        }
        if task.joins_streams {
            let all = self.at.device_clock().later(self.at.streams.last());
            self.at.streams.put(task.stream, None, all);
        }
        if task.device > 0.0 {
            let launches = (task.launches.max(1) as usize).min(self.queue.len());
            for _ in 0..launches {
                self.make_room(entry);
                self.enqueued();
            }
            self.kernel(entry, task.slot as usize, task.device);
            let depth = self.queue.len();
            for back in 1..=launches {
                self.queue[(self.head + depth - back) % depth] = self.at.device;
            }
        }
        if task.wait {
            self.join_all(self.machine.sync_latency, entry);
        } else if task.wait_stream || (task.download > 0.0 && !task.asynchronous) {
            self.join(task.stream, self.machine.sync_latency, entry);
        }
        if task.asynchronous {
            self.copy_beside(entry, task.stream, Engine::Down, task.download);
        } else {
            self.copy(entry, task.stream, Engine::Down, task.download);
        }
        self.host(entry, Slot::Host, task.on_host);
        self.copy(entry, task.stream, Engine::Up, task.upload_after);
    }
}
