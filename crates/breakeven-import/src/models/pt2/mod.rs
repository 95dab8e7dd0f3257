//! torch.export's `.pt2`: PyTorch's operators in order, with the shapes of all that they read and make, as the JSON in the
//! archive has them. They are estimated one by one, as eager PyTorch runs them.

mod archive;
mod ops;
mod recurrent;
mod size;
mod values;

use super::given::Given;
use super::program::{Model, Run, entry, note};
use crate::source::Source;
use breakeven::lower::{ArrayRef, Call, lower};
use breakeven::workload::{Dtype, Entry, Op, Site, file_name};
use breakeven::{Error, Result};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use values::Values;

/// Names in notes.
const TOLD: usize = 8;
/// Operators of one program.
const MOST: usize = 1_000_000;
/// What PyTorch's bindings take on the host before each operator, ns: assumed, as for networks that are told by their size.
const GAP: u64 = 8_000;

/// Whether a file that begins so is a zip.
pub(super) fn knows(head: &[u8]) -> bool {
    head.starts_with(b"PK\x03\x04")
}

/// Reads a program.
///
/// # Errors
/// As [`super::read_model`].
pub(super) fn read(source: Source, given: &Given) -> Result<Model> {
    let name = source.name.clone();
    let program = archive::program(source)?;
    let graph = &program["graph_module"]["graph"];
    if !graph["nodes"].is_array() || !graph["tensor_values"].is_object() {
        let message = format!("{name} holds a program in a form that is not known");
        return Err(
            Error::new("model-read", message).hint("read is what torch.export.save of PyTorch 2.5 to 2.15 writes")
        );
    }
    let values = Values::of(&program, given, &name)?;
    let mut reading = Reading { values: &values, ops: BTreeMap::new(), unknown: BTreeSet::new(), run: Run::default() };
    reading.nodes(graph, 0)?;
    let Reading { ops, unknown, mut run, .. } = reading;
    let mut not_read: Vec<_> = unknown
        .iter()
        .take(TOLD)
        .map(|op| note("unknown-op", format!("{op}: not known, counted as not understood")))
        .collect();
    if unknown.len() > TOLD {
        not_read.push(note("unknown-op", format!("{} more operators are not known", unknown.len() - TOLD)));
    }
    not_read.extend(values.notes());
    run.name = file_name(&name).to_owned();
    run.copies = ["aten._to_copy", "aten._to_copy"];
    let (parameters, parameter_bytes, buffers) = values.parameters();
    run.weights = parameter_bytes.saturating_add(buffers);
    run.inputs = values.inputs();
    run.outputs = values.outputs(graph);
    run.memory = values.memory(graph, run.weights, run.inputs);
    let version = &program["schema_version"];
    let version =
        version["major"].as_u64().map(|major| format!("schema {major}.{}", version["minor"].as_u64().unwrap_or(0)));
    Ok(Model {
        kind: "pt2",
        version,
        producer: program["torch_version"].as_str().map(|version| format!("pytorch {version}")),
        parameters: Some(parameters),
        parameter_bytes: Some(parameter_bytes),
        ops,
        workload: run.workload(given.runs, &not_read),
        not_read,
    })
}

struct Reading<'v> {
    values: &'v Values,
    ops: BTreeMap<String, u64>,
    unknown: BTreeSet<String>,
    run: Run,
}

