//! Source lines: where the time goes here, and what each line would do on the GPU.

use super::coverage::ENOUGH;
use super::gpu::{Outcome, Question, Sides};
use super::spread::{HOST_SIGMA, TRANSFER_SIGMA};
use super::{Breakdown, SiteEstimate, Verdict};
use crate::interval::Interval;
use crate::timeline::{Slot, Task};
use crate::workload::{HostCode, HostKind, Op};
use std::collections::BTreeMap;

/// Lines shown at most; the rest is below any of them.
const SHOWN: usize = 20;

/// Where so much of a line's time stays on the host, nothing worth naming would leave it.
const STAYS: f64 = 0.9;

/// The hottest lines, by time on the CPU. Host time between ops counts with the line at which it was sampled; where no
/// sampler ran, with the line of the op that follows. A line is shown once for each part of a network that it runs.
/// `shown` is the GPU that the report speaks of; the GPU columns stay empty without one, and where the program does not
/// fit. Lines never take longer together than the program does there.
pub fn sites(q: &Question, shown: Option<&Outcome>) -> Vec<SiteEstimate> {
    let fits = shown.is_none_or(|out| out.fits != Some(false));
    let plan = shown.filter(|_| fits).map(|out| &out.plan);
    let sampled = !q.workload.host_code.is_empty();
    let sites = &q.workload.sites;
    let mut known: BTreeMap<(&str, u32, Option<&str>), usize> = BTreeMap::new();
    let mut lines: Vec<Line> = Vec::new();
    let line_of: Vec<usize> = sites
        .iter()
        .map(|site| {
            *known.entry((&site.file, site.line, site.module.as_deref())).or_insert_with(|| {
                lines.push(Line::default());
                lines.len() - 1
            })
        })
        .collect();
    let mut by_site = vec![0.0; sites.len()];
    // Where it is known which lines wait, the rest of a gap is computed.
    let gap_speed = q.host.gap_speed(q.host_speed);
    let rest_speed = if q.workload.waits.is_empty() { gap_speed } else { q.host_speed };
    for (index, entry) in q.workload.ops.iter().enumerate() {
        let Some(line) = line_of.get(entry.site as usize).map(|&line| &mut lines[line]) else { continue };
        by_site[entry.site as usize] += entry.cpu_ns as f64 + entry.gap_ns as f64;
        line.cpu += entry.cpu_ns as f64 * 1e-9 * q.host.cpu_scale;
        if entry.op == Op::Opaque {
            line.opaque += entry.cpu_ns as f64 * 1e-9 * q.host.cpu_scale;
        }
        if !sampled {
            line.gap += entry.gap_ns as f64 * 1e-9 * q.host.gap_scale;
        }
        if let Some(plan) = plan {
            let (task, time) = (&plan.tasks[index], &plan.entries[index]);
            let gap = if sampled { 0.0 } else { task.gap * gap_speed / rest_speed };
            add(&mut line.gpu, &Task { gap, ..*task }, entry.count as f64);
            line.launches = line.launches.saturating_add(u64::from(task.launches).saturating_mul(entry.count));
            let sigma = (time.sigma_shared * time.sigma_shared + time.sigma_own * time.sigma_own).sqrt();
            line.spread += (time.device * sigma) + task.dispatch * entry.count as f64 * plan.dispatch_sigma;
        }
    }
    for (row, seconds) in q.host.host_code(q.workload) {
        let Some(site) = row.site.map(|site| site as usize).filter(|&site| site < sites.len()) else { continue };
        by_site[site] += row.ns as f64;
        lines[line_of[site]].add_host_code(q, row, seconds);
    }
    for (wait, seconds) in q.workload.waited().filter(|_| !sampled) {
        // What waits is not busy, so other programs take nothing of it; and it belongs to the line that waits.
        let host = |line: &mut Line, here: f64, there: f64| {
            line.gap = (line.gap + here).max(0.0);
            line.gpu.host = (line.gpu.host + there).max(0.0);
        };
        if let Some(&line) = wait.before.and_then(|site| line_of.get(site as usize)) {
            let of_gap = seconds * q.host.gap_scale;
            host(&mut lines[line], -of_gap, -of_gap / rest_speed);
        }
        if let Some(site) = wait.site.or(wait.before).map(|site| site as usize)
            && let Some(&line) = line_of.get(site)
        {
            host(&mut lines[line], seconds, seconds);
            by_site[site] += wait.ns as f64;
        }
    }
    if let Some(out) = shown {
        let together: f64 = lines.iter().map(|l| l.gpu.total()).sum();
        let program = out.parts.total() - out.parts.startup;
        if together > program {
            lines.iter_mut().for_each(|l| l.shrink(program / together));
        }
    }
    for (site, (&line, &time)) in line_of.iter().zip(&by_site).enumerate() {
        let line = &mut lines[line];
        if time > line.most {
            (line.site, line.most) = (site, time);
        }
    }
    let mut order: Vec<usize> = (0..lines.len()).filter(|i| lines[*i].cpu + lines[*i].gap > 0.0).collect();
    order.sort_by(|a, b| {
        let t = |i: &usize| lines[*i].cpu + lines[*i].gap;
        t(b).total_cmp(&t(a)).then(a.cmp(b))
    });
    order.truncate(SHOWN);
    let answer = |i: usize| {
        let line = lines[i].estimate(q, plan.is_some());
        if fits { line } else { SiteEstimate { verdict: Verdict::Cpu, ..line } }
    };
    order.into_iter().map(answer).collect()
}

