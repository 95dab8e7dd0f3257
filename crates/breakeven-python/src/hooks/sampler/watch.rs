//! The thread that looks at what the script is at, some hundred times a second.
//!
//! It belongs to no interpreter, takes no lock of Python's, blocks every signal and asks for no memory, so that the script
//! runs as it would. It ends before the process forks, and begins again after.

use super::super::frames::layout;
use super::frame::{Frame, Step};
use super::kept::Kept;
use super::sample::{Busy, DEEPEST, SLOTS, Sample, Waiting};
use super::{facts, peek};
use crate::bytecode::Stack;
use crate::thread::is_in_op;
use std::sync::atomic::{AtomicI32, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Condvar, Mutex};
use std::time::{Duration, Instant};

/// The shortest and longest time between two looks, ns, and the share of the time so far that it is: a thousand looks or so
/// for a run of any length.
const SHORTEST: u64 = 1_000_000;
const LONGEST: u64 = 10_000_000;
const SHARE: u64 = 1000;
/// A wait is so many times as long as a look takes on this machine (15 to 40 µs): looking is 1 % of a processor at most.
const WAITS: u64 = 100;
/// Share of the time for which a thread, or the process, must have had a processor to count as busy.
const BUSY: f64 = 0.3;
/// A thread that has stood still for so long, ns, waits: nobody keeps it from a processor for as long.
const STANDS_STILL: u64 = 100_000_000;
/// Memory for the thread's own frames, bytes: it keeps samples elsewhere.
const STACK: usize = 256 << 10;
/// Other threads of Python's that are told apart.
const THREADS: usize = 64;

/// Samples that wait for the recorder.
pub(super) static WAITING: Mutex<Option<Waiting>> = Mutex::new(None);
/// Set where the thread is to end.
static END: Mutex<bool> = Mutex::new(false);
static ENDS: Condvar = Condvar::new();
static RUNNING: Mutex<Option<libc::pthread_t>> = Mutex::new(None);
/// State of Python's main thread, and what Linux calls it.
static MAIN: AtomicUsize = AtomicUsize::new(0);
static MAIN_ID: AtomicI32 = AtomicI32::new(0);
/// Processor time of the threads that have looked, ns: of those that have ended, and of the one that looks now.
static SPENT: [AtomicU64; 2] = [const { AtomicU64::new(0) }; 2];
/// Recorded calls that each thread is in: its number (0: none) and where it keeps them.
static CALLS: [(AtomicI32, AtomicUsize); THREADS] = [const { (AtomicI32::new(0), AtomicUsize::new(0)) }; THREADS];

/// This thread keeps its recorded calls at `address`.
pub(crate) fn calls_are_at(address: usize) {
    let id = thread_id();
    let free = |place: &&(AtomicI32, AtomicUsize)| {
        place.0.load(Relaxed) == id || place.0.compare_exchange(0, id, Relaxed, Relaxed).is_ok()
    };
    if let Some((_, at)) = CALLS.iter().find(free) {
        at.store(address, Relaxed);
    }
}

/// This thread ends.
pub(crate) fn calls_are_gone() {
    forget_calls(|id| id == thread_id());
}

fn forget_calls(of: impl Fn(i32) -> bool) {
    for (id, at) in CALLS.iter().filter(|(id, _)| of(id.load(Relaxed))) {
        at.store(0, Relaxed);
        id.store(0, Relaxed);
    }
}

fn thread_id() -> i32 {
    // SAFETY: it only asks.
    unsafe { libc::gettid() }
}

/// Whether a recorded op runs in this thread.
fn in_op(id: i32) -> bool {
    let place = CALLS.iter().find(|(known, _)| known.load(Relaxed) == id);
    let at = place.map_or(0, |(_, at)| at.load(Relaxed));
    at != 0 && peek::words(at).is_some_and(is_in_op)
}

/// Looks from now on, if it does not already; `thread` is the state of Python's main thread, which calls this. False where the
/// system makes no more threads for this process.
pub(super) fn begin(thread: usize) -> bool {
    let mut running = RUNNING.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    if running.is_some() {
        return true;
    }
    MAIN.store(thread, Relaxed);
    MAIN_ID.store(thread_id(), Relaxed);
    *lock(&END) = false;
    lock(&WAITING).get_or_insert_with(Waiting::new);
    // SAFETY: zeros are valid for both; the calls fill them. Every signal is blocked while the thread is made, which
    // inherits that, and then as before. The function lives as long as the process.
    *running = unsafe {
        let (mut attributes, mut all, mut before) = (std::mem::zeroed(), std::mem::zeroed(), std::mem::zeroed());
        let mut made = 0;
        libc::sigfillset(&raw mut all);
        libc::pthread_attr_init(&raw mut attributes);
        libc::pthread_attr_setstacksize(&raw mut attributes, STACK);
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, &raw mut before);
        let failed = libc::pthread_create(&raw mut made, &raw const attributes, run, std::ptr::null_mut()) != 0;
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const before, std::ptr::null_mut());
        libc::pthread_attr_destroy(&raw mut attributes);
        (!failed).then_some(made)
    };
    running.is_some()
}

