//! What the hooks share, and the frame around every hooked call.

use super::compiled::Functions;
use super::frames::{self, Codes};
use super::functions::Jitted;

use super::lock::Locked;
use super::patch::Patches;
use super::paths::Paths;
use super::placed::Placed;
use super::platform::Errno;
use super::reads::Known;
use super::sampler::{self, SampledCodes};
use super::{allocator, clock};
use crate::address::AddressMap;
use crate::event::{Call, Recorder, Thread};
use crate::flush::Schedule;
use crate::names::{Kind, Names, has_axis, writes_first};
use crate::waited::LONG;
use pyo3::prelude::*;
use std::cell::RefCell;
use std::hint::{assert_unchecked, cold_path};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU16, AtomicU64, AtomicUsize};

/// Everything that the interpreter's lock guards.
#[derive(Default)]
pub(crate) struct State {
    pub(crate) recorder: Recorder,
    pub(crate) codes: Codes,
    pub(crate) call: Call,
    pub(crate) flush: Schedule,
    pub(super) patches: Patches,
    /// Objects whose hook needs more than its address: ufuncs, array functions, random methods.
    pub(super) objects: Objects,
    /// Copies that are counted as soon as they are recognised.
    pub(crate) placed: Placed,
    /// Reads that are, too.
    pub(crate) reads: Known,
    /// Compiled functions that run without Python.
    pub(crate) jitted: Jitted,
    /// Bit by mechanism: installed, and not switched off since.
    pub(crate) installed: u32,
    /// Where PyTorch is called in steps of a loop.
    pub(crate) paths: Paths,
    /// Code and libraries that samples have named.
    pub(crate) sampled: SampledCodes,
    /// Functions that Numba compiled.
    pub(crate) compiled: Functions,
    /// Depth of `start`.
    pub(crate) nested: u32,
}

/// Names of hooked objects, by address. The objects are held, so that addresses stay theirs.
#[derive(Default)]
pub(super) struct Objects {
    pub(super) by_address: AddressMap<usize, Hooked>,
    pub(super) held: Vec<Py<PyAny>>,
    /// Those asked for last, by a few bits of their addresses.
    recent: [(usize, Hooked); RECENT],
    methods: AddressMap<(u32, u32), u32>,
}

/// Objects that are found without hashing.
const RECENT: usize = 32;

/// What a hooked object is called, and how many of its arguments are inputs.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Hooked {
    pub(super) name: u32,
    pub(super) inputs: u16,
    pub(super) atomic: bool,
    pub(super) axis_follows: bool,
    pub(super) writes_first: bool,
}

impl State {
    /// Remembers a hooked object and holds it for good.
    pub(super) fn know(&mut self, object: &Bound<'_, PyAny>, name: &str, inputs: u16) {
        let index = self.recorder.names.intern(name);
        let atomic = self.recorder.names.is_atomic(index);
        let axis_follows = inputs == u16::MAX && has_axis(name);
        let hooked = Hooked { name: index, inputs, atomic, axis_follows, writes_first: writes_first(name) };
        if self.objects.by_address.insert(object.as_ptr() as usize, hooked).is_none() {
            self.objects.held.push(object.clone().unbind());
        }
    }

    /// Tells the recorder which packages' functions called NumPy.
    pub(crate) fn tell_installed(&mut self) {
        self.recorder.installed.extend(self.codes.installed.iter().cloned());
    }

    /// Writes the file if it is time.
    #[inline]
    pub(crate) fn flush_if_due(&mut self, now: u64) {
        if now >= self.flush.next {
            self.tell_installed();
            let wall = self.recorder.wall_ticks(now);
            self.flush.run(&mut self.recorder, now, wall);
            self.recorder.waited_for_itself();
        }
    }

    /// A call of this thread has ended, of this entry or of the one looked up last.
    #[inline]
    pub(super) fn ended(&mut self, thread: &mut Thread, began: u64, ended: u64, entry: Option<u32>) {
        if self.recorder.is_to_be_looked_at(began, ended) || ended >= self.flush.next {
            self.look_and_flush(thread, began, ended, entry);
        }
    }

    /// Reading what the system counted takes up to 0.1 ms, which none of the script's code takes.
    #[cold]
    fn look_and_flush(&mut self, thread: &mut Thread, began: u64, ended: u64, entry: Option<u32>) {
        let own = clock::Own::begins();
        self.recorder.waited_lately(ended.saturating_sub(began), entry);
        self.flush_if_due(ended);
        let (took, busy) = own.took();
        self.recorder.told_ticks += busy;
        thread.recorder_took(took);
    }
}

