//! A graph as one list of steps: calls taken in, what nobody reads left out, equal steps made one.

use super::graph::{Graph, Node, Value};
use super::meaning::{Meaning, meaning};
use crate::lower::function_cost;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// One operation that is understood, or `None`.
#[derive(Clone, Debug)]
pub(super) struct Step {
    pub(super) meaning: Option<Meaning>,
    pub(super) node: Node,
}

/// The steps of a function.
#[derive(Debug, Default)]
pub(super) struct Flat {
    pub(super) values: Vec<Value>,
    pub(super) outputs: Vec<usize>,
    pub(super) steps: Vec<Step>,
    /// What the function is given and may overwrite.
    pub(super) given_up: Vec<usize>,
    /// The step that makes a value; none for what the function is given.
    pub(super) maker: Vec<Option<usize>>,
    /// The steps that read a value, each once.
    pub(super) users: Vec<Vec<usize>>,
    /// Whether a value is the same whatever the function is given.
    constant: Vec<bool>,
}

impl Flat {
    pub(super) fn of(graph: &Graph) -> Self {
        let mut flat = Self::default();
        let names: Vec<usize> = graph.values.iter().map(|value| flat.value(value)).collect();
        let mut same: Vec<usize> = Vec::new();
        flat.take_in(graph, names, &mut same);
        flat.given_up = graph.given_up.clone();
        flat.outputs = graph.outputs.iter().map(|&output| same[output]).collect();
        flat.vectors_are_folded();
        flat.one_of_equals();
        flat.without_unread();
        flat.link();
        flat.constants();
        flat.between_groups();
        flat
    }

    /// What another group reads is written to memory.
    fn between_groups(&mut self) {
        let group = |at: &usize| self.steps[*at].node.group;
        let crosses = |&value: &usize| {
            self.maker[value].is_some_and(|maker| {
                let own = group(&maker);
                own.is_some() && self.users[value].iter().any(|user| group(user) != own)
            })
        };
        let crossing: Vec<usize> = (0..self.values.len()).filter(crosses).collect();
        self.outputs.extend(crossing);
    }

    pub(super) fn value(&mut self, value: &Value) -> usize {
        self.values.push(value.clone());
        self.values.len() - 1
    }

    /// Adds the graph's nodes, whose values have these numbers here; `done` is where each of them really comes from.
    fn take_in(&mut self, graph: &Graph, names: Vec<usize>, done: &mut Vec<usize>) {
        *done = names;
        for node in &graph.nodes {
            let renamed = |list: &[usize]| list.iter().map(|&value| done[value]).collect::<Vec<_>>();
            let reads = renamed(&node.reads);
            let known = meaning(&node.op);
            if known == Some(Meaning::Call)
                && let [body] = &node.bodies[..]
            {
                let mut inner: Vec<usize> = body.values.iter().map(|value| self.value(value)).collect();
                for (&input, &read) in body.inputs.iter().zip(&reads) {
                    inner[input] = read;
                }
                let mut came = Vec::new();
                self.take_in(body, inner, &mut came);
                for (&given, &output) in node.gives.iter().zip(&body.outputs) {
                    done[given] = came[output];
                }
                continue;
            }
            let gives = renamed(&node.gives);
            self.steps.push(Step { meaning: known, node: Node { reads, gives, ..node.clone() } });
        }
    }

    /// A product with a vector is multiplied and folded, as element-wise work is: `(dot strength reduction)`.
    fn vectors_are_folded(&mut self) {
        for step in std::mem::take(&mut self.steps) {
            match step.node.reads[..] {
                [left, right] if self.is_by_a_vector(&step) => self.fold(step.node, left, right),
                _ => self.steps.push(step),
            }
        }
    }

    fn is_by_a_vector(&self, step: &Step) -> bool {
        step.meaning == Some(Meaning::Product) && super::price::product_of(&self.values, step).is_vector()
    }

