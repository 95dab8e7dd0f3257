//! The measuring Python in a process of its own, and its lines as they come.

use super::journal::Journal;
use super::told::{Line, Told};
use crate::failure::{Failure, say};
use crate::record::{self, Ended, Python};
use std::io::{self, BufRead, BufReader, IsTerminal, Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};

/// What is to be measured.
pub(crate) struct Ask<'a> {
    pub(crate) python: &'a Python,
    pub(crate) seconds: u32,
    /// As PyTorch calls it; `none` for the CPU alone; `None` for any.
    pub(crate) device: Option<&'a str>,
    /// A folder for what Python has to be told.
    pub(crate) folder: &'a Path,
}

/// Measures; what was `kept` of an earlier run counts as done. How Python ended, and all that is known then.
///
/// # Errors
/// Python cannot be started, or fails before it has told anything.
pub(crate) fn run(ask: &Ask, journal: &mut Journal, kept: Vec<Line>) -> Result<(Ended, Told), Failure> {
    let keys: Vec<String> = kept.iter().filter_map(|line| line.key.clone()).collect();
    let done = ask.folder.join("done");
    std::fs::write(&done, keys.join("\n")).map_err(|error| Failure::file("write", &done, &error))?;
    let mut command = Command::new(&ask.python.path);
    command.args(["-m", "breakeven.calibrate.run"]).arg(format!("--seconds={}", ask.seconds));
    command.args(ask.device.map(|device| format!("--device={device}")));
    let mut word = std::ffi::OsString::from("--done=");
    word.push(&done);
    command.arg(word).stdin(Stdio::null());
    let cannot = |error: io::Error| Failure::file("start", &ask.python.path, &error);
    let (lines, to_lines) = io::pipe().map_err(cannot)?;
    let (errors, to_errors) = io::pipe().map_err(cannot)?;
    command.stdout(to_lines).stderr(to_errors);
    let mut told = Told::default();
    kept.into_iter().for_each(|line| told.take(line));
    let (ended, why) = std::thread::scope(|scope| {
        let told = &mut told;
        scope.spawn(move || listen(lines, journal, told));
        let failed = scope.spawn(move || {
            let mut text = Vec::new();
            let _ = BufReader::new(errors).read_to_end(&mut text);
            String::from_utf8_lossy(&text).into_owned()
        });
        let ended = record::run(&mut command);
        // The last writers go, so that reading ends.
        drop(command);
        (ended, failed.join().unwrap_or_default())
    });
    clear();
    let (_, ended) = ended.map_err(cannot)?;
    if told.done == 0 && matches!(ended, Ended::Code(code) if code != INTERRUPTED) {
        let last = why.trim_end().lines().last().unwrap_or("it said nothing");
        let message = format!("nothing could be measured: {last}");
        let hint = "`breakeven doctor` says what is missing; calibrating needs NumPy";
        return Err(Failure::new("no-measurement", message, hint));
    }
    if !told.whole
        && !matches!(ended, Ended::Code(INTERRUPTED))
        && let Some(last) = why.trim_end().lines().last()
    {
        say(&format!("warning: measuring ended early: {last}"));
    }
    Ok((ended, told))
}

/// How Python tells of a Ctrl-C.
const INTERRUPTED: i32 = 130;

/// Takes each line; figures are kept, progress is shown.
fn listen(lines: impl Read, journal: &mut Journal, told: &mut Told) {
    let terminal = io::stderr().is_terminal();
    for line in BufReader::new(lines).split(b'\n').map_while(Result::ok) {
        // What a library prints is no line of ours.
        let Ok(line) = serde_json::from_slice::<Line>(&line) else { continue };
        if let Some(now) = line.now.as_ref().filter(|_| terminal) {
            let _ = write!(io::stderr(), "\r\u{1b}[Kcalibrating {} of {}: {now} …", told.done + 1, told.total);
        }
        if line.is_kept() {
            journal.keep(&line);
        }
        told.take(line);
    }
}

fn clear() {
    if io::stderr().is_terminal() {
        let _ = write!(io::stderr(), "\r\u{1b}[K");
    }
}
