//! PyTorch's ops as its dispatch mode hands them over, and the callable that stands in that place.

use super::state::{self, State, with_thread};
use super::{clock, frames, outside, passing, paths};
use crate::event::{Context, Thread, Timing, Told};
use crate::modules;
use crate::names::Kind;
use crate::names::in_graph;
use crate::ours;
use crate::stand_in::stand_in;
use crate::table::ArrayWord;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFunction, PyTuple};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// The `__torch_dispatch__` of a mode: runs the op and tells `after(func, args, kwargs, result, own, gap)`, which gives
/// back nothing, or an exception that the script is to get.
///
/// `before(func, args, kwargs)` is told of each op that is about to run, and may give back an exception in its place;
/// `refused()` is told that PyTorch got no memory for one: it answers whether to try again. Ops that are not `timed` have
/// no values to compute. On the way here and back each takes so much longer, `beside` what is done here, ns.
///
/// It has no Python frame: a warning of the op points at the line that it would point at without us, and a traceback
/// shows nothing of ours.
#[pyclass(frozen, module = "breakeven._native")]
pub(crate) struct Dispatch {
    after: Py<PyAny>,
    timed: bool,
    before: Option<Py<PyAny>>,
    refused: Option<Py<PyAny>>,
    beside: u64,
    failed: AtomicBool,
    /// Overloads met so far, which PyTorch keeps for ever.
    met: Mutex<HashMap<usize, Overload>>,
}

/// What an overload is.
#[derive(Clone, Copy)]
enum Overload {
    Op,
    /// Made of others on every device. Autograd takes such ops apart before a mode sees them; in inference mode nobody has.
    Composite,
    /// What C++ asks of a tensor without values, many a time an op (`prim::device`): no work.
    Question,
}

stand_in! {
    impl Dispatch {
        #[new]
        #[pyo3(signature = (after, timed = true, before = None, refused = None, beside = 0))]
        fn new(
            after: Py<PyAny>,
            timed: bool,
            before: Option<Py<PyAny>>,
            refused: Option<Py<PyAny>>,
            beside: u64,
        ) -> Self {
            Self { after, timed, before, refused, beside, failed: AtomicBool::new(false), met: Mutex::default() }
        }

        #[pyo3(signature = (mode, func, types, args = None, kwargs = None))]
        fn __call__<'py>(
            &self,
            mode: &Bound<'py, PyAny>,
            func: &Bound<'py, PyAny>,
            types: &Bound<'py, PyAny>,
            args: Option<Bound<'py, PyTuple>>,
            kwargs: Option<&Bound<'py, PyDict>>,
        ) -> PyResult<Bound<'py, PyAny>> {
            let py = func.py();
            let op = func.getattr("_op").unwrap_or_else(|_| func.clone());
            let args = args.unwrap_or_else(|| PyTuple::empty(py));
            match self.kind(func) {
                Overload::Question => return answered(&args).map_or_else(|| op.call(&args, kwargs), Ok),
                Overload::Composite if !(self.timed && is_done_otherwise(types, &args)) => {
                    return in_parts(mode, func, &args, kwargs);
                }
                _ => {}
            }
            let enter = |thread: &mut Thread| thread.enter(true).then(|| thread.last_end());
            let entered = state::recording().then(|| with_thread(enter));
            let Some(Some(Some(last_end))) = entered else { return op.call(&args, kwargs) };
            let asked = state::begins(last_end, state::waited_here);
            let all_beside = in_ticks(self.beside);
            let beside = with_thread(|thread| thread.between(all_beside, asked, state::since())).unwrap_or(0);
            with_thread(|thread| thread.recorder_took(beside));
            let told = self.before.as_ref().map(|before| self.noted(py, before.bind(py).call1((func, &args, kwargs))));
            let instead = told.unwrap_or(Ok(()));
            let ran = instead.is_ok();
            let began = clock::now();
            let mut result = instead.and_then(|()| op.call(&args, kwargs));
            if let (Err(error), Some(refused)) = (&result, &self.refused)
                && ran
                && no_memory(py, error)
                && refused.bind(py).call0().is_ok_and(|again| again.is_truthy().unwrap_or(false))
            {
                result = op.call(&args, kwargs);
            }
            let ended = clock::now();
            // A part of the way lies within the op, of which that never is all.
            let within = if self.timed { (all_beside - beside).min(ended.saturating_sub(began) / 4 * 3) } else { 0 };
            let own_began = began + within;
            // A signal that came meanwhile is the script's, and not for what is called next to hear of.
            let signalled = py.check_signals();
            // What the report itself calls is none of the script's: the call stays closed until it has been told.
            if let Ok(given) = &result {
                let timing = with_thread(|thread| thread.timing(asked, ended, state::since())).unwrap_or_default();
                let own = if self.timed { timing.own.saturating_sub(own_began - asked) } else { 0 };
                let told = self.after.bind(py).call1((func, &args, kwargs, given, own, timing.gap));
                if let Err(error) = signalled.and_then(|()| self.noted(py, told)) {
                    result = Err(error);
                }
            } else if let Err(error) = &result
                && ran
                && no_memory(py, error)
            {
                let text = "PyTorch got no memory for a tensor: `--fake` records the script without values";
                state::with(py, |state| state.recorder.unseen("memory-short", text, 0));
            }
            with_thread(|thread| thread.leave(own_began, ended, state::since()));
            let now = clock::now();
            with_thread(|thread| {
                let untimed = thread.recorded(now, None);
                state::with(py, |state| {
                    state.recorder.pool(thread.id, untimed);
                    // What an op without values takes is no time of the script's.
                    state.recorder.told_ticks += beside
                        + now.saturating_sub(ended) + if self.timed { own_began } else { ended }.saturating_sub(asked);
                    state.ended(thread, own_began, now, None);
                });
            });
            result
        }
    }
}

