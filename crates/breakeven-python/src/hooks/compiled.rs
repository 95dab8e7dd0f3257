//! Functions that Numba compiled, by the `tp_call` of their classes: a call is one op, and what is in it was found out
//! in Python at the first call that looked like it.

use super::array::{self, add_input, add_output, as_array};
use super::clock;
use super::outside;
use super::patch::Cell;
use super::state::{self, State, observe};
use crate::address::AddressMap;
use crate::ours;
use pyo3::exceptions::PyRuntimeError;
use pyo3::ffi::{self, PyObject};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyTuple, PyType};
use std::ffi::c_void;
use std::sync::atomic::{AtomicPtr, Ordering::Relaxed};

type TpCall = unsafe extern "C" fn(*mut PyObject, *mut PyObject, *mut PyObject) -> *mut PyObject;

/// Classes that can be watched: Numba has four, of functions, element-wise ones, generalised ones and stencils.
const CLASSES: usize = 4;
static ORIGINALS: [AtomicPtr<c_void>; CLASSES] = [const { AtomicPtr::new(std::ptr::null_mut()) }; CLASSES];
/// What finds out about a call that looks like none before: called before it and after it.
static ASKED: PyOnceLock<(Py<PyAny>, Py<PyAny>)> = PyOnceLock::new();

/// What a call is until Python has told its name.
const NAME: &str = "numba.njit";

/// Words that tell calls of a function apart, at most.
const MAX_WORDS: usize = 96;
/// Tuples within tuples that are looked into.
const DEPTH: u32 = 3;
/// Different calls of one function that are kept.
const MAX_PLANS: usize = 4096;

/// Functions that were asked about, by address; they are held.
#[derive(Default)]
pub(crate) struct Functions(AddressMap<usize, Function>);

#[derive(Default)]
struct Function {
    held: Option<Py<PyAny>>,
    /// Bit by argument: its value decides what is computed.
    values: u64,
    /// Lengths of arrays are told apart by their order of magnitude alone.
    coarse: bool,
    plans: AddressMap<Vec<u64>, Plan>,
}

/// What calls that look alike are recorded as.
#[derive(Clone, Copy)]
struct Plan {
    name: u32,
    /// Bits by argument: arrays that are read, and those that are written.
    given: u64,
    made: u64,
    /// Calls until Python is asked again.
    calls: u64,
}

impl Functions {
    /// Names of callees are others from now on.
    pub(crate) fn forget(&mut self) {
        self.0.clear();
    }

    /// The plan of a call, one use less of it; `None` where Python has to be asked.
    ///
    /// # Safety
    /// As Python passed them.
    unsafe fn plan(&mut self, slf: *mut PyObject, args: *mut PyObject, words: *mut PyObject) -> Option<Plan> {
        let function = self.0.get_mut(&(slf as usize))?;
        // SAFETY: by contract.
        let key = unsafe { Key::of(args, words, function.values, function.coarse) }?;
        let plan = function.plans.get_mut(key.words())?;
        plan.calls = plan.calls.checked_sub(1)?;
        Some(*plan)
    }
}

/// What a call is known by.
struct Key {
    words: [u64; MAX_WORDS],
    len: usize,
    coarse: bool,
}

impl Key {
    /// `None` where there is more to a call than fits.
    ///
    /// # Safety
    /// A live tuple, and a live dictionary or null.
    unsafe fn of(args: *mut PyObject, words: *mut PyObject, values: u64, coarse: bool) -> Option<Self> {
        let mut key = Self { words: [0; MAX_WORDS], len: 0, coarse };
        // SAFETY: by contract; items are borrowed, and nothing here runs code of the script's.
        unsafe {
            let count = ffi::PyTuple_GET_SIZE(args);
            for place in 0..count {
                let by_value = place < 64 && values >> place & 1 == 1;
                key.add(ffi::PyTuple_GET_ITEM(args, place), by_value, 0)?;
            }
            if !words.is_null() {
                let (mut at, mut name, mut value) = (0, std::ptr::null_mut(), std::ptr::null_mut());
                while ffi::PyDict_Next(words, &raw mut at, &raw mut name, &raw mut value) != 0 {
                    key.push(name as u64)?;
                    key.add(value, true, 0)?;
                }
            }
        }
        Some(key)
    }

    fn push(&mut self, word: u64) -> Option<()> {
        *self.words.get_mut(self.len)? = word;
        self.len += 1;
        Some(())
    }

