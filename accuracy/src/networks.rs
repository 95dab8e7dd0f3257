//! Whole networks: `measured.csv` and the op graph of each row.

use crate::data::Gpus;
use crate::{Result, rows};
use breakeven::workload::{Dtype, Op, Pass, op::Rowwise};
use std::path::Path;

/// One measured pass of a network.
pub struct Network {
    /// Index into `Data::gpus`.
    pub gpu: usize,
    pub model: String,
    pub phase: String,
    pub seq: u64,
    pub batch: u64,
    /// Seconds.
    pub measured: f64,
    /// What others predict for the same row, seconds.
    pub neusight: Option<f64>,
    pub roofline: Option<f64>,
    /// Calls in order with how often each runs; nothing for a call that runs no kernel.
    pub ops: Vec<(Option<Op>, f64)>,
    /// The distinct ops among them with how often each runs in all.
    pub distinct: Vec<(Op, f64)>,
}

/// Everything here was measured in fp32.
pub const DTYPE: Dtype = Dtype::F32;

pub fn read(file: &Path, gpus: &mut Gpus) -> Result<Vec<Network>> {
    let mut networks = Vec::new();
    let mut reader = csv::Reader::from_path(file)?;
    let header = reader.headers()?.clone();
    for row in reader.records() {
        let row = row?;
        let cell = |name| header.iter().position(|h| h == name).and_then(|i| row.get(i)).unwrap_or_default();
        let number = |name| cell(name).parse::<f64>().ok().filter(|x| x.is_finite() && *x > 0.0);
        let (Some(measured), graph) = (number("measured_ms"), cell("opgraph")) else { continue };
        let graph = file.with_file_name("").join(graph);
        if cell("opgraph").is_empty() || !graph.exists() {
            continue;
        }
        let Some(gpu) = gpus.index(cell("gpu")) else { continue };
        let ops = graph_ops(&graph)?;
        networks.push(Network {
            gpu,
            model: cell("model").into(),
            phase: cell("phase").into(),
            seq: number("seq").unwrap_or_default() as u64,
            batch: number("batch").unwrap_or_default() as u64,
            measured: measured * 1e-3,
            neusight: number("neusight_ms").map(|ms| ms * 1e-3),
            roofline: number("roofline_ms").map(|ms| ms * 1e-3),
            distinct: distinct(&ops),
            ops,
        });
    }
    Ok(networks)
}

fn distinct(ops: &[(Option<Op>, f64)]) -> Vec<(Op, f64)> {
    let mut distinct: Vec<(Op, f64)> = Vec::new();
    for (op, repeat) in ops.iter().filter_map(|(op, repeat)| Some((op.as_ref()?, repeat))) {
        match distinct.iter_mut().find(|(known, _)| known == op) {
            Some((_, count)) => *count += repeat,
            None => distinct.push((op.clone(), *repeat)),
        }
    }
    distinct
}

/// Cells of one row of a graph.
struct Node<'a> {
    op: &'a str,
    kind: &'a str,
    phase: &'a str,
    idx: &'a str,
    args: &'a str,
    in_shapes: &'a str,
    out_shape: &'a str,
}

fn graph_ops(file: &Path) -> Result<Vec<(Option<Op>, f64)>> {
    let mut ops = Vec::new();
    let mut reader = csv::Reader::from_path(file)?;
    let header = reader.headers()?.clone();
    for row in reader.records() {
        let row = row?;
        let cell = |name| header.iter().position(|h| h == name).and_then(|i| row.get(i)).unwrap_or_default();
        let repeat = cell("repeat").parse::<f64>().unwrap_or(1.0);
        let row = Node {
            op: cell("op"),
            kind: cell("node_kind"),
            phase: cell("phase"),
            idx: cell("idx"),
            args: cell("args"),
            in_shapes: cell("in_shapes"),
            out_shape: cell("out_shape"),
        };
        ops.push((node(&row), repeat));
    }
    Ok(ops)
}

