//! What a thread is in the middle of, and which of its calls are timed.
//!
//! Reading the clock twice costs as much as the rest of what recording a call takes, so tiny calls in a steady loop are
//! timed in bursts. The time that passed while nobody looked is never guessed: it is known as a whole, from the end of
//! one burst to the begin of the next, and [`crate::spread`] divides it among the calls that ran in it.

use crate::hooks::clock;
use crate::scalars::{Scalar, Unread};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

/// Calls timed in a row, then left untimed: at least so many and at most three times that, at random, so that no loop
/// runs in step with it. Fewer are timed once there were many bursts.
const TIMED: u32 = 8;
const UNTIMED: u32 = 64;
const MANY_BURSTS: u32 = 128;
const UNTIMED_LATER: u32 = 256;

/// What other programs took of the main thread's gaps, ticks, until it is taken off one: it is set aside and nobody's time.
pub(crate) static OF_OTHERS: AtomicU64 = AtomicU64::new(0);

/// More than one thread has done what is recorded.
static SEVERAL: AtomicBool = AtomicBool::new(false);

/// The time of one event, ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Timing {
    /// In the call; 0 where that was not timed.
    pub(crate) own: u64,
    /// On the host since the event before; 0 where that was not timed.
    pub(crate) gap: u64,
}

/// See [`Thread::lane`].
const LOADING: u32 = 1 << 16;

/// The recorded calls that a thread is in, laid out for the sampler, which reads it meanwhile.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
struct Calls {
    depth: u32,
    /// Inside a call that is one op.
    closed: bool,
    /// Bit by depth: a call inside was recorded, or is made of recorded ones. 0 for the depths that no call is at.
    composite: u64,
}

/// Whether the calls that a thread is in, as two words of memory, are an op that runs, or one that may be: what goes on in a
/// call that is made of others, between these, is none of them.
pub(crate) fn is_in_op([first, composite]: [usize; 2]) -> bool {
    let bytes = first.to_ne_bytes();
    let depth = u32::from_ne_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    let (closed, within) = (bytes[4] != 0, 1_u64.checked_shl(depth.wrapping_sub(1)).unwrap_or(0));
    depth != 0 && (closed || composite as u64 & within == 0)
}

/// What a thread is in the middle of.
#[derive(Debug)]
pub(crate) struct Thread {
    /// Small and unique; 0 until its first event.
    pub(crate) id: u16,
    /// The same with [`LOADING`] while a data loader of this thread is at work: what calls are recognised by.
    pub(crate) lane: u32,
    calls: Calls,
    /// It is none of those that make steps of a loop: what it does is part of none.
    pub(crate) beside: bool,
    /// When the call that was recognised in place began; 0 where it is not timed.
    pub(crate) began: u64,
    last_end: u64,
    /// See [`Thread::own_ticks`].
    own_ticks: u64,
    /// See [`Thread::own_unwatched`]; and when that began which goes on now.
    own_unwatched: u64,
    own_since: Option<u64>,
    /// `last_end` when the data loader began that is at work; and see [`Thread::take_loaded`].
    loader_began: u64,
    loaded: u64,
    /// Ticks spent outside calls on giving large arrays back to the system, since the last event.
    freeing: u64,
    /// The one at work; and what of its time was told, ticks.
    stand_in: Option<StandIn>,
    stood_in: u64,
    on_cpu: OnCpu,
    aside: Aside,
    /// Ticks in the call that ended last, and in the last one that was recorded.
    own: u64,
    own_before: u64,
    cold: Cold,
    /// When the function returned that rewritten code called last, until this is asked for.
    pub(crate) returned: Option<u64>,
    /// Scalars that its ops gave.
    pub(crate) unread: Unread,
    /// Name, beginning and `ambient` before it of the library call that Python told of.
    pub(crate) outside: Vec<(u32, u64, u8)>,
    /// The tag of what runs within a call that the program gave to a device.
    pub(crate) ambient: u8,
    pace: Pace,
}

/// Where a thread is between bursts of timed calls.
#[derive(Debug)]
struct Pace {
    /// Calls to come that need no time.
    untimed: u32,
    /// Calls since `last_end` that had none.
    skipped: u32,
    /// Calls to come in this burst, and when its first one ended.
    timed: u32,
    began: u64,
    bursts: u32,
    /// Ticks that a call and the host code before it took in the last burst.
    each: u64,
    /// Time of the skipped calls as of the event that just left.
    span: u64,
    random: u32,
}

impl Pace {
    /// Time beyond what was to be expected that is no longer noise, ticks.
    const SLACK: u64 = 30_000;

