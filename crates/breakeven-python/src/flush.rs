//! Writing the file while the script runs, so that an abrupt end keeps what was seen.

use crate::dump;
use crate::event::Recorder;
use crate::hooks::clock;
use std::path::PathBuf;

/// A flush may take this share of the time since the one before.
const SHARE: u64 = 50;

/// When the next flush is due.
pub(crate) struct Schedule {
    /// Ticks; `u64::MAX` for never.
    pub(crate) next: u64,
    /// Where to; empty for nowhere.
    pub(crate) path: PathBuf,
    interval: u64,
    longest: u64,
}

impl Default for Schedule {
    fn default() -> Self {
        Self { next: u64::MAX, path: PathBuf::new(), interval: 0, longest: 0 }
    }
}

impl Schedule {
    /// Flushes to `path`: soon at first, then at growing intervals of at most `longest` ticks; 0 for never.
    pub(crate) fn set(&mut self, path: PathBuf, now: u64, longest: u64) {
        *self = match longest {
            0 => Self::default(),
            _ => Self { next: now + longest / 16, path, interval: longest / 16, longest },
        };
    }

    /// Flushes to another path from now on; never, where there is none.
    pub(crate) fn move_to(&mut self, path: Option<PathBuf>, now: u64) {
        match path {
            Some(path) => self.set(path, now, self.longest),
            None => *self = Self::default(),
        }
    }

    /// Flushes now and decides when again. A failure is told in the file that the end of the script writes.
    #[cold]
    pub(crate) fn run(&mut self, recorder: &mut Recorder, now: u64, wall_ticks: u64) {
        recorder.add_up();
        let workload = dump::workload(recorder, clock::ticks_per_ns(), wall_ticks);
        if let Err(error) = dump::write(&workload, &self.path) {
            recorder.unseen("flush-failed", &format!("could not write {}: {error}", self.path.display()), 0);
        }
        let ended = clock::now();
        self.interval = (self.interval * 2).min(self.longest).max(ended.saturating_sub(now).saturating_mul(SHARE));
        self.next = ended + self.interval;
    }
}
