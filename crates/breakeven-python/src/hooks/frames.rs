//! The innermost user frame: the one outside site-packages, the standard library and this package.
//!
//! Python's public frame API makes a frame object for every frame it is asked about. Where the interpreter's internal
//! layout is known (CPython 3.10 to 3.13) and a check at installation finds the same frames both ways, frames are read
//! in place instead.
//!
//! A library's own thread has no user frame: what it does is put down to where the main thread is meanwhile.

use super::paths::mixed;
use crate::address::AddressMap;
use crate::event::Place;
use breakeven::lower::canonical;
use breakeven::workload::Site;
use breakeven::workload::merge::SENT;
use pyo3::exceptions::PyValueError;
use pyo3::ffi::{self, PyObject};
use pyo3::prelude::*;

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering::Relaxed};

/// Frames looked at before giving up.
const DEEPEST: usize = 1000;
/// Marks a place whose second word is a line number, not an instruction.
const LINE: u64 = 1 << 63;

static READ_IN_PLACE: AtomicBool = AtomicBool::new(false);
/// The main thread's state, where it is known; it lives as long as Python does.
static MAIN: AtomicPtr<ffi::PyThreadState> = AtomicPtr::new(std::ptr::null_mut());
/// What the system calls the main thread.
static MAIN_THREAD: AtomicUsize = AtomicUsize::new(0);
/// [`MAIN`] where the thread that asked last is the main one, and null where it is another: see [`follow`].
static LAST: AtomicPtr<ffi::PyThreadState> = AtomicPtr::new(std::ptr::null_mut());

/// Whose code it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Owner {
    User,
    #[default]
    Library,
    /// A package that calls the libraries which are recorded, as a trainer does: no place of the script's, but a step of its
    /// way there.
    Package,
    /// The import machinery: what runs under it before any user code is the start-up of a library.
    Import,
}

impl Owner {
    /// Whether it tells on which path through the script PyTorch is reached: what PyTorch does on its own way does not.
    fn is_on_paths(self) -> bool {
        matches!(self, Self::User | Self::Package)
    }
}

/// Packages that are recorded, or are part of one: their own frames are on no path.
const RECORDED: [&str; 5] = ["torch", "functorch", "torchgen", "numpy", "breakeven"];

/// The package whose file this is, where packages are installed.
fn package(file: &str) -> Option<&str> {
    let (_, inside) = file.rsplit_once("/site-packages/").or_else(|| file.rsplit_once("/dist-packages/"))?;
    inside.split('/').next()
}

/// Packages that call others' compiled code for those who call them, and name nothing that people look for.
pub(super) const PLUMBING: [&str; 4] = ["joblib", "threadpoolctl", "decorator", "wrapt"];

/// Whether this names code that a library generated, as `<lambdifygenerated-1>` and `<decorator-gen-3>` do: its lines are
/// none of the script's. What a person typed somewhere has names, too; a function of the script that `cloudpickle` sent to a
/// worker is [`breakeven::workload::merge::SENT`].
fn is_generated(file: &str) -> bool {
    const TYPED: [&str; 9] =
        ["<stdin", "<string", "<console", "<input", "<ipython", "<magic-timeit", "<doctest", "<cell", SENT];
    file.starts_with('<') && !TYPED.iter().any(|typed| file.starts_with(typed))
}

/// Whether the file's code times what a line asks it to; `timeit` generates the loop that reads the clock.
fn is_timer(file: &str) -> bool {
    file.ends_with("/timeit.py") || file.contains("/IPython/") || file.starts_with("<timeit-")
}

/// Whose each piece of code is.
#[derive(Default)]
pub(crate) struct Codes {
    known: AddressMap<usize, Owner>,
    /// Of each that is on paths, where the instruction begins that a unit of its bytecode is part of.
    instructions: AddressMap<usize, Box<[i32]>>,
    /// The last answer, because most events come from where the one before did.
    last: (usize, Owner),
    /// Installed packages whose functions the script called on the way to an op.
    pub(crate) installed: BTreeSet<String>,
    /// Code of libraries that time what a line asks them to, as `timeit` does.
    timers: Vec<usize>,
    /// Code objects that were asked about; held so that no other object takes their address.
    held: Vec<Py<PyAny>>,
    /// File name prefixes that are not the user's.
    library: Vec<String>,
}

