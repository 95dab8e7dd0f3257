//! `breakeven._native`: records what NumPy does, in place, and answers through the engine.
#![allow(dead_code, reason = "the hooks that use these come next")]

mod buffers;
mod table;

use pyo3::prelude::*;

/// The native module of the package `breakeven`.
#[pymodule]
mod _native {
    #[pymodule_export]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
