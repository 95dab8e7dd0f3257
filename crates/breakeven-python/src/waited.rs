//! How long the process did nothing: other programs had the CPU, as Linux counts it, or it waited for something else.

use crate::hooks::clock;
use crate::hooks::platform::switches;

/// Time that the main thread has spent waiting for a CPU, ns; `None` where the system does not say.
pub(crate) fn waited_ns() -> Option<u64> {
    read(&std::fs::read_to_string("/proc/self/schedstat").ok()?)
}

/// The same of all threads together, and of every kind of waiting for a CPU; 0 where the system does not say.
pub(crate) fn waited_by_all_ns() -> u64 {
    let Ok(threads) = std::fs::read_dir("/proc/self/task") else { return 0 };
    let counted = |thread: std::fs::DirEntry| read(&std::fs::read_to_string(thread.path().join("schedstat")).ok()?);
    threads.flatten().filter_map(counted).sum()
}

/// The second of "time on a CPU, time waiting for one, times that it got one" (Documentation/scheduler/sched-stats.rst).
pub(crate) fn read(text: &str) -> Option<u64> {
    text.split_whitespace().nth(1)?.parse().ok()
}

/// Host code or a call that takes so long, ticks, is looked at: about a millisecond.
pub(crate) const LONG: u64 = 3_000_000;
/// Ticks after which the next call is, however short.
const OFTEN: u64 = 20 * LONG;
/// Less off the CPU than this since the last look is no waiting, ns.
pub(crate) const LEAST: u64 = 200_000;
/// Readings between which less than this passed off the CPU are of one moment, ns; and how often they are tried.
const AT_ONCE: u64 = 50_000;
const TRIES: usize = 8;

/// The process as it was looked at last. Looking costs some microseconds, so short calls in a row are seen as one.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    /// Ticks from which on a call is looked at when it ends.
    pub(crate) due: u64,
    last: Look,
    /// How long its threads had waited for a CPU, ns.
    kept: u64,
}

/// The time, and what of it the threads of this process have had of CPUs, ns; how often one of them has begun to wait.
#[derive(Clone, Copy, Debug, Default)]
struct Look {
    at: u64,
    on_cpu: u64,
    switches: u64,
}

impl Watch {
    /// From now on.
    pub(crate) fn begin(&mut self) {
        self.kept = waited_by_all_ns();
        self.last = Look::now();
        self.due = clock::now() + OFTEN;
    }

    /// Looks; how long all threads had been waiting since the last time, ns: for no CPU, but for a disk, a network, a
    /// lock, another program, or asleep. Where one is kept from a CPU, the others may well be waiting for it.
    pub(crate) fn look(&mut self) -> u64 {
        self.due = clock::now() + OFTEN;
        for _ in 0..TRIES {
            let now = Look::now();
            let off = now.waited_since(self.last);
            if off < LEAST {
                self.last = now;
                return 0;
            }
            let kept = waited_by_all_ns();
            // Kept from a CPU between the two readings, which then do not tell of one moment.
            if Look::now().off_cpu_since(now) < AT_ONCE {
                self.last = now;
                return off.saturating_sub(kept.saturating_sub(std::mem::replace(&mut self.kept, kept)));
            }
        }
        self.begin();
        0
    }
}

impl Look {
    fn now() -> Self {
        Self { at: clock::monotonic_ns(), on_cpu: clock::of_process_ns(), switches: switches() }
    }

    fn waited_since(self, before: Self) -> u64 {
        // A virtual machine's CPU may have been taken away, which no thread notices.
        if self.switches == before.switches { 0 } else { self.off_cpu_since(before) }
    }

    fn off_cpu_since(self, before: Self) -> u64 {
        let on_cpu = self.on_cpu.saturating_sub(before.on_cpu);
        self.at.saturating_sub(before.at).saturating_sub(on_cpu)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_number_counts() {
        assert_eq!(read("1941000000 6315000000 627\n"), Some(6_315_000_000));
        for text in ["", "1", "1 x 2", "1 -2 3"] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn who_computes_does_not_wait() {
        let before = Look { at: 100, on_cpu: 70, switches: 3 };
        let since = |on_cpu, switches| Look { at: 1100, on_cpu, switches }.waited_since(before);
        assert_eq!(since(270, 4), 800);
        assert_eq!(since(270, 3), 0, "it has not begun to wait");
        assert_eq!(since(2070, 9), 0, "two threads compute side by side");
        assert_eq!(since(10, 0), 1000, "a forked child begins to count anew");
    }
}
