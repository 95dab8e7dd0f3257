//! `breakeven watch [-- COMMAND…]`: what the GPUs do meanwhile, and what held them back.

mod course;
mod stop;

use crate::args::{WatchArgs, WatchFormat};
use crate::failure::{Failure, Outcome, say};
use crate::output;
use crate::record::{self, Ended};
use breakeven::report::words::printable;
use breakeven_watch::{History, Machine, Plan, Totals, report, save};
use course::{Course, Seen};
use std::fs::File;
use std::io::{self, IsTerminal};
use std::path::Path;
use std::process::{Command, ExitCode};
use std::sync::mpsc;
use std::time::Duration;

/// Moments that plots and saved sessions are shown in.
const MOMENTS: usize = 600;

/// Runs the command.
pub(crate) fn watch(args: &WatchArgs) -> Outcome {
    let written = [("--output", args.output.as_ref()), ("--html", args.html.as_ref()), ("--save", args.save.as_ref())];
    let read: Vec<_> = args.show.iter().cloned().collect();
    output::apart(&written, &read)?;
    if let Some(file) = &args.show {
        return show(args, file);
    }
    let plan = plan(args)?;
    let mut machine = Machine::find(&args.root);
    if let Some(pid) = args.pid {
        machine.own(pid);
        if !machine.own_runs() {
            let message = format!("there is no process {pid}");
            return Err(Failure::new("no-process", message, "`ps` lists them; in a container --root may have others"));
        }
    }
    let (stop, stopped) = mpsc::channel();
    if !args.command.is_empty() {
        return command(args, plan, machine, (stop, stopped));
    }
    let course = Course::new(args, &machine, plan, what(args))?;
    stop::by_signals(stop);
    let seen = course.watch(&mut machine, plan, &stopped);
    deliver(args, &seen)?;
    seen.saved.map(|()| ExitCode::SUCCESS)
}

/// How and for how long.
fn plan(args: &WatchArgs) -> Result<Plan, Failure> {
    const LEAST: f64 = 0.01;
    const MOST: f64 = 3600.0;
    let time = |text: &str, field| breakeven::quantity::parse_seconds(text).map_err(|error| error.field(field));
    let interval = time(&args.interval, "interval")?.get();
    if !(LEAST..=MOST).contains(&interval) {
        let message = format!("`{}` is no interval: 10 ms to an hour are allowed", printable(&args.interval, 40));
        return Err(Failure::new("interval", message, "drivers average over 20 ms to 1 s: 0.1s is enough"));
    }
    let length = args.length.as_deref().map(|text| time(text, "for")).transpose()?.map(|length| length.get());
    if length.is_some_and(|length| !(length > 0.0 && length < 1e9)) {
        return Err(Failure::new("length", "--for needs a time above 0", "such as 30s, 5min or 24h"));
    }
    Ok(Plan {
        interval: Duration::from_secs_f64(interval),
        length: length.map(Duration::from_secs_f64),
        with_own: args.pid.is_some(),
    })
}

/// What is watched; nothing where it is the whole machine.
fn what(args: &WatchArgs) -> Option<String> {
    let words: Vec<_> = args.command.iter().map(|word| word.to_string_lossy()).collect();
    match args.pid {
        Some(pid) => Some(format!("process {pid}")),
        None => (!words.is_empty()).then(|| words.join(" ")),
    }
}

/// Watches as long as a command runs, whose exit code or signal is passed on.
fn command(
    args: &WatchArgs,
    plan: Plan,
    mut machine: Machine,
    (stop, stopped): (mpsc::Sender<()>, mpsc::Receiver<()>),
) -> Outcome {
    let to_stdout = args.output.as_deref().is_none_or(output::is_stdout);
    if args.format != WatchFormat::Text && to_stdout {
        let message = "stdout belongs to the command: samples and JSON need a place of their own";
        return Err(Failure::new("no-output", message, "add --output FILE"));
    }
    let course = Course::new(args, &machine, plan, what(args))?;
    let mut command = Command::new(&args.command[0]);
    command.args(&args.command[1..]);
    let mut watching = None;
    let ended = record::run_and(&mut command, |pid| {
        machine.own(pid);
        watching = Some(std::thread::spawn(move || course.watch(&mut machine, plan, &stopped)));
    });
    let (_, ended) = ended.map_err(|error| not_started(&args.command[0], &error))?;
    drop(stop);
    if let Some(Ok(seen)) = watching.map(std::thread::JoinHandle::join) {
        for wrong in [deliver(args, &seen).err(), seen.saved.err()].into_iter().flatten() {
            say("warning: not all of what was asked for was written");
            wrong.report();
        }
    }
    match ended {
        Ended::Signal(signal) => record::die_by(signal),
        // A process's exit code has eight bits.
        Ended::Code(code) => Ok(ExitCode::from(u8::try_from(code & 0xff).unwrap_or(1))),
    }
}

