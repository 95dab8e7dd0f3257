//! Methods and functions written in C: `PyMethodDef.ml_meth`, for each of the four calling conventions.
//!
//! A C function gets no pointer to its own definition, so each patched one needs a trampoline of its own. They are
//! instances of four generic functions over an index into a table of originals.

use super::again::{self, Callee, Takes};
use super::array::{add_input, add_output, as_array};
use super::clock;
use super::patch::{Cell, Patches, Refused};
use super::platform::Mappings;
use super::state::{self, conclude, observe_and_learn};
use super::time;
use crate::event::Call;
use pyo3::ffi::{self, PyMethodDef, PyObject};
use std::ffi::c_void;
use std::sync::atomic::{AtomicPtr, AtomicU8, AtomicU32, Ordering::Relaxed};

/// Trampolines of each convention.
const MANY: usize = 192;

/// What a patched function is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Role {
    /// Arrays among its arguments and results are what it works on.
    Arrays = 0,
    /// The same, and its first argument after the array (if any) is `axis`.
    Axis = 1,
    /// `ufunc.reduce` and its siblings: the ufunc is `self`.
    Ufunc = 2,
    /// Reads a clock.
    Clock = 3,
    /// Sleeps, or waits for input.
    Idle = 4,
    /// A scalar's value becomes a Python object.
    Scalar = 5,
}

impl Role {
    const ALL: [Self; 6] = [Self::Arrays, Self::Axis, Self::Ufunc, Self::Clock, Self::Idle, Self::Scalar];
}

struct Method {
    original: AtomicPtr<c_void>,
    cell: AtomicPtr<c_void>,
    name: AtomicU32,
    role: AtomicU8,
    /// What it calls is part of it.
    atomic: AtomicU8,
}

impl Method {
    const fn new() -> Self {
        Self {
            original: AtomicPtr::new(std::ptr::null_mut()),
            cell: AtomicPtr::new(std::ptr::null_mut()),
            name: AtomicU32::new(0),
            role: AtomicU8::new(0),
            atomic: AtomicU8::new(0),
        }
    }
}

type Two = unsafe extern "C" fn(*mut PyObject, *mut PyObject) -> *mut PyObject;
type Three = unsafe extern "C" fn(*mut PyObject, *mut PyObject, *mut PyObject) -> *mut PyObject;
type Fast = unsafe extern "C" fn(*mut PyObject, *const *mut PyObject, isize) -> *mut PyObject;
type FastKeywords = unsafe extern "C" fn(*mut PyObject, *const *mut PyObject, isize, *mut PyObject) -> *mut PyObject;

static TWO: [Method; MANY] = [const { Method::new() }; MANY];
static THREE: [Method; MANY] = [const { Method::new() }; MANY];
static FAST: [Method; MANY] = [const { Method::new() }; MANY];
static FAST_KEYWORDS: [Method; MANY] = [const { Method::new() }; MANY];

/// Arguments as a convention passes them.
#[derive(Clone, Copy)]
pub(super) struct Arguments {
    pub(super) positional: *const *mut PyObject,
    pub(super) count: usize,
    /// Null, a tuple of names whose values follow the positional ones, or a dict.
    pub(super) keywords: *mut PyObject,
}

impl Arguments {
    /// Of `METH_VARARGS`.
    unsafe fn of_tuple(tuple: *mut PyObject, keywords: *mut PyObject) -> Self {
        // SAFETY: Python passes a tuple of `Py_SIZE` items, which the caller keeps alive.
        unsafe {
            let positional = (&raw const (*tuple.cast::<ffi::PyTupleObject>()).ob_item).cast();
            Self { positional, count: ffi::Py_SIZE(tuple).max(0) as usize, keywords }
        }
    }

    /// Those after the first, which exists.
    ///
    /// # Safety
    /// As for `as_slice`.
    pub(super) unsafe fn after_first(self) -> Self {
        // SAFETY: by contract there is one.
        Self { positional: unsafe { self.positional.add(1) }, count: self.count - 1, ..self }
    }

    /// The positional ones.
    ///
    /// # Safety
    /// The call they belong to has not returned to its caller yet.
    pub(super) unsafe fn as_slice<'a>(self) -> &'a [*mut PyObject] {
        if self.count == 0 {
            return &[];
        }
        // SAFETY: by the calling convention there are `count` of them.
        unsafe { std::slice::from_raw_parts(self.positional, self.count) }
    }

