//! What an object is to us: an array, a NumPy scalar, or nothing. Reads fields, calls nothing of the script's.

use crate::event::{Call, Memory};
use crate::lines::{MAX_DIMS, Operand};
use crate::scalars::Scalar;
use crate::table::ArrayWord;
use pyo3::ffi::{self, PyObject, PyTypeObject};
use pyo3::prelude::*;
use pyo3::types::PyType;
use std::ffi::{c_char, c_int};
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering::Relaxed};

/// `PyArrayObject_fields` of NumPy 1.26 to 2.5 (`ndarraytypes.h`), up to the fields we read.
#[repr(C)]
pub(super) struct Array {
    head: PyObject,
    data: *mut c_char,
    ndim: c_int,
    dims: *const isize,
    strides: *const isize,
    base: *mut PyObject,
    descr: *const Descr,
    flags: c_int,
}

/// The common start of `PyArray_Descr` in 1.26 and 2.x. Where `elsize` is depends on the major version: an `int`
/// right after `type_num` in 1.x, a word 8 bytes further on (after a 64-bit `flags`) in 2.x.
#[repr(C)]
struct Descr {
    head: PyObject,
    typeobj: *mut PyTypeObject,
    kind: c_char,
    type_: c_char,
    byteorder: c_char,
    flags_1: c_char,
    type_num: c_int,
    /// 1.x: `elsize`, `alignment`; 2.x: `flags`.
    first: u64,
    /// 2.x: `elsize`.
    second: u64,
}

/// `NPY_ARRAY_C_CONTIGUOUS`, `NPY_ARRAY_F_CONTIGUOUS`.
const C_CONTIGUOUS: c_int = 1;
const F_CONTIGUOUS: c_int = 2;
/// Views of views before we stop looking for the owner; NumPy itself collapses chains.
const LONGEST_CHAIN: usize = 32;
/// Elements of a list or tuple argument that are looked at.
const LONGEST_LIST: isize = 4096;

static NDARRAY: AtomicPtr<PyTypeObject> = AtomicPtr::new(std::ptr::null_mut());
static GENERIC: AtomicPtr<PyTypeObject> = AtomicPtr::new(std::ptr::null_mut());
/// The class of what stands between an array and its view by `as_strided`.
static LENDER: AtomicPtr<PyTypeObject> = AtomicPtr::new(std::ptr::null_mut());
/// Type codes of plain numbers, and where the descriptor of each is.
const PLAIN_CODES: &str = "?bBhHiIlLqQefdgFDG";
static PLAIN: [AtomicPtr<Descr>; PLAIN_CODES.len()] = [const { AtomicPtr::new(std::ptr::null_mut()) }; 18];
static NUMPY_2: AtomicBool = AtomicBool::new(true);

/// Tells where `ndarray` and `generic` are and which layout of `PyArray_Descr` holds. References to both are kept for
/// good, so the pointers stay valid.
pub(super) fn know(ndarray: *mut PyTypeObject, generic: *mut PyTypeObject, numpy_2: bool) {
    NUMPY_2.store(numpy_2, Relaxed);
    GENERIC.store(generic, Relaxed);
    NDARRAY.store(ndarray, Relaxed);
}

/// Learns where the descriptors of plain numbers are, from `numpy.dtype`. NumPy has one of each, and keeps it.
pub(super) fn know_plain(dtype: &Bound<'_, PyAny>) -> PyResult<()> {
    for (code, place) in PLAIN_CODES.chars().zip(&PLAIN) {
        place.store(dtype.call1((code,))?.as_ptr().cast(), Relaxed);
    }
    Ok(())
}

/// Learns the class of the object between an array and what `as_strided` makes of it, where NumPy has it.
pub(super) fn know_lender(numpy: &Bound<'_, PyModule>) -> PyResult<()> {
    if !LENDER.load(Relaxed).is_null() {
        return Ok(());
    }
    let modules = ["numpy.lib._stride_tricks_impl", "numpy.lib.stride_tricks"];
    if let Some(module) = modules.iter().find_map(|module| numpy.py().import(*module).ok())
        && let Some(lender) = module.getattr_opt("DummyArray")?
    {
        // Held for good: its address is asked for from now on.
        LENDER.store(lender.cast_into::<PyType>()?.into_ptr().cast(), Relaxed);
    }
    Ok(())
}

