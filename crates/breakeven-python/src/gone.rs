//! What is called when the memory of a tensor or an array dies: none of Python's, in which a signal's handler might raise
//! something that nobody gets.

use crate::hooks::outside;
use crate::hooks::torch::storage_freed;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Takes a dead reference out of those that live, where it is by its `key`.
fn forget(live: &Bound<'_, PyDict>, gone: &Bound<'_, PyAny>) -> PyResult<()> {
    let key = gone.getattr(intern!(gone.py(), "key"))?;
    if live.get_item(&key)?.is_some_and(|known| known.is(gone)) {
        live.del_item(key)?;
    }
    Ok(())
}

/// Of a storage that is one of `live`.
#[pyclass(frozen, module = "breakeven._native")]
pub(crate) struct Dies {
    live: Py<PyDict>,
}

#[pymethods]
impl Dies {
    #[new]
    fn new(live: Py<PyDict>) -> Self {
        Self { live }
    }

    fn __call__(&self, gone: &Bound<'_, PyAny>) -> PyResult<()> {
        let py = gone.py();
        forget(self.live.bind(py), gone)?;
        storage_freed(py, gone.getattr(intern!(py, "id"))?.extract()?, None);
        Ok(())
    }
}

/// Of a block of `live`, in the stand-in for CuPy: its `pool` and `all` of them have its `size` back. Where the program has
/// `hooks`, `telling` does that, and tells them.
#[pyclass(frozen, module = "breakeven._native")]
pub(crate) struct GivesBack {
    live: Py<PyDict>,
    all: Py<PyAny>,
    hooks: Py<PyDict>,
    telling: Py<PyAny>,
}

#[pymethods]
impl GivesBack {
    #[new]
    fn new(live: Py<PyDict>, all: Py<PyAny>, hooks: Py<PyDict>, telling: Py<PyAny>) -> Self {
        Self { live, all, hooks, telling }
    }

    fn __call__(&self, gone: &Bound<'_, PyAny>) -> PyResult<()> {
        let py = gone.py();
        outside::in_stand_in(py, || {
            forget(self.live.bind(py), gone)?;
            let pool = gone.getattr(intern!(py, "pool"))?;
            if pool.is_none() {
                return Ok(());
            }
            if !self.hooks.bind(py).is_empty() {
                return self.telling.bind(py).call1((gone,)).map(drop);
            }
            let size: i64 = gone.getattr(intern!(py, "size"))?.extract()?;
            for pool in [&pool, self.all.bind(py)] {
                let used: i64 = pool.getattr(intern!(py, "_used"))?.extract()?;
                pool.setattr(intern!(py, "_used"), used - size)?;
            }
            Ok(())
        })
    }
}