    /// Divides the time since the last event that was timed into that of skipped calls and the gap after them.
    fn settle(&mut self, since_last: u64) -> u64 {
        let expected = u64::from(self.skipped).saturating_mul(self.each);
        self.span = match self.skipped {
            0 => 0,
            // The host did something else in between.
            _ if since_last > expected.saturating_mul(4).saturating_add(Self::SLACK) => expected,
            _ => since_last,
        };
        since_last - self.span
    }

    /// A tiny call was timed.
    fn timed(&mut self, ended: u64) {
        if self.timed == TIMED {
            self.began = ended;
        }
        self.timed -= 1;
        if self.timed == 0 {
            self.each = ended.saturating_sub(self.began) / u64::from(TIMED - 1);
            self.random = self.random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            self.bursts = self.bursts.saturating_add(1);
            let least = if self.bursts < MANY_BURSTS { UNTIMED } else { UNTIMED_LATER };
            (self.timed, self.untimed) = (TIMED, least + (self.random >> 16) % (2 * least));
        }
    }
}

/// Host time that only finds the caches swept: a long call leaves nothing in them of Python's code, the script's and the
/// recorder's, which then takes 20 to 150 µs longer. That is array work of this machine; beside a GPU the caches stay as
/// they are. How long, ticks, is known from the gaps after calls as long: a tenth of them are shorter.
#[derive(Debug)]
struct Cold([u64; Self::CLASSES]);

impl Cold {
    /// Calls that take longer than `1 << FIRST` ticks; each class twice the one before.
    const FIRST: u32 = 17;
    const CLASSES: usize = 16;
    /// More than this, and a 256th of the call or an eighth of a short one, is something else's.
    const MOST: u64 = 300_000;

    /// Of the `gap` after a call that took `own`, how much is the caches'.
    fn of(&mut self, own: u64, gap: u64) -> u64 {
        let Some(class) = own.checked_ilog2().and_then(|log| log.checked_sub(Self::FIRST)) else { return 0 };
        let shortest = &mut self.0[(class as usize).min(Self::CLASSES - 1)];
        let step = *shortest / 64 + 1;
        *shortest = match *shortest {
            0 => gap,
            now if gap < now => now.saturating_sub(9 * step).max(gap),
            now => now + step,
        };
        gap.min(*shortest).min(Self::MOST + own / 256).min(own / 8)
    }
}

/// What runs that is none of the program's: a stand-in for a library, or the recorder.
#[derive(Debug)]
struct StandIn {
    /// From when on its time is not told yet.
    from: u64,
    /// It is one for a library.
    imitates: bool,
    /// It was called within a call that had begun.
    within: bool,
}

/// What has run within the calls under way and is no work of theirs, since the last event: a stand-in, an import.
#[derive(Debug)]
struct Aside {
    /// When the first of it began.
    from: u64,
    ticks: u64,
}

impl Aside {
    fn add(&mut self, from: u64, ticks: u64) {
        if self.ticks == 0 {
            self.from = from;
        }
        self.ticks += ticks;
    }

    /// Ticks of it in a call that began then; what began before the call is none of it.
    fn take_since(&mut self, began: u64) -> u64 {
        if self.from < began { 0 } else { std::mem::take(&mut self.ticks) }
    }
}

/// How long the thread of a stand-in has had a processor, where there are several: one waits for the others then, which
/// take from the same run. As of when it was asked last, ticks; 0 where there was one thread.
#[derive(Debug)]
struct OnCpu(u64);

impl OnCpu {
    fn begin(&mut self) {
        self.0 = if SEVERAL.load(Relaxed) { clock::of_thread() } else { 0 };
    }

    /// Ticks since then; no limit where there is one thread.
    fn take(&mut self) -> u64 {
        match std::mem::take(&mut self.0) {
            0 => u64::MAX,
            before => {
                self.begin();
                self.0.saturating_sub(before)
            }
        }
    }
}

impl Thread {
    /// Calls within calls that are told apart.
    const DEEPEST: u32 = 64;

    /// A thread that has done nothing.
    pub(crate) const fn new() -> Self {
        Self {
            id: 0,
            lane: 0,
            calls: Calls { depth: 0, closed: false, composite: 0 },
            beside: false,
            began: 0,
            last_end: 0,
            own_ticks: 0,
            own_unwatched: 0,
            own_since: None,
            loader_began: 0,
            loaded: 0,
            freeing: 0,
            stand_in: None,
            stood_in: 0,
            on_cpu: OnCpu(0),
            aside: Aside { from: 0, ticks: 0 },
            own: 0,
            own_before: 0,
            cold: Cold([0; Cold::CLASSES]),
            returned: None,
            unread: Unread::new(),
            outside: Vec::new(),
            ambient: 0,
            pace: Pace { untimed: 0, skipped: 0, timed: TIMED, began: 0, bursts: 0, each: 0, span: 0, random: 1 },
        }
    }

