//! `breakeven measure SCRIPT`: both sides run, their results compared; the prediction beside what was measured.

use crate::args::{MeasureArgs, MeasureFormat};
use crate::config::Settings;
use crate::failure::{Failure, Outcome, say};
use crate::measure::{self, Activity, How, Measured, Prediction, Reached, Runner, SCHEMA, Side};
use crate::record;
use crate::{cores, input, output};
use breakeven::hardware::Catalogue;
use breakeven::request::{Options, Request};
use breakeven::workload::Workload;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Results differ, or the script failed.
const DISAGREE: u8 = 1;
/// There is no GPU to measure.
const NO_GPU: u8 = 3;
const INTERRUPTED: u8 = 130;
/// Columns of a report that goes to no terminal.
const WIDTH: usize = 120;

/// Runs the command.
pub(crate) fn measure(args: &MeasureArgs, settings: &Settings) -> Outcome {
    let command = script(args)?;
    reachable(args, &command)?;
    let options = args.options.options(settings)?;
    super::run::check(&options)?;
    let python = record::find(args.python.as_deref())?;
    let folder = tempfile::Builder::new()
        .prefix("breakeven-")
        .tempdir()
        .map_err(|e| Failure::file("make a temporary folder in", &std::env::temp_dir(), &e))?;
    let runner = Runner { python: &python, folder: folder.path(), repeat: args.repeat };
    let mut found = Measured {
        schema: SCHEMA.to_owned(),
        date: input::today(),
        script: command[0].to_string_lossy().into_owned(),
        against: args.against.as_ref().map(|path| path.display().to_string()),
        ..Measured::default()
    };
    sides(args, &runner, &command, &mut found)?;
    if found.reached != Reached::Interrupted {
        compare(&runner, &command, &mut found)?;
        predict(&runner, &command, options, &mut found);
    }
    if found.cpu.runs.is_empty() && found.reached == Reached::Interrupted {
        say("Interrupted (Ctrl-C): nothing had been measured yet");
        return Ok(ExitCode::from(INTERRUPTED));
    }
    deliver(args, &found)?;
    Ok(exit(&found))
}

/// The script and its arguments.
fn script(args: &MeasureArgs) -> Result<Vec<OsString>, Failure> {
    let Some(script) = args.command.first() else {
        return Err(Failure::new("no-script", "no script is named", "as in `breakeven measure heat.py`"));
    };
    for path in [Some(Path::new(script)), args.against.as_deref()].into_iter().flatten() {
        match path.metadata() {
            Ok(data) if data.is_dir() => {
                let message = format!("{} is a folder: `measure` runs one script", path.display());
                return Err(Failure::new("no-script", message, "name the script in it"));
            }
            Ok(_) if path.extension().is_some_and(|ending| ending == "ipynb") => {
                let message = format!("{} is a notebook: Python cannot run it", path.display());
                return Err(Failure::new("no-script", message, "`jupyter nbconvert --to script` makes a script of it"));
            }
            Ok(_) => drop(std::fs::File::open(path).map_err(|e| Failure::file("read", path, &e))?),
            Err(error) => {
                let message =
                    format!("cannot read the script {}: {}", path.display(), crate::failure::system_words(&error));
                let hint = "options of breakeven come before the script, the script's own after it";
                return Err(Failure::new("no-script", message, hint));
            }
        }
    }
    Ok(args.command.clone())
}

/// Refuses reports that could not be written, before the scripts take their time.
fn reachable(args: &MeasureArgs, command: &[OsString]) -> Result<(), Failure> {
    let written = [("--output", args.output.as_ref()), ("--save", args.save.as_ref())];
    let read: Vec<PathBuf> = command.first().map(PathBuf::from).into_iter().chain(args.against.clone()).collect();
    output::apart(&written, &read)?;
    for file in written.into_iter().filter_map(|(_, file)| file).filter(|file| !output::is_stdout(file)) {
        let folder = file.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        if !folder.is_dir() {
            let message = format!("there is no folder {} to write {} in", folder.display(), file.display());
            return Err(Failure::new("no-folder", message, format!("mkdir -p {}", folder.display())));
        }
    }
    Ok(())
}

