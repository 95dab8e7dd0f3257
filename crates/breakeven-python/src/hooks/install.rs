//! Finding what to hook, and hooking it, mechanism by mechanism.

use super::methods::{self, Role};
use super::patch::Refused;
use super::platform::Mappings;
use super::state::{self, State};
use super::ufunc::Shared;
use super::{allocator, array, random, scalar, slots, ufunc};
use breakeven::lower::{Rule, callable, canonical};
use pyo3::ffi::{PyObject, PyTypeObject};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyType};

/// Every mechanism, in the order in which they are installed.
pub(crate) const MECHANISMS: [&str; 12] = [
    "alloc",
    "ufunc",
    "dispatcher",
    "methods",
    "mapping",
    "number",
    "text",
    "iterate",
    "buffer",
    "random",
    "clock",
    "again",
];

/// NumPy's parts, as needed by the mechanisms.
struct Numpy<'py> {
    numpy: Bound<'py, PyModule>,
    umath: Bound<'py, PyModule>,
    ndarray: Bound<'py, PyType>,
    generic: Bound<'py, PyType>,
    ufunc: Bound<'py, PyAny>,
}

impl<'py> Numpy<'py> {
    fn find(py: Python<'py>) -> PyResult<Self> {
        let numpy = py.import("numpy")?;
        let umath =
            py.import("numpy._core._multiarray_umath").or_else(|_| py.import("numpy.core._multiarray_umath"))?;
        let ndarray = numpy.getattr("ndarray")?.cast_into::<PyType>()?;
        let generic = numpy.getattr("generic")?.cast_into::<PyType>()?;
        let ufunc = numpy.getattr("ufunc")?;
        let version: String = numpy.getattr("__version__")?.extract()?;
        array::know(ndarray.as_type_ptr(), generic.as_type_ptr(), !version.starts_with("1."));
        array::know_plain(&numpy.getattr("dtype")?)?;
        array::know_lender(&numpy)?;
        methods::know_keywords();
        Ok(Self { numpy, umath, ndarray, generic, ufunc })
    }
}

/// Learns what an array is, for recorders that hook nothing: its layout is part of NumPy's ABI, 1.x or 2.x.
pub(crate) fn know_arrays(py: Python<'_>) -> PyResult<()> {
    Numpy::find(py).map(drop)
}

