//! What of the recorded wall time is whose: ops, the host between them, our own hooks.

use crate::workload::Workload;

/// The recorded run, corrected for the cost of recording. Seconds.
#[derive(Clone, Debug, PartialEq)]
pub struct HostTime {
    /// Wall time without the hooks.
    pub wall: f64,
    /// Before the first op, after the last, and whatever else no op accounts for.
    pub outside: f64,
    /// Part of `outside` that is start-up: importing the array library, first calls.
    pub startup: f64,
    /// Multiply an entry's recorded gap by this: overlapping threads and processes folded.
    pub gap_scale: f64,
    /// Multiply an entry's recorded CPU time by this: overlapping threads and processes folded.
    pub cpu_scale: f64,
}

/// Splits the wall time of `workload`.
///
/// Hooks cost `events × hook_ns`, which recorders have left out of the gaps. Where ops and gaps add up to more than the wall time (threads,
/// processes), both shrink alike so that the parts still sum to the wall.
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
    let wall = (program.wall_ns as f64 * 1e-9 - hooks).max(program.wall_ns as f64 * 1e-9 * 0.1);
    let parts = ops + gaps;
    let fold = if parts > wall && parts > 0.0 { wall / parts } else { 1.0 };
    let outside = (wall - (ops + gaps) * fold).max(0.0);
    HostTime {
        wall,
        outside,
        startup: (program.startup_ns as f64 * 1e-9).min(outside),
        gap_scale: fold,
        cpu_scale: fold,
    }
}
