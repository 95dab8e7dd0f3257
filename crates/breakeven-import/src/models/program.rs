//! A model as a workload: copies in, its ops, results back, as often as it runs.

use breakeven::report::words;
use breakeven::workload::op::Direction;
use breakeven::workload::{Dtype, Entry, Exit, MODEL_FILE, Op, Program, Site, Step, Unseen, Workload};
use std::collections::BTreeMap;

/// The device that a model runs on.
const GPU: &str = "cuda:0";

/// What a model file holds.
#[derive(Clone, Debug)]
pub struct Model {
    /// `onnx`, `stablehlo` or `pt2`.
    pub kind: &'static str,
    /// Its version, as `opset 17`; where the file says one.
    pub version: Option<String>,
    /// What wrote it, where it says.
    pub producer: Option<String>,
    /// Elements of its weights; `None` where the file does not tell weights from inputs.
    pub parameters: Option<u64>,
    /// Their bytes.
    pub parameter_bytes: Option<u64>,
    /// Operations by name, as the file has them.
    pub ops: BTreeMap<String, u64>,
    /// What was not understood, or not as one may think.
    pub not_read: Vec<ModelNote>,
    /// What it runs.
    pub workload: Workload,
}

/// Something that was not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelNote {
    /// Stable.
    pub code: &'static str,
    /// For people.
    pub text: String,
}

/// What one run of a model does.
#[derive(Debug, Default)]
pub(super) struct Run {
    /// The file's name without folders.
    pub(super) name: String,
    /// Names of the library's copies: in, and out.
    pub(super) copies: [&'static str; 2],
    /// Copied once: weights.
    pub(super) weights: u64,
    /// Copied to the device in each run.
    pub(super) inputs: u64,
    /// Read back in each run.
    pub(super) outputs: u64,
    /// Lines: places in the model.
    pub(super) sites: Vec<Site>,
    /// In the order in which they run.
    pub(super) ops: Vec<Entry>,
    /// Memory at its fullest, by role.
    pub(super) memory: BTreeMap<String, u64>,
}

impl Run {
    /// The workload of so many runs in one process.
    pub(super) fn workload(self, runs: u64, not_read: &[ModelNote]) -> Workload {
        let mut sites = vec![Site { file: self.name.clone(), function: "inputs".to_owned(), ..Site::default() }];
        sites.extend(self.sites);
        let copy = |name: &str, bytes: u64| {
            let op = Op::Transfer { direction: Direction::H2d, bytes, pinned: false, asynchronous: false };
            Entry { device: Some(GPU.to_owned()), ..Entry::untimed(0, name, op, Dtype::U8) }
        };
        let mut ops = Vec::new();
        let mut order = Vec::new();
        if self.weights > 0 {
            order.push(Step::Run(0));
            ops.push(copy(self.copies[0], self.weights));
        }
        let first = ops.len() as u32;
        if self.inputs > 0 {
            ops.push(copy(self.copies[0], self.inputs));
        }
        ops.extend(self.ops);
        if self.outputs > 0 {
            let read = Entry::untimed(0, self.copies[1], Op::HostRead { bytes: self.outputs }, Dtype::U8);
            ops.push(Entry { device: Some(GPU.to_owned()), ..read });
        }
        let runs = runs.max(1);
        let each: Vec<Step> = (first..ops.len() as u32).map(Step::Run).collect();
        // An entry is one place in the order: what runs so often within a run is told by its count alone.
        let nested = ops[first as usize..].iter().any(|entry| entry.count != 1);
        if nested {
            order.clear();
        } else {
            order.push(Step::Repeat(runs, each));
        }
        for entry in &mut ops[first as usize..] {
            entry.count = entry.count.saturating_mul(runs);
            entry.gap_ns = entry.gap_ns.saturating_mul(entry.count);
        }
        let wall_ns = ops.iter().fold(0, |sum: u64, entry| sum.saturating_add(entry.gap_ns));
        let peak = self.memory.values().fold(0, |sum: u64, &bytes| sum.saturating_add(bytes));
        let unseen =
            |note: &ModelNote| Unseen { reason: note.code.to_owned(), text: note.text.clone(), ns: 0, count: 1 };
        Workload {
            program: Program {
                name: self.name,
                recorder: MODEL_FILE.to_owned(),
                wall_ns,
                peak_bytes: peak,
                device_peak_bytes: peak,
                peak_roles: self.memory,
                exit: Exit::Code(0),
                processes: 1,
                sampling: 1,
                ..Program::default()
            },
            sites,
            ops,
            order,
            unseen: not_read.iter().map(unseen).collect(),
            ..Workload::default()
        }
    }
}

/// An entry of an op on the device.
pub(super) fn entry(site: u32, name: &str, op: Op, dtype: Dtype, bytes: [u64; 2]) -> Entry {
    let [read_bytes, written_bytes] = bytes;
    Entry { read_bytes, written_bytes, device: Some(GPU.to_owned()), ..Entry::untimed(site, name, op, dtype) }
}

/// A note.
pub(super) fn note(code: &'static str, text: impl Into<String>) -> ModelNote {
    ModelNote { code, text: words::printable(&text.into(), 400) }
}
