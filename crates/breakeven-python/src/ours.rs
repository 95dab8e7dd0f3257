//! What the recorder's own Python raises is nothing to the script; but a handler of the script's signals may run in the midst
//! of it, and what that raises is the script's.

use crate::hooks::outside::by_recorder;
use pyo3::exceptions::PyException;
use pyo3::intern;
use pyo3::prelude::*;

/// Packages whose frames are not the script's within a call of ours.
const OWN: [&str; 3] = ["breakeven", "torch", "numpy"];

/// What a call of ours gave, `None` where it failed; what it takes is no time of the script's. An error is what the script is
/// to get of it.
pub(crate) fn told<'py>(
    py: Python<'py>,
    call: impl FnOnce() -> PyResult<Bound<'py, PyAny>>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    match by_recorder(py, call) {
        Ok(told) => Ok(Some(told)),
        Err(error) if is_of_script(py, &error).unwrap_or(false) => Err(error),
        Err(_) => Ok(None),
    }
}

/// The outcome of the script's call; or, where that went well, what the script is to get of what was told of it.
pub(crate) fn or_raised<T>(outcome: PyResult<T>, told: PyResult<Option<Bound<'_, PyAny>>>) -> PyResult<T> {
    match told {
        Err(error) if outcome.is_ok() => Err(error),
        _ => outcome,
    }
}

/// Whether a handler has raised it: it is no error that code raises for a failure, or comes from a frame that is neither ours
/// nor of what we call. Our frames are taken out of its traceback.
pub(crate) fn is_of_script(py: Python<'_>, error: &PyErr) -> PyResult<bool> {
    let mut trace = error.traceback(py).map(Bound::into_any);
    while let Some(here) = trace.take() {
        let name = here.getattr(intern!(py, "tb_frame"))?.getattr(intern!(py, "f_globals"))?.get_item("__name__");
        let name = name.and_then(|name| name.extract::<String>()).unwrap_or_default();
        if !is_own(py, name.split('.').next().unwrap_or_default())? {
            error.set_traceback(py, here.cast_into().ok());
            return Ok(true);
        }
        trace = Some(here.getattr(intern!(py, "tb_next"))?).filter(|next| !next.is_none());
    }
    let raised = !error.is_instance_of::<PyException>(py);
    if raised {
        error.set_traceback(py, None);
    }
    Ok(raised)
}

fn is_own(py: Python<'_>, package: &str) -> PyResult<bool> {
    Ok(OWN.contains(&package) || py.import("sys")?.getattr("stdlib_module_names")?.contains(package)?)
}

/// The same of an error that Python has caught.
#[pyfunction]
pub(crate) fn of_script(py: Python<'_>, error: Bound<'_, PyAny>) -> PyResult<bool> {
    is_of_script(py, &PyErr::from_value(error))
}
