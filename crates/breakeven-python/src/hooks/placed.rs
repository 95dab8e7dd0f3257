//! `.to` in a loop whose steps repeat: an instruction that has put a tensor on the script's device puts the next one of
//! its shape there, too, and nobody needs to look at it again.

use super::frames;
use super::state::{self, State};
use crate::modules;
use crate::ours;
use crate::stand_in::stand_in;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple, PyWeakrefReference};

/// What a network makes: a role of `torch/session.py`.
const ACTIVATION: u8 = 3;
/// Tensors that are remembered between two looks, and instructions that are known, at most.
const MOST: usize = 64;

/// What was put on the script's device by instructions that are known.
#[derive(Default)]
pub(crate) struct Placed {
    known: Vec<Placing>,
    since: Vec<Put>,
}

/// A copy that somebody looked at: by which instruction, of what, to where.
struct Placing {
    place: [u64; 2],
    device: Py<PyAny>,
    dtype: Py<PyAny>,
    shape: Py<PyAny>,
    /// The script's line, as `placement.put` takes it.
    line: Py<PyAny>,
    entry: u32,
}

impl Placing {
    fn is_of(&self, place: [u64; 2], moved: &Moved<'_>) -> bool {
        let py = moved.shape.py();
        self.place == place
            && self.device.is(&moved.device)
            && self.dtype.is(&moved.dtype)
            && self.shape.bind(py).eq(&moved.shape).unwrap_or(false)
    }
}

/// What a call was given.
struct Moved<'py> {
    tensor: Bound<'py, PyAny>,
    device: Bound<'py, PyAny>,
    dtype: Bound<'py, PyAny>,
    shape: Bound<'py, PyAny>,
}

/// A tensor that was put there without anybody's looking.
struct Put {
    storage: usize,
    tensor: Py<PyWeakrefReference>,
    line: Py<PyAny>,
    entry: u32,
}

/// Stands in for `.to` and `.cuda`, as [`crate::named::Named`] does: tells `told(name, args, result, kwargs)`, which gives
/// back the script's line where a tensor has been put on its device. While steps go unwatched the same instruction's next
/// tensor of the same shape is counted here, unless its storage is one of `live` that is there.
#[pyclass(dict, weakref, frozen, module = "breakeven._native")]
pub(crate) struct Moves {
    function: Py<PyAny>,
    name: Py<PyString>,
    told: Py<PyAny>,
    live: Py<PyDict>,
    tensor: Py<PyAny>,
    modes: Py<PyAny>,
}

stand_in! {
    impl Moves as function {
        /// `tensor` is PyTorch's class, `modes` says how many function modes of the script's are in force.
        #[new]
        fn new(
            function: Py<PyAny>,
            name: Py<PyString>,
            told: Py<PyAny>,
            live: Py<PyDict>,
            tensor: Py<PyAny>,
            modes: Py<PyAny>,
        ) -> Self {
            Self { function, name, told, live, tensor, modes }
        }

        #[pyo3(signature = (*args, **kwargs))]
        fn __call__<'py>(
            &self,
            args: &Bound<'py, PyTuple>,
            kwargs: Option<&Bound<'py, PyDict>>,
        ) -> PyResult<Bound<'py, PyAny>> {
            let py = args.py();
            let result = self.function.bind(py).call(args, kwargs)?;
            if state::recording() {
                let other = |word: &Bound<'_, PyAny>| !word.eq("non_blocking").unwrap_or(false);
                let worded = kwargs.is_some_and(|words| words.keys().iter().any(|word| other(&word)));
                let plain = !worded && args.len() == 2 && args.get_item(0).is_ok_and(|tensor| tensor.is(&result));
                if !(plain && modules::unwatched() && self.again(args).unwrap_or(false)) {
                    let told = ours::told(py, || self.told.bind(py).call1((&self.name, args, &result, kwargs)));
                    if let Some(line) = told?
                        && plain
                        && !line.is_none()
                    {
                        drop(self.learn(args, &line));
                    }
                }
            }
            Ok(result)
        }
    }
}

