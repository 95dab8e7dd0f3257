//! The loop whose steps go unwatched, for Python: [`crate::steady`] by the system's clocks and PyTorch's counters.

use super::torch::step_again;
use super::{clock, paths, sampler, state};
use crate::modules;
use crate::steady::{Clocks, Counters, Next, Signal, Steady};
use crate::waited;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyInt, PyList, PyTuple, PyType};
use std::sync::OnceLock;

/// What is told of a step whose ops were not seen, or not all, when it turned out to do something else.
const IN_PART: &str = "a step of a loop that had been steady did something else, a part of it unwatched";

/// Processor time of this process, ns, but for what sampling it has taken.
fn spent_ns() -> u64 {
    clock::of_process_ns().saturating_sub(sampler::spent_ns())
}

/// This process, as the system and PyTorch tell of it.
struct System<'py>(Python<'py>);

impl Clocks for System<'_> {
    fn now(&self) -> u64 {
        clock::monotonic_ns()
    }

    fn spent(&self) -> u64 {
        spent_ns()
    }

    fn waited(&self) -> u64 {
        waited::waited_by_all_ns()
    }

    fn processors(&self) -> u64 {
        static COUNTED: OnceLock<u64> = OnceLock::new();
        *COUNTED.get_or_init(|| std::thread::available_parallelism().map_or(1, |count| count.get() as u64))
    }

    fn threads(&self) -> u64 {
        let asked = || self.0.import("torch")?.call_method0("get_num_threads")?.extract();
        asked().unwrap_or(1)
    }
}

/// The moment at which it is made.
#[pyclass(frozen, module = "breakeven._native")]
pub(crate) struct Moment {
    counters: Counters,
    spent: u64,
}

#[pymethods]
impl Moment {
    #[new]
    fn new(py: Python<'_>) -> PyResult<Self> {
        Ok(Self { counters: counters(py, 0)?, spent: spent_ns() })
    }
}

/// The loop that the script runs, whose steps are as [`Steady`] has them.
#[pyclass(module = "breakeven._native")]
#[derive(Default)]
pub(crate) struct Loop {
    steady: Steady,
    /// What the outermost modules are given at each place of a round.
    round: Vec<Vec<Py<PyAny>>>,
    /// What they were given so far in the step that goes on.
    given: Vec<Py<PyAny>>,
    /// Something else was done in it.
    mixed: bool,
    /// Optimizers end the steps.
    optimizes: bool,
}

#[pymethods]
impl Loop {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// A step begins, before which `computed` elements without values were.
    fn begins(&mut self, py: Python<'_>, computed: u64) -> PyResult<()> {
        modules::step_ended();
        self.given.clear();
        self.steady.begins(counters(py, computed)?, &System(py));
        modules::step_begins(self.steady.back());
        Ok(())
    }

    /// What the step that goes on is known by so far: what its outermost modules were given, calls of modules, nodes of PyTorch's
    /// graph; and ns.
    fn so_far(&self, py: Python<'_>) -> PyResult<(Known, u64)> {
        let (Signal { calls, nodes, .. }, took) = self.steady.so_far(0, counters(py, 0)?);
        Ok(((self.given.iter().map(|given| given.clone_ref(py)).collect(), calls, nodes), took))
    }

    /// How many outermost modules were called so far in the step, or what else it was given.
    #[getter]
    fn roots(&self) -> usize {
        self.given.len()
    }

    /// An outermost module is given this.
    fn gives(&mut self, given: Py<PyAny>) {
        self.given.push(given);
    }

    /// An outermost module is called with these arguments, itself the first; whether it is given what steps give it there, on a
    /// path that they take. Not where that is nothing simple, or a mode of the script's would hear of the question.
    pub(crate) fn simply(slf: &Bound<'_, Self>, args: &Bound<'_, PyTuple>) -> bool {
        let py = slf.py();
        let Some(expected) = slf.try_borrow().ok().and_then(|this| this.expected(py)) else { return false };
        let asks = paths::of_steps(py) && function_modes(py).is_ok_and(|height| height == 0);
        let simply = asks && is_simply(&expected, args).unwrap_or(false);
        simply && slf.try_borrow_mut().map(|mut this| this.gives(expected.unbind())).is_ok()
    }

