//! Model files: what a network or a compiled function would run, from the file alone.
//!
//! A file becomes a [`Model`]: what it is, and a workload as recorders write it, of which nothing was timed. Its host
//! time is modelled; ops that are not known are named and stop the verdict.

mod given;
mod program;
mod stablehlo;

pub use given::Given;
pub use program::{Model, ModelNote};

use crate::source::Source;
use breakeven::{Error, Result};

/// What a file is that holds a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    StableHlo,
}

/// What kind of model a file is that begins so.
fn kind(head: &[u8]) -> Option<Kind> {
    if stablehlo::knows(head) {
        return Some(Kind::StableHlo);
    }
    None
}

/// Whether a file that begins so holds a model.
pub fn is_model(head: &[u8]) -> bool {
    kind(head).is_some()
}

/// Reads a model file.
///
/// # Errors
/// `model-kind` for what is none, or in a form that is not read; `model-read` for what does not read; `model-shape` where
/// lengths are open that nobody gave.
pub fn read_model(source: Source, given: &Given) -> Result<Model> {
    match kind(source.head()) {
        Some(Kind::StableHlo) => stablehlo::read(source, given),
        None => Err(Error::new("model-kind", format!("{} is no model file that is known", source.name))
            .hint("read are ONNX, StableHLO as text and torch.export's .pt2")),
    }
}
