//! NumPy's default memory handler (NEP 49): which buffers come and go.
//!
//! The handler may run without the interpreter's lock: then what happened goes through a ring that needs no lock, which the
//! next event empties. Where the lock is held it is known at once, and quickly for buffers that come and go at the same few
//! addresses, as in every loop over small arrays. Sizes and pointers are passed through unchanged.

use super::patch::{Cell, Patches, Refused};
use super::platform::Mappings;
use super::{clock, state};
use crate::buffers::Buffers;
use pyo3::ffi::{self, PyObject};
use std::cell::UnsafeCell;
use std::ffi::{c_char, c_void};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, Ordering};

/// `PyDataMem_Handler`, version 1 (`ndarraytypes.h`).
#[repr(C)]
struct Handler {
    name: [c_char; 127],
    version: u8,
    context: *mut c_void,
    malloc: *mut c_void,
    calloc: *mut c_void,
    realloc: *mut c_void,
    free: *mut c_void,
}

type Malloc = unsafe extern "C" fn(*mut c_void, usize) -> *mut c_void;
type Calloc = unsafe extern "C" fn(*mut c_void, usize, usize) -> *mut c_void;
type Realloc = unsafe extern "C" fn(*mut c_void, *mut c_void, usize) -> *mut c_void;
type Free = unsafe extern "C" fn(*mut c_void, *mut c_void, usize);

/// From this size on the C library may give memory back to the system, which takes as long as a pass over it.
const LARGE: usize = 128 << 10;

/// Index of `PyDataMem_DefaultHandler` in NumPy's table of C functions.
const DEFAULT_HANDLER: usize = 306;

static ORIGINALS: [AtomicPtr<c_void>; 4] = [const { AtomicPtr::new(std::ptr::null_mut()) }; 4];

/// What happened to a buffer: allocated with so many bytes, or freed.
#[derive(Clone, Copy)]
struct Change {
    address: usize,
    bytes: u64,
}
const FREED: u64 = u64::MAX;

impl Change {
    fn pass_on(self, buffers: &mut Buffers) {
        if self.bytes == FREED {
            buffers.freed(self.address);
        } else {
            buffers.allocated(self.address, self.bytes);
        }
    }
}

/// A bounded queue of many writers and one reader (Vyukov's): `turn` tells whose a cell is.
struct Ring {
    cells: [RingCell; Self::LEN],
    head: AtomicUsize,
    tail: AtomicUsize,
    lost: AtomicU64,
    /// Something was written since the reader last began to read; written after what it tells of.
    written: AtomicBool,
}

struct RingCell {
    /// Counted from the cell's index: equal to a writer's ticket, the cell is free for it; one more, it is full.
    turn: AtomicUsize,
    change: UnsafeCell<Change>,
}

// SAFETY: a writer touches `change` only between taking its ticket and advancing `turn`, the reader only after that,
// and hands the cell on by advancing `turn` again.
unsafe impl Sync for RingCell {}

impl Ring {
    const LEN: usize = 1 << 12;

    const fn new() -> Self {
        Self {
            cells: [const {
                RingCell { turn: AtomicUsize::new(0), change: UnsafeCell::new(Change { address: 0, bytes: 0 }) }
            }; Self::LEN],
            head: AtomicUsize::new(0),
            tail: AtomicUsize::new(0),
            lost: AtomicU64::new(0),
            written: AtomicBool::new(false),
        }
    }

    #[inline(never)]
    fn push(&self, change: Change) {
        let mut ticket = self.head.load(Ordering::Relaxed);
        loop {
            let cell = &self.cells[ticket % Self::LEN];
            let lap = ticket - ticket % Self::LEN;
            match cell.turn.load(Ordering::Acquire).wrapping_sub(lap) as isize {
                0 => {
                    match self.head.compare_exchange_weak(ticket, ticket + 1, Ordering::Relaxed, Ordering::Relaxed) {
                        Ok(_) => {
                            // SAFETY: the ticket gives this cell to this writer alone.
                            unsafe { *cell.change.get() = change };
                            cell.turn.store(lap + 1, Ordering::Release);
                            self.written.store(true, Ordering::Release);
                            return;
                        }
                        Err(now) => ticket = now,
                    }
                }
                behind if behind < 0 => {
                    self.lost.fetch_add(1, Ordering::Relaxed);
                    return;
                }
                _ => ticket = self.head.load(Ordering::Relaxed),
            }
        }
    }

