//! Whose time the critical path is: every part of it divided among the entries that make it up.

use super::device;
use super::order::in_a_row;
use crate::estimate::Breakdown;
use crate::estimate::coverage::is_of_library;
use crate::estimate::gpu::{Outcome, Question};
use crate::estimate::loaders;
use crate::estimate::plan::Policy;
use crate::hardware::Device;
use crate::kernel::{Bound, Link};
use crate::timeline::{Slot, Task};
use crate::workload::{self, Entry, HostCode, Op, Phase, Site, Step, Workload, file_name};

/// A program on one GPU, and where its time goes there.
pub(super) struct Account<'a> {
    pub(super) q: &'a Question<'a>,
    pub(super) out: &'a Outcome,
    pub(super) device: &'a Device,
    /// The critical path, s; never 0.
    pub(super) total: f64,
    /// The critical path by entry; the last one is the time outside all ops. Start-up is nobody's.
    pub(super) path: Vec<Breakdown>,
    /// What each entry's host time is, by entry as in `path`.
    pub(super) host: Vec<HostKind>,
    /// By entry, s: launches of the path in which kernels are chains by nature.
    pub(super) chained: Vec<f64>,
    /// Host time outside ops by line, as sampled; empty where no sampler ran.
    pub(super) sampled: Vec<Sampled<'a>>,
    /// By entry: it reads one value, or makes one that is read at once. Launching it is part of asking for the value.
    asks: Vec<bool>,
}

/// Host time outside ops at one line.
pub(super) struct Sampled<'a> {
    pub(super) row: &'a HostCode,
    pub(super) kind: HostKind,
    /// On this CPU, s.
    pub(super) here: f64,
    /// On the critical path, s.
    pub(super) path: f64,
}

/// What time on the host is spent on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HostKind {
    /// Python and CPU code.
    Code,
    /// Reading, writing, parsing.
    Files,
    /// Loading the next batch.
    Loading,
    /// Array work that the GPU library does not have.
    NoCounterpart,
    /// Not understood.
    Dark,
}

/// NumPy's and SciPy's functions that read or write files, by the end of their name.
const FILES: &[&str] = &[
    "DataSource",
    "dump",
    "fromfile",
    "fromregex",
    "genfromtxt",
    "load",
    "load_npz",
    "loadtxt",
    "memmap",
    "recfromcsv",
    "recfromtxt",
    "save",
    "save_npz",
    "savetxt",
    "savez",
    "savez_compressed",
    "tofile",
];

/// A call of NumPy's takes 0.3 to 3 µs however small its arrays are.
const SHORT_NS: u64 = 5000;

impl<'a> Account<'a> {
    pub(super) fn new(q: &'a Question<'a>, out: &'a Outcome, device: &'a Device) -> Self {
        let tasks = &out.plan.tasks;
        let runs = |i: usize| q.workload.ops.get(i).map_or(1.0, |e| e.count as f64);
        let outside_startup = q.port.host_startup();
        let own: Vec<Breakdown> = tasks
            .iter()
            .enumerate()
            .map(|(i, task)| {
                let mut own = own_time(task, runs(i));
                if i == q.workload.ops.len() {
                    own.host = (own.host - outside_startup).max(0.0);
                }
                own
            })
            .collect();
        let sum = |of: fn(&Breakdown) -> f64| own.iter().map(of).sum::<f64>();
        let parts = &out.parts;
        let rate = |path: f64, sum: f64| if sum > 0.0 { (path / sum).max(0.0) } else { 0.0 };
        let scale = Breakdown {
            host: rate(parts.host, sum(|b| b.host)),
            launch: rate(parts.launch, sum(|b| b.launch)),
            compute: rate(parts.compute, sum(|b| b.compute)),
            memory: rate(parts.memory, sum(|b| b.memory)),
            transfer: rate(parts.transfer, sum(|b| b.transfer)),
            sync: rate(parts.sync, sum(|b| b.sync)),
            startup: 0.0,
        };
        let share = |b: &Breakdown| Breakdown {
            host: b.host * scale.host,
            launch: b.launch * scale.launch,
            compute: b.compute * scale.compute,
            memory: b.memory * scale.memory,
            transfer: b.transfer * scale.transfer,
            sync: b.sync * scale.sync,
            startup: 0.0,
        };
        let path: Vec<Breakdown> = own.iter().map(share).collect();
        let mut chained = vec![0.0; path.len()];
        for (i, (entry, task)) in q.workload.ops.iter().zip(tasks).enumerate() {
            if task.device > 0.0 && out.plan.entries[i].bound == Bound::Launch {
                chained[i] = device::chained(entry, task, path[i].launch, device);
            }
        }
        let feeds = loaders::feeds(&q.workload.ops, &q.workload.order);
        let kind = |((entry, task), feeds)| match host_kind(entry, task, q.port.policy()) {
            _ if feeds => HostKind::Loading,
            HostKind::Code if via_files(q.workload, entry) => HostKind::Files,
            kind => kind,
        };
        let kinds = q.workload.ops.iter().zip(tasks).zip(feeds).map(kind);
        let host = kinds.chain([HostKind::Code]).collect();
        let total = parts.total().max(f64::MIN_POSITIVE);
        let asks = asking(q.workload, |entry| reads_a_value(entry, device));
        let mut account = Self { q, out, device, total, path, host, chained, sampled: Vec::new(), asks };
        account.sampled = account.sampled();
        account
    }

