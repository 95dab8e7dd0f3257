//! The notes that matter to an answer most.

use super::rows::is_only_memory;
use super::sentence::chosen;
use crate::estimate::{Estimate, Note};

/// What was asked for, what changes how the answer is to be read, what else is of this program alone; the most telling
/// first. The others are told of nearly every program, or in the verdict.
const TELLING: [&str; 34] = [
    "busy-machine",
    "several-gpus",
    "monthly-bill",
    "changed-program",
    "model-says",
    "assumed-work",
    "assumed-kind",
    "less-memory",
    "by-size",
    "gpu-name",
    "not-rented",
    "no-price",
    "other-region",
    "script-cut",
    "unseen",
    "not-recorded",
    "compiled-loops",
    "gpu-fell-back",
    "larger-than-memory",
    "frame-memory",
    "cudf-rows",
    "cudf-pandas",
    "polars-gpu",
    "quoted-figure",
    "torch-compile",
    "timer-without-wait",
    "timed-span",
    "stand-in",
    "own-gpu",
    "copies-by-rule",
    "no-array-ops",
    "single-numbers",
    "no-flop",
    "idle",
];

/// Those notes, the first ones first.
pub(super) fn first(e: &Estimate) -> Vec<&Note> {
    // Of many GPUs some have no price.
    let unpriced = e.estimates.len() == 1 && chosen(e).is_some_and(|g| g.price.is_none());
    let rank = |note: &&Note| TELLING.iter().position(|code| *code == note.code);
    let told = |note: &&Note| match note.code.as_str() {
        "no-price" => unpriced,
        "less-memory" => chosen(e).is_some_and(|g| g.fits == Some(false)),
        "no-flop" => !is_only_memory(e),
        _ => rank(note).is_some(),
    };
    let mut notes: Vec<&Note> = e.notes.iter().filter(told).collect();
    notes.sort_by_key(rank);
    notes
}

#[cfg(test)]
mod tests {
    use super::super::examples;
    use super::*;
    use crate::estimate::NOTE_CODES;

    #[test]
    fn what_is_told_of_every_program_comes_last() {
        let mut e = examples::program();
        assert!(first(&e).is_empty(), "the days of prices stand above the table");
        e.notes.extend(["idle", "assumed-grid", "no-price", "unseen"].map(|code| Note::new(code, "x")));
        let codes: Vec<&str> = first(&e).into_iter().map(|note| note.code.as_str()).collect();
        assert_eq!(codes, ["unseen", "idle"]);
        assert!(TELLING.iter().all(|code| NOTE_CODES.iter().any(|(known, _)| known == code)));
    }
}
