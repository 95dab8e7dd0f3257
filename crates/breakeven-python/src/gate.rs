//! Where native hooks may run: on the pairs of CPython and NumPy that they were tested on.

use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Minor versions of CPython 3 and of NumPy that the hooks were tested on together.
const TESTED: [(u8, (u32, u32)); 5] = [(10, (2, 2)), (11, (1, 26)), (11, (2, 4)), (12, (2, 5)), (13, (2, 5))];

/// Why native hooks may not run here, one sentence; `None` where they may. Does not import NumPy.
pub(crate) fn unsupported(py: Python<'_>) -> PyResult<Option<String>> {
    let sys = py.import("sys")?;
    let implementation: String = sys.getattr("implementation")?.getattr("name")?.extract()?;
    if implementation != "cpython" {
        return Ok(Some(format!("native hooks need CPython; this is {implementation}")));
    }
    if !cfg!(all(target_pointer_width = "64", target_os = "linux")) {
        return Ok(Some("native hooks run on 64-bit Linux only so far".to_owned()));
    }
    if cfg!(Py_GIL_DISABLED) || has_no_gil(&sys)? {
        return Ok(Some("native hooks need the interpreter's lock; this build is free-threaded".to_owned()));
    }
    if !crate::hooks::is_main_interpreter(py) {
        return Ok(Some("native hooks run in the main interpreter only".to_owned()));
    }
    let minor = py.version_info().minor;
    let Some(numpy) = numpy_version(&sys)? else {
        return Ok((!TESTED.iter().any(|&(python, _)| python == minor))
            .then(|| format!("native hooks were not tested on Python 3.{minor}")));
    };
    Ok((!is_tested(minor, &numpy)).then(|| {
        format!("native hooks were not tested on Python 3.{minor} with NumPy {numpy}; tested: {}", tested_text())
    }))
}

fn is_tested(python: u8, numpy: &str) -> bool {
    major_minor(numpy).is_some_and(|numpy| TESTED.contains(&(python, numpy)))
}

fn major_minor(version: &str) -> Option<(u32, u32)> {
    let mut parts = version.split('.');
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

fn tested_text() -> String {
    let pairs: Vec<_> =
        TESTED.iter().map(|(python, (major, minor))| format!("3.{python} with {major}.{minor}")).collect();
    pairs.join(", ")
}

fn has_no_gil(sys: &Bound<'_, PyAny>) -> PyResult<bool> {
    match sys.getattr_opt("_is_gil_enabled")? {
        Some(enabled) => Ok(!enabled.call0()?.extract::<bool>()?),
        None => Ok(false),
    }
}

/// NumPy's version: of the imported module, else of the one that an import would find.
fn numpy_version(sys: &Bound<'_, PyAny>) -> PyResult<Option<String>> {
    if let Some(numpy) = sys.getattr("modules")?.cast::<PyDict>()?.get_item("numpy")?
        && let Some(version) = numpy.getattr_opt("__version__")?
    {
        return version.extract().map(Some);
    }
    let path: Vec<String> = sys.getattr("path")?.extract().unwrap_or_default();
    Ok(path.iter().find_map(|directory| installed_version(directory)))
}

/// The version in the name of `numpy-2.4.6.dist-info`.
fn installed_version(directory: &str) -> Option<String> {
    let entries = std::fs::read_dir(if directory.is_empty() { "." } else { directory }).ok()?;
    entries.flatten().find_map(|entry| {
        let name = entry.file_name();
        Some(name.to_str()?.strip_prefix("numpy-")?.strip_suffix(".dist-info")?.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_tested_minors_pass() {
        assert!(is_tested(11, "2.4.6"));
        assert!(is_tested(11, "1.26.4"));
        assert!(is_tested(13, "2.5.0rc1"));
        assert!(!is_tested(11, "2.5.0"));
        assert!(!is_tested(14, "2.5.0"));
        assert!(!is_tested(11, "two"));
    }
}
