//! One workload on one GPU.

use super::baseline::CpuTime;
use super::hosttime::HostTime;
use super::plan::{Plan, Policy, Port};
use super::spread::device_side;
use super::{Breakdown, Verdict};
use crate::hardware::Device;
use crate::interval::{Basis, Interval};
use crate::timeline::{Compact, simulate};
use crate::workload::{Entry, Op, Workload};

/// Share of the device memory that a program can use; the rest is the context and the allocator's slack.
pub const USABLE_MEMORY: f64 = 0.92;

/// What the timeline says of one GPU, before money and energy.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// `None` when the workload does not fit.
    pub time: Option<Interval>,
    /// Baseline ÷ time.
    pub speedup: Option<Interval>,
    /// Of the median run.
    pub parts: Breakdown,
    /// See [`Verdict`].
    pub verdict: Verdict,
    /// `None` when the memory need is not known.
    pub fits: Option<bool>,
    /// Median time if every call copied in and out, s.
    pub naive: f64,
    /// The layout that was simulated.
    pub plan: Plan,
    /// Weakest basis.
    pub basis: Basis,
}

impl Outcome {
    /// The part of start-up that both sides pay, s; 0 where start-up is left out.
    pub fn own_startup(&self, q: &Question) -> f64 {
        if q.exclude_startup { 0.0 } else { self.parts.startup - q.startup.p50 }
    }
}

/// What stays the same from GPU to GPU.
pub struct Question<'a> {
    /// The program.
    pub workload: &'a Workload,
    /// Its order; the time outside ops comes first.
    pub order: &'a Compact,
    /// Split of the wall time.
    pub host: &'a HostTime,
    /// The CPU side.
    pub cpu: &'a CpuTime,
    /// The workload under its port.
    pub port: &'a Port<'a>,
    /// What the port pays once, s.
    pub startup: Interval,
    /// The part of it that is paid when a library or a kernel is first used, s.
    pub first_use: Interval,
    /// Single-thread speed of the GPU machine's CPU relative to the recording one.
    pub host_speed: f64,
    /// Leave start-up out on both sides.
    pub exclude_startup: bool,
    /// 0–1.
    pub coverage: f64,
    /// Wall time of the recording without its hooks, s.
    pub recorded_s: f64,
    /// What the options changed about the program, in a sentence; `None` where it is as it was recorded.
    pub changed: Option<&'a str>,
}

impl Question<'_> {
    /// Start-up of the script itself that counts, s.
    pub fn startup_here(&self) -> f64 {
        if self.exclude_startup { 0.0 } else { self.host.startup }
    }

    /// The CPU's time as it is compared, without start-up where that is left out.
    pub fn cpu_time(&self) -> Interval {
        let (all, less) = (self.cpu.time, self.host.startup - self.startup_here());
        if less > 0.0 { all.scale(((all.p50 - less) / all.p50).max(0.0)) } else { all }
    }
}

/// Below this coverage nothing is claimed unless both extremes agree.
pub const COVERAGE_THRESHOLD: f64 = 0.8;

/// The whole way: plan, simulate, compare.
pub fn outcome(q: &Question, device: &Device) -> Outcome {
    outcome_of(q, device, super::loaders::waited_for(q, q.port.plan(device)))
}

