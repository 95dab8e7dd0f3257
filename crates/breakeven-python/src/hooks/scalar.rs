//! NumPy scalars whose value the host uses: `if a.any()`, `float(a.sum())`, `print(a.max())`.
//!
//! Each scalar that an op of the thread gave is read once, as is what Python arithmetic made out of it; see
//! [`crate::scalars`].

use super::array;
use super::patch::{Cell, Patches, Refused};
use super::platform::Mappings;
use super::state::{self, observe};
use crate::table::ArrayWord;
use pyo3::ffi::{self, PyObject, PyTypeObject};
use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering::Relaxed};

type Unary = unsafe extern "C" fn(*mut PyObject) -> *mut PyObject;
type Inquiry = unsafe extern "C" fn(*mut PyObject) -> c_int;

/// Trampolines for conversions of the scalar types.
const MANY: usize = 96;

struct Conversion {
    original: AtomicPtr<c_void>,
    name: AtomicU32,
}
static CONVERSIONS: [Conversion; MANY] =
    [const { Conversion { original: AtomicPtr::new(std::ptr::null_mut()), name: AtomicU32::new(0) } }; MANY];
static TRUTH: Conversion = Conversion { original: AtomicPtr::new(std::ptr::null_mut()), name: AtomicU32::new(0) };

/// Calls `original` and records that the host reads the scalar, if an op gave it and it was not read yet.
///
/// # Safety
/// Called from a trampoline, as Python called it.
#[inline]
pub(super) unsafe fn read<R>(name: u32, scalar: *mut PyObject, original: impl FnOnce() -> R) -> R {
    // SAFETY: by contract.
    let scalar_read = unsafe { array::scalar(scalar) };
    let is_new = state::with_thread(|thread| !thread.closed() && thread.unread.read(scalar_read));
    if is_new != Some(true) {
        return original();
    }
    // SAFETY: the caller holds the scalar; `tp_basicsize` less the head bounds the size of its value.
    let bytes = unsafe { (*ffi::Py_TYPE(scalar)).tp_basicsize }.saturating_sub(size_of::<PyObject>() as isize);
    observe(name, true, original, |call, _| {
        let word = ArrayWord {
            type_num: DOUBLE,
            ndim: 0,
            output: false,
            c_contiguous: true,
            f_contiguous: true,
            channels_last: false,
            rows: false,
            repeated: 0,
            itemsize: bytes.clamp(1, 16) as u32,
        };
        call.array(word, &[]);
        true
    })
}

/// `NPY_DOUBLE`: the type of most reductions.
const DOUBLE: u8 = 12;

unsafe extern "C" fn convert<const I: usize>(scalar: *mut PyObject) -> *mut PyObject {
    // SAFETY: passed on as it came.
    unsafe { run(&CONVERSIONS[I], scalar) }
}

#[inline(never)]
unsafe fn run(conversion: &'static Conversion, scalar: *mut PyObject) -> *mut PyObject {
    // SAFETY: `hook` stored the original before it published the trampoline that calls this.
    let original: Unary = unsafe { std::mem::transmute(conversion.original.load(Relaxed)) };
    if !state::recording() {
        // SAFETY: passed on as it came.
        return unsafe { original(scalar) };
    }
    // SAFETY: as above.
    unsafe { read(conversion.name.load(Relaxed), scalar, || original(scalar)) }
}

unsafe extern "C" fn truth(scalar: *mut PyObject) -> c_int {
    // SAFETY: as above.
    let original: Inquiry = unsafe { std::mem::transmute(TRUTH.original.load(Relaxed)) };
    if !state::recording() {
        // SAFETY: passed on as it came.
        return unsafe { original(scalar) };
    }
    // SAFETY: as above.
    unsafe { read(TRUTH.name.load(Relaxed), scalar, || original(scalar)) }
}

seq_macro::seq!(I in 0..96 {
    static TRAMPOLINES: [Unary; MANY] = [#(convert::<I>,)*];
});

/// Hooks a scalar type's conversion to a Python number or to text.
///
/// # Safety
/// `of` is a held scalar type of NumPy's.
pub(super) unsafe fn hook(
    patches: &mut Patches,
    maps: &Mappings,
    of: *mut PyTypeObject,
    is_bool: bool,
    mut name: impl FnMut(&str) -> u32,
) -> Result<(), Refused> {
    // SAFETY: a ready type; its table of number slots is null or lives as long as the type.
    unsafe {
        let numbers = (*of).tp_as_number;
        let mut cells: Vec<(Cell, &str)> = vec![
            ((&raw const (*of).tp_str).cast(), "numpy.ndarray.__str__"),
            ((&raw const (*of).tp_repr).cast(), "numpy.ndarray.__repr__"),
        ];
        if !numbers.is_null() {
            cells.push(((&raw const (*numbers).nb_float).cast(), "numpy.ndarray.__float__"));
            cells.push(((&raw const (*numbers).nb_int).cast(), "numpy.ndarray.__int__"));
            cells.push(((&raw const (*numbers).nb_index).cast(), "numpy.ndarray.__index__"));
            if is_bool {
                let cell = (&raw const (*numbers).nb_bool).cast();
                hook_cell(
                    patches,
                    maps,
                    cell,
                    &TRUTH,
                    truth as Inquiry as *mut c_void,
                    name("numpy.ndarray.__bool__"),
                )?;
            }
        }
        for (cell, text) in cells {
            let now = (*(cell)).load(Relaxed);
            if now.is_null() || TRAMPOLINES.iter().any(|&ours| ours as *mut c_void == now) {
                continue;
            }
            let same = CONVERSIONS.iter().position(|c| c.original.load(Relaxed) == now);
            let free = || CONVERSIONS.iter().position(|c| c.original.load(Relaxed).is_null());
            let index = same.or_else(free).ok_or(Refused::Full)?;
            match hook_cell(patches, maps, cell, &CONVERSIONS[index], TRAMPOLINES[index] as *mut c_void, name(text)) {
                // Python's own slots, inherited by `numpy.float64` and `numpy.str_`, serve all of Python.
                Ok(()) | Err(Refused::Foreign) => {}
                Err(refused) => return Err(refused),
            }
        }
        Ok(())
    }
}

unsafe fn hook_cell(
    patches: &mut Patches,
    maps: &Mappings,
    cell: Cell,
    conversion: &Conversion,
    ours: *mut c_void,
    name: u32,
) -> Result<(), Refused> {
    // SAFETY: by contract of `hook`.
    unsafe {
        if (*cell).load(Relaxed) == ours {
            return Ok(());
        }
        let original = patches.original(maps, cell)?;
        conversion.original.store(original, Relaxed);
        conversion.name.store(name, Relaxed);
        patches.replace(cell, original, ours);
    }
    Ok(())
}
