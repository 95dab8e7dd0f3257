//! How long runs wait: formulas of queues with k servers, and of runs that may be interrupted.

/// Mean and tail of the wait before a run starts.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Wait {
    /// Mean, s.
    pub mean: f64,
    /// 95 of 100 runs wait no longer, s.
    pub p95: f64,
}

/// The wait of the G/G/k queue by Allen and Cunneen's approximation, with Sakasegawa's term for the M/M/k:
/// `Wq = (ca² + cs²)/2 · ρ^(√(2(k+1)) − 1) / (k(1 − ρ)) · s` (Sakasegawa, Ann. Inst. Stat. Math. 29, 1977; Hopp and
/// Spearman, Factory Physics, ch. 8). For k = 1 and ca² = 1 it is Pollaczek and Khinchine's exact M/G/1. The tail takes
/// the wait of those that wait as exponential.
///
/// `servers` ≥ 1, `busy` is their utilisation, 0 ≤ ρ < 1; `service` the mean time of a run, s; `arrivals` and
/// `spread` the
/// squared coefficients of variation of arrivals and of run times.
///
/// ```
/// let wait = breakeven_plan::wait(1.0, 0.5, 60.0, 1.0, 1.0);
/// assert_eq!(wait.mean, 60.0); // M/M/1: ρ/(1 − ρ) · s
/// assert!((wait.p95 - 120.0 * (0.5f64 / 0.05).ln()).abs() < 1e-9);
/// ```
pub fn wait(servers: f64, busy: f64, service: f64, arrivals: f64, spread: f64) -> Wait {
    if busy <= 0.0 {
        return Wait::default();
    }
    let waits = libm::pow(busy, libm::sqrt(2.0 * (servers + 1.0)) - 1.0);
    let mean = (arrivals + spread) / 2.0 * waits / (servers * (1.0 - busy)) * service;
    let p95 = if waits > 0.05 { mean / waits * libm::log(waits / 0.05) } else { 0.0 };
    Wait { mean, p95 }
}

/// The largest ratio of the 95th percentile to the mean that [`wait`] has, whatever its arguments: 20/e.
pub(crate) const TAIL: f64 = 7.357_588_823_428_847;

/// Expected time of `work` seconds on a machine that is taken back `rate` times a second, each piece of `piece` seconds
/// done anew from its start and `restart` seconds later: `(e^(λp) − 1)(1/λ + R) · work/p` (Daly, FGCS 22, 2006, eq. 13,
/// without the cost of a checkpoint).
///
/// ```
/// let t = breakeven_plan::interrupted(3600.0, 3600.0, 0.01 / 3600.0, 600.0);
/// assert!((t - 3624.1).abs() < 0.1); // 18 s of work done anew, 6 s of restarts
/// ```
pub fn interrupted(work: f64, piece: f64, rate: f64, restart: f64) -> f64 {
    let piece = piece.min(work);
    if rate <= 0.0 || piece <= 0.0 {
        return work;
    }
    libm::expm1(rate * piece) * (1.0 / rate + restart) * work / piece
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn more_servers_and_less_load_never_wait_longer(k in 1u32..200, busy in 0.01..0.98f64, cs in 0.0..4.0f64) {
            let at = |k: u32, busy: f64| wait(f64::from(k), busy, 1.0, 1.0, cs).mean;
            let load = busy * f64::from(k);
            prop_assert!(at(k + 1, load / f64::from(k + 1)) <= at(k, busy) * (1.0 + 1e-12));
            prop_assert!(at(k, busy * 0.9) <= at(k, busy));
        }

        #[test]
        fn the_tail_is_within_its_bound(k in 1u32..500, busy in 0.01..0.98f64) {
            let w = wait(f64::from(k), busy, 1.0, 1.0, 1.0);
            prop_assert!(w.p95 <= w.mean * TAIL * (1.0 + 1e-9));
        }

        #[test]
        fn interruptions_never_shorten(work in 1.0..1e6f64, rate in 0.0..1e-4f64, more in 1.0..3.0f64) {
            let t = interrupted(work, work, rate, 60.0);
            prop_assert!(t >= work * (1.0 - 1e-9) && interrupted(work, work, rate * more, 60.0) >= t * (1.0 - 1e-9));
            prop_assert!(interrupted(work, work / 10.0, rate, 60.0) <= t * (1.0 + 1e-9));
        }
    }
}
