//! `breakeven import FILE…`: traces that other tools recorded, and model files.

use super::{model, run};
use crate::args::{Format, ImportArgs};
use crate::config::Settings;
use crate::failure::{Failure, Outcome, say};
use crate::{input, output};
use breakeven::request::{Options, Request};
use breakeven::{Result, choice};
use breakeven_import::carry::{Asked, Carried, carry, source, workload};
use breakeven_import::{Source, Summary, Trace, is_model, read, report};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// All GPUs of the catalogue.
const ALL: &str = "all";

/// Runs the command.
pub(crate) fn import(args: &ImportArgs, settings: &Settings) -> Outcome {
    let written = [("--output", args.report.output.as_ref()), ("--save", args.save.as_ref())];
    output::apart(&[&written[..], &args.drawing.files()].concat(), &args.files)?;
    if let [file] = &args.files[..]
        && let Some(source) = opened(file)?
    {
        if is_model(source.head()) {
            only_for("a trace", "a model file", args.trace.given())?;
            return model::import(source, args, settings);
        }
        for_traces(args)?;
        let trace = output::working(&format!("reading {}", file.display()), || read(source))?;
        return traces(vec![trace], args, settings);
    }
    for_traces(args)?;
    traces(read_all(&args.files)?, args, settings)
}

/// The file, where it is one.
fn opened(file: &Path) -> Result<Option<Source>> {
    if file.is_dir() { Ok(None) } else { Source::open(file).map(Some) }
}

fn only_for(what: &str, named: &str, option: Option<&str>) -> std::result::Result<(), Failure> {
    let Some(option) = option else { return Ok(()) };
    let message = format!("{option} is for {what}, and what is named is {named}");
    Err(Failure::new("bad-arguments", message, "leave it out"))
}

/// Refuses what a trace cannot answer.
fn for_traces(args: &ImportArgs) -> std::result::Result<(), Failure> {
    only_for("one model file (ONNX, StableHLO, .pt2)", "none", args.model.given())?;
    let drawn = args.drawing.files().iter().any(|(_, file)| file.is_some());
    let given = args.options.options(&Settings::default())?;
    if drawn || of_traces(given.clone()) != given {
        let message = "of a trace only --gpu, --catalogue, --provider, --provider-class and --region can be asked";
        return Err(Failure::new(
            "bad-arguments",
            message,
            "leave the other options out; pictures are for model files",
        ));
    }
    match args.trace.host_factor {
        Some(factor) if !(factor > 0.0 && factor.is_finite()) => {
            let message = format!("--host-factor is {factor}: a number above 0 is needed");
            let hint = "2 is a host that takes twice as long, 1 the recorded one";
            Err(Failure::new("bad-host-factor", message, hint))
        }
        _ => Ok(()),
    }
}

/// What of the options holds for traces.
fn of_traces(Options { gpu, catalogue, provider, provider_class, region, .. }: Options) -> Options {
    Options { gpu, catalogue, provider, provider_class, region, ..Options::default() }
}

fn traces(traces: Vec<Trace>, args: &ImportArgs, settings: &Settings) -> Outcome {
    let options = of_traces(args.options.options(settings)?);
    let request = Request { today: input::today(), options, ..Request::default() };
    if let Some(file) = &args.save {
        save(args, &request, &traces, file)?;
    }
    let carried = if request.options.gpu.is_empty() { None } else { Some(on(args, request, &traces)?) };
    let summary = Summary::of(traces);
    let verbose = args.report.verbose;
    let text = match (args.report.format, &carried) {
        (Format::Json, _) => report::json(&summary, carried.as_ref()),
        (Format::Text, Some(carried)) if verbose => {
            report::carried::text(carried, true) + "\n" + &report::text(&summary, true)
        }
        (Format::Text, Some(carried)) => report::carried::text(carried, false),
        (Format::Text, None) => report::text(&summary, verbose),
        (Format::Markdown, Some(carried)) => report::carried::markdown(carried) + "\n" + &report::markdown(&summary),
        (Format::Markdown, None) => report::markdown(&summary),
    };
    output::write_to(args.report.output.as_deref(), text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// The same on other GPUs.
fn on(args: &ImportArgs, mut request: Request, traces: &[Trace]) -> std::result::Result<Carried, Failure> {
    if request.options.gpu.iter().any(|name| name.eq_ignore_ascii_case(ALL)) {
        request.options.gpu.clear();
    }
    let choice = choice::choose(&request)?;
    for note in choice.notes.iter().filter(|note| note.code == "gpu-name") {
        say(&format!("note: {}", note.text));
    }
    Ok(output::working("replaying", || carry(traces, asked(args), &choice))?)
}

fn asked(args: &ImportArgs) -> Asked<'_> {
    Asked { source: args.trace.source_gpu.as_deref(), host_factor: args.trace.host_factor.unwrap_or(1.0) }
}

/// Writes the first process that ran on a GPU as a workload.
fn save(args: &ImportArgs, request: &Request, traces: &[Trace], file: &Path) -> std::result::Result<(), Failure> {
    let catalogue = breakeven::hardware::Catalogue::embedded().and(request.options.catalogue.as_deref())?;
    let gpu = source(traces, asked(args), &catalogue)?;
    let mut on_gpu = traces.iter().filter(|trace| !trace.kernels.is_empty());
    let Some(first) = on_gpu.next() else { return Ok(()) };
    let others = on_gpu.count();
    if others > 0 {
        say(&format!("note: --save holds {} alone; {others} more processes are left out", first.file));
    }
    run::save(&workload(first, gpu), file)
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
