//! What is known by the name of what it calls: libraries behind `custom_call`, composites, functions of JAX's own.

use super::build::Build;
use super::facts::{self, Primitive};
use super::scope::Scope;
use super::statement::Statement;
use breakeven::Result;
use breakeven::compiled::Fact;

/// Targets of custom calls: part of the name, the primitive.
const TARGETS: [(&str, &str); 34] = [
    ("gesdd", "svd"),
    ("gesvd", "svd"),
    ("gesvdj", "svd"),
    ("syevd", "eigh"),
    ("heevd", "eigh"),
    ("syevj", "eigh"),
    ("potrf", "cholesky"),
    // Reflectors and their product are one factorisation.
    ("geqrf", "qr"),
    ("geqp3", "geqp3"),
    ("orgqr", "sharding_constraint"),
    ("ungqr", "sharding_constraint"),
    ("ormqr", "ormqr"),
    ("unmqr", "ormqr"),
    ("lu_pivots_to_permutation", "lu_pivots_to_permutation"),
    ("getrf", "lu"),
    ("trsm", "triangular_solve"),
    ("geev", "eig"),
    ("eig_real", "eig"),
    ("eig_comp", "eig"),
    ("gees", "schur"),
    ("gehrd", "hessenberg"),
    ("sytrd", "tridiagonal"),
    ("hetrd", "tridiagonal"),
    ("gtsv", "tridiagonal_solve"),
    ("threefry2x32", "threefry2x32"),
    ("ApproxTopK", "approx_top_k"),
    ("TopK", "top_k"),
    ("callback", "pure_callback"),
    ("Sharding", "sharding_constraint"),
    ("SPMDFullToShardShape", "sharding_constraint"),
    ("SPMDShardToFullShape", "sharding_constraint"),
    ("annotate_device_placement", "sharding_constraint"),
    ("LayoutConstraint", "sharding_constraint"),
    ("mhlo.erf", "erf"),
];

/// Functions that JAX calls by this name, and that are one primitive: their bodies are how a CPU does it.
pub(super) fn known_function(name: &str) -> Option<&'static str> {
    let plain = name.trim_start_matches('_');
    let plain = plain.trim_end_matches(|c: char| c.is_ascii_digit()).trim_end_matches('_');
    let plain = if name.contains("threefry2x32") { "threefry2x32" } else { plain };
    match plain {
        "threefry2x32" => Some("threefry2x32"),
        "threefry_random_bits" | "threefry_random_bits_original" => Some("random_bits"),
        "threefry_split" | "threefry_split_foldlike" => Some("random_split"),
        "dynamic_update_index_in_dim" => Some("dynamic_update_slice"),
        "threefry_fold_in" => Some("random_fold_in"),
        _ => None,
    }
}

/// A composite or a custom call.
pub(super) fn of<'a>(
    build: &mut Build<'_, 'a>,
    statement: &Statement<'a>,
    reads: &[usize],
    scope: &mut Scope<'_>,
) -> Result<()> {
    let composite = facts::bare(statement.op) == "composite";
    let name = if composite { statement.text } else { statement.symbol.or(target(statement)) }.unwrap_or("");
    let given: Vec<_> = reads.iter().map(|&read| scope.type_of(read).clone()).collect();
    if composite {
        let inner = Statement { op: name, ..statement.clone() };
        let types = build.types(statement, &given);
        let references: Vec<_> = given.iter().collect();
        let Some(primitive) = facts::of(&inner, &references, &types) else {
            // What nobody knows by its name is what it says it is made of.
            return build.call(statement.symbol.unwrap_or(""), statement, reads, scope);
        };
        let made = Build::gives(statement, scope);
        Build::add(primitive, reads, &made, scope);
        return Ok(());
    }
    let made = Build::gives(statement, scope);
    // A check of values, or a mark, gives nothing.
    if made.is_empty() && !name.contains("callback") {
        return Ok(());
    }
    let known = TARGETS.iter().filter(|(part, _)| name.contains(part)).max_by_key(|(part, _)| part.len());
    let Some((_, op)) = known else {
        build.unknown.insert(format!("custom_call @{name}"));
        scope.node(&format!("custom_call @{name}"), reads.to_vec(), made, std::collections::BTreeMap::new());
        return Ok(());
    };
    let mut primitive = Primitive::named(op);
    match *op {
        // What LAPACK gives first is the matrix that it wrote over.
        "svd" if without_vectors(statement) => primitive.gives = Some(vec![1]),
        "svd" => primitive.gives = Some(vec![1, 2, 3]),
        "eigh" if without_vectors(statement) => primitive.gives = Some(vec![1]),
        "eigh" => primitive.gives = Some(vec![0, 1]),
        "lu" => primitive.gives = Some(vec![0, 1]),
        "cholesky" | "triangular_solve" => primitive.gives = Some(vec![0]),
        "qr" => primitive.gives = Some(vec![0, 1]),
        "top_k" | "approx_top_k" => {
            let axis = given.first().map_or(0, |of| of.dims.len().saturating_sub(1));
            primitive.facts.insert("axis".to_owned(), Fact::Number(axis as f64));
        }
        _ => {}
    }
    // Whether it failed is asked next, which comes with the factorisation.
    let gives = primitive.gives.clone().unwrap_or_default();
    if !gives.is_empty() {
        scope
            .checks
            .extend(made.iter().enumerate().filter(|(place, _)| !gives.contains(place)).map(|(_, value)| value));
    }
    Build::add(primitive, reads, &made, scope);
    Ok(())
}

fn target<'a>(statement: &Statement<'a>) -> Option<&'a str> {
    match statement.attribute("call_target_name")? {
        super::tree::Tree::Text(text) => Some(text),
        _ => None,
    }
}

/// Whether only values are asked for: LAPACK's letter N (78), or cuSOLVER's own words.
fn without_vectors(statement: &Statement<'_>) -> bool {
    let word = |name: &str| statement.attribute(name).and_then(|tree| tree.word().map(str::to_owned));
    word("mode").as_deref() == Some("78") || word("compute_uv").as_deref() == Some("false")
}
