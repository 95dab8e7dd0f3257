//! Principal components and covariances.

use super::Phase;
use super::facts::Facts;
use super::linear::gram;
use super::parts::Parts;
use crate::workload::op::Factor;

const KERNELS: f64 = 40.0;

/// The covariance (2·n·d² FLOP) and its eigenvectors, then a product with the components: n·d·k. Columns lie together, so that
/// the host puts C-ordered data right, for a fit and for a transform each.
pub(super) fn pca(phase: Phase, facts: &Facts, parts: &mut Parts) {
    if phase.fits() {
        parts.copy_in_by_columns(facts);
        parts.map(facts.elements(), 1, 1.0, 3.0);
        parts.fold(facts.elements(), facts.d, 1.0, 2.0);
        gram(facts, parts);
        parts.factor(Factor::Eigh, facts.d);
        parts.kernels(KERNELS);
    }
    if phase.uses() {
        parts.copy_in_by_columns(facts);
        project(facts, parts);
    }
}

fn project(facts: &Facts, parts: &mut Parts) {
    let k = Facts::or(facts.components, facts.out).max(1.0);
    parts.map(facts.elements(), 1, 1.0, 2.0);
    parts.times(facts, k, 1.0);
    parts.kernels(10.0);
    parts.bytes_out(Facts::or(facts.outbytes, facts.n * k * facts.size()));
}

/// The same without means, by the eigenvectors of XᵀX too (cuML `tsvd.cuh`); the result of a fit is at hand.
pub(super) fn truncated_svd(phase: Phase, facts: &Facts, parts: &mut Parts) {
    parts.copy_in_by_columns(facts);
    if phase.fits() {
        gram(facts, parts);
        parts.factor(Factor::Eigh, facts.d);
        parts.kernels(KERNELS);
    }
    if phase.uses() {
        project(facts, parts);
    }
}

/// The covariance, by CuPy; its scores are a product with the precision.
pub(super) fn covariance(phase: Phase, facts: &Facts, parts: &mut Parts) {
    parts.copy_in(facts);
    parts.map(facts.elements(), 1, 1.0, 2.0);
    if phase.fits() {
        parts.fold(facts.elements(), facts.d, 1.0, 2.0);
        gram(facts, parts);
        parts.factor(Factor::Eigh, facts.d);
    } else {
        parts.times(facts, facts.d, 1.0);
        parts.result_out(facts);
    }
    parts.kernels(KERNELS);
}