impl Codes {
    /// Adds prefixes and forgets what was decided before.
    pub(crate) fn add_library(&mut self, prefixes: impl IntoIterator<Item = String>) {
        self.library.extend(prefixes.into_iter().filter(|prefix| !prefix.is_empty()));
        self.known.clear();
        self.instructions.clear();
        self.last = (0, Owner::Library);
    }

    /// The instruction at `offset` of the code at this address, which need not live, where its frames are on paths: an offset
    /// that is the same however the interpreter came to run the instruction.
    pub(crate) fn on_path(&self, address: usize, offset: i32) -> Option<i32> {
        let begins = self.instructions.get(&address)?;
        Some(usize::try_from(offset / UNIT).ok().and_then(|unit| begins.get(unit)).map_or(offset, |&unit| unit * UNIT))
    }

    /// How many code objects are held: for [`Codes::forget_since`].
    pub(crate) fn mark(&self) -> usize {
        self.held.len()
    }

    /// Forgets what was asked about since `mark`; to be dropped where the state is not in use.
    pub(crate) fn forget_since(&mut self, mark: usize) -> Vec<Py<PyAny>> {
        let forgotten = self.held.split_off(mark.min(self.held.len()));
        for code in &forgotten {
            self.known.remove(&(code.as_ptr() as usize));
            self.instructions.remove(&(code.as_ptr() as usize));
            self.timers.retain(|timer| *timer != code.as_ptr() as usize);
        }
        self.last = (0, Owner::Library);
        forgotten
    }

    /// Whether the code at this address, which was asked about, times what a line asks it to.
    fn times_others(&self, address: usize) -> bool {
        self.timers.contains(&address)
    }

    /// Whether what this file holds is no user code.
    pub(crate) fn is_library(&self, file: &str) -> bool {
        self.owner_of_file(file) != Owner::User
    }

    pub(super) fn owner_of_file(&self, file: &str) -> Owner {
        if file.starts_with("<frozen importlib") {
            Owner::Import
        } else if let Some(package) = package(file) {
            let plumbing = PLUMBING.contains(&package);
            if plumbing || RECORDED.contains(&package) { Owner::Library } else { Owner::Package }
        } else if file.starts_with("<frozen ")
            || is_generated(file)
            || self.library.iter().any(|prefix| file.starts_with(prefix.as_str()))
        {
            Owner::Library
        } else {
            Owner::User
        }
    }

    /// Whose the code object at this address is.
    ///
    /// # Safety
    /// `code` is a live code object and the interpreter's lock is held.
    #[inline]
    unsafe fn owner(&mut self, code: *mut PyObject) -> Owner {
        let address = code as usize;
        if self.last.0 == address {
            return self.last.1;
        }
        // SAFETY: by contract.
        unsafe { self.owner_of_another(code) }
    }

    #[inline(never)]
    unsafe fn owner_of_another(&mut self, code: *mut PyObject) -> Owner {
        let address = code as usize;
        let answer = match self.known.get(&address) {
            Some(&answer) => answer,
            // SAFETY: by contract.
            None => unsafe { self.decide(code) },
        };
        self.last = (address, answer);
        answer
    }

    #[cold]
    unsafe fn decide(&mut self, code: *mut PyObject) -> Owner {
        // SAFETY: by contract; the pending exception is put aside while attributes are read.
        let py = unsafe { Python::assume_attached() };
        let _aside = Aside::new(py);
        // SAFETY: a live object; a new reference is taken and kept.
        let code = unsafe { Bound::from_borrowed_ptr(py, code) };
        let file = code.getattr("co_filename").and_then(|name| name.extract::<String>());
        if file.as_ref().is_ok_and(|file| is_timer(file)) {
            self.timers.push(code.as_ptr() as usize);
        }
        let owner = file.map_or(Owner::Library, |file| self.owner_of_file(&file));
        self.known.insert(code.as_ptr() as usize, owner);
        if owner.is_on_paths() {
            let bytecode = code.getattr("co_code").and_then(|bytes| bytes.extract::<Vec<u8>>());
            self.instructions.insert(code.as_ptr() as usize, beginnings(&bytecode.unwrap_or_default()));
        }
        self.held.push(code.unbind());
        owner
    }
}

/// Bytes of a unit of bytecode: an instruction or an entry of its cache.
const UNIT: i32 = 2;
/// Python 3.11 has two instructions for a call, of which the second is not run where the first knows how to call.
const PRECALL: Option<u8> = if cfg!(all(Py_3_11, not(Py_3_12))) { Some(166) } else { None };

