//! What an object is to us: an array, a NumPy scalar, or nothing. Reads fields, calls nothing.

use crate::event::{Call, Memory};
use crate::table::ArrayWord;
use pyo3::ffi::{self, PyObject, PyTypeObject};
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
static NUMPY_2: AtomicBool = AtomicBool::new(true);

/// Tells where `ndarray` and `generic` are and which layout of `PyArray_Descr` holds. References to both are kept for
/// good, so the pointers stay valid.
pub(super) fn know(ndarray: *mut PyTypeObject, generic: *mut PyTypeObject, numpy_2: bool) {
    NUMPY_2.store(numpy_2, Relaxed);
    GENERIC.store(generic, Relaxed);
    NDARRAY.store(ndarray, Relaxed);
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
            match unsafe { as_array(owner.base) } {
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
        } else if is_scalar(object) {
            call.scalar_result();
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
