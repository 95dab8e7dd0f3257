//! Traces that other tools recorded: what a GPU did, and what it waited for, from the file alone.
//!
//! A stream: [`read`] knows a file by its first bytes, unpacks gzip and zstd, and keeps of each event what the totals
//! need, so that memory grows with kernels and host ops, not with bytes. [`Summary`] adds up one file or many;
//! [`report`] shows it.
//! [`carry`] says what the same would take on another GPU.
//! [`read_model`] reads model files: a workload that the engine estimates.

mod calls;
pub mod carry;
mod chrome;
mod class;
pub mod diff;
mod enclosing;
mod folder;
mod idle;
mod json;
mod kind;
mod lacking;
mod lanes;
mod model;
mod models;
mod names;
mod nsys;
mod reader;
mod reasons;
pub mod report;
mod rocprof;
mod source;
mod span;
mod spans;
mod summary;
mod times;
mod xplane;

pub use class::Class;
pub use folder::traces;
pub use kind::Kind;
pub use lanes::{Lane, Lanes};
pub use model::{Call, Copy, Direction, Does, Gpu, HostOp, Kernel, Note, Step, Trace};
pub use models::{Given, Model, ModelNote, is_model, read_model};
pub use names::{Name, Names};
pub use reasons::{Advice, Reason, advice, reasons};
pub use source::Source;
pub use span::{Span, Tally, When};
pub use summary::{
    Causes, CopyTotal, GpuTotal, HostTotal, KernelTotal, SmallKernels, StepTotal, Steps, StreamTotal, Summary, Times,
};

use breakeven::Result;

/// What a file holds, whatever tool wrote it.
///
/// ```
/// use breakeven_import::{Source, Summary, read};
/// let text = r#"{"schemaVersion": 1, "traceEvents": [
///   {"ph": "X", "cat": "kernel", "name": "gemm", "ts": 10, "dur": 2.5, "args": {"device": 0, "stream": 7}}]}"#;
/// let trace = read(Source::from_bytes("one.json", text.as_bytes())?)?;
/// assert_eq!(Summary::of(vec![trace]).kernel_s, Some(2.5e-6));
/// # Ok::<(), breakeven::Error>(())
/// ```
///
/// # Errors
/// `trace-kind` for what no reader knows, `trace-read` for what cannot be read at all. A file that ends early is no
/// error: what is whole comes out, with a note `cut-short`.
pub fn read(source: Source) -> Result<Trace> {
    reader::read(source)
}
