//! The engine for Python: JSON in, JSON or a report out. Errors come back as JSON too; the package raises them.

use breakeven::estimate::Estimate;
use breakeven::report::TextOptions;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// The answer to a `breakeven.request/1`: a `breakeven.estimate/1`, or `{"error": …}`.
#[pyfunction]
pub(crate) fn answer(py: Python<'_>, request: &str) -> String {
    py.detach(|| breakeven::answer::answer(request))
}

/// A `breakeven.estimate/1` as the command prints it: `text` or `markdown`, with as many GPUs as were asked for.
#[pyfunction]
#[pyo3(signature = (estimate, format, quiet = false, verbose = false))]
pub(crate) fn report(estimate: &str, format: &str, quiet: bool, verbose: bool) -> PyResult<String> {
    let estimate: Estimate = serde_json::from_str(estimate).map_err(|e| PyValueError::new_err(e.to_string()))?;
    match format {
        "text" => Ok(breakeven::report::text(&estimate, &TextOptions { quiet, verbose, ..TextOptions::default() })),
        "markdown" => Ok(breakeven::report::markdown(&estimate, quiet)),
        other => Err(PyValueError::new_err(format!("format `{other}` is neither `text` nor `markdown`"))),
    }
}

/// The kernels that a graph of primitive operations becomes on a GPU; see `breakeven::compiled::answer`.
#[pyfunction]
pub(crate) fn compiled(py: Python<'_>, graph: &str) -> PyResult<String> {
    py.detach(|| breakeven::compiled::answer(graph)).map_err(PyValueError::new_err)
}
