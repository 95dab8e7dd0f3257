//! Loops and branches: rounds where the text fixes them, and what bodies are given from around.

use super::build::Build;
use super::facts;
use super::scope::Scope;
use super::statement::{Block, Statement};
use super::types::Type;
use breakeven::Result;
use breakeven::compiled::{Fact, Graph, Node};
use std::collections::BTreeMap;

/// A body, what it takes from around, and what it hands on unchanged of what it was given.
struct Body {
    graph: Graph,
    captured: Vec<String>,
}

/// `while`: one whose rounds the text fixes is a loop of that length, which no host waits for.
pub(super) fn repeat<'a>(
    build: &mut Build<'_, 'a>,
    statement: &Statement<'a>,
    reads: &[usize],
    scope: &mut Scope<'_>,
) -> Result<()> {
    let [condition, body] = &statement.regions[..] else {
        build.unknown.insert(format!("{}: a loop without its regions", statement.op));
        return Ok(());
    };
    let (Some(condition), Some(body)) = (condition.first(), body.first()) else { return Ok(()) };
    let types: Vec<Type> = reads.iter().map(|&read| scope.type_of(read).clone()).collect();
    let begins: Vec<Option<i64>> = reads.iter().map(|read| scope.known.get(read).copied()).collect();
    let names = |block: &Block<'a>| -> Vec<String> {
        if statement.carried.is_empty() {
            return block.arguments.iter().map(|(name, _)| (*name).to_owned()).collect();
        }
        statement.carried.iter().map(|(name, _)| (*name).to_owned()).collect()
    };
    let same = unchanged(body, &names(body));
    let [condition_names, body_names] = [condition, body].map(names);
    // What stays as it was is known in each round if it was before.
    let known: Vec<Option<i64>> =
        begins.iter().enumerate().map(|(at, begin)| begin.filter(|_| same.get(at) == Some(&true))).collect();
    let rounds = super::trips::rounds(condition, body, [&condition_names, &body_names], &begins, &known, scope);
    let made: Vec<usize> = types.iter().map(|of| scope.make(of, false)).collect();
    Build::named(statement, &made, scope);
    let inner = read_body(build, body, &body_names, &types, &known, scope)?;
    if let Some(rounds) = rounds {
        repeated(rounds, inner, &same, (reads, &made), scope);
        return Ok(());
    }
    build.uncounted.insert(format!("{}: trips unknown, taken to run once", statement.op));
    let outer = read_body(build, condition, &condition_names, &types, &known, scope)?;
    let [of_condition, of_body] = [&outer, &inner].map(|body| body.captured.len());
    let mut all: Vec<usize> = Vec::new();
    for name in outer.captured.iter().chain(&inner.captured) {
        all.push(scope.read(name));
    }
    all.extend(reads);
    let number = |n: usize| Fact::Number(n as f64);
    let facts = [("cond_nconsts", number(of_condition)), ("body_nconsts", number(of_body))];
    scope.runs(Node {
        op: "while".to_owned(),
        reads: all,
        gives: made,
        facts: facts.into_iter().map(|(name, fact)| (name.to_owned(), fact)).collect(),
        bodies: vec![front(outer), front(inner)],
        group: None,
    });
    Ok(())
}

/// A loop of known length; what it carries unchanged is only read.
fn repeated(rounds: u64, body: Body, same: &[bool], (reads, made): (&[usize], &[usize]), scope: &mut Scope<'_>) {
    let own = reads.len();
    let Body { mut graph, captured } = body;
    let inputs = std::mem::take(&mut graph.inputs);
    let outputs = std::mem::take(&mut graph.outputs);
    let rows = stacked(&mut graph, &inputs, &outputs);
    let is_same = |place: usize| same.get(place).copied().unwrap_or(false);
    let is_row = |place: usize| rows.iter().any(|(row, _)| *row == place);
    let places = |wanted: bool| (0..own).filter(move |&place| is_same(place) == wanted && !is_row(place));
    let mut given: Vec<usize> = captured.iter().map(|name| scope.read(name)).collect();
    given.extend(places(true).map(|place| reads[place]));
    let constants = given.len();
    given.extend(places(false).map(|place| reads[place]));
    graph.inputs.extend(inputs.get(own..).unwrap_or_default());
    graph.inputs.extend(places(true).chain(places(false)).filter_map(|place| inputs.get(place)));
    graph.outputs.extend(places(false).filter_map(|place| outputs.get(place)));
    let mut gives: Vec<usize> = places(false).map(|place| made[place]).collect();
    let carried = gives.len();
    graph.outputs.extend(rows.iter().map(|(_, value)| *value));
    gives.extend(rows.iter().map(|(place, _)| made[*place]));
    for place in places(true) {
        scope.node("reshape", vec![reads[place]], vec![made[place]], BTreeMap::new());
    }
    let number = |n: usize| Fact::Number(n as f64);
    let facts =
        [("length", Fact::Number(rounds as f64)), ("num_consts", number(constants)), ("num_carry", number(carried))];
    scope.runs(Node {
        op: "scan".to_owned(),
        reads: given,
        gives,
        facts: facts.into_iter().map(|(name, fact)| (name.to_owned(), fact)).collect(),
        bodies: vec![graph],
        group: None,
    });
}