    /// The sampled rows, scaled so that they sum to the host's part of the path outside ops.
    fn sampled(&self) -> Vec<Sampled<'a>> {
        let between: f64 = (0..self.path.len()).map(|i| self.host_of(i).0).sum();
        let kind = |row: &HostCode| match row.kind {
            _ if self.q.coverage.leaves_out(row) => HostKind::Dark,
            workload::HostKind::Waiting => HostKind::Files,
            workload::HostKind::Python | workload::HostKind::Native => HostKind::Code,
        };
        let sampled = |(row, here): (&'a HostCode, f64)| {
            // No faster host makes what is waited for come sooner.
            let speed = if row.kind == workload::HostKind::Waiting { 1.0 } else { self.q.host_speed };
            Sampled { row, kind: kind(row), here, path: here / speed }
        };
        let mut rows: Vec<Sampled<'a>> = self.q.host.host_code(self.q.workload).map(sampled).collect();
        let all: f64 = rows.iter().map(|row| row.path).sum();
        rows.iter_mut().for_each(|row| row.path *= if all > 0.0 { between / all } else { 0.0 });
        rows
    }

    /// Python and CPU code by site, s of the path: what was sampled at each, or else the time before each op; and ops
    /// that are such code.
    pub(super) fn code_by_site(&self) -> Vec<f64> {
        let mut by_site = vec![0.0; self.q.workload.sites.len()];
        let mut add = |site: u32, seconds: f64| {
            if let Some(sum) = by_site.get_mut(site as usize) {
                *sum += seconds;
            }
        };
        for (i, entry, _) in self.entries() {
            let (before, itself, kind) = self.host_of(i);
            add(entry.site, if self.sampled.is_empty() { before } else { 0.0 });
            add(entry.site, if kind == HostKind::Code { itself } else { 0.0 });
        }
        for sampled in self.sampled.iter().filter(|sampled| sampled.kind == HostKind::Code) {
            sampled.row.site.into_iter().for_each(|site| add(site, sampled.path));
        }
        by_site
    }

    /// The host's part of the path of one entry, s: Python before it, and the entry itself with what it is.
    pub(super) fn host_of(&self, i: usize) -> (f64, f64, HostKind) {
        let task = &self.out.plan.tasks[i];
        let (path, kind) = (self.path[i].host, self.host[i]);
        let both = task.gap + task.on_host;
        let itself = if both > 0.0 { path * task.on_host / both } else { 0.0 };
        match kind {
            HostKind::Loading => (0.0, path, kind),
            // Parsing in Python before the array is made: all of it is reading the file.
            HostKind::Files if self.reads(i) => (0.0, path, kind),
            _ => (path - itself, itself, kind),
        }
    }

    /// Whether an entry was made on behalf of a function that reads files.
    fn reads(&self, i: usize) -> bool {
        self.q.workload.ops.get(i).is_some_and(|entry| via_files(self.q.workload, entry))
    }

    /// Index, entry and task of what ran.
    pub(super) fn entries(&self) -> impl Iterator<Item = (usize, &'a Entry, &'a Task)> + use<'a> {
        self.q.workload.ops.iter().zip(&self.out.plan.tasks).enumerate().map(|(i, (entry, task))| (i, entry, task))
    }

    /// Those that run on the device.
    pub(super) fn kernels(&self) -> impl Iterator<Item = (usize, &'a Entry, &'a Task)> + use<'a> {
        self.entries().filter(|(_, _, task)| task.device > 0.0)
    }

    /// A part of the path as a share of the whole, 0–1.
    pub(super) fn share(&self, seconds: f64) -> f64 {
        let share = seconds / self.total;
        if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 }
    }

    /// The line of an entry as `file:line`, with the file's own name alone.
    pub(super) fn line(&self, entry: usize) -> Option<String> {
        let site = self.q.workload.ops.get(entry)?.site;
        self.q.workload.sites.get(site as usize).map(place)
    }

    /// Distinct lines, the one with most of `weight` first, those without any left out.
    pub(super) fn lines(&self, weight: &dyn Fn(usize) -> f64, most: usize) -> Vec<String> {
        let mut by_site = vec![0.0; self.q.workload.sites.len()];
        for (i, entry) in self.q.workload.ops.iter().enumerate() {
            if let Some(sum) = by_site.get_mut(entry.site as usize) {
                *sum += weight(i);
            }
        }
        self.lines_of(&by_site, most)
    }

    /// The same for a weight by site.
    pub(super) fn lines_of(&self, by_site: &[f64], most: usize) -> Vec<String> {
        let mut sites: Vec<usize> = (0..by_site.len()).filter(|&i| by_site[i] > 0.0).collect();
        sites.sort_by(|&a, &b| by_site[b].total_cmp(&by_site[a]).then(a.cmp(&b)));
        let mut lines: Vec<String> = Vec::new();
        for site in sites {
            let line = place(&self.q.workload.sites[site]);
            if lines.len() < most && !lines.contains(&line) {
                lines.push(line);
            }
        }
        lines
    }

    /// Launches on the path of one entry, s; what asks for a value belongs to the wait for it, and chains are their own.
    pub(super) fn launch(&self, i: usize) -> f64 {
        if self.asks(i) { 0.0 } else { self.path[i].launch - self.chained[i] }
    }

    /// Whether anything that was recorded repeats.
    pub(super) fn loops(&self) -> bool {
        self.q.workload.order.iter().any(|step| matches!(step, Step::Repeat(times, _) if *times > 1))
    }

    /// Asking for values on the path of one entry, s: waits, and where it asks, its launches and copies.
    pub(super) fn asking(&self, i: usize) -> f64 {
        let path = &self.path[i];
        let copies = if self.host[i] == HostKind::NoCounterpart { 0.0 } else { path.transfer };
        path.sync + if self.asks(i) { path.launch - self.chained[i] + copies } else { 0.0 }
    }

    /// Whether an entry reads one value, or makes one that is read at once.
    pub(super) fn asks(&self, i: usize) -> bool {
        self.asks.get(i).is_some_and(|asks| *asks)
    }

    /// Whether an entry reads so little back that the wait, not the bytes, takes the time.
    pub(super) fn reads_a_value(&self, entry: &Entry) -> bool {
        reads_a_value(entry, self.device)
    }
}

