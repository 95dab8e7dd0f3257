//! The same order on several devices at once: one walk, a lane for each device.
//!
//! Stretches of ordinary kernels, which most of a program is, are stepped for all lanes together; what copies, waits or
//! fills the queue is stepped lane by lane, as `run` does it. Every lane does the additions that it would do alone, in
//! the same order, so that it comes to the same digits.

use super::compact::Word;
use super::run::{Hot, Parts, Rounds, Run};
use super::{Compact, Machine, Slot, Task};
use crate::estimate::Breakdown;

/// Devices that are walked together: four pairs of doubles, the widest that every x86-64 adds in one instruction.
pub const LANES: usize = 8;

/// Ops that are stepped together; what they come to on the way stays in the first cache.
const BLOCK: usize = 64;

/// Fewer ops are stepped faster lane by lane.
const WORTH: usize = 8;

/// Finish time of the program in seconds, by parts. `tasks` are indexed by the entries of `order`; entries without a
/// task take no time.
pub fn finish(tasks: &[Task], order: &Compact, machine: &Machine) -> Breakdown {
    Lanes::<1>::walked([tasks], order, machine).runs[0].at.finished()
}

/// When the host is done with the program, s; the device may still be at work.
pub fn host_time(tasks: &[Task], order: &Compact, machine: &Machine) -> f64 {
    Lanes::<1>::walked([tasks], order, machine).runs[0].at.host
}

/// [`finish`] for the tasks of several devices.
pub fn finishes(tasks: &[&[Task]], order: &Compact, machine: &Machine) -> Vec<Breakdown> {
    let several = |tasks: &[&[Task]; LANES]| Lanes::walked(*tasks, order, machine).runs.map(|run| run.at.finished());
    let (full, rest) = tasks.as_chunks::<LANES>();
    let one = rest.iter().map(|tasks| finish(tasks, order, machine));
    // A few lanes too many cost less than these few one by one.
    if rest.len() > 1 {
        let filled: [&[Task]; LANES] = std::array::from_fn(|lane| *rest.get(lane).unwrap_or(&rest[0]));
        return full.iter().flat_map(several).chain(several(&filled).into_iter().take(rest.len())).collect();
    }
    full.iter().flat_map(several).chain(one).collect()
}

/// An entry in all lanes.
#[derive(Clone, Copy)]
struct Op<const N: usize> {
    gap: f64,
    dispatch: f64,
    device: [f64; N],
    slot: [u8; N],
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// A gap, a dispatch, a kernel in each lane.
    Kernel,
    /// The same without a kernel.
    Host,
    /// Stepped lane by lane.
    Other,
}

impl<const N: usize> Op<N> {
    const OTHER: Self = Self { gap: 0.0, dispatch: 0.0, device: [0.0; N], slot: [0; N], kind: Kind::Other };

    fn of(tasks: [&Task; N]) -> Self {
        let hot = tasks.map(Hot::of);
        let Some(first) = hot[0] else { return Self::OTHER };
        let kernel = first.device > 0.0;
        let alike = |hot: &Hot| hot.gap == first.gap && hot.dispatch == first.dispatch && (hot.device > 0.0) == kernel;
        if !hot.iter().all(|hot| hot.as_ref().is_some_and(alike)) {
            return Self::OTHER;
        }
        Self {
            // No time goes backwards, and adding nothing changes nothing.
            gap: first.gap.max(0.0),
            dispatch: first.dispatch.max(0.0),
            device: tasks.map(|task| task.device),
            slot: tasks.map(|task| task.slot as u8),
            kind: if kernel { Kind::Kernel } else { Kind::Host },
        }
    }

    /// In one lane.
    #[inline]
    fn hot(&self, lane: usize) -> Option<Hot> {
        (self.kind != Kind::Other).then_some(Hot {
            gap: self.gap,
            dispatch: self.dispatch,
            device: self.device[lane],
            slot: self.slot[lane],
        })
    }
}

/// Of each kernel of a stretch, once it is given to the device.
struct Given<const N: usize> {
    entry: [u32; BLOCK],
    /// The parts of the host's path that ordinary ops add to: its own, and launches.
    host_parts: [[[f64; N]; 2]; BLOCK],
    /// When it is done.
    done: [[f64; N]; BLOCK],
}

struct Lanes<'a, const N: usize> {
    ops: Vec<Op<N>>,
    order: &'a Compact,
    runs: [Run<'a, ()>; N],
    /// Ops that may be stepped together; 0 where streams are kept apart.
    most: usize,
    /// By loop: whether it holds a stretch that is worth it.
    worth: Vec<bool>,
    given: Box<Given<N>>,
}

/// The lanes that a stretch is for: in a loop some may be done before others.
type Active<const N: usize> = [bool; N];

