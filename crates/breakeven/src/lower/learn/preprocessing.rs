//! Scaling and encoding.

use super::Phase;
use super::facts::Facts;
use super::parts::Parts;
use crate::workload::op::Sort;

/// Passes of a fit: scikit-learn's own code on CuPy counts what is missing, sums, centres, sums squares, corrects. Fitted.
const FIT: f64 = 24.0;
/// Columns that are folded at once, by a block each: reading a row takes a block as long as this many elements would take the
/// device. Fitted.
const ROW: f64 = 8_000.0;
const KERNELS: f64 = 60.0;

/// Scalers are scikit-learn's own on CuPy's arrays, by the array API. `fit_transform` copies its data in twice.
pub(super) fn scaler(phase: Phase, facts: &Facts, parts: &mut Parts) {
    if phase.fits() {
        parts.copy_in(facts);
        parts.map(facts.elements(), 1, 1.0, FIT);
        parts.map(facts.n * ROW, 1, 1.0, 1.0);
        parts.kernels(KERNELS);
    }
    if phase.uses() {
        parts.copy_in(facts);
        parts.map(facts.elements(), 2, 1.0, 3.0);
        parts.kernels(KERNELS / 4.0);
        parts.bytes_out(facts.elements() * facts.size());
    }
}

/// Products of columns: what comes out is written column by column.
pub(super) fn polynomial(phase: Phase, facts: &Facts, parts: &mut Parts) {
    parts.copy_in(facts);
    if phase.uses() {
        let degree = Facts::or(facts.degree, 2.0).min(8.0);
        let columns = Facts::or(facts.out, libm::pow(facts.d, degree) / 2.0);
        parts.map(facts.n * columns, 2, 1.0, 2.0);
        parts.kernels(2.0 * facts.d * degree);
        parts.bytes_out(Facts::or(facts.outbytes, facts.n * columns * facts.size()));
    }
    parts.kernels(KERNELS);
}

/// Categories column by column: an order for a fit, a look-up for a transform (cuDF).
pub(super) fn encoder(phase: Phase, facts: &Facts, parts: &mut Parts) {
    parts.copy_in(facts);
    if phase.fits() {
        parts.sort(Sort::Unique, 1.0, facts.n, facts.d);
        parts.kernels(20.0 * facts.d);
    }
    if phase.uses() {
        parts.gather(facts.n, facts.n, facts.d);
        parts.kernels(20.0 * facts.d);
        parts.result_out(facts);
    }
}

/// The same of one column.
pub(super) fn labels(phase: Phase, facts: &Facts, parts: &mut Parts) {
    let one = Facts { d: 1.0, nnz: 0.0, ..facts.clone() };
    encoder(phase, &one, parts);
}
