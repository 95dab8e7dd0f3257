//! Forests.

use super::Phase;
use super::facts::Facts;
use super::parts::Parts;

/// Kernels, copies and waits of one level of one tree, in kernels: the host picks the next nodes between them (cuML
/// `decisiontree/batched-levelalgo/builder.cuh`). Fitted.
const LEVEL: f64 = 70.0;
/// Additions to histograms that go on side by side for each that the model of scattered sums counts. Fitted.
const HISTOGRAM: f64 = 7.0;
/// Bytes of a node as it is read (`nvforest`), and how many nodes are met in the cache.
const TREES: f64 = 100.0;
const DEPTH: f64 = 16.0;
/// Rows that an isolation tree draws.
const DRAWN: f64 = 256.0;

/// Histograms of the tried columns, level by level, tree by tree: n·√d additions a level. Prediction follows each row down
/// each tree.
pub(super) fn forest(phase: Phase, facts: &Facts, parts: &mut Parts) {
    let trees = Facts::or(facts.trees, TREES);
    let depth = Facts::or(facts.depth, DEPTH).min(32.0);
    parts.copy_in(facts);
    if phase.fits() {
        let tried = Facts::or(facts.features, libm::sqrt(facts.d).max(1.0));
        let levels = trees * depth;
        parts.bytes_in(facts.n * facts.size());
        // The quantiles of all columns, and the data by columns.
        parts.map(facts.elements(), 1, 1.0, 4.0);
        parts.scatter(facts.n * tried * HISTOGRAM, tried * 128.0, levels);
        parts.map(facts.n, 1, 2.0, 2.0 * levels);
        parts.kernels(LEVEL * levels);
    } else {
        follow(facts, parts, trees, depth);
        parts.result_out(facts);
    }
}

fn follow(facts: &Facts, parts: &mut Parts, trees: f64, depth: f64) {
    parts.map(facts.elements(), 1, 1.0, 2.0);
    parts.gather(facts.n * trees * depth, Facts::or(facts.nodes, trees * libm::pow(2.0, depth)), 1.0);
    parts.kernels(20.0);
}

/// Trees of few rows: their launches; then each row is followed down each tree.
pub(super) fn isolation(phase: Phase, facts: &Facts, parts: &mut Parts) {
    let trees = Facts::or(facts.trees, TREES);
    let depth = libm::log2(DRAWN);
    if phase.fits() {
        parts.copy_in_by_columns(facts);
        parts.gather(DRAWN * trees * facts.d, facts.elements(), 1.0);
        parts.kernels(20.0 * trees);
    } else {
        parts.copy_in(facts);
    }
    if phase.uses() {
        follow(facts, parts, trees, depth);
        parts.result_out(facts);
    }
}