/// At which unit the instruction begins that each unit is part of. A frame that has called is at the instruction or at the end
/// of its cache, according to what the interpreter has learned of the call.
fn beginnings(bytecode: &[u8]) -> Box<[i32]> {
    let (mut begin, mut goes_on) = (0, false);
    let opcodes = bytecode.iter().step_by(UNIT as usize).zip(0..);
    let begins = opcodes.map(|(&opcode, unit)| {
        let is_cache = cfg!(Py_3_11) && opcode == 0;
        if !is_cache && !goes_on {
            begin = unit;
        }
        goes_on = if is_cache { goes_on } else { Some(opcode) == PRECALL };
        begin
    });
    begins.collect()
}

/// Puts a pending exception aside and back.
pub(super) struct Aside<'py>(Option<PyErr>, Python<'py>);

impl<'py> Aside<'py> {
    pub(super) fn new(py: Python<'py>) -> Self {
        Self(PyErr::take(py), py)
    }
}

impl Drop for Aside<'_> {
    fn drop(&mut self) {
        if let Some(error) = self.0.take() {
            error.restore(self.1);
        }
    }
}

/// Where internal frames keep what we read, by version (`pycore_frame.h`, `pystate.h`).
#[cfg(all(Py_3_11, not(Py_3_14)))]
pub(super) mod layout {
    /// An object → its type.
    pub(in crate::hooks) const TYPE: usize = 8;
    /// `PyThreadState` → (3.11, 3.12) its `cframe`, (3.13) the innermost frame.
    pub(in crate::hooks) const THREAD: usize = if cfg!(Py_3_13) { 72 } else { 56 };
    /// `_PyCFrame` → the innermost frame.
    pub(in crate::hooks) const CURRENT: Option<usize> = if cfg!(Py_3_13) {
        None
    } else if cfg!(Py_3_12) {
        Some(0)
    } else {
        Some(8)
    };
    /// `_PyInterpreterFrame` → its code object, the frame before, the current instruction, who owns it.
    pub(in crate::hooks) const CODE: usize = if cfg!(Py_3_12) { 0 } else { 32 };
    pub(in crate::hooks) const PREVIOUS: usize = if cfg!(Py_3_12) { 8 } else { 48 };
    pub(in crate::hooks) const INSTRUCTION: usize = 56;
    pub(in crate::hooks) const OWNER: usize = if cfg!(Py_3_12) { 70 } else { 69 };
    /// `FRAME_OWNED_BY_GENERATOR`.
    pub(in crate::hooks) const GENERATOR: u8 = 1;
    /// `FRAME_OWNED_BY_CSTACK`: no Python frame.
    pub(in crate::hooks) const C_STACK: u8 = 3;
    /// Its variables; the value stack lies after them.
    pub(in crate::hooks) const VARIABLES: usize = 72;
    /// `PyThreadState` → the state of the thread that began after it, and what Linux calls the thread.
    pub(in crate::hooks) const NEWER: usize = 0;
    pub(in crate::hooks) const NATIVE_ID: usize = if cfg!(all(Py_3_12, not(Py_3_13))) { 144 } else { 160 };
    /// Before the first instruction of a `PyCodeObject`: at which unit its function begins, an `int`.
    pub(in crate::hooks) const BEGINNING_BEFORE: usize = 16;
    /// `PyCodeObject` → its first instruction.
    pub(in crate::hooks) const FIRST_INSTRUCTION: usize = if cfg!(Py_3_13) {
        200
    } else if cfg!(Py_3_12) {
        192
    } else {
        184
    };
}

/// `PyThreadState`, `PyFrameObject` of 3.10 (`cpython/frameobject.h`).
#[cfg(not(Py_3_11))]
pub(super) mod layout {
    /// An object → its type.
    pub(in crate::hooks) const TYPE: usize = 8;
    pub(in crate::hooks) const THREAD: usize = 24;
    /// `PyThreadState` → the state of the thread that began after it, and what the C library calls the thread.
    pub(in crate::hooks) const NEWER: usize = 0;
    pub(in crate::hooks) const THREAD_ID: usize = 176;
    pub(in crate::hooks) const PREVIOUS: usize = 24;
    pub(in crate::hooks) const CODE: usize = 32;
    pub(in crate::hooks) const LAST_INSTRUCTION: usize = 96;
    /// Where the value stack begins.
    pub(in crate::hooks) const STACK: usize = 64;
}

/// An internal frame, read in place.
#[cfg(all(Py_3_10, not(Py_3_14)))]
#[derive(Clone, Copy)]
struct Frame(*const u8);