impl Dispatch {
    fn kind(&self, func: &Bound<'_, PyAny>) -> Overload {
        let key = func.as_ptr() as usize;
        if let Some(known) = self.met.lock().ok().and_then(|met| met.get(&key).copied()) {
            return known;
        }
        let kind = match is_device(func) {
            Ok(true) => Overload::Question,
            _ if made_of_others(func).unwrap_or(false) => Overload::Composite,
            _ => Overload::Op,
        };
        if let Ok(mut met) = self.met.lock() {
            met.insert(key, kind);
        }
        kind
    }

    /// Nothing, or what the script is to get of what one of ours gave back; of its own errors only the first is told.
    fn noted(&self, py: Python<'_>, told: PyResult<Bound<'_, PyAny>>) -> PyResult<()> {
        match told {
            Ok(error) if !error.is_none() => Err(PyErr::from_value(error)),
            Err(error) if ours::is_of_script(py, &error).unwrap_or(false) => Err(error),
            Err(error) if !self.failed.swap(true, Relaxed) => {
                let text = format!("some PyTorch calls could not be described: {error}");
                state::with(py, |state| state.recorder.unseen("hook-failed", &text, 0));
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

/// Whether these arguments have ways of their own: a class of tensors (as those without values are one), or rows of unlike
/// length.
fn is_done_otherwise(types: &Bound<'_, PyAny>, args: &Bound<'_, PyTuple>) -> bool {
    let is_nested =
        |arg: Bound<'_, PyAny>| arg.getattr("is_nested").is_ok_and(|nested| nested.is_truthy().unwrap_or(false));
    types.is_truthy().unwrap_or(false) || args.iter().any(is_nested)
}

fn is_device(func: &Bound<'_, PyAny>) -> PyResult<bool> {
    Ok(func.call_method0("name")?.extract::<String>()?.starts_with("prim::device"))
}

/// The device that a tensor without values says it is on.
fn answered<'py>(args: &Bound<'py, PyTuple>) -> Option<Bound<'py, PyAny>> {
    let tensor = args.get_item(0).ok()?;
    // While a kernel for its shape alone runs it is on none.
    let invoked = tensor.getattr("fake_mode").and_then(|mode| mode.getattr("in_kernel_invocation")?.is_truthy());
    if invoked.unwrap_or(true) { None } else { tensor.getattr("fake_device").ok() }
}

fn made_of_others(func: &Bound<'_, PyAny>) -> PyResult<bool> {
    if is_higher_order(func)? {
        return Ok(true);
    }
    let has = func.py().import("torch._C")?.getattr("_dispatch_has_kernel_for_dispatch_key")?;
    let name = func.call_method0("name")?;
    let kernel = |key: &str| has.call1((&name, key))?.is_truthy();
    Ok(kernel("CompositeImplicitAutograd")? && !kernel("CPU")? && !kernel("CUDA")? && !kernel("MPS")?)
}

/// Whether it takes functions: `cond`, `flex_attention`.
fn is_higher_order(func: &Bound<'_, PyAny>) -> PyResult<bool> {
    Ok(!func.hasattr("_schema")?)
}

/// Runs a composite op so that `mode` sees the ops in it. No Python frame comes between, as [`Dispatch`] promises.
fn in_parts<'py>(
    mode: &Bound<'py, PyAny>,
    func: &Bound<'py, PyAny>,
    args: &Bound<'py, PyTuple>,
    kwargs: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    if is_higher_order(func)? {
        return func.py().import("breakeven.torch.trace.higher_order")?.call_method1("run", (mode, func, args, kwargs));
    }
    let core = func.py().import("torch._C")?;
    let keys = core.getattr("DispatchKey")?;
    let key = keys.getattr("CompositeImplicitAutograd")?;
    let with_key = PyTuple::new(func.py(), [key])?.as_sequence().concat(args.as_sequence())?.to_tuple()?;
    let direct = func.getattr("_op_dk")?;
    let cast = AUTOCAST.get().then(|| keys.getattr("AutocastCPU")).transpose()?;
    let exclude = |key: &Bound<'py, PyAny>, excluded: bool| {
        core.call_method1("_dispatch_tls_set_dispatch_key_excluded", (key, excluded))
    };
    match &cast {
        Some(key) if is_cast(func, &core, key)? => AUTOCAST.set(false),
        Some(key) => _ = exclude(key, false)?,
        None => {}
    }
    core.call_method1("_push_on_torch_dispatch_stack", (mode,))?;
    let result = direct.call(with_key, kwargs);
    core.call_method1("_pop_torch_dispatch_stack", (func.py().None(),))?;
    if let Some(key) = &cast {
        AUTOCAST.set(true);
        exclude(key, true)?;
    }
    result
}

