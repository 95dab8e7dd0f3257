//! What stands in for a function looks like one: the Python methods that all stand-ins share.

/// The `#[pymethods]` of a stand-in: its own, and that it becomes a method when it is looked up on an instance. With
/// `as FIELD`, it also has the attributes, `repr` and hash of the function in that field, equals it, and pickles as the
/// global that it stands for.
macro_rules! stand_in {
    (impl $class:ident { $($own:tt)* }) => {
        #[pymethods]
        impl $class {
            $($own)*

            fn __get__<'py>(
                slf: &Bound<'py, Self>,
                instance: Option<&Bound<'py, PyAny>>,
                _owner: Option<&Bound<'py, PyAny>>,
            ) -> PyResult<Bound<'py, PyAny>> {
                $crate::hooks::bound::bound(slf.as_any(), instance)
            }
        }
    };
    (impl $class:ident as $function:ident { $($own:tt)* }) => {
        $crate::stand_in::stand_in! {
            impl $class {
                $($own)*

                fn __getattr__<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
                    self.$function.bind(py).getattr(name)
                }

                /// `inspect.isfunction`, by which scikit-learn knows its methods, is what it is of the function.
                #[getter(__class__)]
                fn class<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
                    self.$function.bind(py).getattr("__class__")
                }

                fn __repr__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
                    self.$function.bind(py).repr().map(Bound::into_any)
                }

                fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
                    // What it stands in for may stand in for another itself.
                    let function = self.$function.bind(other.py());
                    match other.cast::<Self>() {
                        Ok(other) => function.eq(&other.get().$function),
                        Err(_) => function.eq(other),
                    }
                    .unwrap_or(false)
                }

                fn __hash__(&self, py: Python<'_>) -> PyResult<isize> {
                    self.$function.bind(py).hash()
                }

                fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
                    self.$function.bind(py).getattr("__qualname__")
                }
            }
        }
    };
}
pub(crate) use stand_in;
