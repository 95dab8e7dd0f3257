//! State guarded by the interpreter's lock.

use pyo3::Python;
use std::cell::RefCell;

/// A value that only threads holding the interpreter's lock can reach.
pub(crate) struct Locked<T>(RefCell<T>);

// SAFETY: `with` asks for proof that the interpreter's lock is held, and the gate refuses free-threaded builds and
// subinterpreters with a lock of their own, so two threads never reach the cell at once.
unsafe impl<T: Send> Sync for Locked<T> {}

impl<T> Locked<T> {
    pub(crate) const fn new(value: T) -> Self {
        Self(RefCell::new(value))
    }

    /// Runs `f` with the value; `None` when this thread is inside `with` already.
    #[inline(always)]
    pub(crate) fn with<R>(&self, _: Python<'_>, f: impl FnOnce(&mut T) -> R) -> Option<R> {
        match self.0.try_borrow_mut() {
            Ok(mut value) => Some(f(&mut value)),
            Err(_) => None,
        }
    }
}
