//! Ufuncs: every call, every operator, `@`, and the routines of `linalg` and `fft`, by the pointer at
//! `tp_vectorcall_offset`; `reduce` and its siblings by their method definitions.

use super::again::{self, Begun, Callee, Takes};
use super::methods::{Arguments, describe, record_at_length, record_late};
use super::patch::{Cell, Refused};
use super::platform::Mappings;
use super::state::{self, Hooked, State, observe};
use pyo3::ffi::{self, PyObject};
use pyo3::prelude::*;
use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicPtr, Ordering::Relaxed};

type Vectorcall = unsafe extern "C" fn(*mut PyObject, *const *mut PyObject, usize, *mut PyObject) -> *mut PyObject;

/// Arguments in `nargsf` without the flag that allows to change the one before.
const COUNT: usize = !(1 << (usize::BITS - 1));

/// The start of `PyUFuncObject` (`ufuncobject.h`, the same in all versions).
#[repr(C)]
struct Ufunc {
    head: PyObject,
    inputs: c_int,
    outputs: c_int,
    arguments: c_int,
}

/// The one function behind all ufuncs, and the one behind all array functions.
static UFUNC: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());
static DISPATCHER: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());

unsafe extern "C" fn ufunc(
    callable: *mut PyObject,
    positional: *const *mut PyObject,
    nargsf: usize,
    names: *mut PyObject,
) -> *mut PyObject {
    // SAFETY: as Python passed them.
    unsafe { call(&UFUNC, callable, positional, nargsf, names) }
}

unsafe extern "C" fn dispatcher(
    callable: *mut PyObject,
    positional: *const *mut PyObject,
    nargsf: usize,
    names: *mut PyObject,
) -> *mut PyObject {
    // SAFETY: as Python passed them.
    unsafe { call(&DISPATCHER, callable, positional, nargsf, names) }
}

/// Calls the original of a hooked object and records it.
///
/// # Safety
/// `original` holds the object's own function, the other arguments are as Python passed them.
#[inline(always)]
pub(super) unsafe fn call(
    original: &'static AtomicPtr<c_void>,
    callable: *mut PyObject,
    positional: *const *mut PyObject,
    nargsf: usize,
    names: *mut PyObject,
) -> *mut PyObject {
    // SAFETY: as Python passed them; see `methods::record`, of which this is the short way. What it hands on it hands
    // on as it came, so that nothing has to be put together before it is known to be needed.
    unsafe {
        let Some(begun) = again::begin::<true>(callee(callable), arguments(positional, nargsf, names)) else {
            std::hint::cold_path();
            return call_at_length(original, callable, positional, nargsf, names);
        };
        let result = own(original)(callable, positional, nargsf, names);
        if again::end::<true>(begun, result).is_none() {
            std::hint::cold_path();
            call_late(begun, callable, positional, nargsf, names, result);
        }
        result
    }
}

#[inline(never)]
unsafe fn call_at_length(
    original: &'static AtomicPtr<c_void>,
    callable: *mut PyObject,
    positional: *const *mut PyObject,
    nargsf: usize,
    names: *mut PyObject,
) -> *mut PyObject {
    // SAFETY: the arguments are passed on as they came.
    unsafe {
        if !state::recording() {
            return own(original)(callable, positional, nargsf, names);
        }
        let original = || own(original)(callable, positional, nargsf, names);
        record_at_length(callee(callable), arguments(positional, nargsf, names), || known(callable), original)
    }
}

#[cold]
#[inline(never)]
unsafe fn call_late(
    begun: Begun,
    callable: *mut PyObject,
    positional: *const *mut PyObject,
    nargsf: usize,
    names: *mut PyObject,
    result: *mut PyObject,
) {
    // SAFETY: by contract of `call`.
    unsafe { record_late(begun, callee(callable), arguments(positional, nargsf, names), || known(callable), result) }
}

/// The function that was in our place.
///
/// # Safety
/// `hook` has stored it before it published ours.
#[inline(always)]
unsafe fn own(original: &AtomicPtr<c_void>) -> Vectorcall {
    // SAFETY: by contract, and all that are stored have this signature.
    unsafe { std::mem::transmute(original.load(Relaxed)) }
}

#[inline(always)]
fn callee(callable: *mut PyObject) -> Callee {
    Callee { address: callable as usize, slf: std::ptr::null_mut() }
}

