//! An edited program estimated again: the same GPU, the same rules, what recording cost taken off as before.

use super::Context;
use super::draft::Draft;
use crate::estimate::gpu::{Outcome, Question, changed, outcomes};
use crate::estimate::hosttime::HostTime;
use crate::estimate::plan::{Plan, Policy, Port};
use crate::estimate::program::order_of;
use crate::hardware::Device;
use crate::interval::Interval;
use crate::workload::Workload;
use std::borrow::Cow;

/// What `keep` makes of the outcomes on these GPUs. The CPU side stays that of the program as it is.
pub(super) fn on_gpus<T>(
    q: &Question,
    draft: &Draft,
    devices: &[&Device],
    keep: impl Fn(usize, &Outcome) -> T,
) -> Vec<T> {
    let slowed = |plan: &mut Plan| {
        for (entry, share) in draft.device_share.iter().enumerate() {
            plan.tasks[entry].device *= share;
            plan.entries[entry].device *= share;
        }
    };
    asked(q, draft, |question| outcomes(question, devices, &mut Vec::new(), slowed, keep))
}

/// The outcome on one device, its plan changed before it is simulated.
pub fn planned(q: &Question, draft: &Draft, device: &Device, change: impl Fn(&mut Plan)) -> Outcome {
    asked(q, draft, |question| changed(question, device, change))
}

/// What the edited program is asked, handed to `then`.
fn asked<T>(q: &Question, draft: &Draft, then: impl FnOnce(&Question) -> T) -> T {
    let host = host_time(q, &draft.workload);
    let profile = q.port.profile();
    let port = Port::new(&draft.workload, &host, profile, q.host_speed, draft.policy);
    let startup = match draft.policy {
        Policy::AsWritten => profile.startup_as_written(&draft.workload),
        Policy::Resident | Policy::Naive => profile.startup(&draft.workload),
    };
    let own;
    let order = match &draft.order {
        Cow::Borrowed(_) => q.order,
        Cow::Owned(steps) => {
            own = order_of(steps, &draft.workload);
            &own
        }
    };
    let once = Interval::log_normal(draft.once, ONCE_SIGMA);
    let question = Question {
        workload: &draft.workload,
        order,
        host: &host,
        cpu: q.cpu,
        port: &port,
        startup: q.setup.startup(startup.total()) + once,
        first_use: startup.at_first_use() + once,
        host_speed: q.host_speed,
        exclude_startup: q.exclude_startup,
        coverage: q.coverage,
        recorded_s: q.recorded_s,
        changed: q.changed,
        setup: q.setup,
    };
    then(&question)
}

/// ln-sigma of what an edit costs once: nobody measured it.
const ONCE_SIGMA: f64 = 0.43;

/// On the CPU of the baseline, s; start-up as the question asks.
pub(super) fn on_cpu(ctx: &Context, draft: &Draft) -> f64 {
    let q = ctx.question;
    let host = host_time(q, &draft.workload);
    let time = if ctx.cpu_modelled {
        crate::estimate::baseline::modelled(&draft.workload, &host, ctx.cpu, draft.policy).time.p50
    } else {
        host.wall
    };
    if q.exclude_startup { time - q.host.startup } else { time + draft.once }
}

/// The split of the edited program's wall time: what no op accounts for stays, ops and gaps are its own.
fn host_time(q: &Question, edited: &Workload) -> HostTime {
    let spent = |w: &Workload| {
        let sum = |f: fn(&crate::workload::Entry) -> u64| w.ops.iter().map(|e| f(e) as f64).sum::<f64>() * 1e-9;
        sum(|e| e.cpu_ns) * q.host.cpu_scale + sum(|e| e.gap_ns) * q.host.gap_scale
    };
    let wall = (q.host.wall + spent(edited) - spent(q.workload)).max(q.host.outside);
    HostTime { wall, ..q.host.clone() }
}
