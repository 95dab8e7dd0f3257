//! Slots of the type `ndarray`: indexing, conversion to Python numbers, text, iteration.
//!
//! A subclass copies its base's slots when it is made, and the methods one finds in `ndarray.__dict__` keep a copy too:
//! wherever the same function stands, the same trampoline goes.

use super::array::{Array, as_array};
use super::patch::{Cell, Patches, Refused};
use super::platform::Mappings;
use super::state::observe;
use crate::event::Call;
use crate::table::ArrayWord;
use pyo3::ffi::{self, PyObject, PyTypeObject};
use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering::Relaxed};

type Unary = unsafe extern "C" fn(*mut PyObject) -> *mut PyObject;
type Inquiry = unsafe extern "C" fn(*mut PyObject) -> c_int;
type Get = unsafe extern "C" fn(*mut PyObject, *mut PyObject) -> *mut PyObject;
type Set = unsafe extern "C" fn(*mut PyObject, *mut PyObject, *mut PyObject) -> c_int;
type Buffer = unsafe extern "C" fn(*mut PyObject, *mut ffi::Py_buffer, c_int) -> c_int;

/// One kind of slot: its original, once hooked, and the name it is recorded under.
struct Slot {
    original: AtomicPtr<c_void>,
    name: AtomicU32,
}

/// The kinds. Those with a Python name are recorded under it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Float,
    Int,
    Index,
    Bool,
    Str,
    Repr,
    Iter,
    Get,
    Set,
    Buffer,
}

const KINDS: usize = 10;
static SLOTS: [Slot; KINDS] =
    [const { Slot { original: AtomicPtr::new(std::ptr::null_mut()), name: AtomicU32::new(0) } }; KINDS];
/// Name of `a[i]` that gives a scalar.
static ITEM: AtomicU32 = AtomicU32::new(0);

fn slot(kind: Kind) -> (&'static AtomicPtr<c_void>, u32) {
    let slot = &SLOTS[kind as usize];
    (&slot.original, slot.name.load(Relaxed))
}

unsafe extern "C" fn unary<const KIND: usize>(slf: *mut PyObject) -> *mut PyObject {
    // SAFETY: passed on as it came.
    unsafe { convert(&SLOTS[KIND], KIND == Kind::Iter as usize, slf) }
}

#[inline(never)]
unsafe fn convert(slot: &'static Slot, iterates: bool, slf: *mut PyObject) -> *mut PyObject {
    // SAFETY: `hook` stored the original, a `unaryfunc`, before it published this.
    let original: Unary = unsafe { std::mem::transmute(slot.original.load(Relaxed)) };
    // SAFETY: passed on as it came.
    observe(
        slot.name.load(Relaxed),
        true,
        || unsafe { original(slf) },
        |call, result| {
            // SAFETY: the caller holds `self`.
            !result.is_null() && unsafe { host_reads(call, slf, iterates) }
        },
    )
}

unsafe extern "C" fn truth(slf: *mut PyObject) -> c_int {
    let (original, name) = slot(Kind::Bool);
    // SAFETY: as above, an `inquiry`.
    let original: Inquiry = unsafe { std::mem::transmute(original.load(Relaxed)) };
    // SAFETY: passed on as it came; the caller holds `self`.
    observe(
        name,
        true,
        || unsafe { original(slf) },
        |call, &result| {
            // SAFETY: as above.
            result >= 0 && unsafe { host_reads(call, slf, false) }
        },
    )
}

/// The host reads an array whole. Iterating over rows reads nothing yet: each row is a view, and all of them are noted as
/// one that gives no array.
unsafe fn host_reads(call: &mut Call, slf: *mut PyObject, iterates: bool) -> bool {
    // SAFETY: by contract of the callers.
    match unsafe { as_array(slf) } {
        Some(array) => {
            if iterates && array.ndim() > 1 {
                call.rename(slot(Kind::Get).1);
            }
            array.add_to(call, false);
            true
        }
        None => false,
    }
}

unsafe extern "C" fn get(slf: *mut PyObject, key: *mut PyObject) -> *mut PyObject {
    let (original, name) = slot(Kind::Get);
    // SAFETY: as above, a `binaryfunc`.
    let original: Get = unsafe { std::mem::transmute(original.load(Relaxed)) };
    // SAFETY: passed on as they came; the caller holds both.
    observe(
        name,
        true,
        || unsafe { original(slf, key) },
        |call, &result| unsafe {
            let Some(array) = as_array(slf) else { return false };
            if result.is_null() {
                return false;
            }
            match as_array(result) {
                Some(part) => {
                    array.add_to(call, false);
                    super::array::add_input(call, key);
                    part.add_to(call, true);
                }
                None => {
                    // One element, which the host now has.
                    call.rename(ITEM.load(Relaxed));
                    array.add_element_to(call);
                    if super::array::is_scalar(result) {
                        call.gave_element(super::array::scalar(result));
                    }
                }
            }
            true
        },
    )
}

