//! Small graphs against kernels and arithmetic counted by hand. Real programs are compared with XLA's own compiler in
//! `python/tests/recorders/jax`.

use super::*;
use proptest::prelude::*;
use serde_json::{Value as Json, json};

/// A graph of values `[shape…]` in f32, nodes `(op, reads, gives, facts)`; the inputs are the first ones that no node gives.
fn graph(shapes: &[&[u64]], nodes: &[(&str, &[usize], &[usize], Json)], outputs: &[usize]) -> Json {
    let values: Vec<Json> = shapes.iter().map(|shape| json!({"dtype": "float32", "shape": shape})).collect();
    let given: Vec<usize> = nodes.iter().flat_map(|(_, _, gives, _)| gives.iter().copied()).collect();
    let inputs: Vec<usize> = (0..shapes.len()).filter(|value| !given.contains(value)).collect();
    let nodes: Vec<Json> = nodes
        .iter()
        .map(|(op, reads, gives, facts)| {
            let bodies = facts.get("bodies").cloned().unwrap_or_else(|| json!([]));
            let mut facts = facts.clone();
            facts.as_object_mut().map(|facts| facts.remove("bodies"));
            json!({"op": op, "reads": reads, "gives": gives, "facts": facts, "bodies": bodies})
        })
        .collect();
    json!({"values": values, "inputs": inputs, "outputs": outputs, "nodes": nodes})
}

fn run(graph: &Json) -> Compiled {
    compiled(&serde_json::from_value(graph.clone()).unwrap())
}

fn flop(compiled: &Compiled) -> f64 {
    compiled.parts.iter().map(|part| part.op.flop(part.dtype).get() * part.count as f64).sum()
}

/// `max(x @ w + b, 0)`, of 128×64 and 64×32.
fn dense() -> Json {
    let mut graph = graph(
        &[&[128, 64], &[64, 32], &[32], &[], &[128, 32], &[128, 32], &[128, 32], &[128, 32]],
        &[
            ("dot_general", &[0, 1], &[4], json!({"contract": [1], "contract_right": [0]})),
            ("broadcast_in_dim", &[2], &[5], json!({})),
            ("add", &[4, 5], &[6], json!({})),
            ("max", &[6, 3], &[7], json!({})),
        ],
        &[7],
    );
    graph["values"][3]["constant"] = json!(true);
    graph
}

#[test]
fn a_layer_with_bias_and_relu_is_one_product() {
    let layer = run(&dense());
    let product = Op::Matmul { m: 128, n: 32, k: 64, batch: 1, bias: true };
    assert_eq!(layer.parts, [Part::new(product, Dtype::F32, 1)]);
    assert_eq!(flop(&layer), 2.0 * 128.0 * 32.0 * 64.0 + 128.0 * 32.0);
}

#[test]
fn operations_that_nobody_fuses_are_kernels_of_their_own() {
    let mut apart = dense();
    for (group, node) in apart["nodes"].as_array_mut().unwrap().iter_mut().enumerate() {
        node["group"] = json!(group.div_ceil(2));
    }
    // The product; the bias, broadcast and added; the ReLU.
    let parts: Vec<_> = run(&apart).parts.into_iter().map(|part| part.op.family()).collect();
    assert_eq!(parts.len(), 3, "{parts:?}");
    assert!(flop(&run(&apart)) >= flop(&run(&dense())));
}

#[test]
fn a_soft_max_keeps_its_rows() {
    let (all, row): (&[u64], &[u64]) = (&[64, 1000], &[64]);
    let softmax = run(&graph(
        &[all, row, all, all, all, row, all, all],
        &[
            ("reduce_max", &[0], &[1], json!({"axes": [1]})),
            ("broadcast_in_dim", &[1], &[2], json!({})),
            ("sub", &[0, 2], &[3], json!({})),
            ("exp", &[3], &[4], json!({})),
            ("reduce_sum", &[4], &[5], json!({"axes": [1]})),
            ("broadcast_in_dim", &[5], &[6], json!({})),
            ("div", &[4, 6], &[7], json!({})),
        ],
        &[7],
    ));
    assert_eq!(softmax.kernels(), 1);
    // A maximum, a difference, exp (27), a sum, a quotient (4) for each element.
    assert_eq!(flop(&softmax), 64_000.0 * 34.0);
    assert_eq!((softmax.parts[0].read_bytes, softmax.parts[0].written_bytes), (256_000, 256_000));
}

#[test]
fn a_matrix_times_a_vector_is_a_fold() {
    let shapes: &[&[u64]] = &[&[200, 300], &[300], &[200]];
    let product = [("dot_general", &[0, 1][..], &[2][..], json!({"contract": [1], "contract_right": [0]}))];
    let folded = run(&graph(shapes, &product, &[2]));
    assert!(matches!(folded.parts[..], [Part { op: Op::Reduce { n: 60_000, out: 200, .. }, .. }]), "{folded:?}");
    assert_eq!(flop(&folded), 2.0 * 200.0 * 300.0);
}