    /// The same thread, doing nothing.
    pub(crate) fn reset(&mut self) {
        *self = Self { id: self.id, lane: self.id.into(), ..Self::new() };
    }

    /// The same thread, doing nothing, for as long as it does something of ours; what it was in the middle of is given
    /// out, for [`Thread::resume`].
    pub(crate) fn set_aside(&mut self) -> Self {
        let idle = Self { id: self.id, lane: self.id.into(), last_end: self.last_end, ..Self::new() };
        std::mem::replace(self, idle)
    }

    /// Goes on with what it was in the middle of. The time since is none of the script's.
    pub(crate) fn resume(&mut self, before: Self) {
        *self = Self { last_end: self.last_end, ..before };
    }

    /// The thread is known by this number from `now` on. What the program did before a thread that is not its first is
    /// none of that thread's time.
    pub(crate) fn name(&mut self, id: u16, now: u64) {
        (self.id, self.lane) = (id, self.lane & LOADING | u32::from(id));
        SEVERAL.fetch_or(id > 1, Relaxed);
        self.last_end = if id > 1 { now } else { 0 };
    }

    /// When its last event ended, 0 before the first.
    #[inline(always)]
    pub(crate) fn last_end(&self) -> u64 {
        self.last_end
    }

    /// Whether a data loader is at work.
    pub(crate) fn is_loading(&self) -> bool {
        self.lane & LOADING != 0
    }

    /// A data loader begins to work, or has ended; whether one was at work before.
    pub(crate) fn load(&mut self, on: bool) -> bool {
        let before = self.is_loading();
        match (before, on) {
            (false, true) => self.loader_began = self.last_end,
            (true, false) => self.loaded += self.last_end.saturating_sub(self.loader_began),
            _ => {}
        }
        self.lane = u32::from(self.id) | if on { LOADING } else { 0 };
        before
    }

    /// Ticks that events in data loaders have taken, with the host code before them, since this was last asked.
    pub(crate) fn take_loaded(&mut self) -> u64 {
        std::mem::take(&mut self.loaded)
    }

    /// Inside a call that is one op.
    pub(crate) fn closed(&self) -> bool {
        self.calls.closed
    }

    /// Where it keeps what recorded calls it is in, for [`is_in_op`]; for as long as the thread lives.
    pub(crate) fn calls_address(&self) -> usize {
        &raw const self.calls as usize
    }

    /// Inside no call.
    #[inline]
    pub(crate) fn is_idle(&self) -> bool {
        self.calls.depth == 0
    }

    /// A call begins; false when it is part of a call that is one op (then there is no `leave`).
    #[inline]
    pub(crate) fn enter(&mut self, atomic: bool) -> bool {
        if self.calls.closed || self.calls.depth == Self::DEEPEST {
            return false;
        }
        self.calls.closed = atomic;
        self.calls.depth += 1;
        true
    }

    /// Whether a call that began now would be part of one that is one op; `whole`: of one that is told from outside.
    pub(crate) fn is_within_op(&self, whole: bool) -> bool {
        let closed = if whole { !self.outside.is_empty() } else { self.calls.closed };
        closed || self.calls.depth == Self::DEEPEST
    }

    /// What runs from now on is part of no call and recorded as none, or no longer; how it was.
    pub(crate) fn shut(&mut self, on: bool) -> bool {
        std::mem::replace(&mut self.calls.closed, on)
    }

    /// As [`Thread::enter`], inside no call.
    #[inline(always)]
    pub(crate) fn enter_first(&mut self, atomic: bool) {
        (self.calls.closed, self.calls.depth) = (atomic, 1);
    }

    /// Whether a call that is known to be short, and about to begin, needs no time.
    #[inline(always)]
    pub(crate) fn may_skip(&self) -> bool {
        self.pace.untimed > 0
    }

    /// The call that is about to begin is not timed, as it [may](Thread::may_skip) be.
    #[inline(always)]
    pub(crate) fn skip(&mut self) {
        self.pace.untimed = self.pace.untimed.wrapping_sub(1);
    }

