//! Random numbers by Philox4x32-10 (Salmon et al., SC '11): ten rounds of two 32×32→64 multiplications (two operations
//! each), four exclusive-ors and two key additions give four words: 25 operations a word. Eight-byte numbers take two
//! words. Distributions on top: Box–Muller (logarithm, root, sine and cosine per pair), inversion for the exponential,
//! Marsaglia & Tsang 2000 for the gamma (1.05 tries of a normal and a uniform).

use super::Need;
use crate::workload::op::Random;

/// Operations of a transcendental function: the degree of its polynomial and the reduction of its argument (Cephes).
const TRANSCENDENTAL: f64 = 20.0;

/// Operations for one 32-bit word of Philox4x32-10.
const WORD: f64 = 25.0;

pub(super) fn need(kind: Random, n: f64, s: f64) -> Need {
    let words = if s > 4.0 { 2.0 } else { 1.0 };
    let uniform = words * WORD + 2.0;
    let each = match kind {
        Random::Uniform => uniform,
        Random::Normal => uniform + 2.0 * TRANSCENDENTAL,
        Random::Exponential => uniform + TRANSCENDENTAL,
        Random::Gamma => 1.05 * (2.0 * uniform + 3.0 * TRANSCENDENTAL),
        Random::Integers | Random::Choice | Random::Permutation => uniform,
    };
    Need { flop: n * each, bytes: n * s * if matches!(kind, Random::Choice | Random::Permutation) { 2.0 } else { 1.0 } }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_million_uniform_numbers() {
        assert_eq!(need(Random::Uniform, 1e6, 4.0), Need { flop: 27e6, bytes: 4e6 });
        assert_eq!(need(Random::Uniform, 1e6, 8.0), Need { flop: 52e6, bytes: 8e6 });
        assert_eq!(need(Random::Normal, 1e6, 4.0).flop, 67e6);
    }
}
