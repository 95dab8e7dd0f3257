//! Compiled functions that have run, and what each runs for arguments that look like these.

use super::signature::{self, Types};
use super::state::{self, State};
use crate::address::AddressMap;
use pyo3::ffi::PyObject;
use pyo3::prelude::*;
use pyo3::types::{PyWeakref, PyWeakrefReference};

/// Functions kept before those that are gone are looked for.
const MANY: usize = 1024;

/// Functions that have run, and their executables.
#[derive(Default)]
pub(crate) struct Jitted {
    /// By the address of a function, which the reference tells from a later one there.
    functions: AddressMap<usize, (Py<PyWeakref>, usize)>,
    /// By the address of the Python function that was compiled, where there is one.
    compiled: AddressMap<usize, (Py<PyWeakref>, usize)>,
    executables: Vec<Executables>,
    pub(super) types: Option<Types>,
    /// Names of reads by bytes.
    pub(super) reads: AddressMap<u64, u32>,
    pub(super) tag: u8,
}

/// Those of one function: what arguments looked like, and the number of what then ran.
#[derive(Default)]
struct Executables(Vec<(u64, u32)>);

pub(super) fn attached<R>(f: impl FnOnce(Python<'_>) -> R) -> R {
    // SAFETY: every caller runs within a call that Python made with its lock held.
    f(unsafe { Python::assume_attached() })
}

pub(super) fn tag() -> u8 {
    attached(|py| state::with(py, |state| state.jitted.tag)).unwrap_or(0)
}

/// Waits for the arrays of a result, which may still be computed.
pub(super) unsafe fn wait(result: *mut PyObject) {
    attached(|py| {
        let types = state::with(py, |state| state.jitted.types.take()).flatten();
        let Some(types) = types else { return };
        // SAFETY: by contract of the caller.
        let result = unsafe { Bound::from_borrowed_ptr(py, result) };
        // What it raises is raised again where the script reads the values.
        let _ = types.wait(&result, &mut 0);
        state::with(py, |state| state.jitted.types = Some(types));
    });
}

/// The number of what ran for these arguments, without Python; 0 where it is not known.
pub(super) unsafe fn known(function: *mut PyObject, args: *mut PyObject, kwargs: *mut PyObject) -> u32 {
    attached(|py| {
        let Some(place) = place(py, function) else { return 0 };
        let only = state::with(py, |state| match &state.jitted.executables[place].0[..] {
            [(_, number)] => Some(*number),
            _ => None,
        });
        if let Some(number) = only.flatten() {
            return number;
        }
        // SAFETY: by contract of the caller.
        let looks = unsafe { looks(py, function, args, kwargs) };
        let among = |state: &mut State| {
            let list = &state.jitted.executables[place].0;
            let same = list.iter().find(|(known, _)| *known == looks).or(list.last());
            same.map_or(0, |(_, number)| *number)
        };
        state::with(py, among).unwrap_or(0)
    })
}

/// The arguments look such, and what ran had this number.
pub(super) unsafe fn learn(function: *mut PyObject, args: *mut PyObject, kwargs: *mut PyObject, number: u32) {
    attached(|py| {
        let place = place(py, function).or_else(|| new_place(py, function));
        let Some(place) = place else { return };
        // SAFETY: by contract of the caller.
        let looks = unsafe { looks(py, function, args, kwargs) };
        state::with(py, |state| {
            let list = &mut state.jitted.executables[place].0;
            match list.iter_mut().find(|(known, _)| *known == looks) {
                Some((_, known)) => *known = number,
                None => list.push((looks, number)),
            }
        });
    });
}

unsafe fn looks(py: Python<'_>, function: *mut PyObject, args: *mut PyObject, kwargs: *mut PyObject) -> u64 {
    let types = state::with(py, |state| state.jitted.types.take()).flatten();
    let Some(mut types) = types else { return 0 };
    // SAFETY: by contract of the callers these are live, `kwargs` a dictionary or null.
    let looks = unsafe {
        let function = Bound::from_borrowed_ptr(py, function);
        let args = Bound::from_borrowed_ptr(py, args);
        let kwargs = Bound::from_borrowed_ptr_or_opt(py, kwargs);
        signature::of(&mut types, &function, &args, kwargs.as_ref())
    };
    state::with(py, |state| state.jitted.types = Some(types));
    looks
}

/// Where a function's executables are; those of the Python function that it compiles are its own, too.
fn place(py: Python<'_>, function: *mut PyObject) -> Option<usize> {
    let known = state::with(py, |state| find(py, &state.jitted.functions, function as usize)).flatten();
    if known.is_some() {
        return known;
    }
    // SAFETY: the caller of the hook holds it.
    let object = unsafe { Bound::from_borrowed_ptr(py, function) };
    let inner = object.getattr(pyo3::intern!(py, "_fun")).ok()?;
    let known = state::with(py, |state| find(py, &state.jitted.compiled, inner.as_ptr() as usize)).flatten()?;
    remember(&object, None, known)?;
    Some(known)
}

fn find(py: Python<'_>, map: &AddressMap<usize, (Py<PyWeakref>, usize)>, address: usize) -> Option<usize> {
    let (reference, place) = map.get(&address)?;
    let alive = reference.bind(py).upgrade()?;
    (alive.as_ptr() as usize == address).then_some(*place)
}

fn new_place(py: Python<'_>, function: *mut PyObject) -> Option<usize> {
    // SAFETY: as above.
    let object = unsafe { Bound::from_borrowed_ptr(py, function) };
    let inner = object.getattr(pyo3::intern!(py, "_fun")).ok();
    let place = state::with(py, |state| {
        state.jitted.executables.push(Executables::default());
        state.jitted.executables.len() - 1
    })?;
    remember(&object, inner.as_ref(), place)?;
    Some(place)
}

fn remember(function: &Bound<'_, PyAny>, inner: Option<&Bound<'_, PyAny>>, place: usize) -> Option<()> {
    let py = function.py();
    let own = PyWeakrefReference::new(function).ok()?.cast_into::<PyWeakref>().ok()?.unbind();
    let inner = inner.and_then(|inner| {
        let reference = PyWeakrefReference::new(inner).ok()?.cast_into::<PyWeakref>().ok()?.unbind();
        Some((inner.as_ptr() as usize, reference))
    });
    state::with(py, |state| {
        let jitted = &mut state.jitted;
        for map in [&mut jitted.functions, &mut jitted.compiled] {
            if map.len() >= MANY && map.len().is_power_of_two() {
                map.retain(|_, (reference, _)| reference.bind(py).upgrade().is_some());
            }
        }
        jitted.functions.insert(function.as_ptr() as usize, (own, place));
        if let Some((address, reference)) = inner {
            jitted.compiled.insert(address, (reference, place));
        }
    })
}
