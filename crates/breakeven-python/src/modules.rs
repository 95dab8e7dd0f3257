//! Calls of PyTorch's modules: the stand-in for `Module.__call__`, and how much of them is reported; gradients and optimizers' steps.
//!
//! In a loop whose steps repeat nobody looks at the calls of modules within modules, and there may be many of them: they
//! are counted here, and Python hears of the outermost ones alone.

use crate::event::Recorder;
use crate::hooks::loops::Loop;
use crate::hooks::outside::by_recorder;
use crate::hooks::{clock, depth, frames, passing, paths, state};
use crate::ours;
use crate::stand_in::stand_in;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple, PyWeakrefMethods, PyWeakrefReference};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};

/// Steps go unwatched: what a stand-in reports of its calls, it need not.
static UNWATCHED: AtomicBool = AtomicBool::new(false);
/// Calls of modules so far.
static CALLS: AtomicU64 = AtomicU64::new(0);
/// The outermost one that was called last: nothing but who it is.
static ROOT: AtomicUsize = AtomicUsize::new(0);
/// When a step last ended, and how long after that the loop may be over, ticks.
static ENDED: AtomicU64 = AtomicU64::new(0);
static LONGEST: AtomicU64 = AtomicU64::new(0);

/// Which module was called last that is in no other's call.
pub(crate) fn root() -> usize {
    ROOT.load(Relaxed)
}

/// Outermost modules whose calls have ended in the step that goes on unwatched.
static DONE: AtomicUsize = AtomicUsize::new(0);
/// How many steps ago one like it was watched.
static BACK: AtomicUsize = AtomicUsize::new(0);

/// A step begins that does what the one `back` steps ago did, if it goes unwatched.
pub(crate) fn step_begins(back: usize) {
    DONE.store(0, Relaxed);
    BACK.store(back, Relaxed);
}

/// What is told next in this thread comes after what a step that goes unwatched has done so far.
pub(crate) fn come_to(recorder: &mut Recorder) {
    let calls = DONE.load(Relaxed);
    if calls > 0 && unwatched_here() {
        recorder.come_to(BACK.load(Relaxed), &paths::comes(), calls);
    }
}

/// Whether steps go unwatched.
pub(crate) fn unwatched() -> bool {
    UNWATCHED.load(Relaxed)
}

/// Whether those of this thread do.
pub(crate) fn unwatched_here() -> bool {
    unwatched() && frames::in_main() && state::with_thread(|thread| !thread.beside) == Some(true)
}

/// Steps go unwatched from now on, or no longer. Where none has ended for `longest_ns` and tensors come and go, the loop
/// may be over. They do what the last `alike` watched ones did (0: what they did before). No longer, but `aside`: what
/// steps do not do is watched, and the rest is not told.
#[pyfunction]
#[pyo3(signature = (on, longest_ns=0, alike=0, aside=false))]
pub(crate) fn leave_unwatched(py: Python<'_>, on: bool, longest_ns: u64, alike: usize, aside: bool) {
    UNWATCHED.store(on, Relaxed);
    LONGEST.store((longest_ns as f64 * clock::ticks_per_ns()) as u64, Relaxed);
    // What steps waited for is part of what they took.
    state::with(py, |state| {
        state.recorder.watch.look();
        state.reads.forget();
        if on {
            state.recorder.equal_steps_begin();
        }
        paths::settle(&mut state.paths, on, alike, aside);
    });
}

/// A step ends here, or begins.
pub(crate) fn step_ended() {
    ENDED.store(clock::now(), Relaxed);
}

/// Calls of modules so far.
pub(crate) fn calls() -> u64 {
    CALLS.load(Relaxed)
}

/// Whether steps go unwatched and none has ended for so long at `now` that the loop may be over.
#[inline]
pub(crate) fn may_be_over(now: u64) -> bool {
    UNWATCHED.load(Relaxed) && now.saturating_sub(ENDED.load(Relaxed)) > LONGEST.load(Relaxed)
}

/// Between two instructions of the main thread's: looks whether the loop is over.
pub(crate) fn look_for_its_end(py: Python<'_>) -> PyResult<()> {
    let told = ours::told(py, || py.import("breakeven.torch.steps.sampler")?.call_method0("left_loop"));
    ENDED.store(clock::now(), Relaxed);
    told.map(drop)
}

/// Stands in for the function that calls a module, as [`crate::named::Named`] does: tells `outermost(args, kwargs)` of a call
/// that is in no other, unless it is what steps of the `steps` that go unwatched do; then `enter(args)` and `leave()` of every
/// call, unless steps go unwatched.
#[pyclass(dict, weakref, frozen, module = "breakeven._native")]
pub(crate) struct ModuleCall {
    function: Py<PyAny>,
    outermost: Py<PyAny>,
    enter: Py<PyAny>,
    leave: Py<PyAny>,
    steps: Py<Loop>,
    depth: AtomicU64,
    /// The outermost one that was called last, weakly.
    root: Mutex<Option<Py<PyWeakrefReference>>>,
}

