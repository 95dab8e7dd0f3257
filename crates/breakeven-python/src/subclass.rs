//! Tensors of classes of the script's own, made while a mode sees ops.

use pyo3::prelude::*;
use pyo3::types::{PyCFunction, PyDict, PyTuple, PyType};

/// What stands in for `torch.Tensor.__new__`, which is `plain`: that makes a tensor, and then one of the class of it, but
/// not where one of the modes that see ops (`modes` says how many do in this thread) has met the first. There the tensor is
/// made by itself, and the class is handed it. A function of C as the other, which PyTorch's compiler wants it to be.
#[pyfunction]
pub(crate) fn constructor<'py>(
    py: Python<'py>,
    plain: Py<PyAny>,
    tensor: Py<PyType>,
    modes: Py<PyAny>,
) -> PyResult<Bound<'py, PyCFunction>> {
    let new = move |args: &Bound<'_, PyTuple>, kwargs: Option<&Bound<'_, PyDict>>| -> PyResult<Py<PyAny>> {
        let py = args.py();
        let (plain, tensor) = (plain.bind(py), tensor.bind(py));
        let class = args.get_item(0).ok().and_then(|class| class.cast_into::<PyType>().ok());
        let own = class.filter(|class| !class.is(tensor) && class.is_subclass(tensor).unwrap_or(false));
        let made = match own {
            Some(class) if modes.bind(py).call0()?.is_truthy()? => of_class(plain, tensor, class, args, kwargs),
            _ => plain.call(args, kwargs),
        };
        made.map(Bound::unbind)
    };
    PyCFunction::new_closure(py, Some(c"__new__"), None, new)
}

fn of_class<'py>(
    plain: &Bound<'py, PyAny>,
    tensor: &Bound<'py, PyType>,
    class: Bound<'py, PyType>,
    args: &Bound<'py, PyTuple>,
    kwargs: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let mut of_tensor: Vec<_> = args.iter().collect();
    of_tensor[0] = tensor.clone().into_any();
    let made = plain.call(PyTuple::new(args.py(), of_tensor)?, kwargs)?;
    if made.get_type().is(&class) {
        return Ok(made);
    }
    // Of another tensor it is a view, through which gradients go; of numbers it is a tensor by itself.
    if made.call_method0("_is_view")?.is_truthy()? || !made.get_type().is(tensor) {
        return made.call_method1("as_subclass", (class,));
    }
    tensor.call_method1("_make_subclass", (class, made))
}
