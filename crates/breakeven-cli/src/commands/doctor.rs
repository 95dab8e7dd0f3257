//! `breakeven doctor`: what was found on this machine, and how to mend what is missing. It changes nothing.

use super::prices::ages;
use crate::args::DoctorArgs;
use crate::failure::{Failure, Outcome};
use crate::{input, output, record};
use breakeven::hardware::{Catalogue, Date};
use breakeven::report::{hanging, words::printable};
use breakeven::request::Machine;
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

/// Asks a Python what it has.
const QUESTION: &str = include_str!("doctor.py");

/// Runs the command.
///
/// # Errors
/// The Python named does not exist. All else that is missing is news, not an error.
pub(crate) fn doctor(args: &DoctorArgs) -> Outcome {
    let mut lines = vec![("breakeven", env!("CARGO_PKG_VERSION").to_owned())];
    lines.extend(python(args.python.as_deref())?);
    lines.push(("cpu", cpu()));
    lines.push(("gpu driver", driver()));
    lines.extend(catalogue());
    let width = output::columns().unwrap_or(usize::MAX);
    let told = |(name, what): &(&str, String)| hanging(&format!("{name:<12}"), &printable(what, 300), width);
    let text: String = lines.iter().flat_map(told).map(|line| line.trim_end().to_owned() + "\n").collect();
    output::write_to(None, text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

fn python(named: Option<&Path>) -> Result<Vec<(&'static str, String)>, Failure> {
    let python = match record::find(named) {
        Ok(python) => python,
        Err(Failure::Input(error)) if named.is_none() || error.code != "no-python" => {
            let hint = error.hint.unwrap_or_default();
            return Ok(vec![("python", error.message), ("", format!("to mend: {hint}"))]);
        }
        Err(failure) => return Err(failure),
    };
    let mut lines = vec![("python", format!("{} ({})", python.path.display(), python.why))];
    let mut ask = Command::new(&python.path);
    ask.args(["-c", QUESTION]).stdin(Stdio::null()).stderr(Stdio::null());
    let answer = ask.output().ok().and_then(|o| serde_json::from_slice::<Value>(&o.stdout).ok());
    let Some(answer) = answer else {
        lines.push(("", "it does not answer; to mend: run it yourself and see what it says".to_owned()));
        return Ok(lines);
    };
    let text = |value: &Value| value.as_str().unwrap_or("?").to_owned();
    let found: Vec<String> = answer["packages"]
        .as_object()
        .into_iter()
        .flatten()
        .filter(|(_, version)| version.is_string())
        .map(|(package, version)| format!("{package} {}", text(version)))
        .collect();
    lines.push(("packages", format!("python {}, {}", text(&answer["python"]), found.join(", "))));
    lines.push(("recorder", recorder(&answer["hooks"])));
    Ok(lines)
}

/// The native hooks' state: all on, some off and why, or the reason for the fallback.
fn recorder(hooks: &Value) -> String {
    match hooks {
        Value::Object(states) => {
            let off = states.iter().filter(|(_, state)| state.as_str() != Some("on"));
            let off: Vec<String> = off.map(|(name, why)| format!("{name} ({})", why.as_str().unwrap_or("?"))).collect();
            if off.is_empty() {
                format!("native: all {} hooks work with this Python and NumPy", states.len())
            } else {
                format!("native, but off: {}", off.join(", "))
            }
        }
        why => format!("ast (slower): {}", why.as_str().unwrap_or("native hooks do not answer")),
    }
}

/// This machine's CPU, and whether the catalogue knows it.
fn cpu() -> String {
    let Machine { cpu, cpu_threads, .. } = input::machine();
    match cpu.as_str() {
        "" => format!("not named by this system, {cpu_threads} threads"),
        name if Catalogue::embedded().find_cpu(name).is_ok() => {
            format!("{name}, {cpu_threads} threads; in the catalogue")
        }
        name => format!("{name}, {cpu_threads} threads; not in the catalogue: runs are measured all the same"),
    }
}

/// Whether a driver is there. Nothing of it is loaded: estimates need none.
fn driver() -> String {
    let version = fs::read_to_string("/proc/driver/nvidia/version").ok();
    let version =
        version.as_deref().and_then(|text| text.lines().next()).and_then(|line| line.strip_prefix("NVRM version:"));
    let amd = Path::new("/dev/kfd").exists();
    match version {
        Some(version) => version.split_whitespace().collect::<Vec<_>>().join(" "),
        None if amd => "AMD (/dev/kfd)".to_owned(),
        None => "none; none is needed to estimate".to_owned(),
    }
}

fn catalogue() -> Vec<(&'static str, String)> {
    let gpus = Catalogue::embedded().gpus();
    let newest = gpus.iter().flat_map(|g| g.figures()).map(|f| f.read).max();
    let today = Date::parse(&input::today());
    let age = newest
        .zip(today)
        .map(|(newest, today)| format!(", last checked {newest} ({} days ago)", today.days_since(newest)));
    let mut lines = vec![("catalogue", format!("{} GPUs{}", gpus.len(), age.unwrap_or_default()))];
    if let Some(today) = today {
        let (text, old) = ages(Catalogue::embedded().prices().iter(), today);
        lines.push(("prices", text));
        if old {
            lines.push(("", "to mend: a newer breakeven, or your own prices by --price and --cpu-price".to_owned()));
        }
    }
    lines
}
