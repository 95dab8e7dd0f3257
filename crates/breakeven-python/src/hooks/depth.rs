//! How deep calls are in each other, which Python limits: a stand-in's own is not the script's.

use pyo3::ffi;
use pyo3::prelude::*;

/// Gives the level of the stand-in that runs back to the script while `call` runs.
pub(crate) fn given_back<T>(_: Python<'_>, call: impl FnOnce() -> T) -> T {
    // SAFETY: attached to the interpreter, within a call that has taken a level.
    unsafe { ffi::Py_LeaveRecursiveCall() };
    let outcome = call();
    // SAFETY: attached to the interpreter, with no error pending. The level was there before, so that it is there now;
    // what would be raised if it were not is none of the script's.
    unsafe {
        if ffi::Py_EnterRecursiveCall(c"".as_ptr()) != 0 {
            ffi::PyErr_Clear();
        }
    }
    outcome
}
