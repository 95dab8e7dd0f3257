//! Clusters.

use super::Phase;
use super::facts::Facts;
use super::parts::Parts;

/// Rounds that a fit by k-means|| spends on its first centres (cuML: `initKMeansPlusPlus`, eight rounds of oversampling with
/// draws between them), in rounds of its own loop. Fitted.
const START: f64 = 55.0;
/// Where nobody counted rounds.
const ROUNDS: f64 = 20.0;
/// Kernels of a round: norms, fused nearest centre, sums by key, division, shift, tests (cuvs `kmeans_fit_main`).
const KERNELS: f64 = 12.0;
/// Kernels of DBSCAN beside its distances: scans and rounds of labels that spread (cuML `dbscan/runner.cuh`).
const DBSCAN_KERNELS: f64 = 130.0;
/// Kernels of HDBSCAN beside its distances: Borůvka's rounds for the tree, its condensation, selection, labels.
const HDBSCAN_KERNELS: f64 = 1400.0;

/// Lloyd's rounds: nearest of k centres by a product (2·n·k·d FLOP), then sums by label: the data are read twice.
pub(super) fn kmeans(phase: Phase, facts: &Facts, parts: &mut Parts) {
    let k = Facts::or(facts.clusters, 8.0);
    parts.copy_in(facts);
    let mut rounds = |count: f64| {
        parts.times(facts, k, count);
        parts.map(facts.n * k, 1, 2.0, count);
        parts.fold(facts.elements(), k * facts.d, 1.0, count);
        parts.kernels(KERNELS * count);
    };
    if phase.fits() {
        rounds(START + facts.rounds_done(ROUNDS) * Facts::or(facts.inits, 1.0));
    }
    if phase.uses() {
        rounds(1.0);
    }
    parts.result_out(facts);
}

/// Distances of all pairs twice: how many neighbours each has, then which (cuML `vertexdeg`, `adjgraph`).
pub(super) fn dbscan(_: Phase, facts: &Facts, parts: &mut Parts) {
    parts.copy_in(facts);
    parts.pairs([facts.n, facts.n, facts.width()], 1.0, 0.25, 2.0);
    parts.fold(facts.n * facts.n, facts.n, 1.0, 1.0);
    parts.kernels(DBSCAN_KERNELS);
    parts.bytes_out(facts.n * 8.0);
}

/// Neighbours of all by all pairs, a minimum spanning tree of mutual reachability, then trees of clusters.
pub(super) fn hdbscan(_: Phase, facts: &Facts, parts: &mut Parts) {
    parts.copy_in(facts);
    parts.pairs([facts.n, facts.n, facts.width()], 1.0, 1.0, 2.0);
    parts.map(facts.n * facts.n, 1, 1.0, 2.0);
    parts.kernels(HDBSCAN_KERNELS);
    parts.bytes_out(facts.n * 12.0);
}

/// A graph of neighbours, eigenvectors of its Laplacian by Lanczos, k-means of those.
pub(super) fn spectral(phase: Phase, facts: &Facts, parts: &mut Parts) {
    super::manifold::spectral(phase, facts, parts);
    let k = Facts::or(facts.clusters, 8.0);
    parts.product(facts.n, k, k, START);
    parts.kernels(KERNELS * START);
}
