//! Source lines: where the time goes here, and what each line would do on the GPU.

use super::gpu::{Outcome, Question, verdict_of};
use super::spread::{HOST_SIGMA, TRANSFER_SIGMA};
use super::{Breakdown, SiteEstimate, Verdict};
use crate::interval::Interval;
use crate::timeline::{Slot, Task};
use std::collections::BTreeMap;

/// Lines shown at most; the rest is below any of them.
const SHOWN: usize = 20;

/// The hottest lines, by time on the CPU, host time before an op counted with its line. A line is shown once for each
/// part of a network that it runs. `shown` is the GPU that the report speaks of; `None` leaves the GPU columns empty.
/// Lines never take longer together than the program does there.
pub fn sites(q: &Question, shown: Option<&Outcome>) -> Vec<SiteEstimate> {
    let plan = shown.map(|out| &out.plan);
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
        line.gap += entry.gap_ns as f64 * 1e-9 * q.host.gap_scale;
        if let Some(plan) = plan {
            let (task, time) = (&plan.tasks[index], &plan.entries[index]);
            add(&mut line.gpu, &Task { gap: task.gap * gap_speed / rest_speed, ..*task }, entry.count as f64);
            let sigma = (time.sigma_shared * time.sigma_shared + time.sigma_own * time.sigma_own).sqrt();
            line.spread += (time.device * sigma) + task.dispatch * entry.count as f64 * plan.dispatch_sigma;
        }
    }
    for (wait, seconds) in q.workload.waited() {
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
    order.into_iter().map(|i| lines[i].estimate(q, plan.is_some())).collect()
}

#[derive(Clone, Copy, Default)]
struct Line {
    cpu: f64,
    gap: f64,
    gpu: Breakdown,
    spread: f64,
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
        let verdict = match gpu_time {
            Some(g) if g.p50 > 0.0 => {
                verdict_of(Interval { p10: time.p10 / g.p90, p50: time.p50 / g.p50, p90: time.p90 / g.p10 })
            }
            Some(_) => Verdict::Gpu,
            None => Verdict::Unknown,
        };
        SiteEstimate {
            file: site.file.clone(),
            line: site.line,
            text: site.text.clone(),
            via: site.via.clone(),
            module: site.module.clone(),
            time_s: time,
            share: if q.host.wall > 0.0 { (time.p50 / q.host.wall).min(1.0) } else { 0.0 },
            bound_by: gpu_time.and_then(|_| self.gpu.bound()),
            verdict,
            gpu_time_s: gpu_time,
        }
    }
}
