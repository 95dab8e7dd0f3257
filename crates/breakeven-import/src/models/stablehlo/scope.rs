//! Values by name while a block becomes a graph: those of its own, and those of the blocks around it, which it is given.

use super::types::Type;
use breakeven::compiled::{Fact, Graph, Node, Value};
use std::collections::{BTreeMap, HashMap, HashSet};

/// A block on its way to a graph.
#[derive(Debug, Default)]
pub(super) struct Scope<'p> {
    pub(super) graph: Graph,
    names: HashMap<String, usize>,
    /// Types by number: lengths that are left open stay so.
    types: Vec<Type>,
    /// Whole numbers that are known, by value.
    pub(super) known: HashMap<usize, i64>,
    /// Values that say whether a factorisation failed.
    pub(super) checks: HashSet<usize>,
    /// Names of values from around, in the order of the inputs that they are.
    pub(super) captured: Vec<String>,
    around: Option<&'p Scope<'p>>,
}

impl<'p> Scope<'p> {
    pub(super) fn within(around: &'p Self) -> Self {
        Self { around: Some(around), ..Self::default() }
    }

    /// A new value.
    pub(super) fn make(&mut self, of: &Type, constant: bool) -> usize {
        self.graph.values.push(Value { dtype: of.dtype, shape: of.shape(), constant });
        self.types.push(of.clone());
        self.graph.values.len() - 1
    }

    /// A new value with a name.
    pub(super) fn name(&mut self, name: &str, value: usize) {
        self.names.insert(name.to_owned(), value);
    }

    /// What the block is given.
    pub(super) fn input(&mut self, name: &str, of: &Type) -> usize {
        let value = self.make(of, false);
        self.graph.inputs.push(value);
        self.name(name, value);
        value
    }

    pub(super) fn type_of(&self, value: usize) -> &Type {
        &self.types[value]
    }

    /// The value of a name, taken in from around where it is no own one; one that nobody gives is known when compiled.
    pub(super) fn read(&mut self, name: &str) -> usize {
        if let Some(value) = self.own(name) {
            return value;
        }
        let Some((of, constant, known)) = self.look(name) else {
            let value = self.make(&Type::single(breakeven::workload::Dtype::Other), true);
            self.name(name, value);
            return value;
        };
        let value = self.make(&of, constant);
        self.name(name, value);
        if let Some(known) = known {
            self.known.insert(value, known);
        }
        if !constant {
            self.graph.inputs.push(value);
            self.captured.push(name.to_owned());
        }
        value
    }

    /// A value of the block's own.
    pub(super) fn own(&self, name: &str) -> Option<usize> {
        // `%0#0` of an operation with one result is `%0`.
        self.names.get(name).or_else(|| self.names.get(name.strip_suffix("#0")?)).copied()
    }

    /// The whole number of a value here or around.
    pub(super) fn number(&self, name: &str) -> Option<i64> {
        match self.own(name) {
            Some(value) => self.known.get(&value).copied(),
            None => self.around.and_then(|around| around.number(name)),
        }
    }

    /// Type of a value around, whether it is known when compiled, and its number.
    fn look(&self, name: &str) -> Option<(Type, bool, Option<i64>)> {
        let mut scope = self.around;
        while let Some(found) = scope {
            if let Some(value) = found.own(name) {
                let of = found.types[value].clone();
                return Some((of, found.graph.values[value].constant, found.known.get(&value).copied()));
            }
            scope = found.around;
        }
        None
    }

    /// Adds an operation.
    pub(super) fn node(&mut self, op: &str, reads: Vec<usize>, gives: Vec<usize>, facts: BTreeMap<String, Fact>) {
        self.graph.nodes.push(Node { op: op.to_owned(), reads, gives, facts, bodies: Vec::new(), group: None });
    }

    /// Adds an operation that runs functions.
    pub(super) fn runs(&mut self, node: Node) {
        self.graph.nodes.push(node);
    }
}
