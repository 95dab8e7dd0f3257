//! Where a GPU is imitated, calls of PyTorch's API pass through a function mode, which takes a microsecond or two each. While
//! steps go unwatched that mode is off within what they call as a whole: a module, an optimizer, a loader. The functions that
//! it does anything for are stood in for, and have it on while they run.

use crate::modules;
use crate::stand_in::stand_in;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyString, PyTuple};
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// The mode, what PyTorch has for its stack of modes in each thread, and what tells of tensors where calls do not pass.
struct Stack {
    mode: Py<PyAny>,
    push: Py<PyAny>,
    pop: Py<PyAny>,
    height: Py<PyAny>,
    at: Py<PyAny>,
    /// Whether a tensor really is the host's.
    is_cpu: Py<PyAny>,
    /// Classes of tensors that are PyTorch's own.
    plain: Py<PyTuple>,
    /// Storages that are known.
    live: Py<PyDict>,
}

static STACK: PyOnceLock<Stack> = PyOnceLock::new();
/// Calls pass through the mode, and not all of them have to.
static MAY_BE_OFF: AtomicBool = AtomicBool::new(false);

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    On,
    /// Calls do not pass through it.
    Off,
    /// On while a function runs that it does something for, and off before and after that.
    Within,
}

thread_local! {
    static MODE: Cell<Mode> = const { Cell::new(Mode::On) };
}

impl Stack {
    fn is_alone(&self, py: Python<'_>) -> PyResult<bool> {
        let height: usize = self.height.bind(py).call0()?.extract()?;
        Ok(height == 1 && self.at.bind(py).call1((0,))?.is(&self.mode))
    }

    /// The device of one of the host's tensors whose storage is known, and where it is; `None` of others.
    fn device<'py>(&self, tensor: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let (py, class) = (tensor.py(), tensor.get_type());
        let is_plain = self.plain.bind(py).iter_borrowed().any(|plain| class.is(&*plain));
        if !is_plain || !self.is_cpu.bind(py).call1((tensor,))?.is_truthy()? {
            return Ok(None);
        }
        let storage = tensor.call_method0(intern!(py, "untyped_storage"))?;
        let Some(known) = self.live.bind(py).get_item(storage.getattr(intern!(py, "_cdata"))?)? else {
            return Ok(None);
        };
        if known.getattr(intern!(py, "adrift"))?.is_truthy()? {
            return Ok(None);
        }
        let device = known.getattr(intern!(py, "device"))?;
        Ok(Some(if device.is_none() { intern!(py, "cpu").clone().into_any() } else { device }))
    }

    /// Puts the mode below those that are there.
    fn push_below(&self, py: Python<'_>) -> PyResult<()> {
        let height: usize = self.height.bind(py).call0()?.extract()?;
        let above = (0..height).map(|_| self.pop.bind(py).call0()).collect::<PyResult<Vec<_>>>()?;
        self.push.bind(py).call1((&self.mode,))?;
        above.into_iter().rev().try_for_each(|mode| self.push.bind(py).call1((mode,)).map(drop))
    }
}

