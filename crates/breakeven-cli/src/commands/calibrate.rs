//! `breakeven calibrate`: measure this machine, and write its machine file.

use crate::args::{CalibrateArgs, CalibrateFormat};
use crate::calibrate::{self, Ask, Journal, Told, machine_file};
use crate::failure::{Failure, Outcome, say};
use crate::record::{self, Ended};
use crate::{input, output};
use breakeven::calibration::{Calibration, MachineFile, errors, factors, rates};
use breakeven::hardware::Catalogue;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const INTERRUPTED: u8 = 130;

/// Runs the command.
pub(crate) fn calibrate(args: &CalibrateArgs) -> Outcome {
    let place = place(args)?;
    let python = record::find(args.python.as_deref())?;
    let folder = tempfile::Builder::new()
        .prefix("breakeven-")
        .tempdir()
        .map_err(|e| Failure::file("make a temporary folder in", &std::env::temp_dir(), &e))?;
    let device = if args.cpu_only { Some("none") } else { args.device.as_deref() };
    let (mut journal, kept) = Journal::open(&place, args.afresh, device)?;
    if !kept.is_empty() {
        say(&format!("note: going on after {} measurements of an interrupted calibration", kept.len()));
    }
    let ask = Ask { python: &python, seconds: args.seconds, device, folder: folder.path() };
    let (ended, told) = calibrate::run(&ask, &mut journal, kept)?;
    if interrupted(ended) {
        let (done, total) = (told.done, told.total);
        say(&format!("Interrupted (Ctrl-C): {done} of {total} measurements are kept; run it again to go on"));
        return Ok(ExitCode::from(INTERRUPTED));
    }
    let file = finished(told);
    if file.kernels.is_empty() {
        let why = file.notes.first().map_or_else(String::new, |why| format!(": {why}"));
        return Err(Failure::new("no-measurement", format!("no kernel could be measured{why}"), "pip install numpy"));
    }
    write(&place, &file)?;
    journal.finish();
    report(args, &file)
}

/// Where the machine file goes.
fn place(args: &CalibrateArgs) -> Result<PathBuf, Failure> {
    let place = args.output.clone().or_else(machine_file::place);
    place.filter(|path| !output::is_stdout(path)).ok_or_else(|| {
        Failure::new("no-place", "there is no place for the machine file", "name one: --output machine.json")
    })
}

fn interrupted(ended: Ended) -> bool {
    matches!(ended, Ended::Code(code) if code == i32::from(INTERRUPTED))
        || ended == Ended::Signal(signal_hook::consts::SIGINT)
}

/// The machine file with what is worked out of it for people.
fn finished(told: Told) -> MachineFile {
    let mut file = told.file(input::machine(), input::today());
    let calibration = Calibration::of(file.clone(), Catalogue::embedded());
    file.rates = rates(&file);
    file.factors = factors(&calibration, &file);
    file.errors = errors(&calibration, &file);
    if file.gpu.is_some() && calibration.gpu.is_none() {
        file.notes
            .push("the catalogue has no GPU of this name: its times are kept, and no estimate uses them".to_owned());
    }
    file
}

fn write(place: &Path, file: &MachineFile) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(file).unwrap_or_default() + "\n";
    output::write_file(place, text.as_bytes()).map_err(|error| Failure::file("write", place, &error))?;
    output::wrote(place);
    Ok(())
}

fn report(args: &CalibrateArgs, file: &MachineFile) -> Outcome {
    let text = match args.format {
        CalibrateFormat::Text => calibrate::text(file, args.quiet),
        CalibrateFormat::Markdown => calibrate::markdown(file, args.quiet),
        CalibrateFormat::Json => serde_json::to_string_pretty(file).unwrap_or_default() + "\n",
    };
    output::write_to(None, text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}
