//! A steady loop: whether a step that nobody watched was like those at its place in the round, and what of its time others took.

/// A step that took so much more of the processor than the others, and [`NOISE_NS`], is not like them; nor is one that took so
/// much more time, and [`WAIT_NS`], without its threads' waiting for a processor that other programs had. That is asked
/// no more often than every [`ASKED_NS`].
const LONGER: f64 = 3.0;
const ASKED_NS: u64 = 50_000_000;
const NOISE_NS: u64 = 2_000_000;
const WAIT_NS: u64 = 200_000_000;
/// The processor's time takes longer to read than the rest: steps for whose sake it is not, at most.
const UNREAD: u64 = 8;
/// Threads that have waited for a processor for so much of the time are kept from running by other programs. What then
/// takes twice as long as one of the faster steps, of so many, was among those.
const WAITING: f64 = 0.1;
const TWICE: u64 = 2;
const FAST: usize = 16;
/// The system tells a wait when it is over: so much may have begun before the step.
const LAG_NS: u64 = 200_000_000;
/// How often something else may be done before it is asked whether the loop is a steady one.
const MANY: u64 = 8;
/// Unwatched steps that asked the same of PyTorch, after which another that did not has done something else; and how often
/// that may be found of steps that turn out to do what they did before.
const AGREED: u64 = 3;
const DOUBTS: u64 = 8;
/// Steps that go unwatched at most before a round is watched again, and at first.
const MOST: u64 = 1024;
const FIRST: u64 = 96;
/// What watching a round takes may be so much of what the steps took that went unwatched before it.
const FOR_WATCHING: f64 = 0.02;

/// What the system tells of this process, ns.
pub(crate) trait Clocks {
    /// A monotonic clock.
    fn now(&self) -> u64;
    /// What all threads have had of processors.
    fn spent(&self) -> u64;
    /// What all threads have waited for one.
    fn waited(&self) -> u64;
    /// Processors that there are.
    fn processors(&self) -> u64;
    /// Threads that compute together.
    fn threads(&self) -> u64;
}

/// Counters as they stand at one moment.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counters {
    /// A monotonic clock, ns.
    pub(crate) clock: u64,
    /// Calls of modules.
    pub(crate) calls: u64,
    /// Nodes of PyTorch's graph.
    pub(crate) nodes: u64,
    /// What has been asked of PyTorch unwatched: memory, or elements without values.
    pub(crate) asked: u64,
    /// What the recorder itself took unwatched, ns.
    pub(crate) own: u64,
}

/// What a step is known by when it ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Signal {
    /// Outermost modules called.
    pub(crate) roots: usize,
    /// Calls of modules, and nodes made.
    pub(crate) calls: u64,
    pub(crate) nodes: u64,
}

/// A place in the round.
#[derive(Debug, Default)]
struct Place {
    expected: Signal,
    /// What unwatched steps asked last there, and how many in a row did.
    asks: Option<(u64, u64)>,
    /// What they took lately, and the faster ones of those so far, ns.
    lately: Vec<u64>,
    fast: Option<u64>,
}

/// What follows of a step that went unwatched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// So does the next one.
    Unwatched,
    /// A round is watched: as it is from time to time, or as a step took longer, which may have been the machine.
    Round,
    /// It did something else, or the loop is not a steady one: all are watched.
    Watched,
}

/// A step that went unwatched, ns.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unwatched {
    /// The watched step that it was like: so many steps ago, 1 for the last.
    pub(crate) back: usize,
    /// What it took of the others' time, beyond that, of other programs, and of the recorder.
    pub(crate) took: u64,
    pub(crate) extra: u64,
    pub(crate) others: u64,
    pub(crate) ours: u64,
    /// It did what steps at its place do.
    pub(crate) same: bool,
    pub(crate) next: Next,
}