stand_in! {
    impl ModuleCall as function {
        #[new]
        fn new(
            function: Py<PyAny>,
            outermost: Py<PyAny>,
            enter: Py<PyAny>,
            leave: Py<PyAny>,
            steps: Py<Loop>,
        ) -> Self {
            Self { function, outermost, enter, leave, steps, depth: AtomicU64::new(0), root: Mutex::default() }
        }

        /// The outermost module that was called last; `None` where the script is done with it.
        #[getter]
        fn root<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyAny>> {
            self.root.lock().ok()?.as_ref()?.bind(py).upgrade()
        }

        #[pyo3(signature = (*args, **kwargs))]
        fn __call__<'py>(
            &self,
            args: &Bound<'py, PyTuple>,
            kwargs: Option<&Bound<'py, PyDict>>,
        ) -> PyResult<Bound<'py, PyAny>> {
            let py = args.py();
            let outermost = self.depth.fetch_add(1, Relaxed) == 0;
            let off = outermost && passing::mode_off(py);
            let begun = self.begin(outermost, args, kwargs).inspect_err(|_| {
                passing::mode_back(py, off);
                self.depth.fetch_sub(1, Relaxed);
            });
            let entered = begun?;
            let mut outcome = depth::given_back(py, || self.function.bind(py).call(args, kwargs));
            passing::mode_back(py, off);
            if entered {
                outcome = ours::or_raised(outcome, ours::told(py, || self.leave.bind(py).call0()));
            }
            match self.depth.fetch_sub(1, Relaxed) {
                1 if unwatched() => _ = DONE.fetch_add(1, Relaxed),
                1 => _ = state::with(py, |state| state.recorder.steps.call_ends()),
                _ => {}
            }
            outcome
        }
    }
}

impl ModuleCall {
    /// The outermost module is called.
    fn is_root(&self, args: &Bound<'_, PyTuple>) {
        let Ok(module) = args.get_item(0) else { return };
        let address = module.as_ptr() as usize;
        if ROOT.swap(address, Relaxed) != address || self.root(args.py()).is_none() {
            let weakly = PyWeakrefReference::new(&module).ok().map(Bound::unbind);
            // Dropped once nobody holds the lock.
            drop(self.root.lock().ok().and_then(|mut root| std::mem::replace(&mut *root, weakly)));
        }
    }

    /// Tells of a call; whether its end is to be told, too.
    fn begin(&self, outermost: bool, args: &Bound<'_, PyTuple>, kwargs: Option<&Bound<'_, PyDict>>) -> PyResult<bool> {
        let py = args.py();
        if outermost {
            self.is_root(args);
            let steps = self.steps.bind(py);
            let simply = kwargs.is_none() && Loop::is_quiet(steps) && by_recorder(py, || Loop::simply(steps, args));
            if !simply {
                ours::told(py, || self.outermost.bind(py).call1((args, kwargs)))?;
            }
        }
        CALLS.fetch_add(1, Relaxed);
        Ok(!unwatched() && ours::told(py, || self.enter.bind(py).call1((args,)))?.is_some())
    }
}

/// Stands in for the function that computes gradients: tells `begins(args)` of a call, and `ended()`, but where a step goes
/// unwatched that is known to need neither.
#[pyclass(dict, weakref, frozen, module = "breakeven._native")]
pub(crate) struct Backward {
    function: Py<PyAny>,
    begins: Py<PyAny>,
    ended: Py<PyAny>,
    steps: Py<Loop>,
}

stand_in! {
    impl Backward as function {
        #[new]
        fn new(function: Py<PyAny>, begins: Py<PyAny>, ended: Py<PyAny>, steps: Py<Loop>) -> Self {
            Self { function, begins, ended, steps }
        }

        #[pyo3(signature = (*args, **kwargs))]
        fn __call__<'py>(
            &self,
            args: &Bound<'py, PyTuple>,
            kwargs: Option<&Bound<'py, PyDict>>,
        ) -> PyResult<Bound<'py, PyAny>> {
            let py = args.py();
            let quietly = || Loop::was_given_quietly(self.steps.bind(py));
            let quiet = quietly();
            if !quiet {
                ours::told(py, || self.begins.bind(py).call1((args,)))?;
            }
            let outcome = self.function.bind(py).call(args, kwargs);
            // Hooks of the script's may have done anything.
            if quiet && quietly() {
                return outcome;
            }
            ours::or_raised(outcome, ours::told(py, || self.ended.bind(py).call0()))
        }
    }
}

/// What PyTorch calls around an optimizer's step: `told(optimizer)`. Where that fails the script does not hear of it.
#[pyclass(frozen, module = "breakeven._native")]
pub(crate) struct StepHook {
    told: Py<PyAny>,
}

#[pymethods]
impl StepHook {
    #[new]
    fn new(told: Py<PyAny>) -> Self {
        Self { told }
    }

    #[pyo3(signature = (optimizer, *_given))]
    fn __call__(&self, optimizer: &Bound<'_, PyAny>, _given: &Bound<'_, PyTuple>) -> PyResult<()> {
        let py = optimizer.py();
        match by_recorder(py, || self.told.bind(py).call1((optimizer,))) {
            Err(error) if ours::is_of_script(py, &error).unwrap_or(false) => Err(error),
            Err(error) => {
                let text = format!("a step of an optimizer is not recorded as it should be: {error}");
                state::with(py, |state| state.recorder.unseen("hook-failed", &text, 0));
                Ok(())
            }
            Ok(_) => Ok(()),
        }
    }
}
