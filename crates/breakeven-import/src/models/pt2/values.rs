//! Arrays of an exported program by name: types, shapes with their letters bound, and what each is for.

use super::size;
use crate::models::given::Given;
use crate::models::program::{ModelNote, note};
use breakeven::Result;
use breakeven::lower::{ArrayRef, Layout};
use breakeven::workload::Dtype;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// All arrays of a program.
#[derive(Debug)]
pub(super) struct Values {
    arrays: HashMap<String, ArrayRef>,
    parameters: Vec<String>,
    buffers: Vec<String>,
    inputs: Vec<String>,
    /// Letters that were taken as the file's example has them.
    examples: BTreeMap<String, u64>,
    letters: BTreeMap<String, u64>,
    open: BTreeSet<String>,
}

/// Types as torch's schema numbers them.
const fn dtype(kind: u64) -> Dtype {
    match kind {
        1 => Dtype::U8,
        2 => Dtype::I8,
        3 => Dtype::I16,
        4 => Dtype::I32,
        5 => Dtype::I64,
        6 => Dtype::F16,
        7 => Dtype::F32,
        8 => Dtype::F64,
        10 => Dtype::C64,
        11 => Dtype::C128,
        12 => Dtype::Bool,
        13 => Dtype::Bf16,
        28 => Dtype::U16,
        29..=33 => Dtype::F8,
        _ => Dtype::Other,
    }
}

/// Dims of an array's sizes: a number, or an expression with its example.
fn sizes(meta: &Value) -> impl Iterator<Item = &Value> {
    meta["sizes"].as_array().into_iter().flatten().take(64)
}

/// A length that is no number, as text.
fn expression(size: &Value) -> Option<String> {
    size["as_expr"]["expr_str"].as_str().map(size::plain)
}

fn example(size: &Value) -> Option<u64> {
    size["as_expr"]["hint"]["as_int"].as_u64()
}

impl Values {
    /// Reads the arrays of a program.
    ///
    /// # Errors
    /// `model-shape` for names that the file does not have, and for letters without an example that nobody gave.
    pub(super) fn of(program: &Value, given: &Given, name: &str) -> Result<Self> {
        let graph = &program["graph_module"]["graph"];
        let mut all: BTreeMap<&str, &Value> = BTreeMap::new();
        gather(graph, &mut all, 0);
        let roles = Roles::of(&program["graph_module"]["signature"]);
        let mut letters: BTreeMap<String, u64> = BTreeMap::new();
        let mut examples: BTreeMap<String, u64> = BTreeMap::new();
        let (mut open, mut names) = (Vec::new(), BTreeSet::new());
        for input in &roles.inputs {
            let Some(meta) = all.get(input.as_str()) else { continue };
            let dims: Vec<&Value> = sizes(meta).collect();
            let fixed: Vec<Option<u64>> = dims.iter().map(|dim| dim["as_int"].as_u64()).collect();
            if let Some(shape) = given.shape(input) {
                given.fits(input, shape, &fixed)?;
            }
            for (place, dim) in dims.iter().enumerate() {
                let Some(text) = expression(dim) else { continue };
                let text = text.as_str();
                names.insert(text.to_owned());
                let asked = given.dim(text).or_else(|| given.shape(input).and_then(|shape| shape.get(place).copied()));
                match (asked, example(dim)) {
                    (Some(length), _) => {
                        letters.insert(text.to_owned(), length);
                    }
                    (None, Some(length)) => {
                        examples.entry(text.to_owned()).or_insert(length);
                    }
                    (None, None) => {
                        let shown = dims.iter().map(|dim| {
                            dim["as_int"]
                                .as_u64()
                                .map_or_else(|| expression(dim).unwrap_or_else(|| "?".to_owned()), |n| n.to_string())
                        });
                        open.push((input.clone(), shown.collect::<Vec<_>>().join("x")));
                    }
                }
            }
        }
        let inputs: Vec<&str> = roles.inputs.iter().map(String::as_str).collect();
        let listed: Vec<&str> = names.iter().map(String::as_str).collect();
        given.all_are_known(name, &inputs, &listed)?;
        open.retain(|(_, shape)| shape.split('x').any(|dim| dim.parse::<u64>().is_err() && !letters.contains_key(dim)));
        if !open.is_empty() {
            return Err(Given::missing(name, &open, &listed));
        }
        examples.retain(|letter, _| !letters.contains_key(letter));
        let mut known = letters.clone();
        known.extend(examples.clone());
        let mut values = Self {
            arrays: HashMap::new(),
            parameters: roles.parameters,
            buffers: roles.buffers,
            inputs: roles.inputs,
            examples,
            letters: known,
            open: BTreeSet::new(),
        };
        for (name, meta) in all {
            let array = values.array(meta);
            values.arrays.insert(name.to_owned(), array);
        }
        Ok(values)
    }