    fn words(&self) -> &[u64] {
        &self.words[..self.len]
    }

    /// Adds an argument: an array by type and shape, a number by type and, where that matters, value; anything else by
    /// its address.
    ///
    /// # Safety
    /// A live object.
    unsafe fn add(&mut self, object: *mut PyObject, by_value: bool, depth: u32) -> Option<()> {
        // SAFETY: by contract; exact types are read without running code.
        unsafe {
            if let Some(array) = as_array(object) {
                self.push(array.word(false).pack())?;
                for axis in 0..array.ndim() {
                    let len = array.len(axis) as u64;
                    self.push(if self.coarse { u64::from(len.leading_zeros()) } else { len })?;
                }
                return Some(());
            }
            self.push(ffi::Py_TYPE(object) as u64)?;
            if ffi::PyFloat_CheckExact(object) != 0 {
                return if by_value { self.push(ffi::PyFloat_AS_DOUBLE(object).to_bits()) } else { Some(()) };
            }
            if ffi::PyLong_CheckExact(object) != 0 {
                if !by_value {
                    return Some(());
                }
                let mut overflow = 0;
                let value = ffi::PyLong_AsLongLongAndOverflow(object, &raw mut overflow);
                return if overflow == 0 { self.push(value as u64) } else { None };
            }
            if ffi::PyTuple_CheckExact(object) != 0 {
                let count = ffi::PyTuple_GET_SIZE(object);
                self.push(count as u64)?;
                for place in 0..count {
                    if depth == DEPTH {
                        return None;
                    }
                    self.add(ffi::PyTuple_GET_ITEM(object, place), by_value, depth + 1)?;
                }
                return Some(());
            }
            if array::is_scalar(object) {
                return if by_value { self.push(array::scalar(object).value) } else { Some(()) };
            }
            self.push(object as u64)
        }
    }
}

/// In the place of the `tp_call` of class `CLASS`.
unsafe extern "C" fn called<const CLASS: usize>(
    slf: *mut PyObject,
    args: *mut PyObject,
    words: *mut PyObject,
) -> *mut PyObject {
    // SAFETY: `watch` stored the original, a `ternaryfunc`, before it published this.
    let original: TpCall = unsafe { std::mem::transmute(ORIGINALS[CLASS].load(Relaxed)) };
    // SAFETY: as Python passed them.
    let original = || unsafe { original(slf, args, words) };
    if !state::recording() || state::in_one_op() {
        return original();
    }
    // SAFETY: trampolines are called with the lock held.
    let py = unsafe { Python::assume_attached() };
    // SAFETY: as Python passed them.
    let known = state::guard(|| state::with(py, |state| unsafe { state.compiled.plan(slf, args, words) }));
    match known.flatten().flatten() {
        Some(plan) => observe(plan.name, true, original, |call, &result| {
            if result.is_null() {
                return false;
            }
            // SAFETY: the caller holds the arguments, and the original has given the result.
            unsafe {
                let count = ffi::PyTuple_GET_SIZE(args).min(64);
                let those = |bits: u64| (0..count).filter(move |place| bits >> place & 1 == 1);
                those(plan.given).for_each(|place| add_input(call, ffi::PyTuple_GET_ITEM(args, place)));
                those(plan.made).for_each(|place| add_output(call, ffi::PyTuple_GET_ITEM(args, place)));
                add_output(call, result);
            }
            true
        }),
        // SAFETY: as Python passed them.
        None => unsafe { asked(py, slf, args, words, original) },
    }
}

