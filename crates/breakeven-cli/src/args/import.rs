//! Arguments of `import`.

use clap::{Args, ValueEnum};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  breakeven import trace.json.gz
  breakeven import rank*.json.gz --format json --output trace-totals.json
  zstdcat trace.json.zst | breakeven import -

Read are traces of the PyTorch profiler (CUDA, ROCm, XPU or CPU alone), of JAX and TensorFlow (xplane.pb, trace.json.gz),
exports of Nsight Systems (SQLite), tables and JSON of rocprof, profiles of ONNX Runtime, and other events in Chrome's
format; of a folder, the traces in it. The report is of what was recorded: no other GPU is predicted from it.";

/// Arguments of `import`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ImportArgs {
    /// Traces, one or one of each rank, or folders of them; plain, gzip or zstd; `-` is stdin
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// How the report is written
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: TraceFormat,
    /// Write the report to this file, whole or not at all
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// The whole report as text, instead of 24 lines; Markdown and JSON are whole
    #[arg(long, short)]
    pub(crate) verbose: bool,
}

/// How the report on a trace is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum TraceFormat {
    /// For a terminal
    #[default]
    Text,
    /// breakeven.trace/1, every digit
    Json,
    /// For a page or a ticket
    Markdown,
}
