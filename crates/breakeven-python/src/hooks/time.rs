//! The script's own clock reads, sleeping, and waiting for input.

use super::clock;
use super::frames;
use super::platform::is_main_thread;
use super::state::{self, guard};
use crate::modules;
use pyo3::ffi::{self, PyObject};
use pyo3::prelude::*;

/// Calls a clock of `time` or `datetime` and notes that the script read it.
pub(super) fn clock(name: u32, original: impl FnOnce() -> *mut PyObject) -> *mut PyObject {
    let result = original();
    // Within an op it is a library's own, or ours.
    if state::with_thread(|thread| thread.closed()) == Some(true) {
        return result;
    }
    guard(|| {
        // SAFETY: Python calls trampolines with its lock held.
        let py = unsafe { Python::assume_attached() };
        state::with(py, |state| {
            let state::State { recorder, codes, .. } = state;
            // Libraries read clocks by the thousand, as Numba does while it compiles: the way out to the script's line,
            // some 40 µs, is for the script's own.
            // SAFETY: as above.
            if !unsafe { frames::may_be_own(codes) } {
                return;
            }
            modules::come_to(recorder);
            let clock = recorder.names.callee(name).name.clone();
            // What a library reads for itself, the standard one's queues and pools too, is none of the script's clocks;
            // `timeit` is, also IPython's.
            recorder.marker(&clock, clock::now(), || frames::own_site(py, codes, &["timeit.", "IPython."]));
        });
    });
    result
}

/// Calls something that waits, and notes for how long.
pub(super) fn idle(original: impl FnOnce() -> *mut PyObject) -> *mut PyObject {
    let began = clock::now();
    let result = original();
    let slept = (clock::now().saturating_sub(began) as f64 / clock::ticks_per_ns()) as u64;
    guard(|| {
        // SAFETY: as above; the original has returned with the lock held.
        slept_for(unsafe { Python::assume_attached() }, slept);
    });
    result
}

/// This thread slept, or waited for input. Others may do so while the main one computes, so only that one's counts here;
/// the main one may while others do, so that it waited is sure only where there is no other.
pub(crate) fn slept_for(py: Python<'_>, ns: u64) {
    if is_main_thread() {
        let alone = is_only_thread(py);
        state::with(py, |state| {
            let state::State { recorder, codes, .. } = state;
            recorder.slept_for(ns, alone, |lines| lines.known(frames::site(py, codes)));
        });
    }
}

/// Whether Python knows no other thread.
fn is_only_thread(_: Python<'_>) -> bool {
    // SAFETY: the lock is held; a thread's state that is in the list lives.
    unsafe {
        let thread = ffi::PyThreadState_Get();
        let first = ffi::PyInterpreterState_ThreadHead(ffi::PyInterpreterState_Get());
        std::ptr::eq(first, thread) && ffi::PyThreadState_Next(first).is_null()
    }
}
