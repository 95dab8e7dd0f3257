//! Functions and methods of a library for data frames, each outermost call of which is one op, whatever it calls inside.

use crate::hooks::clock;
use crate::hooks::outside;
use crate::hooks::state::{self, with_thread};
use crate::ours;
use crate::stand_in::stand_in;
use breakeven::lower;
use breakeven::port::{self, Counterpart};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};

/// Stands in for a function: calls it; of an outermost call that went well `told(token, args, kwargs, result)` hears, which
/// ends it by `leave`. Calls within another op cost next to nothing. It looks like the function as `Named` does.
///
/// With `before(args, kwargs)`, what that gives is told as a further argument; also, with a token of 0, where the call raised.
#[pyclass(dict, weakref, frozen, module = "breakeven._native")]
pub(crate) struct OneOp {
    function: Py<PyAny>,
    name: Py<PyString>,
    told: Py<PyAny>,
    before: Option<Py<PyAny>>,
    /// Called by a function of NumPy's, whose work it is.
    whole: bool,
}

stand_in! {
    impl OneOp as function {
        #[new]
        #[pyo3(signature = (function, name, told, before = None, whole = false))]
        fn new(
            function: Py<PyAny>,
            name: Py<PyString>,
            told: Py<PyAny>,
            before: Option<Py<PyAny>>,
            whole: bool,
        ) -> Self {
            Self { function, name, told, before, whole }
        }

        #[pyo3(signature = (*args, **kwargs))]
        fn __call__<'py>(
            &self,
            args: &Bound<'py, PyTuple>,
            kwargs: Option<&Bound<'py, PyDict>>,
        ) -> PyResult<Bound<'py, PyAny>> {
            let py = args.py();
            let function = self.function.bind(py);
            if !state::recording() || with_thread(|thread| thread.is_within_op(self.whole)) != Some(false) {
                return function.call(args, kwargs);
            }
            let begun = match &self.before {
                Some(before) => ours::told(py, || before.bind(py).call1((args, kwargs)))?,
                None => None,
            };
            let token = outside::enter(py, self.name.bind(py).to_str()?, self.whole, 0);
            let outcome = function.call(args, kwargs);
            with_thread(|thread| thread.returned = Some(clock::now()));
            let reported = ours::told(py, || {
                let told = match (&outcome, &self.before) {
                    (Ok(result), Some(_)) => self.told.bind(py).call1((token, args, kwargs, result, begun)),
                    (Err(_), Some(_)) => self.told.bind(py).call1((0, args, kwargs, py.None(), begun)),
                    (Ok(result), None) if token != 0 => self.told.bind(py).call1((token, args, kwargs, result)),
                    _ => Ok(py.None().into_bound(py)),
                };
                // Whatever became of it, the call is over.
                outside::leave_open(py, token)?;
                told
            });
            ours::or_raised(outcome, reported)
        }
    }
}

/// Every name of a package in the tables: name, its rule, and where its port runs it: `device`, `view` or `host`.
#[pyfunction]
pub(crate) fn callables(package: &str) -> Vec<(&'static str, String, &'static str)> {
    let port = port::of(package);
    let rows = lower::callables().iter().filter(|row| row.name.split('.').next() == Some(package));
    rows.map(|row| {
        let place = match port.counterpart(&row.name) {
            Counterpart::Device(_) => "device",
            Counterpart::View(_) => "view",
            Counterpart::Host(_) => "host",
        };
        (row.name.as_str(), row.rule.to_string(), place)
    })
    .collect()
}