impl Objects {
    /// The object at this address.
    #[inline]
    pub(super) fn get(&mut self, address: usize) -> Option<Hooked> {
        let recent = &mut self.recent[(address >> 4 ^ address >> 9) % RECENT];
        if recent.0 != address {
            *recent = (address, *self.by_address.get(&address)?);
        }
        Some(recent.1)
    }

    /// The name of a ufunc's method: `numpy.add` and `reduce` make `numpy.add.reduce`.
    #[inline]
    pub(super) fn method_name(&mut self, ufunc: u32, method: u32, names: &mut Names) -> u32 {
        *self.methods.entry((ufunc, method)).or_insert_with(|| {
            let name = format!("{}.{}", names.callee(ufunc).name, names.callee(method).name);
            names.intern(&name)
        })
    }
}

static STATE: Locked<Option<Box<State>>> = Locked::new(None);
static RECORDING: AtomicBool = AtomicBool::new(false);
/// Whether calls seen before are recognised in place.
static RECOGNISES: AtomicBool = AtomicBool::new(false);
static BROKEN: AtomicBool = AtomicBool::new(false);
/// When recording began, ticks; time before it is nobody's gap.
static SINCE: AtomicU64 = AtomicU64::new(0);
static THREADS: AtomicU16 = AtomicU16::new(1);
/// When the process was looked at last before a call, ticks.
static LOOKED: AtomicU64 = AtomicU64::new(0);

thread_local! {
    static THREAD: Own = const { Own(RefCell::new(Thread::new())) };
}

/// A thread's own value, which tells when it goes.
struct Own(RefCell<Thread>);

impl Drop for Own {
    fn drop(&mut self) {
        // Another thread may be given the same pointer; it must not find this one's.
        let _ = LAST_POINTER.compare_exchange(thread_pointer(), 0, AcqRel, Relaxed);
        sampler::calls_are_gone();
    }
}

/// The thread that asked last, by its thread pointer, and where its value is: finding a thread-local value costs a
/// call. Written with the interpreter's lock held.
static LAST_POINTER: AtomicUsize = AtomicUsize::new(0);
static LAST_THREAD: AtomicPtr<RefCell<Thread>> = AtomicPtr::new(std::ptr::null_mut());

/// Whether [`thread_pointer`] gives one that is never 0.
const HAS_POINTERS: bool = cfg!(all(target_arch = "x86_64", target_os = "linux"));

/// A number that no other living thread has; 0 where there is none to be had for little.
#[inline(always)]
fn thread_pointer() -> usize {
    #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
    {
        let pointer: usize;
        // SAFETY: on Linux, the first word of a thread's control block is its own address.
        unsafe {
            std::arch::asm!("mov {}, fs:0", out(reg) pointer, options(pure, readonly, nostack, preserves_flags));
        }
        pointer
    }
    #[cfg(not(all(target_arch = "x86_64", target_os = "linux")))]
    0
}

/// The state while events are recorded and nobody is in it; null otherwise. What asks here and goes the short way needs
/// to ask nothing else. Read and written with the interpreter's lock held.
static OPEN: AtomicPtr<State> = AtomicPtr::new(std::ptr::null_mut());

/// Runs `f` with the state; `None` when this thread is in it already.
#[inline(always)]
pub(crate) fn with<R>(py: Python<'_>, f: impl FnOnce(&mut State) -> R) -> Option<R> {
    STATE.with(
        py,
        #[inline(always)]
        |state| {
            let state = if let Some(state) = state { state } else { first(state) };
            OPEN.store(std::ptr::null_mut(), Relaxed);
            let result = f(state);
            if recording() {
                OPEN.store(std::ptr::from_mut(state), Relaxed);
            }
            result
        },
    )
}

/// The state, while events are recorded and nobody is in it.
///
/// # Safety
/// The interpreter's lock is held until the result was used for the last time, and nothing that is called meanwhile
/// could come here or to [`with`].
#[inline(always)]
pub(super) unsafe fn open<'a>() -> Option<&'a mut State> {
    // SAFETY: the state is never freed. `with`, which alone gives it out otherwise, closes it for as long, and by
    // contract runs not before this one was used.
    unsafe { OPEN.load(Relaxed).as_mut() }
}

#[cold]
fn first(state: &mut Option<Box<State>>) -> &mut State {
    state.get_or_insert_default()
}

/// Whether events are being recorded.
#[inline(always)]
pub(crate) fn recording() -> bool {
    RECORDING.load(Relaxed)
}

/// Whether calls that look as they did the last time are recognised in place.
#[inline(always)]
pub(super) fn recognises() -> bool {
    RECOGNISES.load(Relaxed)
}

