//! Linear models.

use super::Phase;
use super::facts::Facts;
use super::parts::Parts;
use crate::workload::op::Factor;

/// Kernels of a solve beside its products: means, copies, checks.
const KERNELS: f64 = 40.0;
/// Passes over the data that prepare it: a copy by columns, means, and their subtraction.
const PREPARED: f64 = 3.0;
/// Rounds of coordinate descent where nobody counted them.
const ROUNDS: f64 = 10.0;
/// Kernels of one coordinate: a dot product, a soft threshold, an update of the residual (cuML `cdFit`).
const COORDINATE: f64 = 4.0;
/// Where nobody counted rounds of L-BFGS.
const NEWTON_ROUNDS: f64 = 50.0;
/// Kernels of a round of L-BFGS, its line search included (cuML `qn_solvers.cuh`).
const NEWTON: f64 = 45.0;

fn predict(facts: &Facts, parts: &mut Parts) {
    let columns = Facts::or(facts.classes, 1.0);
    parts.copy_in(facts);
    parts.times(facts, if columns > 2.0 { columns } else { 1.0 }, 1.0);
    parts.kernels(4.0);
    parts.result_out(facts);
}

/// Ordinary and ridge regression: the Gram matrix XᵀX (2·n·d² FLOP) and its eigenvalues (cuML `lstsqEig`, `ridgeEig`).
pub(super) fn least_squares(phase: Phase, facts: &Facts, parts: &mut Parts) {
    if !phase.fits() {
        return predict(facts, parts);
    }
    parts.copy_in(facts);
    parts.bytes_in(facts.n * facts.size());
    parts.map(facts.elements(), 1, 1.0, PREPARED);
    parts.fold(facts.elements(), facts.d, 1.0, 2.0);
    gram(facts, parts);
    parts.times(facts, 1.0, 2.0);
    parts.factor(Factor::Eigh, facts.d);
    parts.kernels(KERNELS);
}

/// XᵀX, by tiles of 128×128, each on one multiprocessor: with few columns most of the device idles.
pub(super) fn gram(facts: &Facts, parts: &mut Parts) {
    parts.product(facts.d, facts.d, facts.n, 1.0);
}

/// Lasso and elastic net: coordinate descent, for which columns lie together; each round reads each column twice and writes the
/// residual once a column.
pub(super) fn coordinates(phase: Phase, facts: &Facts, parts: &mut Parts) {
    if !phase.fits() {
        return predict(facts, parts);
    }
    parts.copy_in_by_columns(facts);
    parts.bytes_in(facts.n * facts.size());
    parts.map(facts.elements(), 1, 1.0, PREPARED);
    let columns = facts.rounds_done(ROUNDS) * facts.d;
    parts.fold(facts.n, 1.0, 2.0, columns);
    parts.map(facts.n, 2, 2.0, columns);
    parts.kernels((COORDINATE - 2.0) * columns);
}

/// Logistic regression by L-BFGS: each round two products with the data, and a line search.
pub(super) fn logistic(phase: Phase, facts: &Facts, parts: &mut Parts) {
    if !phase.fits() {
        return predict(facts, parts);
    }
    let columns = if facts.classes > 2.0 { facts.classes } else { 1.0 };
    let rounds = facts.rounds_done(NEWTON_ROUNDS);
    parts.copy_in(facts);
    parts.bytes_in(facts.n * facts.size());
    parts.times(facts, columns, 3.0 * rounds);
    parts.map(facts.n * columns, 2, 10.0, 2.0 * rounds);
    parts.kernels(NEWTON * rounds);
}

/// Kernel ridge: the kernel of all pairs and a Cholesky solve; of new rows with the fitted ones.
pub(super) fn kernel_ridge(phase: Phase, facts: &Facts, parts: &mut Parts) {
    parts.copy_in(facts);
    if phase.fits() {
        parts.pairs([facts.n, facts.n, facts.width()], 10.0, 1.0, 1.0);
        parts.factor(Factor::Cholesky, facts.n);
        parts.factor(Factor::TriangularSolve, facts.n);
    } else {
        let fitted = Facts::or(facts.fitted, facts.n);
        parts.pairs([facts.n, fitted, facts.width()], 10.0, 1.0, 1.0);
        parts.product(facts.n, 1.0, fitted, 1.0);
        parts.result_out(facts);
    }
    parts.kernels(KERNELS);
}
