//! How results are written.

use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// How results are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For a terminal
    #[default]
    Text,
    /// breakeven.estimate/1, every digit
    Json,
    /// For a page or a ticket
    Markdown,
}

/// When text has colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless NO_COLOR is set
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// How the report is written.
#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// How the report is written
    #[arg(long, value_enum, default_value_t, help_heading = "Report")]
    pub(crate) format: Format,
    /// Write the report to this file, whole or not at all
    #[arg(long, short, value_name = "FILE", help_heading = "Report")]
    pub(crate) output: Option<PathBuf>,
    /// Colour in text
    #[arg(long, value_enum, default_value_t, value_name = "WHEN", help_heading = "Report")]
    pub(crate) color: Color,
    /// Show the formula with every input, its basis and typical range
    #[arg(long, help_heading = "Report")]
    pub(crate) explain: bool,
    /// Only the first lines: verdict, what holds it back, break-even; in text, Markdown and HTML
    #[arg(long, short, help_heading = "Report")]
    pub(crate) quiet: bool,
    /// The whole report as text, instead of 24 lines; Markdown, HTML and JSON are whole
    #[arg(long, short, help_heading = "Report", conflicts_with = "quiet")]
    pub(crate) verbose: bool,
}
