//! Lengths that the text leaves open (`tensor<?x5xf32>`), worked out from what an operation is given.

use super::facts;
use super::statement::Statement;
use super::types::Type;

/// The type of a result whose lengths are open; `None` where it does not follow from those of the operands alone.
pub(super) fn worked_out(statement: &Statement<'_>, given: &[Type], of: &Type) -> Option<Type> {
    let dims = |place: usize| given.get(place).map(|of| of.dims.as_slice());
    let made = |dims: Vec<Option<u64>>| Some(Type { dtype: of.dtype, dims });
    let axis = |name: &str| statement.numbers(name).first().and_then(|&axis| usize::try_from(axis).ok());
    match facts::bare(statement.op) {
        "concatenate" => {
            let axis = axis("dim").or_else(|| axis("dimension"))?;
            let lengths: Option<Vec<u64>> = given.iter().map(|of| of.dims.get(axis).copied()?).collect();
            let mut dims = dims(0)?.to_vec();
            *dims.get_mut(axis)? = Some(lengths?.into_iter().fold(0, u64::saturating_add));
            made(dims)
        }
        "transpose" => {
            let order = statement.numbers("dims");
            let order = if order.is_empty() { statement.numbers("permutation") } else { order };
            let from = dims(0)?;
            made(order.iter().map(|&axis| from.get(usize::try_from(axis).ok()?).copied().flatten()).collect())
        }
        "reduce" => {
            let axes = statement.numbers("dimensions");
            let kept = dims(0)?.iter().enumerate().filter(|(axis, _)| !axes.contains(&(*axis as i64)));
            made(kept.map(|(_, dim)| *dim).collect())
        }
        "dot" => {
            let (left, right) = (dims(0)?, dims(1)?);
            made(left.iter().rev().skip(1).rev().chain(right.iter().skip(1)).copied().collect())
        }
        "dot_general" => {
            let pair = |short: &str, long: &str| {
                let apart = || ["lhs", "rhs"].map(|side| statement.numbers(&format!("{side}_{long}")));
                statement.two_lists(short).unwrap_or_else(apart)
            };
            let contract = pair("contracting_dims", "contracting_dimensions");
            let batch = pair("batching_dims", "batching_dimensions");
            let rest = |place: usize| -> Option<Vec<Option<u64>>> {
                let gone =
                    |axis: usize| [&contract[place], &batch[place]].iter().any(|axes| axes.contains(&(axis as i64)));
                Some(dims(place)?.iter().enumerate().filter(|(axis, _)| !gone(*axis)).map(|(_, dim)| *dim).collect())
            };
            let left = dims(0)?;
            let stack = batch[0].iter().map(|&axis| left.get(usize::try_from(axis).ok()?).copied().flatten());
            made(stack.chain(rest(0)?).chain(rest(1)?).collect())
        }
        // What is computed element by element has the shape of what it reads.
        bare if facts::primitive(bare).is_some() && !bare.starts_with("dynamic_") => {
            let same = given.iter().find(|of_given| of_given.dims.len() == of.dims.len() && !of_given.is_open())?;
            let fits = of.dims.iter().zip(&same.dims).all(|(dim, known)| dim.is_none() || dim == known);
            if fits { made(same.dims.clone()) } else { None }
        }
        _ => None,
    }
}
