//! One GPU's verdict.

use super::Verdict;
use crate::interval::Interval;

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