/// Runs both sides, as far as this machine can.
fn sides(args: &MeasureArgs, runner: &Runner, command: &[OsString], found: &mut Measured) -> Result<(), Failure> {
    found.cpu = output::working("measuring on the CPU", || runner.run("cpu", How::Cpu, command))?;
    if found.cpu.interrupted {
        found.reached = Reached::Interrupted;
        return Ok(());
    }
    if found.cpu.uses("cupy") {
        found.notes.push("CuPy has no CPU side: breakeven's stand-in for it computed with NumPy".to_owned());
    }
    if let Some(against) = &args.against {
        return against_other(runner, command, against, found);
    }
    let own = found.cpu.uses_gpu_library();
    let known = own || found.cpu.uses("numpy") || found.cpu.failed().is_some() || found.cpu.killed.is_some();
    if !known {
        let message = format!("{} uses neither NumPy nor a library that has a GPU side", found.script);
        let hint = "measure a script for NumPy, SciPy, CuPy, PyTorch, JAX or TensorFlow, or two by --against";
        return Err(Failure::new("no-gpu-side", message, hint));
    }
    found.reached = Reached::NoGpu;
    if measure::has_gpu() {
        let how = if own { How::Gpu } else { How::Port };
        let side = output::working("measuring on the GPU", || runner.run("gpu", how, command))?;
        if measured_on_gpu(&side, &mut found.notes) {
            found.reached = if side.interrupted { Reached::Interrupted } else { Reached::Gpu };
            if how == How::Port && found.reached == Reached::Gpu && side.failed().is_none() {
                let lines = output::working("timing lines", || runner.lines("lines", how, command))?;
                found.by_line = Some(lines).filter(|side| !side.interrupted && side.failed().is_none());
            }
            found.other = Some(side);
        }
    }
    if found.reached == Reached::NoGpu && args.check_port {
        if own {
            found.notes.push("--check-port is for NumPy scripts: this one has a GPU side of its own".to_owned());
        } else {
            let repeat = Some(args.repeat.unwrap_or(0).min(1));
            let runner = Runner { repeat, ..*runner };
            let side = output::working("checking the port", || runner.run("port", How::CheckPort, command))?;
            found.other = Some(side.without_times());
        }
    }
    Ok(())
}

/// Whether a side ran on the GPU; where not, why, as a note.
fn measured_on_gpu(side: &Side, notes: &mut Vec<String>) -> bool {
    if let Some(why) = &side.refused {
        let hint =
            if why.starts_with("no CuPy") { ": pip install cupy-cuda12x (cupy-cuda13x for CUDA 13)" } else { "" };
        notes.push(format!("the GPU side was not run: {why}{hint}"));
        return false;
    }
    let why = match (side.gpu_used, side.activity.and_then(Activity::worked)) {
        (Some(false), _) => "used none of its memory",
        (_, Some(false)) => "its driver saw nobody open it, whatever the libraries say",
        _ => return true,
    };
    if side.failed().is_none() {
        notes.push(format!("the script was shown the GPU and {why}: it ran on the CPU on both sides"));
    }
    side.failed().is_some()
}

/// The second script, on the GPU where there is one.
fn against_other(runner: &Runner, command: &[OsString], other: &Path, found: &mut Measured) -> Result<(), Failure> {
    let command: Vec<OsString> = std::iter::once(other.into()).chain(command[1..].iter().cloned()).collect();
    let has_gpu = measure::has_gpu();
    let how = if has_gpu { How::Gpu } else { How::Cpu };
    let side = output::working("measuring the second script", || runner.run("against", how, &command))?;
    let asks = side.uses_gpu_library();
    found.reached = match () {
        () if side.interrupted => Reached::Interrupted,
        () if asks && has_gpu && side.gpu_used != Some(false) => Reached::Gpu,
        () if asks => Reached::NoGpu,
        () => Reached::TwoOnCpu,
    };
    found.other = Some(side);
    Ok(())
}