impl Moves {
    /// What a call was given; `None` where the script could see us ask.
    fn moved<'py>(&self, args: &Bound<'py, PyTuple>) -> PyResult<Option<Moved<'py>>> {
        let py = args.py();
        let (tensor, device) = (args.get_item(0)?, args.get_item(1)?);
        if !tensor.get_type().is(&self.tensor) || self.modes.bind(py).call0()?.is_truthy()? {
            return Ok(None);
        }
        let (dtype, shape) = (tensor.getattr(intern!(py, "dtype"))?, tensor.getattr(intern!(py, "shape"))?);
        Ok(Some(Moved { tensor, device, dtype, shape }))
    }

    /// Counts a copy like one that is known; false where it is not, or may be none, as of what is there.
    fn again(&self, args: &Bound<'_, PyTuple>) -> PyResult<bool> {
        let py = args.py();
        let Some(moved) = self.moved(args)? else { return Ok(false) };
        let storage = moved.tensor.call_method0(intern!(py, "untyped_storage"))?.getattr(intern!(py, "_cdata"))?;
        let known = self.live.bind(py).get_item(&storage)?;
        let (storage, tensor) = (storage.extract()?, PyWeakrefReference::new(&moved.tensor)?.unbind());
        let counted = state::with(py, |state| {
            let State { recorder, codes, placed, .. } = state;
            // SAFETY: `py` proves that the lock is held.
            let Some([user @ (1..), at, library]) = (unsafe { frames::place(codes) }) else { return false };
            let Placed { known: placings, since } = placed;
            let Some(placing) = placings.iter().find(|known| known.is_of([user, at], &moved)) else { return false };
            // A line that has put a part of this memory there does so again.
            let by = (library == 0).then(|| placing.line.bind(py));
            if known.is_some_and(|known| is_there(&known, by).unwrap_or(true)) {
                return false;
            }
            since.retain(|put| put.tensor.bind(py).call0().is_ok_and(|tensor| !tensor.is_none()));
            let by_another = |put: &Put| by.is_none_or(|by| !put.line.bind(py).eq(by).unwrap_or(false));
            if since.len() == MOST || since.iter().any(|put| put.storage == storage && by_another(put)) {
                return false;
            }
            let (line, entry) = (placing.line.clone_ref(py), placing.entry);
            since.push(Put { storage, tensor, line, entry });
            recorder.again(entry);
            true
        });
        Ok(counted.unwrap_or(false))
    }

    /// The copy that was told last is what this instruction makes of such a tensor.
    fn learn(&self, args: &Bound<'_, PyTuple>, line: &Bound<'_, PyAny>) -> PyResult<()> {
        let Some(moved) = self.moved(args)? else { return Ok(()) };
        state::with(args.py(), |state| {
            let State { recorder, codes, placed, .. } = state;
            // SAFETY: `args` proves that the lock is held.
            let Some([user @ (1..), at, _]) = (unsafe { frames::place(codes) }) else { return };
            let known = &mut placed.known;
            if known.len() < MOST && !known.iter().any(|known| known.is_of([user, at], &moved)) {
                let Moved { device, dtype, shape, .. } = moved;
                let (device, dtype, shape) = (device.unbind(), dtype.unbind(), shape.unbind());
                let line = line.clone().unbind();
                known.push(Placing { place: [user, at], device, dtype, shape, line, entry: recorder.last_apart });
            }
        });
        Ok(())
    }
}

/// Whether a storage that is known is on the script's device, or a part of it that the line `by` has not put there.
fn is_there(known: &Bound<'_, PyAny>, by: Option<&Bound<'_, PyAny>>) -> PyResult<bool> {
    let py = known.py();
    let made = known.getattr(intern!(py, "role"))?.extract::<u8>()? == ACTIVATION
        && !known.getattr(intern!(py, "aside"))?.is_truthy()?;
    // What the host has got a copy of, the device has again from here on.
    let back = !known.getattr(intern!(py, "back"))?.is_none();
    if made || back || known.getattr(intern!(py, "placed"))?.is_truthy()? {
        return Ok(true);
    }
    let by_it = |by| known.getattr(intern!(py, "put_by"))?.contains(by);
    Ok(known.getattr(intern!(py, "put"))?.is_truthy()? && !by.map_or(Ok(false), by_it)?)
}

/// What was put on the script's device without anybody's looking and lives: each tensor, the line, the copy's entry. They
/// are told once.
#[pyfunction]
pub(crate) fn placed_again(py: Python<'_>) -> Vec<(Py<PyAny>, Py<PyAny>, u32)> {
    let since = state::with(py, |state| std::mem::take(&mut state.placed.since)).unwrap_or_default();
    let alive = |put: Put| {
        let tensor = put.tensor.bind(py).call0().ok().filter(|tensor| !tensor.is_none())?;
        Some((tensor.unbind(), put.line, put.entry))
    };
    since.into_iter().filter_map(alive).collect()
}

/// The copy of this entry has filled a storage on the device.
#[pyfunction]
pub(crate) fn storage_put(py: Python<'_>, id: u64, entry: u32) {
    state::with(py, |state| {
        let recorder = &mut state.recorder;
        recorder.tensors.written(id, entry, false, recorder.events());
    });
}