/// Arrays of which each round writes a part, and nothing reads in the loop: results that are stacked. Gives their places,
/// with the part that a round writes.
fn stacked(graph: &mut Graph, inputs: &[usize], outputs: &[usize]) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    for (place, (&input, &output)) in inputs.iter().zip(outputs).enumerate() {
        let mut readers = graph.nodes.iter().enumerate().filter(|(_, node)| node.reads.contains(&input));
        let (Some((at, node)), None) = (readers.next(), readers.next()) else { continue };
        let alone = outputs.iter().filter(|&&other| other == output || other == input).count() == 1;
        if node.op == "dynamic_update_slice" && node.reads.first() == Some(&input) && node.gives == [output] && alone {
            let Some(&part) = node.reads.get(1) else { continue };
            let read_again = graph.nodes.iter().any(|node| node.reads.contains(&output));
            if !read_again {
                graph.nodes.remove(at);
                found.push((place, part));
            }
        }
    }
    found
}

/// Which of what a body is given it hands on as it is.
fn unchanged(body: &Block<'_>, names: &[String]) -> Vec<bool> {
    let last = body.statements.iter().rev().find(|statement| facts::bare(statement.op) == "return");
    let given_on = last.map_or(&[][..], |last| &last.reads);
    names.iter().enumerate().map(|(place, name)| given_on.get(place).is_some_and(|read| read == name)).collect()
}

fn read_body<'a>(
    build: &mut Build<'_, 'a>,
    block: &Block<'a>,
    names: &[String],
    types: &[Type],
    known: &[Option<i64>],
    scope: &Scope<'_>,
) -> Result<Body> {
    let mut inner = Scope::within(scope);
    for (place, (name, of)) in names.iter().zip(types).enumerate() {
        let value = inner.input(name, of);
        if let Some(number) = known.get(place).copied().flatten() {
            inner.known.insert(value, number);
        }
    }
    build.statements(block, &mut inner)?;
    Ok(Body { graph: inner.graph, captured: inner.captured })
}

/// What is taken from around comes first, as the engine wants it.
fn front(body: Body) -> Graph {
    let Body { mut graph, captured } = body;
    let own = graph.inputs.len() - captured.len();
    graph.inputs.rotate_left(own);
    graph
}

/// `case`, `if`: each branch is given what any of them takes from around.
pub(super) fn branch<'a>(
    build: &mut Build<'_, 'a>,
    statement: &Statement<'a>,
    reads: &[usize],
    scope: &mut Scope<'_>,
) -> Result<()> {
    let mut bodies = Vec::new();
    for region in &statement.regions {
        let Some(block) = region.first() else { continue };
        bodies.push(read_body(build, block, &[], &[], &[], scope)?);
    }
    let mut names: Vec<String> = Vec::new();
    for name in bodies.iter().flat_map(|body| &body.captured) {
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
    let made = Build::gives(statement, scope);
    let mut given: Vec<usize> = reads.iter().take(1).copied().collect();
    given.extend(names.iter().map(|name| scope.read(name)).collect::<Vec<_>>());
    let types: Vec<Type> = given.iter().skip(1).map(|&value| scope.type_of(value).clone()).collect();
    let whole = |body: Body| {
        let Body { mut graph, captured } = body;
        let inputs = std::mem::take(&mut graph.inputs);
        for (name, of) in names.iter().zip(&types) {
            match captured.iter().position(|known| known == name) {
                Some(at) => graph.inputs.push(inputs[at]),
                None => {
                    let value = breakeven::compiled::Value { dtype: of.dtype, shape: of.shape(), constant: false };
                    graph.values.push(value);
                    graph.inputs.push(graph.values.len() - 1);
                }
            }
        }
        graph
    };
    let bodies: Vec<Graph> = bodies.into_iter().map(whole).collect();
    if bodies.len() > 1 {
        build.uncounted.insert(format!("{}: the dearest branch is taken", statement.op));
    }
    let op = if bodies.len() == 1 { "call" } else { "cond" };
    if op == "call" {
        given.remove(0);
    }
    scope.runs(Node { op: op.to_owned(), reads: given, gives: made, facts: BTreeMap::new(), bodies, group: None });
    Ok(())
}
