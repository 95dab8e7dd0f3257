//! Embeddings.

use super::Phase;
use super::facts::Facts;
use super::parts::Parts;

/// Rounds of t-SNE.
const ROUNDS: f64 = 1000.0;
/// Kernels and transforms of a round (cuML `tsne/fft_tsne.cuh`, `barnes_hut_tsne.cuh`), each waited for. Fitted.
const ROUND: f64 = 100.0;
/// Epochs of UMAP up to ten thousand rows and beyond (umap-learn's and cuML's rule).
const EPOCHS: [f64; 2] = [500.0, 200.0];
/// The same of new rows, by their own number (cuML `umapparams.h`).
const NEW_EPOCHS: [f64; 2] = [100.0, 30.0];
/// How often the distances of new rows are worth a fused pass. Fitted.
const NEW_PASSES: f64 = 2.0;
/// Kernels of an epoch. Fitted.
const EPOCH: f64 = 40.0;
/// Kernels of the graph and of the first places, by Lanczos. Fitted.
const START: f64 = 15_000.0;
const NEIGHBOURS: f64 = 15.0;

/// Neighbours by all pairs, then rounds in which each point is pushed and pulled, by Fourier transforms on a grid.
pub(super) fn tsne(_: Phase, facts: &Facts, parts: &mut Parts) {
    parts.copy_in_by_columns(facts);
    parts.pairs([facts.n, facts.n, facts.width()], 1.0, 1.0, 1.0);
    parts.map(facts.n * facts.n, 1, 2.0, 1.0);
    let rounds = Facts::or(facts.limit, ROUNDS);
    parts.map(facts.n * 90.0, 2, 8.0, rounds);
    parts.kernels(ROUND * rounds);
    parts.bytes_out(facts.n * 2.0 * facts.size());
}

/// Neighbours, a fuzzy graph, first places by eigenvectors, then epochs over its edges: with five random points each.
pub(super) fn umap(phase: Phase, facts: &Facts, parts: &mut Parts) {
    let k = Facts::or(facts.neighbours, NEIGHBOURS);
    let fitted = if phase.fits() { facts.n } else { Facts::or(facts.fitted, facts.n) };
    let [few, many] = if phase.fits() { EPOCHS } else { NEW_EPOCHS };
    let epochs = if phase.fits() && facts.epochs > 0.0 {
        facts.epochs
    } else if facts.n > 10_000.0 {
        many
    } else {
        few
    };
    parts.copy_in(facts);
    parts.pairs([facts.n, fitted, facts.width()], 1.0, 1.0, if phase.fits() { 1.0 } else { NEW_PASSES });
    parts.map(facts.n * fitted, 1, 2.0, 1.0);
    parts.gather(facts.n * k * 6.0, facts.n * 2.0, epochs);
    parts.kernels(EPOCH * epochs);
    if phase.fits() {
        parts.kernels(START);
    }
    parts.bytes_out(facts.n * Facts::or(facts.components, 2.0) * 4.0);
}

/// A graph of neighbours and eigenvectors of its Laplacian, by Lanczos: sparse products.
pub(super) fn spectral(_: Phase, facts: &Facts, parts: &mut Parts) {
    let k = Facts::or(facts.neighbours, 10.0);
    parts.copy_in(facts);
    parts.pairs([facts.n, facts.n, facts.width()], 1.0, 1.0, 1.0);
    parts.map(facts.n * facts.n, 1, 2.0, 1.0);
    parts.gather(facts.n * k, facts.n, 300.0);
    parts.kernels(START);
    parts.bytes_out(facts.n * Facts::or(facts.components, 2.0) * 4.0);
}