impl Reading<'_> {
    fn nodes(&mut self, graph: &Value, deep: usize) -> Result<()> {
        const DEEPEST: usize = 20;
        let nodes = graph["nodes"].as_array().map_or(&[][..], Vec::as_slice);
        for node in nodes {
            let target = node["target"].as_str().unwrap_or_default();
            if self.run.ops.len() > MOST {
                return Err(
                    Error::new("model-read", format!("a program of more than {MOST} operators")).hint("check the file")
                );
            }
            // Graphs that run as they stand: with gradients off, under a context.
            let inner: Vec<&Value> = arguments(node).filter_map(|(_, value)| value.get("as_graph")).collect();
            match &inner[..] {
                [] => self.node(node, target),
                [one] if deep < DEEPEST && target.contains("wrap_with") => self.nodes(&one["graph"], deep + 1)?,
                _ => {
                    self.unknown.insert(target.to_owned());
                    self.run.ops.push(entry(0, target, Op::Opaque, Dtype::Other, [0, 0]));
                }
            }
        }
        Ok(())
    }

    fn node(&mut self, node: &Value, target: &str) {
        let Some(name) = ops::callable(target) else { return };
        *self.ops.entry(target.trim_start_matches("torch.ops.").to_owned()).or_default() += 1;
        let mut inputs: Vec<ArrayRef> = Vec::new();
        let mut keywords: Vec<(&str, String)> = Vec::new();
        let mut weights = Vec::new();
        for (key, value) in arguments(node) {
            let arrays = self.values.arrays(value);
            if arrays.is_empty() {
                keywords.extend(values::printed(value, self.values).map(|text| (key, text)));
            }
            if key == "params" {
                weights.clone_from(&arrays);
            }
            inputs.extend(arrays);
        }
        let outputs: Vec<ArrayRef> =
            node["outputs"].as_array().into_iter().flatten().flat_map(|out| self.values.arrays(out)).collect();
        if ops::is_transposed(target) {
            keywords.push(("transposed", "True".to_owned()));
        }
        let printed: Vec<(&str, &str)> = keywords.iter().map(|(key, text)| (*key, text.as_str())).collect();
        // Converting to the type and place that an array has is nothing.
        let stays = name == "aten._to_copy"
            && inputs.first().map(|array| array.dtype) == outputs.first().map(|array| array.dtype);
        let lowered =
            lower(&Call { name: &name, inputs: &inputs, outputs: &outputs, keywords: &printed, scalar_result: false });
        let batch_first = printed.contains(&("batch_first", "True"));
        let op = recurrent::of(&name, inputs.first(), &weights, batch_first).unwrap_or(lowered.op);
        let site = self.site(node);
        let bytes = [lowered.read, lowered.written];
        match op {
            Op::View => return,
            _ if stays => return,
            Op::Opaque => {
                self.unknown.insert(target.trim_start_matches("torch.ops.").to_owned());
                self.run.ops.push(entry(site, &name, Op::Opaque, Dtype::Other, bytes));
            }
            op => {
                let made = entry(site, &name, op, lowered.dtype, bytes);
                self.run.ops.push(Entry { gap_ns: GAP, ..made });
            }
        }
    }

    /// The line of the program that a node comes of; paths of the machine that exported it stay out.
    fn site(&mut self, node: &Value) -> u32 {
        let trace = node["metadata"]["stack_trace"].as_str().unwrap_or_default();
        let mut site = Site::default();
        let mut lines = trace.lines().peekable();
        while let Some(line) = lines.next() {
            let Some(rest) = line.trim().strip_prefix("File \"") else { continue };
            let Some((path, rest)) = rest.split_once('"') else { continue };
            if path.contains("site-packages") && !site.file.is_empty() {
                continue;
            }
            let number = rest.split(|c: char| !c.is_ascii_digit()).find_map(|word| word.parse().ok());
            let function = rest.rsplit(" in ").next().unwrap_or_default();
            let text = lines.peek().map_or("", |text| text.trim());
            site = Site {
                file: file_name(path).to_owned(),
                line: number.unwrap_or(0),
                function: breakeven::report::words::printable(function.trim(), 80),
                text: breakeven::report::words::printable(text, 200),
                ..Site::default()
            };
        }
        let stack = node["metadata"]["nn_module_stack"].as_str().unwrap_or_default();
        let module = stack.rsplit(';').next().and_then(|last| last.split(',').nth(1)).filter(|path| !path.is_empty());
        site.module = module.map(|path| breakeven::report::words::printable(path, 120));
        if let Some(known) = self.run.sites.iter().position(|known| *known == site) {
            return known as u32 + 1;
        }
        self.run.sites.push(site);
        self.run.sites.len() as u32
    }
}

/// Arguments of a node: name and value.
fn arguments(node: &Value) -> impl Iterator<Item = (&str, &Value)> {
    let inputs = node["inputs"].as_array().into_iter().flatten();
    inputs.map(|input| (input["name"].as_str().unwrap_or_default(), &input["arg"]))
}
