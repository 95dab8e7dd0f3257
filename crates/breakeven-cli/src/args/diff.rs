//! Arguments of `diff`.

use super::TraceFormat;
use clap::Args;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  breakeven diff before.json.gz after.json.gz
  breakeven diff main.sqlite branch.sqlite --fail-if 'time > +10%' --format markdown
  breakeven import before.json.gz --format json --output before-totals.json
  breakeven diff before-totals.json after.json.gz

A condition is `key operator number`: `+10%` is the change as a part of what it was, `+0.005` the change itself (times
in s), `0.2` the figure of the second run. What is not known fails it. Where both runs have marked steps, figures are
of a step.";

/// Arguments of `diff`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct DiffArgs {
    /// The run before: a trace, a folder of them (ranks), or totals that `import --format json` saved
    #[arg(value_name = "BEFORE")]
    pub(crate) before: PathBuf,
    /// The run after, likewise
    #[arg(value_name = "AFTER")]
    pub(crate) after: PathBuf,
    /// End with exit code 1 where this holds, like `time > +10%`; may be given several times
    #[arg(long, value_name = "CONDITION")]
    pub(crate) fail_if: Vec<String>,
    /// How the report is written
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: TraceFormat,
    /// Write the report to this file, whole or not at all
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}
