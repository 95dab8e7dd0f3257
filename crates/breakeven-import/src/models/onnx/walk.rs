//! A graph walked from its inputs to its outputs: shapes of all values, and the nodes that run.

use super::array::{Array, dtype};
use super::call::{Call, Made, Work};
use super::proto::{Attribute, Dim, File, Function, Graph, Info, Node};
use super::step::{Step, function};
use super::{elementwise, image, layout, product, quantise, rows, sequence};
use crate::models::given::Given;
use breakeven::workload::{Dtype, Op};
use breakeven::{Error, Result};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Graphs and functions within each other.
const DEEPEST: usize = 40;
/// Nodes that run, those of functions at each call.
const MOST: usize = 2_000_000;
/// What gives other numbers in each run.
const RANDOM: [&str; 6] =
    ["RandomNormal", "RandomUniform", "RandomNormalLike", "RandomUniformLike", "Multinomial", "Bernoulli"];

/// A walk through a file.
#[derive(Debug)]
pub(super) struct Walk<'a> {
    file: &'a File,
    given: &'a Given,
    name: &'a str,
    opset: i64,
    /// Arrays by name, the innermost graph last.
    scopes: Vec<HashMap<String, Option<Array>>>,
    pub(super) steps: Vec<Step>,
    /// Operators by name.
    pub(super) ops: BTreeMap<String, u64>,
    pub(super) unknown: BTreeSet<String>,
    /// Operators that read arrays of unknown shape, with how many nodes.
    pub(super) shapeless: BTreeMap<String, u64>,
    pub(super) uncounted: BTreeSet<String>,
    /// Operators whose results are as long as their values say.
    pub(super) at_most: BTreeSet<String>,
    /// Weights that nodes read: elements and bytes, by the name that they have in the file.
    pub(super) weights: BTreeMap<String, (u64, u64)>,
    /// Values that are others under a new name or shape.
    pub(super) roots: HashMap<String, String>,
    /// Bytes of values that are made, by name.
    pub(super) sizes: HashMap<String, u64>,
    line: u32,
    nodes: usize,
    deep: usize,
}

impl<'a> Walk<'a> {
    pub(super) fn new(file: &'a File, given: &'a Given, name: &'a str) -> Self {
        Self {
            file,
            given,
            name,
            opset: file.opsets.get("").copied().unwrap_or(1),
            scopes: Vec::new(),
            steps: Vec::new(),
            ops: BTreeMap::new(),
            unknown: BTreeSet::new(),
            shapeless: BTreeMap::new(),
            uncounted: BTreeSet::new(),
            at_most: BTreeSet::new(),
            weights: BTreeMap::new(),
            roots: HashMap::new(),
            sizes: HashMap::new(),
            line: 0,
            nodes: 0,
            deep: 0,
        }
    }

    /// Walks the file's graph; gives the bytes of its inputs and results.
    ///
    /// # Errors
    /// `model-shape` where lengths are open; `model-read` for what no exporter writes.
    pub(super) fn run(&mut self) -> Result<(u64, u64)> {
        let inputs = self.inputs()?;
        let bytes = inputs.iter().fold(0, |sum: u64, (_, array)| sum.saturating_add(array.bytes()));
        self.scopes.push(inputs.into_iter().map(|(name, array)| (name, Some(array))).collect());
        self.graph(&self.file.graph, 1)?;
        let outputs = self.file.graph.outputs.iter().filter_map(|info| self.look(&info.name));
        let read = outputs.fold(0, |sum: u64, array| sum.saturating_add(array.bytes()));
        Ok((bytes, read))
    }

