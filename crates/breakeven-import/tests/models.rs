//! Model files against work counted by hand; the same cut and changed at any byte.

use breakeven::workload::{Op, Workload};
use breakeven_import::{Given, Model, Source, is_model, read_model};
use proptest::prelude::*;
use std::io::{Cursor, Write};

const DENSE: &str = include_str!("fixtures/dense.mlir");

fn model(bytes: &[u8], given: &Given) -> breakeven::Result<Model> {
    let source = Source::from_bytes("model", bytes)?;
    assert!(is_model(source.head()));
    read_model(source, given)
}

fn flop(model: &Model) -> f64 {
    model.workload.ops.iter().map(|entry| entry.flop().get()).sum()
}

fn codes(model: &Model) -> Vec<&str> {
    model.not_read.iter().map(|note| note.code).collect()
}

/// Whatever was read is a workload that reads again.
fn sound(bytes: &[u8]) {
    let read = Source::from_bytes("model", bytes).and_then(|source| read_model(source, &Given::default()));
    match read {
        Ok(model) => {
            let json = model.workload.to_json().unwrap();
            Workload::from_json(json.as_bytes()).unwrap();
        }
        Err(error) => assert!(error.hint.is_some(), "{error}"),
    }
}

/// A field of protobuf that holds bytes.
fn long(number: u8, bytes: &[u8]) -> Vec<u8> {
    let mut field = vec![number << 3 | 2];
    let mut length = bytes.len();
    while length >= 0x80 {
        field.push(length as u8 | 0x80);
        length >>= 7;
    }
    field.push(length as u8);
    [field, bytes.to_vec()].concat()
}

fn number(field: u8, n: u8) -> Vec<u8> {
    vec![field << 3, n]
}

fn node(op: &str, inputs: &[&str], output: &str, attributes: &[Vec<u8>]) -> Vec<u8> {
    let mut node: Vec<u8> = inputs.iter().flat_map(|name| long(1, name.as_bytes())).collect();
    node.extend(long(2, output.as_bytes()));
    node.extend(long(4, op.as_bytes()));
    node.extend(attributes.iter().flat_map(|attribute| long(5, attribute)));
    long(1, &node)
}

fn ints(name: &str, values: &[u8]) -> Vec<u8> {
    [long(1, name.as_bytes()), values.iter().flat_map(|&n| number(8, n)).collect(), vec![0xa0, 0x01, 7]].concat()
}

/// A weight in f32 whose values lie in the file; none are read.
fn weight(name: &str, dims: &[u8]) -> Vec<u8> {
    let count: usize = dims.iter().map(|&dim| usize::from(dim)).product();
    let dims: Vec<u8> = dims.iter().flat_map(|&dim| number(1, dim)).collect();
    long(5, &[dims, number(2, 1), long(8, name.as_bytes()), long(9, &vec![0; 4 * count])].concat())
}

/// An input or output in f32: lengths, or names.
fn info(field: u8, name: &str, dims: &[&str]) -> Vec<u8> {
    let dim = |dim: &&str| {
        let inner = dim.parse().map_or_else(|_| long(2, dim.as_bytes()), |n: u8| number(1, n));
        long(1, &inner)
    };
    let shape: Vec<u8> = dims.iter().flat_map(dim).collect();
    let array = long(1, &[number(1, 1), long(2, &shape)].concat());
    long(field, &[long(1, name.as_bytes()), long(2, &array)].concat())
}

fn onnx(graph: &[Vec<u8>]) -> Vec<u8> {
    [number(1, 8), long(8, &[long(1, b""), number(2, 17)].concat()), long(7, &graph.concat())].concat()
}

/// Conv 3→4 of 3×3, batch norm, ReLU, mean, and a layer of 5.
fn network(last: &str) -> Vec<u8> {
    onnx(&[
        node("Conv", &["x", "w", "b"], "c", &[ints("pads", &[1, 1, 1, 1])]),
        node("BatchNormalization", &["c", "s", "s", "s", "s"], "n", &[]),
        node("Relu", &["n"], "r", &[]),
        node("GlobalAveragePool", &["r"], "p", &[]),
        node("Flatten", &["p"], "f", &[]),
        node(last, &["f", "v", "o"], "y", &[]),
        weight("w", &[4, 3, 3, 3]),
        weight("b", &[4]),
        weight("s", &[4]),
        weight("v", &[4, 5]),
        weight("o", &[5]),
        info(11, "x", &["batch", "3", "8", "8"]),
        info(12, "y", &["batch", "5"]),
    ])
}

fn two() -> Given {
    Given::read(&[] as &[&str], &["batch=2"], 1).unwrap()
}

