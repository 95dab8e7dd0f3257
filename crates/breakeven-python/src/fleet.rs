//! Job logs for Python: a batch of Arrow in, one row a job out.

use breakeven_fleet::Given;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// Judges the jobs of an Arrow IPC stream; see `breakeven_fleet::arrow::batch`. `named` says what names of the log mean.
#[pyfunction]
#[pyo3(signature = (stream, mapping = None, gpu = None, named = Vec::new(), price = None, cpu_price = None))]
pub(crate) fn fleet<'py>(
    py: Python<'py>,
    stream: &[u8],
    mapping: Option<&str>,
    gpu: Option<String>,
    named: Vec<(String, String)>,
    price: Option<f64>,
    cpu_price: Option<f64>,
) -> PyResult<Bound<'py, PyBytes>> {
    let given = Given { gpu, named, usd_per_gpu_h: price, usd_per_cpu_h: cpu_price };
    let jobs = py.detach(|| breakeven_fleet::arrow::batch(stream, mapping, given));
    let told = |error: breakeven::Error| PyValueError::new_err(error.to_string().replacen("error: ", "", 1));
    jobs.map(|jobs| PyBytes::new(py, &jobs)).map_err(told)
}