    /// The arrays that the model is given.
    fn inputs(&self) -> Result<Vec<(String, Array)>> {
        let graph = &self.file.graph;
        let weights: BTreeSet<&str> = graph.weights.iter().map(|weight| weight.name.as_str()).collect();
        let given: Vec<&Info> = graph.inputs.iter().filter(|info| !weights.contains(info.name.as_str())).collect();
        let (mut arrays, mut open) = (Vec::new(), Vec::new());
        let mut names: Vec<&str> = Vec::new();
        for info in &given {
            let dims = info.dims.as_deref();
            for dim in dims.unwrap_or_default() {
                if let Dim::Named(name) = dim
                    && !names.contains(&name.as_str())
                {
                    names.push(name);
                }
            }
            if let Some(shape) = self.given.shape(&info.name) {
                if let Some(dims) = dims {
                    let fixed: Vec<Option<u64>> = dims.iter().map(|dim| self.length(dim)).collect();
                    self.given.fits(&info.name, shape, &fixed)?;
                }
                arrays.push((info.name.clone(), Array::new(dtype(info.kind), shape.to_vec())));
                continue;
            }
            let Some(dims) = dims else {
                // No array, or nothing is said of it.
                if info.kind != 0 {
                    open.push((info.name.clone(), "any shape".to_owned()));
                }
                continue;
            };
            match dims.iter().map(|dim| self.length(dim)).collect::<Option<Vec<u64>>>() {
                Some(dims) => arrays.push((info.name.clone(), Array::new(dtype(info.kind), dims))),
                None => open.push((info.name.clone(), shown(dims))),
            }
        }
        // What one input's shape says of a name holds for the others.
        let inputs: Vec<&str> = given.iter().map(|info| info.name.as_str()).collect();
        self.given.all_are_known(self.name, &inputs, &names)?;
        if open.is_empty() {
            return Ok(arrays);
        }
        let bound = self.bound_by_shapes(&given);
        let mut left = Vec::new();
        for (name, shape) in open {
            let info = given.iter().find(|info| info.name == name);
            let dims = info.and_then(|info| info.dims.as_ref()).and_then(|dims| {
                let length = |dim: &Dim| match dim {
                    Dim::Named(name) => self.length(dim).or_else(|| bound.get(name.as_str()).copied()),
                    _ => self.length(dim),
                };
                dims.iter().map(length).collect::<Option<Vec<u64>>>()
            });
            match dims {
                Some(dims) => arrays.push((name, Array::new(dtype(info.map_or(0, |info| info.kind)), dims))),
                None => left.push((name, shape)),
            }
        }
        let still: Vec<&str> =
            names.into_iter().filter(|name| self.given.dim(name).is_none() && !bound.contains_key(name)).collect();
        if left.is_empty() { Ok(arrays) } else { Err(Given::missing(self.name, &left, &still)) }
    }

