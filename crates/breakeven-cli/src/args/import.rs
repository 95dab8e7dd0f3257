//! Arguments of `import`.

use super::{DrawingArgs, OptionArgs, ReportArgs};
use clap::{Args, ValueEnum};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  breakeven import trace.json.gz
  breakeven import rank*.json.gz --format json --output trace-totals.json
  zstdcat trace.json.zst | breakeven import -
  breakeven import trace.json.gz --gpu l4 --gpu h200
  breakeven import report.sqlite --source-gpu h100-sxm --gpu all --verbose
  breakeven import trace.json.gz --out step.breakeven.json && breakeven show step.breakeven.json
  breakeven import model.onnx --gpu l4
  breakeven import model.onnx --shape images=8x3x224x224 --runs 1000 --html report.html
  breakeven import step.mlir --save step.breakeven.json

Read are traces of the PyTorch profiler (CUDA, ROCm, XPU or CPU alone), of JAX and TensorFlow (xplane.pb, trace.json.gz),
exports of Nsight Systems (SQLite), tables and JSON of rocprof, profiles of ONNX Runtime, and other events in Chrome's
format; of a folder, the traces in it. Without --gpu the report is of what was recorded; with it, of the same there.

A model file (ONNX, StableHLO as text, torch.export's .pt2) is estimated as `show` estimates a recording: the CPU's time
is modelled, as the file holds none.";

/// Arguments of `import`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ImportArgs {
    /// Traces, one or one of each rank, or folders of them; or one model file; plain, gzip or zstd; `-` is stdin
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) model: ModelArgs,
    #[command(flatten)]
    pub(crate) trace: CarriedArgs,
    /// Write the workload: NAME.breakeven.json, packed if it ends in .gz; `show` reads it
    #[arg(long, visible_alias = "out", value_name = "FILE")]
    pub(crate) save: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) options: OptionArgs,
    #[command(flatten)]
    pub(crate) report: ReportArgs,
    #[command(flatten)]
    pub(crate) drawing: DrawingArgs,
}

/// What model files alone take.
#[derive(Debug, Args)]
pub(crate) struct ModelArgs {
    /// Lengths of an input that the file leaves open: `images=8x3x224x224`; again for more
    #[arg(long, value_name = "NAME=LENGTHS", help_heading = "Model files")]
    pub(crate) shape: Vec<String>,
    /// A length that the file has a name for: `batch=8`; again for more
    #[arg(long, value_name = "NAME=LENGTH", help_heading = "Model files")]
    pub(crate) dim: Vec<String>,
    /// How often the model runs in one process, its weights being copied once
    #[arg(long, value_name = "N", help_heading = "Model files", value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    pub(crate) runs: Option<u64>,
}

/// What traces alone take, where they are carried to another GPU.
#[derive(Debug, Args)]
pub(crate) struct CarriedArgs {
    /// The GPU that it was recorded on, where the file does not say
    #[arg(long, value_name = "NAME", help_heading = "Traces on other GPUs")]
    pub(crate) source_gpu: Option<String>,
    /// How many times as long the host beside the other GPU takes for its own work [default: 1]
    #[arg(long, value_name = "NUMBER", help_heading = "Traces on other GPUs")]
    pub(crate) host_factor: Option<f64>,
}

impl CarriedArgs {
    /// The first of these options that is given.
    pub(crate) fn given(&self) -> Option<&'static str> {
        match () {
            () if self.source_gpu.is_some() => Some("--source-gpu"),
            () if self.host_factor.is_some() => Some("--host-factor"),
            () => None,
        }
    }
}

impl ModelArgs {
    /// The first of these options that is given.
    pub(crate) fn given(&self) -> Option<&'static str> {
        match () {
            () if !self.shape.is_empty() => Some("--shape"),
            () if !self.dim.is_empty() => Some("--dim"),
            () if self.runs.is_some() => Some("--runs"),
            () => None,
        }
    }
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