#[inline(always)]
fn arguments(positional: *const *mut PyObject, nargsf: usize, keywords: *mut PyObject) -> Arguments {
    Arguments { positional, count: nargsf & COUNT, keywords }
}

fn known(callable: *mut PyObject) -> Option<(u32, Takes)> {
    let Hooked { name, inputs, atomic, axis_follows, writes_first } = lookup(callable)?;
    Some((name, Takes { inputs: inputs.into(), axis_follows, atomic, writes_first }))
}

/// What we know of a hooked object, while recording.
#[inline(always)]
fn lookup(callable: *mut PyObject) -> Option<Hooked> {
    if !state::recording() {
        return None;
    }
    // SAFETY: Python calls trampolines with its lock held.
    let py = unsafe { Python::assume_attached() };
    state::with(py, |state| state.objects.get(callable as usize)).flatten()
}

/// `ufunc.reduce(a)`: `method` is the name of `reduce`, the ufunc is `self`.
///
/// # Safety
/// As Python passed them.
#[inline]
pub(super) unsafe fn method(
    method: u32,
    ufunc: *mut PyObject,
    arguments: Arguments,
    original: impl FnOnce() -> *mut PyObject,
) -> *mut PyObject {
    // `a.sum()` comes this way too.
    if state::in_one_op() {
        return original();
    }
    // SAFETY: Python calls trampolines with its lock held.
    let py = unsafe { Python::assume_attached() };
    let name = state::with(py, |state| {
        let hooked = state.objects.get(ufunc as usize)?;
        Some(state.objects.method_name(hooked.name, method, &mut state.recorder.names))
    });
    let Some(Some(name)) = name else { return original() };
    observe(name, true, original, |call, &result| {
        !result.is_null() && {
            // SAFETY: the original has just returned; its caller still holds the arguments.
            unsafe { describe(call, std::ptr::null_mut(), arguments, usize::MAX, true, result) };
            true
        }
    })
}

/// Which of the two kinds of object that share one function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shared {
    Ufunc,
    Dispatcher,
}

/// Hooks one ufunc or array function; nothing to do where it is hooked already.
pub(super) fn hook(
    state: &mut State,
    maps: &Mappings,
    object: &Bound<'_, PyAny>,
    name: &str,
    kind: Shared,
) -> Result<bool, Refused> {
    let (original_of_all, ours) = match kind {
        Shared::Ufunc => (&UFUNC, ufunc as Vectorcall as *mut c_void),
        Shared::Dispatcher => (&DISPATCHER, dispatcher as Vectorcall as *mut c_void),
    };
    let cell = vectorcall_cell(object).ok_or(Refused::Empty)?;
    // SAFETY: the cell is a field of a live object.
    if unsafe { (*cell).load(Relaxed) } == ours {
        return Ok(false);
    }
    // SAFETY: the object is held for good below.
    let original = unsafe { state.patches.original(maps, cell) }?;
    let first = original_of_all.load(Relaxed);
    if !first.is_null() && first != original {
        return Err(Refused::Foreign);
    }
    original_of_all.store(original, Relaxed);
    let inputs = match kind {
        // SAFETY: the caller has checked that it is a ufunc.
        Shared::Ufunc => unsafe { (*object.as_ptr().cast::<Ufunc>()).inputs }.clamp(0, 64) as u16,
        Shared::Dispatcher => u16::MAX,
    };
    state.know(object, name, inputs);
    // SAFETY: the trampoline has the same signature and knows its original.
    unsafe { state.patches.replace(cell, original, ours) };
    Ok(true)
}

/// The object's own function pointer for calls, where its type has one.
pub(super) fn vectorcall_cell(object: &Bound<'_, PyAny>) -> Option<Cell> {
    // SAFETY: a type that says it has vectorcall tells the offset of the pointer in its objects.
    unsafe {
        let kind = ffi::Py_TYPE(object.as_ptr());
        let has = ffi::PyType_HasFeature(kind, ffi::Py_TPFLAGS_HAVE_VECTORCALL) != 0;
        let offset = usize::try_from((*kind).tp_vectorcall_offset).ok().filter(|&offset| has && offset > 0)?;
        Some(object.as_ptr().cast::<u8>().add(offset).cast_const().cast())
    }
}
