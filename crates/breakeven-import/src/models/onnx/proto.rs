//! What an `.onnx` file holds, without its weights: ONNX's messages, as onnx.proto3 numbers their fields.

use super::wire::{Value, Wire};
use breakeven::{Error, Result};
use std::collections::BTreeMap;
use std::io::BufRead;

/// Values of an array are kept up to so many elements: shapes, axes, scales.
pub(super) const MOST_VALUES: u64 = 4096;
/// Nodes, weights and values of one file.
const MOST: usize = 2_000_000;
/// Graphs within graphs.
const DEEPEST: usize = 32;
/// Axes of an array.
const MOST_AXES: usize = 64;

/// A file.
#[derive(Debug, Default)]
pub(super) struct File {
    pub(super) producer: String,
    /// Versions by domain; the standard one has no name.
    pub(super) opsets: BTreeMap<String, i64>,
    pub(super) graph: Graph,
    pub(super) functions: Vec<Function>,
    /// It ends in the middle.
    pub(super) cut: bool,
}

/// A graph.
#[derive(Clone, Debug, Default)]
pub(super) struct Graph {
    pub(super) nodes: Vec<Node>,
    pub(super) weights: Vec<Tensor>,
    pub(super) inputs: Vec<Info>,
    pub(super) outputs: Vec<Info>,
    pub(super) values: Vec<Info>,
}

/// A function of the file's own, whose nodes stand for a call of it.
#[derive(Debug, Default)]
pub(super) struct Function {
    pub(super) name: String,
    pub(super) domain: String,
    pub(super) inputs: Vec<String>,
    pub(super) outputs: Vec<String>,
    pub(super) nodes: Vec<Node>,
}

/// A node.
#[derive(Clone, Debug, Default)]
pub(super) struct Node {
    pub(super) op: String,
    pub(super) domain: String,
    pub(super) name: String,
    pub(super) inputs: Vec<String>,
    pub(super) outputs: Vec<String>,
    pub(super) attributes: BTreeMap<String, Attribute>,
}

/// The value of an attribute.
#[derive(Clone, Debug)]
pub(super) enum Attribute {
    Int(i64),
    Float(f64),
    Text(String),
    Ints(Vec<i64>),
    Floats(Vec<f64>),
    Tensor(Tensor),
    Graph(Box<Graph>),
    /// Of the function that the node is in, by name.
    Outer(String),
}

/// An array in the file, with its values where they are few.
#[derive(Clone, Debug, Default)]
pub(super) struct Tensor {
    pub(super) name: String,
    pub(super) dims: Vec<u64>,
    pub(super) kind: u64,
    pub(super) values: Option<Vec<f64>>,
}

/// What is said of a value.
#[derive(Clone, Debug, Default)]
pub(super) struct Info {
    pub(super) name: String,
    pub(super) kind: u64,
    /// `None` where it is no array, or nothing is said of its shape.
    pub(super) dims: Option<Vec<Dim>>,
}

/// A length.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Dim {
    Known(u64),
    Named(String),
    Open,
}

/// Reads a file.
///
/// # Errors
/// `model-read` for more than any exporter writes.
pub(super) fn file(from: impl BufRead, name: &str) -> Result<File> {
    let mut reader = Reader { wire: Wire::new(from), count: 0, name };
    let mut file = File::default();
    while let Some((number, value)) = reader.wire.field(u64::MAX) {
        match (number, value) {
            (2, Value::Long(long)) => file.producer = reader.wire.text(long),
            (3, Value::Long(long)) => {
                let version = reader.wire.text(long);
                file.producer = format!("{} {version}", file.producer).trim().to_owned();
            }
            (7, Value::Long(long)) => {
                let end = reader.wire.at() + long;
                file.graph = reader.graph(end, 0)?;
            }
            (8, Value::Long(long)) => {
                let (domain, version) = reader.opset(long);
                file.opsets.insert(domain, version);
            }
            (25, Value::Long(long)) => {
                let function = reader.function(long)?;
                file.functions.push(function);
            }
            _ => reader.wire.pass(value),
        }
    }
    file.cut = reader.wire.broken;
    Ok(file)
}

struct Reader<'n, R> {
    wire: Wire<R>,
    count: usize,
    name: &'n str,
}