thread_local! {
    /// Whether the ops of this thread are cast by `torch.autocast`, which is off for whatever a mode calls: what has been
    /// cast is not cast again. A composite op that comes whole, and that autocast does not know, has not been.
    static AUTOCAST: Cell<bool> = const { Cell::new(false) };
}

/// Whether autocast knows an op: what that is made of is computed in the precision that the whole was given.
fn is_cast(func: &Bound<'_, PyAny>, core: &Bound<'_, PyModule>, key: &Bound<'_, PyAny>) -> PyResult<bool> {
    let asked = (func.call_method0("name")?, key.getattr("name")?);
    let has = core.call_method1("_dispatch_has_kernel_for_dispatch_key", &asked)?.is_truthy()?;
    Ok(has && !core.call_method1("_dispatch_kernel_for_dispatch_key_is_fallthrough", asked)?.is_truthy()?)
}

/// `torch.autocast` is on for the CPU from here on in this thread, or off.
#[pyfunction]
pub(crate) fn autocast_is(on: bool) {
    AUTOCAST.set(on);
}

/// The `__torch_function__` of a mode: what `handlers` have for a function is called with `(args, kwargs)`, `other(func,
/// args, kwargs)` where a `device`, pinned memory or a generator is named, else the function itself. A function of Python's
/// is first what `unpatched` gives for it. Each call takes so much longer, `beside` what is done here, ns, and in steps that
/// go `unwatched`. It has no Python frame, as [`Dispatch`].
#[pyclass(frozen, module = "breakeven._native")]
pub(crate) struct Function {
    handlers: Py<PyDict>,
    other: Py<PyAny>,
    unpatched: Py<PyAny>,
    beside: u64,
    unwatched: u64,
}

