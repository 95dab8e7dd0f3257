//! Replacing one function pointer, and putting it back.

use super::platform::Mappings;
use std::ffi::c_void;
use std::sync::atomic::{AtomicPtr, Ordering};

/// A function pointer in NumPy's or Python's memory.
pub(super) type Cell = *const AtomicPtr<c_void>;

/// Why a pointer was left alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refused {
    /// It is null.
    Empty,
    /// It lies in memory that may not be written.
    ReadOnly,
    /// It points to code that is neither NumPy's nor Python's: somebody else was here first.
    Foreign,
    /// No trampoline is left for this calling convention.
    Full,
}

impl Refused {
    /// For people, after the mechanism's name.
    pub(super) const fn text(self) -> &'static str {
        match self {
            Self::Empty => "NumPy has no such function pointer here",
            Self::ReadOnly => "the function pointer lies in read-only memory",
            Self::Foreign => "another tool has replaced the function already",
            Self::Full => "there are more functions than hooks",
        }
    }
}

/// One replaced pointer.
#[derive(Clone, Copy)]
struct Patch {
    cell: usize,
    original: usize,
    ours: usize,
    /// Index of the mechanism that it belongs to.
    mechanism: usize,
}

/// All replaced pointers, to be put back.
#[derive(Default)]
pub(crate) struct Patches {
    list: Vec<Patch>,
    /// What is being installed now.
    pub(super) mechanism: usize,
}

impl Patches {
    /// What the cell holds, if it may be replaced.
    ///
    /// # Safety
    /// `cell` is aligned and readable for as long as the process lives.
    pub(super) unsafe fn original(&self, maps: &Mappings, cell: Cell) -> Result<*mut c_void, Refused> {
        // SAFETY: by contract.
        let original = unsafe { (*cell).load(Ordering::Acquire) };
        if original.is_null() {
            Err(Refused::Empty)
        } else if !maps.is_writable(cell as usize) {
            Err(Refused::ReadOnly)
        } else if !maps.is_trusted(original) {
            Err(Refused::Foreign)
        } else {
            Ok(original)
        }
    }

    /// Writes `ours` where `original` is. The trampoline must know its original by now.
    ///
    /// # Safety
    /// As for [`Patches::original`], which has said that the cell holds `original`; `ours` has its signature.
    pub(super) unsafe fn replace(&mut self, cell: Cell, original: *mut c_void, ours: *mut c_void) {
        // SAFETY: by contract the cell is writable and stays.
        unsafe { (*cell).store(ours, Ordering::Release) };
        let (cell, original, ours) = (cell as usize, original as usize, ours as usize);
        self.list.push(Patch { cell, original, ours, mechanism: self.mechanism });
    }

    /// Puts back every pointer of a mechanism (of all, where none is named) that is still ours; the others keep
    /// passing through our trampolines.
    pub(super) fn undo(&mut self, mechanism: Option<usize>) {
        for patch in self.list.extract_if(.., |patch| mechanism.is_none_or(|m| m == patch.mechanism)) {
            // SAFETY: the cell was readable and writable when it was patched and belongs to an object that is never
            // freed: a static of NumPy's or Python's, or an object we hold a reference to.
            let cell = unsafe { &*(patch.cell as Cell) };
            let (ours, original) = (patch.ours as *mut c_void, patch.original as *mut c_void);
            // Somebody may have wrapped us in the meantime: then this changes nothing, which is what is wanted.
            let _ = cell.compare_exchange(ours, original, Ordering::AcqRel, Ordering::Acquire);
        }
    }
}