#[derive(Clone, Default)]
struct Line {
    /// Ops, and the host's time outside them, s.
    cpu: f64,
    gap: f64,
    /// What of each is not understood, s.
    opaque: f64,
    native: f64,
    gpu: Breakdown,
    spread: f64,
    launches: u64,
    /// Compiled code of a library that is more than half of the line, and its time, s.
    library: Option<(String, f64)>,
    /// Of the sites that are this line the one with most time, and that, ns.
    site: usize,
    most: f64,
}

/// Host and device overlap within a line: the longer of dispatch and device time counts, as what it is.
fn add(sum: &mut Breakdown, task: &Task, runs: f64) {
    sum.host += (task.gap + task.on_host) * runs;
    sum.transfer += (task.upload + task.download + task.upload_after) * runs;
    if task.dispatch > task.device {
        sum.launch += task.dispatch * runs;
    } else {
        match task.slot {
            Slot::Compute => sum.compute += task.device * runs,
            Slot::Launch => sum.launch += task.device * runs,
            _ => sum.memory += task.device * runs,
        }
    }
}

impl Line {
    /// Adds what was sampled outside ops at the line.
    fn add_host_code(&mut self, q: &Question, row: &HostCode, seconds: f64) {
        self.gap += seconds;
        // No faster host makes what is waited for come sooner.
        self.gpu.host += if row.kind == HostKind::Waiting { seconds } else { seconds / q.host_speed };
        if q.coverage.leaves_out(row) {
            self.native += seconds;
        }
        if row.kind == HostKind::Native
            && self.library.as_ref().is_none_or(|(_, most)| seconds > *most)
            && let Some(library) = &row.library
        {
            let name = match &row.function {
                Some(function) if function.starts_with(library.as_str()) => function.clone(),
                Some(function) => format!("{library}: {function}"),
                None => library.clone(),
            };
            self.library = Some((name, seconds));
        }
    }

    /// The library function in between: the compiled code that is most of the line, or what calls the arrays.
    fn via(&self, recorded: Option<&String>) -> Option<String> {
        let most = self.library.as_ref().filter(|(_, seconds)| *seconds > 0.5 * (self.cpu + self.gap));
        most.map(|(name, _)| name).or(recorded).cloned()
    }

    /// As the program's: host time that both sides share cancels, and too much that is not understood leaves it open.
    fn verdict(&self, q: &Question, time: Interval, sigma: f64) -> Verdict {
        let (host, all) = (self.gpu.host, self.gpu.total());
        let own = all - host;
        let device = if own > 0.0 { Interval::log_normal(own, sigma * all / own) } else { Interval::exact(0.0) };
        let ops = Interval::exact((time.p50 - host).clamp(0.0, self.cpu));
        let sides = Sides { cpu: time, ops, host, device, launches: self.launches };
        let dark = self.opaque + self.native;
        let understood = self.cpu - self.opaque;
        if dark <= 0.0 && host >= STAYS * time.p50 {
            return Verdict::Cpu;
        }
        sides.verdict((dark / q.host_speed).min(host), understood >= ENOUGH * (understood + dark))
    }

    /// Device work of several lines side by side: each is charged its share.
    fn shrink(&mut self, by: f64) {
        let Breakdown { host, launch, compute, memory, transfer, sync, startup } = self.gpu;
        self.gpu = Breakdown {
            host: host * by,
            launch: launch * by,
            compute: compute * by,
            memory: memory * by,
            transfer: transfer * by,
            sync: sync * by,
            startup: startup * by,
        };
        self.spread *= by;
    }

    fn estimate(&self, q: &Question, on_gpu: bool) -> SiteEstimate {
        let site = &q.workload.sites[self.site];
        let time = Interval::log_normal(self.cpu + self.gap, HOST_SIGMA);
        let total = self.gpu.total();
        let sigma = if total > 0.0 {
            ((self.spread * self.spread) + (self.gpu.transfer * TRANSFER_SIGMA) * (self.gpu.transfer * TRANSFER_SIGMA))
                .sqrt()
                / total
        } else {
            0.0
        };
        let gpu_time = on_gpu.then(|| Interval::log_normal(total, sigma));
        let verdict = if on_gpu { self.verdict(q, time, sigma) } else { Verdict::Unknown };
        // As the table has it: without start-up where that is left out.
        let whole = q.cpu_time().p50;
        SiteEstimate {
            file: site.file.clone(),
            line: site.line,
            text: site.text.clone(),
            via: self.via(site.via.as_ref()),
            module: site.module.clone(),
            time_s: time,
            share: if whole > 0.0 { (time.p50 / whole).min(1.0) } else { 0.0 },
            bound_by: gpu_time.and_then(|_| self.gpu.bound()),
            verdict,
            gpu_time_s: gpu_time,
        }
    }
}