stand_in! {
    impl Function {
        #[new]
        #[pyo3(signature = (handlers, other, unpatched, beside = 0, unwatched = 0))]
        fn new(handlers: Py<PyDict>, other: Py<PyAny>, unpatched: Py<PyAny>, beside: u64, unwatched: u64) -> Self {
            Self { handlers, other, unpatched, beside, unwatched }
        }

        #[pyo3(signature = (_mode, func, _types, args = None, kwargs = None))]
        fn __call__<'py>(
            &self,
            _mode: &Bound<'py, PyAny>,
            func: &Bound<'py, PyAny>,
            _types: &Bound<'py, PyAny>,
            args: Option<Bound<'py, PyTuple>>,
            kwargs: Option<Bound<'py, PyDict>>,
        ) -> PyResult<Bound<'py, PyAny>> {
            let py = func.py();
            paths::called(py)?;
            if modules::unwatched() {
                with_thread(|thread| thread.took_unwatched(self.unwatched));
            } else if self.beside > 0 && state::recording() {
                let between = |thread: &mut Thread| thread.between(in_ticks(self.beside), clock::now(), state::since());
                let beside = with_thread(|thread| if thread.is_idle() { between(thread) } else { 0 });
                outside::recorder_took(py, beside.unwrap_or(0));
            }
            let args = args.unwrap_or_else(|| PyTuple::empty(py));
            let unpatched = func.is_instance_of::<PyFunction>().then(|| self.unpatched.bind(py).call1((func,)));
            let func = unpatched.transpose()?.unwrap_or_else(|| func.clone());
            if let Some(handler) = self.handlers.bind(py).get_item(&func)? {
                return handler.call1((args, kwargs.unwrap_or_else(|| PyDict::new(py))));
            }
            if kwargs.as_ref().is_some_and(passing::names) {
                return self.other.bind(py).call1((func, args, kwargs));
            }
            call_noted(&func, args, kwargs)
        }
    }
}

/// Positional arguments and keywords of a call.
type Arguments = (Py<PyTuple>, Option<Py<PyDict>>);

thread_local! {
    /// What the functions of PyTorch's API that are running in this thread were called with, innermost last.
    static GIVEN: RefCell<Vec<Arguments>> = const { RefCell::new(Vec::new()) };
}

/// Notes what a function is called with until it is dropped.
struct Given;

impl Given {
    fn to(args: &Bound<'_, PyTuple>, kwargs: Option<&Bound<'_, PyDict>>) -> Self {
        let given = (args.clone().unbind(), kwargs.map(|kwargs| kwargs.clone().unbind()));
        GIVEN.with_borrow_mut(|all| all.push(given));
        Self
    }
}

impl Drop for Given {
    fn drop(&mut self) {
        // Outside the borrow: dropping arguments may call into PyTorch.
        drop(GIVEN.with_borrow_mut(Vec::pop));
    }
}

/// Calls a function of PyTorch's API, and notes with what while it runs.
#[pyfunction]
#[pyo3(signature = (func, args, kwargs = None))]
pub(crate) fn call_noted<'py>(
    func: &Bound<'py, PyAny>,
    args: Bound<'py, PyTuple>,
    kwargs: Option<Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let _given = Given::to(&args, kwargs.as_ref());
    func.call(args, kwargs.as_ref())
}