    /// Whether all changes so far were read. Those that happened before this call, by any order of memory, count.
    #[inline]
    fn is_empty(&self) -> bool {
        !self.written.load(Ordering::Relaxed)
    }

    /// Begins to read. Until [`Ring::read`], what is written counts as not read.
    #[inline]
    fn reads(&self) {
        self.written.swap(false, Ordering::AcqRel);
    }

    /// Ends reading: behind a change that was not quite written, others may wait.
    #[inline]
    fn read(&self) {
        if self.head.load(Ordering::Acquire) != self.tail.load(Ordering::Relaxed) {
            self.written.store(true, Ordering::Release);
        }
    }

    /// Changes that wait, roughly: the reader may overtake a writer that looks.
    #[cfg(test)]
    fn waiting(&self) -> usize {
        let head = self.head.load(Ordering::Relaxed);
        head.saturating_sub(self.tail.load(Ordering::Relaxed))
    }

    /// The oldest change. One reader at a time: the caller holds the interpreter's lock.
    #[inline]
    fn pop(&self) -> Option<Change> {
        let ticket = self.tail.load(Ordering::Relaxed);
        let cell = &self.cells[ticket % Self::LEN];
        let lap = ticket - ticket % Self::LEN;
        if cell.turn.load(Ordering::Acquire) != lap + 1 {
            return None;
        }
        // SAFETY: the writer has finished with it, and no other will take it before `turn` advances.
        let change = unsafe { *cell.change.get() };
        cell.turn.store(lap + Self::LEN, Ordering::Release);
        self.tail.store(ticket + 1, Ordering::Relaxed);
        Some(change)
    }
}

static RING: Ring = Ring::new();

/// Passes on what happened to NumPy's buffers since the last time.
#[inline]
pub(crate) fn drain(buffers: &mut Buffers) {
    buffers.settle();
    if RING.is_empty() {
        return;
    }
    RING.reads();
    while let Some(change) = RING.pop() {
        change.pass_on(buffers);
    }
    RING.read();
}

/// Whether all that happened was passed on.
#[inline(always)]
pub(crate) fn is_drained() -> bool {
    RING.is_empty()
}

/// Changes that found no room since the last time.
pub(crate) fn lost() -> u64 {
    RING.lost.swap(0, Ordering::Relaxed)
}

/// NumPy keeps freed buffers of fewer bytes in lists that nothing but the interpreter's lock guards (`alloc.c`), so it
/// holds the lock when it asks its default handler for one or gives one back.
const LOCKED_BELOW: usize = 1024;

/// Whether this thread holds the interpreter's lock; false for the threads of other interpreters than the first.
fn holds_lock() -> bool {
    // SAFETY: they read what this thread is, and whose turn it is, at any time. Until 3.11 the latter is one for all.
    unsafe {
        let running = ffi::compat::PyThreadState_GetUnchecked();
        !running.is_null() && running == ffi::PyGILState_GetThisThreadState()
    }
}

/// Passes a change on; what happens without the interpreter's lock goes through the ring.
#[inline]
fn allocated(pointer: *mut c_void, bytes: usize) {
    let change = Change { address: pointer as usize, bytes: bytes as u64 };
    pass_on(change, bytes, |buffers| buffers.allocated_just_now(change.address, change.bytes));
}

/// As [`allocated`]; where `bytes` is not known, it is `usize::MAX`.
#[inline]
fn freed(pointer: *mut c_void, bytes: usize) {
    let change = Change { address: pointer as usize, bytes: FREED };
    pass_on(change, bytes, |buffers| buffers.freed_lately(change.address));
}