#[cfg(all(Py_3_10, not(Py_3_14)))]
impl Frame {
    /// The field at `offset` of what is at `at`.
    #[inline(always)]
    unsafe fn field(at: *const u8, offset: usize) -> *const u8 {
        // SAFETY: by contract of the callers, a field of a live struct.
        unsafe { at.add(offset).cast::<*const u8>().read() }
    }

    /// The innermost one of this thread.
    ///
    /// # Safety
    /// As for [`walk_in_place`].
    #[inline(always)]
    unsafe fn innermost() -> Option<Self> {
        // SAFETY: by contract, and the running thread's state is live.
        unsafe { Self::innermost_of(ffi::PyThreadState_Get()) }
    }

    /// The innermost one of a thread.
    ///
    /// # Safety
    /// As for [`walk_in_place`]; the state is live.
    #[inline(always)]
    unsafe fn innermost_of(thread: *mut ffi::PyThreadState) -> Option<Self> {
        // SAFETY: fields of a thread's state, at the offsets of this CPython version.
        unsafe {
            let frame = Self::field(thread.cast(), layout::THREAD);
            // A thread always has a `cframe`.
            #[cfg(Py_3_11)]
            let frame = layout::CURRENT.map_or(frame, |current| Self::field(frame, current));
            (!frame.is_null()).then_some(Self(frame))
        }
    }

    /// The one that called it.
    ///
    /// # Safety
    /// As for [`walk_in_place`].
    #[inline(always)]
    unsafe fn outer(self) -> Option<Self> {
        // SAFETY: frames below the running one change only while it runs, which it does not while we do.
        let frame = unsafe { Self::field(self.0, layout::PREVIOUS) };
        (!frame.is_null()).then_some(Self(frame))
    }

    /// Its code object and the instruction's offset in bytes; `None` where it is no Python frame, or none that has begun: from
    /// 3.12 on one lies around each `__init__` that the interpreter runs itself, of a code object in memory that cannot be
    /// written (`_PyFrame_IsIncomplete` in `pycore_frame.h`).
    ///
    /// # Safety
    /// As for [`walk_in_place`].
    #[inline(always)]
    unsafe fn place(self) -> Option<(usize, i32)> {
        // SAFETY: fields of a frame, at the offsets of this CPython version.
        unsafe {
            let code = Self::field(self.0, layout::CODE) as usize;
            #[cfg(Py_3_11)]
            {
                let first = code + layout::FIRST_INSTRUCTION;
                let offset = (Self::field(self.0, layout::INSTRUCTION) as usize).wrapping_sub(first) as i32;
                let begins = |first: usize| ((first - layout::BEGINNING_BEFORE) as *const i32).read() * UNIT;
                match self.0.add(layout::OWNER).read() {
                    layout::C_STACK => None,
                    owner => (owner == layout::GENERATOR || offset >= begins(first)).then_some((code, offset)),
                }
            }
            #[cfg(not(Py_3_11))]
            Some((code, self.0.add(layout::LAST_INSTRUCTION).cast::<i32>().read() * 2))
        }
    }
}

/// Calls `visit` with (code, instruction offset in bytes) from this thread's innermost frame outwards until it says stop.
///
/// # Safety
/// The interpreter's lock is held and [`agrees`] has found the layout to be right.
#[cfg(all(Py_3_10, not(Py_3_14)))]
#[inline(always)]
unsafe fn walk_in_place(visit: impl FnMut(*mut PyObject, i32) -> bool) {
    // SAFETY: by contract.
    unsafe { walk_from(Frame::innermost(), visit) };
}

/// As [`walk_in_place`], in the main thread, which stands still while this one has the lock.
///
/// # Safety
/// As for [`walk_in_place`].
#[cfg(all(Py_3_10, not(Py_3_14)))]
#[cold]
unsafe fn walk_main_in_place(visit: impl FnMut(*mut PyObject, i32) -> bool) {
    let main = MAIN.load(Relaxed);
    if !main.is_null() {
        // SAFETY: by contract; the main thread's state lives while Python code runs.
        unsafe { walk_from(Frame::innermost_of(main), visit) };
    }
}