/// What the innermost function of PyTorch's API that is running was called with.
#[pyfunction]
pub(crate) fn called_with(py: Python<'_>) -> Option<Arguments> {
    GIVEN.with_borrow(|all| {
        let (args, kwargs) = all.last()?;
        Some((args.clone_ref(py), kwargs.as_ref().map(|kwargs| kwargs.clone_ref(py))))
    })
}

/// Whether this is PyTorch's word for memory that it did not get.
fn no_memory(py: Python<'_>, error: &PyErr) -> bool {
    error.is_instance_of::<PyRuntimeError>(py) && error.value(py).to_string().contains("can't allocate memory")
}

/// Instead of a layout: memory that is used, and no array.
const MEMORY_ONLY: u8 = 255;

/// Type number, bytes of an element, layout (0 rows first, 1 columns first, 2 strided, 3 channels last, 4 rows with gaps between
/// them; and eight times as many as its first axes that repeat the same memory), dims, storage
/// (0 for none).
pub(crate) type Described = (u8, u32, u8, Vec<isize>, u64);

fn array(described: &Described, output: bool) -> ArrayWord {
    let &(type_num, itemsize, layout, ref dims, _) = described;
    let (layout, repeated) = (layout % 8, layout / 8);
    ArrayWord {
        type_num,
        ndim: dims.len().min(64) as u8,
        output,
        c_contiguous: layout == 0,
        f_contiguous: layout == 1,
        channels_last: layout == 3,
        rows: layout == 4,
        repeated,
        itemsize,
    }
}

/// One op on tensors; whether it counts as one. `apart`: it is no part of a step of a loop, but told each time, as what
/// the host reads is by default.
#[pyfunction]
#[pyo3(signature = (name, inputs, outputs, keywords, context, own, gap, apart = None))]
#[expect(clippy::too_many_arguments, reason = "one call from Python an event, by position")]
pub(crate) fn tensor_event(
    py: Python<'_>,
    name: &str,
    inputs: Vec<Described>,
    outputs: Vec<Described>,
    keywords: Vec<(String, String)>,
    context: u32,
    own: u64,
    gap: u64,
    apart: Option<bool>,
) -> bool {
    let (thread, beside) = with_thread(|thread| (thread.id, thread.beside)).unwrap_or_default();
    let counts = state::with(py, |state| {
        let State { recorder, codes, call, paths, .. } = state;
        // SAFETY: `py` proves that the lock is held.
        let Some([user, at, _]) = (unsafe { frames::place(codes) }) else { return false };
        let name = recorder.names.intern_with(name, keywords);
        // SAFETY: as above.
        let path = unsafe { frames::path(codes) };
        let told = match (paths.aside, paths.passes(path)) {
            _ if beside || apart.unwrap_or_else(|| recorder.names.kind(name) == Kind::HostReads) => Told::Apart,
            (true, true) => Told::WithItsStep,
            (true, false) => Told::Apart,
            (false, _) => Told::InStep(path.unwrap_or(0)),
        };
        // Ops of other threads do not tell where the script is.
        if let (Told::WithItsStep, Some(path)) = (told, path)
            && paths.has_ops(path)
        {
            paths::comes_to(path, true);
        }
        call.begin(name, thread, [user, at, context.into()]);
        call.in_context();
        let mut storages = Vec::with_capacity(inputs.len() + outputs.len());
        for (list, output) in [(&inputs, false), (&outputs, true)] {
            for described in list {
                if described.2 != MEMORY_ONLY {
                    call.array(array(described, output), &described.3[..described.3.len().min(64)]);
                }
                storages.push((described.4, output));
            }
        }
        if told == Told::Apart {
            modules::come_to(recorder);
        }
        let counts = recorder.record_tensors(call, Timing { own, gap }, &storages, told, |recorder| {
            let module = recorder.contexts.list[context as usize].module.clone();
            let site = breakeven::workload::Site { module, ..frames::site(py, codes) };
            recorder.sites.intern(site)
        });
        if let (true, Told::InStep(_), Some(path)) = (counts, told, path) {
            paths.ran(path);
        }
        counts
    });
    counts.unwrap_or_default()
}

