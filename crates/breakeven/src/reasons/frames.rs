//! Data frames: many calls on few rows, where what a call costs by itself is more than all its work.

use super::account::Account;
use crate::port;
use crate::report::words;
use crate::workload::{Entry, Op};

/// Fewer calls are no loop.
const CALLS: u64 = 50;
/// The share of what handing over takes from which these calls decide.
const MOST: f64 = 0.5;

/// Calls on small frames, where they are most of what handing work over takes.
pub(super) struct Small {
    calls: u64,
    /// Of the CPU, and of the GPU's library before its kernels, s a call.
    on_cpu: f64,
    by_itself: f64,
    rows: u64,
    library: &'static str,
}

impl Small {
    /// `None` where handing over is something else's, or a call's work is worth it.
    pub(super) fn of(account: &Account<'_>) -> Option<Self> {
        let mut found: Vec<(u64, u64)> = Vec::new();
        let (mut ours, mut all, mut calls, mut cpu, mut dispatch) = (0.0, 0.0, 0_u64, 0.0, 0.0);
        for (i, entry, task) in account.entries() {
            let launch = account.launch(i);
            all += launch;
            let Some(rows) = rows(entry).filter(|_| task.launches > 0) else { continue };
            ours += launch;
            calls = calls.saturating_add(entry.count);
            cpu += entry.cpu_ns as f64 * 1e-9;
            dispatch += task.dispatch * entry.count as f64;
            found.push((rows, entry.count));
        }
        if calls < CALLS || ours < MOST * all || cpu >= dispatch {
            return None;
        }
        found.sort_unstable();
        let mut left = calls / 2;
        let middle = found.iter().find(|(_, count)| {
            let here = *count > left;
            left = left.saturating_sub(*count);
            here
        });
        let library =
            if account.entries().any(|(_, entry, _)| entry.name.starts_with("polars.")) { "Polars" } else { "pandas" };
        let each = |s: f64| s / calls as f64;
        Some(Self { calls, on_cpu: each(cpu), by_itself: each(dispatch), rows: middle?.0, library })
    }

    /// `pandas calls of 40 µs on 12 rows, 2,100 of them: no GPU helps, …`.
    pub(super) fn text(&self) -> String {
        format!(
            "{} calls of {} on {} rows, {} of them: no GPU helps; cuDF takes {} a call by itself.",
            self.library,
            words::seconds(self.on_cpu),
            words::count(self.rows),
            words::count(self.calls),
            words::seconds(self.by_itself)
        )
    }

    /// What to do about it.
    pub(super) fn hint() -> String {
        "Vectorise: one call on all rows (a group-by, a join, a column at a time) in place of a loop over small frames."
            .to_owned()
    }
}

/// Rows that a call on a data frame reads.
fn rows(entry: &Entry) -> Option<u64> {
    let of_op = |op: &Op| if let Op::Dataframe { rows, .. } = op { Some(*rows) } else { None };
    if port::of(&entry.name).name != "cudf" {
        return None;
    }
    match &entry.op {
        Op::Routine { parts } => parts.iter().filter_map(|part| of_op(&part.op)).max(),
        op => of_op(op),
    }
}
