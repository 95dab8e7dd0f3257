//! `breakeven import FILE…`: traces that other tools recorded, and model files.

use super::model;
use crate::args::{Format, ImportArgs};
use crate::config::Settings;
use crate::failure::{Failure, Outcome};
use crate::output;
use breakeven::Result;
use breakeven::request::Options;
use breakeven_import::{Source, Summary, Trace, is_model, read, report};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Runs the command.
pub(crate) fn import(args: &ImportArgs, settings: &Settings) -> Outcome {
    let save = ("--save", args.model.save.as_ref());
    let files = [&[("--output", args.report.output.as_ref()), save][..], &args.drawing.files()].concat();
    output::apart(&files, &args.files)?;
    if let [file] = &args.files[..]
        && let Some(source) = opened(file)?
    {
        if is_model(source.head()) {
            return model::import(source, args, settings);
        }
        for_traces(args)?;
        let trace = output::working(&format!("reading {}", file.display()), || read(source))?;
        return traces(vec![trace], args);
    }
    for_traces(args)?;
    traces(read_all(&args.files)?, args)
}

/// The file, where it is one.
fn opened(file: &Path) -> Result<Option<Source>> {
    if file.is_dir() { Ok(None) } else { Source::open(file).map(Some) }
}

/// Refuses what a trace cannot answer.
fn for_traces(args: &ImportArgs) -> std::result::Result<(), Failure> {
    if let Some(option) = args.model.given() {
        let message = format!("{option} is for one model file (ONNX, StableHLO, .pt2), and what is named is none");
        return Err(Failure::new("bad-arguments", message, "leave it out, or name the model file alone"));
    }
    let drawn = args.drawing.files().iter().any(|(_, file)| file.is_some());
    if drawn || args.options.options(&Settings::default())? != Options::default() {
        let message = "GPUs, prices and pictures are for model files: no other GPU is predicted from a trace";
        return Err(Failure::new("bad-arguments", message, "leave these options out"));
    }
    Ok(())
}

fn traces(traces: Vec<Trace>, args: &ImportArgs) -> Outcome {
    let summary = Summary::of(traces);
    let text = match args.report.format {
        Format::Text => report::text(&summary, args.report.verbose),
        Format::Json => report::json(&summary),
        Format::Markdown => report::markdown(&summary),
    };
    output::write_to(args.report.output.as_deref(), text.as_bytes())?;
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
