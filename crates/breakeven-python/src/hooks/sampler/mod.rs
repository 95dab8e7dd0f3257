//! What runs while no recorded op does: Python, a compiled function, or nothing. A thread of our own looks some hundred
//! times a second; see `watch`. What it saw is worked out here, with the interpreter's lock held.
//!
//! ```text
//! watch ── frame, object (read by peek, told by facts) ──▶ sample ──▶ whose ──▶ sampled::Sampled
//! ```

mod breaker;
mod facts;
mod frame;
mod kept;
mod object;
mod peek;
mod sample;
mod watch;
mod whose;

use super::state::{self, State, guard};
use super::{frames, outside};
use crate::hooks::clock;
use crate::modules;
use pyo3::ffi;
use pyo3::prelude::*;
use std::ffi::{c_int, c_void};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

pub(crate) use watch::{calls_are_at, calls_are_gone};
pub(crate) use whose::Codes as SampledCodes;

/// The recorder has been asked to come, and has not yet.
static ASKED: AtomicBool = AtomicBool::new(false);
/// The thread was ended by a fork, and is to begin again.
static AFTER_FORK: AtomicBool = AtomicBool::new(false);

/// Processor time of the main thread's that the recorder's part has taken, ns.
static COLLECTED: AtomicU64 = AtomicU64::new(0);

/// Processor time that sampling has taken, ns: none of it is the script's.
pub(crate) fn spent_ns() -> u64 {
    COLLECTED.load(Relaxed) + watch::spent_ns()
}

/// Samples are taken from now on; where they would be, where they cannot be here.
pub(crate) fn begin(py: Python<'_>) -> Result<(), &'static str> {
    let out = std::env::var("BREAKEVEN_HOOKS").unwrap_or_default();
    if out.split(',').any(|word| word.trim() == "-sampler") {
        return Err("where `BREAKEVEN_HOOKS` does not take `sampler` out");
    }
    if !cfg!(all(target_os = "linux", target_pointer_width = "64", Py_3_10, not(Py_3_14), not(Py_GIL_DISABLED))) {
        return Err("on Linux with CPython 3.10 to 3.13");
    }
    if !frames::reads_in_place() && !frames::check(py) {
        return Err("where the interpreter's frames are as in the versions that are known");
    }
    if !peek::works() {
        return Err("where the system lets a process read its own memory by `process_vm_readv`");
    }
    let Some(main) = frames::main_thread() else { return Err("where recording begins in the main thread") };
    if !watch::numbers_are_known(main) {
        return Err("where the interpreter's threads are as in the versions that are known");
    }
    state::with_thread(|thread| calls_are_at(thread.calls_address()));
    static FORKS: Once = Once::new();
    // SAFETY: the functions live as long as the process.
    FORKS.call_once(|| unsafe {
        libc::pthread_atfork(Some(before_fork), Some(after_fork), Some(in_child));
    });
    breaker::find(py);
    watch::begin(main).then_some(()).ok_or("where the system lets a process have one more thread")
}

/// Samples are no longer taken; those that wait are the recorder's.
pub(crate) fn end(py: Python<'_>, state: &mut State) {
    watch::end();
    collect(py, state);
}

/// Hands what was sampled to the recorder.
pub(crate) fn collect(py: Python<'_>, state: &mut State) {
    ASKED.store(false, Relaxed);
    whose::work_out(py, state, &watch::WAITING);
}

/// Asks for [`collect`] as soon as the main thread is between two instructions. From any thread, without the lock.
fn ask_for_recorder() {
    if !ASKED.swap(true, Relaxed) && !breaker::ask(asked) {
        ASKED.store(false, Relaxed);
    }
}

/// The recorder has come, or was never asked: see [`breaker::settle`].
fn settle() {
    if !ASKED.load(Relaxed) {
        breaker::settle(asked);
    }
}

/// The main thread comes by, with the lock.
extern "C" fn asked(_: *mut c_void) -> c_int {
    // Also where the recorder is in use just now: it will be asked again.
    ASKED.store(false, Relaxed);
    guard(|| {
        // SAFETY: the interpreter calls this with its lock held.
        let py = unsafe { Python::assume_attached() };
        let own = clock::Own::begins();
        if modules::unwatched_here() {
            outside::by_recorder(py, || state::with(py, |state| collect(py, state)));
        } else {
            state::with(py, |state| collect(py, state));
            let (took, busy) = own.took();
            if state::recording() {
                state::with_thread(|thread| thread.recorder_took(took));
                state::with(py, |state| state.recorder.told_ticks += busy);
            }
        }
        COLLECTED.fetch_add(own.took_ns(), Relaxed);
    });
    0
}

/// A process that forks has this thread only: Python warns of forking beside others, and a lock that one of them holds would
/// be held for good in the child.
extern "C" fn before_fork() {
    AFTER_FORK.store(watch::end(), Relaxed);
}

/// Python counts the threads after this, so the thread begins again a little later.
extern "C" fn after_fork() {
    if AFTER_FORK.load(Relaxed) {
        // SAFETY: as in `ask_for_recorder`.
        unsafe { ffi::Py_AddPendingCall(Some(goes_on), std::ptr::null_mut()) };
    }
}

extern "C" fn goes_on(_: *mut c_void) -> c_int {
    if AFTER_FORK.swap(false, Relaxed)
        && state::recording()
        && let Some(main) = frames::main_thread()
    {
        watch::begin(main);
    }
    0
}

extern "C" fn in_child() {
    AFTER_FORK.store(false, Relaxed);
    ASKED.store(false, Relaxed);
    COLLECTED.store(0, Relaxed);
    watch::forget();
}