/// The number of what an op is told apart by besides its place.
#[pyfunction]
#[pyo3(signature = (phase=None, device=None, stream=None, module=None, graph=None, aside=false))]
pub(crate) fn tensor_context(
    py: Python<'_>,
    phase: Option<&str>,
    device: Option<String>,
    stream: Option<u32>,
    module: Option<String>,
    graph: Option<&str>,
    aside: bool,
) -> PyResult<u32> {
    let graph = graph.map(in_graph).transpose()?;
    let context = Context { phase: phase.and_then(crate::event::phase), device, stream, module, graph, aside };
    Ok(state::with(py, |state| state.recorder.contexts.intern(context)).unwrap_or_default())
}

/// A storage; its number.
#[pyfunction]
pub(crate) fn storage_new(py: Python<'_>, bytes: u64, role: usize, host: bool, made: bool) -> u64 {
    state::with(py, |state| state.recorder.tensors.add(bytes, role, host, made)).unwrap_or_default()
}

/// Its memory was given back; `_gone` is what died of it, where that tells.
#[pyfunction]
#[pyo3(signature = (id, _gone = None))]
pub(crate) fn storage_freed(py: Python<'_>, id: u64, _gone: Option<&Bound<'_, PyAny>>) {
    state::with(py, |state| state.recorder.tensors.freed(id));
}

/// It is as long as this now.
#[pyfunction]
pub(crate) fn storage_resized(py: Python<'_>, id: u64, bytes: u64) {
    state::with(py, |state| state.recorder.tensors.resized(id, bytes));
}

/// It is for this.
#[pyfunction]
pub(crate) fn storage_role(py: Python<'_>, id: u64, role: usize) {
    state::with(py, |state| state.recorder.tensors.assign(id, role));
}

/// It is in the host's memory, or the device's, from now on.
#[pyfunction]
pub(crate) fn storage_side(py: Python<'_>, id: u64, host: bool) {
    state::with(py, |state| state.recorder.tensors.move_to(id, host));
}

/// The script has its tensors on a device by itself.
#[pyfunction]
pub(crate) fn sides_known(py: Python<'_>) {
    state::with(py, |state| {
        state.recorder.sides_known = true;
        state.recorder.tensors.reset_peak();
    });
}

/// Unwatched steps left so many bytes more than the last watched one had.
#[pyfunction]
pub(crate) fn storage_left(py: Python<'_>, more: u64) {
    state::with(py, |state| state.recorder.tensors.steps_left(more));
}

/// Live and peak bytes on the device, for the script; `reset` begins its peak anew.
#[pyfunction]
#[pyo3(signature = (reset=false))]
pub(crate) fn storage_bytes(py: Python<'_>, reset: bool) -> (u64, u64) {
    let bytes = state::with(py, |state| {
        if reset {
            state.recorder.tensors.ask_anew();
        }
        (state.recorder.tensors.live_bytes(), state.recorder.tensors.asked_peak_bytes())
    });
    bytes.unwrap_or_default()
}

/// A data loader of this thread begins to work, or has ended; whether one was at work before.
#[pyfunction]
pub(crate) fn loading(on: bool) -> bool {
    with_thread(|thread| thread.load(on)).unwrap_or(false)
}

/// What this thread does is part of no step from now on, or may be; whether it was part of none before.
#[pyfunction]
pub(crate) fn beside(on: bool) -> bool {
    with_thread(|thread| std::mem::replace(&mut thread.beside, on)).unwrap_or(false)
}