/// A call that Python is asked about.
///
/// # Safety
/// As Python passed them.
#[cold]
#[inline(never)]
unsafe fn asked(
    py: Python<'_>,
    slf: *mut PyObject,
    args: *mut PyObject,
    words: *mut PyObject,
    original: impl FnOnce() -> *mut PyObject,
) -> *mut PyObject {
    let Some((before, after)) = ASKED.get(py) else { return original() };
    // SAFETY: by contract; the caller holds them.
    let (slf, args, words) = unsafe {
        let words = if words.is_null() { PyDict::new(py).into_any() } else { Bound::from_borrowed_ptr(py, words) };
        (Bound::from_borrowed_ptr(py, slf), Bound::from_borrowed_ptr(py, args), words)
    };
    // What Python computes to find out about the call is no op of the program's.
    let before = ours::told(py, || {
        let was = state::with_thread(|thread| thread.shut(true));
        let held = before.bind(py).call1((&slf, &args, &words));
        state::with_thread(|thread| thread.shut(was == Some(true)));
        held
    });
    let held = match before {
        Ok(Some(held)) if !held.is_none() => held,
        Ok(_) => return original(),
        Err(error) => {
            error.restore(py);
            return std::ptr::null_mut();
        }
    };
    let token = outside::enter(py, NAME, false, 0);
    if token == 0 {
        return original();
    }
    // SAFETY: a new reference, or null with an exception set.
    let outcome = unsafe { Bound::from_owned_ptr_or_err(py, original()) };
    let ended = clock::now();
    state::with_thread(|thread| thread.returned = Some(ended));
    let told = ours::told(py, || match &outcome {
        Ok(result) => after.bind(py).call1((held, token, result, true)),
        Err(_) => after.bind(py).call1((held, token, py.None(), false)),
    });
    state::with_thread(|thread| thread.returned = None);
    match ours::or_raised(outcome, told) {
        Ok(result) => result.into_ptr(),
        Err(error) => {
            error.restore(py);
            std::ptr::null_mut()
        }
    }
}

/// From now on calls of this class's objects are recorded: `before(object, args, words)` gives what `after(that, token,
/// result, whether it returned)` gets, or None where it is not to be recorded; that ends the call, which has begun as
/// `numba.njit`. `place` numbers the class, from 0.
#[pyfunction]
pub(crate) fn compiled_watch(
    class: &Bound<'_, PyType>,
    place: usize,
    before: Py<PyAny>,
    after: Py<PyAny>,
) -> PyResult<()> {
    let py = class.py();
    let refused = |why: &str| Err(PyRuntimeError::new_err(why.to_owned()));
    let trampolines: [TpCall; CLASSES] = [called::<0>, called::<1>, called::<2>, called::<3>];
    let Some(&trampoline) = trampolines.get(place) else { return refused("there are four places") };
    let kind = class.as_type_ptr();
    // SAFETY: a live class, which is held below; its own slot is read and written with the lock held.
    unsafe {
        let has = |flag| ffi::PyType_HasFeature(kind, flag) != 0;
        if !has(ffi::Py_TPFLAGS_HEAPTYPE) || has(ffi::Py_TPFLAGS_HAVE_VECTORCALL) {
            return refused("its objects are called in another way");
        }
        let slot = &*(&raw const (*kind).tp_call).cast::<AtomicPtr<c_void>>();
        let original = slot.load(Relaxed);
        if original.is_null() || original == trampoline as *mut c_void {
            return refused("its objects are not called, or are watched already");
        }
        let _ = ASKED.set(py, (before, after));
        ORIGINALS[place].store(original, Relaxed);
        let cell: Cell = slot;
        state::with(py, |state| {
            state.objects.held.push(class.clone().into_any().unbind());
            state.patches.mechanism = usize::MAX;
            state.patches.replace(cell, original, trampoline as *mut c_void);
        });
    }
    Ok(())
}

/// Calls of `function` that look like this one are recorded under `name` with these keywords, `calls` times: arguments
/// whose bits are in `given` are read and those in `made` written. `values`: bits of arguments whose value decides what
/// is computed; with `coarse` lengths count by their order of magnitude.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "what Python tells of a call, by position")]
pub(crate) fn compiled_again(
    function: &Bound<'_, PyAny>,
    args: &Bound<'_, PyTuple>,
    words: &Bound<'_, PyDict>,
    name: &str,
    keywords: &Bound<'_, PyDict>,
    given: u64,
    made: u64,
    values: u64,
    coarse: bool,
    calls: u64,
) -> PyResult<()> {
    let keywords = outside::keywords(Some(keywords))?;
    state::with(function.py(), |state| {
        let State { compiled, recorder, .. } = state;
        let known = compiled.0.entry(function.as_ptr() as usize).or_default();
        known.held.get_or_insert_with(|| function.clone().unbind());
        known.values |= values;
        known.coarse |= coarse;
        // SAFETY: both are live.
        let key = unsafe { Key::of(args.as_ptr(), words.as_ptr(), known.values, known.coarse) };
        if let Some(key) = key
            && known.plans.len() < MAX_PLANS
        {
            let name = recorder.names.intern_with(name, keywords);
            known.plans.insert(key.words().to_vec(), Plan { name, given, made, calls });
        }
    });
    Ok(())
}