/// Passes on a change of a buffer of so many bytes, which may be one of those that `lately` knows.
fn pass_on(change: Change, bytes: usize, lately: impl FnOnce(&mut Buffers) -> bool) {
    if change.address == 0 || !state::recording() {
        return;
    }
    let lately = |buffers: &mut Buffers| buffers.settle_lately() && lately(buffers);
    let is_known = (bytes < LOCKED_BELOW || holds_lock()) && (told(lately) || told_at_length(change));
    if !is_known {
        RING.push(change);
    }
}

/// Passes a change on after those in the ring, where the lock is held and nobody is in the state.
#[inline(never)]
fn told_at_length(change: Change) -> bool {
    // SAFETY: the lock is held; a change of a buffer calls nothing that asks NumPy for memory.
    let Some(state) = (unsafe { state::open() }) else { return false };
    let buffers = &mut state.recorder.buffers;
    state::guard(|| {
        drain(buffers);
        change.pass_on(buffers);
    });
    true
}

/// Passes a change of a small buffer on at once; false where it has to wait, as behind changes in the ring.
#[inline(always)]
fn allocated_small(pointer: *mut c_void, bytes: usize) -> bool {
    bytes < LOCKED_BELOW && told(|buffers| buffers.allocated_just_now(pointer as usize, bytes as u64))
}

/// As [`allocated_small`].
#[inline(always)]
fn freed_small(pointer: *mut c_void, bytes: usize) -> bool {
    bytes < LOCKED_BELOW && told(|buffers| buffers.freed_lately(pointer as usize))
}

#[inline(always)]
fn told(change: impl FnOnce(&mut Buffers) -> bool) -> bool {
    // SAFETY: see `LOCKED_BELOW`; a change of a buffer calls nothing.
    RING.is_empty() && unsafe { state::open() }.is_some_and(|state| change(&mut state.recorder.buffers))
}

unsafe extern "C" fn malloc(context: *mut c_void, bytes: usize) -> *mut c_void {
    // SAFETY: `hook` stored the original before it published this.
    let original: Malloc = unsafe { std::mem::transmute(ORIGINALS[0].load(Ordering::Relaxed)) };
    // SAFETY: passed on as it came.
    let pointer = unsafe { original(context, bytes) };
    // None at all is noted as nothing.
    if allocated_small(pointer, bytes) {
        return pointer;
    }
    allocated_at_length(pointer, bytes)
}

/// What is not done in place, so that the rest needs next to no registers.
#[inline(never)]
extern "C" fn allocated_at_length(pointer: *mut c_void, bytes: usize) -> *mut c_void {
    allocated(pointer, bytes);
    pointer
}

unsafe extern "C" fn calloc(context: *mut c_void, count: usize, size: usize) -> *mut c_void {
    // SAFETY: as above.
    let original: Calloc = unsafe { std::mem::transmute(ORIGINALS[1].load(Ordering::Relaxed)) };
    // SAFETY: passed on as it came.
    let pointer = unsafe { original(context, count, size) };
    allocated(pointer, count.saturating_mul(size));
    pointer
}

unsafe extern "C" fn realloc(context: *mut c_void, old: *mut c_void, bytes: usize) -> *mut c_void {
    // SAFETY: as above.
    let original: Realloc = unsafe { std::mem::transmute(ORIGINALS[2].load(Ordering::Relaxed)) };
    // Told before the fact, as in `free`. Where it fails the old block lives on, and its next use makes it known.
    freed(old, usize::MAX);
    // SAFETY: passed on as it came.
    let pointer = unsafe { original(context, old, bytes) };
    allocated(pointer, bytes);
    pointer
}

unsafe extern "C" fn free(context: *mut c_void, pointer: *mut c_void, bytes: usize) {
    if freed_small(pointer, bytes) {
        // SAFETY: as above.
        let original: Free = unsafe { std::mem::transmute(ORIGINALS[3].load(Ordering::Relaxed)) };
        // SAFETY: passed on as it came.
        return unsafe { original(context, pointer, bytes) };
    }
    // SAFETY: passed on as it came.
    unsafe { free_at_length(context, pointer, bytes) }
}

