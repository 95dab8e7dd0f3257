//! Whole networks: `measured.csv` and the op graph of each row.

use crate::data::Gpus;
use crate::{Result, rows};
use breakeven::workload::{Dtype, Op};
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
    /// Ops with how often each runs.
    pub ops: Vec<(Op, f64)>,
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
        networks.push(Network {
            gpu,
            model: cell("model").into(),
            phase: cell("phase").into(),
            seq: number("seq").unwrap_or_default() as u64,
            batch: number("batch").unwrap_or_default() as u64,
            measured: measured * 1e-3,
            neusight: number("neusight_ms").map(|ms| ms * 1e-3),
            roofline: number("roofline_ms").map(|ms| ms * 1e-3),
            ops: graph_ops(&graph)?,
        });
    }
    Ok(networks)
}

fn graph_ops(file: &Path) -> Result<Vec<(Op, f64)>> {
    let mut ops = Vec::new();
    let mut reader = csv::Reader::from_path(file)?;
    let header = reader.headers()?.clone();
    for row in reader.records() {
        let row = row?;
        let cell = |name| header.iter().position(|h| h == name).and_then(|i| row.get(i)).unwrap_or_default();
        let repeat = cell("repeat").parse::<f64>().unwrap_or(1.0);
        // A layer's own weights are stored along k; weights that come as an operand are not.
        let layer = cell("in_shapes").matches('(').count() <= 2;
        if let Some(op) = node(cell("op"), cell("node_kind"), cell("phase"), cell("idx"), cell("args"), layer) {
            ops.push((op, repeat));
        }
    }
    Ok(ops)
}

/// The op of one node, or nothing for what runs no kernel.
fn node(op: &str, kind: &str, phase: &str, idx: &str, args: &str, layer: bool) -> Option<Op> {
    if op == "MEM" {
        let shapes: Vec<Vec<u64>> = serde_json::from_str(args).ok()?;
        return memory(kind, phase, idx, &shapes);
    }
    let args: Vec<u64> = serde_json::from_str(args).ok()?;
    match (op, args.as_slice()) {
        ("Linear", &[rows, inputs, outputs]) => {
            Some(Op::Matmul { m: rows, n: outputs, k: inputs, batch: 1, bias: phase == "fw" && layer })
        }
        ("BMM", &[batch, m, k, n]) => Some(Op::Matmul { m, n, k, batch, bias: false }),
        (vector, &[rows, width]) => rows::vector_op(vector.strip_prefix("VEC")?, rows, width),
        _ => None,
    }
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
