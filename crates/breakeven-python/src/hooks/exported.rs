//! Arrays of another library than NumPy, read through the buffer protocol: `numpy.asarray(x)`, `memoryview(x)`.

use super::jitted::jitted_read;
use super::patch::Cell;
use super::platform::Mappings;
use super::state;
use pyo3::ffi::{self, PyObject};
use pyo3::prelude::*;
use pyo3::types::PyType;
use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicPtr, Ordering::Relaxed};

type Buffer = unsafe extern "C" fn(*mut PyObject, *mut ffi::Py_buffer, c_int) -> c_int;

static ORIGINAL: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());

unsafe extern "C" fn buffer(array: *mut PyObject, view: *mut ffi::Py_buffer, flags: c_int) -> c_int {
    // SAFETY: `exported_hook` stored the original, a `getbufferproc`, before it published this.
    let original: Buffer = unsafe { std::mem::transmute(ORIGINAL.load(Relaxed)) };
    // SAFETY: passed on as it came.
    let result = unsafe { original(array, view, flags) };
    if result == 0 && state::recording() {
        // SAFETY: the view has just been filled; Python called this with its lock held.
        let (bytes, py) = unsafe { ((*view).len, Python::assume_attached()) };
        state::guard(|| jitted_read(py, bytes.max(0) as u64));
    }
    result
}

/// Reads of arrays of this type by the buffer protocol are seen from now on; whether they could be hooked.
#[pyfunction]
pub(crate) fn exported_hook(array: &Bound<'_, PyType>) -> bool {
    let of = array.as_type_ptr();
    // SAFETY: a live type; its table of slots is its own where it is null or lives as long as it does.
    let cell: Cell = unsafe {
        let table = (*of).tp_as_buffer;
        if table.is_null() {
            return false;
        }
        (&raw const (*table).bf_getbuffer).cast()
    };
    if !Mappings::read().is_writable(cell as usize) {
        return false;
    }
    let ours = buffer as Buffer as *mut c_void;
    // SAFETY: as above.
    let original = unsafe { (*cell).load(Relaxed) };
    if original.is_null() {
        return false;
    }
    if original != ours {
        ORIGINAL.store(original, Relaxed);
        state::with(array.py(), |state| {
            state.patches.mechanism = usize::MAX;
            // SAFETY: the cell is writable; the type is held for good, and `buffer` has the slot's signature.
            unsafe {
                ffi::Py_INCREF(of.cast());
                state.patches.replace(cell, original, ours);
            }
        });
    }
    true
}
