//! What would turn the answer round: the model's error, size, precision, another GPU, price, runs.

use super::smaller;
use crate::choice::Choice;
use crate::estimate::changed::recast;
use crate::estimate::coverage::ENOUGH;
use crate::estimate::gpu::{Outcome, Question, USABLE_MEMORY, ended_early, outcome};
use crate::estimate::plan::Port;
use crate::estimate::{Baseline, Flip, GpuEstimate, Verdict};
use crate::hardware::device::Vendor;
use crate::interval::Interval;
use crate::kernel::entry_time;
use crate::report::words;
use crate::workload::{Dtype, Entry, Workload};

/// How far each figure is turned at most, either way.
const FAR: f64 = 10.0;

/// One line for each thing that could turn the answer for the GPU of `shown`, those that do first. Computed from the
/// estimate by exact algebra, or by estimating again.
pub fn robustness(
    q: &Question<'_>,
    choice: &Choice,
    baseline: &Baseline,
    rows: &[GpuEstimate],
    shown: usize,
    out: &Outcome,
) -> Vec<Flip> {
    let g = &rows[shown];
    if let Some(only) = undecided(q, choice, g, out, shown) {
        return vec![only];
    }
    let Some(speedup) = out.speedup else { return Vec::new() };
    let case = Case { q, choice, baseline, rows, g, out, shown, speedup: speedup.p50 };
    let mut flips: Vec<Flip> = [case.error(), case.size(), case.precision(), case.gpu(), case.price(), case.runs()]
        .into_iter()
        .flatten()
        .collect();
    if flips.iter().all(|flip| flip.to.is_none()) {
        flips.insert(0, flip("none", "nothing within ×10 turns it".to_owned(), None, None));
    }
    flips.sort_by_key(|flip| flip.to.is_none() && flip.what != "none");
    flips
}

/// Where the answer does not come from comparing two times.
fn undecided(q: &Question<'_>, choice: &Choice, g: &GpuEstimate, out: &Outcome, shown: usize) -> Option<Flip> {
    if ended_early(q.workload, &out.plan) {
        return Some(flip(
            "coverage",
            "a run that goes on to its array work; nothing can be said until then".to_owned(),
            None,
            None,
        ));
    }
    if g.fits == Some(false) {
        let has = choice.gpus.get(shown)?.gpu.device.memory.get() * USABLE_MEMORY;
        let needs = g.peak_bytes?;
        let how = smaller::how(q.workload, needs, has).unwrap_or_default();
        let text =
            format!("it would fit if the arrays took {} instead of {}{how}", words::memory(has), words::memory(needs));
        return Some(flip("size", text, Some(needs), Some(has)));
    }
    // Every figure here rests on the whole program.
    if g.verdict == Verdict::Unknown || !q.coverage.is_enough() {
        let text = format!(
            "{} of the {} is understood; nothing can be said until it is more",
            words::percent(q.coverage.share()),
            q.coverage.whole()
        );
        return Some(flip("coverage", text, Some(q.coverage.share()), Some(ENOUGH)));
    }
    let nothing = "nothing turns it: no array work would run on a GPU".to_owned();
    (out.plan.launches == 0).then(|| flip("none", nothing, None, None))
}

fn flip(what: &str, text: String, from: Option<f64>, to: Option<f64>) -> Flip {
    let finite = |x: Option<f64>| x.filter(|x| x.is_finite());
    Flip { what: what.to_owned(), text, from: finite(from), to: finite(to) }
}

/// A factor within reach.
fn near(factor: f64) -> bool {
    (1.0 / FAR..=FAR).contains(&factor)
}

struct Case<'a> {
    q: &'a Question<'a>,
    choice: &'a Choice,
    baseline: &'a Baseline,
    rows: &'a [GpuEstimate],
    g: &'a GpuEstimate,
    out: &'a Outcome,
    shown: usize,
    speedup: f64,
}

