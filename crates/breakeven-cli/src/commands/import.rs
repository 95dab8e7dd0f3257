//! `breakeven import FILE…`: traces that other tools recorded.

use crate::args::{ImportArgs, TraceFormat};
use crate::failure::Outcome;
use crate::output;
use breakeven_import::{Source, Summary, read, report};
use std::process::ExitCode;

/// Runs the command.
pub(crate) fn import(args: &ImportArgs) -> Outcome {
    output::apart(&[("--output", args.output.as_ref())], &args.files)?;
    let mut traces = Vec::new();
    for file in &args.files {
        let name = file.display();
        traces.push(output::working(&format!("reading {name}"), || read(Source::open(file)?))?);
    }
    let summary = Summary::of(traces);
    let text = match args.format {
        TraceFormat::Text => report::text(&summary, args.verbose),
        TraceFormat::Json => report::json(&summary),
        TraceFormat::Markdown => report::markdown(&summary),
    };
    output::write_to(args.output.as_deref(), text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}