/// The op of one node, or nothing for what runs no kernel.
fn node(row: &Node<'_>) -> Option<Op> {
    if row.op == "MEM" {
        let shapes: Vec<Vec<u64>> = serde_json::from_str(row.args).ok()?;
        return memory(row.kind, row.phase, row.idx, &shapes);
    }
    let name = row.op.to_ascii_lowercase();
    if name.starts_with("conv") {
        return convolution(row);
    }
    let args: Vec<u64> = serde_json::from_str(row.args).ok()?;
    match (row.op, args.as_slice()) {
        ("Linear", &[rows, inputs, outputs]) => {
            // A layer's own weights are stored along k; weights that come as an operand are not.
            let layer = row.phase == "fw" && row.in_shapes.matches('(').count() <= 2;
            Some(Op::Matmul { m: rows, n: outputs, k: inputs, batch: 1, bias: layer })
        }
        ("BMM", &[batch, m, k, n]) => Some(Op::Matmul { m, n, k, batch, bias: false }),
        (_, &[rows, width]) => {
            let plain = name.strip_prefix("vec").unwrap_or(&name);
            rows::vector_op(plain, rows, width).or_else(|| pass_over(plain, rows.saturating_mul(width)))
        }
        (_, dims) if !dims.is_empty() => pass_over(&name, dims.iter().fold(1, |n: u64, &d| n.saturating_mul(d))),
        _ => None,
    }
}

/// Names that the kernel tables do not have: batch normalisation by its own cost, anything else as one pass.
fn pass_over(name: &str, n: u64) -> Option<Op> {
    if name.contains("norm") || name == "bn" {
        let kind = Rowwise::BatchNorm;
        return Some(Op::Rowwise { kind, pass: Pass::Forward, rows: n.div_ceil(1024), width: 1024 });
    }
    Some(Op::Elementwise { n, inputs: 1, flop_per_element: 1.0, transcendental: false })
}

/// From the shapes (images × channels × height × width, and the weights' where they are given), else from arguments in
/// the order of the kernel table: images, channels in and out, kernel, image side, stride, padding, and groups.
fn convolution(row: &Node<'_>) -> Option<Op> {
    let pass = match (row.phase, row.idx) {
        ("bw", "0") => Pass::BackwardData,
        ("bw", _) => Pass::BackwardWeight,
        _ => Pass::Forward,
    };
    let args: Vec<u64> = serde_json::from_str(row.args).unwrap_or_default();
    let (inputs, outputs) = (shapes(row.in_shapes), shapes(row.out_shape));
    let image = inputs.iter().find(|s| s.len() == 4);
    let weights = inputs.iter().filter(|s| s.len() == 4).nth(1);
    if let (Some(&[batch, cin, h, w]), Some(&[_, cout, oh, ow])) =
        (image.map(Vec::as_slice), outputs.iter().find(|s| s.len() == 4).map(Vec::as_slice))
    {
        let kernel = match weights.map(Vec::as_slice) {
            Some(&[_, _, kh, kw]) => Some([kh, kw]),
            _ => args.get(3).map(|&k| [k, k]),
        }?;
        let each = weights.map_or(cin / args.get(7).copied().unwrap_or(1).max(1), |s| s[1]).max(1);
        let groups = (cin / each).max(1);
        let (input, kernel, output) = (vec![h, w], kernel.to_vec(), vec![oh, ow]);
        return Some(Op::Convolution { pass, batch, cin, cout, groups, input, kernel, output });
    }
    let (&[batch, cin, cout, k, side, stride, pad], groups) = match args.as_slice() {
        [first @ .., groups] if args.len() == 8 => (first.first_chunk::<7>()?, (*groups).max(1)),
        all => (all.first_chunk::<7>()?, 1),
    };
    let out = (side + 2 * pad).checked_sub(k)? / stride.max(1) + 1;
    let (input, kernel, output) = (vec![side; 2], vec![k; 2], vec![out; 2]);
    Some(Op::Convolution { pass, batch, cin, cout, groups, input, kernel, output })
}

/// `[(8, 64, 56, 56), (64, 64, 3, 3)]` as lists; one tuple alone as a list of one.
fn shapes(text: &str) -> Vec<Vec<u64>> {
    let numbers = |part: &str| -> Vec<u64> {
        part.split(|c: char| !c.is_ascii_digit()).filter_map(|digits| digits.parse().ok()).collect()
    };
    text.split(')').map(numbers).filter(|shape| !shape.is_empty()).collect()
}

/// Indexing and gradients that only pass through are views; the rest copies its last shape.
fn memory(kind: &str, phase: &str, idx: &str, shapes: &[Vec<u64>]) -> Option<Op> {
    let view = match (kind, phase) {
        ("getitem" | "VECadd" | "VECaddu", _) => true,
        (_, "bw") => idx != "0",
        _ => false,
    };
    if view {
        return None;
    }
    let n = shapes.iter().map(|s| s.iter().product()).max()?;
    match kind {
        "where" => Some(Op::Elementwise { n, inputs: 1, flop_per_element: 1.0, transcendental: false }),
        "mean" => Some(Op::Reduce { n, out: shapes.last()?.iter().product(), flop_per_element: 1.0 }),
        _ => Some(Op::Copy { n, strided: kind == "contiguous", inputs: 1 }),
    }
}
