//! Break-even: the size at which the GPU starts to win.

use crate::estimate::plan::Sums;

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

/// GPU time at `scale`, exact at scale 1: host code and dispatch stay, kernels, copies and ops left on the host grow,
/// and device and host overlap by the share that the timeline saw. `simulated` is the timeline's finish time without
/// `startup`, s.
///
/// ```
/// use breakeven::{crossover::gpu_time, estimate::plan::Sums};
/// let sums = Sums { host: 1.0, dispatch: 0.5, device: 3.0, smallest: 0.2, copies: 0.1, ..Sums::default() };
/// let time = gpu_time(&sums, 0.25, 3.5);
/// assert_eq!(time(1.0), 3.75);
/// assert!(time(2.0) > 6.0 && time(0.0) > 1.5);
/// ```
pub fn gpu_time(sums: &Sums, startup: f64, simulated: f64) -> impl Fn(f64) -> f64 + use<> {
    let sums = *sums;
    let host = sums.host + sums.dispatch;
    let in_a_row = move |scale: f64| {
        let device = (sums.smallest + (sums.device - sums.smallest).max(0.0) * scale).max(0.0);
        (host, device, (sums.copies + sums.on_host) * scale)
    };
    let (_, device, moved) = in_a_row(1.0);
    let side_by_side = host.min(device);
    let hidden =
        if side_by_side > 0.0 { ((host + device + moved - simulated) / side_by_side).clamp(0.0, 1.0) } else { 0.0 };
    let waits = simulated - (host + device + moved - hidden * side_by_side);
    move |scale| {
        let (host, device, moved) = in_a_row(scale);
        startup + host + device + moved - hidden * host.min(device) + waits
    }
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

    fn sums() -> impl Strategy<Value = Sums> {
        (0.0..1.0f64, 0.0..1.0f64, 0.0..1.0f64, 0.0..1.0f64, 0.0..1.0f64, 0.0..1.0f64).prop_map(
            |(host, on_host, dispatch, device, floor, copies)| Sums {
                host,
                on_host,
                dispatch,
                device,
                smallest: device * floor,
                copies,
                naive: 0.0,
                naive_copies: 0.0,
            },
        )
    }

    proptest! {
        #[test]
        fn more_work_takes_longer_and_at_the_present_size_both_models_agree(
            sums in sums(), overlap in 0.0..1.0f64, wait in 0.0..0.1f64, startup in 0.0..1.0f64, a in -4.0..4.0f64, b in -4.0..4.0f64,
        ) {
            let host = sums.host + sums.dispatch;
            let simulated = host + sums.device + sums.copies + sums.on_host - overlap * host.min(sums.device) + wait;
            let time = gpu_time(&sums, startup, simulated);
            prop_assert!((time(1.0) - startup - simulated).abs() < 1e-12);
            let (small, large) = (libm::pow(10.0, a.min(b)), libm::pow(10.0, a.max(b)));
            prop_assert!(time(small) <= time(large) * (1.0 + 1e-12));
            prop_assert!(time(small) >= startup + host.max(sums.smallest) * (1.0 - 1e-12) - 1e-12);
        }
    }

    #[test]
    fn a_gpu_that_is_slower_at_any_size_never_breaks_even() {
        assert_eq!(crossing(Growth { fixed: 0.0, grows: 1.0 }, |s| 0.1 + 2.0 * s), None);
    }
}
