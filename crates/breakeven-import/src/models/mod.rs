//! Model files: what a network or a compiled function would run, from the file alone.
//!
//! A file becomes a [`Model`]: what it is, and a workload as recorders write it, of which nothing was timed. Its CPU's
//! time is modelled; ops that are not known are named and stop the verdict.

mod given;
mod onnx;
mod program;
mod pt2;
mod stablehlo;

pub use given::Given;
pub use program::{Model, ModelNote};

use crate::source::Source;
use breakeven::{Error, Result};

/// What a file is that holds a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Onnx,
    Pt2,
    StableHlo,
}

/// What kind of model a file is that begins so.
fn kind(head: &[u8]) -> Option<Kind> {
    if stablehlo::knows(head) {
        return Some(Kind::StableHlo);
    }
    if pt2::knows(head) {
        return Some(Kind::Pt2);
    }
    onnx::knows(head).then_some(Kind::Onnx)
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
    let name = source.name.clone();
    let model = match kind(source.head()) {
        Some(Kind::Onnx) => onnx::read(source, given),
        Some(Kind::Pt2) => pt2::read(source, given),
        Some(Kind::StableHlo) => stablehlo::read(source, given),
        None => Err(Error::new("model-kind", format!("{name} is no model file that is known"))
            .hint("read are ONNX, StableHLO as text and torch.export's .pt2")),
    }?;
    if model.workload.ops.iter().any(|entry| entry.op.is_array_work()) {
        return Ok(model);
    }
    let unknown: Vec<&str> = model.not_read.iter().take(3).map(|note| note.text.as_str()).collect();
    let why = if unknown.is_empty() { "it computes nothing".to_owned() } else { unknown.join("; ") };
    let message = format!("nothing that {name} runs is understood: {why}");
    Err(Error::new("model-read", message).hint("record the program that runs it: `breakeven run SCRIPT`"))
}
