//! What of the recorded wall time is whose: ops, the host between them, our own hooks.

use crate::workload::{HostCode, Workload};

/// Least share of the recorded time that is the program's own, whatever recording and other programs are said to cost.
const LEAST: f64 = 0.1;

/// The recorded run, corrected for the cost of recording. Seconds.
#[derive(Clone, Debug, PartialEq)]
pub struct HostTime {
    /// Wall time without the hooks.
    pub wall: f64,
    /// Before the first op, after the last, and whatever else no op accounts for.
    pub outside: f64,
    /// Part of `outside` that is start-up: importing the array library, first calls.
    pub startup: f64,
    /// What of a busy second of the recording was the program's own: other programs had the rest.
    pub own: f64,
    /// Multiply an entry's recorded gap by this: other programs' time taken off, overlapping threads and processes folded.
    pub gap_scale: f64,
    /// Multiply an entry's recorded CPU time by this; likewise.
    pub cpu_scale: f64,
    /// Share of the gaps and of `outside` in which the program waited.
    pub waiting: f64,
    /// The gaps of all ops, scaled, and `outside` together.
    pub between: f64,
    /// How many times as long a call of the array library takes to hand over work as on the reference CPU, by library;
    /// empty where nothing is known of it.
    pub paces: Vec<(&'static str, f64)>,
}

impl HostTime {
    /// How much faster gaps are on a host that computes `speed` times as fast: none makes what is waited for come sooner.
    pub fn gap_speed(&self, speed: f64) -> f64 {
        1.0 / (self.waiting + (1.0 - self.waiting) / speed)
    }