    /// Whether this is what steps give next.
    fn expects(slf: &Bound<'_, Self>, given: &Bound<'_, PyAny>) -> PyResult<bool> {
        let expected = slf.borrow().expected(slf.py());
        expected.map_or(Ok(false), |expected| given.eq(expected))
    }

    /// What it has called and made so far is none of it.
    fn calls_anew(&mut self, py: Python<'_>) -> PyResult<()> {
        self.steady.calls_anew(counters(py, 0)?);
        Ok(())
    }

    /// Whether it has made more nodes, or fewer calls, than steps do at its place.
    fn made_more(&self, py: Python<'_>) -> PyResult<bool> {
        Ok(self.steady.so_far(0, counters(py, 0)?).0.nodes > self.steady.expected().nodes)
    }

    fn called_less(&self, py: Python<'_>) -> PyResult<bool> {
        Ok(self.steady.so_far(0, counters(py, 0)?).0.calls < self.steady.expected().calls)
    }

    /// What was done since a moment is none of the step's.
    fn leave_out(&mut self, py: Python<'_>, since: &Moment) -> PyResult<()> {
        let busy = spent_ns().saturating_sub(since.spent);
        self.steady.leave_out(since.counters, counters(py, 0)?, busy);
        Ok(())
    }

    /// What was done since a moment is known.
    fn know(&mut self, since: &Moment) {
        let busy = spent_ns().saturating_sub(since.spent);
        self.steady.knows(clock::monotonic_ns().saturating_sub(since.counters.clock), busy);
    }

    /// What was done so far in the step is known.
    fn know_all(&mut self, py: Python<'_>) {
        self.steady.knows_until(&System(py));
    }

    /// Steps were as none before.
    fn forget(&mut self) {
        self.steady.forget();
    }

    /// Steps go unwatched from here on: at each place of a round the outermost modules are given this, and so many modules
    /// called and nodes made, which are what `hashes` tell of; a watched one took so long, ns.
    /// `optimizes` says that optimizers end the steps.
    fn settle(&mut self, py: Python<'_>, round: Vec<Known>, hashes: Vec<u64>, took: u64, optimizes: bool) {
        let signal = |(given, calls, nodes): &Known| Signal { roots: given.len(), calls: *calls, nodes: *nodes };
        self.steady.settle(&round.iter().map(signal).collect::<Vec<_>>(), hashes, took, &System(py));
        self.round = round.into_iter().map(|place| place.0).collect();
        (self.mixed, self.optimizes) = (false, optimizes);
    }

    /// How many steps ago the last watched one at that place ended.
    #[getter]
    fn back(&self) -> usize {
        self.steady.back()
    }

    /// For how long the loop is not looked for its end, ns.
    #[getter]
    fn longest(&self) -> u64 {
        self.steady.longest()
    }

    /// Something else is done than steps do.
    fn steps_aside(&mut self) {
        self.steady.asides += 1;
        self.mixed = true;
    }

    /// Whether something else was done in the step that goes on.
    #[getter]
    fn mixed(&self) -> bool {
        self.mixed
    }

    /// What is done from here on is watched.
    fn watched(&mut self) {
        self.mixed = false;
    }

    /// A step ends that went unwatched: it is counted. `None`: the next one goes unwatched, too; whether all are watched from here
    /// on, not only a round.
    fn ended(&mut self, py: Python<'_>, computed: u64, valueless: bool) -> PyResult<Option<bool>> {
        modules::step_ended();
        let mixed = std::mem::take(&mut self.mixed);
        let step = self.steady.ended(self.given.len(), counters(py, computed)?, mixed, valueless, &System(py));
        self.given.clear();
        step_again(py, step.back, step.took, valueless, step.others, step.ours);
        modules::step_begins(self.steady.back());
        if mixed && !step.same {
            differs(py, IN_PART, 0);
        } else if step.extra > 0 || !step.same {
            let what = if step.same { "took longer" } else { "did something else" };
            let text =
                format!("a step of a loop that had been steady {what} while ops were not watched; those after it were");
            differs(py, &text, step.extra);
        }
        Ok(match step.next {
            Next::Unwatched => None,
            Next::Round => Some(false),
            Next::Watched => Some(true),
        })
    }