    /// Whether nothing in the call of [`Thread::enter_first`] was recorded.
    #[inline(always)]
    pub(crate) fn is_leaf(&self) -> bool {
        self.calls.composite == 0
    }

    /// Ends the call of [`Thread::enter_first`], which was not timed.
    #[inline(always)]
    pub(crate) fn leave_untimed(&mut self, made: Option<Scalar>) {
        (self.calls.closed, self.calls.depth) = (false, 0);
        self.made(made);
        self.pace.skipped = self.pace.skipped.wrapping_add(1);
    }

    /// A call that is known to be short was timed.
    #[inline]
    pub(crate) fn timed_tiny(&mut self, ended: u64) {
        self.pace.timed(ended);
    }

    /// A call begins that counts by itself, also within one that is one op: that one is made of it then.
    pub(crate) fn enter_whole(&mut self, atomic: bool) -> bool {
        if self.calls.depth == Self::DEEPEST {
            return false;
        }
        self.calls.closed = false;
        self.enter(atomic)
    }

    /// The innermost call ran from `began` to `ended`. `None` when it was made of calls that are recorded already.
    ///
    /// `since` is when recording began; time before it is nobody's gap.
    #[inline]
    pub(crate) fn leave(&mut self, began: u64, ended: u64, since: u64) -> Option<Timing> {
        self.calls.closed = false;
        self.calls.depth = self.calls.depth.saturating_sub(1);
        if self.calls.composite >> self.calls.depth & 1 == 1 {
            self.calls.composite &= !(1 << self.calls.depth);
            self.mark_outer();
            return None;
        }
        Some(self.timing(began, ended, since))
    }

    /// The innermost call ends and is nothing that is recorded by itself; what ran in it may have been.
    pub(crate) fn leave_unrecorded(&mut self) {
        self.calls.closed = false;
        self.calls.depth = self.calls.depth.saturating_sub(1);
        if self.calls.composite >> self.calls.depth & 1 == 1 {
            self.calls.composite &= !(1 << self.calls.depth);
            self.mark_outer();
        }
    }

    /// What follows in the innermost call, if there is one, is part of it again.
    pub(crate) fn close(&mut self) {
        self.calls.closed = self.calls.depth > 0;
    }

    /// The time of a call that is not closed yet.
    #[inline]
    pub(crate) fn timing(&mut self, began: u64, ended: u64, since: u64) -> Timing {
        self.leave_out_stand_in(began, since);
        let aside = self.aside.take_since(began);
        // That has moved `last_end`, too.
        let gap = self.pace.settle((began + aside).saturating_sub(self.last_end.max(since)));
        let of_others = if self.id == 1 { OF_OTHERS.load(Relaxed).min(gap) } else { 0 };
        if of_others > 0 {
            OF_OTHERS.fetch_sub(of_others, Relaxed);
        }
        let gap = gap - of_others;
        let freeing = std::mem::take(&mut self.freeing).min(gap);
        self.own = ended.saturating_sub(began + aside);
        // Where calls that were not timed lie between, it is theirs.
        let before = std::mem::take(&mut self.own_before);
        let cold = if self.pace.skipped == 0 { self.cold.of(before, gap - freeing) } else { 0 };
        Timing { own: self.own + freeing + cold, gap: gap - freeing - cold }
    }

    /// The recorder itself took `ticks` since the last event: nobody's gap.
    pub(crate) fn recorder_took(&mut self, ticks: u64) {
        self.last_end += ticks;
        self.own_ticks += ticks;
    }

    /// Of so many ticks what lies between its last event and `now`.
    pub(crate) fn between(&self, ticks: u64, now: u64, since: u64) -> u64 {
        ticks.min(now.saturating_sub(self.last_end.max(since)))
    }

    /// All the ticks that the recorder has told to have taken.
    pub(crate) fn own_ticks(&self) -> u64 {
        self.own_ticks
    }

    /// The recorder does something of its own from `now`, ns, on, while steps go unwatched; false where it does already.
    pub(crate) fn own_begins(&mut self, now: u64) -> bool {
        let first = self.own_since.is_none();
        self.own_since.get_or_insert(now);
        first
    }

    /// What began is done.
    pub(crate) fn own_ends(&mut self, now: u64) {
        self.own_unwatched = self.own_unwatched(now);
        self.own_since = None;
    }

    /// The way of a call through the recorder took `ns`, unless that is part of what it does itself.
    pub(crate) fn took_unwatched(&mut self, ns: u64) {
        self.own_unwatched += if self.own_since.is_none() { ns } else { 0 };
    }

