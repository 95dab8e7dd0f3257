//! A function as a graph of primitive operations: what it reads and gives, with shapes; as JSON.
//!
//! Nothing here is of one framework: a graph is what a tracer, a graph file or a compiler's text can be turned into.

use crate::workload::Dtype;
use serde::{Deserialize, Deserializer};
use std::collections::BTreeMap;

/// A function: values by number, and what makes them of each other.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Graph {
    /// Every value, by number.
    pub values: Vec<Value>,
    /// What the function is given.
    #[serde(default)]
    pub inputs: Vec<usize>,
    /// What it gives.
    pub outputs: Vec<usize>,
    /// In an order in which they can run.
    pub nodes: Vec<Node>,
    /// Inputs whose memory the function may write to.
    #[serde(default)]
    pub given_up: Vec<usize>,
}

/// An array.
#[derive(Clone, Debug, Deserialize)]
pub struct Value {
    /// `Other` for what is no number.
    #[serde(deserialize_with = "dtype")]
    pub dtype: Dtype,
    /// Empty for one number.
    pub shape: Vec<u64>,
    /// Known when the function is compiled.
    #[serde(default)]
    pub constant: bool,
}

fn dtype<'de, D: Deserializer<'de>>(from: D) -> Result<Dtype, D::Error> {
    Ok(Dtype::named(&String::deserialize(from)?).unwrap_or(Dtype::Other))
}

/// One primitive operation.
#[derive(Clone, Debug, Deserialize)]
pub struct Node {
    /// Its name, as `callables/primitives.csv` has it.
    pub op: String,
    /// Numbers of the values it reads.
    #[serde(default)]
    pub reads: Vec<usize>,
    /// And of those it makes.
    pub gives: Vec<usize>,
    /// What shapes do not tell: axes, lengths.
    #[serde(default)]
    pub facts: BTreeMap<String, Fact>,
    /// Functions that it runs.
    #[serde(default)]
    pub bodies: Vec<Graph>,
    /// The operation of a framework that it is part of, where nobody fuses those: kernels hold steps of one group.
    #[serde(default)]
    pub group: Option<u64>,
}

/// Something about an operation that decides what it costs.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum Fact {
    /// A length, an exponent.
    Number(f64),
    /// Axes, sizes, one for each branch.
    List(Vec<f64>),
    /// A kind.
    Word(String),
}

impl Value {
    /// Elements.
    pub fn count(&self) -> u64 {
        self.shape.iter().fold(1, |n: u64, &dim| n.saturating_mul(dim))
    }

    /// Bytes.
    pub fn bytes(&self) -> f64 {
        self.count() as f64 * self.dtype.bytes() as f64
    }
}

impl Node {
    /// A single number.
    pub fn number(&self, name: &str) -> Option<f64> {
        match self.facts.get(name)? {
            Fact::Number(number) => Some(*number),
            Fact::List(_) | Fact::Word(_) => None,
        }
    }

    /// A list of numbers; empty where there is none.
    pub fn list(&self, name: &str) -> &[f64] {
        match self.facts.get(name) {
            Some(Fact::List(list)) => list,
            _ => &[],
        }
    }

    /// Axes and sizes.
    pub fn sizes(&self, name: &str) -> Vec<u64> {
        self.list(name).iter().map(|&size| size.max(0.0) as u64).collect()
    }

    /// A word.
    pub fn word(&self, name: &str) -> &str {
        match self.facts.get(name) {
            Some(Fact::Word(word)) => word,
            _ => "",
        }
    }
}

impl Graph {
    /// Whether every number that is named is one of a value.
    pub fn is_whole(&self) -> bool {
        let known = |list: &[usize]| list.iter().all(|&value| value < self.values.len());
        let node = |node: &Node| known(&node.reads) && known(&node.gives) && node.bodies.iter().all(Self::is_whole);
        known(&self.inputs) && known(&self.outputs) && self.nodes.iter().all(node)
    }
}