impl<R: BufRead> Reader<'_, R> {
    fn counts(&mut self) -> Result<()> {
        self.count += 1;
        if self.count <= MOST {
            return Ok(());
        }
        let message = format!("{} holds more than {MOST} nodes and arrays", self.name);
        Err(Error::new("model-read", message).hint("no exporter writes so many: check the file"))
    }

    fn end(&self, long: u64) -> u64 {
        self.wire.at() + long
    }

    fn opset(&mut self, long: u64) -> (String, i64) {
        let (end, mut domain, mut version) = (self.end(long), String::new(), 0);
        while let Some((number, value)) = self.wire.field(end) {
            match (number, value) {
                (1, Value::Long(long)) => domain = self.wire.text(long),
                (2, Value::Number(n)) => version = n.cast_signed(),
                _ => self.wire.pass(value),
            }
        }
        (if domain == "ai.onnx" { String::new() } else { domain }, version)
    }

    fn graph(&mut self, end: u64, deep: usize) -> Result<Graph> {
        let mut graph = Graph::default();
        if deep > DEEPEST {
            let message = format!("{} has graphs in graphs, more than {DEEPEST} deep", self.name);
            return Err(Error::new("model-read", message).hint("no exporter writes such a file: check it"));
        }
        while let Some((number, value)) = self.wire.field(end) {
            let Value::Long(long) = value else { continue };
            let end = self.end(long);
            match number {
                1 => {
                    self.counts()?;
                    let node = self.node(end, deep)?;
                    graph.nodes.push(node);
                }
                5 => {
                    self.counts()?;
                    let weight = self.tensor(end);
                    graph.weights.push(weight);
                }
                11 | 12 | 13 => {
                    self.counts()?;
                    let info = self.info(end);
                    match number {
                        11 => graph.inputs.push(info),
                        12 => graph.outputs.push(info),
                        _ => graph.values.push(info),
                    }
                }
                15 => {
                    self.counts()?;
                    let weight = self.sparse(end);
                    graph.weights.push(weight);
                }
                _ => self.wire.skip(long),
            }
        }
        Ok(graph)
    }

    fn function(&mut self, long: u64) -> Result<Function> {
        let (end, mut function) = (self.end(long), Function::default());
        while let Some((number, value)) = self.wire.field(end) {
            let Value::Long(long) = value else { continue };
            match number {
                1 => function.name = self.wire.text(long),
                4 => function.inputs.push(self.wire.text(long)),
                5 => function.outputs.push(self.wire.text(long)),
                7 => {
                    self.counts()?;
                    let node = self.node(self.end(long), 0)?;
                    function.nodes.push(node);
                }
                10 => function.domain = self.wire.text(long),
                _ => self.wire.skip(long),
            }
        }
        Ok(function)
    }

    fn node(&mut self, end: u64, deep: usize) -> Result<Node> {
        let mut node = Node::default();
        while let Some((number, value)) = self.wire.field(end) {
            let Value::Long(long) = value else { continue };
            match number {
                1 | 2 => {
                    self.counts()?;
                    let name = self.wire.text(long);
                    if number == 1 { node.inputs.push(name) } else { node.outputs.push(name) }
                }
                3 => node.name = self.wire.text(long),
                4 => node.op = self.wire.text(long),
                5 => {
                    self.counts()?;
                    let end = self.end(long);
                    if let (name, Some(attribute)) = self.attribute(end, deep)? {
                        node.attributes.insert(name, attribute);
                    }
                }
                7 => node.domain = self.wire.text(long),
                _ => self.wire.skip(long),
            }
        }
        if node.domain == "ai.onnx" {
            node.domain.clear();
        }
        Ok(node)
    }

    fn attribute(&mut self, end: u64, deep: usize) -> Result<(String, Option<Attribute>)> {
        let (mut name, mut found) = (String::new(), None);
        let (mut ints, mut floats, mut kind) = (Vec::new(), Vec::new(), 0);
        while let Some((number, value)) = self.wire.field(end) {
            match (number, value) {
                (1, Value::Long(long)) => name = self.wire.text(long),
                (2, Value::Number(bits)) => found = Some(Attribute::Float(float(bits))),
                (3, Value::Number(n)) => found = Some(Attribute::Int(n.cast_signed())),
                (4, Value::Long(long)) => found = Some(Attribute::Text(self.wire.text(long))),
                (5, Value::Long(long)) => {
                    let end = self.end(long);
                    found = Some(Attribute::Tensor(self.tensor(end)));
                }
                (6, Value::Long(long)) => {
                    let end = self.end(long);
                    found = Some(Attribute::Graph(Box::new(self.graph(end, deep + 1)?)));
                }
                (7, Value::Number(bits)) => few(&mut floats, float(bits)),
                (7, Value::Long(long)) => {
                    let bytes = self.few_bytes(long, 4);
                    let each = bytes.as_chunks::<4>().0.iter().map(|four| f64::from(f32::from_le_bytes(*four)));
                    floats.extend(each);
                }
                (8, Value::Number(n)) => few(&mut ints, n.cast_signed()),
                (8, Value::Long(long)) => {
                    let mut many = Vec::new();
                    self.varints(long, |n| many.push(n.cast_signed()));
                    ints.extend(many);
                }
                (20, Value::Number(n)) => kind = n,
                (21, Value::Long(long)) => found = Some(Attribute::Outer(self.wire.text(long))),
                _ => self.wire.pass(value),
            }
        }
        const FLOATS: u64 = 6;
        const INTS: u64 = 7;
        let found = match kind {
            FLOATS => Some(Attribute::Floats(floats)),
            INTS => Some(Attribute::Ints(ints)),
            _ if found.is_none() && !ints.is_empty() => Some(Attribute::Ints(ints)),
            _ if found.is_none() && !floats.is_empty() => Some(Attribute::Floats(floats)),
            // Zero is not written.
            2 if found.is_none() => Some(Attribute::Int(0)),
            1 if found.is_none() => Some(Attribute::Float(0.0)),
            _ => found,
        };
        Ok((name, found))
    }

    /// Bytes of at most so many values; none where there are more.
    fn few_bytes(&mut self, long: u64, each: u64) -> Vec<u8> {
        if long <= MOST_VALUES * each {
            return self.wire.bytes(long);
        }
        self.wire.skip(long);
        Vec::new()
    }

    /// Numbers in a row; those beyond the first few are passed over.
    fn varints(&mut self, long: u64, mut each: impl FnMut(u64)) {
        let (end, mut left) = (self.end(long), MOST_VALUES);
        while self.wire.at() < end && left > 0 {
            let Some(n) = self.wire.varint() else {
                self.wire.broken = true;
                return;
            };
            each(n);
            left -= 1;
        }
        self.wire.skip(end.saturating_sub(self.wire.at()));
    }

    fn tensor(&mut self, end: u64) -> Tensor {
        let mut tensor = Tensor::default();
        let (mut raw, mut values, mut outside) = (Vec::new(), Vec::new(), false);
        while let Some((number, value)) = self.wire.field(end) {
            match (number, value) {
                (1, Value::Number(n)) if tensor.dims.len() < MOST_AXES => tensor.dims.push(n),
                (1, Value::Long(long)) => {
                    let mut dims = Vec::new();
                    self.varints(long, |n| dims.push(n));
                    tensor.dims.extend(dims.into_iter().take(MOST_AXES));
                }
                (2, Value::Number(n)) => tensor.kind = n,
                (4, Value::Long(long)) => {
                    let bytes = self.few_bytes(long, 4);
                    values.extend(bytes.as_chunks::<4>().0.iter().map(|four| f64::from(f32::from_le_bytes(*four))));
                }
                (4, Value::Number(bits)) => few(&mut values, float(bits)),
                (5 | 7 | 11, Value::Long(long)) => self.varints(long, |n| values.push(n.cast_signed() as f64)),
                (5 | 7 | 11, Value::Number(n)) => few(&mut values, n.cast_signed() as f64),
                (8, Value::Long(long)) => tensor.name = self.wire.text(long),
                (9, Value::Long(long)) => raw = self.few_bytes(long, 8),
                (10, Value::Long(long)) => {
                    let bytes = self.few_bytes(long, 8);
                    values.extend(bytes.as_chunks::<8>().0.iter().map(|eight| f64::from_le_bytes(*eight)));
                }
                (14, Value::Number(1)) => outside = true,
                _ => self.wire.pass(value),
            }
        }
        if !raw.is_empty() {
            values = from_raw(tensor.kind, &raw);
        }
        let count = tensor.dims.iter().fold(1, |n: u64, &dim| n.saturating_mul(dim));
        let whole = !outside && count <= MOST_VALUES && values.len() as u64 >= count;
        tensor.values = whole.then(|| values.into_iter().take(count as usize).collect());
        tensor
    }

    /// A sparse array: its values' type, and its own dims.
    fn sparse(&mut self, end: u64) -> Tensor {
        let (mut tensor, mut dims) = (Tensor::default(), Vec::new());
        while let Some((number, value)) = self.wire.field(end) {
            match (number, value) {
                (1, Value::Long(long)) => {
                    let end = self.end(long);
                    tensor = self.tensor(end);
                }
                (3, Value::Number(n)) => few(&mut dims, n),
                (3, Value::Long(long)) => self.varints(long, |n| dims.push(n)),
                _ => self.wire.pass(value),
            }
        }
        Tensor { dims: dims.into_iter().take(MOST_AXES).collect(), values: None, ..tensor }
    }

    fn info(&mut self, end: u64) -> Info {
        let mut info = Info::default();
        while let Some((number, value)) = self.wire.field(end) {
            match (number, value) {
                (1, Value::Long(long)) => info.name = self.wire.text(long),
                // TypeProto, whose first field is an array's type.
                (2, Value::Long(long)) => {
                    let end = self.end(long);
                    while let Some((number, value)) = self.wire.field(end) {
                        match (number, value) {
                            (1, Value::Long(long)) => self.array_type(long, &mut info),
                            _ => self.wire.pass(value),
                        }
                    }
                }
                _ => self.wire.pass(value),
            }
        }
        info
    }

    fn array_type(&mut self, long: u64, info: &mut Info) {
        let end = self.end(long);
        while let Some((number, value)) = self.wire.field(end) {
            match (number, value) {
                (1, Value::Number(n)) => info.kind = n,
                (2, Value::Long(long)) => {
                    let (end, mut dims) = (self.end(long), Vec::new());
                    while let Some((number, value)) = self.wire.field(end) {
                        match (number, value) {
                            (1, Value::Long(long)) => {
                                let dim = self.dim(long);
                                few(&mut dims, dim);
                            }
                            _ => self.wire.pass(value),
                        }
                    }
                    dims.truncate(MOST_AXES);
                    info.dims = Some(dims);
                }
                _ => self.wire.pass(value),
            }
        }
    }

    fn dim(&mut self, long: u64) -> Dim {
        let (end, mut dim) = (self.end(long), Dim::Open);
        while let Some((number, value)) = self.wire.field(end) {
            match (number, value) {
                (1, Value::Number(n)) if n.cast_signed() > 0 => dim = Dim::Known(n),
                (2, Value::Long(long)) => {
                    let name = self.wire.text(long);
                    if !name.is_empty() {
                        dim = Dim::Named(name);
                    }
                }
                _ => self.wire.pass(value),
            }
        }
        dim
    }
}

