//! Energy of the CPU packages, from the kernel's power capping files (RAPL).

use super::sysfs::{number, text};
use crate::reading::Note;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// The packages of this machine. Their counters start over every few minutes; the sum here does not.
pub(super) struct Packages {
    packages: Vec<Package>,
    joules: f64,
    notes: Vec<Note>,
}

/// One package: its counter, µJ, where that starts over, and what it said last.
struct Package {
    counter: File,
    range: Option<f64>,
    last: Option<f64>,
}

impl Packages {
    /// Those below `root`.
    pub(super) fn find(root: &Path) -> Self {
        let mut found = Self { packages: Vec::new(), joules: 0.0, notes: Vec::new() };
        let entries = fs::read_dir(root.join("sys/class/powercap")).into_iter().flatten().flatten();
        let mut folders: Vec<_> = entries.map(|entry| entry.path()).collect();
        folders.sort();
        let mut refused = None;
        for folder in folders {
            if !text(&folder.join("name")).is_ok_and(|name| name.starts_with("package")) {
                continue;
            }
            let range = number(&folder.join("max_energy_range_uj"));
            match File::open(folder.join("energy_uj")) {
                Ok(counter) => found.packages.push(Package { counter, range, last: None }),
                Err(error) => refused = Some(error),
            }
        }
        found.notes.extend(refused.as_ref().map(refusal));
        found
    }

    /// J of all packages since the first look; `None` where no counter can be read.
    pub(super) fn joules(&mut self) -> Option<f64> {
        let mut any = false;
        for package in &mut self.packages {
            let Some(now) = package.now() else { continue };
            if let Some(before) = package.last.replace(now) {
                self.joules += step(before, now, package.range) / 1e6;
            }
            any = true;
        }
        any.then_some(self.joules)
    }

    pub(super) fn notes(&mut self) -> Vec<Note> {
        std::mem::take(&mut self.notes)
    }
}

impl Package {
    fn now(&self) -> Option<f64> {
        let mut buffer = [0; 32];
        let length = self.counter.read_at(&mut buffer, 0).ok()?;
        std::str::from_utf8(&buffer[..length]).ok()?.trim().parse().ok()
    }
}

/// How far a counter went, that starts over at `range`.
fn step(before: f64, now: f64, range: Option<f64>) -> f64 {
    if now >= before { now - before } else { range.map_or(0.0, |range| (range - before + now).max(0.0)) }
}

fn refusal(error: &io::Error) -> Note {
    let why = if error.kind() == io::ErrorKind::PermissionDenied {
        "permission denied on its counters".to_owned()
    } else {
        format!("its counters cannot be read ({error})")
    };
    let note = Note::new("no-cpu-energy", format!("energy of the CPU is unknown: {why}"));
    note.hint("sudo chmod a+r /sys/class/powercap/*/energy_uj")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counter_that_starts_over_loses_nothing() {
        assert_eq!(step(900.0, 1000.0, Some(1000.0)), 100.0);
        assert_eq!(step(900.0, 50.0, Some(1000.0)), 150.0);
        assert_eq!(step(900.0, 50.0, None), 0.0);
    }

    #[test]
    fn permission_denied_is_told_with_what_to_do() {
        let note = refusal(&io::ErrorKind::PermissionDenied.into());
        assert!(note.text.contains("permission denied") && note.hint.unwrap().starts_with("sudo chmod"));
    }
}