    /// Visits the keywords.
    ///
    /// # Safety
    /// As for `as_slice`.
    unsafe fn for_each_keyword(self, mut visit: impl FnMut(*mut PyObject, *mut PyObject)) {
        if self.keywords.is_null() {
            return;
        }
        // SAFETY: a tuple of names with as many values behind the positional ones, or a dict; neither changes while
        // nothing else runs, and both are only read.
        unsafe {
            if ffi::PyTuple_Check(self.keywords) != 0 {
                for i in 0..ffi::Py_SIZE(self.keywords).max(0) {
                    visit(ffi::PyTuple_GET_ITEM(self.keywords, i), *self.positional.add(self.count + i as usize));
                }
            } else if ffi::PyDict_Check(self.keywords) != 0 {
                let (mut at, mut name, mut value) = (0, std::ptr::null_mut(), std::ptr::null_mut());
                while ffi::PyDict_Next(self.keywords, &raw mut at, &raw mut name, &raw mut value) != 0 {
                    visit(name, value);
                }
            }
        }
    }
}

static AXIS: AtomicPtr<PyObject> = AtomicPtr::new(std::ptr::null_mut());
static OUT: AtomicPtr<PyObject> = AtomicPtr::new(std::ptr::null_mut());

/// Interns the keywords that mean something, so that they are known by address. Interned names are never freed.
pub(super) fn know_keywords() {
    // SAFETY: called with the interpreter's lock held; the references are kept for good.
    unsafe {
        AXIS.store(ffi::PyUnicode_InternFromString(c"axis".as_ptr()), Relaxed);
        OUT.store(ffi::PyUnicode_InternFromString(c"out".as_ptr()), Relaxed);
    }
}

/// Whether this is the interned name `axis`.
pub(super) fn is_axis(name: *mut PyObject) -> bool {
    name == AXIS.load(Relaxed)
}

pub(super) unsafe fn small_int(object: *mut PyObject) -> Option<i32> {
    // SAFETY: a live object of exactly this type; reading its value calls no code and sets no exception.
    unsafe {
        if ffi::PyLong_CheckExact(object) == 0 {
            return None;
        }
        let mut overflow = 0;
        let value = ffi::PyLong_AsLongAndOverflow(object, &raw mut overflow);
        i32::try_from(value).ok().filter(|_| overflow == 0)
    }
}

/// Adds the arrays of a call: `self`, arguments, keywords but `out`, then the result, which is `out` where it was
/// given. Of a ufunc only the first `inputs` positional arguments are inputs.
///
/// # Safety
/// All pointers are as Python passed them, the call has not returned to its caller yet.
#[inline]
pub(super) unsafe fn describe(
    call: &mut Call,
    slf: *mut PyObject,
    arguments: Arguments,
    inputs: usize,
    axis_follows: bool,
    result: *mut PyObject,
) {
    // SAFETY: by contract.
    unsafe {
        let slf_is_array = match as_array(slf) {
            Some(array) => {
                array.add_to(call, false);
                true
            }
            None => false,
        };
        let positional = arguments.as_slice();
        for &argument in &positional[..positional.len().min(inputs)] {
            add_input(call, argument);
        }
        if axis_follows
            && let Some(&argument) = positional.get(usize::from(!slf_is_array))
            && let Some(axis) = small_int(argument)
        {
            call.axis(axis);
        }
        if !arguments.keywords.is_null() {
            arguments.for_each_keyword(|name, value| {
                if name == AXIS.load(Relaxed) {
                    if let Some(axis) = small_int(value) {
                        call.axis(axis);
                    }
                } else if name != OUT.load(Relaxed) {
                    add_input(call, value);
                }
            });
        }
        if result != slf {
            add_output(call, result);
        }
    }
}

