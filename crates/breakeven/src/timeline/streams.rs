//! Streams and copy engines beside the default stream: what each is busy with, and until when.

use super::run::{Parts, SLOTS};
use super::{Actor, STREAMS, Slot, Task};

/// A point of time with the attribution of the path that led there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    pub(super) at: f64,
    pub(super) parts: Parts,
}

impl Clock {
    const START: Self = Self { at: 0.0, parts: [0.0; SLOTS] };

    /// The later of both.
    pub(super) fn later(self, other: Self) -> Self {
        if other.at > self.at { other } else { self }
    }

    /// So much later, spent on `slot`.
    pub(super) fn plus(mut self, slot: Slot, duration: f64) -> Self {
        self.at += duration;
        self.parts[slot as usize] += duration;
        self
    }

    fn each(&mut self, other: &Self, f: impl Fn(f64, f64) -> f64) {
        self.at = f(self.at, other.at);
        self.parts.iter_mut().zip(&other.parts).for_each(|(a, b)| *a = f(*a, *b));
    }
}

/// Which way copies go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Engine {
    Up,
    Down,
}

impl Engine {
    pub(super) const fn actor(self) -> Actor {
        match self {
            Self::Up => Actor::Upload,
            Self::Down => Actor::Download,
        }
    }
}

/// Both copy engines, then each stream. Empty for a program of one stream: there everything is in one order.
#[derive(Clone, Debug)]
pub(super) struct Streams(Vec<Clock>);

const ENGINES: usize = 2;

impl Streams {
    /// As many as `tasks` use.
    pub(super) fn of(tasks: &[Task]) -> Self {
        let last = tasks.iter().map(|task| usize::from(task.stream)).max().unwrap_or(0).min(STREAMS - 1);
        Self(if last == 0 { Vec::new() } else { vec![Clock::START; ENGINES + last + 1] })
    }

    /// Whether there is more than the default stream.
    #[inline]
    pub(super) fn several(&self) -> bool {
        !self.0.is_empty()
    }

    /// When the stream is done with what it was given; `None` for a program of one stream.
    #[inline]
    pub(super) fn of_stream(&self, stream: u8) -> Option<Clock> {
        self.0.get(ENGINES + usize::from(stream)).or(self.0.last()).copied()
    }

    /// When the engine is free; `None` for a program of one stream.
    pub(super) fn of_engine(&self, engine: Engine) -> Option<Clock> {
        self.0.get(engine as usize).copied()
    }

    /// The last of all of them.
    pub(super) fn last(&self) -> Clock {
        self.0.iter().copied().fold(Clock::START, Clock::later)
    }

    /// What was given to `stream` last, and to `engine`, ends then. False for a program of one stream.
    pub(super) fn put(&mut self, stream: u8, engine: Option<Engine>, end: Clock) -> bool {
        let place = (ENGINES + usize::from(stream)).min(self.0.len().saturating_sub(1));
        let Some(clock) = self.0.get_mut(place) else { return false };
        *clock = end;
        if let Some(engine) = engine {
            self.0[engine as usize] = end;
        }
        true
    }

    /// How far each has gone.
    pub(super) fn since(&self, before: &Self) -> Self {
        let mut gone = self.clone();
        gone.0.iter_mut().zip(&before.0).for_each(|(clock, before)| clock.each(before, |a, b| a - b));
        gone
    }

    /// Whether all have gone as far.
    pub(super) fn same_as(&self, other: &Self, close: impl Fn(f64, f64) -> bool) -> bool {
        let alike =
            |(a, b): (&Clock, &Clock)| close(a.at, b.at) && a.parts.iter().zip(&b.parts).all(|(a, b)| close(*a, *b));
        self.0.iter().zip(&other.0).all(alike)
    }

    /// Goes on by `times` rounds.
    pub(super) fn add(&mut self, round: &Self, times: f64) {
        self.0.iter_mut().zip(&round.0).for_each(|(clock, round)| clock.each(round, |a, b| a + b * times));
    }

    /// How many rounds like `round` can follow before one of these, or of `others` (time, time of a round), catches up
    /// with another that it lies behind.
    pub(super) fn rounds_alike(&self, round: &Self, others: &[(f64, f64)]) -> u64 {
        if !self.several() {
            return u64::MAX;
        }
        let own = self.0.iter().zip(&round.0).map(|(clock, round)| (clock.at, round.at));
        let all: Vec<(f64, f64)> = own.chain(others.iter().copied()).collect();
        let mut rounds = u64::MAX;
        for &(at, step) in &all {
            for &(ahead, its_step) in &all {
                let closing = step - its_step;
                if ahead > at && closing > 1e-9 * step {
                    let meet = ((ahead - at) / closing).floor() - 2.0;
                    rounds = rounds.min(if meet > 0.0 { meet as u64 } else { 0 });
                }
            }
        }
        rounds
    }
}