fn stack(py: Python<'_>) -> Option<&'static Stack> {
    STACK.get(py).filter(|_| MAY_BE_OFF.load(Relaxed))
}

/// Calls pass through this mode, and need not everywhere; `core` is `torch._C`, `plain` are PyTorch's own classes of tensors,
/// `live` the storages that are known. A second mode is not taken.
#[pyfunction]
pub(crate) fn calls_pass(
    mode: Py<PyAny>,
    core: &Bound<'_, PyAny>,
    plain: Py<PyTuple>,
    live: Py<PyDict>,
) -> PyResult<()> {
    let of_core = |name: &str| core.getattr(name).map(Bound::unbind);
    let stack = Stack {
        mode,
        push: of_core("_push_on_torch_function_stack")?,
        pop: of_core("_pop_torch_function_stack")?,
        height: of_core("_len_torch_function_stack")?,
        at: of_core("_get_function_stack_at")?,
        is_cpu: core.getattr("TensorBase")?.getattr("is_cpu")?.getattr("__get__")?.unbind(),
        plain,
        live,
    };
    MAY_BE_OFF.store(STACK.set(core.py(), stack).is_ok(), Relaxed);
    Ok(())
}

/// From now on all calls have to pass.
#[pyfunction]
pub(crate) fn calls_must_pass(py: Python<'_>) {
    mode_on(py);
    MAY_BE_OFF.store(false, Relaxed);
}

/// Takes the mode off, where steps go unwatched in this thread and the script has no modes of its own; whether it did.
pub(crate) fn mode_off(py: Python<'_>) -> bool {
    if MODE.get() != Mode::On || !modules::unwatched_here() {
        return false;
    }
    let Some(stack) = stack(py) else { return false };
    let off = stack.is_alone(py).unwrap_or(false) && stack.pop.bind(py).call0().is_ok();
    if off {
        MODE.set(Mode::Off);
    }
    off
}

/// What `mode_off` gave back is over: the mode is on again where that had taken it off.
pub(crate) fn mode_back(py: Python<'_>, off: bool) {
    if off {
        mode_on(py);
    }
}

/// The mode is on from here on, whoever has taken it off.
#[pyfunction]
pub(crate) fn mode_on(py: Python<'_>) {
    if MODE.replace(Mode::On) == Mode::Off
        && let Some(stack) = stack(py)
    {
        drop(stack.push_below(py));
    }
}

/// Whether calls pass through the mode, and through none of the script's.
pub(super) fn is_alone(py: Python<'_>) -> bool {
    MODE.get() == Mode::On && stack(py).is_some_and(|stack| stack.is_alone(py).unwrap_or(false))
}

/// Whether calls of this thread do not pass through the mode, that is why it is not on the stack.
#[pyfunction]
pub(crate) fn is_mode_off() -> bool {
    MODE.get() == Mode::Off
}

/// Calls something that the mode does something for.
fn within<'py>(py: Python<'py>, call: impl FnOnce() -> PyResult<Bound<'py, PyAny>>) -> PyResult<Bound<'py, PyAny>> {
    let Some(stack) = (MODE.get() == Mode::Off).then(|| stack(py)).flatten() else { return call() };
    stack.push.bind(py).call1((&stack.mode,))?;
    MODE.set(Mode::Within);
    let outcome = call();
    // It may have been noticed that steps do not do this: then the mode stays.
    if MODE.get() == Mode::Within {
        MODE.set(Mode::Off);
        stack.pop.bind(py).call0()?;
    }
    outcome
}

/// Stands in for a function that the mode does something for, or does so only where a `device`, a generator, pinned memory
/// or the type of a product is named; or it is `filled`: that of a number which stays on the host is nothing.
#[pyclass(dict, weakref, frozen, module = "breakeven._native")]
pub(crate) struct Passing {
    function: Py<PyAny>,
    named: bool,
    filled: bool,
}

stand_in! {
    impl Passing as function {
        #[new]
        #[pyo3(signature = (function, named = false, filled = false))]
        fn new(function: Py<PyAny>, named: bool, filled: bool) -> Self {
            Self { function, named, filled }
        }

        #[pyo3(signature = (*args, **kwargs))]
        fn __call__<'py>(
            &self,
            args: &Bound<'py, PyTuple>,
            kwargs: Option<&Bound<'py, PyDict>>,
        ) -> PyResult<Bound<'py, PyAny>> {
            let py = args.py();
            let call = || self.function.bind(py).call(args, kwargs);
            let named = || kwargs.is_some_and(|kwargs| names(kwargs) || kwargs.contains("out_dtype").unwrap_or(true));
            let passes = if self.named { named() } else { !(self.filled && is_hosts_number(args, kwargs)) };
            if passes { within(py, call) } else { call() }
        }
    }
}

/// Whether a tensor is filled with this number alone, and stays on the host.
fn is_hosts_number(args: &Bound<'_, PyTuple>, kwargs: Option<&Bound<'_, PyDict>>) -> bool {
    let number =
        |given: &Bound<'_, PyAny>| given.is_exact_instance_of::<PyFloat>() || given.is_exact_instance_of::<PyInt>();
    let host = |device: Bound<'_, PyAny>| device.cast::<PyString>().is_ok_and(|device| device == "cpu");
    let stays = |kwargs: &Bound<'_, PyDict>| {
        kwargs.len() == 1 && kwargs.get_item(intern!(kwargs.py(), "device")).ok().flatten().is_some_and(host)
    };
    args.len() == 1 && args.get_item(0).is_ok_and(|given| number(&given)) && kwargs.is_some_and(stays)
}

/// Stands in for a function of Python's within which calls need not pass while steps go unwatched; `alone`: where it is given
/// nothing but its object, and there is nothing in what that has under these names, nor more than ours in these dictionaries.
#[pyclass(dict, weakref, frozen, module = "breakeven._native")]
pub(crate) struct Whole {
    function: Py<PyAny>,
    alone: bool,
    own_hooks: Vec<Py<PyString>>,
    all_hooks: Vec<Py<PyDict>>,
}