fn reads_a_value(entry: &Entry, device: &Device) -> bool {
    matches!(entry.op, Op::HostRead { bytes } if (bytes as f64) < Link::of(device).at_once())
}

/// Of this many runs of an entry that makes one value all but one are followed by its reading.
const NEARLY_ALWAYS: f64 = 0.99;

/// By entry: whether it reads one value, or makes one (a sum of all, a comparison of two numbers) only to be read.
fn asking(workload: &Workload, reads: impl Fn(&Entry) -> bool) -> Vec<bool> {
    let mut asks: Vec<bool> = workload.ops.iter().map(reads).collect();
    if !asks.contains(&true) {
        return asks;
    }
    let row = in_a_row(&workload.steps());
    // `float(np.sqrt(((a - b) ** 2).sum()))`: what is read was made of what nobody else wants.
    for _ in 0..VALUES_IN_A_ROW {
        let mut before = vec![0_u64; asks.len()];
        for (&(entry, next), &times) in &row {
            if asks.get(next as usize) == Some(&true)
                && let Some(sum) = before.get_mut(entry as usize)
            {
                *sum = sum.saturating_add(times);
            }
        }
        let more = |i: usize, entry: &Entry| {
            let value = matches!(entry.op, Op::Reduce { out: 0 | 1, .. } | Op::Elementwise { n: 0 | 1, .. });
            value && before[i] as f64 >= NEARLY_ALWAYS * entry.count as f64
        };
        let now: Vec<bool> = workload.ops.iter().enumerate().map(|(i, e)| asks[i] || more(i, e)).collect();
        if now == asks {
            break;
        }
        asks = now;
    }
    asks
}