fn not_started(command: &std::ffi::OsStr, error: &std::io::Error) -> Failure {
    let name = command.to_string_lossy();
    let message = format!("cannot start {name}: {}", crate::failure::system_words(error));
    Failure::new("no-command", message, "the command stands after `--`, as in `breakeven watch -- python train.py`")
}

/// Reports on a saved session.
fn show(args: &WatchArgs, path: &Path) -> Outcome {
    if matches!(args.format, WatchFormat::Jsonl | WatchFormat::Csv) {
        return samples(args, path);
    }
    let file = File::open(path).map_err(|e| Failure::file("read", path, &e))?;
    let (totals, history) = save::replay(file, MOMENTS).map_err(|error| of_file(path, error))?;
    deliver(args, &Seen { totals, history, saved: Ok(()), own_stdout: true })?;
    Ok(ExitCode::SUCCESS)
}

/// The samples of a saved session, as they were written then.
fn samples(args: &WatchArgs, path: &Path) -> Outcome {
    let file = File::open(path).map_err(|e| Failure::file("read", path, &e))?;
    let reader = save::Reader::new(file).map_err(|error| of_file(path, error))?;
    let mut lines = course::Lines::new(args, &reader.totals.gpus)?;
    reader.each(|event| {
        if let save::Event::Sample(sample) = event {
            lines.sample(&sample);
        }
    });
    lines.finish()?;
    Ok(ExitCode::SUCCESS)
}

fn of_file(path: &Path, error: breakeven::Error) -> Failure {
    let message = format!("cannot show {}: {}", path.display(), error.message);
    breakeven::Error { message, ..error }.into()
}

/// The report to where it belongs: stdout, `--output`, or stderr where stdout is taken; and the page.
fn deliver(args: &WatchArgs, seen: &Seen) -> Result<(), Failure> {
    if let Some(file) = &args.html {
        output::write_to(Some(file), report::html(&seen.totals, &seen.history).as_bytes())?;
        output::wrote(file);
    }
    let text = || report::text(&seen.totals, if seen.own_stdout { output::columns() } else { on_stderr() });
    match args.format {
        WatchFormat::Json => output::write_to(args.output.as_deref(), report::json(&seen.totals).as_bytes()),
        WatchFormat::Text if args.output.is_some() => output::write_to(args.output.as_deref(), text().as_bytes()),
        WatchFormat::Text if seen.own_stdout => output::write_to(None, text().as_bytes()),
        WatchFormat::Text => {
            say(&format!("\n{}", text()));
            Ok(())
        }
        WatchFormat::Jsonl | WatchFormat::Csv => {
            // Who reads samples from a file or a pipe sees the sentence all the same.
            told(&seen.totals);
            Ok(())
        }
    }
}

/// Characters of a line on stderr, where it is a terminal.
fn on_stderr() -> Option<usize> {
    output::width(Some(io::stderr()).filter(IsTerminal::is_terminal)).map(usize::from)
}

/// The sentences and notes alone.
fn told(totals: &Totals) {
    report::sentences(totals).iter().for_each(|sentence| say(sentence));
    for note in &totals.notes {
        say(&format!("note: {}", printable(&note.text, 300)));
        note.hint.iter().for_each(|hint| say(&format!(" hint: {}", printable(hint, 300))));
    }
}

/// The course of a session, as long as it may be.
fn history(gpus: usize, plan: Plan) -> History {
    History::new(gpus, plan.interval.as_secs_f64(), MOMENTS)
}