/// Ends the thread and waits for that; whether there was one.
pub(super) fn end() -> bool {
    let Some(thread) = lock(&RUNNING).take() else { return false };
    *lock(&END) = true;
    ENDS.notify_all();
    // SAFETY: a thread that was made and not joined before: `take` gives it out once.
    unsafe { libc::pthread_join(thread, std::ptr::null_mut()) };
    SPENT[0].fetch_add(SPENT[1].swap(0, Relaxed), Relaxed);
    true
}

/// Processor time that looking has taken, ns.
pub(super) fn spent_ns() -> u64 {
    SPENT.iter().map(|spent| spent.load(Relaxed)).sum()
}

/// A child of fork has none of the parent's threads. One that no code of Python's made may find the samples in use.
pub(super) fn forget() {
    if let Ok(mut running) = RUNNING.try_lock() {
        *running = None;
    }
    if let Ok(Some(waiting)) = WAITING.try_lock().as_deref_mut() {
        waiting.drain(|_, _, _| ());
    }
    SPENT.iter().for_each(|spent| spent.store(0, Relaxed));
    forget_calls(|_| true);
}

pub(super) fn lock<T>(mutex: &'static Mutex<T>) -> std::sync::MutexGuard<'static, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

extern "C" fn run(_: *mut libc::c_void) -> *mut libc::c_void {
    let began = Instant::now();
    let mut clocks = Clocks::now(began);
    let (mut sample, mut held) = (Sample::new(), Held { sample: Sample::new(), ns: 0, process: 0 });
    for looks in 1.. {
        let spent = super::super::clock::spent_ns(libc::CLOCK_THREAD_CPUTIME_ID);
        SPENT[1].store(spent, Relaxed);
        let a_look = spent / looks;
        let wait = (began.elapsed().as_nanos() as u64 / SHARE).max(WAITS * a_look).clamp(SHORTEST, LONGEST);
        let end = lock(&END);
        let (end, _) = ENDS
            .wait_timeout_while(end, Duration::from_nanos(wait), |end| !*end)
            .unwrap_or_else(|poisoned| poisoned.into_inner());
        if *end {
            return std::ptr::null_mut();
        }
        drop(end);
        super::settle();
        let mut passed = clocks.passed(began);
        held.is_told(&mut sample, &mut passed);
        look(&mut sample, &mut passed, &mut held);
    }
    std::ptr::null_mut()
}

/// Share of a while that stood still for which the process must have had a processor for its other threads to be at work: one
/// that waits for a disk or another program has next to none, and the looks themselves take less.
const AT_WORK: f64 = 0.05;

/// What the main thread was at while nothing ran. Linux tells that a thread was kept from a processor when it has one again,
/// so whether it waited turns out later.
struct Held {
    sample: Sample,
    ns: u64,
    /// What the process had of processors meanwhile, ns.
    process: u64,
}

impl Held {
    /// The thread was kept from running for so long, ns, as is known now; tells the recorder where that, or that the thread
    /// `runs` again, decides what it did until now.
    fn is_told(&mut self, scratch: &mut Sample, passed: &mut Passed) {
        if passed.kept > 0 || passed.busy != Busy::Idle || self.ns >= STANDS_STILL {
            self.give_up(scratch, passed.kept, passed.others);
        }
    }

    fn give_up(&mut self, scratch: &mut Sample, kept: u64, clocks: &mut Others) {
        // What others took of it is no time of the script's.
        let ns = self.ns.saturating_sub(kept);
        let at_work = self.process as f64 >= AT_WORK * self.ns as f64;
        if ns > 0 && !(at_work && others(scratch, ns, clocks)) {
            self.sample.busy = if at_work { Busy::Others } else { Busy::Idle };
            keep(&self.sample, ns);
        }
        (self.ns, self.process) = (0, 0);
    }

    /// Hardly anything has run for a while more.
    fn hold(&mut self, sample: &mut Sample, passed: &mut Passed) {
        if self.ns > 0 && !self.sample.is(sample) {
            let mut next = *sample;
            self.give_up(&mut next, 0, passed.others);
        }
        let process = passed.process;
        self.sample = *sample;
        self.ns += passed.wall;
        if !sample.known {
            // It will have moved on when this is told: its code is learned now.
            keep(sample, 0);
        }
        self.process += process;
    }
}

/// Python's other threads by number, and what each has had of processors, ns.
type Others = [(i32, u64); THREADS];

/// Clocks of the processors, ns: of the process, of its main thread with what it was kept from them, and of others.
struct Clocks {
    at: u64,
    process: u64,
    main: u64,
    kept: u64,
    keeps: Option<Kept>,
    others: Others,
}

/// What has passed since the last look, ns, and the clocks of other threads, which are read only where one is needed.
struct Passed<'a> {
    wall: u64,
    process: u64,
    /// Of that, as far as is known, the main thread was kept from running.
    kept: u64,
    busy: Busy,
    others: &'a mut Others,
}