/// The loop, the step of it that goes on, and what is known of time.
#[derive(Debug, Default)]
pub(crate) struct Steady {
    round: Vec<Place>,
    at: usize,
    /// Steps that go unwatched from here on until a round is watched again, and in all between two of them.
    left: i64,
    stretch: u64,
    /// Steps since they go unwatched; how often something else was done meanwhile; since when, and what a watched one took, ns.
    counted: u64,
    pub(crate) asides: u64,
    since: u64,
    took_watched: u64,
    /// Steps are watched since one asked for something else; how often they did the same then as before; what they did before.
    suspected: bool,
    doubts: u64,
    settled: Vec<u64>,
    /// When the step that goes on began.
    began: Counters,
    /// For so much of the time since then it is known what was done, ns: ops were seen, or a loader began or ended an epoch.
    known: u64,
    /// Processor's time when it was read last, ns, and steps since.
    busy: u64,
    unread: u64,
    /// Processor's time and time of unwatched steps, ns, and their medians, brought up to date now and then.
    usual: Vec<(u64, u64)>,
    usually: Option<(u64, u64)>,
    crowd: Crowd,
}

/// Other programs on the processors.
#[derive(Debug, Default)]
struct Crowd {
    /// What all threads had waited, ns, and when that was asked.
    waited: u64,
    asked: u64,
    /// They keep threads of this process from running; for how long they have lately, ns, that no step was relieved of.
    waits: bool,
    credit: u64,
}

impl Crowd {
    /// What all threads have waited since that was asked; whether that is much, where it was long ago.
    fn ask(&mut self, clocks: &impl Clocks) -> u64 {
        let (waited, now) = (clocks.waited(), clocks.now());
        // What threads waited that are gone counts no more.
        let new = waited.saturating_sub(self.waited);
        if now.saturating_sub(self.asked) > ASKED_NS {
            self.waits = new as f64 > WAITING * (now - self.asked) as f64;
        }
        (self.waited, self.asked) = (waited, now);
        self.credit = self.credit.min(LAG_NS) + new;
        new
    }

    fn was_asked_before(&self, at: u64) -> bool {
        at.saturating_sub(self.asked) > ASKED_NS
    }
}

impl Steady {
    /// A step begins.
    pub(crate) fn begins(&mut self, counters: Counters, clocks: &impl Clocks) {
        (self.began, self.known) = (counters, 0);
        if self.crowd.was_asked_before(counters.clock) {
            self.crowd.ask(clocks);
        }
        (self.busy, self.unread) = (clocks.spent(), 0);
    }

    /// What the step that goes on has called and made so far, of so many `roots`; and how long ago it began, ns.
    pub(crate) fn so_far(&self, roots: usize, counters: Counters) -> (Signal, u64) {
        let Counters { clock, calls, nodes, .. } = self.began;
        let signal =
            Signal { roots, calls: counters.calls.wrapping_sub(calls), nodes: counters.nodes.wrapping_sub(nodes) };
        (signal, counters.clock.saturating_sub(clock))
    }

    /// What was called and made in it so far is none of it.
    pub(crate) fn calls_anew(&mut self, counters: Counters) {
        (self.began.calls, self.began.nodes) = (counters.calls, counters.nodes);
    }

    /// What happened between these two moments is none of the step's; `busy` is what the processor spent then.
    pub(crate) fn leave_out(&mut self, from: Counters, until: Counters, busy: u64) {
        self.began.clock += until.clock.saturating_sub(from.clock);
        self.began.asked += until.asked.saturating_sub(from.asked);
        self.began.own += until.own.saturating_sub(from.own);
        self.busy += busy;
    }

    /// For so long, of which the processor spent `busy`, it is known what was done.
    pub(crate) fn knows(&mut self, ns: u64, busy: u64) {
        self.known += ns;
        self.busy += busy;
    }

    /// Until now it is known what was done.
    pub(crate) fn knows_until(&mut self, clocks: &impl Clocks) {
        self.known = clocks.now().saturating_sub(self.began.clock);
        (self.busy, self.unread) = (clocks.spent(), 0);
    }

    /// Watched steps were as none before.
    pub(crate) fn forget(&mut self) {
        self.stretch = FIRST;
    }

