//! Whole networks: `measured.csv` and the op graph of each row.

use crate::data::Gpus;
use crate::graph::{self, Call, Node};
use crate::{Result, zoo};
use breakeven::workload::{Dtype, Op, op::Direction};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
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
    pub dtype: Dtype,
    /// Calls in order, as places in `distinct`, with how often each runs; nothing for a call that runs no kernel.
    pub calls: Vec<(Option<usize>, f64)>,
    /// The distinct ops among them with how often each runs in all.
    pub distinct: Vec<(Op, f64)>,
    /// Calls that nobody knows, by name, with how often each runs.
    pub unknown: BTreeMap<String, f64>,
}

impl Network {
    /// Share of the calls that nobody knows.
    pub fn unknown_share(&self) -> f64 {
        let unknown = self.unknown.values().sum::<f64>();
        let known = self.calls.iter().map(|(_, repeat)| repeat).sum::<f64>();
        if unknown > 0.0 { unknown / (unknown + known) } else { 0.0 }
    }
}

pub fn read(file: &Path, gpus: &mut Gpus) -> Result<Vec<Network>> {
    let mut networks = Vec::new();
    let mut reader = csv::ReaderBuilder::new().flexible(true).from_path(file)?;
    let header = reader.headers()?.clone();
    if let Some(lacks) =
        ["model", "phase", "gpu", "measured_ms"].iter().find(|name| !header.iter().any(|h| h == **name))
    {
        return Err(format!("no column is called `{lacks}`").into());
    }
    for (row, line) in reader.records().zip(2..) {
        let row = row?;
        let cell = |name| header.iter().position(|h| h == name).and_then(|i| row.get(i)).unwrap_or_default().trim();
        let number = |name| cell(name).parse::<f64>().ok().filter(|x| x.is_finite() && *x > 0.0);
        let [model, phase] = [cell("model"), cell("phase")];
        let Some(measured) = number("measured_ms") else {
            eprintln!(
                "warning: {}: row {line} ({model} {phase}) left out: `{}` ms",
                file.display(),
                cell("measured_ms")
            );
            continue;
        };
        let named = format!("graphs/{model}-{phase}-{}-{}.csv", cell("seq"), cell("batch"));
        let given = Some(cell("opgraph")).filter(|path| !path.is_empty()).unwrap_or(&named);
        let graph = file.with_file_name("").join(given);
        let graph = if graph.exists() { graph } else { file.with_file_name("").join(&named) };
        if !graph.exists() {
            eprintln!("warning: {model} {phase} on {} left out: there is no {}", cell("gpu"), graph.display());
            continue;
        }
        let Some(gpu) = gpus.index(cell("gpu")) else { continue };
        let calls = match calls(File::open(&graph)?, &graph.display().to_string()) {
            Ok(calls) => calls,
            Err(e) => {
                eprintln!("warning: {model} {phase} on {} left out: {e}", cell("gpu"));
                continue;
            }
        };
        if !calls.iter().any(|(call, times)| matches!(call, Call::Kernel(_)) && *times > 0.0) {
            let of = if calls.is_empty() { "has no calls" } else { "has no call that anybody knows" };
            eprintln!("warning: {model} {phase} on {} left out: {} {of}", cell("gpu"), graph.display());
            continue;
        }
        networks.push(Network {
            gpu,
            model: model.into(),
            phase: phase.into(),
            seq: number("seq").unwrap_or_default() as u64,
            batch: number("batch").unwrap_or_default() as u64,
            measured: measured * 1e-3,
            neusight: number("neusight_ms").map(|ms| ms * 1e-3),
            roofline: number("roofline_ms").map(|ms| ms * 1e-3),
            dtype: dtype(cell("dtype")),
            ..network(calls)
        });
    }
    Ok(networks)
}

/// The network of a graph, of nothing measured.
pub fn network(graph: Vec<(Call, f64)>) -> Network {
    let (mut calls, mut distinct, mut unknown) = (Vec::new(), Vec::<(Op, f64)>::new(), BTreeMap::new());
    for (call, repeat) in graph {
        match call {
            Call::Kernel(op) => {
                let known = distinct.iter().position(|(known, _)| *known == op);
                let at = known.unwrap_or_else(|| {
                    distinct.push((op, 0.0));
                    distinct.len() - 1
                });
                distinct[at].1 += repeat;
                calls.push((Some(at), repeat));
            }
            Call::View => calls.push((None, repeat)),
            Call::Unknown(name) => *unknown.entry(name).or_insert(0.0) += repeat,
        }
    }
    Network {
        gpu: 0,
        model: String::new(),
        phase: String::new(),
        seq: 0,
        batch: 0,
        measured: 0.0,
        neusight: None,
        roofline: None,
        dtype: Dtype::F32,
        calls,
        distinct,
        unknown,
    }
}