impl Clocks {
    fn now(began: Instant) -> Self {
        let main = MAIN_ID.load(Relaxed);
        let keeps = Kept::of(main);
        let kept = keeps.as_ref().map_or(0, Kept::ns);
        let (at, process, main) = (began.elapsed().as_nanos() as u64, of_process(), of_thread(main));
        Self { at, process, main, kept, keeps, others: [(0, 0); THREADS] }
    }

    fn passed(&mut self, began: Instant) -> Passed<'_> {
        let (at, process) = (began.elapsed().as_nanos() as u64, of_process());
        let (main, kept) = (of_thread(MAIN_ID.load(Relaxed)), self.keeps.as_ref().map_or(0, Kept::ns));
        let (kept_since, process_since) = (kept.saturating_sub(self.kept), process.saturating_sub(self.process));
        let wall = at.saturating_sub(self.at);
        let most = |since: u64| since as f64 >= BUSY * wall as f64;
        let busy = if most(main.saturating_sub(self.main) + kept_since) {
            Busy::Running
        } else if most(process_since) {
            Busy::Others
        } else {
            Busy::Idle
        };
        (self.at, self.process, self.main, self.kept) = (at, process, main, kept);
        Passed { wall, process: process_since, kept: kept_since, busy, others: &mut self.others }
    }
}

fn of_process() -> u64 {
    super::super::clock::spent_ns(libc::CLOCK_PROCESS_CPUTIME_ID)
}

/// What a thread of this process has had of processors, ns; 0 where there is none with this number.
fn of_thread(id: i32) -> u64 {
    // `CPUCLOCK_SCHED` of one thread, as Linux numbers such clocks (`include/linux/posix-timers.h`).
    super::super::clock::spent_ns(!id << 3 | 6)
}

/// Takes a sample of the main thread, or of those that run while it waits.
fn look(sample: &mut Sample, passed: &mut Passed, held: &mut Held) {
    let main = MAIN.load(Relaxed);
    if in_op(MAIN_ID.load(Relaxed)) || passed.busy == Busy::Others && others(sample, passed.wall, passed.others) {
        return;
    }
    if take(sample, main, None) {
        sample.busy = passed.busy;
        // Time in which others had the processor is no time of the script's.
        let ran = passed.wall.saturating_sub(passed.kept);
        if passed.busy == Busy::Idle {
            held.hold(sample, passed);
        } else {
            keep(sample, ran);
        }
    }
}

/// Python's other threads that ran meanwhile share the time; false where there are none.
fn others(sample: &mut Sample, wall: u64, clocks: &mut Others) -> bool {
    let main = MAIN.load(Relaxed);
    let (mut now, mut ran) = ([(0, 0); THREADS], [(0, 0, 0); THREADS]);
    let mut thread = peek::word(main + layout::NEWER).unwrap_or(0);
    for (now, ran) in now.iter_mut().zip(&mut ran) {
        let Some(id) = number_of(thread) else { break };
        *now = (id, of_thread(id));
        let before = clocks.iter().find(|(known, _)| *known == id).map_or(now.1, |&(_, before)| before);
        *ran = (thread, id, now.1.saturating_sub(before));
        thread = peek::word(thread + layout::NEWER).unwrap_or(0);
    }
    *clocks = now;
    let busy = |ns: u64| ns as f64 >= AT_WORK * wall as f64;
    let all: u64 = ran.iter().map(|&(.., ns)| ns).filter(|&ns| ns > 0 && busy(ns)).sum();
    for &(thread, id, ns) in ran.iter().filter(|&&(.., ns)| ns > 0 && busy(ns)) {
        // What runs in a recorded op is the op's time.
        if !in_op(id) && take(sample, thread, Some(main)) {
            sample.busy = Busy::Running;
            keep(sample, (wall as f64 * ns as f64 / all as f64) as u64);
        }
    }
    all > 0
}

