//! Why a program does or does not pay on a GPU: reasons with figures, the main one first.
//!
//! Every moment of the critical path belongs to somebody (`account`); each group of reasons looks at its part. Nothing
//! here is guessed: a share is a part of the simulated path, or the difference to a path simulated again.

mod account;
mod device;
mod frames;
mod host;
mod line;
mod link;
mod order;
mod robust;
mod smaller;
mod timing;

#[cfg(test)]
mod tests;

pub use robust::robustness;
pub use timing::timers;

use crate::estimate::gpu::{Outcome, Question, ended_early};
use crate::estimate::{Reason, Timer};
use crate::hardware::Device;
use account::Account;

/// A reason for the whole program is named from this share of its time without what both sides pay at the start; where
/// the GPU loses, of the time without anything that both sides have in common.
pub const PROGRAM: f64 = 0.05;
/// No reason for the whole program is named below this share of its time, however little the GPU adds.
pub const FLOOR: f64 = 0.01;
/// A reason for one line is named from this share of the program's time.
pub const LINE: f64 = 0.10;
/// Where array work is at least this share of the CPU's time and the GPU loses, what the GPU adds comes before what
/// both sides have in common: that alone is why it loses.
pub const WORTH_MOVING: f64 = 0.10;
/// Start-up decides where the GPU that loses with it is this much faster without.
pub const WARM_WINS: f64 = 1.1;

/// Why `out` is what it is, the main reason first; `timers` are those of the same program.
pub fn reasons(q: &Question<'_>, out: &Outcome, device: &Device, timers: &[Timer]) -> Vec<Reason> {
    if ended_early(q.workload, &out.plan) && out.fits != Some(false) {
        return Vec::new();
    }
    let account = Account::new(q, out, device);
    let host = host::parts(&account);
    let not_covered = host::not_covered(&account, &host);
    if let Some(reason) = device::does_not_fit(&account) {
        return [reason].into_iter().chain(not_covered.filter(|_| !q.coverage.is_enough())).collect();
    }
    let mut shared = host::reasons(&account, &host);
    let mut added: Vec<Reason> = [
        link::launch(&account),
        link::transfer(&account),
        link::waiting(&account),
        host::no_counterpart(&account, &host),
        device::memory(&account),
        device::parallelism(&account),
    ]
    .into_iter()
    .flatten()
    .collect();
    added.extend(device::compute(&account));
    added.extend(device::sequential(&account));
    let (mut first, mut start_up) = (Vec::new(), link::start_up(&account));
    if let Some(reason) = not_covered {
        if !q.coverage.is_enough() { first.push(reason) } else { shared.push(reason) }
    }
    let loses = out.speedup.is_some_and(|s| s.p50 < 1.0);
    if !loses || link::warm_speedup(&account) > WARM_WINS {
        added.extend(start_up.take());
    }
    let moves = q.cpu.ops.p50 >= WORTH_MOVING * (q.cpu.time.p50 - q.host.startup);
    let mut all = Vec::new();
    if loses && moves && out.plan.launches > 0 {
        sort(&mut added);
        sort(&mut shared);
        all.extend(added);
        all.extend(shared);
    } else {
        all.extend(added);
        all.extend(shared);
        sort(&mut all);
    }
    // What both sides pay at the start is not weighed, nor what the GPU adds to it where that decides nothing; where the
    // GPU loses, what both sides have in common is not either.
    let aside = if start_up.is_some() { out.parts.startup } else { out.own_startup(q) };
    let weighed = account.share(out.parts.total() - aside - if loses { out.parts.host } else { 0.0 });
    // Start-up that decides nothing is told after what does.
    all.extend(start_up);
    all.retain(|reason| reason.share.is_none_or(|share| share >= (PROGRAM * weighed).max(FLOOR)));
    let main = all.iter().position(|reason| reason.share.is_some());
    if let Some(main) = main {
        all[..=main].rotate_right(1);
    }
    first.extend(all);
    first.extend(timing::reasons(timers));
    first.extend(line::reasons(&account));
    let mut told: Vec<(String, String)> = Vec::new();
    first.retain(|reason| {
        let Some(line) = &reason.site else { return true };
        let new = (reason.code.clone(), line.clone());
        let known = told.contains(&new);
        told.push(new);
        !known
    });
    first
}

/// By share, the largest first; properties without a share after those with one.
fn sort(reasons: &mut [Reason]) {
    reasons
        .sort_by(|a, b| b.share.unwrap_or(-1.0).total_cmp(&a.share.unwrap_or(-1.0)).then_with(|| a.code.cmp(&b.code)));
}
