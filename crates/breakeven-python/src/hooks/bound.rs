//! Methods, made as the interpreter makes them for a function in Python: `types.MethodType(...)` counts as a call, which
//! is refused where a script is as deep as it may go, and PyTorch takes a mode without a method for an error of its own.

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyTuple, PyType};

/// What a function kept in a class gives when it is looked up: itself, or a method of `instance`.
pub(crate) fn bound<'py>(
    function: &Bound<'py, PyAny>,
    instance: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    static METHOD: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let Some(instance) = instance else { return Ok(function.clone()) };
    let py = function.py();
    // An import asks too, by which the script would find `types` imported.
    let type_of_methods = || {
        let finder = py.import("_frozen_importlib_external")?.getattr("FileFinder")?;
        PyResult::Ok(finder.getattr("path_hook")?.get_type().unbind())
    };
    let class = METHOD.get_or_try_init(py, type_of_methods)?.bind(py);
    let given = PyTuple::new(py, [function, instance])?;
    // SAFETY: the class is a type, whose `tp_new` has this signature; it is handed a tuple and no keywords, and gives a
    // new reference, or null with an exception set.
    unsafe {
        let slot = ffi::PyType_GetSlot(class.as_type_ptr(), ffi::Py_tp_new);
        let make = std::mem::transmute::<*mut std::ffi::c_void, ffi::newfunc>(slot);
        Bound::from_owned_ptr_or_err(py, make(class.as_type_ptr(), given.as_ptr(), std::ptr::null_mut()))
    }
}
