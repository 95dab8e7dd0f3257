//! The CPU side: measured during the run, modelled for a named CPU, or given.

use super::hosttime::HostTime;
use super::plan::Policy;
use super::spread::HOST_SIGMA;
use crate::hardware::Device;
use crate::interval::{Basis, Interval};
use crate::kernel::{entry_time, rests_on_measured};
use crate::workload::{Entry, Op, Workload};

/// The baseline's time, with the part that the GPU run shares (host code) apart.
#[derive(Clone, Debug, PartialEq)]
pub struct CpuTime {
    /// Whole program, s.
    pub time: Interval,
    /// The same if other programs have taken nothing but the time that is off it already, s.
    pub quiet: Interval,
    /// Ops that a GPU could take over, s; the rest both sides share.
    pub ops: Interval,
    /// How it is known.
    pub basis: Basis,
    /// Whether the program itself was timed; else its ops were modelled, or the time was given.
    pub recorded: bool,
}

/// The least that p10 is lowered to beside other programs, as a factor: p90 is then three times p10. What they took of the
/// processors is off the time already, so what is left is what caches and waiting threads cost.
const BUSIEST: f64 = 0.4;

/// As it ran here: one run gives ±10 % at p10 and p90; `--repeat` gives the runs' own percentiles. Beside other programs its own
/// seconds may have been longer, too, by as much as it had to share, down to [`BUSIEST`]: caches were cold, and threads that
/// wait for each other keep CPUs busy, which widens p10. Copies that a program written for a
/// GPU makes to it and back are none on a CPU: their time is taken off.
pub fn measured(workload: &Workload, host: &HostTime, policy: Policy) -> CpuTime {
    let mut runs: Vec<f64> = workload.program.repeat_wall_ns.iter().map(|ns| *ns as f64 * 1e-9).collect();
    let quiet = if runs.is_empty() {
        Interval::log_normal(host.wall, HOST_SIGMA)
    } else {
        runs.push(host.wall);
        runs.sort_by(f64::total_cmp);
        Interval { p10: percentile(&runs, 0.1), p50: percentile(&runs, 0.5), p90: percentile(&runs, 0.9) }
    };
    let ops = seconds(workload, host, |e| can_move(e, policy));
    let copies = copies(workload, host, policy);
    let rest = (host.wall - copies).max(ops).max(f64::MIN_POSITIVE);
    let quiet = if copies > 0.0 { quiet.scale(rest / host.wall) } else { quiet };
    let alone = workload.program.repeat_wall_ns.is_empty();
    let time = if alone { Interval { p10: quiet.p10 * host.own.max(BUSIEST), ..quiet } } else { quiet };
    CpuTime { time, quiet, ops: time.scale(ops / rest), basis: Basis::Measured, recorded: true }
}

/// What copies to the GPU and back took here, s: none of it is a CPU's work.
fn copies(workload: &Workload, host: &HostTime, policy: Policy) -> f64 {
    seconds(workload, host, |e| policy == Policy::AsWritten && matches!(e.op, Op::Transfer { .. }))
}

/// CPU time of some entries, s.
fn seconds(workload: &Workload, host: &HostTime, of: impl Fn(&Entry) -> bool) -> f64 {
    workload.ops.iter().filter(|e| of(e)).map(|e| e.cpu_ns as f64).sum::<f64>() * 1e-9 * host.cpu_scale
}

/// Whether an entry is array work that another device could do; in a program as it is written, that it gives to one.
fn can_move(entry: &Entry, policy: Policy) -> bool {
    entry.op.is_array_work() && (policy != Policy::AsWritten || entry.device.is_some())
}

/// As it was told with the program's size.
pub fn given(workload: &Workload, host: &HostTime, policy: Policy) -> CpuTime {
    let time = Interval::exact(host.wall);
    let ops = seconds(workload, host, |e| can_move(e, policy)).min(host.wall);
    CpuTime { time, quiet: time, ops: Interval::exact(ops), basis: Basis::Given, recorded: false }
}

/// On another CPU: ops by the kernel model, host code as fast as here, without copies.
pub fn modelled(workload: &Workload, host: &HostTime, cpu: &Device, policy: Policy) -> CpuTime {
    let (mut ops, mut sigma, mut moved) = (0.0, 0.0, 0.0);
    for entry in workload.ops.iter().filter(|e| can_move(e, policy)) {
        let k = entry_time(entry, cpu);
        let t = k.p50.get() * entry.count as f64;
        ops += t;
        sigma += t * (k.sigma_shared * k.sigma_shared + k.sigma_own * k.sigma_own).sqrt();
        moved += entry.cpu_ns as f64 * 1e-9 * host.cpu_scale;
    }
    let rest = (host.wall - moved - copies(workload, host, policy)).max(0.0);
    let total = (rest + ops).max(f64::MIN_POSITIVE);
    let relative = (sigma * sigma + (rest * HOST_SIGMA) * (rest * HOST_SIGMA)).sqrt() / total;
    let time = Interval::log_normal(total, relative);
    let on_measured = rests_on_measured(cpu, workload.ops.iter().filter(|e| can_move(e, policy)));
    let basis = if on_measured { Basis::Measured } else { Basis::Modelled };
    CpuTime { time, quiet: time, ops: time.scale(ops / total), basis, recorded: false }
}