    fn array(&mut self, meta: &Value) -> ArrayRef {
        let mut open = Vec::new();
        let lengths: Vec<u64> = sizes(meta)
            .map(|size| {
                self.length(size).unwrap_or_else(|| {
                    open.push(expression(size).unwrap_or_else(|| "?".to_owned()));
                    1
                })
            })
            .collect();
        self.open.extend(open);
        let mut array = ArrayRef::new(dtype(meta["dtype"].as_u64().unwrap_or(0)), &lengths);
        let strides: Vec<u64> =
            meta["strides"].as_array().into_iter().flatten().filter_map(|stride| self.length(stride)).collect();
        array.layout = layout(&lengths, &strides);
        array
    }

    /// A length, its letters bound; of letters that nobody bound (results of operators) the example.
    pub(super) fn length(&self, size: &Value) -> Option<u64> {
        if let Some(length) = size["as_int"].as_i64() {
            return u64::try_from(length).ok();
        }
        let text = expression(size)?;
        let known = size::value(&text, &self.letters).and_then(|length| u64::try_from(length).ok());
        known.or_else(|| example(size).filter(|_| size::names(&text).all(|name| !self.letters.contains_key(name))))
    }

    /// The arrays that an argument names, those of lists too.
    pub(super) fn arrays(&self, argument: &Value) -> Vec<ArrayRef> {
        let name = |tensor: &Value| tensor["name"].as_str().and_then(|name| self.arrays.get(name)).cloned();
        let Some(argument) = argument.as_object() else { return Vec::new() };
        argument
            .iter()
            .flat_map(|(kind, value)| match kind.as_str() {
                "as_tensor" => name(value).into_iter().collect(),
                "as_tensors" => value.as_array().into_iter().flatten().filter_map(name).collect::<Vec<_>>(),
                "as_optional_tensor" => name(&value["as_tensor"]).into_iter().collect(),
                "as_optional_tensors" => {
                    value.as_array().into_iter().flatten().filter_map(|each| name(&each["as_tensor"])).collect()
                }
                _ => Vec::new(),
            })
            .collect()
    }

    /// Elements and bytes of parameters, and bytes of buffers.
    pub(super) fn parameters(&self) -> (u64, u64, u64) {
        let all = |names: &[String], of: fn(&ArrayRef) -> u64| {
            names.iter().filter_map(|name| self.arrays.get(name)).map(of).fold(0, u64::saturating_add)
        };
        (
            all(&self.parameters, ArrayRef::count),
            all(&self.parameters, ArrayRef::bytes),
            all(&self.buffers, ArrayRef::bytes),
        )
    }

    /// Bytes of what the program is given each time.
    pub(super) fn inputs(&self) -> u64 {
        self.inputs.iter().filter_map(|name| self.arrays.get(name)).map(ArrayRef::bytes).fold(0, u64::saturating_add)
    }

    pub(super) fn outputs(&self, graph: &Value) -> u64 {
        let outputs = graph["outputs"].as_array().into_iter().flatten();
        outputs.flat_map(|output| self.arrays(output)).map(|array| array.bytes()).fold(0, u64::saturating_add)
    }

    /// Memory at its fullest, by role; views count as what they are of only where they outlive it.
    pub(super) fn memory(&self, graph: &Value, weights: u64, inputs: u64) -> BTreeMap<String, u64> {
        let nodes = graph["nodes"].as_array().map_or(&[][..], Vec::as_slice);
        let mut last: HashMap<&str, usize> = HashMap::new();
        for (at, node) in nodes.iter().enumerate() {
            for name in super::arguments(node).flat_map(|(_, value)| names(value)) {
                last.insert(name, at);
            }
        }
        for name in graph["outputs"].as_array().into_iter().flatten().flat_map(names) {
            last.insert(name, usize::MAX);
        }
        let mut ends: HashMap<usize, u64> = HashMap::new();
        let (mut live, mut most) = (0_u64, 0_u64);
        for (at, node) in nodes.iter().enumerate() {
            for name in node["outputs"].as_array().into_iter().flatten().flat_map(names) {
                let bytes = self.arrays.get(name).map_or(0, ArrayRef::bytes);
                live = live.saturating_add(bytes);
                let end = ends.entry(last.get(name).copied().unwrap_or(at)).or_default();
                *end = end.saturating_add(bytes);
            }
            most = most.max(live);
            live = live.saturating_sub(ends.remove(&at).unwrap_or(0));
        }
        let roles = [("parameter", weights), ("input", inputs), ("activation", most)];
        roles.into_iter().filter(|(_, bytes)| *bytes > 0).map(|(role, bytes)| (role.to_owned(), bytes)).collect()
    }

