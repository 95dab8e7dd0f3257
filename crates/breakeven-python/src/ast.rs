//! Calls made for rewritten user code, so that no Python frame of ours stands between a line and what it calls.
//!
//! [`watched`] calls `before(function, args)`, then the function, then `after(token, function, args, kwargs, result)`
//! where `before` gave a token (args None: the call raised). What goes wrong in either is ours and never the script's;
//! the time of both is taken off.

use crate::hooks::{clock, outside, state};
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyTuple};

struct Watcher {
    before: Py<PyAny>,
    after: Py<PyAny>,
    stored: Py<PyAny>,
    host: Py<PyAny>,
}

static WATCHER: PyOnceLock<Watcher> = PyOnceLock::new();

/// Set what is called around watched operations; once in a process.
#[pyfunction]
pub(crate) fn watch(py: Python<'_>, before: Py<PyAny>, after: Py<PyAny>, stored: Py<PyAny>, host: Py<PyAny>) {
    let _ = WATCHER.set(py, Watcher { before, after, stored, host });
}

/// `function(*args, **kwargs)`.
#[pyfunction]
#[pyo3(signature = (function, /, *args, **kwargs))]
pub(crate) fn watched<'py>(
    function: &Bound<'py, PyAny>,
    args: &Bound<'py, PyTuple>,
    kwargs: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = function.py();
    let Some(watcher) = WATCHER.get(py) else { return function.call(args, kwargs) };
    let asked = Own::begins();
    let token = ours(watcher.before.bind(py).call1((function, args)))?;
    let before = asked.ends();
    let Some(token) = token else {
        outside::recorder_took(py, before);
        return function.call(args, kwargs);
    };
    let outcome = function.call(args, kwargs);
    let returned = Own::begins();
    state::with_thread(|thread| thread.returned = Some(returned.at));
    let after = watcher.after.bind(py);
    let told = match &outcome {
        Ok(result) => ours(after.call1((token, function, args, kwargs, result))),
        Err(_) => ours(after.call1((token, function, py.None(), py.None(), py.None()))),
    };
    state::with_thread(|thread| thread.returned = None);
    outside::recorder_took(py, before + returned.ends());
    told.and(outcome)
}

/// Work of the recorder's on this thread that has begun.
struct Own {
    at: u64,
    told: u64,
}

impl Own {
    fn begins() -> Self {
        let told = state::with_thread(|thread| thread.own_ticks()).unwrap_or(0);
        Self { at: clock::now(), told }
    }

    /// The ticks that it took, less what an event in it has told of by itself.
    fn ends(&self) -> u64 {
        let told = state::with_thread(|thread| thread.own_ticks()).unwrap_or(0).saturating_sub(self.told);
        clock::now().saturating_sub(self.at).saturating_sub(told)
    }
}

/// `target[index] = value`, with the operands in the order in which Python evaluates them.
#[pyfunction]
#[pyo3(signature = (value, target, index, /))]
pub(crate) fn watched_store<'py>(
    value: &Bound<'py, PyAny>,
    target: &Bound<'py, PyAny>,
    index: &Bound<'py, PyAny>,
) -> PyResult<()> {
    let py = value.py();
    let Some(watcher) = WATCHER.get(py) else { return target.set_item(index, value) };
    let stored = watcher.stored.bind(py);
    let token = ours(stored.call1((target, index, value, py.None())))?;
    let outcome = target.set_item(index, value);
    if let Some(token) = token {
        match outcome {
            Ok(()) => ours(stored.call1((target, index, value, token)))?,
            Err(_) => ours(stored.call1((py.None(), py.None(), py.None(), token)))?,
        };
    }
    outcome
}

/// The first half of `target[index] += value`: the target, the index and what is there now.
#[pyfunction]
#[pyo3(signature = (target, index, /))]
pub(crate) fn watched_pick<'py>(
    target: &Bound<'py, PyAny>,
    index: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyTuple>> {
    let py = target.py();
    let get_item = py.import("operator")?.getattr("getitem")?;
    let current = watched(&get_item, &PyTuple::new(py, [target, index])?, None)?;
    (target, index, current).into_pyobject(py)
}

/// The second half: the operator on what was there and the value, and the result stored back.
#[pyfunction]
#[pyo3(signature = (picked, function, value, /))]
pub(crate) fn watched_put_back<'py>(
    picked: &Bound<'py, PyTuple>,
    function: &Bound<'py, PyAny>,
    value: &Bound<'py, PyAny>,
) -> PyResult<()> {
    let (target, index, current) = (picked.get_item(0)?, picked.get_item(1)?, picked.get_item(2)?);
    let operands = PyTuple::new(value.py(), [&current, value])?;
    let result = watched(function, &operands, None)?;
    watched_store(&result, &target, &index)
}

/// `value`, which the host is about to read if it is an array.
#[pyfunction]
#[pyo3(signature = (value, /))]
pub(crate) fn watched_host<'py>(value: Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    if let Some(watcher) = WATCHER.get(value.py()) {
        ours(watcher.host.bind(value.py()).call1((&value,)))?;
    }
    Ok(value)
}

/// The outcome of a call of ours: an `Exception` is dropped, Ctrl-C is passed on without our frames, None is none.
fn ours(outcome: PyResult<Bound<'_, PyAny>>) -> PyResult<Option<Bound<'_, PyAny>>> {
    match outcome {
        Ok(value) => Ok((!value.is_none()).then_some(value)),
        Err(error) => Python::attach(|py| {
            if error.is_instance_of::<PyException>(py) {
                return Ok(None);
            }
            error.set_traceback(py, None);
            Err(error)
        }),
    }
}