/// A step of a loop ends here; see [`crate::steps::Steps::end`]. `whole` false: what ran since is no step.
#[pyfunction]
pub(crate) fn step_end(py: Python<'_>, whole: bool) -> u64 {
    with_thread(Thread::take_loaded);
    let hash = state::with(py, |state| {
        paths::next_step(&mut state.codes);
        let steps = &mut state.recorder.steps;
        if whole {
            state.recorder.tensors.step_ends();
            state.paths.end();
            steps.end()
        } else {
            state.paths.forget();
            steps.forget_open();
            0
        }
    });
    hash.unwrap_or_default()
}

/// What this thread has done since its last event is none of the script's code.
#[pyfunction]
pub(crate) fn no_gap(py: Python<'_>) {
    let now = clock::now();
    let untimed = with_thread(|thread| (thread.id, thread.passed(now)));
    state::with(py, |state| untimed.into_iter().for_each(|(thread, ticks)| state.recorder.pool(thread, ticks)));
}

fn in_ticks(ns: u64) -> u64 {
    (ns as f64 * clock::ticks_per_ns()) as u64
}

/// The step `back` steps ago ran again, in `ns`, unwatched; without values, as long as it took then. Other programs took
/// `others` ns more of it, and the recorder `ours`. What comes next has no gap before it.
pub(super) fn step_again(py: Python<'_>, back: usize, ns: u64, valueless: bool, others: u64, ours: u64) {
    let ticks = in_ticks(ns);
    // What NumPy took in the loader is recorded as it is.
    let ticks = ticks.saturating_sub(with_thread(Thread::take_loaded).unwrap_or(0));
    let now = clock::now();
    let untimed = with_thread(|thread| (thread.id, thread.passed(now)));
    state::with(py, |state| {
        paths::next_step(&mut state.codes);
        let own = if valueless { state.recorder.steps.took(back).min(ticks) } else { ticks };
        state.recorder.told_ticks += ticks - own + in_ticks(ours);
        state.recorder.step_again(back, own);
        if others > 0 {
            state.recorder.others_took_of_step(in_ticks(others));
        }
        untimed.into_iter().for_each(|(thread, ticks)| state.recorder.pool(thread, ticks));
    });
}

/// The step that is watched calls an outermost module.
#[pyfunction]
pub(crate) fn step_calls(py: Python<'_>) {
    state::with(py, |state| state.recorder.steps.call_begins());
}

/// The step `back` steps ago ran again unwatched, as far as the path that it has come to, or `before` that, with so many
/// `calls` of outermost modules; whether it left out some of that.
#[pyfunction]
#[pyo3(signature = (back, calls, before = false))]
pub(crate) fn step_in_part(py: Python<'_>, back: usize, calls: usize, before: bool) -> bool {
    let came = paths::has_come_to();
    state::with(py, |state| state.recorder.step_in_part(back, &came, calls, before)).unwrap_or_default()
}

/// The system's monotonic clock, ns; no reading of the script's. (Ticks would do for points in time only if their rate
/// were known from the start.)
#[pyfunction]
pub(crate) fn clock_ns() -> u64 {
    clock::monotonic_ns()
}

/// The recorder's own clock, in which `own` and `gap` are.
#[pyfunction]
pub(crate) fn clock_ticks() -> u64 {
    clock::now()
}

/// From now on a GPU that is not there, with so much memory, is imitated for PyTorch.
#[pyfunction]
pub(crate) fn pretend(py: Python<'_>, memory: u64) {
    state::with(py, |state| {
        state.recorder.pretends = true;
        state.recorder.tensors.limit = Some(memory);
    });
}

/// Bytes of the last storage that its memory had no room for, once.
#[pyfunction]
pub(crate) fn storage_refused(py: Python<'_>) -> Option<u64> {
    state::with(py, |state| state.recorder.tensors.refused()).flatten()
}

/// The program has done without what its memory had no room for.
#[pyfunction]
pub(crate) fn storage_done_without(py: Python<'_>) {
    state::with(py, |state| state.recorder.tensors.did_without());
}
