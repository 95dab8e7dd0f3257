//! `breakeven gpus [NAME]`: the catalogue, or all that is known of one GPU.

use super::figures::{figures, heading, narrow, notes_below, value};
use crate::args::{Format, GpusArgs};
use crate::failure::Outcome;
use crate::{input, output};
use breakeven::hardware::{Gpu, gpus_json};
use breakeven::report::{Align, Table, words};
use std::cmp::Reverse;
use std::process::ExitCode;

/// Columns that go first on a narrow terminal.
const SPARE: [&str; 6] = ["typical use", "fp16 tensor", "year", "fp64", "power", "bandwidth"];

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
        Format::Text if single => {
            heading(gpus[0].name(), gpus[0].id())
                + &figures(gpus[0].figures()).text(|_, _, cell| cell)
                + &remarks(&gpus, note)
        }
        Format::Markdown if single => {
            heading(gpus[0].name(), gpus[0].id()) + &figures(gpus[0].figures()).markdown() + &remarks(&gpus, note)
        }
        Format::Text => narrow(list(&gpus), &SPARE, "name").text(|_, _, cell| cell) + &remarks(&gpus, note),
        Format::Markdown => list(&gpus).markdown() + &remarks(&gpus, note),
    };
    output::write_to(args.list.output.as_deref(), text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// The year in which a GPU came out, 0 where it is not known.
fn year(gpu: &Gpu) -> u32 {
    gpu.figure("year").and_then(|year| value(year).parse().ok()).unwrap_or(0)
}

/// One row a GPU, by maker, the newest first.
fn list(gpus: &[&Gpu]) -> Table {
    use Align::{Left, Right};
    let mut gpus = gpus.to_vec();
    gpus.sort_by_key(|gpu| (gpu.device.vendor, Reverse(year(gpu))));
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
        let figure = |name| gpu.figure(name).map(value).unwrap_or_default();
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
    notes_below(&notes)
}
