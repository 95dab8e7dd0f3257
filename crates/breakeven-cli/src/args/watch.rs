//! Arguments of `watch`.

use super::Color;
use clap::{Args, ValueEnum};
use std::ffi::OsString;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  breakeven watch                                  the whole machine, until Ctrl-C
  breakeven watch -- python train.py --epochs 1    as long as the command runs
  breakeven watch --pid 4242 --html session.html   as long as that process runs
  breakeven watch --for 30s --format csv > samples.csv
  breakeven watch --save night.watch -- ./job.sh
  breakeven watch --show night.watch --html night.html

Read are NVIDIA by its driver's library, AMD (amdgpu) and Intel (xe, i915) by /sys, energy of the
CPU by RAPL. What a driver does not say is unknown, not 0. stdout belongs to the command, where
there is one: the report goes to stderr, samples need --output. Its exit code is passed on.";

/// Arguments of `watch`.
#[derive(Debug, Args)]
#[command(override_usage = "breakeven watch [OPTIONS] [-- COMMAND…]\n       breakeven watch --show FILE [OPTIONS]")]
#[command(after_help = EXAMPLES)]
pub(crate) struct WatchArgs {
    /// The command to watch and its arguments, after `--`
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,
    /// Watch until this process ends
    #[arg(long, value_name = "PID", conflicts_with = "command")]
    pub(crate) pid: Option<u32>,
    /// Watch for so long: `30s`, `1.5h`
    #[arg(long = "for", value_name = "TIME", conflicts_with = "command")]
    pub(crate) length: Option<String>,
    /// Time from one look to the next
    #[arg(long, value_name = "TIME", default_value = "0.1s")]
    pub(crate) interval: String,
    /// Read /sys and /proc below this folder: where a container has its host's mounted
    #[arg(long, value_name = "DIR", default_value = "/")]
    pub(crate) root: PathBuf,
    /// How it is written: samples while they come, or the report at the end
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: WatchFormat,
    /// Write that to this file
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Write the whole session as one page for the browser, with plots; it loads nothing
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Keep every sample, packed, as it comes: what is there after each minute survives whatever ends us
    #[arg(long, value_name = "FILE")]
    pub(crate) save: Option<PathBuf>,
    /// Report on a session that was saved, instead of watching
    #[arg(long, value_name = "FILE", conflicts_with_all = ["command", "pid", "length", "save"])]
    pub(crate) show: Option<PathBuf>,
    /// Colour in the display
    #[arg(long, value_enum, default_value_t, value_name = "WHEN")]
    pub(crate) color: Color,
}

/// How a session is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum WatchFormat {
    /// A display on a terminal, else a line a sample; then the report
    #[default]
    Text,
    /// A JSON object a sample
    Jsonl,
    /// A row for each GPU of each sample
    Csv,
    /// breakeven.watch-totals/1, the report with every digit
    Json,
}
