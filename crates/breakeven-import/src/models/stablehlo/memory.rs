//! What a function holds in memory at its fullest.

use breakeven::compiled::Graph;
use std::collections::BTreeMap;

/// What gives no array of its own: shapes, repeats.
const FREE: [&str; 6] = ["reshape", "broadcast_in_dim", "iota", "optimization_barrier", "sharding_constraint", "call"];

/// Bytes by role: arguments, weights in the text, and the most results of operations that are needed at once. What XLA
/// fuses is not stored, so that is an upper bound.
pub(super) fn needed(graph: &Graph, inputs: u64, weights: u64) -> BTreeMap<String, u64> {
    let mut last = vec![0; graph.values.len()];
    for (at, node) in graph.nodes.iter().enumerate() {
        node.reads.iter().for_each(|&read| last[read] = at);
    }
    graph.outputs.iter().for_each(|&output| last[output] = usize::MAX);
    let mut ends: BTreeMap<usize, f64> = BTreeMap::new();
    let (mut live, mut most) = (0.0_f64, 0.0_f64);
    for (at, node) in graph.nodes.iter().enumerate() {
        if !FREE.contains(&node.op.as_str()) {
            for &given in &node.gives {
                let bytes = graph.values[given].bytes();
                live += bytes;
                *ends.entry(last[given].max(at)).or_default() += bytes;
            }
        }
        most = most.max(live);
        live -= ends.remove(&at).unwrap_or(0.0);
    }
    let roles = [("input", inputs), ("parameter", weights), ("activation", most.min(1e18) as u64)];
    roles.into_iter().filter(|(_, bytes)| *bytes > 0).map(|(role, bytes)| (role.to_owned(), bytes)).collect()
}
