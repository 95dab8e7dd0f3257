//! Whole networks: the measured nodes of a trace on one GPU, carried to another, beside what was measured there.

use crate::Result;
use crate::data::{Data, protocol};
use crate::graph::{self, Call, Node};
use crate::networks::Network;
use crate::score::network_time;
use breakeven::carry::{Carried, Known, Pair, Spreads, Work};
use breakeven::interval::Z90;
use breakeven::kernel::{Constants, Machine};
use breakeven::workload::{Dtype, Op};
use serde::Serialize;
use std::path::Path;

/// A network with its trace on one GPU, and the same network where it was timed elsewhere.
pub struct Traced<'a> {
    pub network: &'a Network,
    others: Vec<&'a Network>,
    /// Its nodes as the program ran them, s of one run, with how often each runs.
    nodes: Vec<(Op, f64, f64)>,
    traced: Vec<usize>,
}

/// One network on one GPU, from another.
#[derive(Serialize)]
pub struct ProgramRow {
    pub network: String,
    pub from: String,
    pub to: String,
    /// Both GPUs have traces.
    pub both_traced: bool,
    pub measured_ms: f64,
    pub p10_ms: f64,
    pub p50_ms: f64,
    pub p90_ms: f64,
    /// The model alone: p10, p50, p90.
    pub model_ms: [f64; 3],
    /// Measured times and the plain ratio of modelled ones.
    pub ratio_ms: f64,
    /// Standard deviation of ln(time) of its kernels together.
    pub sigma: f64,
}

impl ProgramRow {
    /// Whether the interval holds what was measured, where whole programs are off by `whole` more.
    pub fn held(&self, whole: f64) -> bool {
        (self.measured_ms / self.p50_ms).ln().abs() <= Z90 * self.sigma.hypot(whole)
    }
}

/// Every trace below `folder` of a network that was timed as a whole, too.
pub fn read<'a>(folder: &Path, data: &'a Data) -> Result<Vec<Traced<'a>>> {
    let name = |n: &Network| format!("{}-{}-{}-{}", n.model, n.phase, n.seq, n.batch);
    let file = |n: &Network| folder.join(&data.gpus[n.gpu].0).join(name(n) + ".csv");
    let mut all = Vec::new();
    // Nodes of training have the times of their gradients, and not what those are.
    for network in data.networks.iter().filter(|n| n.phase == "inf" && file(n).exists()) {
        let others: Vec<&Network> = data
            .networks
            .iter()
            .filter(|other| name(other) == name(network) && data.chips[other.gpu] != data.chips[network.gpu])
            .collect();
        let mut nodes = nodes(&file(network), &data.gpus[network.gpu].0)?;
        let sum: f64 = nodes.iter().map(|(_, seconds, repeat)| seconds * repeat).sum();
        // Timed one by one they come to 6 to 7 % more or less than in the program, where kernels have their own times.
        nodes.iter_mut().for_each(|(_, seconds, _)| *seconds *= network.measured / sum);
        let traced = others.iter().filter(|other| file(other).exists()).map(|other| other.gpu).collect();
        all.push(Traced { network, others, nodes, traced });
    }
    Ok(all)
}

fn nodes(file: &Path, board: &str) -> Result<Vec<(Op, f64, f64)>> {
    let mut reader = csv::ReaderBuilder::new().flexible(true).from_path(file)?;
    let header = reader.headers()?.clone();
    let mut nodes = Vec::new();
    for row in reader.records() {
        let row = row?;
        let cell = |name| header.iter().position(|h| h == name).and_then(|i| row.get(i)).unwrap_or_default();
        let Some(us) = cell("fw_us").parse::<f64>().ok().filter(|us| *us > 0.0) else { continue };
        let parts: Vec<&str> = cell("FwOps").split('\'').collect();
        let [_, op, args] = parts.as_slice() else { continue };
        let (kind, in_shapes, out_shape) = (cell("OpName"), cell("input_shapes"), cell("output_shape"));
        let node = Node { op, kind, phase: "fw", idx: "0", args, in_shapes, out_shape };
        let Call::Kernel(op) = graph::call(&node, false) else { continue };
        let protocol = protocol("networks/traces", "", Dtype::F32, board);
        // What takes no longer than its launch is no kernel, or one that hides behind others.
        let seconds = us * 1e-6 - protocol.event_share * protocol.floor;
        if us * 1e-6 > 1.5 * protocol.floor {
            nodes.push((op, seconds, cell("repeat").parse().unwrap_or(1.0)));
        }
    }
    Ok(nodes)
}

impl Traced<'_> {
    /// Where it was timed elsewhere.
    pub fn targets(&self) -> impl Iterator<Item = usize> + '_ {
        self.others.iter().map(|other| other.gpu)
    }

    /// Its time on the GPU `to`, by constants and a table that have not seen that.
    pub fn carried(&self, data: &Data, to: usize, constants: &Constants, spreads: &Spreads) -> ProgramRow {
        let other = self.others.iter().find(|other| other.gpu == to).expect("one of the targets");
        let [source, target] = [self.network.gpu, to].map(|gpu| &data.gpus[gpu].1);
        let pair = Pair::of(Machine::new(source, constants), Machine::new(target, constants), spreads);
        let mut ratio = 0.0;
        let mut kernels = Vec::new();
        for (op, seconds, repeat) in &self.nodes {
            let work = Work { op: op.clone(), dtype: other.dtype, known: Known::Op };
            let carried = pair.carry(&work, *seconds);
            let [before, after] = pair.modelled(&work);
            ratio += seconds * repeat * after.p50.get() / before.p50.get();
            kernels.push(Carried { seconds: carried.seconds * repeat, ..carried });
        }
        let time = pair.together(kernels.into_iter());
        let model = network_time(constants, target, other);
        let name = |gpu: usize| data.gpus[gpu].0.clone();
        let n = self.network;
        ProgramRow {
            network: format!("{}-{}-{}-{}", n.model, n.phase, n.seq, n.batch),
            from: name(n.gpu),
            to: name(to),
            both_traced: self.traced.contains(&to),
            measured_ms: other.measured * 1e3,
            p10_ms: time.p10 * 1e3,
            p50_ms: time.p50 * 1e3,
            p90_ms: time.p90 * 1e3,
            model_ms: [model.p10, model.p50, model.p90].map(|s| s * 1e3),
            ratio_ms: ratio * 1e3,
            sigma: (time.p90 / time.p50).ln() / Z90,
        }
    }
}