    /// The step has done something else, so many ns of it unwatched: by default all until now.
    #[pyo3(signature = (ns = None))]
    fn differs(&self, py: Python<'_>, ns: Option<u64>) {
        differs(py, IN_PART, ns.unwrap_or_else(|| self.steady.took(clock::monotonic_ns())));
    }

    /// How long what is not known of the step has gone on, where that is longer than steps take, and the loop may be over, ns.
    fn beyond(&self, py: Python<'_>) -> Option<u64> {
        self.steady.is_longer(&System(py)).then(|| self.steady.unknown(clock::monotonic_ns()))
    }
}

/// What a step is known by: what its outermost modules were given, how often modules were called, nodes made.
type Known = (Vec<Py<PyAny>>, u64, u64);

impl Loop {
    fn expected<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyAny>> {
        Some(self.round.get(self.steady.at())?.get(self.given.len())?.bind(py).clone())
    }

    /// Whether this thread's steps go unwatched, and the one that goes on, which an optimizer is going to end, has done nothing
    /// else so far.
    fn goes_quietly(&self) -> bool {
        self.optimizes && !self.mixed && modules::unwatched_here()
    }

    pub(crate) fn is_quiet(slf: &Bound<'_, Self>) -> bool {
        slf.try_borrow().is_ok_and(|this| this.goes_quietly())
    }

    /// The same of a step in which a module was called, or of which it is known what it was given otherwise.
    pub(crate) fn was_given_quietly(slf: &Bound<'_, Self>) -> bool {
        slf.try_borrow().is_ok_and(|this| this.goes_quietly() && !this.given.is_empty())
    }
}

/// The counters as they stand; without values `computed` elements were asked for, too.
fn counters(py: Python<'_>, computed: u64) -> PyResult<Counters> {
    let clock = clock::monotonic_ns();
    let own = state::with_thread(|thread| thread.own_unwatched(clock)).unwrap_or(0);
    Ok(Counters { clock, calls: modules::calls(), nodes: nodes(py)?, asked: paths::asked() + computed, own })
}

/// Nodes of PyTorch's graph that this thread has made so far.
fn nodes(py: Python<'_>) -> PyResult<u64> {
    static NUMBER: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let find = || PyResult::Ok(py.import("torch._C")?.getattr("_autograd")?.getattr("_get_sequence_nr")?.unbind());
    NUMBER.get_or_try_init(py, find)?.bind(py).call0()?.extract()
}

/// The script's modes that hear of calls of PyTorch's functions, and ours.
fn function_modes(py: Python<'_>) -> PyResult<usize> {
    static HEIGHT: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let find = || PyResult::Ok(py.import("torch._C")?.getattr("_len_torch_function_stack")?.unbind());
    HEIGHT.get_or_try_init(py, find)?.bind(py).call0()?.extract()
}

/// Whether a module is given plain tensors of the same shapes and types as it was before, and otherwise simple values; the
/// module is the first of the arguments.
fn is_simply(before: &Bound<'_, PyAny>, args: &Bound<'_, PyTuple>) -> PyResult<bool> {
    static TENSOR: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let (py, module) = (args.py(), args.get_item(0)?);
    let (address, training, given) = before.extract::<(usize, Bound<'_, PyAny>, Bound<'_, PyList>)>()?;
    let same = module.as_ptr() as usize == address && module.getattr(intern!(py, "training"))?.is(&training);
    if !same || args.len() != 1 + given.len() {
        return Ok(false);
    }
    let tensor = TENSOR.import(py, "torch", "Tensor")?;
    for (value, before) in args.iter().skip(1).zip(&given) {
        let same = if value.get_type().is(tensor) {
            let before = before.cast::<PyTuple>()?;
            let of = |name| value.getattr(name);
            of(intern!(py, "dtype"))?.is(&before.get_item(1)?) && of(intern!(py, "shape"))?.eq(before.get_item(0)?)?
        } else {
            let simple =
                value.is_none() || value.is_exact_instance_of::<PyBool>() || value.is_exact_instance_of::<PyInt>();
            simple && value.get_type().is(&before)
        };
        if !same {
            return Ok(false);
        }
    }
    Ok(true)
}

fn differs(py: Python<'_>, text: &str, ns: u64) {
    state::with(py, |state| state.recorder.unseen("step-differs", text, ns));
}