/// Hooks one mechanism; why not, where it is refused.
pub(crate) fn mechanism(py: Python<'_>, index: usize) -> PyResult<Result<(), &'static str>> {
    let numpy = Numpy::find(py)?;
    let maps = Mappings::read();
    let outcome = state::with(py, |state| {
        state.patches.mechanism = index;
        match MECHANISMS[index] {
            "alloc" => {
                let capsule = numpy.umath.getattr("_ARRAY_API")?;
                // SAFETY: the capsule is NumPy's own, of a version that the gate let in; all have the default handler.
                Ok(unsafe { allocator::hook(&mut state.patches, &maps, capsule.as_ptr()) })
            }
            "ufunc" => scan(state, &maps, &numpy, Shared::Ufunc).map(|outcome| outcome.map(drop)),
            "dispatcher" => scan(state, &maps, &numpy, Shared::Dispatcher).map(|outcome| outcome.map(drop)),
            "methods" => all_methods(state, &maps, &numpy),
            "mapping" => type_slots(state, &maps, &numpy, &[slots::Kind::Get, slots::Kind::Set]),
            "number" => {
                use slots::Kind::{Bool, Float, Index, Int};
                match type_slots(state, &maps, &numpy, &[Float, Int, Index, Bool])? {
                    Ok(()) => scalars(state, &maps, &numpy),
                    refused => Ok(refused),
                }
            }
            "text" => type_slots(state, &maps, &numpy, &[slots::Kind::Str, slots::Kind::Repr]),
            "iterate" => type_slots(state, &maps, &numpy, &[slots::Kind::Iter]),
            "buffer" => type_slots(state, &maps, &numpy, &[slots::Kind::Buffer]),
            "random" => random_methods(state, &maps, &numpy),
            "again" => {
                // No hook of its own: where frames are not read in place, every call goes the long way.
                state::recognise(super::frames::reads_in_place());
                Ok(Ok(()))
            }
            _ => clocks(py, state, &maps),
        }
    });
    match outcome {
        Some(outcome) => outcome.map(|hooked: Result<(), Refused>| hooked.map_err(Refused::text)),
        None => Ok(Err("the recorder is in use")),
    }
}

/// Puts back the pointers of one mechanism, or of all.
pub(crate) fn undo(py: Python<'_>, mechanism: Option<usize>) {
    if mechanism.is_none_or(|index| MECHANISMS[index] == "again") {
        state::recognise(false);
        state::with(py, |state| state.recorder.forget_lines());
    }
    state::with(py, |state| state.patches.undo(mechanism));
}

/// Mechanisms whose functions come with modules that may be imported at any time.
pub(crate) const LATE: [usize; 3] = [1, 2, 9];

/// Hooks every ufunc, or array function, that a module holds.
fn scan(state: &mut State, maps: &Mappings, numpy: &Numpy<'_>, kind: Shared) -> PyResult<Result<usize, Refused>> {
    let py = numpy.numpy.py();
    let wanted = match kind {
        Shared::Ufunc => numpy.ufunc.clone(),
        Shared::Dispatcher => numpy.numpy.getattr("sum")?.get_type().into_any(),
    };
    if kind == Shared::Dispatcher && wanted.getattr("__name__")?.extract::<String>()? != "_ArrayFunctionDispatcher" {
        return Ok(Err(Refused::Empty));
    }
    let modules = py.import("sys")?.getattr("modules")?.cast_into::<PyDict>()?.copy()?;
    let mut found = 0;
    let mut names = vec!["numpy".to_owned()];
    names.extend(modules.keys().iter().filter_map(|name| name.extract::<String>().ok()));
    for module in names {
        let Some(contents) = modules.get_item(&module)? else { continue };
        let Ok(contents) = contents.getattr("__dict__").and_then(|d| d.cast_into::<PyDict>()?.copy()) else {
            continue;
        };
        for value in contents.values() {
            if !value.get_type().is(&wanted) {
                continue;
            }
            let name = match kind {
                Shared::Ufunc => format!("{module}.{}", value.getattr("__name__")?),
                Shared::Dispatcher => format!("{}.{}", value.getattr("__module__")?, value.getattr("__name__")?),
            };
            match ufunc::hook(state, maps, &value, &canonical(&name), kind) {
                Ok(new) => found += usize::from(new),
                Err(refused) if found == 0 => return Ok(Err(refused)),
                // One ufunc that another tool has wrapped is no reason to lose the others.
                Err(_) => {}
            }
        }
    }
    Ok(Ok(found))
}

/// Whether the table of callables knows the name as array work.
fn is_array_work(name: &str) -> bool {
    callable(name).is_some_and(|row| row.rule != Rule::Nothing)
}

fn all_methods(state: &mut State, maps: &Mappings, numpy: &Numpy<'_>) -> PyResult<Result<(), Refused>> {
    let mut wanted: Vec<(Bound<'_, PyAny>, String, Role)> = Vec::new();
    for item in contents(&numpy.ndarray)?.iter() {
        let (value, name) = (item.1, format!("numpy.ndarray.{}", item.0));
        if is_array_work(&name) && value.get_type().name()? == "method_descriptor" {
            let role = if crate::names::has_axis(&name) { Role::Axis } else { Role::Arrays };
            wanted.push((value, name, role));
        }
    }
    for name in ["reduce", "accumulate", "reduceat", "outer", "at"] {
        wanted.push((numpy.ufunc.getattr(name)?, name.to_owned(), Role::Ufunc));
    }
    for name in ["item", "tolist", "__format__"] {
        wanted.push((numpy.generic.getattr(name)?, format!("numpy.ndarray.{name}"), Role::Scalar));
    }
    for (name, value) in numpy.numpy.dict().iter() {
        let name = format!("numpy.{name}");
        if is_array_work(&name) && value.get_type().name()? == "builtin_function_or_method" {
            wanted.push((value, name, Role::Arrays));
        }
    }
    hook_all(state, maps, wanted)
}

fn random_methods(state: &mut State, maps: &Mappings, numpy: &Numpy<'_>) -> PyResult<Result<(), Refused>> {
    // NumPy imports it at its first use, and so do we.
    let modules = numpy.numpy.py().import("sys")?.getattr("modules")?.cast_into::<PyDict>()?;
    let Some(module) = modules.get_item("numpy.random")? else { return Ok(Ok(())) };
    let mut wanted = Vec::new();
    let default_rng = module.getattr("default_rng")?;
    match random::hook(state, maps, &default_rng, "numpy.random.default_rng") {
        Ok(_) => {}
        Err(_) => wanted.push((default_rng, "numpy.random.default_rng".to_owned(), Role::Arrays)),
    }
    for class in ["Generator", "RandomState"] {
        for (name, value) in contents(module.getattr(class)?.cast::<PyType>()?)?.iter() {
            let name = format!("numpy.random.{class}.{name}");
            // Seeding is no array work, but what it does inside is part of it.
            if callable(&name).is_none() {
                continue;
            }
            match value.get_type().name()?.extract::<&str>()? {
                "cython_function_or_method" => match random::hook(state, maps, &value, &name) {
                    Ok(_) => {}
                    // Those that take a tuple have no pointer of their own, but a definition.
                    Err(Refused::Empty) => wanted.push((value, name, Role::Arrays)),
                    Err(refused) => return Ok(Err(refused)),
                },
                "method_descriptor" => wanted.push((value, name, Role::Arrays)),
                _ => {}
            }
        }
    }
    for (index, class) in SOURCES_OF_RANDOMNESS.into_iter().enumerate() {
        let Some(class) = module.getattr_opt(class)? else { continue };
        let class = class.cast_into::<PyType>()?;
        // One that another tool has changed is no reason to lose the others.
        let _ = random::hook_type(state, maps, &class, index);
        let name = format!("numpy.random.{}", class.name()?);
        // Newer Cython gives a type a function of its own to be called by, past its slot.
        let _ = random::hook(state, maps, &class, &name);
        for method in contents(&class)?.values() {
            // NumPy wraps some of them in a function of Python's.
            let method = method.getattr_opt("__wrapped__")?.unwrap_or(method);
            match method.get_type().name()?.extract::<&str>()? {
                "cython_function_or_method" => drop(random::hook(state, maps, &method, &name)),
                "method_descriptor" if index > 0 => wanted.push((method, name.clone(), Role::Arrays)),
                _ => {}
            }
        }
        hold(state, vec![class]);
    }
    hook_all(state, maps, wanted)
}

/// What random numbers are drawn from: no array work, and what it does inside is part of it.
const SOURCES_OF_RANDOMNESS: [&str; 7] =
    ["RandomState", "SeedSequence", "MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64"];

fn clocks(py: Python<'_>, state: &mut State, maps: &Mappings) -> PyResult<Result<(), Refused>> {
    const CLOCKS: [&str; 10] = [
        "time",
        "time_ns",
        "perf_counter",
        "perf_counter_ns",
        "process_time",
        "process_time_ns",
        "monotonic",
        "monotonic_ns",
        "thread_time",
        "thread_time_ns",
    ];
    let time = py.import("time")?;
    let mut wanted = Vec::new();
    for name in CLOCKS {
        if let Some(clock) = time.getattr_opt(name)? {
            wanted.push((clock, format!("time.{name}"), Role::Clock));
        }
    }
    // NumPy has imported it, and a class that stands in for C's is passed over. `today` asks `time.time`.
    let date = py.import("datetime")?.getattr("datetime")?;
    for name in ["now", "utcnow"] {
        if let Some(clock) = date.getattr_opt(name)? {
            wanted.push((clock, format!("datetime.{name}"), Role::Clock));
        }
    }
    wanted.push((time.getattr("sleep")?, "time.sleep".to_owned(), Role::Idle));
    wanted.push((py.import("builtins")?.getattr("input")?, "input".to_owned(), Role::Idle));
    hook_all(state, maps, wanted)
}

fn hook_all(
    state: &mut State,
    maps: &Mappings,
    wanted: Vec<(Bound<'_, PyAny>, String, Role)>,
) -> PyResult<Result<(), Refused>> {
    for (object, name, role) in wanted {
        let Some(definition) = methods::definition(&object) else { continue };
        let index = state.recorder.names.intern(&name);
        let atomic = state.recorder.names.is_atomic(index);
        // SAFETY: definitions of NumPy's, of `time` and of `builtins` are static.
        let hooked = unsafe { methods::hook(&mut state.patches, maps, definition, index, atomic, role) };
        match hooked {
            Ok(()) | Err(Refused::Foreign) => {}
            Err(refused) => return Ok(Err(refused)),
        }
    }
    Ok(Ok(()))
}

fn type_slots(
    state: &mut State,
    maps: &Mappings,
    numpy: &Numpy<'_>,
    kinds: &[slots::Kind],
) -> PyResult<Result<(), Refused>> {
    let types = with_subclasses(&numpy.ndarray)?;
    let dict = contents(&numpy.ndarray)?;
    for &kind in kinds {
        let names = slots::SlotNames {
            own: state.recorder.names.intern(&format!("numpy.ndarray.{}", kind.name())),
            item: state.recorder.names.intern("numpy.ndarray.item"),
        };
        let wrapper =
            dict.get_item(kind.name())?.filter(|w| w.get_type().name().is_ok_and(|name| name == "wrapper_descriptor"));
        let pointers: Vec<*mut PyTypeObject> = types.iter().map(Bound::as_type_ptr).collect();
        let wrappers: Vec<*mut PyObject> = wrapper.iter().map(Bound::as_ptr).collect();
        // SAFETY: the types are held below; the wrapper belongs to the first.
        let hooked = unsafe { slots::hook(&mut state.patches, maps, kind, &names, &pointers, &wrappers) };
        if let Err(refused) = hooked {
            return Ok(Err(refused));
        }
    }
    hold(state, types);
    Ok(Ok(()))
}

fn scalars(state: &mut State, maps: &Mappings, numpy: &Numpy<'_>) -> PyResult<Result<(), Refused>> {
    let bool_type = numpy.numpy.getattr("bool_")?;
    let types = with_subclasses(&numpy.generic)?;
    for of in &types {
        if of.getattr("__module__")?.extract::<String>()? != "numpy" {
            continue;
        }
        let names = &mut state.recorder.names;
        // SAFETY: a scalar type of NumPy's own, which is static.
        let hooked = unsafe {
            scalar::hook(&mut state.patches, maps, of.as_type_ptr(), of.is(&bool_type), |name| names.intern(name))
        };
        if let Err(refused) = hooked {
            return Ok(Err(refused));
        }
    }
    hold(state, types);
    Ok(Ok(()))
}

fn hold(state: &mut State, types: Vec<Bound<'_, PyType>>) {
    for of in types {
        if !state.objects.held.iter().any(|held| held.is(&of)) {
            state.objects.held.push(of.into_any().unbind());
        }
    }
}

/// What a type's own `__dict__` holds.
fn contents<'py>(of: &Bound<'py, PyType>) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(of.py());
    dict.update(of.getattr("__dict__")?.cast::<pyo3::types::PyMapping>()?)?;
    Ok(dict)
}

/// The type, then all its subclasses, each once.
fn with_subclasses<'py>(of: &Bound<'py, PyType>) -> PyResult<Vec<Bound<'py, PyType>>> {
    let mut all = vec![of.clone()];
    let mut next = 0;
    while next < all.len() {
        let subclasses = all[next].call_method0("__subclasses__")?.cast_into::<PyList>()?;
        for subclass in subclasses.iter() {
            let subclass = subclass.cast_into::<PyType>()?;
            if !all.iter().any(|known| known.is(&subclass)) {
                all.push(subclass);
            }
        }
        next += 1;
    }
    Ok(all)
}