    /// Lengths with a name that follow from the shapes that were given.
    fn bound_by_shapes(&self, given: &[&'a Info]) -> BTreeMap<&'a str, u64> {
        let mut bound = BTreeMap::new();
        for info in given {
            let (Some(shape), Some(dims)) = (self.given.shape(&info.name), &info.dims) else { continue };
            for (dim, &length) in dims.iter().zip(shape) {
                if let Dim::Named(name) = dim {
                    bound.entry(name.as_str()).or_insert(length);
                }
            }
        }
        bound
    }

    fn length(&self, dim: &Dim) -> Option<u64> {
        match dim {
            Dim::Known(length) => Some(*length),
            Dim::Named(name) => self.given.dim(name),
            Dim::Open => None,
        }
    }

    /// The array of a name.
    pub(super) fn look(&self, name: &str) -> Option<&Array> {
        self.scopes.iter().rev().find_map(|scope| scope.get(name))?.as_ref()
    }

    /// Walks a graph whose inputs are in the innermost scope.
    pub(super) fn graph(&mut self, graph: &Graph, times: u64) -> Result<()> {
        self.deep += 1;
        if self.deep > DEEPEST {
            let message =
                format!("in {} graphs and functions are within each other, more than {DEEPEST} deep", self.name);
            return Err(Error::new("model-read", message).hint("a function that calls itself is none: check the file"));
        }
        for weight in &graph.weights {
            self.set(&weight.name, Some(Array::of_tensor(weight)));
        }
        let said: HashMap<&str, &Info> =
            graph.values.iter().chain(&graph.outputs).map(|info| (info.name.as_str(), info)).collect();
        for node in &graph.nodes {
            self.node(node, &said, times)?;
        }
        self.deep -= 1;
        Ok(())
    }

    pub(super) fn set(&mut self, name: &str, array: Option<Array>) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name.to_owned(), array);
        }
    }

    pub(super) fn within(&mut self, inputs: impl IntoIterator<Item = (String, Option<Array>)>) {
        self.scopes.push(inputs.into_iter().collect());
    }

    pub(super) fn leave(&mut self) {
        self.scopes.pop();
    }

    fn node(&mut self, node: &Node, said: &HashMap<&str, &Info>, times: u64) -> Result<()> {
        self.nodes += 1;
        if self.nodes > MOST {
            let message = format!("{} comes to more than {MOST} nodes, those of functions at each call", self.name);
            return Err(Error::new("model-read", message).hint("no exporter writes so many: check the file"));
        }
        if self.deep == 1 {
            self.line = self.line.saturating_add(1);
        }
        let own = self.file.functions.iter().find(|known| known.name == node.op && known.domain == node.domain);
        let full = function(&node.domain, &node.op);
        if let Some(function) = own {
            return self.function(function, node, times);
        }
        if node.op != "Constant" {
            *self.ops.entry(full.trim_start_matches("onnx.").to_owned()).or_default() += 1;
        }
        let inputs: Vec<Option<Array>> = node.inputs.iter().map(|name| self.look(name).cloned()).collect();
        let call = Call { node, inputs, opset: self.opset };
        if matches!(node.op.as_str(), "If" | "Loop" | "Scan") && node.domain.is_empty() {
            return super::control::of(self, &call, times);
        }
        let missing = node.inputs.iter().zip(&call.inputs).any(|(name, array)| !name.is_empty() && array.is_none());
        let made = of(&call).or_else(|| {
            let made = quantise::at_most(&call)?;
            self.at_most.insert(node.op.clone());
            Some(made)
        });
        let listed = breakeven::lower::callable(&full).is_some_and(|known| known.name == full);
        let known = made.is_some();
        let mut made = made.unwrap_or(Made { outputs: Vec::new(), work: Work::Unknown });
        made.outputs.resize(node.outputs.len(), None);
        for (name, output) in node.outputs.iter().zip(&mut made.outputs) {
            // What the file itself says of a shape is taken where nothing else is known.
            if output.is_none()
                && let Some(info) = said.get(name.as_str())
                && let Some(dims) = &info.dims
                && let Some(dims) = dims.iter().map(|dim| self.length(dim)).collect::<Option<Vec<u64>>>()
            {
                *output = Some(Array::new(dtype(info.kind), dims));
            }
        }
        let whole = made.outputs.iter().all(Option::is_some);
        if !known && whole && layout::MOVES.contains(&node.op.as_str()) {
            // Where its result's shape is known, what it costs is too.
            let n = made.outputs.iter().flatten().fold(0, |sum: u64, array| sum.saturating_add(array.count()));
            let kind = made.outputs.iter().flatten().next().map_or(Dtype::F32, |array| array.dtype);
            made.work = Work::Kernels(vec![(Op::Copy { n, strided: true, inputs: 1, run: 0 }, kind)]);
        } else if !known {
            if missing || listed {
                *self.shapeless.entry(node.op.clone()).or_default() += 1;
            } else {
                self.unknown.insert(full.trim_start_matches("onnx.").to_owned());
            }
        } else if made.work == Work::Unknown {
            self.unknown.insert(full.trim_start_matches("onnx.").to_owned());
        }
        self.runs(&call, made, full, times);
        Ok(())
    }

    /// Notes what a node makes, and that it runs unless it is computed when the file is loaded.
    fn runs(&mut self, call: &Call<'_>, made: Made, function: String, times: u64) {
        let node = call.node;
        let read: Vec<&Array> = call.inputs.iter().flatten().collect();
        let named = node.inputs.iter().filter(|name| !name.is_empty()).count();
        let fixed = read.len() == named && read.iter().all(|array| array.constant);
        // Few whole numbers that are known are lengths, which ONNX Runtime computes on the CPU.
        let lengths = made.outputs.iter().flatten().all(|array| array.values.is_some() && !is_fraction(array.dtype));
        let early = made.work != Work::Unknown
            && !RANDOM.contains(&node.op.as_str())
            && (fixed || lengths && !made.outputs.is_empty());
        if let (Some(from), [Some(out), ..]) = (node.inputs.first(), &made.outputs[..])
            && (made.work == Work::View || early)
            && call.input(0).is_some_and(|array| array.count() == out.count())
        {
            let root = self.roots.get(from).unwrap_or(from).clone();
            self.roots.insert(node.outputs[0].clone(), root);
        }
        if !early && made.work != Work::View {
            let bytes = |arrays: &mut dyn Iterator<Item = &Array>| {
                arrays.fold(0, |sum: u64, array| sum.saturating_add(array.bytes()))
            };
            // What a recurrent network begins with is no weight.
            let most = if matches!(node.op.as_str(), "LSTM" | "GRU" | "RNN") { 4 } else { usize::MAX };
            for (name, array) in node.inputs.iter().zip(&call.inputs).take(most) {
                if let Some(array) = array
                    && array.constant
                    && is_weight(array)
                {
                    let root = self.roots.get(name).unwrap_or(name).clone();
                    self.weights.entry(root).or_insert((array.count(), array.bytes()));
                }
            }
            self.steps.push(Step {
                function,
                name: node.name.clone(),
                line: self.line,
                inputs: node.inputs.clone(),
                outputs: node.outputs.clone(),
                work: made.work,
                read: bytes(&mut read.iter().copied()),
                written: bytes(&mut made.outputs.iter().flatten()),
                fresh: bytes(&mut read.iter().copied().filter(|array| !array.constant)),
                times,
            });
        }
        for (name, output) in node.outputs.iter().zip(made.outputs) {
            let output = output.map(|array| Array { constant: array.constant || (early && fixed), ..array });
            if let Some(array) = output.as_ref().filter(|array| !array.constant && !early) {
                self.sizes.insert(name.clone(), array.bytes());
            }
            self.set(name, output);
        }
    }

    /// A call of a function of the file's own.
    fn function(&mut self, function: &'a Function, node: &Node, times: u64) -> Result<()> {
        let inputs: Vec<Option<Array>> = node.inputs.iter().map(|name| self.look(name).cloned()).collect();
        let named = function.inputs.iter().cloned().zip(inputs.into_iter().chain(std::iter::repeat(None)));
        // A function sees nothing of the graph around it.
        let around = std::mem::take(&mut self.scopes);
        self.scopes = vec![named.collect()];
        let bind = |inner: &Node| {
            let mut bound = inner.clone();
            for attribute in bound.attributes.values_mut() {
                if let Attribute::Outer(name) = attribute
                    && let Some(value) = node.attributes.get(name)
                {
                    *attribute = value.clone();
                }
            }
            bound
        };
        let body = Graph { nodes: function.nodes.iter().map(bind).collect(), ..Graph::default() };
        self.graph(&body, times)?;
        let outputs: Vec<Option<Array>> = function.outputs.iter().map(|name| self.look(name).cloned()).collect();
        self.scopes = around;
        for (name, output) in node.outputs.iter().zip(outputs) {
            self.set(name, output);
        }
        Ok(())
    }
}

/// What a node makes, by the first of the groups that knows it.
fn of(call: &Call<'_>) -> Option<Made> {
    let groups = [elementwise::of, layout::of, product::of, image::of, rows::of, sequence::of, quantise::of];
    if !matches!(call.node.domain.as_str(), "" | "com.microsoft") {
        return None;
    }
    groups.iter().find_map(|group| group(call))
}

/// Weights are fractions, or the few bits that stand for them; not the lengths and places that nodes are given.
fn is_weight(array: &Array) -> bool {
    array.count() > 1 && (is_fraction(array.dtype) || matches!(array.dtype, Dtype::I8 | Dtype::U8))
}

const fn is_fraction(dtype: Dtype) -> bool {
    matches!(dtype, Dtype::F64 | Dtype::F32 | Dtype::F16 | Dtype::Bf16 | Dtype::F8 | Dtype::C64 | Dtype::C128)
}

fn shown(dims: &[Dim]) -> String {
    let text = |dim: &Dim| match dim {
        Dim::Known(length) => length.to_string(),
        Dim::Named(name) => name.clone(),
        Dim::Open => "?".to_owned(),
    };
    let dims: Vec<String> = dims.iter().map(text).collect();
    dims.join("x")
}
