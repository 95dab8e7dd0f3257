//! How often a `while` runs, where its text fixes that: a counter that begins at a constant, steps by one, and is compared
//! with one.

use super::facts;
use super::scope::Scope;
use super::statement::{Block, Statement};
use super::tree::{Tree, numbers};

/// Rounds of a loop. `names` are those of what condition and body are given, `begins` the numbers that these begin with,
/// `known` those that stay.
pub(super) fn rounds(
    condition: &Block<'_>,
    body: &Block<'_>,
    [condition_names, body_names]: [&[String]; 2],
    begins: &[Option<i64>],
    known: &[Option<i64>],
    scope: &Scope<'_>,
) -> Option<u64> {
    let end = returned(condition)?.first().copied()?;
    let compare = made(condition, end).filter(|statement| facts::bare(statement.op) == "compare")?;
    let [left, right] = compare.reads[..] else { return None };
    let place = |name: &str| condition_names.iter().position(|known| known == name);
    let limit = |name: &str| {
        place(name).and_then(|at| known.get(at).copied().flatten()).or_else(|| number(condition, name, scope))
    };
    let (counter, limit, kind) = match (place(left), limit(right)) {
        (Some(counter), Some(limit)) => (counter, limit, compare.first_word().or_else(|| direction(compare))?),
        _ => {
            let turned = match compare.first_word().or_else(|| direction(compare))? {
                "LT" => "GT",
                "LE" => "GE",
                "GT" => "LT",
                "GE" => "LE",
                other => other,
            };
            (place(right)?, limit(left)?, turned)
        }
    };
    let begin = begins.get(counter).copied().flatten()?;
    let next = made(body, returned(body)?.get(counter).copied()?)?;
    let [one, other] = next.reads[..] else { return None };
    let own = body_names.get(counter)?;
    let constant = |name: &str| {
        let at = body_names.iter().position(|known| known == name);
        at.and_then(|at| known.get(at).copied().flatten()).or_else(|| number(body, name, scope))
    };
    let step = match facts::bare(next.op) {
        "add" if one == own => constant(other)?,
        "add" if other == own => constant(one)?,
        "subtract" if one == own => constant(other)?.checked_neg()?,
        _ => return None,
    };
    let (far, step) = match kind {
        "LT" | "NE" if step > 0 => (limit.checked_sub(begin)?, step),
        "LE" if step > 0 => (limit.checked_sub(begin)?.checked_add(1)?, step),
        "GT" | "NE" if step < 0 => (begin.checked_sub(limit)?, step.checked_neg()?),
        "GE" if step < 0 => (begin.checked_sub(limit)?.checked_add(1)?, step.checked_neg()?),
        _ => return None,
    };
    Some(far.max(0).unsigned_abs().div_ceil(step.unsigned_abs()))
}

/// The kind of a comparison in the generic form: `#stablehlo<comparison_direction LT>`.
fn direction<'a>(compare: &Statement<'a>) -> Option<&'a str> {
    match compare.attribute("comparison_direction")? {
        Tree::Angle(_, inner) => inner.split_whitespace().last(),
        Tree::Word(word) => word.rsplit('.').next(),
        _ => None,
    }
}

fn returned<'b, 'a>(block: &'b Block<'a>) -> Option<&'b [&'a str]> {
    let last = block.statements.iter().rev().find(|statement| matches!(facts::bare(statement.op), "return"))?;
    Some(&last.reads)
}

fn made<'b, 'a>(block: &'b Block<'a>, name: &str) -> Option<&'b Statement<'a>> {
    block.statements.iter().find(|statement| statement.gives.iter().any(|given| given == name))
}

/// The constant of this name, in the block or around it.
fn number(block: &Block<'_>, name: &str, scope: &Scope<'_>) -> Option<i64> {
    let Some(statement) = made(block, name) else {
        return scope.number(name);
    };
    match facts::bare(statement.op) {
        "constant" | "arith.constant" => {
            let all: Vec<i64> = statement.header.iter().flat_map(dense).collect();
            if let [number] = all[..] { Some(number) } else { None }
        }
        "convert" | "reshape" => number(block, statement.reads.first()?, scope),
        _ => None,
    }
}

fn dense(tree: &Tree<'_>) -> Vec<i64> {
    match tree {
        Tree::Group('{', inner) => inner.iter().flat_map(dense).collect(),
        Tree::Angle("dense", _) => numbers(tree),
        _ => Vec::new(),
    }
}