    /// Adds a product as two steps: each element times one of the vector, and their sums.
    fn fold(&mut self, product: Node, left: usize, right: usize) {
        let (a, b) = (self.values[left].count(), self.values[right].count());
        let (larger, contract) = if a >= b { (left, "contract") } else { (right, "contract_right") };
        let products = self.value(&Value { constant: false, ..self.values[larger].clone() });
        let axes = product.facts.get(contract).cloned();
        let cost = function_cost("two");
        let times = Node { gives: vec![products], facts: BTreeMap::new(), ..product.clone() };
        let sum = Node {
            reads: vec![products],
            facts: axes.into_iter().map(|axes| ("axes".to_owned(), axes)).collect(),
            bodies: Vec::new(),
            ..product
        };
        self.steps.push(Step { meaning: Some(Meaning::Map(cost)), node: times });
        self.steps.push(Step { meaning: Some(Meaning::Fold(cost)), node: sum });
    }

    /// Steps that do the same to the same are one.
    fn one_of_equals(&mut self) {
        let mut names: Vec<usize> = (0..self.values.len()).collect();
        let mut seen: HashMap<String, Vec<usize>> = HashMap::new();
        let values = &self.values;
        self.steps.retain_mut(|step| {
            step.node.reads.iter_mut().for_each(|read| *read = names[*read]);
            let pure = step.meaning.is_some_and(|meaning| meaning.is_loop() || matches!(meaning, Meaning::Fold(_)));
            if !pure || step.node.reads.iter().any(|&read| values[read].constant) {
                return true;
            }
            let shape = step.node.gives.first().map(|&given| (&values[given].shape, values[given].dtype));
            let key = format!("{} {:?} {:?} {shape:?}", step.node.op, step.node.reads, step.node.facts);
            match seen.get(&key) {
                Some(first) => {
                    step.node.gives.iter().zip(first).for_each(|(&given, &known)| names[given] = known);
                    false
                }
                None => {
                    seen.insert(key, step.node.gives.clone());
                    true
                }
            }
        });
        self.outputs.iter_mut().for_each(|output| *output = names[*output]);
    }

    fn without_unread(&mut self) {
        let mut read: BTreeSet<usize> = self.outputs.iter().copied().collect();
        let mut kept = Vec::new();
        for step in self.steps.drain(..).rev() {
            let acts = matches!(step.meaning, Some(Meaning::Host));
            if acts || step.node.gives.iter().any(|given| read.contains(given)) {
                read.extend(step.node.reads.iter().copied());
                kept.push(step);
            }
        }
        kept.reverse();
        self.steps = kept;
    }

    fn link(&mut self) {
        self.maker = vec![None; self.values.len()];
        self.users = vec![Vec::new(); self.values.len()];
        for (at, step) in self.steps.iter().enumerate() {
            for &given in &step.node.gives {
                self.maker[given] = Some(at);
            }
            for &read in &step.node.reads {
                if self.users[read].last() != Some(&at) {
                    self.users[read].push(at);
                }
            }
        }
    }

    /// The value whose bytes these are, under another shape.
    pub(super) fn behind_shapes(&self, mut value: usize) -> usize {
        while let Some(step) = self.maker[value].map(|at| &self.steps[at])
            && step.meaning == Some(Meaning::Bitcast)
            && let Some(&read) = step.node.reads.first()
        {
            value = read;
        }
        value
    }

    /// Marks values that are the same whatever the function is given.
    fn constants(&mut self) {
        self.constant = self.values.iter().map(|value| value.constant).collect();
        for step in &self.steps {
            let cheap = matches!(step.meaning, Some(Meaning::Spread | Meaning::Bitcast | Meaning::Map(_)));
            if cheap && step.node.reads.iter().all(|&read| self.constant[read]) {
                step.node.gives.iter().for_each(|&given| self.constant[given] = true);
            }
        }
    }

    /// Whether the value is the same whatever the function is given.
    pub(super) fn is_constant(&self, value: usize) -> bool {
        self.constant[value]
    }
}
