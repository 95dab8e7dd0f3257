//! Library functions that are recorded as one op under their public name.

use crate::hooks::outside::KEYWORDS;
use crate::hooks::passing;
use crate::modules;
use crate::ours;
use crate::stand_in::stand_in;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString, PyTuple, PyType};

/// Stands in for a function: calls it, and reports the call between `enter(name)` and `leave(token, …)`.
///
/// Neither tracebacks nor `sys._getframe` see it. It shows the function's own `__name__`, `__doc__`, `__wrapped__`,
/// signature and `repr`, equals the function, and pickles as the global that it stands for.
#[pyclass(dict, weakref, frozen, module = "breakeven._native")]
pub(crate) struct Named {
    function: Py<PyAny>,
    name: Py<PyString>,
    enter: Py<PyAny>,
    leave: Py<PyAny>,
    /// `enter` is given the arguments too.
    arguments: bool,
    /// Nothing is reported while steps go unwatched.
    of_steps: bool,
    /// Not an op where it is given a function: what that does is seen where it is done.
    plain_with_function: bool,
    /// `enter` is given the arguments and, as a dictionary or None, those given by keyword.
    keywords: bool,
    /// Nothing is reported while calls do not pass through the mode that a GPU is imitated by; where that has been put on
    /// meanwhile, `leave(None)` is.
    passing: bool,
    /// Arguments worth knowing that may come without their keyword: place and name.
    told: Vec<(usize, Py<PyString>)>,
}

stand_in! {
    impl Named as function {
        #[new]
        #[pyo3(signature = (
            function, name, enter, leave, arguments = false, of_steps = false, plain_with_function = false,
            parameters = vec![], keywords = false, passing = false
        ))]
        #[expect(clippy::too_many_arguments, reason = "what Python passes by keyword")]
        fn new(
            function: Py<PyAny>,
            name: Py<PyString>,
            enter: Py<PyAny>,
            leave: Py<PyAny>,
            arguments: bool,
            of_steps: bool,
            plain_with_function: bool,
            parameters: Vec<Bound<'_, PyString>>,
            keywords: bool,
            passing: bool,
        ) -> Self {
            let known = |name: &Bound<'_, PyString>| name.to_str().is_ok_and(|name| KEYWORDS.contains(&name));
            let told = parameters.into_iter().enumerate().filter(|(_, name)| known(name));
            let told = told.map(|(place, name)| (place, name.unbind())).collect();
            Self { function, name, enter, leave, arguments, of_steps, plain_with_function, keywords, passing, told }
        }

        #[pyo3(signature = (*args, **kwargs))]
        fn __call__<'py>(
            &self,
            args: &Bound<'py, PyTuple>,
            kwargs: Option<&Bound<'py, PyDict>>,
        ) -> PyResult<Bound<'py, PyAny>> {
            let py = args.py();
            let function = self.function.bind(py);
            if self.of_steps && modules::unwatched() {
                return function.call(args, kwargs);
            }
            if self.plain_with_function && calls_back(args, kwargs) {
                return function.call(args, kwargs);
            }
            if self.passing && passing::is_mode_off() {
                let outcome = function.call(args, kwargs);
                if passing::is_mode_off() {
                    return outcome;
                }
                return ours::or_raised(outcome, ours::told(py, || self.leave.bind(py).call1((py.None(),))));
            }
            let enter = self.enter.bind(py);
            let entered = ours::told(py, || match (self.keywords, self.arguments) {
                (true, _) => enter.call1((&self.name, args, kwargs)),
                (_, true) => enter.call1((&self.name, args)),
                _ => enter.call1((&self.name,)),
            });
            let Some(token) = entered? else { return function.call(args, kwargs) };
            let outcome = function.call(args, kwargs);
            let reported = ours::told(py, || match &outcome {
                Ok(result) => {
                    // `leave` takes None for a call that raised; a function that fills its argument returns it too.
                    let result = if result.is_none() { PyTuple::empty(py).into_any() } else { result.clone() };
                    let words = self.words(args, kwargs);
                    arrays(args, kwargs).and_then(|inputs| self.leave.bind(py).call1((token, inputs, result, words?)))
                }
                Err(_) => self.leave.bind(py).call1((token, PyTuple::empty(py), py.None())),
            });
            ours::or_raised(outcome, reported)
        }
    }
}

impl Named {
    /// The keywords, with what was given by place: `gaussian_filter(image, 3)` has `sigma`.
    fn words<'py>(
        &self,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Option<Bound<'py, PyDict>>> {
        let mut words = kwargs.cloned();
        let mut own = false;
        for (place, name) in self.told.iter().take_while(|(place, _)| *place < args.len()) {
            if !own {
                words = Some(kwargs.map_or_else(|| Ok(PyDict::new(args.py())), PyDictMethods::copy)?);
                own = true;
            }
            words.as_ref().map_or(Ok(()), |words| words.set_item(name, args.get_item(*place)?))?;
        }
        Ok(words)
    }
}

/// Whether a function is among the arguments.
fn calls_back(args: &Bound<'_, PyTuple>, kwargs: Option<&Bound<'_, PyDict>>) -> bool {
    let given = kwargs.map(|words| words.values());
    let function = |value: &Bound<'_, PyAny>| value.is_callable() && !value.is_instance_of::<PyType>();
    args.iter().chain(given.iter().flatten()).any(|value| function(&value))
}

/// The arguments, and the items of lists and tuples among them, in order.
fn arrays<'py>(args: &Bound<'py, PyTuple>, kwargs: Option<&Bound<'py, PyDict>>) -> PyResult<Bound<'py, PyTuple>> {
    let mut found = Vec::new();
    let given = kwargs.map(|words| words.values());
    for value in args.iter().chain(given.iter().flatten()) {
        if let Ok(list) = value.cast::<PyList>() {
            found.extend(list.iter().take(64));
        } else if let Ok(tuple) = value.cast::<PyTuple>() {
            found.extend(tuple.iter().take(64));
        } else {
            found.push(value);
        }
    }
    PyTuple::new(args.py(), found)
}
