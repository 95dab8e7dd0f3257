//! Gradient boosting: histograms of gradients, level by level or leaf by leaf.

use super::Phase;
use super::facts::Facts;
use super::parts::Parts;
use crate::workload::op::Sort;

const ROUNDS: f64 = 100.0;
const DEPTH: f64 = 6.0;
const LEAVES: f64 = 31.0;

/// What one library does.
struct Way {
    /// Kernels, copies and waits of one level or one leaf, in kernels. Fitted.
    step: f64,
    /// Sums at once: how many additions to histograms the model counts for each row and column. Fitted.
    additions: f64,
    /// Kernels of a round beside.
    round: f64,
}

/// XGBoost `hist` on CUDA: each level adds each row's gradient to the bins of its columns (`gpu_hist/histogram.cu`).
const XGBOOST: Way = Way { step: 110.0, additions: 1.0, round: 60.0 };
/// LightGBM grows leaf by leaf: the smaller child is added up, the larger is the rest.
const LIGHTGBM: Way = Way { step: 22.0, additions: 8.0, round: 60.0 };
/// CatBoost's trees are the same test across a level.
const CATBOOST: Way = Way { step: 300.0, additions: 3.5, round: 200.0 };

pub(super) fn xgboost(phase: Phase, facts: &Facts, parts: &mut Parts) {
    let depth = Facts::or(facts.depth, DEPTH);
    let levels = if facts.leaves > 0.0 { libm::log2(facts.leaves).max(1.0) } else { depth };
    boosted(phase, facts, parts, &XGBOOST, [levels, levels]);
}

pub(super) fn lightgbm(phase: Phase, facts: &Facts, parts: &mut Parts) {
    let leaves = Facts::or(facts.leaves, LEAVES);
    // Half the rows of a level are added up.
    boosted(phase, facts, parts, &LIGHTGBM, [leaves, libm::log2(leaves).max(1.0) / 2.0]);
}

pub(super) fn catboost(phase: Phase, facts: &Facts, parts: &mut Parts) {
    let depth = Facts::or(facts.depth, DEPTH);
    boosted(phase, facts, parts, &CATBOOST, [depth, depth]);
}

/// `steps` of the host a tree, and how often each tree adds up all rows.
fn boosted(phase: Phase, facts: &Facts, parts: &mut Parts, way: &Way, [steps, levels]: [f64; 2]) {
    let trees = Facts::or(facts.rounds, ROUNDS) * Facts::or(facts.groups, 1.0);
    if !phase.fits() {
        parts.copy_in(facts);
        parts.gather(facts.n * trees * levels, trees * libm::pow(2.0, levels.min(16.0)), 1.0);
        parts.kernels(20.0);
        return parts.result_out(facts);
    }
    // A booster's update is told round by round; its data are copied and cut into bins at the first.
    if facts.first > 0.0 || facts.rounds > 1.0 {
        parts.copy_in(facts);
        parts.sort(Sort::Sort, 1.0, facts.elements(), 1.0);
        parts.map(facts.elements(), 1, 8.0, 2.0);
    }
    parts.map(facts.n, 2, 8.0, 2.0 * trees);
    parts.scatter(facts.elements() * way.additions, facts.d * 256.0, trees * levels);
    parts.map(facts.n, 2, 1.0, trees * levels);
    parts.kernels(trees * (steps * way.step + way.round));
}
