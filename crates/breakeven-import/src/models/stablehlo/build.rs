//! Functions and blocks as graphs of primitives.

use super::module::{Function, Module};
use super::scope::Scope;
use super::statement::{Block, Statement};
use super::types::Type;
use super::{calls, constants, control, facts, open};
use crate::models::given::Given;
use breakeven::compiled::{Graph, Node};
use breakeven::workload::Dtype;
use breakeven::{Error, Result};
use std::collections::{BTreeMap, BTreeSet};

/// Calls within calls are followed so deep.
const DEEPEST: usize = 60;
/// Operations in all, those of functions at each of their calls.
const MOST: usize = 2_000_000;
/// Operations of one function that are fused: what decides which are one kernel looks at them again and again.
const TOKENS: [Dtype; 1] = [Dtype::Other];

/// What is in hand while a module is read.
#[derive(Debug)]
pub(super) struct Build<'m, 'a> {
    pub(super) module: &'m Module<'a>,
    pub(super) name: &'m str,
    /// Functions on the way, and operations so far.
    calls: Vec<String>,
    nodes: usize,
    /// Operations by name.
    pub(super) ops: BTreeMap<String, u64>,
    /// What was not understood, in words.
    pub(super) unknown: BTreeSet<String>,
    /// Loops whose rounds the text does not fix, and the like.
    pub(super) uncounted: BTreeSet<String>,
    /// Constants that are no splats: weights in the text.
    pub(super) weights: Vec<Type>,
}

impl<'m, 'a> Build<'m, 'a> {
    pub(super) fn new(module: &'m Module<'a>, name: &'m str) -> Self {
        let (ops, unknown, uncounted) = (BTreeMap::new(), BTreeSet::new(), BTreeSet::new());
        Self { module, name, calls: Vec::new(), nodes: 0, ops, unknown, uncounted, weights: Vec::new() }
    }

    /// The graph of a function that is given arrays of these types, and the types of its results.
    ///
    /// # Errors
    /// `model-read` for functions that call themselves, and for more operations than any exporter writes.
    pub(super) fn function(&mut self, name: &str, given: &[Type]) -> Result<Option<(Graph, Vec<Type>)>> {
        let Some(function) = self.module.functions.get(name) else { return Ok(None) };
        if self.calls.iter().any(|known| known == name) || self.calls.len() > DEEPEST {
            let message = format!("in {} the function @{name} calls itself, or calls are too deep", self.name);
            return Err(Error::new("model-read", message).hint("no compiler takes such a module: write the text again"));
        }
        self.calls.push(name.to_owned());
        let mut scope = Scope::default();
        for (place, (name, of)) in function.arguments.iter().enumerate() {
            scope.input(name, given.get(place).unwrap_or(of));
        }
        self.blocks(function, &mut scope)?;
        self.calls.pop();
        let types = scope.graph.outputs.iter().map(|&output| scope.type_of(output).clone()).collect();
        Ok(Some((scope.graph, types)))
    }

    /// Blocks that jump to each other are read as if each ran once.
    fn blocks(&mut self, function: &Function<'a>, scope: &mut Scope<'_>) -> Result<()> {
        let mut jumps: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for (place, block) in function.blocks.iter().enumerate() {
            let given = jumps.get(block.label).cloned().unwrap_or_default();
            let given: Vec<usize> = given.iter().map(|name| scope.read(name)).collect();
            for (place, (name, of)) in block.arguments.iter().enumerate() {
                let value = given.get(place).copied().unwrap_or_else(|| scope.make(of, false));
                scope.name(name, value);
            }
            if place > 0 {
                self.uncounted.insert("cf.br: jumps between blocks, each taken to run once".to_owned());
            }
            self.statements(block, scope)?;
            for (to, given) in block.statements.iter().flat_map(|statement| &statement.jumps) {
                // A block that was read before is given other values for what comes after.
                if let Some(known) = function.blocks[..=place].iter().find(|known| known.label == *to) {
                    let next: Vec<usize> = given.iter().map(|name| scope.read(name)).collect();
                    known.arguments.iter().zip(next).for_each(|((name, _), value)| scope.name(name, value));
                }
                jumps.insert(to, given.clone());
            }
        }
        Ok(())
    }