/// Calls are recognised in place from now on, or no longer.
pub(super) fn recognise(on: bool) {
    RECOGNISES.store(on, Relaxed);
}

/// Turns recording on, with gaps counted from `since`, or off. Once a hook has panicked it stays off.
pub(crate) fn set_recording(on: bool, since: u64) {
    OPEN.store(std::ptr::null_mut(), Relaxed);
    SINCE.store(since, Relaxed);
    RECORDING.store(on && !is_broken(), Relaxed);
}

/// When recording began.
pub(crate) fn since() -> u64 {
    SINCE.load(Relaxed)
}

/// Whether one of our own parts has panicked.
pub(crate) fn is_broken() -> bool {
    BROKEN.load(Relaxed)
}

/// Runs our own code such that nothing of it reaches the script: a panic stops recording, `errno` comes back.
#[inline]
pub(super) fn guard<R>(f: impl FnOnce() -> R) -> Option<R> {
    let _errno = Errno::save();
    match catch_unwind(AssertUnwindSafe(f)) {
        Ok(result) => Some(result),
        Err(_) => {
            BROKEN.store(true, Relaxed);
            RECORDING.store(false, Relaxed);
            OPEN.store(std::ptr::null_mut(), Relaxed);
            None
        }
    }
}

/// Runs `f` with this thread; `None` while it is in use or being torn down.
#[inline]
pub(crate) fn with_thread<R>(f: impl FnOnce(&mut Thread) -> R) -> Option<R> {
    THREAD.try_with(|own| with_this(&own.0, f)).ok().flatten()
}

#[inline(always)]
fn with_this<R>(thread: &RefCell<Thread>, f: impl FnOnce(&mut Thread) -> R) -> Option<R> {
    let mut thread = thread.try_borrow_mut().ok()?;
    if thread.id == 0 {
        thread.name(THREADS.fetch_add(1, Relaxed), clock::now());
        sampler::calls_are_at(thread.calls_address());
    }
    Some(f(&mut thread))
}

/// This thread, found once for the length of a call; `None` while it is being torn down.
///
/// # Safety
/// The interpreter's lock is held. The reference is used by this thread only, and not after the hook that asked for it
/// has returned: thread-local values are destroyed when nothing else of the thread runs.
#[inline(always)]
pub(super) unsafe fn this_thread<'a>() -> Option<&'a RefCell<Thread>> {
    // SAFETY: by contract.
    unsafe { last_thread().or_else(|| find_thread(thread_pointer())) }
}

/// As [`this_thread`]; `None` also where another one asked last.
///
/// # Safety
/// As for [`this_thread`].
#[inline(always)]
pub(super) unsafe fn last_thread<'a>() -> Option<&'a RefCell<Thread>> {
    let pointer = thread_pointer();
    if !(HAS_POINTERS || pointer != 0) || LAST_POINTER.load(Acquire) != pointer {
        return None;
    }
    let thread = LAST_THREAD.load(Relaxed);
    // SAFETY: a thread that lives and has this pointer wrote it, which is this one: `Own` takes it out in the end.
    unsafe {
        assert_unchecked(!thread.is_null());
        Some(&*thread)
    }
}

#[inline(never)]
unsafe fn find_thread<'a>(pointer: usize) -> Option<&'a RefCell<Thread>> {
    let thread = THREAD.try_with(|own| std::ptr::from_ref(&own.0)).ok()?;
    LAST_POINTER.store(0, Relaxed);
    LAST_THREAD.store(thread.cast_mut(), Release);
    LAST_POINTER.store(pointer, Release);
    // SAFETY: by contract.
    unsafe { frames::follow() };
    // SAFETY: by contract.
    Some(unsafe { &*thread })
}

/// Whichever thread asks next is looked up.
pub(super) fn forget_last_thread() {
    LAST_POINTER.store(0, Release);
}

/// A thread that exists only in a child forgets where it was.
pub(crate) fn reset_thread() {
    with_thread(Thread::reset);
}

/// Whether this thread is inside a call that is one op, so that nothing in it is recorded.
#[inline]
pub(super) fn in_one_op() -> bool {
    with_thread(|thread| thread.closed()).unwrap_or(false)
}

/// The frame around a hooked call: notes the time, calls the original, and describes the call by `describe` unless it
/// is part of one that is recorded whole.
///
/// `describe` adds arrays to the call and returns whether there is anything to record. It runs with the interpreter's
/// lock held.
#[inline(always)]
pub(super) fn observe<R>(
    name: u32,
    atomic: bool,
    original: impl FnOnce() -> R,
    describe: impl FnOnce(&mut Call, &R) -> bool,
) -> R {
    observe_and_learn(name, atomic, original, describe, |_, _, _| {})
}

