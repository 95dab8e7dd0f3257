//! A compiled function as the kernels that XLA makes of it on a GPU.
//!
//! [`compiled`] takes a [`Graph`] of primitive operations, forms kernels by the rules of `fuse.rs`, and gives the ops of
//! those, with how often each runs. Arithmetic is counted by the families' own formulas, each step once.

mod flat;
mod fuse;
mod graph;
mod library;
mod loops;
mod meaning;
mod merge;
mod price;
#[cfg(test)]
mod tests;

pub use graph::{Fact, Graph, Node, Value};

use crate::workload::{Dtype, Op};
use serde::Serialize;

/// What a compiled function runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Compiled {
    /// The ops, with how often each runs.
    pub parts: Vec<Part>,
    /// Primitives that have no meaning here, and loops and branches that nobody counted.
    pub unknown: Vec<String>,
}

/// One op of a compiled function.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Part {
    /// What it does.
    pub op: Op,
    /// In which type.
    pub dtype: Dtype,
    /// How often it runs.
    pub count: u64,
}

/// The kernels of a function.
pub fn compiled(graph: &Graph) -> Compiled {
    let mut total = loops::Total::default();
    total.function(graph, 1.0);
    let mut parts: Vec<Part> = Vec::new();
    for (priced, times) in total.parts {
        let count = times.round().max(1.0) as u64;
        match parts.iter_mut().find(|part| part.op == priced.op && part.dtype == priced.dtype) {
            Some(part) => part.count = part.count.saturating_add(count),
            None => parts.push(Part { op: priced.op, dtype: priced.dtype, count }),
        }
    }
    Compiled { parts, unknown: total.unknown.into_iter().collect() }
}

impl Compiled {
    /// How many kernels that is.
    pub fn kernels(&self) -> u64 {
        let launched = |part: &&Part| part.op.is_array_work();
        self.parts.iter().filter(launched).fold(0, |n, part| n.saturating_add(part.count))
    }
}
