//! One workload on one GPU.

use super::baseline::CpuTime;
use super::coverage::Coverage;
use super::hosttime::HostTime;
use super::loaders::wait_for_batches;
use super::plan::{Plan, Policy, Port};
use super::setup::Setup;
use super::spread::device_side;
use super::{Breakdown, Verdict};
use crate::hardware::Device;
use crate::interval::{Basis, Interval};
use crate::kernel::rests_on_measured;
use crate::timeline::{Compact, LANES, Task, finish, finishes};
use crate::workload::family::frame_memory;
use crate::workload::op::Direction;
use crate::workload::{Entry, Op, Part, Workload};

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
    /// What of its time is understood.
    pub coverage: &'a Coverage,
    /// Wall time of the recording without its hooks, s.
    pub recorded_s: f64,
    /// What the options changed about the program, in a sentence; `None` where it is as it was recorded.
    pub changed: Option<&'a str>,
    /// What numbers say of the machine.
    pub setup: &'a Setup,
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

/// The whole way: plan, simulate, compare.
pub fn outcome(q: &Question, device: &Device) -> Outcome {
    changed(q, device, |_| ())
}

/// [`outcome`] of a plan that is changed before it is simulated.
pub fn changed(q: &Question, device: &Device, change: impl Fn(&mut Plan)) -> Outcome {
    let mut plan = planned(q, device, Plan::default());
    change(&mut plan);
    let plan = shared(q, plan);
    let parts = finish(&plan.tasks, q.order, q.port.machine());
    compared(q, device, plan, parts)
}

/// What `keep` makes of the outcomes on several devices, which take less time than one after the other. Plans are laid out
/// in the memory of those in `spare`, and left there; `change` changes each before it is simulated.
pub fn outcomes<T>(
    q: &Question,
    devices: &[&Device],
    spare: &mut Vec<Plan>,
    change: impl Fn(&mut Plan),
    keep: impl Fn(usize, &Outcome) -> T,
) -> Vec<T> {
    let mut kept = Vec::with_capacity(devices.len());
    for devices in devices.chunks(LANES) {
        let plan = |device: &&Device| {
            let mut plan = planned(q, device, spare.pop().unwrap_or_default());
            change(&mut plan);
            shared(q, plan)
        };
        let plans: Vec<Plan> = devices.iter().map(plan).collect();
        let tasks: Vec<&[Task]> = plans.iter().map(|plan| plan.tasks.as_slice()).collect();
        let parts = finishes(&tasks, q.order, q.port.machine());
        for ((plan, device), parts) in plans.into_iter().zip(devices).zip(parts) {
            let out = compared(q, device, plan, parts);
            kept.push(keep(kept.len(), &out));
            spare.push(out.plan);
        }
    }
    kept
}

fn planned(q: &Question, device: &Device, old: Plan) -> Plan {
    let mut plan = q.port.plan_in(device, old);
    wait_for_batches(q, &mut plan);
    plan
}

/// The plan as several GPUs and a host beside them share it.
fn shared(q: &Question, plan: Plan) -> Plan {
    q.setup.share(plan, q.cpu_time().p50)
}

/// What follows from the timeline's `parts`.
fn compared(q: &Question, device: &Device, plan: Plan, mut parts: Breakdown) -> Outcome {
    let cpu_time = q.cpu_time();
    let own_startup = q.port.host_startup().min(parts.host);
    parts.host -= own_startup;
    // The program's own start-up is on both sides: only what the GPU adds to it is as unsure as start-up is.
    let (own_startup, added) = if q.exclude_startup { (0.0, Interval::exact(0.0)) } else { (own_startup, q.startup) };
    parts.startup = added.p50;
    let device_part = device_side(&parts, &plan, added);
    parts.startup += own_startup;
    let host = parts.host + own_startup;
    let time = Interval { p10: host * 0.9 + device_part.p10, p50: parts.total(), p90: host * 1.1 + device_part.p90 };
    let ops = q.cpu.ops.scale(q.setup.parallel_fraction);
    let speedup = q.setup.at_most(speedup(cpu_time, ops, host, device_part));
    let need = device_bytes(q.workload, q.port.policy());
    let fits = (need > 0.0).then(|| need <= device.memory.get() * USABLE_MEMORY);
    // What it came to is the least that it needs.
    let fits = fits.filter(|fits| !fits || !q.workload.cut_short());
    let verdict = if fits == Some(false) {
        Verdict::Cpu
    } else if ended_early(q.workload, &plan) {
        Verdict::Unknown
    } else {
        let dark = (q.coverage.dark() / q.host_speed).min(host);
        let sides = Sides { cpu: cpu_time, ops, host, device: device_part, launches: plan.launches };
        // Of work that nobody saw, and nobody timed either, nothing follows.
        let nothing_seen = !q.coverage.is_enough() && q.coverage.understood <= 0.0;
        if nothing_seen { Verdict::Unknown } else { sides.verdict(dark, q.coverage.is_enough()) }
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
        basis: match assumed {
            true => Basis::Assumed,
            false if rests_on_measured(device, q.workload.ops.iter()) => Basis::Measured,
            false => Basis::Modelled,
        },
    }
}

/// Whether the program failed before it gave a GPU anything to do, or for want of one: what it would have done is not known.
pub fn ended_early(workload: &Workload, plan: &Plan) -> bool {
    workload.failed() && plan.launches == 0 || workload.cut_short()
}

/// Memory that a workload needs on the device at its peak, bytes; 0 where it is not known.
pub fn device_bytes(workload: &Workload, policy: Policy) -> f64 {
    let arrays = match policy {
        Policy::AsWritten => workload.program.device_peak_bytes as f64,
        Policy::Resident | Policy::Naive => workload.program.peak_bytes as f64,
    };
    workload.ops.iter().map(|entry| routine_bytes(&entry.op).max(frame_bytes(entry, arrays))).fold(arrays, f64::max)
}

