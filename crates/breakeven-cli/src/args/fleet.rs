//! Arguments of `fleet`.

use clap::{Args, ValueEnum};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  sacct -aP -S 2026-10-01 --format=ALL | breakeven fleet -
  breakeven fleet jobs.parquet --gpu gpu=a100-sxm4-80gb --html fleet.html
  breakeven fleet sacct.txt smi-logs/ --format json --output fleet.json
  breakeven fleet pods.csv --mapping pods.toml --anonymise
  breakeven fleet sacct.txt --fail-if 'certain_share > 0.05'

Read are exports of sacct (-P or -p, columns in any order, steps among them), CSV and Parquet (with a mapping, where
columns are called otherwise), plain, gzip or zstd, and beside them samples of nvidia-smi or DCGM by job. A job is
judged by evidence alone; each row is counted once, judged or with the reason why not.";

/// Arguments of `fleet`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct FleetArgs {
    /// Job logs and samples of GPUs, or folders of them; `-` is stdin
    #[arg(required = true, value_name = "LOG")]
    pub(crate) logs: Vec<PathBuf>,
    /// Which column of a foreign table is what, in TOML: see docs/fleet.md
    #[arg(long, value_name = "FILE", help_heading = "Log")]
    pub(crate) mapping: Option<PathBuf>,
    /// Columns of a log without a header, apart by commas; `xdmod` for those of XDMoD
    #[arg(long, value_name = "NAMES", help_heading = "Log")]
    pub(crate) columns: Option<String>,
    /// What separates cells, where the header does not tell
    #[arg(long, value_name = "CHARACTER", help_heading = "Log")]
    pub(crate) delimiter: Option<char>,
    /// Recorded scripts, or folders of `*.breakeven.json`: CPU jobs that run them are judged by them
    #[arg(long, value_name = "PATH", help_heading = "Log")]
    pub(crate) recordings: Vec<PathBuf>,
    /// The GPU of jobs that name none, or `NAME=GPU`: what a model or a partition of the log means
    #[arg(long, value_name = "GPU", help_heading = "Hardware and money")]
    pub(crate) gpu: Vec<String>,
    /// Price of a GPU hour, USD, instead of list prices: `1.50`
    #[arg(long, value_name = "PRICE", help_heading = "Hardware and money")]
    pub(crate) price: Option<String>,
    /// Price of a core hour of jobs without a GPU, USD: `0.02`
    #[arg(long, value_name = "PRICE", help_heading = "Hardware and money")]
    pub(crate) cpu_price: Option<String>,
    /// Catalogue text that adds or overrides GPUs and prices
    #[arg(long, value_name = "FILE", help_heading = "Hardware and money")]
    pub(crate) catalogue: Option<PathBuf>,
    /// How the report is written
    #[arg(long, value_enum, default_value_t, help_heading = "Report")]
    pub(crate) format: FleetFormat,
    /// Write the report to this file, whole or not at all
    #[arg(long, short, value_name = "FILE", help_heading = "Report")]
    pub(crate) output: Option<PathBuf>,
    /// Write it as one page for the browser too, with plots and tables that sort; it loads nothing
    #[arg(long, value_name = "FILE", help_heading = "Report")]
    pub(crate) html: Option<PathBuf>,
    /// Write one row a job to this Parquet file: hours, verdict, evidence, advice
    #[arg(long, value_name = "FILE", help_heading = "Report")]
    pub(crate) out: Option<PathBuf>,
    /// Hash users, accounts and applications with a key of this run, that is not kept
    #[arg(long, help_heading = "Report")]
    pub(crate) anonymise: bool,
    /// Hash them with the key in this file: the same name has the same hash in every run
    #[arg(long, value_name = "FILE", help_heading = "Report", conflicts_with = "anonymise")]
    pub(crate) anonymise_key: Option<PathBuf>,
    /// Exit with 1 where this holds: `certain_share > 0.05`, `certain_usd > 1000`
    #[arg(long, value_name = "CONDITION", help_heading = "Report")]
    pub(crate) fail_if: Vec<String>,
}

/// How the report is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum FleetFormat {
    /// For a terminal
    #[default]
    Text,
    /// breakeven.fleet/1, every digit
    Json,
    /// For a page or a ticket
    #[value(alias = "md")]
    Markdown,
}