unsafe extern "C" fn set(slf: *mut PyObject, key: *mut PyObject, value: *mut PyObject) -> c_int {
    let (original, name) = slot(Kind::Set);
    // SAFETY: as above, an `objobjargproc`.
    let original: Set = unsafe { std::mem::transmute(original.load(Relaxed)) };
    // SAFETY: passed on as they came; the caller holds all three.
    observe(
        name,
        true,
        || unsafe { original(slf, key, value) },
        |call, &result| unsafe {
            let Some(array) = as_array(slf) else { return false };
            if result < 0 {
                return false;
            }
            array.add_to(call, false);
            super::array::add_input(call, key);
            if let Some(value) = as_array(value) {
                value.add_to(call, false);
            }
            region(call, array, key);
            true
        },
    )
}

/// Adds the part of `array` that a basic key selects, as an output without memory of its own; nothing for other keys.
unsafe fn region(call: &mut Call, array: &Array, key: *mut PyObject) {
    let mut dims = [0; 64];
    // SAFETY: a live key; its items are borrowed while nothing else runs.
    let Some(ndim) = (unsafe { select(array, key, &mut dims) }) else { return };
    let word = ArrayWord { ndim: ndim as u8, output: true, ..array.word(true) };
    call.array(word, &dims[..ndim]);
}

/// Dims that a key of whole numbers, slices, `...` and `None` selects; the number of them.
unsafe fn select(array: &Array, key: *mut PyObject, dims: &mut [isize; 64]) -> Option<usize> {
    // SAFETY: exact types first. `PySlice_Unpack` reads exact ints and `None` without running code; other bounds
    // could, so those keys are left alone.
    unsafe {
        let items: &[*mut PyObject] = if ffi::PyTuple_CheckExact(key) != 0 {
            std::slice::from_raw_parts(
                (&raw const (*key.cast::<ffi::PyTupleObject>()).ob_item).cast(),
                ffi::Py_SIZE(key).max(0) as usize,
            )
        } else {
            std::slice::from_ref(&key)
        };
        let is_axis = |item: *mut PyObject| ffi::PyLong_CheckExact(item) != 0 || ffi::PySlice_Check(item) != 0;
        let axes = items.iter().filter(|&&item| is_axis(item)).count();
        let rest = array.ndim().checked_sub(axes)?;
        let (mut axis, mut n, mut ellipsis) = (0, 0, false);
        for &item in items {
            if ffi::PyLong_CheckExact(item) != 0 {
                axis += 1;
            } else if ffi::PySlice_Check(item) != 0 {
                let slice = item.cast::<ffi::PySliceObject>();
                let plain = |bound: *mut PyObject| bound == ffi::Py_None() || ffi::PyLong_CheckExact(bound) != 0;
                if !(plain((*slice).start) && plain((*slice).stop) && plain((*slice).step)) {
                    return None;
                }
                let (mut start, mut stop, mut step) = (0, 0, 0);
                if ffi::PySlice_Unpack(item, &raw mut start, &raw mut stop, &raw mut step) < 0 {
                    ffi::PyErr_Clear();
                    return None;
                }
                let len = ffi::PySlice_AdjustIndices(array.len(axis), &raw mut start, &raw mut stop, step);
                *dims.get_mut(n)? = len.max(0);
                (axis, n) = (axis + 1, n + 1);
            } else if item == ffi::Py_None() {
                *dims.get_mut(n)? = 1;
                n += 1;
            } else if item == ffi::Py_Ellipsis() && !ellipsis {
                ellipsis = true;
                for _ in 0..rest {
                    *dims.get_mut(n)? = array.len(axis).max(0);
                    (axis, n) = (axis + 1, n + 1);
                }
            } else {
                return None;
            }
        }
        while axis < array.ndim() {
            *dims.get_mut(n)? = array.len(axis).max(0);
            (axis, n) = (axis + 1, n + 1);
        }
        Some(n)
    }
}

unsafe extern "C" fn buffer(slf: *mut PyObject, view: *mut ffi::Py_buffer, flags: c_int) -> c_int {
    let (original, name) = slot(Kind::Buffer);
    // SAFETY: as above, a `getbufferproc`.
    let original: Buffer = unsafe { std::mem::transmute(original.load(Relaxed)) };
    // SAFETY: passed on as they came; the caller holds `self`.
    observe(
        name,
        true,
        || unsafe { original(slf, view, flags) },
        |call, &result| {
            if result == 0 && flags & ffi::PyBUF_WRITABLE != 0 {
                call.host_writes();
            }
            // SAFETY: as above.
            result == 0 && unsafe { host_reads(call, slf, false) }
        },
    )
}

