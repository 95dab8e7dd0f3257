//! Arguments of `run` and `show`.

use super::{OptionArgs, ProgramArgs, ReportArgs};
use clap::{Args, ValueEnum};
use std::ffi::OsString;
use std::path::PathBuf;

/// What is drawn beside the report.
#[derive(Debug, Args)]
pub(crate) struct DrawingArgs {
    /// Sketch what host, GPU and copies do in the course of the run, in text, Markdown and JSON; HTML always has it
    #[arg(long, help_heading = "Report")]
    pub(crate) timeline: bool,
    /// Write the timeline on the best GPU, or the one named, for ui.perfetto.dev; packed if the name ends in .gz
    #[arg(long, value_name = "FILE", help_heading = "Report")]
    pub(crate) trace: Option<PathBuf>,
    /// Write the whole report as one page for the browser, which answers again for other GPUs and loads nothing
    #[arg(long, value_name = "FILE", help_heading = "Report")]
    pub(crate) html: Option<PathBuf>,
}

impl DrawingArgs {
    /// Whether the answer has to hold a sketch of the timeline.
    pub(crate) fn wanted(&self) -> bool {
        self.timeline || self.html.is_some()
    }

    /// The files, each with its option.
    pub(crate) fn files(&self) -> [(&'static str, Option<&PathBuf>); 2] {
        [("--trace", self.trace.as_ref()), ("--html", self.html.as_ref())]
    }
}

/// Arguments of `show`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  breakeven show heat.breakeven.json --gpu l4,h100 --spot\n  \
    breakeven show heat.breakeven.json --gpu a100 --trace heat.trace.json\n  \
    breakeven show small.breakeven.json large.breakeven.json --scale 1,8\n  \
    breakeven show rank*.breakeven.json.gz --format markdown --output report.md")]
pub(crate) struct ShowArgs {
    /// Saved workloads (gzip is accepted); several are merged into one
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// The files are runs of one program at these sizes (`0.25,1,4`), in this order, and are not merged
    #[arg(long, value_name = "SIZES")]
    pub(crate) scale: Option<String>,
    #[command(flatten)]
    pub(crate) options: OptionArgs,
    #[command(flatten)]
    pub(crate) program: ProgramArgs,
    #[command(flatten)]
    pub(crate) report: ReportArgs,
    #[command(flatten)]
    pub(crate) drawing: DrawingArgs,
}

/// Arguments of `run`.
#[derive(Debug, Args)]
#[command(
    override_usage = "breakeven run [OPTIONS] SCRIPT [ARGS]...\n       breakeven run [OPTIONS] -m MODULE [ARGS]..."
)]
#[command(after_help = "\
stdout belongs to the script: the text report goes to stderr; json and markdown need --output or --report-fd.
The script's exit code, or the signal that killed it, is passed on. Options of breakeven come before the script.

Examples:
  breakeven run heat.py --steps 500
  breakeven run --gpu l4,h100 --save heat.breakeven.json heat.py
  breakeven run --scale 0.25,1,4 heat.py --width {1000}
  breakeven run --format json --output report.json -m mypackage.train --epochs 1")]
pub(crate) struct RunArgs {
    /// Run a module, as `python -m` does
    #[arg(short, value_name = "MODULE")]
    pub(crate) module: Option<OsString>,
    /// The script and its arguments, handed on as they are
    #[arg(value_name = "SCRIPT", trailing_var_arg = true)]
    pub(crate) command: Vec<OsString>,
    /// Keep the recorded workload: NAME.breakeven.json, packed if it ends in .gz
    #[arg(long, value_name = "FILE", help_heading = "Recording")]
    pub(crate) save: Option<PathBuf>,
    /// The Python to run [default: that of the virtual environment, beside breakeven, or on PATH]
    #[arg(long, value_name = "PATH", help_heading = "Recording")]
    pub(crate) python: Option<PathBuf>,
    /// How array calls are seen [default: native where it is known to be safe, else ast]
    #[arg(long, value_enum, value_name = "HOW", help_heading = "Recording")]
    pub(crate) recorder: Option<Recorder>,
    /// PyTorch, CuPy, JAX, TensorFlow and numba.cuda answer as if this GPU were there; the first two run out of its
    /// memory, too; the CPU computes
    #[arg(long, value_name = "GPU", help_heading = "Recording")]
    pub(crate) pretend_gpu: Option<String>,
    /// For PyTorch: tensors have shapes and no values, so that models fit that are too large for this machine
    /// [default: auto, from where its memory would run out on]
    #[arg(
        long, value_enum, value_name = "WHEN", num_args = 0..=1, require_equals = true, hide_possible_values = true,
        default_value = "auto", default_missing_value = "always", hide_default_value = true, help_heading = "Recording"
    )]
    pub(crate) fake: Fake,
    /// Run N times to measure how much the time varies; later runs have no input and no output
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000), help_heading = "Recording")]
    pub(crate) repeat: u32,
    /// Run at these sizes (`0.25,1,4`; the report is of 1, or of the largest) and say where the GPU begins to win: an
    /// argument of the script says what the size is, as `{}` or, times a number, as `{1000}`; later runs are silent
    #[arg(long, value_name = "SIZES", conflicts_with = "repeat", help_heading = "Recording")]
    pub(crate) scale: Option<String>,
    /// Write the report to this open file descriptor
    #[arg(long, value_name = "N", conflicts_with = "output", help_heading = "Report")]
    pub(crate) report_fd: Option<u32>,
    #[command(flatten)]
    pub(crate) options: OptionArgs,
    #[command(flatten)]
    pub(crate) program: ProgramArgs,
    #[command(flatten)]
    pub(crate) report: ReportArgs,
    #[command(flatten)]
    pub(crate) drawing: DrawingArgs,
}

/// When tensors have no values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Fake {
    /// Where the memory would run out
    Auto,
    /// From the start
    Always,
    /// The script ends as Python would end it
    Never,
}

/// How array calls are seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Recorder {
    /// Hooks in NumPy's own call slots
    Native,
    /// The script's source rewritten as it is loaded
    Ast,
    /// Nothing: the script alone
    Off,
}

impl Recorder {
    /// As the Python side is told.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Native => "native",
            Self::Ast => "ast",
            Self::Off => "off",
        }
    }
}