impl<'a, const N: usize> Lanes<'a, N> {
    fn walked(tasks: [&'a [Task]; N], order: &'a Compact, machine: &'a Machine) -> Self {
        let runs = tasks.map(|tasks| Run::new(tasks, order, machine, ()));
        let entries = tasks.iter().map(|tasks| tasks.len()).min().unwrap_or(0);
        let streams = runs.iter().any(|run| run.at.streams.several());
        let most = if streams { 0 } else { BLOCK.min(machine.queue_depth as usize) };
        let ops = (0..entries).map(|entry| Op::of(tasks.map(|tasks| &tasks[entry]))).collect();
        let given = Given { entry: [0; BLOCK], host_parts: [[[0.0; N]; 2]; BLOCK], done: [[0.0; N]; BLOCK] };
        let mut lanes = Self { ops, order, runs, most, worth: Vec::new(), given: Box::new(given) };
        for body in order.bodies() {
            let worth = lanes.is_worth(body);
            lanes.worth.push(worth);
        }
        lanes.words(order.top(), [true; N]);
        lanes
    }

    /// Whether these words, or a loop among them, hold a stretch that is worth stepping together.
    fn is_worth(&self, mut words: &[u32]) -> bool {
        while let Some((word, rest)) = words.split_first() {
            let together = self.plain_stretch(words);
            let inner = Compact::loop_of(*word).and_then(|l| self.worth.get(l)) == Some(&true);
            if together >= WORTH || inner {
                return true;
            }
            words = words.get(together..).filter(|_| together > 0).unwrap_or(rest);
        }
        false
    }

    fn words(&mut self, mut words: &[u32], active: Active<N>) {
        let order = self.order;
        while let Some((word, rest)) = words.split_first() {
            let together = self.plain_stretch(words);
            if together > 0 {
                self.stretch(&words[..together], active);
                words = &words[together..];
                continue;
            }
            match order.word(*word) {
                Word::Repeat(times, body) if Compact::loop_of(*word).is_some_and(|l| self.worth[l]) => {
                    self.repeat(times, body, active);
                }
                Word::Run(_) | Word::Repeat(..) => self.apart(&[*word], active),
            }
            words = rest;
        }
    }

    /// How many of the next words are ops that can be stepped together.
    fn plain_stretch(&self, words: &[u32]) -> usize {
        let plain = |word: &&u32| self.ops.get(**word as usize).is_some_and(|op| op.kind != Kind::Other);
        words.iter().take(self.most).take_while(plain).count()
    }

    /// Lane by lane.
    fn apart(&mut self, words: &[u32], active: Active<N>) {
        let ops = &self.ops;
        for (lane, run) in self.runs.iter_mut().enumerate().filter(|(lane, _)| active[*lane]) {
            run.words(words, &|entry| ops.get(entry as usize)?.hot(lane));
        }
    }

    fn repeat(&mut self, times: u64, body: &[u32], active: Active<N>) {
        let mut rounds: [Rounds; N] = std::array::from_fn(|_| Rounds { times, done: 0, last: None });
        loop {
            let go_on: Active<N> = std::array::from_fn(|lane| active[lane] && !rounds[lane].over());
            if !go_on.contains(&true) {
                return;
            }
            let before = self.runs.each_ref().map(|run| run.at.clone());
            self.words(body, go_on);
            for (lane, run) in self.runs.iter_mut().enumerate().filter(|(lane, _)| go_on[*lane]) {
                run.round_over(&before[lane], &mut rounds[lane]);
            }
        }
    }

    /// Ops one after the other, in all lanes together where that is worth it and no host has to wait for its queue.
    fn stretch(&mut self, words: &[u32], active: Active<N>) {
        if words.len() < WORTH {
            return self.apart(words, active);
        }
        let kernels = words.iter().filter(|word| self.ops[**word as usize].kind == Kind::Kernel).count();
        let waits: Active<N> = std::array::from_fn(|lane| self.runs[lane].may_wait(kernels));
        let full: Active<N> = std::array::from_fn(|lane| active[lane] && waits[lane]);
        let free: Active<N> = std::array::from_fn(|lane| active[lane] && !waits[lane]);
        self.apart(words, full);
        if free.contains(&true) {
            self.together(words, free);
        }
    }

    /// Ops one after the other, for which every queue has room.
    fn together(&mut self, words: &[u32], active: Active<N>) {
        let latency = self.runs[0].machine.launch_latency;
        let of = |f: fn(&Run<'a, ()>) -> f64| self.runs.each_ref().map(f);
        let (mut host, mut device) = (of(|run| run.at.host), of(|run| run.at.device));
        let mut parts =
            [of(|run| run.at.host_parts[Slot::Host as usize]), of(|run| run.at.host_parts[Slot::Launch as usize])];
        // The last kernel for which the device was idle, counted from 1.
        let mut idle = [0.0; N];
        let (given, mut kernels) = (&mut *self.given, 0);
        for word in words {
            let op = &self.ops[*word as usize];
            for lane in 0..N {
                host[lane] = (host[lane] + op.gap) + op.dispatch;
                parts[0][lane] += op.gap;
                parts[1][lane] += op.dispatch;
            }
            if op.kind == Kind::Kernel {
                let number = (kernels + 1) as f64;
                for lane in 0..N {
                    let ready = host[lane] + latency;
                    let is_idle = ready > device[lane];
                    idle[lane] = if is_idle { number } else { idle[lane] };
                    device[lane] = if is_idle { ready } else { device[lane] } + op.device[lane];
                }
                given.entry[kernels] = *word;
                given.host_parts[kernels] = parts;
                given.done[kernels] = device;
                kernels += 1;
            }
        }
        for (lane, run) in self.runs.iter_mut().enumerate().filter(|(lane, _)| active[*lane]) {
            let idle = idle[lane] as usize;
            let with = |mut all: Parts, [own, launch]: &[[f64; N]; 2]| {
                (all[Slot::Host as usize], all[Slot::Launch as usize]) = (own[lane], launch[lane]);
                all
            };
            if idle > 0 {
                run.at.device_parts = with(run.at.host_parts, &given.host_parts[idle - 1]);
                run.at.device_parts[Slot::Launch as usize] += latency;
            }
            for word in &given.entry[idle.saturating_sub(1)..kernels] {
                let op = &self.ops[*word as usize];
                run.at.device_parts[usize::from(op.slot[lane])] += op.device[lane];
            }
            run.at.host_parts = with(run.at.host_parts, &parts);
            (run.at.host, run.at.device) = (host[lane], device[lane]);
            run.enqueue(given.done[..kernels].iter().map(|done| done[lane]));
        }
    }
}
