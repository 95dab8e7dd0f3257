//! An operation as a primitive of the engine's graph: its name there, and what decides its cost beside shapes.

use super::statement::Statement;
use super::types::Type;
use breakeven::compiled::Fact;
use std::collections::{BTreeMap, HashMap};
use std::sync::OnceLock;

/// A primitive, and which of the operation's values it reads and gives.
#[derive(Debug, Default)]
pub(super) struct Primitive {
    pub(super) op: String,
    pub(super) facts: BTreeMap<String, Fact>,
    /// Places of the operation's operands; all where there is none.
    pub(super) reads: Option<Vec<usize>>,
    /// Places of its results; the others are known when it is compiled.
    pub(super) gives: Option<Vec<usize>>,
}

impl Primitive {
    pub(super) fn named(op: &str) -> Self {
        Self { op: op.to_owned(), ..Self::default() }
    }

    fn with(mut self, name: &str, fact: Fact) -> Self {
        self.facts.insert(name.to_owned(), fact);
        self
    }

    fn list(self, name: &str, numbers: &[i64]) -> Self {
        self.with(name, Fact::List(numbers.iter().map(|&number| number as f64).collect()))
    }

    fn number(self, name: &str, number: u64) -> Self {
        self.with(name, Fact::Number(number as f64))
    }

    fn reading(mut self, reads: Vec<usize>) -> Self {
        self.reads = Some(reads);
        self
    }
}

/// The operation's name without its dialect.
pub(super) fn bare(op: &str) -> &str {
    ["stablehlo.", "chlo.", "mhlo.", "vhlo."].iter().find_map(|dialect| op.strip_prefix(dialect)).unwrap_or(op)
}

/// The name that the engine's table has for an operation which needs no more than that.
pub(super) fn primitive(bare: &str) -> Option<&'static str> {
    static TABLE: OnceLock<HashMap<&str, &str>> = OnceLock::new();
    let rows = || include_str!("names.csv").lines().filter(|line| !line.starts_with('#'));
    TABLE.get_or_init(|| rows().filter_map(|line| line.split_once(',')).collect()).get(bare).copied()
}

/// The primitive of an operation that runs no other; `None` where it is not known.
pub(super) fn of(statement: &Statement<'_>, given: &[&Type], makes: &[Type]) -> Option<Primitive> {
    let bare = bare(statement.op);
    let shape = |types: &[&Type], place: usize| types.get(place).map_or_else(Vec::new, |of| of.shape());
    let first = shape(given, 0);
    let makes: Vec<&Type> = makes.iter().collect();
    Some(match bare {
        "dot_general" => product(statement),
        "dot" => {
            let contract = first.len().saturating_sub(1) as i64;
            Primitive::named("dot_general").list("contract", &[contract]).list("contract_right", &[0])
        }
        "convolution" | "dynamic_conv" => return convolution(statement, &first, &shape(given, 1), &shape(&makes, 0)),
        "compare" => Primitive::named(match statement.first_word() {
            Some("LT") => "lt",
            Some("LE") => "le",
            Some("GT") => "gt",
            Some("GE") => "ge",
            Some("NE") => "ne",
            _ => "eq",
        }),
        "reduce" => fold(statement, given.len()),
        "reduce_window" => windows(statement, &first),
        "sort" => {
            let last = first.len().saturating_sub(1) as i64;
            let dimension = statement.numbers("dimension").first().copied().filter(|&axis| axis >= 0).unwrap_or(last);
            Primitive::named("sort").number("dimension", dimension as u64)
        }
        "top_k" => Primitive::named("top_k").number("axis", first.len().saturating_sub(1) as u64),
        "scan" => {
            let axis = statement.numbers("dimension").first().copied().unwrap_or(0).max(0);
            let op = match body_op(statement) {
                "multiply" => "cumprod",
                "maximum" => "cummax",
                "minimum" => "cummin",
                _ => "cumsum",
            };
            // What it begins with is a part of nothing.
            Primitive { gives: Some(vec![0]), ..Primitive::named(op).number("axis", axis as u64).reading(vec![0]) }
        }
        "gather" | "dynamic_gather" => {
            Primitive::named("gather").list("slice_sizes", &statement.numbers("slice_sizes"))
        }
        "scatter" => Primitive::named(match body_op(statement) {
            "add" => "scatter-add",
            "multiply" => "scatter-mul",
            "maximum" => "scatter-max",
            "minimum" => "scatter-min",
            _ => "scatter",
        }),
        "select_and_scatter" => {
            Primitive::named("select_and_scatter").list("window_dimensions", &statement.numbers("window_dimensions"))
        }
        "transpose" => {
            let order = statement.numbers("dims");
            let order = if order.is_empty() { statement.numbers("permutation") } else { order };
            Primitive::named("transpose").list("permutation", &order)
        }
        "fft" => {
            let kind = statement.attribute("type").or_else(|| statement.attribute("fft_type"));
            let words = format!("{kind:?}");
            let kind = match () {
                () if words.contains("IRFFT") => "c2r",
                () if words.contains("RFFT") => "r2c",
                () => "c2c",
            };
            let lengths = statement.numbers("length");
            let lengths = if lengths.is_empty() { statement.numbers("fft_length") } else { lengths };
            Primitive::named("fft").with("kind", Fact::Word(kind.to_owned())).list("fft_lengths", &lengths)
        }
        "concatenate" | "pad" | "slice" | "dynamic_slice" | "iota" => {
            Primitive::named(bare).with("at", Fact::Word(format!("{:?}", statement.header)))
        }
        _ => Primitive::named(primitive(bare)?),
    })
}