    /// Adds the operations of a block to the graph.
    pub(super) fn statements(&mut self, block: &Block<'a>, scope: &mut Scope<'_>) -> Result<()> {
        for statement in &block.statements {
            self.nodes += 1;
            if self.nodes > MOST {
                let message =
                    format!("{} comes to more than {MOST} operations, those of functions at each call", self.name);
                return Err(Error::new("model-read", message).hint("import the function that matters alone"));
            }
            self.statement(statement, scope)?;
        }
        Ok(())
    }

    fn statement(&mut self, statement: &Statement<'a>, scope: &mut Scope<'_>) -> Result<()> {
        let bare = facts::bare(statement.op);
        if matches!(bare, "return" | "func.return" | "yield") {
            scope.graph.outputs = statement.reads.iter().map(|read| scope.read(read)).collect();
            return Ok(());
        }
        if statement.op.starts_with("cf.") || matches!(bare, "assert" | "tensor.extract" | "tensor.from_elements") {
            return Ok(());
        }
        let constant = bare == "constant" || statement.op.contains(".global") || statement.op.ends_with(".constant");
        if !constant {
            *self.ops.entry(statement.op.to_owned()).or_default() += 1;
        }
        let reads: Vec<usize> = statement.reads.iter().map(|read| scope.read(read)).collect();
        if constant {
            constants::add(self, statement, scope);
            return Ok(());
        }
        match bare {
            "while" => control::repeat(self, statement, &reads, scope),
            "case" | "if" => control::branch(self, statement, &reads, scope),
            "call" | "func.call" => self.call(statement.symbol.unwrap_or(""), statement, &reads, scope),
            "composite" | "custom_call" => calls::of(self, statement, &reads, scope),
            "map" => {
                let ops = statement.regions.iter().flatten().flat_map(|block| &block.statements);
                let op = ops.map(|inner| facts::bare(inner.op)).find_map(facts::primitive).unwrap_or("add");
                let gives = Self::gives(statement, scope);
                scope.node(op, reads, gives, BTreeMap::new());
                Ok(())
            }
            "tuple" | "get_tuple_element" => {
                self.unknown.insert(format!("{}: tuples", statement.op));
                let gives = Self::gives(statement, scope);
                scope.node("tuple", reads, gives, BTreeMap::new());
                Ok(())
            }
            _ => {
                self.plain(statement, &reads, scope);
                Ok(())
            }
        }
    }

    /// An operation that runs no other.
    fn plain(&mut self, statement: &Statement<'a>, reads: &[usize], scope: &mut Scope<'_>) {
        if let Some(number) = constants::folded(statement, reads, scope) {
            let gives = Self::gives(statement, scope);
            gives.iter().for_each(|&given| {
                scope.known.insert(given, number);
            });
            let op = facts::primitive(facts::bare(statement.op)).unwrap_or("reshape");
            scope.node(op, reads.to_vec(), gives, BTreeMap::new());
            return;
        }
        let given: Vec<Type> = reads.iter().map(|&read| scope.type_of(read).clone()).collect();
        let types = self.types(statement, &given);
        let given: Vec<&Type> = given.iter().collect();
        let made: Vec<usize> = types.iter().map(|of| scope.make(of, false)).collect();
        Self::named(statement, &made, scope);
        if reads.iter().any(|read| scope.checks.contains(read)) {
            match (facts::bare(statement.op), reads, &made[..]) {
                // What came of it, unless it failed.
                ("select", [_, value, _], [_]) => {
                    scope.node("reshape", vec![*value], made, BTreeMap::new());
                    return;
                }
                ("compare" | "broadcast_in_dim" | "reshape" | "and" | "convert", ..) => scope.checks.extend(&made),
                _ => {}
            }
        }
        let Some(primitive) = facts::of(statement, &given, &types) else {
            self.unknown.insert(statement.op.to_owned());
            scope.node(statement.op, reads.to_vec(), made, BTreeMap::new());
            return;
        };
        Self::add(primitive, reads, &made, scope);
    }

