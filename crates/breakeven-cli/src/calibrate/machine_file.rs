//! The user's machine file: where it is, and whether it holds on this machine.

use crate::config::Settings;
use crate::failure::{Failure, say};
use crate::input;
use breakeven::calibration::{self, MachineFile};
use breakeven::request::Machine;
use std::env;
use std::path::{Path, PathBuf};

/// The file by name; empty for none.
const NAMED: &str = "BREAKEVEN_MACHINE";
/// Where it is otherwise, in the user's folder for settings.
const FILE: &str = "breakeven/machine.json";

/// A machine file that is used.
pub(crate) struct Chosen {
    /// As the engine takes it.
    pub(crate) text: String,
    /// Whether it is of another machine than this one.
    pub(crate) of_another: bool,
}

/// Where it is kept (<https://specifications.freedesktop.org/basedir-spec/latest/>); `None` where there is no place.
pub(crate) fn place() -> Option<PathBuf> {
    if let Some(named) = env::var_os(NAMED) {
        return Some(PathBuf::from(named)).filter(|path| !path.as_os_str().is_empty());
    }
    let set = |name| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    Some(set("XDG_CONFIG_HOME").or_else(|| Some(set("HOME")?.join(".config")))?.join(FILE))
}

/// The file that the user named; else this machine's own, where there is one that holds. One of the user's own that does not
/// hold is no failure: why is said, and it is not used.
///
/// # Errors
/// A file that the user named and that is no machine file.
pub(crate) fn chosen(named: Option<&Path>, settings: &Settings) -> Result<Option<Chosen>, Failure> {
    let here = input::machine();
    if let Some(path) = named {
        let text = input::text(path)?;
        let file = calibration::read(&text).map_err(|error| at(path, error))?;
        return Ok(Some(Chosen { of_another: !same(&file.machine, &here), text }));
    }
    let Some(path) = place().filter(|path| settings.wanted() && path.exists()) else { return Ok(None) };
    let held = input::text(&path).and_then(|text| {
        let file = calibration::read(&text).map_err(|error| at(&path, error))?;
        Ok((text, file))
    });
    match held {
        Ok((text, file)) if same(&file.machine, &here) => Ok(Some(Chosen { text, of_another: false })),
        Ok((_, file)) => {
            say(&format!("note: {} is not used: {}", path.display(), another(&file, &here)));
            Ok(None)
        }
        Err(failure) => {
            say(&format!("note: {} is not used", path.display()));
            failure.report();
            Ok(None)
        }
    }
}

fn at(path: &Path, mut error: breakeven::Error) -> Failure {
    error.message = format!("{}: {}", path.display(), error.message);
    Failure::Input(error)
}

/// Whether two are one machine, as far as its CPU tells.
fn same(a: &Machine, b: &Machine) -> bool {
    a.cpu == b.cpu && a.cpu_threads == b.cpu_threads
}

/// What tells the machine of a file from this one.
fn another(file: &MachineFile, here: &Machine) -> String {
    let named = |machine: &Machine| {
        let name = if machine.cpu.is_empty() { "an unnamed CPU" } else { &machine.cpu };
        format!("{name} with {} threads", machine.cpu_threads)
    };
    format!(
        "it is of another machine ({}; this is {}); `breakeven calibrate` measures this one",
        named(&file.machine),
        named(here)
    )
}
