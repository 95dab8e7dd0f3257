//! Support vector machines.

use super::Phase;
use super::facts::Facts;
use super::parts::Parts;

/// Rows of the working set (cuML `WorkingSet`, 1024 at most).
const WORKING_SET: f64 = 1024.0;
/// Steps of libsvm for each outer round of cuML, which takes many of them within one block. Fitted.
const STEPS: f64 = 150.0;
/// Kernels of an outer round, what one block takes for its steps among them, and of a whole fit, in kernels. Fitted.
const ROUND: f64 = 110.0;
const START: f64 = 2_400.0;
/// Support vectors of a row of the fit where nobody counted them.
const SHARE: f64 = 0.4;

/// SMO on a working set: each outer round computes its rows of the kernel matrix (3·n·1024·d FLOP) and updates all gradients.
pub(super) fn kernel(phase: Phase, facts: &Facts, parts: &mut Parts) {
    parts.copy_in_by_columns(facts);
    let d = facts.width();
    if phase.fits() {
        let rounds = (facts.rounds_done(facts.n) / STEPS).max(4.0);
        let set = facts.n.min(WORKING_SET);
        parts.bytes_in(facts.n * facts.size());
        parts.pairs([facts.n, set, d], 12.0, 1.0, rounds);
        parts.map(facts.n * set, 1, 2.0, rounds);
        parts.kernels(START + ROUND * rounds);
        parts.bytes_out(Facts::or(facts.vectors, SHARE * facts.n) * d * facts.size());
    } else {
        let vectors = Facts::or(facts.vectors, SHARE * facts.fitted);
        parts.pairs([facts.n, vectors, d], 12.0, 1.0, 1.0);
        parts.product(facts.n, 1.0, vectors, 1.0);
        parts.map(facts.n * vectors, 1, 4.0, 2.0);
        parts.kernels(20.0);
        parts.result_out(facts);
    }
}

/// Linear ones are solved as logistic regression is, by L-BFGS.
pub(super) fn linear(phase: Phase, facts: &Facts, parts: &mut Parts) {
    super::linear::logistic(phase, facts, parts);
}
