//! Random methods: method definitions up to NumPy 2.3, Cython function objects with a pointer each from 2.4 on; and the
//! making of generators, whose seeds NumPy computes with a thousand tiny calls to itself.

use super::patch::{Cell, Refused};
use super::platform::Mappings;
use super::state::{State, observe};
use super::ufunc::{call, vectorcall_cell};
use pyo3::ffi::PyObject;
use pyo3::prelude::*;
use pyo3::types::PyType;
use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicPtr, Ordering::Relaxed};

type Vectorcall = unsafe extern "C" fn(*mut PyObject, *const *mut PyObject, usize, *mut PyObject) -> *mut PyObject;

type Init = unsafe extern "C" fn(*mut PyObject, *mut PyObject, *mut PyObject) -> c_int;

/// Cython has one function per calling convention in each of its modules; each needs its own trampoline to know its original.
const MANY: usize = 16;
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

seq_macro::seq!(I in 0..16 {
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

/// Types whose making is hooked; each has a function of its own.
const TYPES: usize = 8;
static INITS: [AtomicPtr<c_void>; TYPES] = [const { AtomicPtr::new(std::ptr::null_mut()) }; TYPES];

unsafe extern "C" fn init<const I: usize>(slf: *mut PyObject, args: *mut PyObject, keywords: *mut PyObject) -> c_int {
    // SAFETY: `hook_type` stored the original, an `initproc`, before it published this.
    let original: Init = unsafe { std::mem::transmute(INITS[I].load(Relaxed)) };
    // No op, and nothing inside is one: seeding is the host's.
    // SAFETY: passed on as they came.
    observe(0, true, || unsafe { original(slf, args, keywords) }, |_, _| false)
}

seq_macro::seq!(I in 0..8 {
    static INIT_TRAMPOLINES: [Init; TYPES] = [#(init::<I>,)*];
});

/// Hooks the making of one type of generator or seed, the `index`th.
pub(super) fn hook_type(
    state: &mut State,
    maps: &Mappings,
    of: &Bound<'_, PyType>,
    index: usize,
) -> Result<(), Refused> {
    // SAFETY: a field of a live type, which is static, or held by the module that never goes.
    let cell: Cell = unsafe { (&raw const (*of.as_type_ptr()).tp_init).cast() };
    let ours = *INIT_TRAMPOLINES.get(index).ok_or(Refused::Full)? as *mut c_void;
    // SAFETY: as above.
    if unsafe { (*cell).load(Relaxed) } == ours {
        return Ok(());
    }
    // SAFETY: as above.
    let original = unsafe { state.patches.original(maps, cell) }?;
    INITS[index].store(original, Relaxed);
    // SAFETY: the trampoline has the signature of the slot and knows its original.
    unsafe { state.patches.replace(cell, original, ours) };
    Ok(())
}
