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

use crate::workload::{Dtype, Op, Part};
use serde::Serialize;

/// What a compiled function runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Compiled {
    /// The kernels by what they do, with how often each runs.
    pub parts: Vec<Part>,
    /// Primitives that have no meaning here.
    pub unknown: Vec<String>,
    /// Loops and branches whose rounds nobody counted, by their primitive: they count as run once, or as the dearest.
    pub uncounted: Vec<String>,
    /// Whether it calls the host.
    pub calls_host: bool,
}

/// The kernels of a function.
pub fn compiled(graph: &Graph) -> Compiled {
    let mut total = loops::Total::default();
    total.function(graph, 1.0);
    total.results_that_are_given(graph);
    let mut parts: Vec<Part> = Vec::new();
    let mut calls_host = false;
    for (part, times) in total.parts {
        if part.op == Op::HostOnly {
            calls_host = true;
            continue;
        }
        let count = times.round().max(1.0) as u64;
        match parts.iter_mut().find(|known| Part { count: 1, ..(*known).clone() } == part) {
            Some(known) => known.count = known.count.saturating_add(count),
            None => parts.push(Part { count, ..part }),
        }
    }
    let (unknown, uncounted) = (total.unknown.into_iter().collect(), total.uncounted.into_iter().collect());
    Compiled { parts, unknown, uncounted, calls_host }
}

impl Compiled {
    /// How many kernels that is.
    pub fn kernels(&self) -> u64 {
        let launched = |part: &&Part| part.op.is_array_work();
        self.parts.iter().filter(launched).fold(0, |n, part| n.saturating_add(part.count))
    }

    /// The op that a call of it is; one that holds what nobody understands is that as a whole.
    pub fn op(self) -> Op {
        if self.unknown.is_empty() { Op::Routine { parts: self.parts } } else { Op::Opaque }
    }
}

/// The answer to [`answer`].
#[derive(Debug, Serialize)]
struct Answer {
    /// What a recorder tells of a call: the keyword `op` of an event.
    told: Told,
    kernels: u64,
    unknown: Vec<String>,
    uncounted: Vec<String>,
    calls_host: bool,
}

#[derive(Debug, Serialize)]
struct Told {
    op: Op,
    dtype: Dtype,
}

/// A graph's kernels, JSON in, JSON out: `{"told": {"op": …, "dtype": …}, "kernels": 5, "unknown": [], "uncounted": [],
/// "calls_host": false}`. What is no graph gives what is wrong with it.
pub fn answer(graph: &str) -> Result<String, String> {
    let graph: Graph = serde_json::from_str(graph).map_err(|error| error.to_string())?;
    if !graph.is_whole() {
        return Err("a node names a value that is not there".to_owned());
    }
    let compiled = compiled(&graph);
    let (kernels, unknown, uncounted) = (compiled.kernels(), compiled.unknown.clone(), compiled.uncounted.clone());
    let calls_host = compiled.calls_host;
    let dtype = graph.values.iter().find(|value| !value.constant).map_or(Dtype::F32, |value| value.dtype);
    let answer = Answer { told: Told { op: compiled.op(), dtype }, kernels, unknown, uncounted, calls_host };
    serde_json::to_string(&answer).map_err(|error| error.to_string())
}
