//! `breakeven import FILE…`: traces that other tools recorded.

use crate::args::{ImportArgs, TraceFormat};
use crate::failure::Outcome;
use crate::output;
use breakeven::Result;
use breakeven_import::{Source, Summary, Trace, read, report};
use std::path::PathBuf;
use std::process::ExitCode;

/// Runs the command.
pub(crate) fn import(args: &ImportArgs) -> Outcome {
    output::apart(&[("--output", args.output.as_ref())], &args.files)?;
    let summary = Summary::of(read_all(&args.files)?);
    let text = match args.format {
        TraceFormat::Text => report::text(&summary, args.verbose),
        TraceFormat::Json => report::json(&summary),
        TraceFormat::Markdown => report::markdown(&summary),
    };
    output::write_to(args.output.as_deref(), text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// Reads traces, those in folders too.
pub(super) fn read_all(paths: &[PathBuf]) -> Result<Vec<Trace>> {
    let mut traces = Vec::new();
    for path in paths {
        for file in breakeven_import::traces(path)? {
            let name = file.display();
            traces.push(output::working(&format!("reading {name}"), || read(Source::open(&file)?))?);
        }
    }
    Ok(traces)
}