/// The object as an array; `None` for anything else and for null.
///
/// # Safety
/// `object` is null or a live object, which outlives the result.
#[inline(always)]
pub(super) unsafe fn as_array<'a>(object: *mut PyObject) -> Option<&'a Array> {
    if object.is_null() {
        return None;
    }
    let ndarray = NDARRAY.load(Relaxed);
    // SAFETY: a live object has a type; `PyType_IsSubtype` walks the MRO of two live types and runs no Python code.
    let is_array = unsafe {
        let kind = ffi::Py_TYPE(object);
        kind == ndarray
            || (ffi::PyType_HasFeature(kind, ffi::Py_TPFLAGS_HEAPTYPE) != 0
                && !ndarray.is_null()
                && ffi::PyType_IsSubtype(kind, ndarray) != 0)
    };
    // SAFETY: an `ndarray` or an instance of a subclass begins with these fields in the versions the gate lets in.
    is_array.then(|| unsafe { &*object.cast::<Array>() })
}

/// Whether the object is a NumPy scalar (`numpy.float64(1)`).
///
/// # Safety
/// As for [`as_array`].
#[inline]
pub(super) unsafe fn is_scalar(object: *mut PyObject) -> bool {
    let generic = GENERIC.load(Relaxed);
    // SAFETY: as in `as_array`.
    unsafe {
        !object.is_null() && !generic.is_null() && {
            let kind = ffi::Py_TYPE(object);
            // Python's own number types are by far the most common here.
            kind != &raw mut ffi::PyFloat_Type
                && kind != &raw mut ffi::PyLong_Type
                && ffi::PyType_IsSubtype(kind, generic) != 0
        }
    }
}

/// What a NumPy scalar is known by.
///
/// # Safety
/// A live NumPy scalar.
#[inline(always)]
pub(super) unsafe fn scalar(object: *mut PyObject) -> Scalar {
    // SAFETY: a scalar's value, or what leads to it, follows its head, and stays what it is as long as it lives.
    let value = unsafe { object.add(1).cast::<u64>().read() };
    Scalar { address: object as usize, value }
}

impl Array {
    #[inline(always)]
    fn dims(&self) -> &[isize] {
        if self.ndim <= 0 {
            return &[];
        }
        // SAFETY: `dims` points to `ndim` lengths for as long as the array lives; 0-d arrays were handled above.
        unsafe { std::slice::from_raw_parts(self.dims, self.ndim as usize) }
    }

    #[inline(always)]
    fn itemsize(&self) -> u64 {
        // SAFETY: every array has a descriptor that lives as long as it does.
        let descr = unsafe { &*self.descr };
        if NUMPY_2.load(Relaxed) { descr.second } else { descr.first & 0xffff_ffff }
    }

    /// Number of dims.
    pub(super) fn ndim(&self) -> usize {
        self.ndim.max(0) as usize
    }

    /// Length of axis `axis`, which exists.
    pub(super) fn len(&self, axis: usize) -> isize {
        self.dims()[axis]
    }

    /// Bytes of its elements.
    #[inline(always)]
    pub(super) fn bytes(&self) -> u64 {
        bytes(self.dims(), self.itemsize())
    }

    /// The buffer at the end of the chain of views.
    #[inline]
    pub(super) fn memory(&self, output: bool) -> Memory {
        let mut owner = self;
        for _ in 0..LONGEST_CHAIN {
            // SAFETY: `base` is null or an object that the array keeps alive.
            match unsafe { as_array(owner.base).or_else(|| lent(owner.base)) } {
                Some(base) => owner = base,
                None => break,
            }
        }
        Memory { address: owner.data as usize, bytes: owner.bytes(), output }
    }

    /// How the array is described in a key.
    #[inline(always)]
    pub(super) fn word(&self, output: bool) -> ArrayWord {
        self.word_with(self.itemsize(), output)
    }

    #[inline(always)]
    fn word_with(&self, itemsize: u64, output: bool) -> ArrayWord {
        ArrayWord {
            // SAFETY: every array has a descriptor. User types above 255 all count as the last one: none is ours.
            type_num: (unsafe { (*self.descr).type_num } as u32).min(255) as u8,
            // At most 64 (NPY_MAXDIMS).
            ndim: self.ndim as u8,
            output,
            c_contiguous: self.flags & C_CONTIGUOUS != 0,
            f_contiguous: self.flags & F_CONTIGUOUS != 0,
            channels_last: false,
            rows: false,
            repeated: 0,
            itemsize: itemsize.min(u32::MAX.into()) as u32,
        }
    }