/// The same for a plan that was changed since it was laid out for `device`.
pub fn outcome_of(q: &Question, device: &Device, plan: Plan) -> Outcome {
    let mut parts = simulate(&plan.tasks, q.order, q.port.machine(), &mut ());
    let own_startup = q.port.host_startup().min(parts.host);
    parts.host -= own_startup;
    // The program's own start-up is on both sides: only what the GPU adds to it is as unsure as start-up is.
    let (own_startup, added) = if q.exclude_startup { (0.0, Interval::exact(0.0)) } else { (own_startup, q.startup) };
    parts.startup = added.p50;
    let device_part = device_side(&parts, &plan, added);
    parts.startup += own_startup;
    let host = parts.host + own_startup;
    let time = Interval { p10: host * 0.9 + device_part.p10, p50: parts.total(), p90: host * 1.1 + device_part.p90 };
    let cpu_time = q.cpu_time();
    let speedup = speedup(cpu_time, q.cpu.ops, host, device_part);
    let need = device_bytes(q.workload, q.port.policy());
    let fits = (need > 0.0).then(|| need <= device.memory.get() * USABLE_MEMORY);
    // What it came to is the least that it needs.
    let fits = fits.filter(|fits| !fits || !q.workload.cut_short());
    let verdict = if fits == Some(false) {
        Verdict::Cpu
    } else if q.coverage < COVERAGE_THRESHOLD {
        // With nothing for the GPU to do, both sides are the same sum, and its last bit would say which is less.
        let best = at_best(q, host, cpu_time, device_part);
        if plan.launches > 0 && best == verdict_of(speedup) { best } else { Verdict::Unknown }
    } else if ended_early(q.workload, &plan) {
        Verdict::Unknown
    } else if plan.launches == 0 {
        Verdict::Cpu
    } else {
        verdict_of(speedup)
    };
    // Where nothing is left of what nobody understood, 0 s would be said of something unknown.
    let unknown = verdict == Verdict::Unknown && (ended_early(q.workload, &plan) || parts.total() <= 0.0);
    let shown = fits != Some(false) && !unknown;
    let assumed = parts.launch + parts.startup > 0.05 * parts.total();
    Outcome {
        time: shown.then_some(time),
        // Against no time at all there is none.
        speedup: (shown && speedup.p90.is_finite()).then_some(speedup),
        naive: plan.sums.naive + parts.startup,
        parts,
        verdict,
        fits,
        plan,
        basis: if assumed { Basis::Assumed } else { Basis::Modelled },
    }
}

/// Whether the program failed before it gave a GPU anything to do, or for want of one: what it would have done is not known.
pub fn ended_early(workload: &Workload, plan: &Plan) -> bool {
    workload.failed() && plan.launches == 0 || workload.cut_short()
}

/// Memory that a workload needs on the device at its peak, bytes; 0 where it is not known.
pub fn device_bytes(workload: &Workload, policy: Policy) -> f64 {
    match policy {
        Policy::AsWritten => workload.program.device_peak_bytes as f64,
        Policy::Resident | Policy::Naive => workload.program.peak_bytes as f64,
    }
}

/// The verdict if all that is not understood took no time on the GPU.
fn at_best(q: &Question, host: f64, cpu: Interval, device_part: Interval) -> Verdict {
    let opaque = |e: &&Entry| matches!(e.op, Op::Opaque);
    let entries: f64 = q.workload.ops.iter().filter(opaque).map(|e| e.cpu_ns as f64).sum();
    let unseen: f64 = q.workload.unseen.iter().map(|u| u.ns as f64).sum();
    let dark = ((entries + unseen) * 1e-9 * q.host.cpu_scale / q.host_speed).min(host);
    let ops = Interval::exact((cpu.p50 - (host - dark)).max(0.0));
    verdict_of(speedup(cpu, ops, host - dark, device_part))
}

/// Baseline ÷ GPU time; the host code that both share (`host`, s, on the GPU's side) cancels, p10 pairs a slow GPU with
/// a fast CPU.
fn speedup(cpu: Interval, ops: Interval, host: f64, device_part: Interval) -> Interval {
    let shared = (cpu.p50 - ops.p50).max(0.0);
    let own = |p: f64| (p - cpu.p50) * if cpu.p50 > 0.0 { ops.p50 / cpu.p50 } else { 0.0 };
    let ratio = |c: f64, g: f64| (shared + ops.p50 + own(c)) / (host + g).max(f64::MIN_POSITIVE);
    let p50 = ratio(cpu.p50, device_part.p50);
    Interval { p10: ratio(cpu.p10, device_part.p90).min(p50), p50, p90: ratio(cpu.p90, device_part.p10).max(p50) }
}

/// By time alone.
pub fn verdict_of(speedup: Interval) -> Verdict {
    if speedup.p10 > 1.0 {
        Verdict::Gpu
    } else if speedup.p90 < 1.0 {
        Verdict::Cpu
    } else {
        Verdict::Either
    }
}
