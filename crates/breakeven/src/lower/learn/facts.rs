//! What a recorder tells of a call of an estimator: sizes of the data, of the model, rounds done.

use crate::workload::Dtype;
use serde::Deserialize;

/// The keyword `facts`, as JSON. What is not told is 0.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Facts {
    /// Rows and columns of the data.
    pub(super) n: f64,
    pub(super) d: f64,
    pub(super) dtype: String,
    /// `C` or `F`: whether rows or columns lie together.
    pub(super) order: String,
    /// Stored elements, where the data are sparse.
    pub(super) nnz: f64,
    /// Columns and bytes of the result.
    pub(super) out: f64,
    pub(super) outbytes: f64,
    /// Rounds done, and the most allowed.
    pub(super) iterations: f64,
    pub(super) limit: f64,
    pub(super) clusters: f64,
    pub(super) components: f64,
    pub(super) neighbours: f64,
    pub(super) classes: f64,
    /// Support vectors.
    pub(super) vectors: f64,
    /// Rows that the model was fitted on, where it keeps them.
    pub(super) fitted: f64,
    /// Trees, nodes of all, the deepest, columns tried at a split.
    pub(super) trees: f64,
    pub(super) nodes: f64,
    pub(super) depth: f64,
    pub(super) features: f64,
    /// Of boosting: rounds, leaves of a tree, trees a round; whether the data are new to the device.
    pub(super) rounds: f64,
    pub(super) leaves: f64,
    pub(super) groups: f64,
    pub(super) first: f64,
    pub(super) epochs: f64,
    pub(super) degree: f64,
    pub(super) inits: f64,
    pub(super) solver: String,
}

impl Facts {
    /// Reads them; `None` where the text is none, or says nothing of the data.
    pub(super) fn read(text: &str) -> Option<Self> {
        let facts: Self = serde_json::from_str(text).ok().filter(|_| text.starts_with('{'))?;
        let counts = [facts.n, facts.d, facts.nnz, facts.outbytes, facts.iterations, facts.rounds, facts.nodes];
        counts.iter().all(|count| count.is_finite() && *count >= 0.0).then_some(facts)
    }

    /// What it computes in: cuML has no halves, and whole numbers become single precision where they fit it.
    pub(super) fn dtype(&self) -> Dtype {
        if self.dtype == "f32" { Dtype::F32 } else { Dtype::F64 }
    }

    /// Bytes of one element.
    pub(super) fn size(&self) -> f64 {
        self.dtype().bytes() as f64
    }

    /// Elements of the data.
    pub(super) fn elements(&self) -> f64 {
        if self.nnz > 0.0 { self.nnz } else { self.n * self.d }
    }

    /// Elements of a row: those that are stored.
    pub(super) fn width(&self) -> f64 {
        self.elements() / self.n.max(1.0)
    }

    /// Bytes of the data: with an index beside each element where they are sparse.
    pub(super) fn bytes(&self) -> f64 {
        let index = if self.nnz > 0.0 { 4.0 } else { 0.0 };
        self.elements() * (self.size() + index)
    }

    /// Rounds done; where nobody counted them, `else_`.
    pub(super) fn rounds_done(&self, otherwise: f64) -> f64 {
        if self.iterations > 0.0 { self.iterations } else { otherwise }
    }

    /// A count that may not have been told.
    pub(super) fn or(told: f64, otherwise: f64) -> f64 {
        if told > 0.0 { told } else { otherwise }
    }
}