/// # Safety
/// As for [`walk_in_place`]; the frame is one of a thread that stands still.
#[cfg(all(Py_3_10, not(Py_3_14)))]
#[inline(always)]
unsafe fn walk_from(mut frame: Option<Frame>, mut visit: impl FnMut(*mut PyObject, i32) -> bool) {
    // SAFETY: by contract.
    unsafe {
        for _ in 0..DEEPEST {
            let Some(current) = frame else { return };
            if let Some((code, offset)) = current.place()
                && visit(code as *mut PyObject, offset)
            {
                return;
            }
            frame = current.outer();
        }
    }
}

/// What tells the path through the script's code to the innermost frame from all others; `None` where frames are not read
/// in place, and in another thread than the main one.
///
/// # Safety
/// The interpreter's lock is held.
pub(crate) unsafe fn path(codes: &mut Codes) -> Option<u64> {
    // SAFETY: by contract.
    if !reads_in_place() || unsafe { ffi::PyThreadState_Get() } != MAIN.load(Relaxed) {
        return None;
    }
    let mut path = 0;
    // SAFETY: by contract, and `check` found the layout to be right; code objects of running frames live.
    unsafe {
        walk_in_place(|code, offset| {
            if codes.owner(code).is_on_paths()
                && let Some(at) = codes.on_path(code as usize, offset)
            {
                path = mixed(path, code as usize, at);
            }
            false
        });
    }
    Some(path)
}

/// Calls `visit` with (code, instruction offset in bytes) of the main thread's frames, innermost first. It needs no lock.
///
/// # Safety
/// This is the main thread: see [`in_main`].
pub(crate) unsafe fn each_in_main(mut visit: impl FnMut(usize, i32)) {
    if reads_in_place() {
        // SAFETY: by contract; nobody else changes this thread's frames.
        unsafe {
            walk_main_in_place(|code, offset| {
                visit(code as usize, offset);
                false
            });
        }
    }
}

/// Whether this is the main thread. It needs no lock.
#[inline]
pub(crate) fn in_main() -> bool {
    // SAFETY: the call always succeeds.
    MAIN_THREAD.load(Relaxed) == unsafe { libc::pthread_self() } as usize
}

/// What tells the instruction that the innermost frame is at from all others of code objects that live; `None` where
/// it cannot be told, or frames are not read in place.
///
/// # Safety
/// The interpreter's lock is held, and [`reads_in_place`].
#[inline(always)]
pub(super) unsafe fn instruction() -> Option<usize> {
    // SAFETY: by contract, fields of the innermost frame.
    #[cfg(all(Py_3_11, not(Py_3_14)))]
    unsafe {
        Some(Frame::field(Frame::innermost()?.0, layout::INSTRUCTION) as usize)
    }
    // SAFETY: as above.
    #[cfg(all(Py_3_10, not(Py_3_11)))]
    unsafe {
        let (code, at) = Frame::innermost()?.place()?;
        instruction_of(code as u64, at as u32 as u64)
    }
    #[cfg(not(all(Py_3_10, not(Py_3_14))))]
    None
}

/// As [`instruction`], where the thread in which [`follow`] was called last is the main one; `None` in any other. It calls
/// nothing.
///
/// # Safety
/// As for [`instruction`], in the thread in which [`follow`] was called last.
#[inline(always)]
pub(super) unsafe fn instruction_in_main() -> Option<usize> {
    let main = LAST.load(Relaxed);
    if main.is_null() {
        return None;
    }
    // SAFETY: by contract; the main thread's state lives while Python code runs.
    #[cfg(all(Py_3_11, not(Py_3_14)))]
    unsafe {
        Some(Frame::field(Frame::innermost_of(main)?.0, layout::INSTRUCTION) as usize)
    }
    // SAFETY: as above.
    #[cfg(all(Py_3_10, not(Py_3_11)))]
    unsafe {
        let (code, at) = Frame::innermost_of(main)?.place()?;
        instruction_of(code as u64, at as u32 as u64)
    }
    #[cfg(not(all(Py_3_10, not(Py_3_14))))]
    None
}

/// This thread is the one that asks from now on.
///
/// # Safety
/// The interpreter's lock is held.
pub(super) unsafe fn follow() {
    // SAFETY: by contract.
    let this = unsafe { ffi::PyThreadState_Get() };
    LAST.store(if this == MAIN.load(Relaxed) { this } else { std::ptr::null_mut() }, Relaxed);
}

/// [`instruction`] from the first two words of a [`Place`].
pub(super) fn instruction_of(code: u64, at: u64) -> Option<usize> {
    #[cfg(all(Py_3_11, not(Py_3_14)))]
    return Some(code as usize + layout::FIRST_INSTRUCTION + at as usize);
    // Addresses have 48 bits. What differs within one code comes last, where lines are told apart.
    #[cfg(not(all(Py_3_11, not(Py_3_14))))]
    (at < 1 << 16).then_some((code << 16 | at) as usize)
}