    /// All that the recorder itself took until `now` while steps went unwatched, in ns, as steps are timed: ticks of a while
    /// that are converted twice, at the begin and the end of a step, need not give the same both times.
    pub(crate) fn own_unwatched(&self, now: u64) -> u64 {
        self.own_unwatched + self.own_since.map_or(0, |since| now.saturating_sub(since))
    }

    /// A library was imported until `now`, in so many recorded ticks: nobody's gap, and no work of the call that it was in.
    /// Gives those: all where there was no event in the import, else what came after the last one.
    pub(crate) fn imported(&mut self, ticks: u64, alone: bool, now: u64, since: u64) -> u64 {
        let told = self.last_end.max(since);
        let open = now.saturating_sub(told);
        let own = if alone { ticks } else { ticks.min(open) };
        self.last_end = told + own.min(open);
        if let Some(StandIn { from, .. }) = &mut self.stand_in {
            *from = now.min(*from + own);
        }
        if self.calls.depth > 0 {
            self.aside.add(now.saturating_sub(ticks), own);
        }
        own
    }

    /// A stand-in for a library begins to work, `now`, or the recorder, which `imitates` none; false where one is at work
    /// already.
    pub(crate) fn stand_in_begins(&mut self, now: u64, imitates: bool) -> bool {
        let first = self.stand_in.is_none();
        if first {
            self.stand_in = Some(StandIn { from: now, imitates, within: self.calls.depth > 0 });
            self.on_cpu.begin();
        }
        first
    }

    /// Whether a stand-in for a library is at work, and in no call.
    pub(crate) fn is_stand_in_alone(&self) -> bool {
        self.calls.depth == 0 && self.stand_in.as_ref().is_some_and(|stand_in| stand_in.imitates)
    }

    /// The stand-in at work, if any, begins to do what the call around it is there for.
    pub(crate) fn work_begins(&mut self, now: u64, since: u64) {
        if matches!(self.stand_in, Some(StandIn { within: true, .. })) {
            self.leave_out_stand_in(now, since);
        }
    }

    /// That is done.
    pub(crate) fn work_ends(&mut self, now: u64) {
        if let Some(StandIn { from, within: true, .. }) = &mut self.stand_in {
            *from = now;
        }
    }

    /// The stand-in that began is done. Gives the ticks that it took beside the events in it, which are nobody's gap.
    #[must_use = "they are none of the run's time"]
    pub(crate) fn stand_in_ends(&mut self, now: u64, since: u64) -> u64 {
        self.leave_out_stand_in(now, since);
        self.stand_in = None;
        std::mem::take(&mut self.stood_in)
    }

    /// Until `now`, since the last event or since the stand-in began, it was the stand-in that ran.
    fn leave_out_stand_in(&mut self, now: u64, since: u64) {
        if let Some(StandIn { from, .. }) = &mut self.stand_in {
            let told = self.last_end.max(since);
            let took = now.saturating_sub(told.max(*from));
            if self.calls.depth > 0 {
                self.aside.add(told.max(*from), took);
            }
            // A call that ends within it may have begun before.
            *from = now.max(*from);
            self.last_end = told + took;
            self.stood_in += took.min(self.on_cpu.take());
        }
    }

    /// A large array was freed in `ticks`. Between calls that is part of what array work costs on this machine and
    /// none of the host code that a port would keep: it counts with the next event.
    pub(crate) fn freed(&mut self, ticks: u64) {
        if self.calls.depth == 0 && self.stand_in.is_none() {
            self.freeing += ticks;
        }
    }

    /// The call that just ended was recorded, and its time is spoken for. Gives the time of the calls before it that
    /// were not timed.
    #[inline]
    #[must_use = "calls that were not timed took it"]
    pub(crate) fn recorded(&mut self, ended: u64, made: Option<Scalar>) -> u64 {
        self.last_end = ended;
        self.own_before = std::mem::take(&mut self.own);
        self.made(made);
        self.aside.ticks = 0;
        if self.stand_in.is_some() {
            self.on_cpu.begin();
        }
        self.mark_outer();
        self.pace.skipped = 0;
        std::mem::take(&mut self.pace.span)
    }

    /// What was done since the last event, and given back, has nothing to do with the next one. As [`Thread::recorded`].
    #[must_use = "calls that were not timed took it"]
    pub(crate) fn passed(&mut self, now: u64) -> u64 {
        self.freeing = 0;
        self.recorded(now, None)
    }

    #[inline(always)]
    fn made(&mut self, scalar: Option<Scalar>) {
        if let Some(scalar) = scalar {
            self.unread.made(scalar);
        }
    }

