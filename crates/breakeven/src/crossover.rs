//! Break-even: the size at which the GPU starts to win.

use crate::estimate::plan::Plan;
use crate::workload::Workload;

/// Smallest and largest multiple of the present size that is looked at.
const RANGE: (f64, f64) = (1e-4, 1e4);

/// One side's time as the work of every op grows by `scale`: what is fixed, and what grows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Growth {
    /// Does not grow, s.
    pub fixed: f64,
    /// Grows in proportion, s at scale 1.
    pub grows: f64,
}

impl Growth {
    /// Time at `scale`, s.
    pub fn at(self, scale: f64) -> f64 {
        self.fixed + self.grows * scale
    }
}

/// GPU time at `scale`: host and copies in a row, dispatch and device overlapping. `ratio` carries what the timeline
/// saw and this closed form does not (waits), so that both agree at 1.
pub fn gpu_time(plan: &Plan, workload: &Workload, startup: f64, simulated: f64) -> impl Fn(f64) -> f64 {
    let (mut host, mut dispatch, mut device, mut copies) = (startup, 0.0, 0.0, 0.0);
    for (task, runs) in plan.tasks.iter().zip(workload.ops.iter().map(|e| e.count as f64).chain([1.0])) {
        host += (task.gap + task.on_host) * runs;
        dispatch += task.dispatch * runs;
        device += task.device * runs;
        copies += (task.upload + task.download + task.upload_after) * runs;
    }
    let smallest: f64 = plan.launches as f64 * 2e-6;
    let closed = move |scale: f64| host + copies * scale + dispatch.max((device * scale).max(smallest.min(device)));
    let rest = (simulated - closed(1.0)).max(0.0);
    move |scale| closed(scale) + rest
}

/// The scale at which `gpu` falls below `cpu`, by bisection on the logarithm; `None` when it does not within 10⁻⁴–10⁴,
/// or always does.
pub fn crossing(cpu: Growth, gpu: impl Fn(f64) -> f64) -> Option<f64> {
    let wins = |scale: f64| gpu(scale) < cpu.at(scale);
    let (mut low, mut high) = RANGE;
    if wins(low) || !wins(high) {
        return None;
    }
    for _ in 0..50 {
        let middle = (low * high).sqrt();
        if wins(middle) { high = middle } else { low = middle }
    }
    Some((low * high).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn at_the_crossing_both_take_the_same_time(fixed in 0.01..10.0f64, per in 0.001..0.5f64) {
            let cpu = Growth { fixed: 0.0, grows: 1.0 };
            let gpu = move |s: f64| fixed + per * s;
            let scale = crossing(cpu, gpu).unwrap();
            prop_assert!((gpu(scale) / cpu.at(scale) - 1.0).abs() < 1e-6);
        }
    }

    #[test]
    fn a_gpu_that_is_slower_at_any_size_never_breaks_even() {
        assert_eq!(crossing(Growth { fixed: 0.0, grows: 1.0 }, |s| 0.1 + 2.0 * s), None);
    }
}