/// Whether an object is one of the constants of a code object.
///
/// # Safety
/// The interpreter's lock is held and the code object is live.
pub(super) unsafe fn is_constant(code: u64, object: *mut PyObject) -> bool {
    // SAFETY: by contract.
    let py = unsafe { Python::assume_attached() };
    let _aside = Aside::new(py);
    // SAFETY: a live object, borrowed.
    let constants = unsafe { Bound::from_borrowed_ptr(py, code as usize as *mut PyObject) }.getattr("co_consts");
    let has = |constants: Bound<'_, PyAny>| -> PyResult<bool> {
        Ok(constants.cast::<pyo3::types::PyTuple>()?.iter_borrowed().any(|constant| constant.as_ptr() == object))
    };
    constants.and_then(has).unwrap_or(false)
}

/// Whether [`check`] has found that frames can be read in place.
pub(super) fn reads_in_place() -> bool {
    READ_IN_PLACE.load(Relaxed)
}

#[cfg(not(all(Py_3_10, not(Py_3_14))))]
unsafe fn walk_in_place(_: impl FnMut(*mut PyObject, i32) -> bool) {}

#[cfg(not(all(Py_3_10, not(Py_3_14))))]
unsafe fn walk_main_in_place(_: impl FnMut(*mut PyObject, i32) -> bool) {}

/// Walks by the public API; `visit` gets the frame, outermost last, until it says stop; whether it did.
fn walk<'py>(py: Python<'py>, visit: impl FnMut(&Bound<'py, PyAny>) -> PyResult<bool>) -> PyResult<bool> {
    // SAFETY: the lock is held; the result is borrowed, or null where no Python code runs.
    walk_out(unsafe { Bound::from_borrowed_ptr_or_opt(py, ffi::PyEval_GetFrame().cast()) }, visit)
}

/// As [`walk`], in the main thread.
fn walk_main<'py>(py: Python<'py>, visit: impl FnMut(&Bound<'py, PyAny>) -> PyResult<bool>) -> PyResult<bool> {
    let main = py.import("threading")?.call_method0("main_thread")?.getattr("ident")?;
    walk_out(py.import("sys")?.call_method0("_current_frames")?.call_method1("get", (main,))?.into(), visit)
}

fn walk_out<'py>(
    mut frame: Option<Bound<'py, PyAny>>,
    mut visit: impl FnMut(&Bound<'py, PyAny>) -> PyResult<bool>,
) -> PyResult<bool> {
    for _ in 0..DEEPEST {
        let Some(current) = frame else { break };
        if visit(&current)? {
            return Ok(true);
        }
        let back = current.getattr("f_back")?;
        frame = (!back.is_none()).then_some(back);
    }
    Ok(false)
}

/// Whether reading in place gives the frames that the public API gives, all the way out; from then on it is used.
pub(crate) fn check(py: Python<'_>) -> bool {
    let known = py.version_info() >= (3, 10) && py.version_info() < (3, 14) && cfg!(target_pointer_width = "64");
    let same_build = (py.version_info().major, py.version_info().minor) == (3, built_for());
    let agree = known && same_build && agrees(py).unwrap_or(false);
    READ_IN_PLACE.store(agree, Relaxed);
    find_main(py);
    agree
}

/// Remembers the main thread's state, if this is it.
fn find_main(py: Python<'_>) {
    if super::platform::is_main_thread() {
        this_is_main(py);
    }
}

/// The address of the main thread's state, where it is known.
pub(super) fn main_thread() -> Option<usize> {
    let main = MAIN.load(Relaxed) as usize;
    (main != 0).then_some(main)
}

/// This thread is the main one: whichever calls fork is, in the child.
pub(crate) fn this_is_main(_: Python<'_>) {
    // SAFETY: the lock is held.
    MAIN.store(unsafe { ffi::PyThreadState_Get() }, Relaxed);
    // SAFETY: the call always succeeds.
    MAIN_THREAD.store(unsafe { libc::pthread_self() } as usize, Relaxed);
    super::state::forget_last_thread();
}

/// Minor version of Python whose layout was compiled in.
const fn built_for() -> u8 {
    if cfg!(Py_3_13) {
        13
    } else if cfg!(Py_3_12) {
        12
    } else if cfg!(Py_3_11) {
        11
    } else {
        10
    }
}