/// Calls the original and records it: recognised in place, or by the long way, for which `known` gives the name and
/// how arguments are taken (`None` where it is not known).
///
/// # Safety
/// All pointers are as Python passed them.
#[inline(always)]
pub(super) unsafe fn record(
    callee: Callee,
    arguments: Arguments,
    known: impl Fn() -> Option<(u32, Takes)>,
    original: impl FnOnce() -> *mut PyObject,
) -> *mut PyObject {
    // SAFETY: by contract.
    unsafe {
        let Some(begun) = again::begin::<true>(callee, arguments) else {
            std::hint::cold_path();
            return record_at_length(callee, arguments, known, original);
        };
        let result = original();
        if again::end::<true>(begun, result).is_none() {
            record_late(begun, callee, arguments, known, result);
        }
        result
    }
}

/// The longer ways of [`record`], also where nothing is recorded.
///
/// # Safety
/// As for [`record`].
#[inline(never)]
pub(super) unsafe fn record_at_length(
    callee: Callee,
    arguments: Arguments,
    known: impl Fn() -> Option<(u32, Takes)>,
    original: impl FnOnce() -> *mut PyObject,
) -> *mut PyObject {
    // SAFETY: by contract.
    unsafe {
        if let Some(begun) = again::begin::<false>(callee, arguments) {
            let result = original();
            if again::end::<false>(begun, result).is_none() {
                record_late(begun, callee, arguments, known, result);
            }
            return result;
        }
    }
    let Some((name, takes)) = known() else { return original() };
    // SAFETY: the original has just returned when these run; its caller still holds the arguments.
    let describe = |call: &mut Call, &result: &_| unsafe { described(call, callee, arguments, takes, result) };
    observe_and_learn(name, takes.atomic, original, describe, |state, lane, &result| {
        // SAFETY: as above.
        unsafe { again::learn(state, lane, callee, arguments, takes, result) };
    })
}

/// Describes a call that has returned; false where it raised.
#[inline(always)]
unsafe fn described(
    call: &mut Call,
    callee: Callee,
    arguments: Arguments,
    takes: Takes,
    result: *mut PyObject,
) -> bool {
    !result.is_null() && {
        let mut arguments = arguments;
        // SAFETY: by contract of the callers.
        unsafe {
            if takes.writes_first && arguments.count > 0 {
                add_output(call, *arguments.positional);
                arguments = arguments.after_first();
            }
            describe(call, callee.slf, arguments, takes.inputs, takes.axis_follows, result);
        }
        true
    }
}

/// Records by the long way what looked like a call seen before and then was none.
///
/// # Safety
/// As for [`record`]; the original has just returned.
#[cold]
#[inline(never)]
pub(super) unsafe fn record_late(
    begun: again::Begun,
    callee: Callee,
    arguments: Arguments,
    known: impl Fn() -> Option<(u32, Takes)>,
    result: *mut PyObject,
) {
    let ended = clock::now();
    // SAFETY: by contract.
    unsafe { again::give_up(begun, callee, arguments) };
    let began = again::take_began(begun).unwrap_or(ended);
    let Some((name, takes)) = known() else {
        // Recording has stopped in the meantime.
        return conclude(begun.thread, 0, began, ended, |_| false, |_, _| {});
    };
    // SAFETY: by contract.
    let describe = |call: &mut Call| unsafe { described(call, callee, arguments, takes, result) };
    conclude(begun.thread, name, began, ended, describe, |state, lane| {
        // SAFETY: by contract.
        unsafe { again::learn(state, lane, callee, arguments, takes, result) };
    });
}

/// One call as it came in, by convention.
#[derive(Clone, Copy)]
enum Incoming {
    Two(*mut PyObject),
    Three(*mut PyObject, *mut PyObject),
    Fast(*const *mut PyObject, isize),
    FastKeywords(*const *mut PyObject, isize, *mut PyObject),
}

impl Incoming {
    /// Calls the original with what came.
    ///
    /// # Safety
    /// `original` has the convention of `self`, whose pointers are as Python passed them.
    #[inline(always)]
    unsafe fn pass_on(self, original: *mut c_void, slf: *mut PyObject) -> *mut PyObject {
        // SAFETY: by contract.
        unsafe {
            match self {
                Self::Two(argument) => std::mem::transmute::<*mut c_void, Two>(original)(slf, argument),
                Self::Three(tuple, keywords) => {
                    std::mem::transmute::<*mut c_void, Three>(original)(slf, tuple, keywords)
                }
                Self::Fast(positional, count) => {
                    std::mem::transmute::<*mut c_void, Fast>(original)(slf, positional, count)
                }
                Self::FastKeywords(positional, count, names) => {
                    std::mem::transmute::<*mut c_void, FastKeywords>(original)(slf, positional, count, names)
                }
            }
        }
    }