impl Case<'_> {
    fn wins(&self) -> bool {
        self.speedup > 1.0
    }

    fn name(&self) -> String {
        words::printable(&self.g.name, 40)
    }

    /// How wrong the GPU's own time may be; host code is on both sides.
    fn error(&self) -> Option<Flip> {
        let parts = &self.out.parts;
        let own = parts.total() - parts.host;
        let factor = (self.speedup * parts.total() - parts.host) / own;
        if own <= 0.0 || !factor.is_finite() {
            return None;
        }
        let text = match (self.wins(), near(factor)) {
            _ if self.g.verdict == Verdict::Either && near(factor) => format!(
                "error: the GPU wins if its time is less than {} the middle of the estimate, and nobody knows it so well",
                words::times(factor)
            ),
            _ if words::times(factor) == words::times(1.0) => "error: the slightest turns it".to_owned(),
            (true, true) => format!("error: the GPU wins until its time is {} what is estimated", words::times(factor)),
            (false, true) => {
                format!("error: the GPU would win if its time were {} what is estimated", words::times(factor))
            }
            (true, false) => "error: not if the GPU's time is ten times what is estimated".to_owned(),
            (false, false) => "error: not if the GPU's time is a tenth of what is estimated".to_owned(),
        };
        Some(flip("error", text, Some(1.0), near(factor).then_some(factor)))
    }

    /// The size at which both take as long.
    fn size(&self) -> Option<Flip> {
        let even = self.g.break_even.as_ref()?;
        let size = even.size.as_ref().and_then(|size| Some((size.shape_at.as_ref()?, &size.shape_now)));
        let at = match size {
            Some((at, now)) => format!("{} (yours: {})", words::printable(at, 60), words::printable(now, 60)),
            None => words::printable(&even.describes, 120),
        };
        // A size reads as near where it is, however fast the work grows with it.
        let sized = even.size.as_ref().and_then(|size| Some(size.at?.p50 / size.now.max(1) as f64));
        let scale = even.scale.filter(|scale| near(sized.unwrap_or(*scale)));
        let here = |scale: f64| match size {
            Some((at, now)) => at == now,
            None => words::times(scale) == words::times(1.0),
        };
        let text = match scale {
            Some(scale) if here(scale) => {
                let (change, winner) = if self.wins() { ("less", "CPU") } else { ("more", "GPU") };
                format!("size: it is at the edge: with a little {change} work the {winner} wins")
            }
            Some(scale) if scale < 1.0 => format!("size: below {at} the CPU wins"),
            Some(_) => format!("size: above {at} the GPU wins"),
            None => "size: not between a tenth and ten times the work of each operation".to_owned(),
        };
        Some(flip("size", text, Some(1.0), scale))
    }

    /// The other common precision, estimated again on both sides.
    fn precision(&self) -> Option<Flip> {
        let device = &self.choice.gpus.get(self.shown)?.gpu.device;
        let (mut doubles, mut all) = (0.0, 0.0);
        for (entry, time) in self.q.workload.ops.iter().zip(&self.out.plan.entries) {
            all += time.device;
            doubles += if matches!(entry.dtype, Dtype::F64 | Dtype::C128) { time.device } else { 0.0 };
        }
        let singles: f64 = self
            .q
            .workload
            .ops
            .iter()
            .zip(&self.out.plan.entries)
            .filter(|(e, _)| matches!(e.dtype, Dtype::F32 | Dtype::Tf32 | Dtype::C64))
            .map(|(_, t)| t.device)
            .sum();
        let to = if doubles > 0.5 * all {
            Dtype::F32
        } else if singles > 0.5 * all {
            Dtype::F64
        } else {
            return None;
        };
        let edited = recast(self.q.workload, to);
        let ops = self.recast_cpu_ops(&edited);
        let port = Port::new(&edited, self.q.host, self.q.port.profile(), self.q.host_speed, self.q.port.policy());
        let time = Interval::exact(self.q.cpu.time.p50 - self.q.cpu.ops.p50 + ops);
        let cpu = crate::estimate::baseline::CpuTime {
            time,
            quiet: time,
            ops: Interval::exact(ops),
            basis: self.q.cpu.basis,
            recorded: self.q.cpu.recorded,
        };
        let q = Question { workload: &edited, cpu: &cpu, port: &port, ..*self.q };
        let speedup = outcome(&q, device).speedup?.p50;
        let name = if to == Dtype::F32 { "float32" } else { "float64" };
        let turns = (speedup > 1.0) != self.wins();
        let text = if turns {
            let winner = if speedup > 1.0 { "GPU" } else { "CPU" };
            format!(
                "precision: in {name} on both sides the {winner} wins ({} instead of {})",
                words::times(speedup),
                words::times(self.speedup)
            )
        } else {
            format!("precision: not in {name} ({} instead of {})", words::times(speedup), words::times(self.speedup))
        };
        Some(flip("precision", text, Some(self.speedup), turns.then_some(speedup)))
    }

    /// CPU time of the array work, as the kernel model changes from one precision to the other what the GPU takes
    /// over, s.
    fn recast_cpu_ops(&self, edited: &Workload) -> f64 {
        let cpu = &self.choice.cpu.device;
        let time = |e: &Entry| entry_time(e, cpu).p50.get();
        let mut change = 0.0;
        for ((old, new), task) in self.q.workload.ops.iter().zip(&edited.ops).zip(&self.out.plan.tasks) {
            if task.device > 0.0 && old.dtype != new.dtype {
                let ratio = time(new) / time(old).max(f64::MIN_POSITIVE);
                change += old.cpu_ns as f64 * 1e-9 * self.q.host.cpu_scale * (ratio - 1.0);
            }
        }
        (self.q.cpu.ops.p50 + change).max(0.0)
    }

    /// Another GPU: among those asked about, or the fastest memory (where this one loses) or the slowest (where it
    /// wins) of the catalogue.
    fn gpu(&self) -> Option<Flip> {
        let others: Vec<(String, f64)> = if self.rows.len() > 1 {
            let counted = self.rows.iter().enumerate().filter(|(i, g)| g.counted && *i != self.shown);
            counted.filter_map(|(_, g)| Some((g.name.clone(), g.speedup?.p50))).collect()
        } else {
            self.another().into_iter().collect()
        };
        let turned: Vec<&(String, f64)> = others.iter().filter(|(_, s)| (*s > 1.0) != self.wins()).collect();
        // Of those that turn it the one that does so by most, of the others the one that comes nearest.
        let most = |rows: &[&(String, f64)]| {
            let high = rows.iter().copied().cloned().max_by(|a, b| a.1.total_cmp(&b.1));
            let low = rows.iter().copied().cloned().min_by(|a, b| a.1.total_cmp(&b.1));
            if self.wins() { low } else { high }
        };
        let tried = others.len() + 1;
        if let Some((name, speedup)) = most(&turned) {
            let (name, side) = (words::printable(&name, 40), if self.wins() { "CPU" } else { "GPU" });
            let text = if self.rows.len() > 1 {
                let n = turned.len();
                format!("GPU: on {n} of {tried} the {side} wins, on {name} by most ({})", words::times(speedup))
            } else {
                format!("GPU: on {name} the {side} wins ({})", words::times(speedup))
            };
            return Some(flip("gpu", text, Some(self.speedup), Some(speedup)));
        }
        let (name, speedup) = most(&others.iter().collect::<Vec<_>>())?;
        let name = words::printable(&name, 40);
        let text = if self.rows.len() > 1 {
            format!("GPU: none of {tried} turns it")
        } else {
            format!("GPU: not on {name} either ({})", words::times(speedup))
        };
        Some(flip("gpu", text, Some(self.speedup), None))
    }

    fn another(&self) -> Option<(String, f64)> {
        // The catalogue's are one each.
        (self.q.setup.gpus == 1.0).then_some(())?;
        let own = &self.choice.gpus.get(self.shown)?.gpu.device;
        let bandwidth = |d: &crate::hardware::Device| d.bandwidth.get();
        let gpus = self.choice.catalogue.gpus().iter().map(|gpu| &gpu.device);
        let counted = gpus.filter(|d| matches!(d.vendor, Vendor::Nvidia | Vendor::Amd) && d.id != own.id);
        let other = if self.wins() {
            counted.min_by(|a, b| bandwidth(a).total_cmp(&bandwidth(b)))
        } else {
            counted.max_by(|a, b| bandwidth(a).total_cmp(&bandwidth(b)))
        }?;
        Some((other.name.clone(), outcome(self.q, other).speedup?.p50))
    }

    /// The rent at which both sides cost the same.
    fn price(&self) -> Option<Flip> {
        let gpu = self.g.cost_usd?.p50;
        let cpu = self.baseline.cost_usd?.p50;
        let rent = self.g.price.as_ref()?.usd_per_h;
        let factor = cpu / gpu;
        if !factor.is_finite() || rent <= 0.0 {
            return None;
        }
        let (name, now, even) = (self.name(), words::usd_per_h(rent), words::usd_per_h(rent * factor));
        let (runs, per) = words::runs_of(gpu.min(cpu));
        let (of_gpu, of_cpu) = (words::usd(gpu * runs), words::usd(cpu * runs));
        // Two figures that read the same say nothing.
        let costs = if of_gpu == of_cpu { String::new() } else { format!(" ({of_gpu} against {of_cpu} per {per})") };
        let text = match (factor > 1.0, near(factor)) {
            (true, true) => format!("price: the GPU is cheaper{costs} until {name} rents for {even} (now {now})"),
            (true, false) => format!("price: the GPU is cheaper{costs}, at ten times its rent too"),
            (false, true) => format!("price: the CPU is cheaper{costs} unless {name} rents for {even} (now {now})"),
            (false, false) => format!("price: the CPU is cheaper{costs}, at a tenth of the GPU's rent too"),
        };
        Some(flip("price", text, Some(rent), near(factor).then_some(rent * factor)))
    }

    /// Start-up is paid once in a process: how many runs in one process make up for it.
    fn runs(&self) -> Option<Flip> {
        if self.q.exclude_startup || self.wins() {
            return None;
        }
        let parts = &self.out.parts;
        let cpu = self.q.cpu.time.p50 - self.q.host.startup;
        let gpu = parts.total() - parts.startup;
        let once = parts.startup - self.q.host.startup;
        let runs = once / (cpu - gpu);
        if gpu >= cpu || !runs.is_finite() {
            let text = "runs: more of them do not help, warm the CPU is as fast".to_owned();
            return Some(flip("runs", text, Some(1.0), None));
        }
        let runs = libm::floor(runs) + 1.0;
        let text = if runs <= FAR {
            format!("runs: from {} in one process the GPU wins, start-up is paid once", words::count(runs as u64))
        } else {
            "runs: not with ten in one process".to_owned()
        };
        Some(flip("runs", text, Some(1.0), (runs <= FAR).then_some(runs)))
    }
}