fn agrees(py: Python<'_>) -> PyResult<bool> {
    let mut public = Vec::new();
    walk(py, |frame| {
        let last: i32 = frame.getattr("f_lasti")?.extract()?;
        public.push((frame.getattr("f_code")?.as_ptr() as usize, last));
        Ok(false)
    })?;
    let mut read = Vec::new();
    // SAFETY: this is the check itself, of memory that exists: the gate has let this version in, and its offsets were
    // taken from its headers. The walk ends at the first difference.
    unsafe {
        walk_in_place(|code, offset| {
            let same = public.get(read.len()) == Some(&(code as usize, offset));
            read.push((code as usize, offset));
            !same
        });
    }
    Ok(!public.is_empty() && public == read)
}

/// Where the running call comes from: user code, instruction (or line), the library code it called; 0 where unknown.
/// `None` while a library is being imported.
///
/// # Safety
/// The interpreter's lock is held.
#[inline(always)]
pub(super) unsafe fn place(codes: &mut Codes) -> Option<Place> {
    let mut search = Search::default();
    if READ_IN_PLACE.load(Relaxed) {
        // SAFETY: `check` found the layout to be right; code objects of running frames live.
        unsafe {
            walk_in_place(|code, offset| search.visit(codes, code, u64::from(offset as u32)));
            if search.user == 0 && !search.import {
                walk_main_in_place(|code, offset| search.visit_main(codes, code, u64::from(offset as u32)));
            }
        }
    } else {
        // SAFETY: by contract.
        search = unsafe { search_by_api(codes) };
    }
    match search {
        Search { import: true, .. } => None,
        Search { user: 0, package, .. } => Some([0, 0, package]),
        Search { user, at, library, .. } => Some([user, at, library]),
    }
}

/// What was found on the way out to the first user frame.
#[derive(Default)]
struct Search {
    user: u64,
    at: u64,
    library: u64,
    /// The outermost package's, where there is no user frame.
    package: u64,
    import: bool,
}

impl Search {
    /// Looks at a frame; true where the search ends.
    ///
    /// # Safety
    /// `code` is a live code object and the interpreter's lock is held.
    #[inline(always)]
    unsafe fn visit(&mut self, codes: &mut Codes, code: *mut PyObject, at: u64) -> bool {
        // SAFETY: by contract.
        match unsafe { codes.owner(code) } {
            Owner::User => {
                (self.user, self.at) = (code as u64, at);
                return true;
            }
            Owner::Library => self.library = code as u64,
            Owner::Package => (self.library, self.package) = (code as u64, code as u64),
            Owner::Import => self.import = true,
        }
        self.import
    }

    /// Looks at a frame of the main thread, where this one has no user's; true where the search ends.
    ///
    /// # Safety
    /// As for [`Search::visit`].
    unsafe fn visit_main(&mut self, codes: &mut Codes, code: *mut PyObject, at: u64) -> bool {
        // SAFETY: by contract.
        let is_user = unsafe { codes.owner(code) } == Owner::User;
        if is_user {
            (self.user, self.at) = (code as u64, at);
        }
        is_user
    }
}

/// # Safety
/// The interpreter's lock is held.
#[cold]
unsafe fn search_by_api(codes: &mut Codes) -> Search {
    // SAFETY: by contract.
    let py = unsafe { Python::assume_attached() };
    let _aside = Aside::new(py);
    let mut search = Search::default();
    // A frame that cannot be read leaves the place unknown.
    let _ = walk(py, |frame| {
        let (code, line) = code_and_line(frame)?;
        // SAFETY: its frame holds the code.
        Ok(unsafe { search.visit(codes, code.as_ptr(), line) })
    });
    if search.user == 0 && !search.import {
        let _ = walk_main(py, |frame| {
            let (code, line) = code_and_line(frame)?;
            // SAFETY: its frame holds the code.
            Ok(unsafe { search.visit_main(codes, code.as_ptr(), line) })
        });
    }
    search
}

fn code_and_line<'py>(frame: &Bound<'py, PyAny>) -> PyResult<(Bound<'py, PyAny>, u64)> {
    Ok((frame.getattr("f_code")?, LINE | frame.getattr("f_lineno")?.extract::<u64>().unwrap_or(0)))
}