    /// What a sampler found outside ops, each row with its time, s: the rows' proportions, scaled so that they sum to
    /// the gaps and `outside` without start-up, of which no samples are kept. Nothing where no sampler ran.
    pub fn host_code<'a>(&self, workload: &'a Workload) -> impl Iterator<Item = (&'a HostCode, f64)> + use<'a> {
        let sampled: f64 = workload.host_code.iter().map(|row| row.ns as f64).sum();
        let scale = if sampled > 0.0 { (self.between - self.startup).max(0.0) / sampled } else { 0.0 };
        workload.host_code.iter().map(move |row| (row, row.ns as f64 * scale))
    }

    /// The pace of the library of this name; 1 where it is not known.
    pub fn pace(&self, library: &str) -> f64 {
        self.paces.iter().find(|(name, _)| *name == library).map_or(1.0, |(_, pace)| *pace)
    }
}

/// Splits the wall time of `workload`.
///
/// Hooks cost `events × hook_ns`. That is part of the recorded wall time and is taken off it here; recorders have left
/// it out of the gaps already. Time in which other programs had the CPU (`stolen_ns`) fell on ops, gaps and the rest
/// alike, sleeping apart, and is taken off each. Where ops and gaps add up to more than the rest (threads, processes), both shrink alike
/// so that the parts still sum to the wall.
///
/// ```
/// use breakeven::{estimate::hosttime::host_time, workload::Workload};
/// let text = br#"{"format": "breakeven.workload/1", "program":
///     {"name": "x.py", "wall_ns": 2000000000, "events": 1000000, "hook_ns": 50.0}}"#;
/// assert_eq!(host_time(&Workload::from_json(text)?).wall, 1.95);
/// # Ok::<(), breakeven::Error>(())
/// ```
pub fn host_time(workload: &Workload) -> HostTime {
    let program = &workload.program;
    let ops: f64 = workload.ops.iter().map(|e| e.cpu_ns as f64).sum::<f64>() * 1e-9;
    let gaps: f64 = workload.ops.iter().map(|e| e.gap_ns as f64).sum::<f64>() * 1e-9;
    let hooks = program.events as f64 * program.hook_ns * 1e-9;
    let all = program.wall_ns as f64 * 1e-9;
    let loaded = (all - hooks).max(all * LEAST);
    let idle = (program.idle_ns as f64 * 1e-9).min(loaded);
    let stolen = (program.stolen_ns.unwrap_or(0) as f64 * 1e-9).min((loaded - idle) * (1.0 - LEAST));
    let own = if loaded > idle { (loaded - idle - stolen) / (loaded - idle) } else { 1.0 };
    let (ops, gaps) = (ops * own, gaps * own);
    let wall = loaded - stolen;
    let parts = ops + gaps;
    let fold = if parts > wall && parts > 0.0 { wall / parts } else { 1.0 };
    let outside = (wall - (ops + gaps) * fold).max(0.0);
    let between = gaps * fold + outside;
    HostTime {
        wall,
        outside,
        waiting: if between > 0.0 { (idle / between).min(1.0) } else { 0.0 },
        own,
        startup: (program.startup_ns as f64 * 1e-9 * own).min(outside),
        gap_scale: fold * own,
        cpu_scale: fold * own,
        between,
        paces: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn recorded(wall_ns: u64, events: u64, hook_ns: f64, entries: &[(u64, u64)]) -> Workload {
        let op = |&(cpu_ns, gap_ns): &(u64, u64)| {
            serde_json::json!({
                "site": 0, "name": "numpy.add", "op": { "elementwise": { "n": 1, "inputs": 2, "flop_per_element": 1.0 } },
                "dtype": "f64", "count": 1, "cpu_ns": cpu_ns, "gap_ns": gap_ns
            })
        };
        let text = serde_json::json!({
            "format": "breakeven.workload/1",
            "program": { "name": "x.py", "wall_ns": wall_ns, "events": events, "hook_ns": hook_ns },
            "sites": [{ "file": "x.py", "line": 1 }], "ops": entries.iter().map(op).collect::<Vec<_>>()
        });
        Workload::from_json(text.to_string().as_bytes()).unwrap()
    }

    #[test]
    fn gaps_are_taken_as_they_are_and_the_wall_without_the_hooks() {
        // 1 s: a million calls of 300 ns, 400 ns of host code and 100 ns of hook each, and 0.2 s outside.
        let host = host_time(&recorded(1_000_000_000, 1_000_000, 100.0, &[(300_000_000, 400_000_000)]));
        assert_eq!((host.gap_scale, host.cpu_scale), (1.0, 1.0));
        assert!((host.wall - 0.9).abs() < 1e-12 && (host.outside - 0.2).abs() < 1e-12, "{host:?}");
    }

    #[test]
    fn what_other_programs_took_is_nobodys_time() {
        // 4 s, of which it slept 1 s and waited 2 s for a CPU: a third of each busy second is its own.
        let mut workload = recorded(4_000_000_000, 0, 0.0, &[(1_500_000_000, 900_000_000)]);
        (workload.program.idle_ns, workload.program.stolen_ns) = (1_000_000_000, Some(2_000_000_000));
        let host = host_time(&workload);
        assert!((host.wall - 2.0).abs() < 1e-12 && (host.cpu_scale - 1.0 / 3.0).abs() < 1e-12, "{host:?}");
        assert!((host.outside - (2.0 - 0.8)).abs() < 1e-12, "{host:?}");
        workload.program.stolen_ns = Some(u64::MAX);
        assert!((host_time(&workload).wall - (1.0 + 0.3)).abs() < 1e-12, "never all of it");
    }

    proptest! {
        #[test]
        fn ops_gaps_outside_and_hooks_sum_to_the_wall(
            entries in proptest::collection::vec((0u64..1 << 40, 0u64..1 << 40), 0..8),
            wall_ns in 1u64..1 << 44,
            hooks in 0.0f64..0.9,
            events in 1u64..1 << 30,
        ) {
            let hook_ns = wall_ns as f64 * hooks / events as f64;
            let host = host_time(&recorded(wall_ns, events, hook_ns, &entries));
            let sum = |field: fn(&(u64, u64)) -> u64| entries.iter().map(|e| field(e) as f64).sum::<f64>() * 1e-9;
            let parts = sum(|e| e.0) * host.cpu_scale + sum(|e| e.1) * host.gap_scale + host.outside;
            let wall = wall_ns as f64 * 1e-9;
            prop_assert!((parts + events as f64 * hook_ns * 1e-9 - wall).abs() <= wall * 1e-9, "{host:?}");
            prop_assert!(host.cpu_scale <= 1.0 && host.gap_scale <= 1.0);
        }
    }
}