/// The program as it would have run on another `cpu`: ops by the kernel model, and as much as they take of the time.
pub fn on_another(workload: &Workload, host: &HostTime, cpu: &Device) -> Workload {
    let mut other = workload.clone();
    // What other programs had of the time is a share of it, as here.
    let scale = host.cpu_scale.max(f64::MIN_POSITIVE);
    let mut wall = workload.program.wall_ns;
    for entry in other.ops.iter_mut().filter(|e| e.op.is_array_work()) {
        let rest = wall.saturating_sub(entry.cpu_ns);
        entry.cpu_ns = (all_runs(entry, cpu) / scale) as u64;
        wall = rest.saturating_add(entry.cpu_ns);
    }
    other.program.takes(wall);
    other
}

/// All runs of an entry by the kernel model, ns.
fn all_runs(entry: &Entry, cpu: &Device) -> f64 {
    entry_time(entry, cpu).p50.get() * 1e9 * entry.count as f64
}

/// The program as it would have run on `cpu`, for a recording whose ops were not timed on one: theirs by the kernel
/// model, instead of launches and waits where they ran on a GPU.
pub fn timed(workload: &Workload, cpu: &Device) -> Workload {
    let mut timed = workload.clone();
    let on_gpu = timed.program.gpu.is_some();
    for entry in timed.ops.iter_mut().filter(|e| if on_gpu { e.device.is_some() } else { e.op.is_array_work() }) {
        let all = if entry.op.is_array_work() { all_runs(entry, cpu) } else { 0.0 };
        let rest = timed.program.wall_ns.saturating_sub(if on_gpu { entry.cpu_ns } else { 0 });
        entry.cpu_ns = all as u64;
        timed.program.wall_ns = rest.saturating_add(entry.cpu_ns);
    }
    timed
}

/// Linear interpolation between sorted samples; `q` in 0–1.
fn percentile(sorted: &[f64], q: f64) -> f64 {
    let at = q * (sorted.len() - 1) as f64;
    let below = at.floor() as usize;
    let above = (below + 1).min(sorted.len() - 1);
    sorted[below] + (sorted[above] - sorted[below]) * (at - below as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::hosttime::host_time;
    use crate::hardware::Catalogue;
    use crate::workload::op::Direction;
    use crate::workload::samples;

    #[test]
    fn a_quiet_machine_may_have_been_faster() {
        let mut heat = samples::heat();
        let time = |w: &Workload| measured(w, &host_time(w), Policy::Resident).time;
        let quiet = time(&heat);
        // Three of four seconds were other programs'.
        heat.program.stolen_ns = Some(3 * heat.program.wall_ns);
        heat.program.wall_ns *= 4;
        for entry in &mut heat.ops {
            (entry.cpu_ns, entry.gap_ns) = (4 * entry.cpu_ns, 4 * entry.gap_ns);
        }
        let busy = time(&heat);
        assert!((busy.p50 / quiet.p50 - 1.0).abs() < 0.01 && busy.p90 / quiet.p90 < 1.01, "{quiet:?} {busy:?}");
        assert!((busy.p10 / quiet.p10 - BUSIEST).abs() < 0.01, "{quiet:?} {busy:?}");
        assert!(busy.p90 / busy.p10 < 3.1, "{busy:?}");
    }

    #[test]
    fn a_cpu_copies_nothing_whether_measured_or_modelled() {
        let mut heat = samples::heat();
        let cpu = &Catalogue::embedded().cpus()[0].device;
        let both = |w: &Workload| {
            let host = host_time(w);
            [measured(w, &host, Policy::AsWritten), modelled(w, &host, cpu, Policy::AsWritten)].map(|t| t.time.p50)
        };
        let before = both(&heat);
        let op = Op::Transfer { direction: Direction::H2d, bytes: 8, pinned: false, asynchronous: false };
        heat.ops.push(Entry { op, cpu_ns: 1_000_000_000, gap_ns: 0, ..heat.ops[0].clone() });
        heat.program.wall_ns += 1_000_000_000;
        for (with, without) in both(&heat).into_iter().zip(before) {
            assert!((with / without - 1.0).abs() < 1e-6, "{with} {without}");
        }
    }
}
