//! What a model runs, node by node, before it becomes a workload.

use super::call::Work;
use breakeven::port::{self, Counterpart};
use breakeven::workload::Op;

/// A node that runs.
#[derive(Clone, Debug)]
pub(super) struct Step {
    /// `onnx.Conv`.
    pub(super) function: String,
    /// The node's own name.
    pub(super) name: String,
    /// Its place among the nodes, from 1.
    pub(super) line: u32,
    pub(super) inputs: Vec<String>,
    pub(super) outputs: Vec<String>,
    pub(super) work: Work,
    /// Bytes of what it reads and makes.
    pub(super) read: u64,
    pub(super) written: u64,
    /// Of what it reads, that is no weight.
    pub(super) fresh: u64,
    /// How often it runs in one run of the model.
    pub(super) times: u64,
}

impl Step {
    /// What its kernels have to do, for comparison.
    pub(super) fn weight(&self) -> f64 {
        let Work::Kernels(kernels) = &self.work else { return 0.0 };
        let each = kernels.iter().map(|(op, dtype)| op.flop(*dtype).get() / 10.0 + op.min_bytes(*dtype).get());
        each.sum::<f64>() * self.times as f64
    }

    /// Whether ONNX Runtime has a kernel for GPUs.
    pub(super) fn on_device(&self) -> bool {
        let profile = port::of(&self.function);
        !matches!(profile.counterpart(&self.function), Counterpart::Host(_))
    }

    /// The first kernel's op.
    pub(super) fn op(&self) -> Option<&Op> {
        match &self.work {
            Work::Kernels(kernels) => kernels.first().map(|(op, _)| op),
            _ => None,
        }
    }
}

/// The name of an operator in the engine's tables.
pub(super) fn function(domain: &str, op: &str) -> String {
    match domain {
        "" => format!("onnx.{op}"),
        "com.microsoft" => format!("onnx.microsoft.{op}"),
        "ai.onnx.ml" => format!("onnx.ml.{op}"),
        other => format!("onnx.{other}.{op}"),
    }
}
