//! `breakeven._native`: records what NumPy does, in place, and answers through the engine.
#![allow(dead_code, reason = "the hooks that use these come next")]

mod ast;
mod buffers;
mod engine;
mod named;
mod table;

use pyo3::prelude::*;

/// The native module of the package `breakeven`.
#[pymodule]
mod _native {
    #[pymodule_export]
    use super::ast::{watch, watched, watched_host, watched_pick, watched_put_back, watched_store};
    #[pymodule_export]
    use super::engine::{answer, report};
    #[pymodule_export]
    use super::named::Named;
    #[pymodule_export]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
