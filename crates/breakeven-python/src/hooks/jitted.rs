//! Calls of compiled functions that their library makes without Python: JAX's `PjitFunction`, which runs an executable by
//! itself once it has seen arguments like these.
//!
//! The slot `tp_call` of the type is replaced, and the type's calls go by it. A call in which Python was asked has been
//! told of there ([`ran`]), or was only traced ([`missed`]); one in which it was not ran an executable that is known for
//! the function: the only one, or that for arguments such as these ([`super::signature`]).

use super::functions::{known, learn, tag, wait};
use super::platform::Mappings;
use super::signature::Types;
use super::state::{self, State, begins, conclude, finish, this_thread, waited_here, with_thread};
use super::{clock, patch::Cell};
use pyo3::ffi::{self, PyObject};
use pyo3::prelude::*;
use pyo3::types::PyType;
use std::cell::RefCell;
use std::ffi::c_void;
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering::Relaxed};

type Call = unsafe extern "C" fn(*mut PyObject, *mut PyObject, *mut PyObject) -> *mut PyObject;

/// What the slot held.
static ORIGINAL: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());
/// Calls that ran without Python, for the test of the hook.
static FAST: AtomicU32 = AtomicU32::new(0);
/// A call under way in this thread.
#[derive(Default)]
struct Frame {
    /// Python was asked.
    missed: bool,
    /// What ran, as Python has told, and for how many ticks; 0 if it did not.
    ran: u32,
    own: u64,
    /// It will run again without Python.
    goes_fast: bool,
}

thread_local! {
    static FRAMES: RefCell<Vec<Frame>> = const { RefCell::new(Vec::new()) };
    /// What the next call runs, unless it asks Python; 0 where nobody knows.
    static NEXT: RefCell<u32> = const { RefCell::new(0) };
}

/// What a call turned out to be.
enum Outcome {
    Fast,
    Asked(Frame),
}

unsafe extern "C" fn call(function: *mut PyObject, args: *mut PyObject, kwargs: *mut PyObject) -> *mut PyObject {
    // SAFETY: `hook` stored the original, a `ternaryfunc`, before it published this.
    let original: Call = unsafe { std::mem::transmute(ORIGINAL.load(Relaxed)) };
    let plain = || {
        // SAFETY: passed on as it came.
        unsafe { original(function, args, kwargs) }
    };
    if !state::recording() {
        return plain();
    }
    // SAFETY: used until this returns.
    let Some(thread) = (unsafe { this_thread() }) else { return plain() };
    let inner = FRAMES.with_borrow(|frames| !frames.is_empty());
    let entered = thread.try_borrow_mut().ok().and_then(|mut thread| {
        let entered = if inner { thread.enter_whole(true) } else { thread.enter(true) };
        entered.then(|| thread.last_end())
    });
    let Some(last_end) = entered else { return plain() };
    let expected = NEXT.take();
    FRAMES.with_borrow_mut(|frames| frames.push(Frame::default()));
    let began = begins(last_end, waited_here);
    let result = plain();
    if !result.is_null() && FRAMES.with_borrow(|frames| frames.last().is_some_and(|frame| !frame.missed)) {
        // SAFETY: Python called this with its lock held; the result is ours until it is returned.
        state::guard(|| unsafe { wait(result) });
    }
    let ended = clock::now();
    let outcome = match FRAMES.with_borrow_mut(Vec::pop) {
        Some(Frame { missed: false, .. }) => {
            FAST.fetch_add(1, Relaxed);
            Outcome::Fast
        }
        Some(frame) => Outcome::Asked(frame),
        None => Outcome::Asked(Frame::default()),
    };
    let (ran, began) = match outcome {
        _ if result.is_null() => (0, began),
        Outcome::Asked(Frame { ran, own, goes_fast, .. }) => {
            if goes_fast {
                // SAFETY: Python called this with its lock held; the caller holds all three.
                state::guard(|| unsafe { learn(function, args, kwargs, ran) });
            }
            (ran, ended.saturating_sub(own))
        }
        Outcome::Fast if expected != 0 => (expected, began),
        // SAFETY: as above.
        Outcome::Fast => (state::guard(|| unsafe { known(function, args, kwargs) }).unwrap_or(0), began),
    };
    if ran == 0 {
        state::guard(|| with_thread(|thread| thread.leave_unrecorded()));
    } else {
        let tag = tag();
        conclude(
            thread,
            ran,
            began,
            ended,
            |call| {
                call.tag(tag);
                true
            },
            |_, _| {},
        );
    }
    if inner {
        // What surrounds it is still none of the script's.
        state::guard(|| with_thread(|thread| thread.close()));
    }
    result
}