    /// What was taken from the file's examples, and lengths that follow from nothing.
    pub(super) fn notes(&self) -> impl Iterator<Item = ModelNote> {
        let example = |(letter, length): (&String, &u64)| {
            note(
                "model",
                format!(
                    "the length {letter} is {length}, as in the example that the file was exported with; `--dim {letter}=8` changes it"
                ),
            )
        };
        let open = self
            .open
            .iter()
            .take(8)
            .map(|text| note("unknown-shape", format!("the length {text} depends on values; taken as 1")));
        self.examples.iter().map(example).chain(open)
    }
}

/// Arrays of a graph and those within it.
fn gather<'p>(graph: &'p Value, all: &mut BTreeMap<&'p str, &'p Value>, deep: usize) {
    const DEEPEST: usize = 20;
    let named = graph["tensor_values"].as_object().into_iter().flatten();
    all.extend(named.map(|(name, meta)| (name.as_str(), meta)));
    let nodes = graph["nodes"].as_array().into_iter().flatten();
    for inner in nodes.flat_map(|node| super::arguments(node)).filter_map(|(_, value)| value.get("as_graph")) {
        if deep < DEEPEST {
            gather(&inner["graph"], all, deep + 1);
        }
    }
}

/// How an array lies, by its strides: as its axes stand, or otherwise.
fn layout(lengths: &[u64], strides: &[u64]) -> Layout {
    if strides.len() != lengths.len() {
        return Layout::C;
    }
    let lies_in = |order: Vec<usize>| {
        let mut next = 1_u64;
        order.into_iter().all(|axis| {
            let fits = lengths[axis] <= 1 || strides[axis] == next;
            next = next.saturating_mul(lengths[axis].max(1));
            fits
        })
    };
    let rank = lengths.len();
    if lies_in((0..rank).rev().collect()) {
        Layout::C
    } else if rank >= 4 && lies_in(std::iter::once(1).chain((2..rank).rev()).chain(std::iter::once(0)).collect()) {
        Layout::ChannelsLast
    } else if strides.last() == Some(&1) {
        Layout::Rows
    } else {
        Layout::Strided
    }
}

/// Names in an argument.
fn names(argument: &Value) -> Vec<&str> {
    let Some(argument) = argument.as_object() else { return Vec::new() };
    argument
        .values()
        .flat_map(|value| match value {
            Value::Array(list) => {
                list.iter().filter_map(|each| each["name"].as_str().or(each["as_tensor"]["name"].as_str())).collect()
            }
            other => other["name"].as_str().or(other["as_tensor"]["name"].as_str()).into_iter().collect::<Vec<_>>(),
        })
        .collect()
}

/// A value that is no array, as Python prints it.
pub(super) fn printed(argument: &Value, values: &Values) -> Option<String> {
    let (kind, value) = argument.as_object()?.iter().next()?;
    let list = |list: &[Value], each: &dyn Fn(&Value) -> Option<String>| {
        list.iter()
            .map(each)
            .collect::<Option<Vec<_>>>()
            .map(|all| format!("({}{})", all.join(", "), if all.len() == 1 { "," } else { "" }))
    };
    match kind.as_str() {
        "as_int" => value.as_i64().map(|n| n.to_string()),
        "as_float" => value.as_f64().map(|x| x.to_string()),
        "as_bool" => value.as_bool().map(|b| if b { "True" } else { "False" }.to_owned()),
        "as_none" => Some("None".to_owned()),
        "as_string" => value.as_str().map(str::to_owned),
        "as_ints" => list(value.as_array()?, &|n| n.as_i64().map(|n| n.to_string())),
        "as_bools" => list(value.as_array()?, &|b| b.as_bool().map(|b| if b { "True" } else { "False" }.to_owned())),
        "as_sym_int" => values.length(value).map(|n| n.to_string()),
        _ => None,
    }
}

/// What inputs of the graph are for.
#[derive(Default)]
struct Roles {
    parameters: Vec<String>,
    buffers: Vec<String>,
    inputs: Vec<String>,
}

impl Roles {
    fn of(signature: &Value) -> Self {
        let mut roles = Self::default();
        for spec in signature["input_specs"].as_array().into_iter().flatten() {
            let Some((kind, value)) = spec.as_object().and_then(|spec| spec.iter().next()) else { continue };
            let arg = &value["arg"];
            let Some(name) = arg["name"].as_str().or(arg["as_tensor"]["name"].as_str()) else { continue };
            match kind.as_str() {
                "parameter" => roles.parameters.push(name.to_owned()),
                "buffer" | "tensor_constant" => roles.buffers.push(name.to_owned()),
                _ => roles.inputs.push(name.to_owned()),
            }
        }
        roles
    }
}