    /// The arguments. A tuple that a `METH_O` function takes as its one object is read as arguments all the same,
    /// which is what a tuple of arrays is to us anyway.
    ///
    /// # Safety
    /// `self` stays where it is while the result is used; its pointers are as Python passed them.
    unsafe fn arguments(&self) -> Arguments {
        let none = std::ptr::null_mut();
        match self {
            Self::Two(argument) if argument.is_null() => {
                Arguments { positional: std::ptr::null(), count: 0, keywords: none }
            }
            // SAFETY: not null, so one live object.
            Self::Two(argument) if unsafe { ffi::PyTuple_Check(*argument) } == 0 => {
                Arguments { positional: argument, count: 1, keywords: none }
            }
            // SAFETY: a tuple, as was checked.
            Self::Two(tuple) => unsafe { Arguments::of_tuple(*tuple, none) },
            // SAFETY: METH_VARARGS | METH_KEYWORDS passes a tuple, and null or a dict.
            Self::Three(tuple, keywords) => unsafe { Arguments::of_tuple(*tuple, *keywords) },
            Self::Fast(positional, count) => {
                Arguments { positional: *positional, count: (*count).max(0) as usize, keywords: none }
            }
            Self::FastKeywords(positional, count, names) => {
                Arguments { positional: *positional, count: (*count).max(0) as usize, keywords: *names }
            }
        }
    }
}

/// Calls the original of a method and records it according to its role.
///
/// # Safety
/// `hook` stored the original, of this convention, before it published the trampoline that calls this.
#[inline(never)]
unsafe fn run(method: &'static Method, slf: *mut PyObject, incoming: Incoming) -> *mut PyObject {
    let pointer = method.original.load(Relaxed);
    // SAFETY: by contract.
    let original = || unsafe { incoming.pass_on(pointer, slf) };
    if !state::recording() {
        return original();
    }
    let (name, atomic) = (method.name.load(Relaxed), method.atomic.load(Relaxed) != 0);
    let role = Role::ALL[usize::from(method.role.load(Relaxed))];
    match role {
        Role::Arrays | Role::Axis => {
            let callee = Callee { address: std::ptr::from_ref(method) as usize, slf };
            let takes = Takes { inputs: usize::MAX, axis_follows: role == Role::Axis, atomic, writes_first: false };
            // SAFETY: as Python passed them.
            unsafe { record(callee, incoming.arguments(), || Some((name, takes)), original) }
        }
        // SAFETY: as Python passed them.
        Role::Ufunc => unsafe { super::ufunc::method(name, slf, incoming.arguments(), original) },
        Role::Clock => time::clock(name, original),
        Role::Idle => time::idle(original),
        // SAFETY: as above.
        Role::Scalar => unsafe { super::scalar::read(name, slf, original) },
    }
}

unsafe extern "C" fn two<const I: usize>(slf: *mut PyObject, argument: *mut PyObject) -> *mut PyObject {
    // SAFETY: passed on as they came.
    unsafe { run(&TWO[I], slf, Incoming::Two(argument)) }
}

unsafe extern "C" fn three<const I: usize>(
    slf: *mut PyObject,
    tuple: *mut PyObject,
    keywords: *mut PyObject,
) -> *mut PyObject {
    // SAFETY: passed on as they came.
    unsafe { run(&THREE[I], slf, Incoming::Three(tuple, keywords)) }
}

unsafe extern "C" fn fast<const I: usize>(
    slf: *mut PyObject,
    positional: *const *mut PyObject,
    count: isize,
) -> *mut PyObject {
    // SAFETY: passed on as they came.
    unsafe { run(&FAST[I], slf, Incoming::Fast(positional, count)) }
}

unsafe extern "C" fn fast_keywords<const I: usize>(
    slf: *mut PyObject,
    positional: *const *mut PyObject,
    count: isize,
    names: *mut PyObject,
) -> *mut PyObject {
    // SAFETY: passed on as they came.
    unsafe { run(&FAST_KEYWORDS[I], slf, Incoming::FastKeywords(positional, count, names)) }
}