#[inline(never)]
unsafe extern "C" fn free_at_length(context: *mut c_void, pointer: *mut c_void, bytes: usize) {
    // SAFETY: as above.
    let original: Free = unsafe { std::mem::transmute(ORIGINALS[3].load(Ordering::Relaxed)) };
    // Told before the fact: afterwards the address may be somebody else's.
    freed(pointer, bytes);
    if bytes < LARGE || bytes == usize::MAX || !state::recording() {
        // SAFETY: passed on as it came.
        return unsafe { original(context, pointer, bytes) };
    }
    let began = clock::now();
    // SAFETY: passed on as it came.
    unsafe { original(context, pointer, bytes) };
    state::with_thread(|thread| thread.freed(clock::now().saturating_sub(began)));
}

/// Hooks the default handler, found through NumPy's table of C functions.
///
/// # Safety
/// `capsule` is NumPy's `_ARRAY_API`, of a version whose table has the default handler.
pub(super) unsafe fn hook(patches: &mut Patches, maps: &Mappings, capsule: *mut PyObject) -> Result<(), Refused> {
    // SAFETY: by contract the capsule holds the table, whose entry is the address of a capsule of a handler. Handler
    // and table are static.
    let handler = unsafe {
        let table = ffi::PyCapsule_GetPointer(capsule, std::ptr::null()).cast::<*mut *mut PyObject>();
        let handler = if table.is_null() {
            std::ptr::null_mut()
        } else {
            ffi::PyCapsule_GetPointer(**table.add(DEFAULT_HANDLER), c"mem_handler".as_ptr()).cast::<Handler>()
        };
        if handler.is_null() {
            ffi::PyErr_Clear();
            return Err(Refused::Empty);
        }
        handler
    };
    // SAFETY: a static handler.
    let cells: [(Cell, *mut c_void); 4] = unsafe {
        if (*handler).version != 1 {
            return Err(Refused::Empty);
        }
        [
            ((&raw const (*handler).malloc).cast(), malloc as Malloc as *mut c_void),
            ((&raw const (*handler).calloc).cast(), calloc as Calloc as *mut c_void),
            ((&raw const (*handler).realloc).cast(), realloc as Realloc as *mut c_void),
            ((&raw const (*handler).free).cast(), free as Free as *mut c_void),
        ]
    };
    for (original, (cell, ours)) in ORIGINALS.iter().zip(cells) {
        // SAFETY: fields of the static handler; signatures as named.
        unsafe {
            if (*cell).load(Ordering::Relaxed) == ours {
                continue;
            }
            let now = patches.original(maps, cell)?;
            original.store(now, Ordering::Relaxed);
            patches.replace(cell, now, ours);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_come_out_in_order_and_none_twice() {
        let ring: Box<Ring> = Box::new(Ring::new());
        for lap in 0..3 {
            for i in 0..Ring::LEN {
                ring.push(Change { address: lap * Ring::LEN + i, bytes: 8 });
            }
            ring.push(Change { address: 0, bytes: 8 });
            assert_eq!(ring.lost.swap(0, Ordering::Relaxed), 1);
            for i in 0..Ring::LEN {
                assert_eq!(ring.pop().map(|c| c.address), Some(lap * Ring::LEN + i));
            }
            assert!(ring.pop().is_none());
        }
    }

    #[test]
    fn eight_writers_lose_nothing() {
        const EACH: usize = 100_000;
        let ring: Box<Ring> = Box::new(Ring::new());
        let mut seen = vec![0; 8];
        std::thread::scope(|scope| {
            let ring = &ring;
            for writer in 0..8 {
                scope.spawn(move || {
                    for i in 0..EACH {
                        // The tests' reader may be slow: wait for room instead of losing.
                        while ring.waiting() > Ring::LEN / 2 {
                            std::thread::yield_now();
                        }
                        ring.push(Change { address: i, bytes: writer });
                    }
                });
            }
            let mut left = 8 * EACH;
            while left > 0 {
                assert_eq!(ring.lost.load(Ordering::Relaxed), 0);
                if let Some(change) = ring.pop() {
                    assert_eq!(change.address, seen[change.bytes as usize]);
                    seen[change.bytes as usize] += 1;
                    left -= 1;
                }
            }
        });
        assert_eq!(ring.lost.load(Ordering::Relaxed), 0);
        assert_eq!(seen, [EACH; 8]);
    }
}
