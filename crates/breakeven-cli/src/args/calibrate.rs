//! Arguments of `calibrate`.

use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// How what was measured is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum CalibrateFormat {
    /// For a terminal
    #[default]
    Text,
    /// breakeven.machine/1: the machine file itself
    Json,
    /// For a page or a ticket
    Markdown,
}

/// Arguments of `calibrate`.
#[derive(Debug, Args)]
#[command(after_help = "\
Measures products, passes over arrays, sorts, transforms, factorisations, data frames, copies, launches and small calls with
the libraries of your Python: on the GPU where CuPy, PyTorch or JAX finds one, and on the CPU. The machine file goes to
breakeven/machine.json in $XDG_CONFIG_HOME or ~/.config; BREAKEVEN_MACHINE=FILE names another place. `estimate`, `run` and
`show` use it on this machine, and elsewhere with --machine FILE. Ctrl-C keeps what was measured: run it again to go on.

Exit codes: 0 measured, 2 bad input or nothing could be measured, 130 Ctrl-C.

Examples:
  breakeven calibrate
  breakeven calibrate --cpu-only --seconds 60
  breakeven calibrate --output gpu-box.json
  breakeven estimate --matmul 8000 --machine gpu-box.json")]
pub(crate) struct CalibrateArgs {
    /// Measure for at most so many seconds
    #[arg(long, value_name = "N", default_value_t = 230, value_parser = clap::value_parser!(u32).range(5..=3600))]
    pub(crate) seconds: u32,
    /// Leave the GPU out
    #[arg(long, conflicts_with = "device")]
    pub(crate) cpu_only: bool,
    /// The GPU to measure, as its library calls it: cuda:1, xpu, mps [default: the first one found]
    #[arg(long, value_name = "DEVICE")]
    pub(crate) device: Option<String>,
    /// Forget what an interrupted calibration measured
    #[arg(long)]
    pub(crate) afresh: bool,
    /// The Python to run [default: that of the virtual environment, beside breakeven, or on PATH]
    #[arg(long, value_name = "PATH")]
    pub(crate) python: Option<PathBuf>,
    /// Write the machine file here instead, whole or not at all
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// How the report on stdout is written
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: CalibrateFormat,
    /// Only the first line
    #[arg(long, short)]
    pub(crate) quiet: bool,
}