stand_in! {
    impl Whole as function {
        #[new]
        #[pyo3(signature = (function, alone = false, own_hooks = vec![], all_hooks = vec![]))]
        fn new(
            function: Py<PyAny>,
            alone: bool,
            own_hooks: Vec<Py<PyString>>,
            all_hooks: Vec<Py<PyDict>>,
        ) -> Self {
            Self { function, alone, own_hooks, all_hooks }
        }

        #[pyo3(signature = (*args, **kwargs))]
        fn __call__<'py>(
            &self,
            args: &Bound<'py, PyTuple>,
            kwargs: Option<&Bound<'py, PyDict>>,
        ) -> PyResult<Bound<'py, PyAny>> {
            let py = args.py();
            let off = (!self.alone || self.is_alone(args, kwargs)) && mode_off(py);
            let outcome = self.function.bind(py).call(args, kwargs);
            mode_back(py, off);
            outcome
        }
    }
}

impl Whole {
    fn is_alone(&self, args: &Bound<'_, PyTuple>, kwargs: Option<&Bound<'_, PyDict>>) -> bool {
        let py = args.py();
        let has_none = |name: &Py<PyString>| {
            let hooks = args.get_item(0).and_then(|object| object.getattr(name));
            hooks.is_ok_and(|hooks| hooks.is_truthy().is_ok_and(|any| !any))
        };
        args.len() == 1
            && kwargs.is_none_or(PyDictMethods::is_empty)
            && self.all_hooks.iter().all(|hooks| hooks.bind(py).len() <= 1)
            && self.own_hooks.iter().all(has_none)
    }
}

/// Whether these keywords name what the mode looks for.
pub(super) fn names(kwargs: &Bound<'_, PyDict>) -> bool {
    let py = kwargs.py();
    let words = [intern!(py, "device"), intern!(py, "pin_memory"), intern!(py, "generator")];
    let given = |word| kwargs.get_item(word).ok().flatten();
    words.into_iter().filter_map(given).any(|given| !given.is_none() && !given.is(PyBool::new(py, false)))
}

/// Stands in for an attribute of tensors that the mode answers for. Where calls do not pass through it, `told(device)` is what
/// tensors have there of which that is known.
#[pyclass(dict, weakref, frozen, module = "breakeven._native")]
pub(crate) struct PassingAttribute {
    attribute: Py<PyAny>,
    told: Option<Py<PyAny>>,
    /// What it has told of each device.
    known: Py<PyDict>,
}

impl PassingAttribute {
    /// What a tensor has where calls do not pass; `None` where only the mode can tell.
    fn known<'py>(&self, tensor: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let py = tensor.py();
        let Some(told) = self.told.as_ref().filter(|_| is_mode_off()) else { return Ok(None) };
        let Some(device) = stack(py).map(|stack| stack.device(tensor)).transpose()?.flatten() else { return Ok(None) };
        let known = self.known.bind(py);
        if let Some(answer) = known.get_item(&device)? {
            return Ok(Some(answer));
        }
        let answer = told.bind(py).call1((&device,))?;
        known.set_item(device, &answer)?;
        Ok(Some(answer))
    }
}

#[pymethods]
impl PassingAttribute {
    #[new]
    #[pyo3(signature = (attribute, told = None))]
    fn new(py: Python<'_>, attribute: Py<PyAny>, told: Option<Py<PyAny>>) -> Self {
        Self { attribute, told, known: PyDict::new(py).unbind() }
    }

    fn __get__<'py>(
        slf: &Bound<'py, Self>,
        instance: Option<&Bound<'py, PyAny>>,
        owner: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (py, attribute) = (slf.py(), slf.get().attribute.bind(slf.py()));
        let Some(instance) = instance else { return Ok(slf.clone().into_any()) };
        // What PyTorch refuses to tell, of a sparse tensor say, the mode does.
        if let Ok(Some(known)) = slf.get().known(instance) {
            return Ok(known);
        }
        within(py, || attribute.call_method1(intern!(py, "__get__"), (instance, owner)))
    }

    fn __set__(&self, instance: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let py = instance.py();
        self.attribute.bind(py).call_method1(intern!(py, "__set__"), (instance, value)).map(drop)
    }

    fn __getattr__<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        self.attribute.bind(py).getattr(name)
    }

    fn __repr__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.attribute.bind(py).repr().map(Bound::into_any)
    }
}