/// ResNet-50's training in `power_zeus_traces.csv` at each GPU's own power limit, from 64 pictures on: less is the
/// host's. Each step begins with the copy of its pictures, on the stream that computes, and ends in Adadelta's passes over
/// 25.6 million parameters.
pub fn jobs(file: &Path, gpus: &mut Gpus) -> Result<Vec<Network>> {
    const PICTURES: f64 = 1_281_167.0;
    let mut reader = csv::Reader::from_path(file)?;
    let header = reader.headers()?.clone();
    let rows = reader.records().collect::<std::result::Result<Vec<_>, _>>()?;
    let cell = |row: &csv::StringRecord, name| {
        header.iter().position(|h| h == name).and_then(|i| row.get(i)).unwrap_or_default().to_owned()
    };
    let number = |row: &csv::StringRecord, name| cell(row, name).parse::<f64>().unwrap_or(0.0);
    let mut limits: BTreeMap<String, f64> = BTreeMap::new();
    for row in &rows {
        let limit = limits.entry(cell(row, "gpu")).or_insert(0.0);
        *limit = limit.max(number(row, "power_limit_w"));
    }
    let mut networks = Vec::new();
    for row in rows.iter().filter(|row| cell(row, "network") == "resnet50") {
        let (board, batch, seconds) = (cell(row, "gpu"), number(row, "batch_size"), number(row, "time_per_epoch_s"));
        if batch < 64.0 || seconds <= 0.0 || number(row, "power_limit_w") < limits[&board] {
            continue;
        }
        let Some(gpu) = gpus.index(&board) else { continue };
        let graph = zoo::resnet50(batch as u64, true) + "mul,opt,0,\"[25557, 1000]\",,,8\n";
        let mut calls = calls(graph.as_bytes(), "ResNet-50")?;
        let bytes = batch as u64 * 3 * 224 * 224 * 4;
        let pictures = Op::Transfer { direction: Direction::H2d, bytes, pinned: true, asynchronous: true };
        calls.insert(0, (Call::Kernel(pictures), 1.0));
        networks.push(Network {
            gpu,
            model: "resnet50".into(),
            phase: "train".into(),
            batch: batch as u64,
            measured: seconds / (PICTURES / batch).ceil(),
            ..network(calls)
        });
    }
    Ok(networks)
}

/// Strict fp32 where the table does not say.
pub fn dtype(name: &str) -> Dtype {
    match name {
        "fp16" | "f16" | "float16" | "half" | "amp" => Dtype::F16,
        "bf16" | "bfloat16" => Dtype::Bf16,
        "tf32" => Dtype::Tf32,
        "fp64" | "f64" | "float64" => Dtype::F64,
        _ => Dtype::F32,
    }
}

/// The calls of a graph with how often each runs; `name` is for errors.
pub fn calls(graph: impl Read, name: &str) -> Result<Vec<(Call, f64)>> {
    let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(graph);
    let header = reader.headers()?.clone();
    if !["op", "args"].iter().all(|name| header.iter().any(|h| h == *name)) {
        return Err(format!("{name}: a graph has columns `op` and `args`, this has {header:?}").into());
    }
    let rows = reader.records().collect::<std::result::Result<Vec<_>, _>>()?;
    let cell = |row: &csv::StringRecord, name| {
        header.iter().position(|h| h == name).and_then(|i| row.get(i)).unwrap_or_default().trim().to_owned()
    };
    let training = rows.iter().any(|row| cell(row, "phase") == "bw");
    let call = |row: &csv::StringRecord| {
        let [op, kind, phase, idx] = ["op", "node_kind", "phase", "idx"].map(|name| cell(row, name));
        let [args, in_shapes, out_shape] = ["args", "in_shapes", "out_shape"].map(|name| cell(row, name));
        let node = Node {
            op: &op,
            kind: &kind,
            phase: &phase,
            idx: &idx,
            args: &args,
            in_shapes: &in_shapes,
            out_shape: &out_shape,
        };
        let repeat = cell(row, "repeat");
        let times: Option<f64> = if repeat.is_empty() { Some(1.0) } else { repeat.parse().ok() };
        match times.filter(|times| (0.0..=1e9).contains(times)) {
            Some(times) => (graph::call(&node, training), times),
            None => (Call::Unknown(format!("{op} {repeat} times")), 1.0),
        }
    };
    Ok(rows.iter().map(call).collect())
}