#[test]
fn folds_of_all_of_much_take_two_kernels() {
    for (n, kernels) in [(16_384, 1), (1_000_000, 2)] {
        let sum = graph(&[&[n], &[]], &[("reduce_sum", &[0], &[1], json!({"axes": [0]}))], &[1]);
        assert_eq!(run(&sum).kernels(), kernels);
    }
}

/// A body that adds its constant to what it carries.
fn body() -> Json {
    let mut body = graph(&[&[500], &[500], &[500]], &[("add", &[0, 1], &[2], json!({}))], &[2]);
    body["inputs"] = json!([0, 1]);
    body
}

#[test]
fn a_loop_runs_its_body_so_often() {
    let facts = json!({"length": 600, "num_consts": 1, "num_carry": 1, "bodies": [body()]});
    let looped = run(&graph(&[&[500], &[500], &[500]], &[("scan", &[0, 1], &[2], facts)], &[2]));
    assert_eq!(flop(&looped), 600.0 * 500.0);
    // Each round adds and counts; what it begins with is copied.
    assert_eq!(looped.kernels(), 1201);
}

fn while_loop(rounds: Option<u64>) -> Compiled {
    let condition = graph(&[&[500], &[]], &[("reduce_sum", &[0], &[1], json!({"axes": [0]}))], &[1]);
    let mut facts = json!({"cond_nconsts": 0, "body_nconsts": 1, "bodies": [condition, body()]});
    if let Some(rounds) = rounds {
        facts["rounds"] = json!(rounds);
    }
    run(&graph(&[&[500], &[500], &[500]], &[("while", &[0, 1], &[2], facts)], &[2]))
}

#[test]
fn a_condition_is_read_before_each_round_and_once_more() {
    let counted = while_loop(Some(7));
    assert_eq!(flop(&counted), 7.0 * 500.0 + 8.0 * 500.0);
    let reads = counted.parts.iter().find(|part| matches!(part.op, Op::Transfer { .. })).unwrap();
    assert_eq!(reads.count, 8);
    assert!(counted.uncounted.is_empty());
    assert_eq!(while_loop(None).uncounted, ["while"]);
    assert_eq!(flop(&while_loop(Some(0))), 500.0);
}

#[test]
fn of_branches_those_taken_count_or_the_dearest() {
    let small = graph(&[&[500], &[500]], &[("neg", &[0], &[1], json!({}))], &[1]);
    let large =
        graph(&[&[500], &[500], &[500]], &[("neg", &[0], &[1], json!({})), ("exp", &[1], &[2], json!({}))], &[2]);
    let branches = |facts: Json| {
        let mut facts = facts;
        facts["bodies"] = json!([small, large]);
        run(&graph(&[&[], &[500], &[500]], &[("cond", &[0, 1], &[2], facts)], &[2]))
    };
    assert_eq!(flop(&branches(json!({"taken": [3, 1]}))), 3.0 * 500.0 + 500.0 * 28.0);
    let unknown = branches(json!({}));
    assert_eq!(unknown.uncounted, ["cond"]);
}

#[test]
fn what_has_no_meaning_is_named_and_opaque() {
    let strange = run(&graph(&[&[5], &[5]], &[("frobnicate", &[0], &[1], json!({}))], &[1]));
    assert_eq!(strange.unknown, ["frobnicate"]);
    assert_eq!(strange.op(), Op::Opaque);
}

#[test]
fn what_is_no_graph_is_refused() {
    for text in ["", "[]", r#"{"values": [], "outputs": [3], "nodes": []}"#] {
        assert!(answer(text).is_err(), "{text}");
    }
    let told = answer(&dense().to_string()).unwrap();
    assert!(told.starts_with(r#"{"told":{"op":{"routine":{"parts":[{"op":{"matmul""#), "{told}");
}

proptest! {
    #[test]
    fn more_rows_never_need_less(rows in 1u64..4096, more in 0u64..4096) {
        let chain = |rows: u64| {
            let shape: &[u64] = &[rows, 30];
            let nodes = [("exp", &[0][..], &[1][..], json!({})), ("mul", &[0, 1][..], &[2][..], json!({}))];
            let compiled = run(&graph(&[shape, shape, shape], &nodes, &[2]));
            let bytes: u64 = compiled.parts.iter().map(Part::told_bytes).sum();
            (flop(&compiled), bytes)
        };
        let (few, many) = (chain(rows), chain(rows + more));
        prop_assert!(few.0 <= many.0 && few.1 <= many.1);
    }

    /// Whatever a tracer writes, nothing panics.
    #[test]
    fn any_shapes_and_axes(dims in prop::collection::vec(0u64..9, 0..4), axes in prop::collection::vec(0u64..9, 0..3), op in 0usize..8) {
        let names = ["dot_general", "reduce_sum", "sort", "transpose", "cumsum", "svd", "conv_general_dilated", "fft"];
        let facts = json!({"axes": axes, "contract": axes, "contract_right": axes, "batch": axes, "batch_right": [],
            "permutation": axes, "axis": 7, "dimension": 7, "fft_lengths": axes, "kernel": axes});
        let compiled = run(&graph(&[&dims, &dims, &dims], &[(names[op], &[0, 1], &[2], facts)], &[2]));
        prop_assert!(flop(&compiled) >= 0.0);
    }
}
