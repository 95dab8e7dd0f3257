//! `breakeven gpus [NAME]`: the catalogue, or all that is known of one GPU.

use crate::args::{Format, GpusArgs};
use crate::failure::Outcome;
use crate::{input, output};
use breakeven::hardware::figure::{Figure, Value};
use breakeven::hardware::{Gpu, gpus_json};
use breakeven::report::{Align, Table, words};
use std::process::ExitCode;

/// Runs the command.
pub(crate) fn gpus(args: &GpusArgs) -> Outcome {
    let catalogue = input::catalogue(args.list.catalogue.as_deref())?;
    let (gpus, note) = match &args.name {
        Some(name) => {
            let found = catalogue.find_gpu(name)?;
            (found.gpus, found.note)
        }
        None => (catalogue.gpus().iter().collect(), None),
    };
    let single = args.name.is_some() && gpus.len() == 1;
    let text = match args.list.format {
        Format::Json => format!("{:#}\n", gpus_json(gpus, note)),
        Format::Text if single => heading(gpus[0]) + &figures(gpus[0]).text(|_, _, cell| cell) + &remarks(&gpus, note),
        Format::Markdown if single => heading(gpus[0]) + &figures(gpus[0]).markdown() + &remarks(&gpus, note),
        Format::Text => list(&gpus).text(|_, _, cell| cell) + &remarks(&gpus, note),
        Format::Markdown => list(&gpus).markdown() + &remarks(&gpus, note),
    };
    output::write_to(args.list.output.as_deref(), text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// One row a GPU.
fn list(gpus: &[&Gpu]) -> Table {
    use Align::{Left, Right};
    let mut table = Table::new(&[
        ("id", Left),
        ("name", Left),
        ("year", Right),
        ("memory", Right),
        ("bandwidth", Right),
        ("fp64", Right),
        ("fp32", Right),
        ("fp16 tensor", Right),
        ("power", Right),
        ("typical use", Left),
    ]);
    for gpu in gpus {
        let figure = |name| gpu.figure(name).map(|f| value(f, "")).unwrap_or_default();
        table.row(vec![
            gpu.id().to_owned(),
            words::printable(gpu.name(), 40),
            figure("year"),
            figure("memory"),
            figure("bandwidth"),
            figure("fp64_vector"),
            figure("fp32_vector"),
            figure("fp16_tensor"),
            figure("tdp"),
            words::printable(gpu.typical_use().unwrap_or_default(), 110),
        ]);
    }
    table
}

fn heading(gpu: &Gpu) -> String {
    format!("{} ({})\n\n", words::printable(gpu.name(), 60), gpu.id())
}

/// Every figure of one GPU with its source.
fn figures(gpu: &Gpu) -> Table {
    use Align::{Left, Right};
    let columns = [
        ("figure", Left),
        ("value", Right),
        ("known from", Left),
        ("confidence", Left),
        ("read", Left),
        ("note", Left),
    ];
    let mut table = Table::new(&columns);
    for figure in gpu.figures() {
        let cells = [value(figure, ""), figure.source.to_string(), figure.confidence.name().replace('_', " ")];
        let [value, source, confidence] = cells.map(|cell| words::printable(&cell, 120));
        let read = figure.read.to_string();
        let name = figure.kind.name.replace('_', " ");
        table.row(vec![name, value, source, confidence, read, words::printable(&figure.note, 200)]);
    }
    table
}

/// A figure with its unit; words as they are.
fn value(figure: &Figure, missing: &str) -> String {
    match (&figure.value, figure.kind.unit) {
        (Value::Number(n), "count" | "year") => n.to_string(),
        (Value::Number(n), unit) => format!("{n} {unit}"),
        (Value::Text(text), _) if text.is_empty() => missing.to_owned(),
        (Value::Text(text), _) => text.clone(),
    }
}

/// What the name stood for, and well-known figures that the catalogue does not share.
fn remarks(gpus: &[&Gpu], note: Option<String>) -> String {
    let mut notes: Vec<String> = note.into_iter().collect();
    for gpu in gpus {
        for figure in gpu.figures().iter().filter(|f| f.kind.name.starts_with("quoted_")) {
            // What is said of every card with that link is said once.
            let note = match figure.kind.name {
                "quoted_host_link" => format!("PCIe 5.0 x16: {}", figure.note),
                _ => format!("{}: {}", gpu.name(), figure.note),
            };
            if !notes.contains(&note) {
                notes.push(note);
            }
        }
    }
    let lines = notes.iter().map(|n| format!("note: {}\n", words::printable(n, 400)));
    let lines: String = lines.collect();
    if lines.is_empty() { lines } else { format!("\n{lines}") }
}
