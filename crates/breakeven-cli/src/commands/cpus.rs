//! `breakeven cpus [NAME]`: the CPUs of the catalogue, or all that is known of one.

use super::figures::{figures, heading, notes_below, value};
use crate::args::{CpusArgs, Format};
use crate::failure::Outcome;
use crate::{input, output};
use breakeven::hardware::{Cpu, cpus_json};
use breakeven::report::{Align, Table, words};
use std::process::ExitCode;

/// Runs the command.
pub(crate) fn cpus(args: &CpusArgs) -> Outcome {
    let catalogue = input::catalogue(args.list.catalogue.as_deref())?;
    let cpus = match &args.name {
        Some(name) => catalogue.find_cpus(name)?,
        None => catalogue.cpus().iter().collect(),
    };
    let note = args.name.as_ref().filter(|_| cpus.len() > 1).map(|name| format!("`{name}` names {} CPUs", cpus.len()));
    let (table, above) = match cpus.as_slice() {
        [cpu] if args.name.is_some() => (figures(cpu.figures()), heading(&cpu.device.name, &cpu.device.id)),
        _ => (list(&cpus), String::new()),
    };
    let text = match args.list.format {
        Format::Json => format!("{:#}\n", cpus_json(cpus, note)),
        Format::Text => above + &table.text(|_, _, cell| cell) + &notes_below(note.as_slice()),
        Format::Markdown => above + &table.markdown() + &notes_below(note.as_slice()),
    };
    output::write_to(args.list.output.as_deref(), text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// One row a CPU. The double-precision peak is computed: cores × FLOP per cycle × the middle of base and boost clock.
fn list(cpus: &[&Cpu]) -> Table {
    use Align::{Left, Right};
    let mut table = Table::new(&[
        ("id", Left),
        ("name", Left),
        ("architecture", Left),
        ("cores", Right),
        ("threads", Right),
        ("boost", Right),
        ("fp64 peak", Right),
        ("bandwidth", Right),
        ("power", Right),
    ]);
    for cpu in cpus {
        let figure = |name| cpu.figures().iter().find(|f| f.kind.name == name).map(value).unwrap_or_default();
        let device = &cpu.device;
        table.row(vec![
            device.id.clone(),
            words::printable(&device.name, 40),
            words::printable(&device.architecture, 40),
            device.units.map(|n| n.to_string()).unwrap_or_default(),
            cpu.threads.to_string(),
            figure("boost"),
            device.peaks.f64_vector.map(|rate| format!("{:.3} TFLOP/s", rate.get() / 1e12)).unwrap_or_default(),
            figure("bandwidth"),
            figure("tdp"),
        ]);
    }
    table
}
