//! `.item()` in a loop whose steps repeat: an instruction that has read a value of what nobody saw being made reads the
//! next one's, too, and nobody needs to look at it again.

use super::state::{self, State, with_thread};
use super::{frames, passing};
use crate::modules;
use crate::ours;
use crate::stand_in::stand_in;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString, PyTuple};

/// Instructions that are known, at most.
const MOST: usize = 64;
/// How many fields of a session tell an op apart besides its place and its module.
const NOW: usize = 4;

/// A read that somebody looked at: by which instruction, of what, and when.
struct Reading {
    /// The user's code and the instruction in it that reads: where a library does, its instruction is not known.
    place: [u64; 2],
    thread: u16,
    dtype: Py<PyAny>,
    dims: usize,
    /// Those of its storage.
    bytes: usize,
    requires_grad: bool,
    /// The outermost module that was called last: where it is, the tensor may be.
    root: usize,
    now: [Py<PyAny>; NOW],
}

impl Reading {
    fn is(&self, other: &Self) -> bool {
        let same = |(one, other): (&Py<PyAny>, &Py<PyAny>)| one.is(other);
        (self.place, self.thread) == (other.place, other.thread)
            && (self.dims, self.bytes, self.requires_grad) == (other.dims, other.bytes, other.requires_grad)
            && self.root == other.root
            && self.dtype.is(&other.dtype)
            && self.now.iter().zip(&other.now).all(same)
    }
}

/// Reads of instructions that are known, since steps went unwatched, with their entries.
#[derive(Default)]
pub(crate) struct Known(Vec<(Reading, u32)>);

impl Known {
    /// Nothing is known from here on.
    pub(crate) fn forget(&mut self) {
        self.0.clear();
    }

    fn entry(&self, reading: &Reading) -> Option<u32> {
        self.0.iter().find(|(known, _)| known.is(reading)).map(|&(_, entry)| entry)
    }
}

/// Stands in for what reads a single value, as [`crate::named::Named`] does: `enter()`, and then `leave(inputs, result)` gives back
/// whether it has told of a read of what nobody saw being made: while steps go unwatched the same instruction's next read of
/// such a storage is counted here, unless it is one of `live`.
#[pyclass(dict, weakref, frozen, module = "breakeven._native")]
pub(crate) struct Reads {
    function: Py<PyAny>,
    enter: Py<PyAny>,
    leave: Py<PyAny>,
    live: Py<PyDict>,
    tensor: Py<PyAny>,
    modes: Py<PyAny>,
    now: Py<PyDict>,
}

stand_in! {
    impl Reads as function {
        /// `tensor` is PyTorch's class, `modes` says how many function modes of the script's are in force, `now` are the
        /// the fields of the session.
        #[new]
        fn new(
            function: Py<PyAny>,
            enter: Py<PyAny>,
            leave: Py<PyAny>,
            live: Py<PyDict>,
            tensor: Py<PyAny>,
            modes: Py<PyAny>,
            now: Py<PyDict>,
        ) -> Self {
            Self { function, enter, leave, live, tensor, modes, now }
        }

        #[pyo3(signature = (*args, **kwargs))]
        fn __call__<'py>(
            &self,
            args: &Bound<'py, PyTuple>,
            kwargs: Option<&Bound<'py, PyDict>>,
        ) -> PyResult<Bound<'py, PyAny>> {
            let py = args.py();
            let function = self.function.bind(py);
            if modules::unwatched() && self.asks_own(py).unwrap_or(false) {
                return function.call(args, kwargs);
            }
            // A failure of ours is no failure of the script.
            let reading = if kwargs.is_none() { self.reading(args).ok().flatten() } else { None };
            let entry = reading.as_ref().and_then(|reading| state::with(py, |state| state.reads.entry(reading))?);
            if let Some(entry) = entry {
                let off = passing::mode_off(py);
                let outcome = function.call1(args);
                passing::mode_back(py, off);
                let outcome = outcome?;
                state::with(py, |state| state.recorder.again(entry));
                return Ok(outcome);
            }
            if ours::told(py, || self.enter.bind(py).call0())?.is_none() {
                return function.call(args, kwargs);
            }
            let outcome = function.call(args, kwargs);
            let told = ours::told(py, || match &outcome {
                Ok(result) => self.leave.bind(py).call1((args, result)),
                Err(_) => self.leave.bind(py).call1((PyTuple::empty(py), py.None())),
            });
            if let Some(reading) = reading {
                let told = matches!(&told, Ok(Some(told)) if told.is_truthy().unwrap_or(false));
                state::with(py, |state| learn_or_forget(state, reading, told));
            }
            ours::or_raised(outcome, told)
        }
    }
}