/// Adds one of a few.
fn few<T>(list: &mut Vec<T>, item: T) {
    if (list.len() as u64) < MOST_VALUES {
        list.push(item);
    }
}

fn float(bits: u64) -> f64 {
    f64::from(f32::from_bits(bits as u32))
}

/// Values as they lie in `raw_data`; none for types whose values decide no shape.
fn from_raw(kind: u64, raw: &[u8]) -> Vec<f64> {
    fn each<const N: usize>(raw: &[u8], number: impl Fn([u8; N]) -> f64) -> Vec<f64> {
        raw.as_chunks::<N>().0.iter().map(|bytes| number(*bytes)).collect()
    }
    match kind {
        1 => each(raw, |bytes| f64::from(f32::from_le_bytes(bytes))),
        2 | 9 => each(raw, |bytes: [u8; 1]| f64::from(bytes[0])),
        3 => each(raw, |bytes| f64::from(i8::from_le_bytes(bytes))),
        5 => each(raw, |bytes| f64::from(i16::from_le_bytes(bytes))),
        6 => each(raw, |bytes| f64::from(i32::from_le_bytes(bytes))),
        7 => each(raw, |bytes| i64::from_le_bytes(bytes) as f64),
        11 => each(raw, f64::from_le_bytes),
        12 => each(raw, |bytes| f64::from(u32::from_le_bytes(bytes))),
        13 => each(raw, |bytes| u64::from_le_bytes(bytes) as f64),
        _ => Vec::new(),
    }
}
