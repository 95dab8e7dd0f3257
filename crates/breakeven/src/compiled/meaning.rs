//! What a primitive operation is, whatever a framework calls it: `callables/primitives.csv`, the one table of names.

use crate::lower::{Cost, function_cost, rows};
use crate::workload::op::Factor;
use std::collections::HashMap;
use std::sync::OnceLock;

/// What a primitive does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Meaning {
    /// Each element from those at its place.
    Map(Cost),
    /// The same bytes under another shape.
    Bitcast,
    /// Values repeated, or counted up: nothing is read that matters.
    Spread,
    /// Elements put elsewhere, or left out: slices, padding, parts joined.
    Move,
    /// Axes exchanged.
    Turn,
    /// Axes folded, at so much for each element.
    Fold(Cost),
    /// Neighbours folded.
    Windows(Cost),
    /// A running sum, or its kind.
    Running,
    /// A product of matrices.
    Product,
    /// A convolution.
    Convolution,
    /// In order.
    Sort,
    /// The largest few.
    Largest,
    /// A transform.
    Fourier,
    /// Linear algebra by a library.
    Library(Factor),
    /// Elements read at computed places.
    Pick,
    /// Elements written at computed places, added to what is there or not.
    Put { adds: bool },
    /// A part written into an array, in place.
    PutPart,
    /// Random bits by a counter.
    Random,
    /// A function called, to be taken in.
    Call,
    /// A body so often.
    Repeat,
    /// A body while a condition holds.
    While,
    /// One of several bodies.
    Branch,
    /// The host is called.
    Host,
    /// Nothing is computed.
    Nothing,
}

/// What a name means.
pub(super) fn meaning(name: &str) -> Option<Meaning> {
    static TABLE: OnceLock<HashMap<String, Meaning>> = OnceLock::new();
    let table = TABLE.get_or_init(|| {
        let row = |row: csv::StringRecord| Some((row.get(0)?.to_owned(), parse(row.get(1)?, row.get(2)?)?));
        rows(include_str!("../../callables/primitives.csv")).filter_map(row).collect()
    });
    table.get(name).copied()
}

fn parse(word: &str, of: &str) -> Option<Meaning> {
    Some(match word {
        "map" => Meaning::Map(function_cost(of)),
        "bitcast" => Meaning::Bitcast,
        "spread" => Meaning::Spread,
        "move" => Meaning::Move,
        "turn" => Meaning::Turn,
        "fold" => Meaning::Fold(function_cost(of)),
        "windows" => Meaning::Windows(function_cost(of)),
        "running" => Meaning::Running,
        "product" => Meaning::Product,
        "convolution" => Meaning::Convolution,
        "sort" => Meaning::Sort,
        "largest" => Meaning::Largest,
        "fourier" => Meaning::Fourier,
        "library" => Meaning::Library(library(of)?),
        "pick" => Meaning::Pick,
        "put" => Meaning::Put { adds: of == "adds" },
        "put_part" => Meaning::PutPart,
        "random" => Meaning::Random,
        "call" => Meaning::Call,
        "repeat" => Meaning::Repeat,
        "while" => Meaning::While,
        "branch" => Meaning::Branch,
        "host" => Meaning::Host,
        "nothing" => Meaning::Nothing,
        _ => return None,
    })
}

fn library(name: &str) -> Option<Factor> {
    serde_json::from_value(name.into()).ok()
}

impl Meaning {
    /// Computed element by element in a loop that other such steps can be part of.
    pub(super) const fn is_loop(self) -> bool {
        matches!(
            self,
            Self::Map(_)
                | Self::Bitcast
                | Self::Spread
                | Self::Move
                | Self::Turn
                | Self::Pick
                | Self::Random
                | Self::Windows(_)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_understood() {
        for row in rows(include_str!("../../callables/primitives.csv")) {
            assert!(meaning(&row[0]).is_some(), "{row:?}");
            if matches!(&row[1], "map" | "fold" | "windows") {
                assert!(crate::lower::has_cost(&row[2]), "{row:?}");
            }
        }
    }
}