/// What a verb of a data frame needs while it runs, bytes: all that there is of `arrays`, or its own, and what it builds.
pub fn frame_bytes(entry: &Entry, arrays: f64) -> f64 {
    if !matches!(entry.op, Op::Dataframe { .. }) {
        return 0.0;
    }
    let own = entry.read_bytes as f64 + entry.written_bytes as f64;
    arrays.max(own) + frame_memory(&entry.op, entry.dtype)
}

/// What one call of many kernels needs of its own, bytes: the data that it copies in, as much again that it works on, its result.
fn routine_bytes(op: &Op) -> f64 {
    let Op::Routine { parts } = op else { return 0.0 };
    // A second copy of the same data takes the first one's place.
    let largest = |wanted: Direction| {
        let of = |part: &Part| match part.op {
            Op::Transfer { direction, bytes, .. } if direction == wanted => bytes as f64,
            _ => 0.0,
        };
        parts.iter().map(of).fold(0.0, f64::max)
    };
    let built = parts.iter().map(|part| frame_memory(&part.op, part.dtype)).fold(0.0, f64::max);
    2.0 * largest(Direction::H2d) + largest(Direction::D2h) + built
}

/// A GPU wins if its time is shorter by this factor with all but certainty (p10): 2 % is less than anybody would port
/// or rent for, and less than two runs of the same program differ by.
pub const WIN: f64 = 1.02;
/// How many times slower a GPU may run what was not understood than this CPU does: the largest slow-down that people
/// have reported of GPU versions of libraries (dozens, 90 and 120 times, of small problems and of loops on the host).
pub const WORST: f64 = 120.0;

/// Both sides of a comparison, s.
#[derive(Clone, Copy, Debug)]
pub struct Sides {
    /// The CPU's time.
    pub cpu: Interval,
    /// The part of it that a GPU could take over.
    pub ops: Interval,
    /// Host code of the GPU's side, what is not understood included: both sides share it.
    pub host: f64,
    /// All else of the GPU's side.
    pub device: Interval,
    /// Kernels that would be launched.
    pub launches: u64,
}

impl Sides {
    /// The verdict where `dark` seconds of the host's time are not understood. Where too little is understood, it is
    /// unknown unless it is the same with these at no time, left on the host, and [`WORST`] times slower on the GPU.
    pub fn verdict(&self, dark: f64, enough: bool) -> Verdict {
        let with = |on_gpu: f64| {
            match verdict_of(speedup(self.cpu, self.ops, self.host - dark + on_gpu, self.device)) {
                // Both sides are the same sum: nothing would run on a GPU.
                Verdict::Either if self.launches == 0 => Verdict::Cpu,
                verdict => verdict,
            }
        };
        let left = with(dark);
        let same = with(0.0) == left && with(dark * WORST) == left;
        if enough || same { left } else { Verdict::Unknown }
    }
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
    if speedup.p10 > WIN {
        Verdict::Gpu
    } else if speedup.p90 < 1.0 {
        Verdict::Cpu
    } else {
        Verdict::Either
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Programs of which part of the host's time may be dark: sides and that time, s.
    fn programs() -> impl Strategy<Value = (Sides, f64)> {
        let time = || 1e-3..100.0_f64;
        (time(), time(), time(), 1.0..1.5_f64, 0.0..=1.0_f64, 0..3_u64).prop_map(
            |(ops, host, device, unsure, dark, launches)| {
                let (ops, device) = if launches == 0 { (0.0, 0.0) } else { (ops, device) };
                let around = |p50: f64| Interval { p10: p50 / unsure, p50, p90: p50 * unsure };
                let (cpu, ops, device) = (around(host + ops), around(ops), around(device));
                (Sides { cpu, ops, host, device, launches }, host * dark)
            },
        )
    }

    fn certain(verdict: Verdict) -> bool {
        matches!(verdict, Verdict::Gpu | Verdict::Cpu)
    }

    #[test]
    fn a_win_is_more_than_two_per_cent() {
        let at = |p10: f64| verdict_of(Interval { p10, p50: p10, p90: p10 });
        assert_eq!(
            [at(0.99), at(1.0), at(1.02), at(1.021)],
            [Verdict::Cpu, Verdict::Either, Verdict::Either, Verdict::Gpu]
        );
    }

    proptest! {
        #[test]
        fn more_dark_time_never_makes_a_verdict_more_certain((sides, dark) in programs(), part in 0.0..1.0_f64) {
            let (less, more) = (sides.verdict(dark * part, false), sides.verdict(dark, false));
            prop_assert!(!certain(more) || less == more, "{less:?} with less, {more:?} with more");
        }

        #[test]
        fn without_dark_time_the_verdict_is_that_of_the_times((sides, _) in programs()) {
            let plain = verdict_of(speedup(sides.cpu, sides.ops, sides.host, sides.device));
            let plain = if sides.launches == 0 { Verdict::Cpu } else { plain };
            prop_assert_eq!(sides.verdict(0.0, false), plain);
            prop_assert_eq!(sides.verdict(0.0, true), plain);
        }

        #[test]
        fn where_nothing_is_understood_no_gpu_wins((sides, _) in programs(), launches in 0..2_u64) {
            let sides = Sides { ops: Interval::exact(0.0), cpu: Interval::exact(sides.host), launches, ..sides };
            prop_assert_ne!(sides.verdict(sides.host, false), Verdict::Gpu);
        }
    }
}