seq_macro::seq!(I in 0..192 {
    static TWO_TRAMPOLINES: [Two; MANY] = [#(two::<I>,)*];
    static THREE_TRAMPOLINES: [Three; MANY] = [#(three::<I>,)*];
    static FAST_TRAMPOLINES: [Fast; MANY] = [#(fast::<I>,)*];
    static FAST_KEYWORDS_TRAMPOLINES: [FastKeywords; MANY] = [#(fast_keywords::<I>,)*];
});

/// Where a function's definition is: of a builtin function, or of a method of a C type.
pub(super) fn definition(object: &pyo3::Bound<'_, pyo3::PyAny>) -> Option<*mut PyMethodDef> {
    let object = object.as_ptr();
    // SAFETY: exact types first, then the fields of their public structs.
    unsafe {
        let kind = std::ffi::CStr::from_ptr((*ffi::Py_TYPE(object)).tp_name);
        // A Cython function begins as a builtin function does.
        if ffi::PyCFunction_Check(object) != 0 || kind.to_bytes().ends_with(b"cython_function_or_method") {
            Some((*object.cast::<ffi::PyCFunctionObject>()).m_ml)
        } else if ffi::Py_TYPE(object) == &raw mut ffi::PyMethodDescr_Type {
            Some((*object.cast::<ffi::PyMethodDescrObject>()).d_method)
        } else {
            None
        }
    }
}

/// Patches one definition.
///
/// # Safety
/// `definition` is that of a function or method whose module or type is never freed.
pub(super) unsafe fn hook(
    patches: &mut Patches,
    maps: &Mappings,
    definition: *mut PyMethodDef,
    name: u32,
    atomic: bool,
    role: Role,
) -> Result<(), Refused> {
    let convention = ffi::METH_VARARGS | ffi::METH_KEYWORDS | ffi::METH_NOARGS | ffi::METH_O | ffi::METH_FASTCALL;
    // SAFETY: by contract the definition lives; `ml_meth` is one function pointer, whatever its type.
    let (flags, cell): (_, Cell) =
        unsafe { ((*definition).ml_flags & convention, (&raw mut (*definition).ml_meth).cast_const().cast()) };
    const ONE: i32 = ffi::METH_O;
    const NONE: i32 = ffi::METH_NOARGS;
    const TUPLE: i32 = ffi::METH_VARARGS;
    const TUPLE_KEYWORDS: i32 = ffi::METH_VARARGS | ffi::METH_KEYWORDS;
    const VECTOR_KEYWORDS: i32 = ffi::METH_FASTCALL | ffi::METH_KEYWORDS;
    let (table, trampoline): (&'static [Method; MANY], fn(usize) -> *mut c_void) = match flags {
        ONE | NONE | TUPLE => (&TWO, |i| TWO_TRAMPOLINES[i] as *mut c_void),
        TUPLE_KEYWORDS => (&THREE, |i| THREE_TRAMPOLINES[i] as *mut c_void),
        ffi::METH_FASTCALL => (&FAST, |i| FAST_TRAMPOLINES[i] as *mut c_void),
        VECTOR_KEYWORDS => (&FAST_KEYWORDS, |i| FAST_KEYWORDS_TRAMPOLINES[i] as *mut c_void),
        _ => return Err(Refused::Empty),
    };
    // A cell that was patched before has its trampoline already.
    let same = table.iter().position(|m| m.cell.load(Relaxed) == cell.cast_mut().cast());
    let free = || table.iter().position(|m| m.cell.load(Relaxed).is_null());
    let index = same.or_else(free).ok_or(Refused::Full)?;
    // SAFETY: the cell is part of the definition.
    if unsafe { (*cell).load(Relaxed) } == trampoline(index) {
        return Ok(());
    }
    // SAFETY: by contract.
    let original = unsafe { patches.original(maps, cell) }?;
    let method = &table[index];
    method.original.store(original, Relaxed);
    method.cell.store(cell.cast_mut().cast(), Relaxed);
    method.name.store(name, Relaxed);
    method.role.store(role as u8, Relaxed);
    method.atomic.store(u8::from(atomic), Relaxed);
    // SAFETY: the trampoline has the signature that the flags call for, and knows its original.
    unsafe { patches.replace(cell, original, trampoline(index)) };
    Ok(())
}
