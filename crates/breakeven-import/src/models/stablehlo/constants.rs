//! Constants, and whole numbers that follow from them: what counts the rounds of loops.

use super::build::Build;
use super::facts;
use super::scope::Scope;
use super::statement::Statement;
use super::tree::{Tree, numbers};
use breakeven::workload::Dtype;

/// Adds a constant; one whole number is remembered, an array of others than one value is a weight.
pub(super) fn add(build: &mut Build<'_, '_>, statement: &Statement<'_>, scope: &mut Scope<'_>) {
    let made = Build::gives(statement, scope);
    for &value in &made {
        scope.graph.values[value].constant = true;
        let of = scope.type_of(value).clone();
        let dense = statement.header.iter().find_map(|tree| match tree {
            Tree::Angle(kind @ ("dense" | "dense_resource"), inner) => Some((*kind, *inner)),
            Tree::Group('{', inner) => inner.iter().find_map(|tree| match tree {
                Tree::Angle(kind @ ("dense" | "dense_resource"), inner) => Some((*kind, *inner)),
                _ => None,
            }),
            _ => None,
        });
        let count = scope.graph.values[value].count();
        match dense {
            Some(("dense", inner)) if count == 1 => {
                let tree = Tree::Angle("dense", inner);
                let whole = !matches!(of.dtype, Dtype::F64 | Dtype::F32 | Dtype::F16 | Dtype::Bf16 | Dtype::F8);
                if let ([number], true) = (&numbers(&tree)[..], whole) {
                    scope.known.insert(value, *number);
                }
            }
            Some((kind, inner)) if count > 1 && (kind == "dense_resource" || inner.starts_with(['[', '"'])) => {
                build.weights.push(of);
                // It is read from memory.
                scope.graph.values[value].constant = false;
            }
            _ => {}
        }
    }
    if statement.op.ends_with("global.load") || statement.op.ends_with("load.indirect") {
        made.iter().for_each(|&value| scope.graph.values[value].constant = false);
    }
}

/// The whole number that an operation on known ones gives.
pub(super) fn folded(statement: &Statement<'_>, reads: &[usize], scope: &Scope<'_>) -> Option<i64> {
    let known = |place: usize| scope.known.get(reads.get(place)?).copied();
    let single = statement.types.first().is_some_and(|of| of.dims.iter().all(|dim| *dim == Some(1)));
    if !single || statement.gives.len() != 1 {
        return None;
    }
    match facts::bare(statement.op) {
        "convert" | "reshape" | "broadcast_in_dim" if reads.len() == 1 => known(0),
        "get_dimension_size" => {
            let axis = statement.numbers("dim").first().copied()?;
            let dims = &scope.type_of(*reads.first()?).dims;
            dims.get(usize::try_from(axis).ok()?).copied()??.try_into().ok()
        }
        "add" => known(0)?.checked_add(known(1)?),
        "subtract" => known(0)?.checked_sub(known(1)?),
        "multiply" => known(0)?.checked_mul(known(1)?),
        "minimum" => Some(known(0)?.min(known(1)?)),
        "maximum" => Some(known(0)?.max(known(1)?)),
        _ => None,
    }
}
