//! ONNX: a graph of operators, each run as ONNX Runtime's CUDA provider would: a kernel of its own, or a few, but for what
//! it fuses in any model (`fuse.rs`). Shapes follow from those of the inputs, operator by operator; of weights only the
//! shapes are read.

mod array;
mod call;
mod control;
mod elementwise;
mod fuse;
mod image;
mod layout;
mod memory;
mod product;
mod proto;
mod quantise;
mod rows;
mod sequence;
mod step;
mod walk;
mod wire;

use super::given::Given;
use super::program::{Model, ModelNote, Run, entry, note};
use crate::source::Source;
use breakeven::report::words::several;
use breakeven::workload::op::Direction;
use breakeven::workload::{Dtype, Entry, Op, Part, Site, file_name};
use breakeven::{Error, Result};
use call::Work;
use proto::File;
use std::collections::{BTreeMap, HashSet};
use std::io::BufReader;
use step::Step;
use walk::Walk;

/// Names in notes.
const TOLD: usize = 8;

/// Whether a file that begins so is an ONNX model: fields of its first message, the graph or versions among them.
pub(super) fn knows(head: &[u8]) -> bool {
    if !matches!(head.first(), Some(0x08 | 0x12 | 0x3a | 0x42)) {
        return false;
    }
    let mut wire = wire::Wire::new(head);
    let (mut version, mut graph, mut sure) = (false, false, false);
    loop {
        match wire.field(u64::MAX - 1) {
            Some((1, wire::Value::Number(1..=1000))) => version = true,
            Some((5, wire::Value::Number(_))) => {}
            Some((7, wire::Value::Long(long))) => {
                graph = true;
                // The graph itself begins with a node, a name or an array.
                let inner = wire.at() as usize;
                sure = head.get(inner).is_none_or(|key| matches!(key, 0x0a | 0x12 | 0x2a | 0x52 | 0x5a | 0x62 | 0x6a))
                    && long > 0;
                wire.skip(long);
            }
            Some((2 | 3 | 4 | 6 | 8 | 14 | 20 | 25 | 26, wire::Value::Long(long))) => wire.skip(long),
            Some(_) => return false,
            None => break,
        }
    }
    graph && sure && (version || head.first() != Some(&0x08))
}

/// Reads a model.
///
/// # Errors
/// As [`super::read_model`].
pub(super) fn read(source: Source, given: &Given) -> Result<Model> {
    let name = source.name.clone();
    let file = proto::file(BufReader::with_capacity(1 << 18, source), &name)?;
    if file.graph.nodes.is_empty() && file.graph.outputs.is_empty() {
        let message = format!("{name} begins as an ONNX model, and holds no graph that is whole");
        return Err(Error::new("model-read", message).hint("copy the file again"));
    }
    let mut walk = Walk::new(&file, given, &name);
    let (inputs, outputs) = walk.run()?;
    Ok(modelled(&file, &name, walk, [inputs, outputs], given.runs))
}

fn modelled(file: &File, name: &str, walk: Walk<'_>, [inputs, outputs]: [u64; 2], runs: u64) -> Model {
    let weights = walk
        .weights
        .values()
        .fold((0_u64, 0_u64), |sum, weight| (sum.0.saturating_add(weight.0), sum.1.saturating_add(weight.1)));
    let results: Vec<&str> = file.graph.outputs.iter().map(|info| info.name.as_str()).collect();
    let memory = memory::needed(&walk.steps, &walk.sizes, &walk.roots, weights.1, inputs, &results);
    let mut not_read = notes(file, &walk);
    let (ops, whole) = (walk.ops, not_read.iter().all(|note| !stops(note)));
    let names: HashSet<&str> = results.into_iter().chain(walk.roots.values().map(String::as_str)).collect();
    let steps = fuse::fused(walk.steps, &names);
    not_read.extend(on_cpu(&steps));
    let mut run = Run {
        name: file_name(name).to_owned(),
        copies: ["onnx.copy", "onnx.output"],
        weights: weights.1,
        inputs,
        outputs,
        memory,
        ..Run::default()
    };
    for step in &steps {
        add(&mut run, step);
    }
    if !whole && !run.ops.iter().any(|entry| entry.op == Op::Opaque) {
        let unknown = not_read.iter().find(|note| stops(note)).map_or("onnx", |note| note.code);
        run.ops.push(entry(0, unknown, Op::Opaque, Dtype::Other, [0, 0]));
    }
    let version = file.opsets.get("").map(|version| format!("opset {version}"));
    Model {
        kind: "onnx",
        version,
        producer: (!file.producer.is_empty()).then(|| file.producer.clone()),
        parameters: Some(weights.0),
        parameter_bytes: Some(weights.1),
        ops,
        workload: run.workload(runs, &not_read),
        not_read,
    }
}