    #[inline]
    fn mark_outer(&mut self) {
        if self.calls.depth > 0 {
            self.calls.composite |= 1 << (self.calls.depth - 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::mem::offset_of;

    #[test]
    fn what_lies_between_the_ops_of_a_call_is_none() {
        assert_eq!([offset_of!(Calls, depth), offset_of!(Calls, closed), offset_of!(Calls, composite)], [0, 4, 8]);
        let words = |thread: &Thread| {
            let Calls { depth, closed, composite } = thread.calls;
            is_in_op([depth as usize | usize::from(closed) << 32, composite as usize])
        };
        let mut thread = Thread::new();
        assert!(!words(&thread));
        assert!(thread.enter(false));
        assert!(words(&thread), "it may be an op");
        assert!(thread.enter(true));
        assert!(words(&thread));
        assert!(thread.leave(0, 10, 0).is_some());
        assert_eq!(thread.recorded(10, None), 0);
        assert!(!words(&thread), "it is made of others");
        assert!(thread.enter(true));
        assert!(words(&thread));
        assert!(thread.leave(20, 30, 0).is_some());
        assert!(thread.leave(0, 40, 0).is_none());
        assert!(!words(&thread));
    }

    #[test]
    fn freeing_between_calls_is_array_time_and_within_a_call_its_own() {
        let mut thread = Thread::new();
        assert!(thread.enter(false));
        thread.freed(5);
        assert_eq!(thread.leave(0, 10, 0), Some(Timing { own: 10, gap: 0 }));
        assert_eq!(thread.recorded(10, None), 0);
        thread.freed(7);
        assert!(thread.enter(false));
        assert_eq!(thread.leave(30, 40, 0), Some(Timing { own: 17, gap: 13 }));
        // What an unwatched step gave back is part of its own time.
        thread.freed(7);
        assert_eq!(thread.passed(60), 0);
        assert!(thread.enter(false));
        assert_eq!(thread.leave(80, 90, 0), Some(Timing { own: 10, gap: 20 }));
    }

    #[test]
    fn after_long_calls_the_shortest_gaps_are_the_caches() {
        let (mut thread, mut now, mut gaps) = (Thread::new(), 0, Vec::new());
        let mut run = |gap: u64, own: u64| {
            thread.enter_first(true);
            let timing = thread.leave(now + gap, now + gap + own, 0).unwrap();
            now += gap + own;
            assert_eq!((timing.own + timing.gap, thread.recorded(now, None)), (own + gap, 0));
            timing.gap
        };
        // Every tenth round the host does something.
        for round in 0..1000 {
            gaps.push(run(if round % 10 == 9 { 2_000_000 } else { 100_000 + round % 7 * 1000 }, 10_000_000));
        }
        let sum: u64 = gaps[100..].iter().sum();
        assert!((90 * 1_850_000..90 * 2_000_000).contains(&sum), "{sum}");
        // After short calls, and beyond what caches explain, it is the host's.
        run(0, 1000);
        assert_eq!(run(5000, 1000), 5000);
        (0..100).for_each(|_| _ = run(5_000_000, 10_000_000));
        assert_eq!(run(5_000_000, 10_000_000), 5_000_000 - Cold::MOST - 10_000_000 / 256);
    }

    #[test]
    fn a_thread_within_a_call_does_something_of_ours_and_goes_on() {
        let mut thread = Thread::new();
        assert!(thread.enter(true));
        let before = thread.set_aside();
        assert!(!thread.closed() && thread.enter(false));
        assert!(thread.leave(10, 20, 0).is_some());
        assert_eq!(thread.recorded(20, None), 0);
        thread.resume(before);
        assert!(thread.closed());
        assert_eq!(thread.leave(0, 30, 0), Some(Timing { own: 30, gap: 0 }));
    }

    #[test]
    fn what_importing_a_library_takes_is_no_gap() {
        let mut thread = Thread::new();
        assert!(thread.enter(true));
        assert!(thread.leave(10, 20, 0).is_some());
        assert_eq!(thread.recorded(20, None), 0);
        assert_eq!(thread.imported(70, true, 100, 0), 70);
        assert!(thread.enter(true));
        assert_eq!(thread.leave(105, 110, 0), Some(Timing { own: 5, gap: 15 }));
        assert_eq!(thread.recorded(110, None), 0);
        // Events of the import end at 110; recording begins anew within it.
        assert_eq!(thread.imported(50, false, 130, 0), 20);
        assert_eq!(thread.imported(50, true, 150, 145), 50);
        assert!(thread.enter(true));
        assert_eq!(thread.leave(152, 160, 145), Some(Timing { own: 8, gap: 2 }));
    }

    #[test]
    fn what_the_recorder_takes_unwatched_counts_once() {
        let mut thread = Thread::new();
        assert!(thread.own_begins(100));
        assert!(!thread.own_begins(105));
        thread.took_unwatched(3);
        assert_eq!(thread.own_unwatched(110), 10);
        thread.own_ends(112);
        thread.took_unwatched(3);
        assert_eq!(thread.own_unwatched(200), 12 + 3);
    }

    #[test]
    fn what_the_recorder_takes_is_no_gap() {
        let mut thread = Thread::new();
        assert!(thread.enter(true));
        assert_eq!(thread.leave(0, 10, 0), Some(Timing { own: 10, gap: 0 }));
        assert_eq!(thread.recorded(10, None), 0);
        thread.recorder_took(7);
        assert_eq!(thread.own_ticks(), 7);
        assert!(thread.enter(true));
        assert_eq!(thread.leave(30, 40, 0), Some(Timing { own: 10, gap: 13 }));
    }

    #[test]
    fn what_a_stand_in_takes_around_events_is_no_gap() {
        let mut thread = Thread::new();
        assert_eq!(thread.recorded(100, None), 0);
        assert!(thread.stand_in_begins(110, true));
        assert!(!thread.stand_in_begins(112, true));
        thread.freed(3);
        assert!(thread.enter(true));
        assert_eq!(thread.leave(120, 125, 0), Some(Timing { own: 5, gap: 10 }));
        assert_eq!(thread.recorded(125, None), 0);
        // One that comes to nothing.
        assert!(thread.enter(true));
        assert!(thread.leave(130, 140, 0).is_some());
        assert!(thread.enter(true));
        assert_eq!(thread.leave(150, 151, 0), Some(Timing { own: 1, gap: 0 }));
        assert_eq!(thread.recorded(151, None), 0);
        // 110 to 120, 125 to 150, and 151 to 160.
        assert_eq!(thread.stand_in_ends(160, 0), 44);
        assert!(thread.stand_in_begins(163, true));
        // Recording began within it.
        assert_eq!(thread.stand_in_ends(175, 172), 3);
        assert!(thread.enter(true));
        assert_eq!(thread.leave(177, 178, 0), Some(Timing { own: 1, gap: 2 }));
    }

    #[test]
    fn what_a_stand_in_takes_after_a_call_that_comes_to_nothing_is_its_own_alone() {
        let mut thread = Thread::new();
        assert_eq!(thread.recorded(100, None), 0);
        assert!(thread.enter(true));
        assert!(thread.stand_in_begins(150, true));
        assert!(thread.leave(110, 151, 0).is_some());
        assert_eq!(thread.stand_in_ends(155, 0), 5);
        assert!(thread.enter(true));
        assert_eq!(thread.leave(160, 161, 0), Some(Timing { own: 1, gap: 55 }));
    }

    #[test]
    fn what_a_stand_in_takes_within_a_call_is_no_work_of_the_call() {
        let mut thread = Thread::new();
        assert_eq!(thread.recorded(100, None), 0);
        assert!(thread.enter(true));
        assert!(thread.stand_in_begins(120, true));
        thread.work_begins(123, 0);
        thread.work_ends(150);
        assert_eq!(thread.stand_in_ends(160, 0), 13);
        assert_eq!(thread.leave(110, 170, 0), Some(Timing { own: 47, gap: 10 }));
        assert_eq!(thread.recorded(170, None), 0);
        assert!(thread.enter(true));
        assert_eq!(thread.leave(175, 180, 0), Some(Timing { own: 5, gap: 5 }));
    }

    #[test]
    fn an_import_within_a_call_or_a_stand_in_counts_once() {
        let mut thread = Thread::new();
        assert_eq!(thread.recorded(100, None), 0);
        assert!(thread.enter(true));
        assert_eq!(thread.imported(20, true, 140, 0), 20);
        assert_eq!(thread.leave(110, 150, 0), Some(Timing { own: 20, gap: 10 }));
        assert_eq!(thread.recorded(150, None), 0);
        assert!(thread.stand_in_begins(300, true));
        assert!(thread.is_stand_in_alone());
        assert!(!thread.stand_in_begins(305, false));
        assert!(thread.is_stand_in_alone());
        assert_eq!(thread.imported(40, true, 350, 0), 40);
        assert_eq!(thread.stand_in_ends(360, 0), 20);
        assert!(thread.enter(true));
        assert_eq!(thread.leave(370, 375, 0), Some(Timing { own: 5, gap: 160 }));
        assert!(thread.stand_in_begins(380, false));
        assert!(!thread.is_stand_in_alone());
    }

    #[test]
    fn a_call_made_of_recorded_calls_is_not_recorded() {
        let mut thread = Thread::new();
        assert!(thread.enter(false));
        assert!(thread.enter(false));
        assert!(thread.leave(10, 20, 0).is_some());
        assert_eq!(thread.recorded(20, None), 0);
        assert_eq!(thread.leave(5, 30, 0), None);
        // The next call at the same depth is a leaf again.
        assert!(thread.enter(false));
        assert_eq!(thread.leave(40, 50, 0), Some(Timing { own: 10, gap: 20 }));
    }

    #[test]
    fn what_one_op_calls_is_part_of_it() {
        let mut thread = Thread::new();
        assert!(thread.enter(true));
        assert!(!thread.enter(false));
        assert_eq!(thread.leave(10, 30, 4), Some(Timing { own: 20, gap: 6 }));
        assert!(thread.enter(false));
    }

    #[test]
    fn calls_nested_too_deep_are_part_of_what_they_are_in() {
        let mut thread = Thread::new();
        assert!((0..64).all(|_| thread.enter(false)));
        assert!(!thread.enter(false));
        assert!((0..64).all(|i| thread.leave(i, i + 1, 0).is_some()));
    }

    #[test]
    fn what_a_loader_takes_is_told_once_and_calls_in_it_are_told_apart() {
        let mut thread = Thread::new();
        thread.name(3, 0);
        let outside = thread.lane;
        assert!(!thread.load(true));
        assert!(thread.load(true), "a loader within a loader");
        assert_ne!(thread.lane, outside);
        assert!(thread.enter(false));
        assert_eq!(thread.leave(30, 40, 0), Some(Timing { own: 10, gap: 30 }));
        assert_eq!(thread.recorded(40, None), 0);
        assert!(thread.load(false));
        assert!(!thread.is_loading() && thread.lane == outside);
        assert_eq!((thread.take_loaded(), thread.take_loaded()), (40, 0));
    }

    proptest! {
        /// Whatever is timed and whatever is not: what is charged is what passed, to the tick.
        #[test]
        fn no_time_is_lost_or_made(
            calls in proptest::collection::vec((0u64..3000, 1u64..500, 0u8..4, any::<bool>()), 1..2000),
        ) {
            let (mut thread, mut now, mut charged) = (Thread::new(), 0, 0);
            for (gap, own, rare, tiny) in calls {
                now += if rare == 0 && gap % 97 == 0 { gap * 1_000_000 } else { gap };
                thread.enter_first(true);
                if tiny && thread.may_skip() {
                    thread.skip();
                    now += own;
                    thread.leave_untimed(None);
                    continue;
                }
                let began = now;
                now += own;
                let timing = thread.leave(began, now, 0).unwrap();
                charged += timing.own + timing.gap + thread.recorded(now, None);
                if tiny {
                    thread.timed_tiny(now);
                }
                prop_assert_eq!(charged, now);
            }
        }
    }

    #[test]
    fn in_a_steady_loop_few_calls_are_timed() {
        let (mut thread, mut timed) = (Thread::new(), 0);
        for now in 0..100_000 {
            thread.enter_first(true);
            if thread.may_skip() {
                thread.skip();
                thread.leave_untimed(None);
            } else {
                thread.leave(10 * now, 10 * now + 5, 0).unwrap();
                let _ = thread.recorded(10 * now + 5, None);
                thread.timed_tiny(10 * now + 5);
                timed += 1;
            }
        }
        assert!((1500..4000).contains(&timed), "{timed}");
    }

    #[test]
    fn a_pause_among_untimed_calls_is_a_gap_and_none_of_theirs() {
        let mut thread = Thread::new();
        let mut now = 0;
        let mut last = Timing { own: 0, gap: 0 };
        let mut spans = 0;
        for i in 0..2000 {
            now += if i == 1000 { 1_000_000_000 } else { 100 };
            thread.enter_first(true);
            if thread.may_skip() {
                thread.skip();
                thread.leave_untimed(None);
                continue;
            }
            last = thread.leave(now, now, 0).unwrap();
            spans += thread.recorded(now, None);
            thread.timed_tiny(now);
            if last.gap > 900_000_000 {
                break;
            }
        }
        assert!(last.gap > 999_000_000, "{last:?}");
        assert!(spans < 200_000, "{spans}");
    }
}
