//! Estimators: what a fit or a prediction is on a GPU, from the sizes that a recorder tells.
//!
//! A rule is `learn:ALGORITHM:PHASE`. Each algorithm's file says what cuML does (and boosting libraries by themselves), with
//! the counts of FLOP, passes and kernels in one place. cuml.accel takes NumPy's arrays and gives NumPy's arrays: each call
//! copies its data in and its result out. How far times are from the sums of these parts is in the ports' table, by
//! `accuracy/src/frames.rs`.

mod boosting;
mod clusters;
mod decomposition;
mod facts;
mod linear;
mod manifold;
mod neighbours;
mod parts;
mod preprocessing;
mod svm;
#[cfg(test)]
mod tests;
mod trees;

use super::{Call, Lowered};
use crate::workload::Op;
use facts::Facts;
use parts::Parts;

/// What of an estimator is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// It learns.
    Fit,
    /// It is used: predicts, transforms, looks up.
    Use,
    /// It learns from data and is used on the same.
    Both,
}

macro_rules! algorithms {
    ($($variant:ident $name:literal $parts:path),* $(,)?) => {
        /// An algorithm whose work is known.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[expect(missing_docs, reason = "the names are the algorithms' own")]
        pub enum Algorithm { $($variant),* }

        impl Algorithm {
            /// Every one.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// As rules name it.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),* }
            }

            fn parts(self, phase: Phase, facts: &Facts, parts: &mut Parts) {
                match self { $(Self::$variant => $parts(phase, facts, parts)),* }
            }
        }
    };
}
algorithms! {
    KMeans "kmeans" clusters::kmeans, Dbscan "dbscan" clusters::dbscan, Hdbscan "hdbscan" clusters::hdbscan,
    Spectral "spectral" clusters::spectral,
    LeastSquares "least_squares" linear::least_squares, Coordinates "coordinates" linear::coordinates,
    Logistic "logistic" linear::logistic, KernelRidge "kernel_ridge" linear::kernel_ridge,
    Svc "svc" svm::kernel, LinearSvc "linear_svc" svm::linear,
    Forest "forest" trees::forest, Isolation "isolation" trees::isolation,
    Neighbours "neighbours" neighbours::nearest, Density "density" neighbours::density,
    Pca "pca" decomposition::pca, TruncatedSvd "truncated_svd" decomposition::truncated_svd,
    Covariance "covariance" decomposition::covariance,
    Tsne "tsne" manifold::tsne, Umap "umap" manifold::umap, SpectralEmbedding "spectral_embedding" manifold::spectral,
    Scaler "scaler" preprocessing::scaler, Polynomial "polynomial" preprocessing::polynomial,
    Encoder "encoder" preprocessing::encoder, Labels "labels" preprocessing::labels,
    Xgboost "xgboost" boosting::xgboost, Lightgbm "lightgbm" boosting::lightgbm, Catboost "catboost" boosting::catboost,
}

impl Algorithm {
    pub(super) fn parse(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|algorithm| algorithm.name() == name)
    }
}

impl Phase {
    pub(super) fn parse(name: &str) -> Option<Self> {
        Some(match name {
            "fit" => Self::Fit,
            "use" => Self::Use,
            "both" => Self::Both,
            _ => return None,
        })
    }

    /// Whether it learns.
    const fn fits(self) -> bool {
        matches!(self, Self::Fit | Self::Both)
    }

    /// Whether something comes of it.
    const fn uses(self) -> bool {
        matches!(self, Self::Use | Self::Both)
    }
}

/// The op of a call by what its recorder tells; `Op::Opaque` where that does not read.
pub(super) fn op(algorithm: Algorithm, phase: Phase, call: &Call) -> Lowered {
    let Some(facts) = call.keyword("facts").and_then(Facts::read) else {
        return Lowered { op: Op::Opaque, dtype: crate::workload::Dtype::F64, read: 0, written: 0 };
    };
    let dtype = facts.dtype();
    let mut parts = Parts::new(dtype);
    algorithm.parts(phase, &facts, &mut parts);
    let bytes = |bytes: f64| bytes.clamp(0.0, 1e18) as u64;
    Lowered { op: parts.done(), dtype, read: bytes(facts.bytes()), written: bytes(facts.outbytes) }
}