/// Calls of this type are seen from now on: why they cannot be, or nothing. `array` is the type of arrays, `flatten` takes
/// trees of them apart, `waits` is what waits for one, `tag` that of the device.
#[pyfunction]
pub(crate) fn jitted_hook(
    function: &Bound<'_, PyType>,
    array: &Bound<'_, PyType>,
    ndarray: &Bound<'_, PyType>,
    flatten: Py<PyAny>,
    waits: Py<PyAny>,
    tag: u8,
) -> Option<&'static str> {
    let py = function.py();
    let of = function.as_type_ptr();
    let maps = Mappings::read();
    // SAFETY: a live type, which the list of types below holds for good.
    let (cell, offset) =
        unsafe { ((&raw const (*of).tp_call).cast::<AtomicPtr<c_void>>(), (*of).tp_vectorcall_offset) };
    let cell: Cell = cell;
    // SAFETY: as above.
    let flags = unsafe { &raw mut (*of).tp_flags };
    if offset <= 0 || !maps.is_writable(cell as usize) || !maps.is_writable(flags as usize) {
        return Some("its type is not made as it was in the versions that are known");
    }
    let types = Types::new(array, ndarray, flatten, waits);
    let ours = call as Call as *mut c_void;
    state::with(py, |state| {
        state.jitted.types = Some(types);
        state.jitted.tag = tag;
        // SAFETY: as above; aligned, as a field of a type.
        let original = unsafe { (*cell).load(Relaxed) };
        if original != ours && !original.is_null() {
            ORIGINAL.store(original, Relaxed);
            state.patches.mechanism = usize::MAX;
            // SAFETY: the cell is writable, and `call` has the signature of the slot.
            unsafe { state.patches.replace(cell, original, ours) };
        }
    });
    // SAFETY: the lock is held, and nothing of the type is being called. Without the flag calls go by `tp_call`, which
    // finds the function's own pointer as before.
    unsafe {
        ffi::Py_INCREF(of.cast());
        let bit = ffi::Py_TPFLAGS_HAVE_VECTORCALL;
        std::ptr::write(flags, std::ptr::read(flags) & !bit);
        ffi::PyType_Modified(of);
    }
    None
}

/// The call under way asks Python what to do.
#[pyfunction]
pub(crate) fn jitted_missed() {
    FRAMES.with_borrow_mut(|frames| {
        if let Some(frame) = frames.last_mut() {
            frame.missed = true;
        }
    });
}

/// It ran the executable with this number for so many ns, and `goes_fast` from now on. Where no call is under way, or one
/// has run already, that is told at once.
#[pyfunction]
pub(crate) fn jitted_ran(py: Python<'_>, number: u32, ns: u64, goes_fast: bool) {
    let own = (ns as f64 * clock::ticks_per_ns()) as u64;
    let taken = FRAMES.with_borrow_mut(|frames| match frames.last_mut() {
        Some(frame) if frame.ran == 0 => {
            *frame = Frame { missed: true, ran: number, own, goes_fast };
            true
        }
        _ => false,
    });
    if !taken {
        let ended = clock::now();
        record(py, number, ended.saturating_sub(own), ended);
    }
}

/// The next call runs this one, unless it asks.
#[pyfunction]
pub(crate) fn jitted_next(number: u32) {
    NEXT.set(number);
}

/// Whether a call is under way, and Python has not been asked: what is done now is part of it.
#[pyfunction]
pub(crate) fn jitted_within() -> bool {
    FRAMES.with_borrow(|frames| frames.last().is_some_and(|frame| !frame.missed))
}

/// How many calls have run without Python.
#[pyfunction]
pub(crate) fn jitted_fast() -> u32 {
    FAST.load(Relaxed)
}

/// The number of a call with this name that runs this op.
#[pyfunction]
pub(crate) fn jitted_number(py: Python<'_>, name: &str, op: String) -> u32 {
    let intern = |state: &mut State| state.recorder.names.intern_with(name, vec![("op".to_owned(), op)]);
    state::with(py, intern).unwrap_or(0)
}

fn record(py: Python<'_>, number: u32, began: u64, ended: u64) {
    if !state::recording() || number == 0 {
        return;
    }
    let tag = tag();
    with_thread(|thread| {
        if thread.enter_whole(true) {
            finish(py, thread, number, began, ended, |call| {
                call.tag(tag);
                true
            });
        }
    });
}

/// The host reads so many bytes of an array on the device.
#[pyfunction]
pub(crate) fn jitted_read(py: Python<'_>, bytes: u64) {
    if !state::recording() || with_thread(|thread| thread.closed()) != Some(false) {
        return;
    }
    let number = state::with(py, |state| {
        let State { jitted, recorder, .. } = state;
        *jitted.reads.entry(bytes).or_insert_with(|| {
            let op = format!(r#"{{"op": {{"host_read": {{"bytes": {bytes}}}}}, "dtype": "u8"}}"#);
            recorder.names.intern_with("jax.Array.__array__", vec![("op".to_owned(), op)])
        })
    });
    let now = clock::now();
    record(py, number.unwrap_or(0), now, now);
}
