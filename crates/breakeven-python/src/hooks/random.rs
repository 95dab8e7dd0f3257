//! Random methods: method definitions up to NumPy 2.3, Cython function objects with a pointer each from 2.4 on.

use super::patch::Refused;
use super::platform::Mappings;
use super::state::State;
use super::ufunc::{call, vectorcall_cell};
use pyo3::ffi::PyObject;
use pyo3::prelude::*;
use std::ffi::c_void;
use std::sync::atomic::{AtomicPtr, Ordering::Relaxed};

type Vectorcall = unsafe extern "C" fn(*mut PyObject, *const *mut PyObject, usize, *mut PyObject) -> *mut PyObject;

/// Cython has one function per calling convention; each needs its own trampoline to know its original.
const MANY: usize = 8;
static ORIGINALS: [AtomicPtr<c_void>; MANY] = [const { AtomicPtr::new(std::ptr::null_mut()) }; MANY];

unsafe extern "C" fn function<const I: usize>(
    callable: *mut PyObject,
    positional: *const *mut PyObject,
    nargsf: usize,
    names: *mut PyObject,
) -> *mut PyObject {
    // SAFETY: as Python passed them; `hook` stored the original before it published this.
    unsafe { call(&ORIGINALS[I], callable, positional, nargsf, names) }
}

seq_macro::seq!(I in 0..8 {
    static TRAMPOLINES: [Vectorcall; MANY] = [#(function::<I>,)*];
});

/// Hooks one Cython function.
pub(super) fn hook(state: &mut State, maps: &Mappings, object: &Bound<'_, PyAny>, name: &str) -> Result<bool, Refused> {
    let cell = vectorcall_cell(object).ok_or(Refused::Empty)?;
    // SAFETY: the cell is a field of a live object.
    let now = unsafe { (*cell).load(Relaxed) };
    if TRAMPOLINES.iter().any(|&ours| ours as *mut c_void == now) {
        return Ok(false);
    }
    // SAFETY: the object is held for good below.
    let original = unsafe { state.patches.original(maps, cell) }?;
    let index = (0..MANY)
        .find(|&i| {
            let known = ORIGINALS[i].load(Relaxed);
            known.is_null() || known == original
        })
        .ok_or(Refused::Full)?;
    ORIGINALS[index].store(original, Relaxed);
    state.know(object, name, u16::MAX);
    // SAFETY: the trampoline has the same signature and knows its original.
    unsafe { state.patches.replace(cell, original, TRAMPOLINES[index] as *mut c_void) };
    Ok(true)
}