    /// Adds a primitive that reads and makes some of these.
    pub(super) fn add(primitive: facts::Primitive, reads: &[usize], made: &[usize], scope: &mut Scope<'_>) {
        let pick = |all: &[usize], places: &Option<Vec<usize>>| match places {
            Some(places) => places.iter().filter_map(|&place| all.get(place).copied()).collect(),
            None => all.to_vec(),
        };
        let gives: Vec<usize> = pick(made, &primitive.gives);
        for value in made.iter().filter(|value| !gives.contains(value)) {
            scope.graph.values[*value].constant = true;
        }
        // Tokens and tuples are no arrays.
        let reads = pick(reads, &primitive.reads);
        scope.node(&primitive.op, reads, gives, primitive.facts);
    }

    /// Types of the results, with lengths that the text leaves open worked out where they can be.
    pub(super) fn types(&mut self, statement: &Statement<'a>, given: &[Type]) -> Vec<Type> {
        let mut types = statement.types.clone();
        types.resize(statement.gives.len(), Type::single(TOKENS[0]));
        for of in types.iter_mut().filter(|of| of.is_open()) {
            if let Some(found) = open::worked_out(statement, given, of) {
                *of = found;
            }
            if of.is_open() {
                let text = format!("{}: a length that is open is taken to be 1", statement.op);
                self.unknown.insert(text);
            }
        }
        types
    }

    /// New values for the results, of the types that the text says.
    pub(super) fn gives(statement: &Statement<'a>, scope: &mut Scope<'_>) -> Vec<usize> {
        let mut types = statement.types.clone();
        types.resize(statement.gives.len(), Type::single(Dtype::Other));
        let made: Vec<usize> = types.iter().map(|of| scope.make(of, false)).collect();
        Self::named(statement, &made, scope);
        made
    }

    pub(super) fn named(statement: &Statement<'a>, made: &[usize], scope: &mut Scope<'_>) {
        statement.gives.iter().zip(made).for_each(|(name, &value)| scope.name(name, value));
    }

    /// A function is called.
    pub(super) fn call(
        &mut self,
        callee: &str,
        statement: &Statement<'a>,
        reads: &[usize],
        scope: &mut Scope<'_>,
    ) -> Result<()> {
        let given: Vec<Type> = reads.iter().map(|&read| scope.type_of(read).clone()).collect();
        if let Some(op) = calls::known_function(callee) {
            let gives = Self::gives(statement, scope);
            scope.node(op, reads.to_vec(), gives, BTreeMap::new());
            return Ok(());
        }
        let Some((body, types)) = self.function(callee, &given)? else {
            self.unknown.insert(format!("call of @{callee}, which the text does not hold"));
            let gives = Self::gives(statement, scope);
            scope.node("call of a function that is not there", reads.to_vec(), gives, BTreeMap::new());
            return Ok(());
        };
        let made: Vec<usize> = statement.gives.iter().zip(&types).map(|(_, of)| scope.make(of, false)).collect();
        Self::named(statement, &made, scope);
        let facts = BTreeMap::new();
        scope.runs(Node {
            op: "call".to_owned(),
            reads: reads.to_vec(),
            gives: made,
            facts,
            bodies: vec![body],
            group: None,
        });
        Ok(())
    }
}

/// Types of a function's arguments: as the text has them, or as they are given.
///
/// # Errors
/// `model-shape` where a length is open and not given, with all that are; what [`Given::fits`] refuses.
pub(super) fn arguments(function: &Function<'_>, given: &Given, name: &str) -> Result<Vec<Type>> {
    let mut open = Vec::new();
    let mut types = Vec::new();
    for (argument, of) in &function.arguments {
        let plain = argument.trim_start_matches('%');
        match given.shape(plain) {
            Some(shape) => {
                given.fits(plain, shape, &of.dims)?;
                types.push(Type { dtype: of.dtype, dims: shape.iter().map(|&length| Some(length)).collect() });
            }
            None => {
                if of.is_open() {
                    let dims: Vec<String> =
                        of.dims.iter().map(|dim| dim.map_or_else(|| "?".to_owned(), |dim| dim.to_string())).collect();
                    open.push((plain.to_owned(), dims.join("x")));
                }
                types.push(of.clone());
            }
        }
    }
    let names: Vec<&str> = function.arguments.iter().map(|(name, _)| name.trim_start_matches('%')).collect();
    given.all_are_known(name, &names, &[])?;
    if open.is_empty() { Ok(types) } else { Err(Given::missing(name, &open, &[])) }
}