/// So many operations on single values before one is read.
const VALUES_IN_A_ROW: usize = 4;

/// `heat.py:14`.
pub(super) fn place(site: &Site) -> String {
    format!("{}:{}", crate::report::words::printable(file_name(&site.file), 80), site.line)
}

/// What the actors do for all runs of a task, s.
fn own_time(task: &Task, runs: f64) -> Breakdown {
    let mut own = Breakdown {
        host: task.gap + task.on_host,
        launch: task.dispatch,
        transfer: task.upload + task.download + task.upload_after,
        ..Breakdown::default()
    };
    match task.slot {
        Slot::Compute => own.compute = task.device,
        Slot::Launch => own.launch += task.device,
        _ => own.memory = task.device,
    }
    if task.wait || task.wait_stream || task.download > 0.0 {
        own.sync = 1.0;
    }
    Breakdown {
        host: own.host * runs,
        launch: own.launch * runs,
        compute: own.compute * runs,
        memory: own.memory * runs,
        transfer: own.transfer * runs,
        sync: own.sync * runs,
        startup: 0.0,
    }
}

/// Whether library code that reads or writes files made this call: `numpy.loadtxt` as the site's `via`.
fn via_files(workload: &Workload, entry: &Entry) -> bool {
    let via = workload.sites.get(entry.site as usize).and_then(|site| site.via.as_deref());
    via.is_some_and(|via| via.rsplit('.').next().is_some_and(|name| FILES.contains(&name)))
}

fn host_kind(entry: &Entry, task: &Task, policy: Policy) -> HostKind {
    let name = entry.name.rsplit('.').next().unwrap_or_default();
    match entry.op {
        Op::HostOnly if is_of_library(entry) => HostKind::Code,
        Op::HostOnly if FILES.contains(&name) || entry.name.starts_with("scipy.io.") => HostKind::Files,
        _ if entry.phase == Some(Phase::Data) => HostKind::Code,
        Op::Opaque => HostKind::Dark,
        Op::HostOnly if entry.name != "torch.host_scalar" => HostKind::NoCounterpart,
        _ if policy != Policy::AsWritten && stays(entry, task) => HostKind::NoCounterpart,
        _ => HostKind::Code,
    }
}

/// Whether a call takes hardly longer than Python's way into NumPy: no work that a GPU could do, even where it has the
/// function.
fn is_short(entry: &Entry) -> bool {
    entry.cpu_ns < SHORT_NS.saturating_mul(entry.count)
}

/// Whether array work runs on the host, or would, and is copied there and back.
fn stays(entry: &Entry, task: &Task) -> bool {
    let moved = task.device <= 0.0 && task.download + task.upload_after > 0.0;
    (task.on_host > 0.0 && !is_short(entry))
        || (moved && !matches!(entry.op, Op::HostRead { .. } | Op::Transfer { .. }))
}