    /// Steps go unwatched from here on, which are known by the signals of a round and did what `hashes` tell of; a watched one
    /// took so long, ns.
    pub(crate) fn settle(&mut self, signals: &[Signal], mut hashes: Vec<u64>, took: u64, clocks: &impl Clocks) {
        hashes.sort_unstable();
        hashes.dedup();
        let as_before = hashes == self.settled;
        // Was what one asked for a reason to look at them?
        if std::mem::take(&mut self.suspected) {
            self.doubts = if as_before { self.doubts + 1 } else { 0 };
        }
        let kept = self.round.first().and_then(|place| place.asks).filter(|_| as_before && signals.len() == 1);
        self.round = signals.iter().map(|&expected| Place { expected, asks: kept, ..Place::default() }).collect();
        self.settled = hashes;
        (self.at, self.left, self.asides, self.counted) = (0, self.stretch.max(FIRST) as i64, 0, 0);
        (self.took_watched, self.since, self.crowd.credit) = (took, clocks.now(), 0);
        self.usual.clear();
        self.usually = None;
    }

    /// Which place of the round the step that goes on has.
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    /// How many steps ago the last watched one at that place ended, 1 for the last.
    pub(crate) fn back(&self) -> usize {
        self.round.len().saturating_sub(self.at)
    }

    /// What the step is known by that goes on.
    pub(crate) fn expected(&self) -> Signal {
        self.round.get(self.at).map_or_else(Signal::default, |place| place.expected)
    }

    /// A step has ended unwatched, and another begins; `mixed`: within it or before it something else was done. Steps that
    /// are `valueless` have no times of their own.
    pub(crate) fn ended(
        &mut self,
        roots: usize,
        counters: Counters,
        mixed: bool,
        valueless: bool,
        clocks: &impl Clocks,
    ) -> Unwatched {
        let (signal, all) = self.so_far(roots, counters);
        let same = signal == self.expected();
        // In a forked process it begins anew.
        let ours = counters.own.saturating_sub(self.began.own).min(all);
        let took = all - ours;
        let asked = counters.asked.saturating_sub(self.began.asked);
        let known = std::mem::take(&mut self.known);
        self.began = counters;
        let back = self.back();
        let step = Unwatched { back, took, extra: 0, others: 0, ours, same, next: Next::Unwatched };
        if mixed {
            return self.count_mixed(step, clocks);
        }
        let same = same && self.asks_alike(asked);
        let others = if valueless || !same { 0 } else { self.of_others(took, clocks) };
        let alone = took.saturating_sub(others + known);
        let extra = if valueless { 0 } else { self.beyond(alone, others, clocks) };
        let next = self.next(same, extra > 0, clocks);
        Unwatched { took: took.saturating_sub(extra + others), extra, others, same, next, ..step }
    }

    fn count_mixed(&mut self, step: Unwatched, clocks: &impl Clocks) -> Unwatched {
        let took = self.usually.map_or(step.took, |(_, took)| took.min(step.took));
        self.goes_on();
        (self.busy, self.unread) = (clocks.spent(), 0);
        let steady = step.same && (self.asides <= MANY || 4 * self.asides <= self.counted);
        Unwatched { took, next: if steady { Next::Unwatched } else { Next::Watched }, ..step }
    }

    fn goes_on(&mut self) {
        self.at = (self.at + 1) % self.round.len().max(1);
        self.left -= 1;
        self.counted += 1;
    }

    fn next(&mut self, same: bool, extra: bool, clocks: &impl Clocks) -> Next {
        self.goes_on();
        if self.left == 0 && !self.may_watch(clocks) {
            self.left = self.round.len() as i64;
        }
        if !same {
            return Next::Watched;
        }
        if (extra || self.left <= 0) && self.at == 0 {
            // What was only slow may have been the machine: one round shows whether anything else has changed.
            if !extra {
                self.stretch = (self.stretch.max(FIRST) * 2).min(MOST);
            }
            return Next::Round;
        }
        if extra {
            self.left = 0;
        }
        Next::Unwatched
    }

    /// Whether steps have gone unwatched for so long that watching a round again is cheap beside that.
    fn may_watch(&self, clocks: &impl Clocks) -> bool {
        let round = self.round.len() as u64 * self.took_watched;
        let unwatched = clocks.now().saturating_sub(self.since);
        self.counted >= MOST || round as f64 <= FOR_WATCHING * unwatched as f64
    }

