//! One workload on one GPU.

use super::baseline::CpuTime;
use super::hosttime::HostTime;
use super::plan::{OpaqueTime, Plan, Policy, plan};
use super::spread::device_side;
use super::{Breakdown, Verdict};
use crate::hardware::Device;
use crate::interval::{Basis, Interval};
use crate::port::PortProfile;
use crate::timeline::{Machine, simulate};
use crate::workload::{Step, Workload};

/// Share of the device memory that a program can use; the rest is the context and the allocator's slack.
const USABLE_MEMORY: f64 = 0.92;

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

/// What stays the same from GPU to GPU.
pub struct Question<'a> {
    /// The program.
    pub workload: &'a Workload,
    /// Its order, never empty where there are ops; the time outside ops comes first.
    pub order: &'a [Step],
    /// Split of the wall time.
    pub host: &'a HostTime,
    /// The CPU side.
    pub cpu: &'a CpuTime,
    /// Port.
    pub profile: &'a PortProfile,
    /// Single-thread speed of the GPU machine's CPU relative to the recording one.
    pub host_speed: f64,
    /// `Resident` or `Naive`.
    pub policy: Policy,
    /// Leave start-up out on both sides.
    pub exclude_startup: bool,
    /// 0–1.
    pub coverage: f64,
}

/// Below this coverage nothing is claimed unless both extremes agree.
pub const COVERAGE_THRESHOLD: f64 = 0.8;

/// The whole way: plan, simulate, compare.
pub fn outcome(q: &Question, device: &Device) -> Outcome {
    let laid = |policy, opaque| plan(q.workload, q.host, device, q.profile, q.host_speed, policy, opaque);
    let machine = machine(q.profile);
    let laid_out = laid(q.policy, OpaqueTime::OnHost);
    let mut parts = simulate(&laid_out.tasks, q.order, &machine, &mut ());
    let startup = q.profile.startup(q.workload).total();
    let host_startup = q.host.startup / q.host_speed;
    parts.host -= host_startup.min(parts.host);
    parts.startup = if q.exclude_startup { 0.0 } else { startup.p50 + host_startup };

    let device_part = device_side(&parts, &laid_out, startup);
    let time = Interval {
        p10: parts.host * 0.9 + device_part.p10,
        p50: parts.total(),
        p90: parts.host * 1.1 + device_part.p90,
    };
    let cpu_time = if q.exclude_startup {
        let less = q.cpu.time.p50 - q.host.startup;
        q.cpu.time.scale((less / q.cpu.time.p50).max(0.0))
    } else {
        q.cpu.time
    };
    let speedup = speedup(cpu_time, q.cpu.ops, &parts, device_part);
    let need = q.workload.program.peak_bytes as f64;
    let fits = (need > 0.0).then(|| need <= device.memory.get() * USABLE_MEMORY);
    let naive = match q.policy {
        Policy::Naive => parts.total(),
        Policy::Resident => {
            let naive = laid(Policy::Naive, OpaqueTime::OnHost);
            let t = simulate(&naive.tasks, q.order, &machine, &mut ());
            t.total() - host_startup.min(t.host) + parts.startup
        }
    };
    let verdict = if fits == Some(false) || (laid_out.launches == 0 && q.coverage >= COVERAGE_THRESHOLD) {
        Verdict::Cpu
    } else if q.coverage >= COVERAGE_THRESHOLD {
        verdict_of(speedup)
    } else {
        let best = laid(q.policy, OpaqueTime::Zero);
        let mut best_parts = simulate(&best.tasks, q.order, &machine, &mut ());
        best_parts.host -= host_startup.min(best_parts.host);
        best_parts.startup = parts.startup;
        let best_side = device_side(&best_parts, &best, startup);
        let ops = q.cpu.time.p50 - best_parts.host;
        let optimistic = verdict_of(self::speedup(cpu_time, Interval::exact(ops.max(0.0)), &best_parts, best_side));
        if optimistic == verdict_of(speedup) { optimistic } else { Verdict::Unknown }
    };
    let shown = fits != Some(false);
    Outcome {
        time: shown.then_some(time),
        speedup: shown.then_some(speedup),
        parts,
        verdict,
        fits,
        naive,
        plan: laid_out,
        basis: if parts.launch + parts.startup > 0.05 * parts.total() { Basis::Assumed } else { Basis::Modelled },
    }
}

/// The queue and latencies of a CUDA-like device under `profile`.
fn machine(profile: &PortProfile) -> Machine {
    Machine {
        launch_latency: profile.launch_latency().p50,
        sync_latency: profile.sync_latency().p50,
        queue_depth: 1024,
    }
}

/// Baseline ÷ GPU time; the host code that both share cancels, p10 pairs a slow GPU with a fast CPU.
fn speedup(cpu: Interval, ops: Interval, parts: &Breakdown, device_part: Interval) -> Interval {
    let shared = (cpu.p50 - ops.p50).max(0.0);
    let own = |p: f64| (p - cpu.p50) * if cpu.p50 > 0.0 { ops.p50 / cpu.p50 } else { 0.0 };
    let ratio = |c: f64, g: f64| (shared + ops.p50 + own(c)) / (parts.host + g).max(f64::MIN_POSITIVE);
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