/// The cell of a slot in a type, where the type has one.
unsafe fn cell(of: *mut PyTypeObject, kind: Kind) -> Option<Cell> {
    macro_rules! within {
        ($table:ident, $slot:ident) => {{
            let table = (*of).$table;
            (!table.is_null()).then(|| (&raw const (*table).$slot).cast())
        }};
    }
    // SAFETY: fields of the type itself, and of its tables, which are null or live as long as it does.
    unsafe {
        match kind {
            Kind::Float => within!(tp_as_number, nb_float),
            Kind::Int => within!(tp_as_number, nb_int),
            Kind::Index => within!(tp_as_number, nb_index),
            Kind::Bool => within!(tp_as_number, nb_bool),
            Kind::Str => Some((&raw const (*of).tp_str).cast()),
            Kind::Repr => Some((&raw const (*of).tp_repr).cast()),
            Kind::Iter => Some((&raw const (*of).tp_iter).cast()),
            Kind::Get => within!(tp_as_mapping, mp_subscript),
            Kind::Set => within!(tp_as_mapping, mp_ass_subscript),
            Kind::Buffer => within!(tp_as_buffer, bf_getbuffer),
        }
    }
}

impl Kind {
    /// Python's name for it.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Float => "__float__",
            Self::Int => "__int__",
            Self::Index => "__index__",
            Self::Bool => "__bool__",
            Self::Str => "__str__",
            Self::Repr => "__repr__",
            Self::Iter => "__iter__",
            Self::Get => "__getitem__",
            Self::Set => "__setitem__",
            Self::Buffer => "__buffer__",
        }
    }

    fn trampoline(self) -> *mut c_void {
        match self {
            Self::Float => unary::<{ Self::Float as usize }> as Unary as *mut c_void,
            Self::Int => unary::<{ Self::Int as usize }> as Unary as *mut c_void,
            Self::Index => unary::<{ Self::Index as usize }> as Unary as *mut c_void,
            Self::Str => unary::<{ Self::Str as usize }> as Unary as *mut c_void,
            Self::Repr => unary::<{ Self::Repr as usize }> as Unary as *mut c_void,
            Self::Iter => unary::<{ Self::Iter as usize }> as Unary as *mut c_void,
            Self::Bool => truth as Inquiry as *mut c_void,
            Self::Get => get as Get as *mut c_void,
            Self::Set => set as Set as *mut c_void,
            Self::Buffer => buffer as Buffer as *mut c_void,
        }
    }
}

/// Names of the kind and of reading one element, interned.
pub(super) struct SlotNames {
    pub(super) own: u32,
    pub(super) item: u32,
}

/// Hooks a slot of `ndarray` and of those of its subclasses, and the wrappers, that share its function.
///
/// # Safety
/// The types are held for good; `wrappers` are `wrapper_descriptor`s of held types.
pub(super) unsafe fn hook(
    patches: &mut Patches,
    maps: &Mappings,
    kind: Kind,
    names: &SlotNames,
    types: &[*mut PyTypeObject],
    wrappers: &[*mut PyObject],
) -> Result<(), Refused> {
    ITEM.store(names.item, Relaxed);
    let slot = &SLOTS[kind as usize];
    let ours = kind.trampoline();
    for (i, &of) in types.iter().enumerate() {
        // SAFETY: by contract.
        let Some(cell) = (unsafe { cell(of, kind) }) else { continue };
        // SAFETY: a field of a held type.
        unsafe { hook_cell(patches, maps, slot, names.own, cell, ours, i == 0) }?;
    }
    for &wrapper in wrappers {
        // SAFETY: by contract it is a `PyWrapperDescrObject`, whose `d_wrapped` is the function it calls.
        unsafe {
            let cell = (&raw const (*wrapper.cast::<WrapperDescriptor>()).wrapped).cast();
            hook_cell(patches, maps, slot, names.own, cell, ours, false)?;
        }
    }
    Ok(())
}

/// `PyWrapperDescrObject` (`descrobject.h`).
#[repr(C)]
struct WrapperDescriptor {
    common: ffi::PyDescrObject,
    base: *mut c_void,
    wrapped: *mut c_void,
}

unsafe fn hook_cell(
    patches: &mut Patches,
    maps: &Mappings,
    slot: &Slot,
    name: u32,
    cell: Cell,
    ours: *mut c_void,
    first: bool,
) -> Result<(), Refused> {
    // SAFETY: by contract of `hook`.
    let now = unsafe { (*cell).load(Relaxed) };
    let known = slot.original.load(Relaxed);
    if now == ours || (!first && (known.is_null() || now != known)) {
        return Ok(());
    }
    // SAFETY: as above.
    let original = unsafe { patches.original(maps, cell) }?;
    if first {
        slot.original.store(original, Relaxed);
        slot.name.store(name, Relaxed);
    }
    // SAFETY: the trampoline has the signature of the slot and knows its original.
    unsafe { patches.replace(cell, original, ours) };
    Ok(())
}
