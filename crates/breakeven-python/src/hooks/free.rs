//! The time that PyTorch takes to give memory back: its entry for `free` in the table of functions from elsewhere.
//!
//! A large tensor that dies is unmapped, which takes as long as a pass over it and happens between ops: without this it
//! would look like Python code that a GPU leaves as it is.

use super::patch::{Cell, Patches};
use super::paths;
use super::platform::Mappings;
use super::{clock, state};
use crate::modules::{look_for_its_end, may_be_over};
use pyo3::prelude::*;
use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicBool, Ordering};

/// The library that holds PyTorch's allocator.
const LIBRARY: &str = "libc10.so";

/// Ticks from which on memory was given back to the system, and not only to the C library.
const LONG: u64 = 10_000;

unsafe extern "C" fn free(pointer: *mut c_void) {
    if !state::recording() {
        // SAFETY: passed on as it came.
        return unsafe { libc::free(pointer) };
    }
    let began = clock::now();
    // SAFETY: as above.
    unsafe { libc::free(pointer) };
    // Nothing else is seen of ops that go unwatched.
    if may_be_over(began) {
        ask();
    }
    let took = clock::now().saturating_sub(began);
    if took > LONG {
        state::with_thread(|thread| thread.freed(took));
    }
}

unsafe extern "C" fn allocate(pointer: *mut *mut c_void, alignment: usize, size: usize) -> c_int {
    let recording = state::recording();
    if recording && paths::reached_unwatched(size) {
        ask();
    }
    // SAFETY: passed on as it came.
    let error = unsafe { libc::posix_memalign(pointer, alignment, size) };
    if recording && error == 0 {
        // SAFETY: it has just been written.
        paths::given(unsafe { *pointer } as usize);
    }
    error
}

/// The main thread has been asked to look whether a loop is over.
static ASKED: AtomicBool = AtomicBool::new(false);

#[cold]
fn ask() {
    if !ASKED.swap(true, Ordering::Relaxed) {
        // SAFETY: may be called from any thread, with or without Python's lock.
        let refused = unsafe { pyo3::ffi::Py_AddPendingCall(Some(look), std::ptr::null_mut()) };
        ASKED.store(refused == 0, Ordering::Relaxed);
    }
}

extern "C" fn look(_: *mut c_void) -> c_int {
    let mut raised = None;
    state::guard(|| {
        // SAFETY: Python calls this with its lock held.
        let py = unsafe { Python::assume_attached() };
        let end = |()| if may_be_over(clock::now()) { look_for_its_end(py) } else { Ok(()) };
        raised = paths::look(py).and_then(end).err().map(|error| error.restore(py));
    });
    ASKED.store(false, Ordering::Relaxed);
    if raised.is_some() { -1 } else { 0 }
}

/// Times what PyTorch gives back from now on; whether it could be hooked.
#[pyfunction]
pub(crate) fn time_frees(py: Python<'_>) -> bool {
    let frees = free as unsafe extern "C" fn(*mut c_void) as *mut c_void;
    let freeing = libc::free as unsafe extern "C" fn(*mut c_void) as *mut c_void;
    let allocates = allocate as unsafe extern "C" fn(*mut *mut c_void, usize, usize) -> c_int as *mut c_void;
    let allocating =
        libc::posix_memalign as unsafe extern "C" fn(*mut *mut c_void, usize, usize) -> c_int as *mut c_void;
    state::with(py, |state| {
        replace(&mut state.patches, "posix_memalign", allocating, allocates);
        replace(&mut state.patches, "free", freeing, frees)
    })
    .unwrap_or(false)
}

/// Only where the entry leads to the very function that ours passes on to: another allocator's is left alone.
fn replace(patches: &mut Patches, name: &str, original: *mut c_void, ours: *mut c_void) -> bool {
    let Some(cell) = cell(name) else { return false };
    if !Mappings::read().is_writable(cell as usize) {
        return false;
    }
    // SAFETY: the entry lies in a loaded library's writable memory and is aligned; libraries with static
    // initialisers stay loaded.
    let found = unsafe { (*cell).load(Ordering::Acquire) };
    if found == original {
        patches.mechanism = usize::MAX;
        // SAFETY: as above; both functions have the same signature.
        unsafe { patches.replace(cell, original, ours) };
    }
    found == original || found == ours
}

/// Where the library keeps the address of a function.
#[cfg(target_os = "linux")]
fn cell(function: &str) -> Option<Cell> {
    let library = plt_rs::collect_modules().into_iter().find(|of| of.name().ends_with(LIBRARY))?;
    let library = plt_rs::DynamicLibrary::initialize(library).ok()?;
    let (symbols, names) = (library.symbols()?, library.string_table());
    let entry = library.plt_rela()?.entries().iter().find(|entry| {
        symbols.resolve_name(entry.symbol_index() as usize, names).is_some_and(|name| name == function)
    })?;
    Some((library.base_addr() + entry.r_offset as usize) as Cell)
}

/// Where the library keeps the address of a function: looked up on Linux only.
#[cfg(not(target_os = "linux"))]
fn cell(_: &str) -> Option<Cell> {
    None
}
