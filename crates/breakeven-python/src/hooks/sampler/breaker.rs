//! Has the main thread come by between two instructions: `Py_AddPendingCall`, from a thread that Python does not know.
//!
//! Until 3.12 that call wakes the evaluation loop only where the main thread itself makes it (`COMPUTE_EVAL_BREAKER` of
//! `ceval.c` asks which thread runs it), so the loop's flag is set here as well. Where the flag lies is found by trying: it
//! turns from 0 to 1 when the main thread asks.

use super::peek;
use pyo3::ffi;
use pyo3::prelude::*;
use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicI32, AtomicUsize, Ordering::Relaxed};

/// Where the flag is; 0 where it is not known, or Python sets it.
static FLAG: AtomicUsize = AtomicUsize::new(0);
/// Numbers at the start of an interpreter's state among which the flag is.
const NUMBERS: usize = 1024;

/// A function for the main thread, with the interpreter's lock.
pub(super) type Called = extern "C" fn(*mut c_void) -> c_int;

/// Finds the flag. In the main thread.
pub(super) fn find(_: Python<'_>) {
    if cfg!(Py_3_13) || FLAG.load(Relaxed) != 0 {
        return;
    }
    // SAFETY: the lock is held; the state lives as long as the interpreter.
    let (state, limit) = unsafe { (ffi::PyInterpreterState_Get() as usize, ffi::Py_GetRecursionLimit()) };
    let (mut before, mut after) = ([0; NUMBERS], [0; NUMBERS]);
    numbers(state, &mut before);
    // SAFETY: the function lives as long as the process and does nothing.
    if unsafe { ffi::Py_AddPendingCall(Some(nothing), std::ptr::null_mut()) } != 0 {
        return;
    }
    numbers(state, &mut after);
    let turned = (0..NUMBERS).find(|&i| (before[i], after[i]) == (0, 1));
    // `struct _ceval_state` has the limit of recursions beside it.
    let beside = |i: usize| if cfg!(Py_3_12) { after.get(i + 2) } else { after.get(i.wrapping_sub(1)) };
    if let Some(i) = turned
        && beside(i) == Some(&limit)
    {
        FLAG.store(state + i * size_of::<i32>(), Relaxed);
    }
}

fn numbers(at: usize, into: &mut [i32; NUMBERS]) {
    let mut bytes = [0; NUMBERS * 4];
    peek::copy(at, &mut bytes);
    for (number, bytes) in into.iter_mut().zip(bytes.as_chunks().0) {
        *number = i32::from_ne_bytes(*bytes);
    }
}

extern "C" fn nothing(_: *mut c_void) -> c_int {
    0
}

/// Asks for a call of `function`; whether it will come. From any thread, without the lock.
pub(super) fn ask(function: Called) -> bool {
    // SAFETY: any thread may make the call, without the lock; the function lives as long as the process.
    let taken = unsafe { ffi::Py_AddPendingCall(Some(function), std::ptr::null_mut()) } == 0;
    if taken && let Some(flag) = flag() {
        flag.store(1, Relaxed);
    }
    taken
}

/// The flag was set too late for the call that it was set for. One more call has it cleared: it would slow Python down.
pub(super) fn settle(function: Called) {
    if flag().is_some_and(|flag| flag.load(Relaxed) != 0) {
        // SAFETY: as above.
        unsafe { ffi::Py_AddPendingCall(Some(function), std::ptr::null_mut()) };
    }
}

fn flag() -> Option<&'static AtomicI32> {
    let at = FLAG.load(Relaxed) as *mut i32;
    // SAFETY: an atomic `int` of the interpreter's, found by `find`; it lives as long as the interpreter, whose memory is
    // that of the process.
    (!at.is_null()).then(|| unsafe { AtomicI32::from_ptr(at) })
}