impl Reads {
    /// Whether an optimizer asks its own counters, as it does for every parameter. Where the call itself was on no path of a
    /// step's, the op has told.
    fn asks_own(&self, py: Python<'_>) -> PyResult<bool> {
        let stepping = self.variable(intern!(py, "phase"))?.is(intern!(py, "optimizer"));
        Ok(stepping && !self.variable(intern!(py, "optimizer_asks"))?.is_truthy()?)
    }

    /// A field of the session.
    fn variable<'py>(&self, name: &Bound<'py, PyString>) -> PyResult<Bound<'py, PyAny>> {
        self.now.bind(name.py()).as_any().get_item(name)
    }

    /// The read of a storage that nobody knows, in a step that goes unwatched; `None` for others, and where the script could
    /// see us ask.
    fn reading(&self, args: &Bound<'_, PyTuple>) -> PyResult<Option<Reading>> {
        let py = args.py();
        if !modules::unwatched() || !state::recording() {
            return Ok(None);
        }
        let Some((thread, false)) = with_thread(|thread| (thread.id, thread.beside)) else { return Ok(None) };
        let tensor = args.get_item(0)?;
        if args.len() != 1
            || !tensor.get_type().is(&self.tensor)
            // A real GPU's tensors tell themselves where they are.
            || !self.variable(intern!(py, "gpu"))?.is_none()
            || !self.variable(intern!(py, "path"))?.cast::<PyList>()?.is_empty()
            // A read within another one, or of what is printed, is told with that.
            || self.variable(intern!(py, "asking"))?.is_truthy()?
            || !passing::is_alone(py) && self.modes.bind(py).call0()?.is_truthy()?
        {
            return Ok(None);
        }
        let storage = tensor.call_method0(intern!(py, "untyped_storage"))?;
        if self.live.bind(py).contains(storage.getattr(intern!(py, "_cdata"))?)? {
            return Ok(None);
        }
        let dims = tensor.call_method0(intern!(py, "dim"))?.extract()?;
        let requires_grad = tensor.getattr(intern!(py, "requires_grad"))?.is_truthy()?;
        let bytes = storage.call_method0(intern!(py, "nbytes"))?.extract()?;
        let dtype = tensor.getattr(intern!(py, "dtype"))?.unbind();
        let names = [intern!(py, "phase"), intern!(py, "device"), intern!(py, "stream"), intern!(py, "graph")];
        let [phase, device, stream, graph] = names.map(|name| self.variable(name).map(Bound::unbind));
        let now = [phase?, device?, stream?, graph?];
        // SAFETY: `py` proves that the lock is held.
        let place = state::with(py, |state| unsafe { frames::place(&mut state.codes) }).flatten();
        let Some([user @ (1..), at, 0]) = place else { return Ok(None) };
        let root = modules::root();
        Ok(Some(Reading { place: [user, at], thread, dtype, dims, bytes, requires_grad, root, now }))
    }
}

/// A read has been told of, and is known from here on; or it has not, and none of its instruction is known any longer.
fn learn_or_forget(state: &mut State, reading: Reading, told: bool) {
    let State { recorder, reads: Known(known), .. } = state;
    known.retain(|(known, _)| known.place != reading.place || (told && !known.is(&reading)));
    // Another thread may have read something since.
    let (entry, thread) = recorder.last_read;
    if told && known.len() < MOST && thread == reading.thread {
        known.push((reading, entry));
    }
}

/// A read is not what it was at the same instruction.
#[pyfunction]
pub(crate) fn reads_differ(py: Python<'_>) {
    state::with(py, |state| state.reads.forget());
}