/// As [`observe`]; `learn` runs when a call that is in no other was recorded.
#[inline(always)]
pub(super) fn observe_and_learn<R>(
    name: u32,
    atomic: bool,
    original: impl FnOnce() -> R,
    describe: impl FnOnce(&mut Call, &R) -> bool,
    learn: impl FnOnce(&mut State, u32, &R),
) -> R {
    if !recording() {
        return original();
    }
    // SAFETY: used until this returns.
    let Some(thread) = (unsafe { this_thread() }) else { return original() };
    let entered = with_this(thread, |thread| thread.enter(atomic).then(|| thread.last_end()));
    let Some(Some(last_end)) = entered else { return original() };
    let began = begins(last_end, waited_here);
    let result = original();
    let ended = clock::now();
    conclude(thread, name, began, ended, |call| describe(call, &result), |state, lane| learn(state, lane, &result));
    result
}

/// The time, as a call begins in a thread whose last event ended at `last_end`. Long host code between them may have been
/// waiting: `look` is called then with how long it took, outside the time that this gives.
#[inline(always)]
pub(super) fn begins(last_end: u64, look: impl FnOnce(u64)) -> u64 {
    let now = clock::now();
    // Calls that are no events, as of numbers that never left the host, end no gap: it is looked at once in a while.
    let gap = now.saturating_sub(last_end.max(LOOKED.load(Relaxed)));
    if gap < LONG {
        return now;
    }
    cold_path();
    guard(|| look(gap));
    let looked = clock::now();
    LOOKED.store(looked, Relaxed);
    looked
}

/// What the process waited for before a call of this thread that is about to begin.
#[cold]
pub(super) fn waited_here(gap: u64) {
    // SAFETY: every caller is about to run a call for Python, with its lock held.
    let py = unsafe { Python::assume_attached() };
    with(py, |state| {
        let State { recorder, codes, .. } = state;
        recorder.waited(gap, |recorder| recorder.wait_lines.known(frames::site(py, codes)));
    });
}

/// Closes the frame of a call that has returned, and records it; see [`observe_and_learn`].
#[inline]
pub(super) fn conclude(
    thread: &RefCell<Thread>,
    name: u32,
    began: u64,
    ended: u64,
    describe: impl FnOnce(&mut Call) -> bool,
    learn: impl FnOnce(&mut State, u32),
) {
    guard(|| {
        // SAFETY: every caller is a trampoline that Python called with its lock held; the original has returned with it.
        let py = unsafe { Python::assume_attached() };
        with_this(thread, |thread| {
            if finish(py, thread, name, began, ended, describe) && thread.is_idle() {
                with(py, |state| learn(state, thread.lane));
            }
        });
    });
}

/// Whether the call is NumPy's own reading within a function that stands for CuPy's, which has kernels for it. Solvers are
/// loops in Python in CuPy, too, and read what they read here.
#[cold]
fn inside_numpys(thread: &Thread, names: &Names, call: &Call) -> bool {
    let solver = |&(name, ..): &(u32, u64, u8)| names.callee(name).name.starts_with("cupyx.scipy.sparse.linalg.");
    names.kind(call.name()) == Kind::HostReads && !thread.outside.last().is_some_and(solver)
}

/// Closes the innermost frame of this thread and records it; whether there was anything to record.
#[inline]
pub(crate) fn finish(
    py: Python<'_>,
    thread: &mut Thread,
    name: u32,
    began: u64,
    ended: u64,
    describe: impl FnOnce(&mut Call) -> bool,
) -> bool {
    let Some(timing) = thread.leave(began, ended, SINCE.load(Relaxed)) else { return false };
    let recorded = with(py, |state| {
        let State { recorder, codes, call, .. } = state;
        // SAFETY: `py` proves that the lock is held.
        let Some(place) = (unsafe { frames::place(codes) }) else { return false };
        call.begin(name, thread.id, place);
        if thread.is_loading() {
            call.in_loader();
        }
        if thread.ambient != 0 {
            call.tag(thread.ambient);
        }
        let described = describe(call);
        if let Some(element) = call.element() {
            thread.unread.host_has(element);
        }
        if !described || (thread.ambient != 0 && inside_numpys(thread, &recorder.names, call)) {
            return false;
        }
        allocator::drain(&mut recorder.buffers);
        let recorded = recorder.record(call, timing, |sites| sites.intern(frames::site(py, codes)));
        if recorded {
            recorder.pool(thread.id, thread.recorded(ended, call.made()));
        }
        state.ended(thread, began, ended, None);
        recorded
    });
    recorded == Some(true)
}