/// What Linux calls a thread, by the address of its state.
#[cfg(Py_3_11)]
fn number_of(thread: usize) -> Option<i32> {
    (thread != 0).then(|| peek::int(thread + layout::NATIVE_ID)).flatten()
}

/// In 3.10 the state names only the C library's description of the thread, which has the number at [`NUMBER`].
#[cfg(not(Py_3_11))]
fn number_of(thread: usize) -> Option<i32> {
    let number = NUMBER.load(Relaxed);
    let described = (thread != 0 && number != 0).then(|| peek::word(thread + layout::THREAD_ID)).flatten()?;
    peek::int(described + number)
}

/// Where the C library's description of a thread has the number of the thread; 0 where that is not known.
#[cfg(not(Py_3_11))]
static NUMBER: AtomicUsize = AtomicUsize::new(0);

/// Whether the state of the main thread, which calls this, says what Linux calls the thread.
pub(super) fn numbers_are_known(main: usize) -> bool {
    #[cfg(not(Py_3_11))]
    {
        let described = peek::word(main + layout::THREAD_ID).unwrap_or(0);
        let is_here = |at: &usize| peek::int(described + at) == Some(thread_id());
        NUMBER.store((4..4096).step_by(4).find(is_here).unwrap_or(0), Relaxed);
    }
    number_of(main) == Some(thread_id())
}

fn keep(sample: &Sample, ns: u64) {
    let soon = lock(&WAITING).as_mut().is_some_and(|waiting| waiting.add(sample, ns, facts::has_room()));
    if soon {
        super::ask_for_recorder();
    }
}

/// Where a thread is, and what is called there; false where it has no frame. Frames are taken up to the first of the script's,
/// where none is then up to the first in the thread `that_waits` for it. The thread may move on meanwhile: what matters most
/// is read at once, and the frames further out change least.
fn take(sample: &mut Sample, thread: usize, that_waits: Option<usize>) -> bool {
    sample.empty();
    let Some((step, frame)) = Frame::innermost(thread).and_then(Frame::first_of_python) else { return false };
    describe(sample, step, &frame);
    walk(sample, Some(frame), true);
    if !sample.is_of_script()
        && let Some(other) = that_waits
    {
        walk(sample, Frame::innermost(other), false);
    }
    if sample.stack.is_none() {
        // What runs now is told by its instruction.
        sample.path[0] = step;
    }
    true
}

/// Frames that are looked at, of which many may be no Python frames.
const LOOKED_AT: usize = 4 * DEEPEST;

/// Adds frames from this one outwards, or those of the script alone, as far as they are frames still.
fn walk(sample: &mut Sample, mut frame: Option<Frame>, all: bool) {
    for _ in 0..LOOKED_AT {
        let Some(current) = frame else { return };
        if let Some(step) = current.step {
            let facts = current.facts;
            let script = facts.is_none_or(|facts| facts.script);
            // Which instruction of a line it is matters no more.
            let told = facts.map_or(step, |facts| Step { offset: facts.line_begins(step.offset), ..step });
            if (all || script) && (!sample.push(told, facts) || sample.is_of_script()) {
                return;
            }
        }
        frame = current.outer();
    }
}

/// Slots above the callee's that are looked at.
const ARGUMENTS: u8 = 12;

/// Describes what matters of a frame's value stack, or all of it where that is not known.
fn describe(sample: &mut Sample, step: Step, frame: &Frame) {
    let variables = frame.facts.map_or(0, |facts| facts.variables);
    sample.stack = frame.facts.map(|facts| facts.stack(step.offset));
    match sample.stack {
        None => frame.slots().iter().take(SLOTS).for_each(|&slot| sample.add(slot)),
        Some(Stack::Nothing) => {}
        Some(Stack::Call(from, above)) => {
            let slot = |more: u8| frame.slot(variables + usize::from(from) + usize::from(more));
            let first = u8::from(slot(0) == 0);
            sample.add(slot(first));
            (first + 1..=above.min(ARGUMENTS)).for_each(|more| sample.add_given(slot(more)));
        }
        Some(Stack::Operands(from, count)) => {
            for index in 0..usize::from(count) {
                sample.add(frame.slot(variables + usize::from(from) + index));
            }
        }
    }
    sample.look_within();
}