    /// Whether an unwatched step asked of PyTorch what those at its place in the round do, where these agree.
    fn asks_alike(&mut self, asked: u64) -> bool {
        let Some(place) = self.round.get_mut(self.at).filter(|_| self.doubts < DOUBTS) else { return true };
        let (usual, times) = place.asks.unwrap_or((asked, 0));
        place.asks = Some((asked, if asked == usual { times + 1 } else { 0 }));
        self.suspected = asked != usual && times >= AGREED;
        !self.suspected
    }

    /// What other programs have taken of a step: threads of this process waited for processors, and it for them; where that
    /// happens, steps that do the same take what the faster ones do.
    fn of_others(&mut self, took: u64, clocks: &impl Clocks) -> u64 {
        let Some(Place { lately, fast, .. }) = self.round.get_mut(self.at) else { return 0 };
        lately.push(took);
        if lately.len() == FAST {
            lately.sort_unstable();
            *fast = Some(lately[FAST / 4].min(fast.unwrap_or(took)));
            lately.clear();
        }
        let fast = fast.or_else(|| lately.iter().min().copied()).unwrap_or(took);
        if !self.crowd.waits || took <= TWICE * fast {
            return 0;
        }
        self.crowd.ask(clocks);
        let others = (took - fast).min(self.crowd.credit);
        self.crowd.credit = (self.crowd.credit - others).min(LAG_NS);
        others
    }

    /// How much longer than the others a step took, where that is no noise; else 0, and it is one of the others. Other
    /// programs have taken `others` more of it, in which its threads may have been busy waiting for each other.
    fn beyond(&mut self, took: u64, others: u64, clocks: &impl Clocks) -> u64 {
        // So many processors cannot have spent more than the noise on it.
        if self.usually.is_some() && self.unread < UNREAD && took + others < NOISE_NS / clocks.processors().max(1) {
            self.unread += 1;
            return 0;
        }
        let (now, unread) = (clocks.spent(), std::mem::take(&mut self.unread));
        let spent = now.saturating_sub(std::mem::replace(&mut self.busy, now));
        let waited = if self.crowd.was_asked_before(self.began.clock) { self.crowd.ask(clocks) } else { 0 };
        if let Some((usual_busy, usual_took)) = self.usually {
            let spinning = if others > 0 { others * clocks.threads().saturating_sub(1) } else { 0 };
            let busy = spent.saturating_sub(unread * usual_busy + spinning);
            if busy > longer(usual_busy, NOISE_NS) || took.saturating_sub(waited) > longer(usual_took, WAIT_NS) {
                return took.saturating_sub(usual_took);
            }
        }
        self.usual.push((spent / (unread + 1), took));
        match self.usual.len() {
            5 | 15 => {
                let (busy, took) = self.usual.iter().copied().unzip();
                self.usually = Some((median(busy), median(took)));
            }
            31.. => self.usual.clear(),
            _ => {}
        }
        0
    }

    /// Whether the loop may be over `now`: its processor time is beyond what the step that goes on takes.
    pub(crate) fn is_longer(&self, clocks: &impl Clocks) -> bool {
        let usual = self.usually.map_or(0, |(busy, _)| busy);
        clocks.spent().saturating_sub(self.busy) > ((self.unread as f64 + LONGER) * usual as f64) as u64 + NOISE_NS
    }

    /// For how long the loop is not looked for its end, ns.
    pub(crate) fn longest(&self) -> u64 {
        longer(self.took_watched, NOISE_NS)
    }

    /// How long ago the step began that goes on, ns.
    pub(crate) fn took(&self, now: u64) -> u64 {
        now.saturating_sub(self.began.clock)
    }

    /// What is not known of that time, ns.
    pub(crate) fn unknown(&self, now: u64) -> u64 {
        now.saturating_sub(self.began.clock + self.known)
    }
}

fn longer(usual: u64, noise: u64) -> u64 {
    (LONGER * usual as f64) as u64 + noise
}

