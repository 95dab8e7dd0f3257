//! Functions of the stand-in for CuPy, which are compiled there: tracebacks do not show how they are made here, and what
//! they take is no time of the program's.

use crate::hooks::outside;
use crate::stand_in::stand_in;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple, PyType};

/// Calls a function, and takes its frames out of the traceback of what it raises: those of files in `folder`, and of what
/// they called in `libraries`. Frames of the program's own functions stay. What the function takes beside the events that
/// it records is left out of the run's time, unless the program gives it something to call.
#[pyclass(dict, weakref, frozen, module = "breakeven._native")]
pub(crate) struct Frameless {
    function: Py<PyAny>,
    folder: String,
    libraries: Vec<String>,
    /// It is a method of the stand-in's own, whose object calls nothing of the program's, though it may be called.
    method: bool,
}

stand_in! {
    impl Frameless as function {
        #[new]
        #[pyo3(signature = (function, folder, libraries, method = false))]
        fn new(function: Py<PyAny>, folder: String, libraries: Vec<String>, method: bool) -> Self {
            Self { function, folder, libraries, method }
        }

        #[pyo3(signature = (*args, **kwargs))]
        fn __call__<'py>(
            &self,
            args: &Bound<'py, PyTuple>,
            kwargs: Option<&Bound<'py, PyDict>>,
        ) -> PyResult<Bound<'py, PyAny>> {
            let py = args.py();
            let function = self.function.bind(py);
            let first = usize::from(self.method);
            let given = || args.iter().skip(first).chain(kwargs.iter().flat_map(|named| named.values()));
            // What the stand-in may call is the program's, and so is its time.
            let done = if given().any(|given| given.is_callable() && !given.is_instance_of::<PyType>()) {
                function.call(args, kwargs)
            } else {
                outside::in_stand_in(py, || function.call(args, kwargs))
            };
            done.inspect_err(|error| {
                // What cannot be taken out stays.
                let _ = self.clean(py, error);
            })
        }
    }
}

impl Frameless {
    /// Takes the frames out of an error's traceback, and drops errors that it came of which were raised and caught here.
    fn clean(&self, py: Python<'_>, error: &PyErr) -> PyResult<()> {
        if let Some(trace) = error.traceback(py) {
            error.set_traceback(py, self.trimmed(trace.into_any())?.cast_into().ok());
        }
        let error = error.value(py);
        loop {
            let inner = error.getattr("__context__")?;
            let trace = inner.getattr_opt("__traceback__")?.filter(|trace| !trace.is_none());
            let Some(trace) = trace else { return Ok(()) };
            let rest = self.trimmed(trace)?;
            if !rest.is_none() {
                return inner.setattr("__traceback__", rest);
            }
            error.setattr("__context__", inner.getattr("__context__")?)?;
        }
    }

    /// A traceback without those frames; None where no other is left.
    fn trimmed<'py>(&self, trace: Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let mut kept: Vec<Bound<'py, PyAny>> = Vec::new();
        let mut next = trace;
        let mut inside = true;
        while !next.is_none() {
            let file: String = next.getattr("tb_frame")?.getattr("f_code")?.getattr("co_filename")?.extract()?;
            let after = next.getattr("tb_next")?;
            inside = file.starts_with(&self.folder)
                || inside && self.libraries.iter().any(|library| file.starts_with(library.as_str()));
            if !inside {
                kept.push(next);
            }
            next = after;
        }
        let mut rest = next;
        for frame in kept.into_iter().rev() {
            frame.setattr("tb_next", rest)?;
            rest = frame;
        }
        Ok(rest)
    }
}
