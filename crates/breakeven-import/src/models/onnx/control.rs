//! Branches and loops: `If`, `Loop`, `Scan`.

use super::array::Array;
use super::call::Call;
use super::proto::Graph;
use super::walk::Walk;
use breakeven::Result;
use breakeven::workload::Dtype;

/// A node that runs graphs.
pub(super) fn of(walk: &mut Walk<'_>, call: &Call<'_>, times: u64) -> Result<()> {
    match call.node.op.as_str() {
        "If" => branch(walk, call, times),
        "Loop" => repeat(walk, call, times),
        _ => scan(walk, call, times),
    }
}

/// The arrays of a graph's outputs.
fn results(walk: &Walk<'_>, graph: &Graph) -> Vec<Option<Array>> {
    graph.outputs.iter().map(|info| walk.look(&info.name).cloned()).collect()
}

fn give(walk: &mut Walk<'_>, call: &Call<'_>, outputs: Vec<Option<Array>>) {
    let outputs = outputs.into_iter().chain(std::iter::repeat(None));
    for (name, output) in call.node.outputs.iter().zip(outputs) {
        // What a graph computes of constants alone is computed in each run all the same.
        walk.set(name, output.map(|array| Array { constant: false, ..array }));
    }
}

/// The branch that a known condition takes, else the dearer one.
fn branch(walk: &mut Walk<'_>, call: &Call<'_>, times: u64) -> Result<()> {
    let known = call.input(0).and_then(|array| array.values.as_ref()?.first().copied());
    let graphs: Vec<&Graph> = match known {
        Some(value) => call.graph(if value == 0.0 { "else_branch" } else { "then_branch" }).into_iter().collect(),
        None => ["then_branch", "else_branch"].iter().filter_map(|name| call.graph(name)).collect(),
    };
    let before = walk.steps.len();
    let mut dearest: Option<(f64, Vec<super::step::Step>, Vec<Option<Array>>)> = None;
    for graph in graphs {
        walk.within([]);
        walk.graph(graph, times)?;
        let outputs = results(walk, graph);
        walk.leave();
        let steps = walk.steps.split_off(before);
        let weight = steps.iter().map(super::step::Step::weight).sum();
        if dearest.as_ref().is_none_or(|(known, ..)| weight > *known) {
            dearest = Some((weight, steps, outputs));
        }
    }
    if known.is_none() {
        walk.uncounted.insert("If: which branch is taken is not known, the dearer one is".to_owned());
    }
    if let Some((_, steps, outputs)) = dearest {
        walk.steps.extend(steps);
        give(walk, call, outputs);
    }
    Ok(())
}

/// Rounds where they are a constant and the condition stays true; else one, which is said.
fn repeat(walk: &mut Walk<'_>, call: &Call<'_>, times: u64) -> Result<()> {
    let Some(body) = call.graph("body") else { return Ok(()) };
    let most = call.input(0).and_then(|array| u64::try_from(*array.ints()?.first()?).ok());
    let carried = body.inputs.len().saturating_sub(2);
    let single = |dtype| Some(Array::new(dtype, Vec::new()));
    let given = (0..carried).map(|place| call.input(place + 2).cloned());
    // What is carried has another value in each round.
    let given = given.map(|array| array.map(|array| Array { values: None, constant: false, ..array }));
    let inputs = [single(Dtype::I64), single(Dtype::Bool)].into_iter().chain(given);
    let named: Vec<_> = body.inputs.iter().map(|info| info.name.clone()).zip(inputs).collect();
    let stays = body.outputs.first().is_some_and(|condition| goes_on(body, &condition.name));
    let rounds = most.filter(|_| stays || !call.has(1));
    let begun: Vec<Option<Vec<u64>>> =
        named.iter().skip(2).map(|(_, array)| array.as_ref().map(|array| array.dims.clone())).collect();
    walk.within(named);
    walk.graph(body, times.saturating_mul(rounds.unwrap_or(1)))?;
    let mut outputs = results(walk, body);
    walk.leave();
    if rounds.is_none() {
        walk.uncounted.insert("Loop: trips unknown, taken to run once".to_owned());
    }
    if !outputs.is_empty() {
        outputs.remove(0);
    }
    for (place, output) in outputs.iter_mut().enumerate() {
        let Some(array) = output else { continue };
        if place >= carried {
            array.dims.insert(0, rounds.unwrap_or(1));
            array.values = None;
        } else if begun.get(place).is_some_and(|dims| dims.as_ref().is_some_and(|dims| *dims != array.dims)) {
            walk.uncounted.insert("Loop: arrays grow from round to round, each taken as in the first".to_owned());
        }
    }
    give(walk, call, outputs);
    Ok(())
}

/// Whether a loop's condition is the one it was given, or always true.
fn goes_on(body: &Graph, condition: &str) -> bool {
    let Some(given) = body.inputs.get(1) else { return false };
    if given.name == condition {
        return true;
    }
    let weight = body.weights.iter().find(|weight| weight.name == condition);
    if let Some(values) = weight.and_then(|weight| weight.values.as_ref()) {
        return values.first().is_some_and(|&value| value != 0.0);
    }
    let Some(node) = body.nodes.iter().find(|node| node.outputs.iter().any(|name| name == condition)) else {
        return false;
    };
    match node.op.as_str() {
        "Identity" | "Cast" => node.inputs.first().is_some_and(|from| from != condition && goes_on(body, from)),
        "Constant" => node.attributes.values().any(|value| match value {
            super::proto::Attribute::Tensor(tensor) => {
                tensor.values.as_ref().and_then(|values| values.first()).is_some_and(|&value| value != 0.0)
            }
            _ => false,
        }),
        _ => false,
    }
}

/// As many rounds as the first sequence is long.
fn scan(walk: &mut Walk<'_>, call: &Call<'_>, times: u64) -> Result<()> {
    let Some(body) = call.graph("body") else { return Ok(()) };
    let sequences = call.int("num_scan_inputs").and_then(|n| usize::try_from(n).ok()).unwrap_or(1);
    let states = call.inputs.len().saturating_sub(sequences);
    let axis = |place: usize| {
        let axes = call.ints("scan_input_axes");
        axes.and_then(|axes| axes.get(place).copied()).unwrap_or(0)
    };
    let rounds = call.input(states).map(|array| array.dim(axis(0)));
    let inputs = call.inputs.iter().enumerate().map(|(place, array)| {
        let array = array.as_ref()?;
        let mut dims = array.dims.clone();
        if place >= states {
            let axis = super::array::axis_of(axis(place - states), dims.len())?;
            (axis < dims.len()).then(|| dims.remove(axis))?;
        }
        Some(Array::new(array.dtype, dims))
    });
    let named: Vec<_> = body.inputs.iter().map(|info| info.name.clone()).zip(inputs).collect();
    walk.within(named);
    walk.graph(body, times.saturating_mul(rounds.unwrap_or(1)))?;
    let mut outputs = results(walk, body);
    walk.leave();
    if rounds.is_none() {
        walk.uncounted.insert("Scan: trips unknown, taken to run once".to_owned());
    }
    for array in outputs.iter_mut().skip(states).flatten() {
        array.dims.insert(0, rounds.unwrap_or(1));
        array.values = None;
    }
    give(walk, call, outputs);
    Ok(())
}