    /// Adds the array to a call.
    #[inline(always)]
    pub(super) fn add_to(&self, call: &mut Call, output: bool) {
        let (dims, itemsize) = (self.dims(), self.itemsize());
        call.array(self.word_with(itemsize, output), dims);
        call.memory(if self.base.is_null() {
            Memory { address: self.data as usize, bytes: bytes(dims, itemsize), output }
        } else {
            self.memory(output)
        });
    }

    /// Adds one element of the array, which the host reads.
    #[inline(always)]
    pub(super) fn add_element_to(&self, call: &mut Call) {
        call.array(ArrayWord { ndim: 0, ..self.word(false) }, &[]);
        call.memory(self.memory(false));
    }
}

impl Array {
    /// Whether it has the dtype, layout and shape of an operand.
    #[inline(always)]
    pub(super) fn looks_like(&self, operand: &Operand) -> bool {
        let same = self.descr as usize == operand.object
            && self.ndim == c_int::from(operand.ndim)
            && self.flags & (C_CONTIGUOUS | F_CONTIGUOUS) == operand.flags;
        if !same {
            return false;
        }
        if operand.ndim == 1 {
            // SAFETY: an array of one dim has one length.
            return unsafe { *self.dims == operand.dims[0] };
        }
        for (dim, known) in self.dims().iter().zip(&operand.dims) {
            if dim != known {
                return false;
            }
        }
        true
    }
}

/// Address of the buffer behind an array, and its bytes where the array that looks like `operand` is no view; `None` where
/// it has to be looked for.
///
/// # Safety
/// A live array.
#[inline(always)]
pub(super) unsafe fn near_address(object: *mut PyObject, operand: &Operand) -> Option<(usize, Option<u64>)> {
    // SAFETY: by contract; a base is kept alive by the array, and one of this very type is an array.
    unsafe {
        let array = &*object.cast::<Array>();
        if array.base.is_null() {
            return Some((array.data as usize, Some(operand.bytes)));
        }
        let base = &*array.base.cast::<Array>();
        (ffi::Py_TYPE(array.base) == NDARRAY.load(Relaxed) && base.base.is_null()).then_some((base.data as usize, None))
    }
}

/// Address of the buffer behind an array.
///
/// # Safety
/// A live array.
#[inline(always)]
pub(super) unsafe fn address(object: *mut PyObject, operand: &Operand) -> usize {
    // SAFETY: by contract.
    unsafe {
        match near_address(object, operand) {
            Some((address, _)) => address,
            None => (*object.cast::<Array>()).memory(false).address,
        }
    }
}

/// What an object can be recognised by, if it is an array of plain numbers or of a type that no array is in.
///
/// # Safety
/// A live object.
pub(super) unsafe fn operand(object: *mut PyObject) -> Option<Operand> {
    // SAFETY: by contract.
    let (kind, array) = unsafe { (ffi::Py_TYPE(object), as_array(object)) };
    let of_kind = Operand { kind: kind as usize, ndim: -1, ..Operand::default() };
    let Some(array) = array else {
        // SAFETY: a live type. Others may be freed, and their address taken by another.
        let (is_static, is_sequence) = unsafe {
            let has = |flag| ffi::PyType_HasFeature(kind, flag) != 0;
            (!has(ffi::Py_TPFLAGS_HEAPTYPE), has(ffi::Py_TPFLAGS_LIST_SUBCLASS) || has(ffi::Py_TPFLAGS_TUPLE_SUBCLASS))
        };
        return (is_static && !is_sequence).then_some(of_kind);
    };
    // A descriptor that NumPy itself holds for good is known by its address.
    let is_plain = PLAIN.iter().any(|plain| plain.load(Relaxed).cast_const() == array.descr);
    if kind != NDARRAY.load(Relaxed) || array.ndim() > MAX_DIMS || !is_plain {
        return None;
    }
    let mut dims = [0; MAX_DIMS];
    dims.iter_mut().zip(array.dims()).for_each(|(kept, &dim)| *kept = dim);
    let (ndim, flags) = (array.ndim as i16, array.flags & (C_CONTIGUOUS | F_CONTIGUOUS));
    Some(Operand { object: array.descr as usize, ndim, flags, dims, bytes: array.bytes(), ..of_kind })
}