fn median(mut times: Vec<u64>) -> u64 {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    const MS: u64 = 1_000_000;
    const SIGNAL: Signal = Signal { roots: 2, calls: 5, nodes: 7 };

    #[derive(Default)]
    struct Told {
        now: Cell<u64>,
        spent: Cell<u64>,
        waited: Cell<u64>,
    }

    impl Clocks for Told {
        fn now(&self) -> u64 {
            self.now.get()
        }
        fn spent(&self) -> u64 {
            self.spent.get()
        }
        fn waited(&self) -> u64 {
            self.waited.get()
        }
        fn processors(&self) -> u64 {
            2
        }
        fn threads(&self) -> u64 {
            2
        }
    }

    /// A loop of equal steps, and the counters as they stand.
    struct Run {
        steady: Steady,
        counters: Counters,
        clocks: Told,
    }

    impl Run {
        fn of(round: usize) -> Self {
            let mut run = Self { steady: Steady::default(), counters: Counters::default(), clocks: Told::default() };
            run.settles(round, 1);
            run
        }

        fn settles(&mut self, round: usize, hash: u64) {
            self.steady.settle(&vec![SIGNAL; round], vec![hash; round], MS, &self.clocks);
            self.steady.begins(self.counters, &self.clocks);
        }

        /// A step that took so long, in which one thread computed, and did this.
        fn step(&mut self, took: u64, signal: Signal, asked: u64) -> Unwatched {
            self.counters.clock += took;
            self.counters.calls += signal.calls;
            self.counters.nodes += signal.nodes;
            self.counters.asked += asked;
            self.clocks.now.set(self.counters.clock);
            self.clocks.spent.set(self.clocks.spent.get() + took);
            self.steady.ended(signal.roots, self.counters, false, false, &self.clocks)
        }

        fn equal(&mut self) -> Unwatched {
            self.step(MS, SIGNAL, 64)
        }
    }

    #[test]
    fn what_is_done_otherwise_is_noticed() {
        let others = [Signal { roots: 1, ..SIGNAL }, Signal { calls: 6, ..SIGNAL }, Signal { nodes: 8, ..SIGNAL }];
        for signal in others {
            let mut run = Run::of(1);
            assert!((0..50).all(|_| run.equal().next == Next::Unwatched));
            let other = run.step(MS, signal, 64);
            assert_eq!((other.same, other.next), (false, Next::Watched), "{signal:?}");
        }
        let mut run = Run::of(1);
        assert!((0..50).all(|_| run.equal().same));
        assert!(!run.step(MS, SIGNAL, 65).same, "it asked for other memory");
    }

    #[test]
    fn what_steps_took_is_told_by_who_took_it() {
        let mut run = Run::of(2);
        (0..40).for_each(|_| _ = run.equal());
        assert_eq!(run.steady.back(), 2);
        run.counters.own += MS / 4;
        let step = run.equal();
        assert_eq!((step.took, step.ours, step.extra, step.others, step.back), (MS * 3 / 4, MS / 4, 0, 0, 2));
        run.counters.own = 0;
        assert_eq!(run.equal().ours, 0, "a forked process counts anew");
        let longer = run.step(500 * MS, SIGNAL, 64);
        assert_eq!((longer.took, longer.extra, longer.same), (MS, 499 * MS, true));
        assert_eq!(longer.next, Next::Unwatched, "until the round is over");
        assert_eq!(run.equal().next, Next::Round, "however short the time since");
    }

    #[test]
    fn what_is_known_of_a_step_makes_it_no_longer_one() {
        let mut run = Run::of(1);
        (0..40).for_each(|_| _ = run.equal());
        run.steady.knows(400 * MS, 400 * MS);
        assert_eq!(run.step(401 * MS, SIGNAL, 64).extra, 0);
        let (from, mut until) = (run.counters, run.counters);
        (until.clock, until.asked) = (from.clock + 300 * MS, from.asked + 999);
        run.steady.leave_out(from, until, 300 * MS);
        let step = run.step(301 * MS, SIGNAL, 64 + 999);
        assert_eq!((step.took, step.extra, step.same), (MS, 0, true));
    }

    #[test]
    fn a_round_is_watched_where_that_is_cheap_beside_the_steps_since() {
        let mut run = Run::of(3);
        let until_round = |run: &mut Run| 1 + (0..9999).take_while(|_| run.equal().next == Next::Unwatched).count();
        // Three steps of a watched one's time are a fiftieth of 150.
        assert_eq!(until_round(&mut run), 150);
        run.settles(3, 1);
        assert_eq!(until_round(&mut run), 192, "twice as many as at first");
        run.steady.forget();
        run.steady.took_watched = 100 * MS;
        run.settles(3, 1);
        run.steady.took_watched = 100 * MS;
        assert_eq!(until_round(&mut run), 1026, "and never after more");
    }

    #[test]
    fn what_other_programs_took_of_a_step_is_theirs() {
        let mut run = Run::of(1);
        let others = |run: &mut Run, took| run.steady.of_others(took, &run.clocks);
        let usual = [MS, MS + 1000, MS + 2000, MS + 3000];
        assert!(usual.iter().chain(&[9 * MS]).all(|&took| others(&mut run, took) == 0), "nobody waits");
        run.steady.crowd.waits = true;
        assert!(usual.iter().all(|&took| others(&mut run, took) == 0));
        assert_eq!(others(&mut run, 9 * MS), 0, "nobody has waited");
        run.clocks.waited.set(5 * MS);
        assert_eq!(others(&mut run, 4 * MS), 3 * MS);
        assert_eq!(others(&mut run, 9 * MS), 2 * MS, "no more than was waited");
        assert_eq!(others(&mut run, 9 * MS), 0);
        run.clocks.waited.set(905 * MS);
        assert_eq!(others(&mut run, 3 * MS), 2 * MS);
        assert_eq!(others(&mut run, 900 * MS), LAG_NS, "of what was long ago little");
    }

    #[test]
    fn a_step_that_other_programs_slowed_is_like_the_others() {
        for waited in [0, 600 * MS] {
            let mut run = Run::of(1);
            (0..40).for_each(|_| _ = run.equal());
            run.clocks.waited.set(waited);
            // It sleeps, or waits for a processor.
            run.counters.clock += 600 * MS;
            let extra = run.equal().extra;
            assert_eq!(extra, if waited > 0 { 0 } else { 600 * MS });
        }
    }

    #[test]
    fn what_only_seems_to_change_is_looked_at_a_few_times() {
        let mut run = Run::of(1);
        let mut looked = 0;
        for _ in 0..100 {
            for asked in [7, 7, 7, 7, 9] {
                if !run.step(MS, SIGNAL, asked).same {
                    looked += 1;
                    run.settles(1, 1);
                }
            }
        }
        assert_eq!(looked, DOUBTS);
    }

    #[test]
    fn what_is_done_beside_steps_now_and_then_is_none_of_them() {
        let mut run = Run::of(1);
        (0..40).for_each(|_| _ = run.equal());
        let mixed = |run: &mut Run, signal: Signal| {
            run.counters.clock += 50 * MS;
            run.counters.calls += signal.calls;
            run.counters.nodes += signal.nodes;
            run.steady.asides += 1;
            run.steady.ended(signal.roots, run.counters, true, false, &run.clocks)
        };
        let step = mixed(&mut run, SIGNAL);
        assert_eq!((step.took, step.extra, step.next), (MS, 0, Next::Unwatched));
        let next: Vec<_> = (0..20).map(|_| mixed(&mut run, SIGNAL).next).collect();
        assert!(next.starts_with(&[Next::Unwatched; 8]) && next.contains(&Next::Watched), "in most steps: {next:?}");
        assert_eq!(mixed(&mut Run::of(1), Signal::default()).next, Next::Watched);
    }

    #[test]
    fn a_loop_may_be_over_after_more_of_the_processors_time_than_steps_take() {
        let mut run = Run::of(1);
        (0..40).for_each(|_| _ = run.equal());
        run.steady.begins(run.counters, &run.clocks);
        let after = |run: &Run, spent: u64| {
            let clocks = Told { spent: Cell::new(run.clocks.spent.get() + spent), ..Told::default() };
            run.steady.is_longer(&clocks)
        };
        assert!(!after(&run, 3 * MS + NOISE_NS) && after(&run, 3 * MS + NOISE_NS + 1));
        run.steady.knows(2 * MS, 0);
        assert_eq!(run.steady.unknown(run.counters.clock + 5 * MS), 3 * MS);
    }

    #[test]
    fn without_a_loop_nothing_is_expected() {
        let mut steady = Steady::default();
        assert_eq!((steady.back(), steady.expected()), (0, Signal::default()));
        let step = steady.ended(0, Counters::default(), false, false, &Told::default());
        assert_eq!((step.took, step.same), (0, true));
    }
}