#[test]
fn onnx_operators_are_fused_and_counted() {
    let net = model(&network("Gemm"), &two()).unwrap();
    assert_eq!((net.kind, net.version.as_deref()), ("onnx", Some("opset 17")));
    assert_eq!((net.parameters, net.parameter_bytes), (Some(108 + 4 + 4 + 20 + 5), Some(141 * 4)));
    assert_eq!(net.ops.values().sum::<u64>(), 6);
    let ops: Vec<&str> = net.workload.ops.iter().map(|entry| entry.name.as_str()).collect();
    let run = ["onnx.microsoft.FusedConv", "onnx.GlobalAveragePool", "onnx.Gemm"];
    assert_eq!(ops, [&["onnx.copy", "onnx.copy"][..], &run, &["onnx.output"]].concat());
    // Two images of 64 places, 4 channels of 27 products; sums of 512; 2×4×5 products with a row added.
    assert_eq!(flop(&net), 2.0 * 2.0 * 64.0 * 4.0 * 27.0 + 512.0 + 2.0 * 40.0 + 10.0);
    assert!(net.not_read.is_empty() && net.workload.program.untimed());
}

#[test]
fn runs_copy_weights_once() {
    let given = Given::read(&["x=2x3x8x8"], &[], 1000).unwrap();
    let net = model(&network("Gemm"), &given).unwrap();
    let counts: Vec<u64> = net.workload.ops.iter().map(|entry| entry.count).collect();
    assert_eq!(counts, [1, 1000, 1000, 1000, 1000, 1000]);
}

#[test]
fn open_lengths_are_asked_for_by_name() {
    let error = model(&network("Gemm"), &Given::default()).unwrap_err();
    assert!(error.message.contains("x (batchx3x8x8)"), "{error}");
    assert!(error.hint.unwrap().contains("--dim batch=8"));
    for (shape, dim) in [("x=2x3x8x9", "batch=2"), ("z=1", "batch=2"), ("x=2x3x8x8", "time=2")] {
        let error = model(&network("Gemm"), &Given::read(&[shape], &[dim], 1).unwrap()).unwrap_err();
        assert_eq!(error.code, "model-shape", "{error}");
    }
}

#[test]
fn an_operator_that_is_not_known_is_named_and_opaque() {
    let net = model(&network("Frobnicate"), &two()).unwrap();
    assert_eq!(codes(&net), ["unknown-op"]);
    assert!(net.not_read[0].text.contains("Frobnicate"));
    assert!(net.workload.ops.iter().any(|entry| entry.op == Op::Opaque));
}

#[test]
fn onnx_cut_at_any_byte() {
    let whole = network("Gemm");
    for at in 1..whole.len() {
        let source = Source::from_bytes("cut", &whole[..at]).unwrap();
        if is_model(source.head())
            && let Ok(cut) = read_model(source, &two())
        {
            assert!(codes(&cut).contains(&"cut-short"), "cut at {at}");
        }
    }
}

#[test]
fn a_loop_of_known_rounds_runs_so_often() {
    let dense = model(DENSE.as_bytes(), &Given::default()).unwrap();
    assert_eq!(codes(&dense), ["no-parameters"]);
    let Op::Routine { parts } = &dense.workload.ops[1].op else { panic!("{:?}", dense.workload.ops) };
    let product = parts.iter().find(|part| matches!(part.op, Op::Matmul { .. })).unwrap();
    assert_eq!((product.count, &product.op), (3, &Op::Matmul { m: 256, n: 256, k: 256, batch: 1, bias: true }));
    let products = 3.0 * (2.0 * 256.0_f64.powi(3) + 256.0 * 256.0);
    assert!(flop(&dense) > products && flop(&dense) < 1.1 * products);
}

#[test]
fn a_loop_of_unknown_rounds_is_said_and_stops_the_verdict() {
    let open = DENSE.replace("%iterArg_1 = %c,", "%iterArg_1 = %arg9,");
    let dense = model(open.as_bytes(), &Given::default()).unwrap();
    assert!(codes(&dense).contains(&"trips-unknown"), "{:?}", dense.not_read);
    assert!(dense.workload.ops.iter().any(|entry| entry.op == Op::Opaque));
}

#[test]
fn open_lengths_of_stablehlo_are_given_by_argument() {
    let open = DENSE.replace("main(%arg0: tensor<256x256xf32>", "main(%arg0: tensor<?x256xf32>");
    let error = model(open.as_bytes(), &Given::default()).unwrap_err();
    assert!(error.message.contains("arg0 (?x256)"), "{error}");
    model(open.as_bytes(), &Given::read(&["arg0=256x256"], &[], 1).unwrap()).unwrap();
}

