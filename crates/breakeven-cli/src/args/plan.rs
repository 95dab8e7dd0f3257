//! Arguments of `plan`.

use clap::{Args, ValueEnum};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  breakeven plan examples/plan.toml
  breakeven plan heat.breakeven.json --runs-per-month 2000 --deadline 8h --months 36
  breakeven plan plan.toml --format markdown --fail-if 'per_month > 500'
  breakeven plan plan.toml --html plan.html --quiet

A plan file names workloads (recordings, numbers or times), how often each runs and by when, and what may be bought or
rented; docs/plan.md explains every key. What it leaves out is assumed, and printed as such. Options win over the file.";

/// Arguments of `plan`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct PlanArgs {
    /// A plan file (TOML), or workloads that `run --save` kept, which take the options below
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Runs a month of each workload: `2000`
    #[arg(long, value_name = "N", help_heading = "Work", allow_negative_numbers = true)]
    pub(crate) runs_per_month: Option<String>,
    /// From submission to result: `8h` [default: a day]
    #[arg(long, value_name = "TIME", help_heading = "Work", allow_negative_numbers = true)]
    pub(crate) deadline: Option<String>,
    /// The same for 95 of 100 runs, for people who wait: `2s`
    #[arg(
        long,
        value_name = "TIME",
        help_heading = "Work",
        conflicts_with = "deadline",
        allow_negative_numbers = true
    )]
    pub(crate) latency: Option<String>,
    /// More runs each month than in the month before: `3%`
    #[arg(long, value_name = "SHARE", help_heading = "Work", allow_negative_numbers = true)]
    pub(crate) growth: Option<String>,
    /// Precision that is accurate enough, beside others that are named: fp64, fp32, tf32, bf16
    #[arg(long, value_name = "TYPE", help_heading = "Work")]
    pub(crate) precision: Vec<String>,
    /// Horizon [default: 36]
    #[arg(long, value_name = "MONTHS", help_heading = "Choice", allow_negative_numbers = true)]
    pub(crate) months: Option<u32>,
    /// Only this GPU, or others that are named
    #[arg(long, value_name = "NAME", help_heading = "Choice")]
    pub(crate) gpu: Vec<String>,
    /// Only this provider, or others that are named
    #[arg(long, value_name = "NAME", help_heading = "Choice")]
    pub(crate) provider: Vec<String>,
    /// Only this way to pay, or others that are named: cpu, on-demand, spot, reserved, workstation, server, marketplace
    #[arg(long, value_name = "WAY", help_heading = "Choice")]
    pub(crate) way: Vec<String>,
    /// Where bought machines stand: country or region
    #[arg(long, value_name = "PLACE", help_heading = "Money and energy")]
    pub(crate) region: Option<String>,
    /// Price of a kWh there
    #[arg(long, value_name = "PRICE", help_heading = "Money and energy", allow_negative_numbers = true)]
    pub(crate) electricity: Option<String>,
    /// Money in this currency; needs --per-usd
    #[arg(long, value_name = "CODE", help_heading = "Money and energy")]
    pub(crate) currency: Option<String>,
    /// How much of it a US dollar buys: `0.92`
    #[arg(long, value_name = "RATE", help_heading = "Money and energy", allow_negative_numbers = true)]
    pub(crate) per_usd: Option<f64>,
    /// Lines that override the catalogue of GPUs and prices
    #[arg(long, value_name = "FILE", help_heading = "Choice")]
    pub(crate) catalogue: Option<PathBuf>,
    /// End with exit code 1 where this holds, like `per_month > 500`; may be given several times
    #[arg(long, value_name = "CONDITION", help_heading = "Report")]
    pub(crate) fail_if: Vec<String>,
    /// How the report is written
    #[arg(long, value_enum, default_value_t, help_heading = "Report")]
    pub(crate) format: PlanFormat,
    /// Write the report to this file, whole or not at all
    #[arg(long, short, value_name = "FILE", help_heading = "Report")]
    pub(crate) output: Option<PathBuf>,
    /// Write it also as one page for the browser, with plots and tables that sort; it loads nothing
    #[arg(long, value_name = "FILE", help_heading = "Report")]
    pub(crate) html: Option<PathBuf>,
    /// Only the first lines: what to do, and at what cost
    #[arg(long, short, help_heading = "Report")]
    pub(crate) quiet: bool,
}

/// How a plan is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum PlanFormat {
    /// For a terminal
    #[default]
    Text,
    /// breakeven.plan/1, every digit
    Json,
    /// For a page or a ticket
    #[value(alias = "md")]
    Markdown,
}