/// Ratios, and whether the results agree; where they do not, which side is off.
fn compare(runner: &Runner, command: &[OsString], found: &mut Measured) -> Result<(), Failure> {
    let Some(other) = &found.other else { return Ok(()) };
    let failed = |side: &Side| side.failed().is_some() || side.killed.is_some() || side.runs.is_empty();
    if failed(&found.cpu) || failed(other) {
        return Ok(());
    }
    if matches!(found.reached, Reached::Gpu | Reached::TwoOnCpu) {
        found.speedup = measure::ratio(&found.cpu.warm(), &other.warm());
        found.cold_speedup = found.cpu.cold().zip(other.cold()).map(|(cpu, gpu)| cpu / gpu);
    }
    let one_script = found.against.is_none();
    let compared = |exact: Option<&Side>| measure::compare(runner.python, &found.cpu, other, exact, one_script);
    let mut results = compared(None)?;
    if results.numbers_differ() && !found.cpu.uses_gpu_library() {
        let once = Runner { repeat: Some(0), ..*runner };
        let exact = output::working("computing in float64", || once.run("float64", How::Float64, command));
        if let Some(exact) = exact.ok().filter(|side| !failed(side)) {
            results = compared(Some(&exact))?;
        }
    }
    found.results = Some(results);
    Ok(())
}

/// What the engine says of the script on the GPU that was measured, or on those asked about.
fn predict(runner: &Runner, command: &[OsString], mut options: Options, found: &mut Measured) {
    if found.cpu.failed().is_some() || found.cpu.killed.is_some() || found.against.is_some() {
        return;
    }
    let Some(workload) = output::working("recording", || runner.record(command)) else {
        found.notes.push("the script could not be recorded: there is no prediction".to_owned());
        return;
    };
    if options.gpu.is_empty()
        && let Some(name) = found.other.as_ref().and_then(|side| side.device.as_deref())
    {
        if Catalogue::embedded().find_gpu(name).is_ok() {
            options.gpu = vec![name.to_owned()];
        } else {
            found.notes.push(format!("the catalogue has no {name}: the prediction is of another GPU"));
        }
    }
    let root = runner.folder.join("record/run-0/folder");
    match estimated(workload, options) {
        Ok(Some(mut predicted)) => {
            for line in &mut predicted.lines {
                let inside = Path::new(&line.file).strip_prefix(&root).ok().map(|path| path.display().to_string());
                line.file = inside.unwrap_or_else(|| line.file.clone());
            }
            predicted.beside(&found.cpu);
            found.predicted = Some(predicted);
        }
        Ok(None) => found.notes.push("there is no prediction: no GPU was estimated".to_owned()),
        Err(failure) => {
            say("warning: there is no prediction");
            failure.report();
        }
    }
}

/// The prediction with start-up and without.
fn estimated(workload: Workload, options: Options) -> Result<Option<Prediction>, Failure> {
    let warm = Options { exclude_startup: true, ..options.clone() };
    let mut request =
        Request { today: input::today(), workload: Some(Box::new(workload)), options, ..Request::default() };
    let whole = output::working("estimating", || cores::answer(&request))?;
    if whole.estimates.is_empty() {
        return Ok(None);
    }
    request.options = warm;
    if request.options.gpu.is_empty()
        && let Some(shown) = whole.summary.shown_gpu.as_ref().or(whole.summary.best_gpu.as_ref())
    {
        request.options.gpu = vec![shown.clone()];
    }
    let warm = cores::answer(&request)?;
    Ok(Prediction::of(&whole, &warm))
}

/// The report where it is wanted, and what is to be kept.
fn deliver(args: &MeasureArgs, found: &Measured) -> Result<(), Failure> {
    let json = || serde_json::to_string_pretty(found).unwrap_or_default() + "\n";
    if let Some(file) = &args.save {
        output::write_to(Some(file), json().as_bytes())?;
        output::wrote(file);
    }
    let terminal = args.output.is_none().then(io::stdout);
    let width = output::width(terminal.filter(io::IsTerminal::is_terminal)).map_or(WIDTH, usize::from);
    let text = match args.format {
        MeasureFormat::Json => json(),
        MeasureFormat::Markdown => measure::markdown(found, args.quiet),
        MeasureFormat::Text => measure::text(found, args.quiet, args.verbose, width),
    };
    output::write_to(args.output.as_deref(), text.as_bytes())
}

fn exit(found: &Measured) -> ExitCode {
    let failed = |side: &Side| side.failed().is_some() || side.killed.is_some();
    let differ = found.results.as_ref().is_some_and(|results| !results.agree);
    match found.reached {
        Reached::Interrupted => ExitCode::from(INTERRUPTED),
        _ if differ || failed(&found.cpu) || found.other.as_ref().is_some_and(failed) => ExitCode::from(DISAGREE),
        Reached::NoGpu => ExitCode::from(NO_GPU),
        Reached::Gpu | Reached::TwoOnCpu => ExitCode::SUCCESS,
    }
}
