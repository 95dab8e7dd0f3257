//! Arguments of `measure`.

use super::OptionArgs;
use clap::{Args, ValueEnum};
use std::ffi::OsString;
use std::path::PathBuf;

/// How what was measured is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum MeasureFormat {
    /// For a terminal
    #[default]
    Text,
    /// breakeven.measure/1, every digit
    Json,
    /// For a page or a ticket
    Markdown,
}

/// Arguments of `measure`.
#[derive(Debug, Args)]
#[command(override_usage = "breakeven measure [OPTIONS] SCRIPT [ARGS]...")]
#[command(after_help = "\
A script for PyTorch, JAX, TensorFlow or CuPy runs as it is, once with the GPU hidden and once with it. An unedited NumPy or
SciPy script runs on the GPU with CuPy in the place of NumPy. Each run is in a copy of the script's folder, without input;
what it prints is compared, as are the arrays that it leaves and the files that it writes.

Exit codes: 0 measured and the results agree, 1 they do not or one side failed, 2 bad input, 3 no GPU to measure.

Examples:
  breakeven measure heat.py --steps 500
  breakeven measure --check-port heat.py
  breakeven measure --against heat_cupy.py heat.py
  breakeven measure --repeat 10 --format json --output heat.json heat.py")]
pub(crate) struct MeasureArgs {
    /// The script and its arguments, handed on as they are
    #[arg(value_name = "SCRIPT", trailing_var_arg = true)]
    pub(crate) command: Vec<OsString>,
    /// Measure this script on the GPU's side, with the same arguments
    #[arg(long, value_name = "SCRIPT", help_heading = "Measuring")]
    pub(crate) against: Option<PathBuf>,
    /// Without a GPU: run a NumPy script through the port all the same, with breakeven's stand-in for CuPy, to see whether
    /// its results stay and which functions CuPy lacks; nothing of it is a time
    #[arg(long, conflicts_with = "against", help_heading = "Measuring")]
    pub(crate) check_port: bool,
    /// Warm runs of each side, after a cold one [default: 3, or 1 where a run takes more than a minute]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=1000), help_heading = "Measuring")]
    pub(crate) repeat: Option<u32>,
    /// The Python to run [default: that of the virtual environment, beside breakeven, or on PATH]
    #[arg(long, value_name = "PATH", help_heading = "Measuring")]
    pub(crate) python: Option<PathBuf>,
    /// Keep all that was measured, as JSON
    #[arg(long, value_name = "FILE", help_heading = "Measuring")]
    pub(crate) save: Option<PathBuf>,
    /// How the report is written
    #[arg(long, value_enum, default_value_t, help_heading = "Report")]
    pub(crate) format: MeasureFormat,
    /// Write the report to this file, whole or not at all
    #[arg(long, short, value_name = "FILE", help_heading = "Report")]
    pub(crate) output: Option<PathBuf>,
    /// Only the first line
    #[arg(long, short, help_heading = "Report")]
    pub(crate) quiet: bool,
    /// Every line of code, copy and fallback
    #[arg(long, short, help_heading = "Report", conflicts_with = "quiet")]
    pub(crate) verbose: bool,
    #[command(flatten)]
    pub(crate) options: OptionArgs,
}
