//! What the hooks share, and the frame around every hooked call.

use super::frames::{self, Codes};
use super::lock::Locked;
use super::patch::Patches;
use super::platform::Errno;
use super::{allocator, clock};
use crate::address::AddressMap;
use crate::event::{Call, Recorder, Thread};
use crate::flush::Schedule;
use crate::names::{Names, has_axis, writes_first};
use pyo3::prelude::*;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU16, AtomicU64, Ordering::Relaxed};

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
    /// Bit by mechanism: installed, and not switched off since.
    pub(crate) installed: u32,
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

    /// Writes the file if it is time.
    #[inline]
    pub(crate) fn flush_if_due(&mut self, now: u64) {
        if now >= self.flush.next {
            let wall = self.recorder.wall_ticks(now);
            self.flush.run(&mut self.recorder, now, wall);
        }
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
static BROKEN: AtomicBool = AtomicBool::new(false);
/// When recording began, ticks; time before it is nobody's gap.
static SINCE: AtomicU64 = AtomicU64::new(0);
static THREADS: AtomicU16 = AtomicU16::new(1);

thread_local! {
    static THREAD: RefCell<Thread> = const { RefCell::new(Thread::new()) };
}

/// Runs `f` with the state; `None` when this thread is in it already.
#[inline]
pub(crate) fn with<R>(py: Python<'_>, f: impl FnOnce(&mut State) -> R) -> Option<R> {
    STATE.with(py, |state| match state {
        Some(state) => f(state),
        None => f(first(state)),
    })
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

/// Turns recording on, with gaps counted from `since`, or off. Once a hook has panicked it stays off.
pub(crate) fn set_recording(on: bool, since: u64) {
    SINCE.store(since, Relaxed);
    RECORDING.store(on && !BROKEN.load(Relaxed), Relaxed);
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
            None
        }
    }
}

/// Runs `f` with this thread; `None` while it is in use or being torn down.
#[inline]
pub(crate) fn with_thread<R>(f: impl FnOnce(&mut Thread) -> R) -> Option<R> {
    THREAD.try_with(|thread| with_this(thread, f)).ok().flatten()
}

#[inline(always)]
fn with_this<R>(thread: &RefCell<Thread>, f: impl FnOnce(&mut Thread) -> R) -> Option<R> {
    let mut thread = thread.try_borrow_mut().ok()?;
    if thread.id == 0 {
        thread.id = THREADS.fetch_add(1, Relaxed);
    }
    Some(f(&mut thread))
}

/// This thread, found once for the length of a call; `None` while it is being torn down.
///
/// # Safety
/// The reference is used by this thread only, and not after the hook that asked for it has returned: thread-local
/// values are destroyed when nothing else of the thread runs.
#[inline(always)]
unsafe fn this_thread<'a>() -> Option<&'a RefCell<Thread>> {
    let thread = THREAD.try_with(std::ptr::from_ref).ok()?;
    // SAFETY: by contract.
    Some(unsafe { &*thread })
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
    if !recording() {
        return original();
    }
    // SAFETY: used until this returns.
    let Some(thread) = (unsafe { this_thread() }) else { return original() };
    if with_this(thread, |thread| thread.enter(atomic)) != Some(true) {
        return original();
    }
    let began = clock::now();
    let result = original();
    let ended = clock::now();
    guard(|| {
        // SAFETY: every caller is a trampoline that Python called with its lock held; `original` has returned with it.
        let py = unsafe { Python::assume_attached() };
        with_this(thread, |thread| finish(py, thread, name, began, ended, |call| describe(call, &result)));
    });
    result
}

/// Closes the innermost frame of this thread and records it.
#[inline]
pub(crate) fn finish(
    py: Python<'_>,
    thread: &mut Thread,
    name: u32,
    began: u64,
    ended: u64,
    describe: impl FnOnce(&mut Call) -> bool,
) {
    let Some(timing) = thread.leave(began, ended, SINCE.load(Relaxed)) else { return };
    with(py, |state| {
        let State { recorder, codes, call, .. } = state;
        // SAFETY: `py` proves that the lock is held.
        let Some(place) = (unsafe { frames::place(codes) }) else { return };
        call.begin(name, thread.id, place);
        if thread.ambient != 0 {
            call.tag(thread.ambient);
        }
        if !describe(call) {
            return;
        }
        allocator::drain(&mut recorder.buffers);
        if recorder.record(call, timing, |sites| sites.intern(frames::site(py, codes))) {
            thread.recorded(ended, call.has_scalar_result());
        }
        state.flush_if_due(ended);
    });
}
