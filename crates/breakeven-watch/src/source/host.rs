//! The host: cores that are busy, those of the watched processes, and energy of the CPU packages.

use super::processes::{family, stat};
use super::rapl::Packages;
use crate::reading::{Field, Note, Reading};
use std::fs;
use std::path::{Path, PathBuf};

/// How often the host is looked at, s: its counters move in hundredths of a second and its files are long.
const EVERY: f64 = 1.0;

/// Ticks of the kernel's clocks in a second: what Linux shows to programs on every machine (`USER_HZ`).
const TICKS: f64 = 100.0;

/// The host of the GPUs.
pub(super) struct Host {
    root: PathBuf,
    packages: Packages,
    cores: Option<usize>,
    /// The watched process and when it started, in ticks.
    own: Option<(u32, u64)>,
    /// When this was looked at last, s; ticks of all cores; ticks of the watched processes.
    last: Option<(f64, Option<f64>, Option<f64>)>,
    now: Reading,
}

impl Host {
    pub(super) fn new(root: &Path) -> Self {
        let cores = fs::read_to_string(root.join("proc/stat"))
            .ok()
            .map(|text| text.lines().filter(|line| line.starts_with("cpu") && !line.starts_with("cpu ")).count());
        let packages = Packages::find(root);
        Self { root: root.to_owned(), packages, cores, own: None, last: None, now: Reading::default() }
    }

    pub(super) const fn cores(&self) -> Option<usize> {
        self.cores
    }

    pub(super) fn own(&mut self, pid: u32) {
        self.own = stat(&self.root, pid).map(|(started, _)| (pid, started));
    }

    pub(super) fn own_runs(&self) -> bool {
        self.own.is_some_and(|(pid, started)| stat(&self.root, pid).is_some_and(|(at, _)| at == started))
    }

    /// The host as it was last looked at, which is less than a second ago, or now where it is the `last` look; whether it
    /// was looked at now.
    pub(super) fn read(&mut self, at: f64, last: bool, reading: &mut Reading) -> bool {
        let fresh = last || self.last.is_none_or(|(last, ..)| at - last >= EVERY);
        if fresh {
            self.look(at);
        }
        reading.clone_from(&self.now);
        fresh
    }

    /// The host now.
    fn look(&mut self, at: f64) {
        let (all, own) = (self.ticks(), self.own_ticks());
        if let Some((last, all_before, own_before)) = self.last {
            let cores = |before: Option<f64>, now: Option<f64>| {
                let ticks = now? - before?;
                Some((ticks / TICKS / (at - last).max(1e-3)).max(0.0))
            };
            self.now.set(Field::Cores, cores(all_before, all));
            self.now.set(Field::OwnCores, cores(own_before, own));
        }
        let joules = self.packages.joules();
        if let Some((last, ..)) = self.last {
            let used = joules.zip(self.now.get(Field::Joules)).map(|(now, before)| now - before);
            self.now.set(Field::Watts, used.map(|used| used / (at - last).max(1e-3)));
        }
        self.now.set(Field::Joules, joules);
        self.last = Some((at, all, own));
    }

    /// Ticks in which any core worked.
    fn ticks(&self) -> Option<f64> {
        let text = fs::read_to_string(self.root.join("proc/stat")).ok()?;
        let line = text.lines().next()?.strip_prefix("cpu ")?;
        let ticks: Vec<f64> = line.split_ascii_whitespace().filter_map(|word| word.parse().ok()).collect();
        // user, nice, system, idle, waiting for disks, interrupts, soft interrupts, taken by other guests.
        (ticks.len() >= 8).then(|| ticks[0] + ticks[1] + ticks[2] + ticks[5] + ticks[6])
    }

    /// Ticks of the watched process and all that it started. Those of children that have ended are in their parents'.
    fn own_ticks(&self) -> Option<f64> {
        let (pid, _) = self.own.filter(|_| self.own_runs())?;
        let ticks = family(&self.root, pid).into_iter().filter_map(|pid| stat(&self.root, pid)).map(|(_, ticks)| ticks);
        #[expect(clippy::cast_precision_loss, reason = "less than 2^53 ticks")]
        Some(ticks.sum::<u64>() as f64)
    }

    pub(super) fn notes(&mut self) -> Vec<Note> {
        self.packages.notes()
    }
}