/// The operation that a fold, a scan or a scatter does with two elements.
fn body_op<'a>(statement: &Statement<'a>) -> &'a str {
    let ops = statement.regions.iter().flatten().flat_map(|block| &block.statements);
    let mut ops = ops.map(|statement| bare(statement.op)).filter(|op| !matches!(*op, "return" | "convert"));
    ops.next().unwrap_or("")
}

fn fold(statement: &Statement<'_>, operands: usize) -> Primitive {
    let applied = statement.word_behind("applies").map(bare);
    let op = applied.unwrap_or_else(|| body_op(statement));
    let pairs = operands / 2;
    let op = match op {
        _ if pairs > 1 => "argmax",
        "add" => "reduce_sum",
        "maximum" => "reduce_max",
        "minimum" => "reduce_min",
        "multiply" => "reduce_prod",
        "and" => "reduce_and",
        "or" => "reduce_or",
        "xor" => "reduce_xor",
        _ => "reduce",
    };
    let axes = statement.numbers("dimensions");
    Primitive::named(op).list("axes", &axes).reading((0..pairs.max(1)).collect())
}

/// A window as long as an axis, with as much room before or behind it, is a running fold.
fn windows(statement: &Statement<'_>, shape: &[u64]) -> Primitive {
    let window = statement.numbers("window_dimensions");
    let op = body_op(statement);
    let padding = statement.numbers("padding");
    let mut long = window.iter().enumerate().filter(|(_, length)| **length > 1);
    if let (Some((axis, &length)), None) = (long.next(), long.next())
        && shape.get(axis) == Some(&(length as u64))
        && padding.iter().map(|pad| pad.unsigned_abs()).sum::<u64>() + 1 == length as u64
        && window.len() == shape.len()
    {
        let op = match op {
            "multiply" => "cumprod",
            "maximum" => "cummax",
            "minimum" => "cummin",
            _ => "cumsum",
        };
        return Primitive::named(op).number("axis", axis as u64).reading(vec![0]);
    }
    let op = match op {
        "maximum" => "reduce_window_max",
        "minimum" => "reduce_window_min",
        "add" => "reduce_window_sum",
        _ => "reduce_window",
    };
    Primitive::named(op).list("window_dimensions", &window).reading(vec![0])
}

fn product(statement: &Statement<'_>) -> Primitive {
    let pair = |short: &str, long: &str| {
        statement
            .two_lists(short)
            .unwrap_or_else(|| ["lhs", "rhs"].map(|side| statement.numbers(&format!("{side}_{long}"))))
    };
    let [contract, contract_right] = pair("contracting_dims", "contracting_dimensions");
    let [batch, batch_right] = pair("batching_dims", "batching_dimensions");
    let both = Primitive::named("dot_general").list("contract", &contract).list("contract_right", &contract_right);
    both.list("batch", &batch).list("batch_right", &batch_right)
}

/// Dims of a convolution; one whose input is dilated is the gradient of one with strides, and is told as that.
fn convolution(statement: &Statement<'_>, left: &[u64], right: &[u64], out: &[u64]) -> Option<Primitive> {
    let labels = match statement.labels("dim_numbers") {
        Some(labels) => labels,
        None => raw_labels(statement)?,
    };
    let [lhs, rhs, result] = &labels[..] else { return None };
    let at = |labels: &[&str], shape: &[u64], label: &str| {
        let axis = labels.iter().position(|&found| found == label)?;
        shape.get(axis).copied()
    };
    let spatial = |labels: &[&str], shape: &[u64]| -> Option<Vec<i64>> {
        let lengths = (0..labels.len().saturating_sub(2)).map(|axis| at(labels, shape, &axis.to_string()));
        lengths.map(|length| length.map(|length| length as i64)).collect()
    };
    let (batch, cin, cout) = (at(lhs, left, "b")?, at(lhs, left, "f")?, at(result, out, "f")?);
    let (input, kernel, output) = (spatial(lhs, left)?, spatial(rhs, right)?, spatial(result, out)?);
    let count = |name: &str| statement.numbers(name).first().map_or(1, |&n| n.max(1) as u64);
    let groups = count("feature_group_count").saturating_mul(count("batch_group_count"));
    let dilated =
        [statement.numbers("lhs_dilate"), statement.numbers("lhs_dilation")].concat().iter().any(|&by| by > 1);
    let conv = Primitive::named("conv_general_dilated")
        .number("batch", batch)
        .number("groups", groups)
        .list("kernel", &kernel)
        .number("turned", u64::from(rhs.first() != Some(&"o")));
    Some(if dilated {
        let conv = conv.number("cin", cout).number("cout", cin).list("input", &output).list("output", &input);
        conv.with("pass", Fact::Word("backward_data".to_owned()))
    } else {
        conv.number("cin", cin).number("cout", cout).list("input", &input).list("output", &output)
    })
}

/// `#stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>`
fn raw_labels<'a>(statement: &Statement<'a>) -> Option<Vec<Vec<&'a str>>> {
    let super::tree::Tree::Angle(_, inner) = statement.attribute("dimension_numbers")? else { return None };
    let lists = inner.split('[').skip(1).filter_map(|list| list.split(']').next());
    Some(lists.map(|list| list.split(',').map(str::trim).collect()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_engine() {
        let known = include_str!("../../../../breakeven/callables/primitives.csv");
        for line in include_str!("names.csv").lines().filter(|line| !line.starts_with('#')) {
            let (_, primitive) = line.split_once(',').unwrap();
            assert!(known.lines().any(|row| row.split(',').next() == Some(primitive)), "{line}");
        }
    }
}