/// The same place for people: file, line, function, and the public name of the library function in between. In a worker that
/// runs no code of the script's only the package at work is known.
pub(crate) fn site<'py>(py: Python<'py>, codes: &mut Codes) -> Site {
    let _aside = Aside::new(py);
    let mut look = Look::new(codes);
    let mut found = walk(py, |frame| look.visit(frame));
    if found.as_ref().is_ok_and(|found| !found) {
        found = walk_main(py, |frame| look.visit(frame));
    }
    if let Ok(found) = found {
        if !found {
            look.via = look.package.take();
        }
        // What the recorder itself calls on behalf of a line is no library function between it and the op.
        look.site.via = look.library().filter(|name| !name.starts_with("breakeven."));
        look.note_package();
    }
    look.site
}

/// Whether the innermost frame may be one that [`own_site`] takes: the script's, or one of a library that runs code on behalf
/// of a line.
///
/// # Safety
/// The interpreter's lock is held.
pub(super) unsafe fn may_be_own(codes: &mut Codes) -> bool {
    if !reads_in_place() {
        return true;
    }
    let mut own = true;
    // SAFETY: by contract, and `check` found the layout to be right; code objects of running frames live.
    unsafe {
        walk_in_place(|code, _| {
            own = codes.owner(code) == Owner::User || codes.times_others(code as usize);
            true
        });
    }
    own
}

/// As [`site`], where it is this thread's own: user code did it itself, or one of the library functions did whose names
/// begin like this.
pub(super) fn own_site(py: Python<'_>, codes: &mut Codes, but: &[&str]) -> Option<Site> {
    let _aside = Aside::new(py);
    let mut look = Look::new(codes);
    let found = walk(py, |frame| look.visit(frame)).is_ok_and(|found| found);
    if look.via.is_some() {
        look.site.via = Some(look.library()?);
    }
    let own = look.site.via.as_deref().is_none_or(|via| but.iter().any(|but| via.starts_with(but)));
    (found && own && !look.site.file.is_empty()).then_some(look.site)
}

/// A look outwards for user code.
struct Look<'codes, 'py> {
    codes: &'codes mut Codes,
    site: Site,
    /// The library's frame that it called.
    via: Option<Bound<'py, PyAny>>,
    /// The outermost frame of a package.
    package: Option<Bound<'py, PyAny>>,
}

impl<'codes, 'py> Look<'codes, 'py> {
    fn new(codes: &'codes mut Codes) -> Self {
        Self { codes, site: Site::default(), via: None, package: None }
    }

    /// Looks at a frame; whether it is user code's.
    fn visit(&mut self, frame: &Bound<'py, PyAny>) -> PyResult<bool> {
        let code = frame.getattr("f_code")?;
        // SAFETY: a live code object, held by its frame.
        let owner = unsafe { self.codes.owner(code.as_ptr()) };
        if owner != Owner::User {
            // A decorator's wrapper is not what people call it.
            if self.via.is_none() || !function(&code)?.contains("<locals>") {
                self.via = Some(frame.clone());
            }
            if owner == Owner::Package {
                self.package = Some(frame.clone());
            }
            return Ok(false);
        }
        self.site.file = code.getattr("co_filename")?.extract()?;
        self.site.line = frame.getattr("f_lineno")?.extract().unwrap_or(0);
        self.site.function = function(&code)?;
        Ok(true)
    }

    /// Remembers the package that the library function is of.
    fn note_package(&mut self) {
        let file = || -> PyResult<String> {
            let via = self.via.as_ref().ok_or_else(|| PyValueError::new_err("no function"))?;
            via.getattr("f_code")?.getattr("co_filename")?.extract()
        };
        if let (Ok(file), Some(via)) = (file(), &self.site.via)
            && package(&file).is_some_and(|package| !RECORDED.contains(&package))
            && let Some(package) = via.split('.').next()
        {
            self.codes.installed.insert(package.to_owned());
        }
    }

    /// The name of the library function that user code called.
    fn library(&self) -> Option<String> {
        self.via.as_ref().and_then(|frame| library_name(frame).ok())
    }
}

fn function(code: &Bound<'_, PyAny>) -> PyResult<String> {
    code.getattr("co_qualname").or_else(|_| code.getattr("co_name"))?.extract()
}

fn library_name(frame: &Bound<'_, PyAny>) -> PyResult<String> {
    let module: String = frame.getattr("f_globals")?.get_item("__name__")?.extract()?;
    let code = frame.getattr("f_code")?;
    Ok(canonical(&format!("{module}.{}", function(&code)?)).into_owned())
}
