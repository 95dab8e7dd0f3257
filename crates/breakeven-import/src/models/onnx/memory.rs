//! What a model holds in memory at its fullest.

use super::step::Step;
use std::collections::{BTreeMap, HashMap};

/// Bytes by role: weights, inputs, and the most results that are needed at once; `roots` are values that others are under
/// a new name or shape.
pub(super) fn needed(
    steps: &[Step],
    sizes: &HashMap<String, u64>,
    roots: &HashMap<String, String>,
    weights: u64,
    inputs: u64,
    results: &[&str],
) -> BTreeMap<String, u64> {
    let root = |name: &'_ str| roots.get(name).map_or_else(|| name.to_owned(), String::clone);
    let mut last: HashMap<String, usize> = HashMap::new();
    for (at, step) in steps.iter().enumerate() {
        step.inputs.iter().chain(&step.outputs).for_each(|name| {
            last.insert(root(name), at);
        });
    }
    results.iter().for_each(|name| {
        last.insert(root(name), usize::MAX);
    });
    let mut ends: HashMap<usize, u64> = HashMap::new();
    let (mut live, mut most) = (0_u64, 0_u64);
    for (at, step) in steps.iter().enumerate() {
        for name in step.outputs.iter().filter(|name| !name.is_empty()) {
            let bytes = sizes.get(name).copied().unwrap_or(0);
            live = live.saturating_add(bytes);
            let end = ends.entry(last.get(&root(name)).copied().unwrap_or(at)).or_default();
            *end = end.saturating_add(bytes);
        }
        most = most.max(live);
        live = live.saturating_sub(ends.remove(&at).unwrap_or(0));
    }
    let roles = [("parameter", weights), ("input", inputs), ("activation", most)];
    roles.into_iter().filter(|(_, bytes)| *bytes > 0).map(|(role, bytes)| (role.to_owned(), bytes)).collect()
}