/// Whether a note is of something that no verdict may rest on.
fn stops(note: &ModelNote) -> bool {
    matches!(note.code, "unknown-op" | "trips-unknown" | "cut-short")
        || note.code == "unknown-shape" && !note.text.contains("longest")
}

fn notes(file: &File, walk: &Walk<'_>) -> Vec<ModelNote> {
    let mut notes = Vec::new();
    for op in walk.unknown.iter().take(TOLD) {
        notes.push(note("unknown-op", format!("{op}: not known, counted as not understood")));
    }
    if let Some(more @ 1..) = walk.unknown.len().checked_sub(TOLD) {
        notes.push(note(
            "unknown-op",
            several(more as u64, "more operator is not known", "more operators are not known"),
        ));
    }
    if !walk.shapeless.is_empty() {
        let nodes = several(walk.shapeless.values().sum(), "node reads", "nodes read");
        let names: Vec<&str> = walk.shapeless.keys().map(String::as_str).take(TOLD).collect();
        let text = format!("{nodes} arrays whose shape does not follow from the file: {}", names.join(", "));
        notes.push(note("unknown-shape", text));
    }
    for op in &walk.at_most {
        notes.push(note("unknown-shape", format!("{op}: its result is as long as values say; taken at its longest")));
    }
    for text in walk.uncounted.iter().take(TOLD) {
        notes.push(note("trips-unknown", text.clone()));
    }
    if file.cut {
        notes.push(note("cut-short", "the file ends in the middle, or is damaged: what is whole was read"));
    }
    notes
}

/// Operators without a kernel for GPUs, which cost copies there and back.
fn on_cpu(steps: &[Step]) -> Option<ModelNote> {
    let mut found: BTreeMap<&str, u64> = BTreeMap::new();
    for step in steps.iter().filter(|step| step.work != Work::Unknown && !step.on_device()) {
        *found.entry(step.function.trim_start_matches("onnx.")).or_default() += 1;
    }
    let nodes = several(found.values().sum(), "node runs", "nodes run");
    let names: Vec<&str> = found.keys().copied().take(TOLD).collect();
    let text = format!("{nodes} on the CPU, as ONNX Runtime has no CUDA kernel: {}", names.join(", "));
    (!found.is_empty()).then(|| note("on-cpu", text))
}

/// Adds a step as the entries that it is.
fn add(run: &mut Run, step: &Step) {
    run.sites.push(Site {
        file: run.name.clone(),
        line: step.line,
        function: step.function.trim_start_matches("onnx.").to_owned(),
        text: breakeven::report::words::printable(&step.name, 200),
        module: module(&step.name),
        ..Site::default()
    });
    let site = run.sites.len() as u32;
    let (op, dtype) = match &step.work {
        Work::View => return,
        Work::Unknown => (Op::Opaque, Dtype::Other),
        Work::Kernels(kernels) => match &kernels[..] {
            [(op, dtype)] => (op.clone(), *dtype),
            several => {
                let parts = several.iter().map(|(op, dtype)| Part::new(op.clone(), *dtype, 1)).collect();
                (Op::Routine { parts }, several.first().map_or(Dtype::F32, |(_, dtype)| *dtype))
            }
        },
    };
    let read = match op {
        // What is picked or cut out is read, and no more.
        Op::Copy { .. } => step.read.min(step.written),
        Op::Gather { n, .. } | Op::Embedding { n, .. } => {
            step.read.min(step.written.saturating_add(n.saturating_mul(8)))
        }
        _ => step.read,
    };
    let made = Entry { count: step.times, ..entry(site, &step.function, op, dtype, [read, step.written]) };
    if step.on_device() || made.op == Op::Opaque {
        run.ops.push(made);
        return;
    }
    let copy = |direction, bytes| {
        let op = Op::Transfer { direction, bytes, pinned: false, asynchronous: false };
        Entry { count: step.times, ..entry(site, "onnx.copy", op, Dtype::U8, [0, 0]) }
    };
    if step.fresh > 0 {
        run.ops.push(copy(Direction::D2h, step.fresh));
    }
    run.ops.push(Entry { device: None, ..made });
    if step.written > 0 {
        run.ops.push(copy(Direction::H2d, step.written));
    }
}

/// The part of a network that a node is of: `/encoder/layers.0/self_attn/MatMul` is of `encoder.layers.0.self_attn`.
fn module(name: &str) -> Option<String> {
    let (path, _) = name.strip_prefix('/')?.rsplit_once('/')?;
    Some(breakeven::report::words::printable(&path.replace('/', "."), 120))
}
