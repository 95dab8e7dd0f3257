//! What holds single source lines back.

use super::account::{Account, HostKind, place};
use super::device;
use crate::estimate::Reason;
use crate::report::words;

/// Lines told of at most.
const MOST: usize = 10;

/// What one line does on the GPU's critical path, s, and how often.
#[derive(Clone, Default)]
struct Line {
    launch: f64,
    chain: f64,
    compute: f64,
    float64: f64,
    memory: f64,
    transfer: f64,
    sync: f64,
    code: f64,
    files: f64,
    waits: f64,
    loading: f64,
    no_counterpart: f64,
    dark: f64,
    here: f64,
    launches: f64,
    /// Numba is at work there.
    numba: bool,
}

/// The reason of each line that takes its part of the program's time, the largest first. Where one line takes it all
/// the program's reasons say the same, and it is left out.
pub(super) fn reasons(account: &Account<'_>) -> Vec<Reason> {
    let sites = &account.q.workload.sites;
    let slow = device::few_double_units(account.device);
    // Modules and library functions have sites of their own on a line.
    let mut places: Vec<String> = sites.iter().map(place).collect();
    places.sort();
    places.dedup();
    let line_of: Vec<usize> = sites.iter().map(|site| places.partition_point(|known| *known < place(site))).collect();
    let mut lines = vec![Line::default(); places.len()];
    for site in account.q.workload.sites_of("numba") {
        lines[places.partition_point(|known| *known < place(site))].numba = true;
    }
    let line_of = |site: u32| line_of.get(site as usize).copied();
    // Samples say at which line the time between ops is; without them it is at the line of the op that follows.
    let sampled = !account.sampled.is_empty();
    for (i, entry, task) in account.entries() {
        let Some(line) = line_of(entry.site).map(|line| &mut lines[line]) else { continue };
        let path = &account.path[i];
        line.launch += account.launch(i);
        if !account.asks(i) {
            line.chain += account.chained[i];
        }
        let double = slow && device::is_double(entry.dtype);
        *if double { &mut line.float64 } else { &mut line.compute } += path.compute;
        line.memory += path.memory;
        let (code, itself, kind) = account.host_of(i);
        if account.asks(i) {
            line.sync += path.transfer + path.launch;
        } else if kind == HostKind::NoCounterpart {
            line.no_counterpart += path.transfer;
        } else {
            line.transfer += path.transfer;
        }
        line.sync += path.sync;
        line.code += if sampled { 0.0 } else { code };
        *match kind {
            HostKind::Code => &mut line.code,
            HostKind::Files => &mut line.files,
            HostKind::Loading => &mut line.loading,
            HostKind::NoCounterpart => &mut line.no_counterpart,
            HostKind::Dark => &mut line.dark,
        } += itself;
        let host = account.q.host;
        let gap = if sampled { 0.0 } else { entry.gap_ns as f64 * 1e-9 * host.gap_scale };
        line.here += entry.cpu_ns as f64 * 1e-9 * host.cpu_scale + gap;
        line.launches += f64::from(task.launches) * entry.count as f64;
    }
    for sampled in &account.sampled {
        let Some(line) = sampled.row.site.and_then(line_of).map(|line| &mut lines[line]) else { continue };
        *match sampled.kind {
            HostKind::Dark => &mut line.dark,
            HostKind::Files => &mut line.waits,
            _ => &mut line.code,
        } += sampled.path;
        line.here += sampled.here;
    }
    for (wait, here, seconds) in super::host::waits(account).filter(|_| !sampled) {
        if let Some(line) = wait.before.and_then(line_of).map(|line| &mut lines[line]) {
            line.code = (line.code - seconds).max(0.0);
            line.here = (line.here - here * account.q.host.gap_scale).max(0.0);
        }
        if let Some(line) = wait.site.or(wait.before).and_then(line_of).map(|line| &mut lines[line]) {
            line.waits += seconds;
            line.here += here;
        }
    }
    let mut found: Vec<(f64, usize)> = Vec::new();
    for (i, line) in lines.iter().enumerate() {
        let share = account.share(line.total());
        if share >= super::LINE {
            found.insert(found.partition_point(|larger| larger.0 >= share), (share, i));
        }
    }
    found.truncate(MOST);
    found.into_iter().filter_map(|(share, i)| lines[i].reason(share, places[i].clone())).collect()
}

impl Line {
    fn parts(&self) -> [(f64, &'static str, &'static str, &'static str); 13] {
        [
            (self.launch, "launch-bound", "launches", "Fewer, larger calls: fuse, batch, or replay a CUDA graph."),
            (self.chain, "sequential-dependence", "chains of small steps", "Solve many in one batched call."),
            (self.compute, "compute-bound", "arithmetic", "A lower precision or less arithmetic."),
            (self.float64, "float64-rate", "arithmetic in float64", "Compute in float32 where the result allows it."),
            (
                self.memory,
                "memory-bound",
                "device memory",
                "Fuse with its neighbours, work in place, halve the precision.",
            ),
            (self.transfer, "transfer-bound", "copies", "Keep its arrays on the GPU."),
            (self.sync, "synchronisation-bound", "waiting for the GPU", "Read the value later, or less often."),
            (
                self.code,
                "host-bound",
                "Python and CPU code",
                if self.numba {
                    super::host::KEEP_COMPILED
                } else {
                    "Vectorise it, compile it, or let the GPU library do it."
                },
            ),
            (self.files, "input-output-bound", "files", "A binary format, reading ahead."),
            (self.waits, "input-output-bound", "waiting", "Wait less, or do something else meanwhile."),
            (self.loading, "input-pipeline-stall", "loading data", "Workers in the loader, pinned memory."),
            (self.no_counterpart, "no-counterpart", "running on the CPU", "A function that the GPU library has."),
            (self.dark, "not-covered", "what is not understood", "See the notes."),
        ]
    }

    fn total(&self) -> f64 {
        self.parts().iter().map(|part| part.0).sum()
    }

    fn reason(&self, share: f64, line: String) -> Option<Reason> {
        let parts = self.parts();
        let (time, code, what, remedy) = parts.into_iter().reduce(|a, b| if b.0 > a.0 { b } else { a })?;
        let total = self.total();
        let mut reason = Reason::new(
            code,
            Some(share),
            format!(
                "{} on the GPU, {} of it {what}; {} here.",
                words::seconds(total),
                words::percent(time / total),
                words::seconds(self.here)
            ),
            remedy.to_owned(),
        )
        .with("gpu", total, "s", words::seconds(total))
        .with("here", self.here, "s", words::seconds(self.here));
        if self.launches > 0.0 {
            reason = reason.with("launches", self.launches, "1", words::count(self.launches as u64));
        }
        reason.site = Some(line);
        Some(reason)
    }
}
