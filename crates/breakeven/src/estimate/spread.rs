//! From one median run to an interval.
//!
//! Errors of the kernels of one program on one device move together ([`kernel::sum_of`]); errors of dispatch, of
//! copies and of start-up are independent of them and of each other, so their squares add. Nothing shrinks with the op
//! count.

use super::plan::{EntryTime, Plan};
use crate::estimate::Breakdown;
use crate::interval::{Interval, Z90};
use crate::kernel::{self, Bound, Constants};

/// ln-sigma of copies: pageable memory, NUMA and virtualised links spread about ±40 % (assumed until measured).
pub const TRANSFER_SIGMA: f64 = 0.27;
/// ln-sigma of host code: one run tells the next within ±10 % at p10 and p90.
pub const HOST_SIGMA: f64 = 0.0744;

/// Interval of the time around its p50 parts, host code excepted (that cancels against the baseline).
pub fn device_side(parts: &Breakdown, plan: &Plan, startup: Interval) -> Interval {
    // Kernels no longer than a launch count as launches, in `parts` and here.
    let works = |e: &&EntryTime| e.bound != Bound::Launch;
    let working: f64 = plan.entries.iter().filter(works).map(|e| e.device).sum();
    let share = if working > 0.0 { ((parts.compute + parts.memory) / working).min(1.0) } else { 0.0 };
    let sigma_device = kernels(plan.entries.iter().filter(works))[1] * share;
    let squares = square(sigma_device)
        + square(parts.launch * plan.dispatch_sigma)
        + square((parts.transfer + parts.sync) * TRANSFER_SIGMA)
        + square(parts.startup * log_sigma(startup));
    let p50 = parts.total() - parts.host;
    if p50 <= 0.0 {
        return Interval::exact(0.0);
    }
    let mut out = Interval::log_normal(p50, squares.sqrt() / p50);
    // A device hidden behind the host in the median run may still show when it is slow.
    let [all, sigma] = kernels(plan.entries.iter());
    let slow_device = (all + parts.transfer) * libm::exp(Z90 * (sigma / all.max(f64::MIN_POSITIVE))) - parts.host;
    if slow_device > out.p90 {
        out.p90 = slow_device;
    }
    out
}

/// The sum of these kernels and its standard deviation, s.
fn kernels<'a>(entries: impl Iterator<Item = &'a EntryTime>) -> [f64; 2] {
    kernel::sum_of(Constants::shipped(), entries.map(|e| [e.device, e.sigma_shared, e.sigma_own]))
}

/// ln-sigma of an interval read as log-normal; 0 for what is known exactly.
pub fn log_sigma(i: Interval) -> f64 {
    if i.p50 > 0.0 && i.p90 > i.p50 { libm::log(i.p90 / i.p50) / Z90 } else { 0.0 }
}

fn square(x: f64) -> f64 {
    x * x
}
