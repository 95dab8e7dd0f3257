//! Neighbours and densities: all pairs.

use super::Phase;
use super::facts::Facts;
use super::parts::Parts;

/// Brute force, as cuML does whatever tree scikit-learn grows: distances of all pairs, then the k nearest of each row
/// (cuvs `brute_force`, `select_k`). A fit only keeps the data.
pub(super) fn nearest(phase: Phase, facts: &Facts, parts: &mut Parts) {
    parts.copy_in(facts);
    if phase.uses() {
        let fitted = Facts::or(facts.fitted, facts.n);
        parts.pairs([facts.n, fitted, facts.width()], 1.0, 1.0, 1.0);
        parts.map(facts.n * fitted, 1, 2.0, 1.0);
        parts.kernels(20.0);
        let k = Facts::or(facts.neighbours, 5.0);
        parts.bytes_out(Facts::or(facts.outbytes, facts.n * k * 12.0));
    } else {
        parts.kernels(4.0);
    }
}

/// One fused kernel: distances of all pairs, the kernel's value, and the logarithm of the sum (cuML `kde.hpp`).
pub(super) fn density(phase: Phase, facts: &Facts, parts: &mut Parts) {
    parts.copy_in(facts);
    if phase.uses() {
        let fitted = Facts::or(facts.fitted, facts.n);
        parts.pairs([facts.n, fitted, facts.width()], 25.0, 0.0, 1.0);
        parts.result_out(facts);
    }
    parts.kernels(10.0);
}