/// An object that is recognised by its address alone, because it lives as long as the process.
pub(super) fn this_very(object: *mut PyObject) -> Operand {
    Operand { object: object as usize, ndim: -1, ..Operand::default() }
}

/// As [`this_very`] for a small number, `None`, `True` or `False`, which exist once.
///
/// # Safety
/// A live object.
pub(super) unsafe fn constant(object: *mut PyObject) -> Option<Operand> {
    // SAFETY: by contract; reading the value of an exact int calls no code.
    let lives = unsafe {
        [ffi::Py_None(), ffi::Py_True(), ffi::Py_False()].contains(&object)
            || (ffi::PyLong_CheckExact(object) != 0
                && super::methods::small_int(object).is_some_and(|value| (-5..=256).contains(&value)))
    };
    lives.then(|| this_very(object))
}

/// Bytes of so many elements; a size that no memory has where they overflow.
#[inline(always)]
fn bytes(dims: &[isize], itemsize: u64) -> u64 {
    match dims {
        [dim] => itemsize.saturating_mul((*dim).max(0) as u64),
        dims => dims.iter().fold(itemsize, |n, &dim| n.saturating_mul(dim.max(0) as u64)),
    }
}

/// Adds an argument: an array, or the arrays of a list or tuple.
///
/// # Safety
/// `object` is null or a live object.
#[inline]
pub(super) unsafe fn add_input(call: &mut Call, object: *mut PyObject) {
    // SAFETY: by contract; items of a live list or tuple are borrowed while nothing else runs.
    unsafe {
        if let Some(array) = as_array(object) {
            array.add_to(call, false);
        } else {
            for_each_item(object, |item| match as_array(item) {
                Some(array) => {
                    array.add_to(call, false);
                    true
                }
                None => false,
            });
        }
    }
}

/// Adds a result: an array, a scalar, or the arrays of a tuple or list.
///
/// # Safety
/// `object` is null or a live object.
#[inline]
pub(super) unsafe fn add_output(call: &mut Call, object: *mut PyObject) {
    // SAFETY: as in `add_input`.
    unsafe {
        if let Some(array) = as_array(object) {
            array.add_to(call, true);
            if let Some(lender) = lent(array.base) {
                call.memory(lender.memory(false));
            }
        } else if is_scalar(object) {
            call.scalar_result(scalar(object));
        } else {
            for_each_item(object, |item| match as_array(item) {
                Some(array) => {
                    array.add_to(call, true);
                    true
                }
                None => is_scalar(item),
            });
        }
    }
}

/// The array whose memory `as_strided` shows, where `base` is the object of NumPy's that stands between the two.
///
/// # Safety
/// As for [`as_array`].
#[inline]
unsafe fn lent<'a>(base: *mut PyObject) -> Option<&'a Array> {
    // SAFETY: a live object has a type. The class is plain Python and keeps the array in the instance, so that no other
    // code runs; the instance holds it, and lives as long as the array that has it as base.
    unsafe {
        if base.is_null() || ffi::Py_TYPE(base) != LENDER.load(Relaxed) {
            return None;
        }
        let array = ffi::PyObject_GetAttrString(base, c"base".as_ptr());
        if array.is_null() {
            ffi::PyErr_Clear();
            return None;
        }
        ffi::Py_DECREF(array);
        as_array(array)
    }
}

/// Calls `visit` with each item of a list or tuple until it says no. Anything else has no items.
unsafe fn for_each_item(object: *mut PyObject, mut visit: impl FnMut(*mut PyObject) -> bool) {
    // SAFETY: exact type checks first; sizes are read from the object itself and items are borrowed.
    unsafe {
        if object.is_null() {
            return;
        }
        let is_list = ffi::PyList_Check(object) != 0;
        if !is_list && ffi::PyTuple_Check(object) == 0 {
            return;
        }
        let len = ffi::Py_SIZE(object).clamp(0, LONGEST_LIST);
        for i in 0..len {
            let item = if is_list { ffi::PyList_GET_ITEM(object, i) } else { ffi::PyTuple_GET_ITEM(object, i) };
            if item.is_null() || !visit(item) {
                return;
            }
        }
    }
}