#[test]
fn a_function_that_calls_itself_is_refused() {
    let round = DENSE.replace(
        "%0 = stablehlo.dot_general",
        "%9 = call @layer(%arg0, %arg1, %arg2) : (f32) -> f32\n %0 = stablehlo.dot_general",
    );
    assert_eq!(model(round.as_bytes(), &Given::default()).unwrap_err().code, "model-read");
}

#[test]
fn bytecode_is_refused_with_the_way_to_text() {
    let error = model(b"ML\xefR\x06StableHLO", &Given::default()).unwrap_err();
    assert!(error.hint.unwrap().contains("stablehlo-translate --deserialize"));
}

#[test]
fn stablehlo_cut_at_any_byte() {
    for at in (0..DENSE.len()).filter(|&at| DENSE.is_char_boundary(at)) {
        sound(&DENSE.as_bytes()[..at]);
    }
}

/// A layer as torch.export writes it, with batch as a letter.
fn exported() -> Vec<u8> {
    let array = |sizes: &str| format!(r#"{{"dtype": 7, "sizes": [{sizes}], "strides": []}}"#);
    let batch = r#"{"as_expr": {"expr_str": "s0", "hint": {"as_int": 4}}}"#;
    let int = |n: u32| format!(r#"{{"as_int": {n}}}"#);
    let name = |name: &str| format!(r#"{{"as_tensor": {{"name": "{name}"}}}}"#);
    let argument = |key: &str, of: &str| format!(r#"{{"name": "{key}", "arg": {}, "kind": 1}}"#, name(of));
    let trace = r#"File \"/home/ada/net.py\", line 7, in forward\n    return self.l(x)"#;
    let program = format!(
        r#"{{"graph_module": {{"graph": {{"inputs": [], "outputs": [{y}],
        "nodes": [{{"target": "torch.ops.aten.linear.default", "inputs": [{a}, {b}], "outputs": [{y}],
                    "metadata": {{"stack_trace": "{trace}", "nn_module_stack": "r,,Net;l,l,Linear"}}}}],
        "tensor_values": {{"x": {x}, "w": {w}, "y": {out}}}}},
        "signature": {{"input_specs": [{{"parameter": {{"arg": {{"name": "w"}}}}}}, {{"user_input": {{"arg": {user}}}}}]}}}},
        "schema_version": {{"major": 8, "minor": 1}}}}"#,
        y = name("y"),
        a = argument("input", "x"),
        b = argument("weight", "w"),
        x = array(&format!("{batch}, {}", int(16))),
        w = array(&format!("{}, {}", int(10), int(16))),
        out = array(&format!("{batch}, {}", int(10))),
        user = name("x"),
    );
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    zip.start_file("net/models/model.json", zip::write::SimpleFileOptions::default()).unwrap();
    zip.write_all(program.as_bytes()).unwrap();
    zip.finish().unwrap().into_inner()
}

#[test]
fn operators_of_torch_export_have_lines_and_modules() {
    let net = model(&exported(), &Given::read(&[] as &[&str], &["s0=32"], 1).unwrap()).unwrap();
    assert_eq!((net.kind, net.parameters), ("pt2", Some(160)));
    let layer = net.workload.ops.iter().find(|entry| entry.name == "aten.linear").unwrap();
    assert!(matches!(layer.op, Op::Matmul { m: 32, n: 10, k: 16, .. }), "{layer:?}");
    let site = &net.workload.sites[layer.site as usize];
    assert_eq!((site.label().as_str(), site.module.as_deref()), ("net.py:7", Some("l")));
    // Without a length the file's own example stands, which is said.
    let example = model(&exported(), &Given::default()).unwrap();
    assert_eq!(codes(&example), ["model"]);
    assert_eq!(flop(&example) * 8.0, flop(&net));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn changed_at_any_byte(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6)) {
        for whole in [network("Gemm"), DENSE.as_bytes().to_vec(), exported()] {
            let mut bytes = whole;
            for (at, byte) in &changes {
                let at = at.index(bytes.len());
                bytes[at] = *byte;
            }
            sound(&bytes);
        }
    }

    #[test]
    fn pieces_lost_or_twice(from: prop::sample::Index, long in 1..200_usize, twice: bool) {
        for whole in [network("Gemm"), DENSE.as_bytes().to_vec()] {
            let from = from.index(whole.len());
            let to = (from + long).min(whole.len());
            let (before, next) = if twice { (to, from) } else { (from, to) };
            sound(&[&whole[..before], &whole[next..]].concat());
        }
    }

    /// More of a batch is never less work.
    #[test]
    fn more_images_never_need_less(few in 1..64_u64, more in 0..64_u64) {
        let of = |n: u64| flop(&model(&network("Gemm"), &Given::read(&[] as &[&str], &[&format!("batch={n}")], 1).unwrap()).unwrap());
        prop_assert!(of(few) <= of(few + more));
    }
}
