//! Why an estimate is what it is, in a closed vocabulary; what the script's own clocks would show; what would turn the
//! answer round.

use crate::interval::{Basis, Interval};
use serde::{Deserialize, Serialize};

/// Every code a reason may have and what it means, as `docs/reasons.md` explains them. Programs may rely on the code;
/// the texts are for people.
pub const CODES: &[(&str, &str)] = &[
    ("compute-bound", "The GPU's arithmetic units set the time."),
    ("does-not-fit", "The arrays need more memory than the GPU has."),
    ("float64-rate", "Arithmetic in double precision on a GPU that has few units for it."),
    ("host-bound", "Python and CPU code that stays on the CPU sets the time."),
    ("input-output-bound", "Reading, writing and parsing files, or waiting for something, sets the time."),
    ("input-pipeline-stall", "The GPU waits for the data that each step is given."),
    ("launch-bound", "Handing small pieces of work to the GPU takes longer than doing them."),
    ("little-parallelism", "The arrays have fewer elements than the GPU has threads."),
    ("memory-bound", "The rate at which the GPU reads and writes its memory sets the time."),
    ("no-counterpart", "Array functions that the GPU library does not have run on the CPU."),
    ("not-covered", "A part of the time is not understood; what a GPU would make of it is not known."),
    ("sequential-dependence", "Each small step needs the result of the one before."),
    ("start-up-bound", "What is paid once (import, context, first use of each kernel) sets the time."),
    ("synchronisation-bound", "The host waits for values of the GPU again and again."),
    ("timing-first-call", "The script's own clock includes what is paid at first use."),
    ("timing-without-wait", "The script stops its clock while the GPU is still at work."),
    ("transfer-bound", "Copies between host and GPU set the time."),
];

/// One reason why a part of a program does or does not pay on a GPU.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reason {
    /// One of [`CODES`].
    pub code: String,
    /// `file:line`; `None` for the whole program.
    #[serde(default)]
    pub site: Option<String>,
    /// Other lines that take part in it, as `file:line`.
    #[serde(default)]
    pub also: Vec<String>,
    /// Part of the program's time on that GPU, start-up included, 0–1; `None` where it is not a part of the time. Those of
    /// the whole program add up to 1 at most.
    #[serde(default)]
    pub share: Option<f64>,
    /// What is so, in one sentence.
    pub cause: String,
    /// The figures that it rests on.
    #[serde(default)]
    pub evidence: Vec<Evidence>,
    /// What helps, in one sentence.
    pub remedy: String,
    /// Where it is explained: an anchor in `docs/reasons.md`.
    pub docs: String,
}

/// A figure that a reason rests on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// What it is: `launches`, `operational_intensity`.
    pub name: String,
    /// In the base unit.
    pub value: f64,
    /// The base unit: `s`, `B`, `FLOP/B`, `1`.
    pub unit: String,
    /// As printed for people.
    pub text: String,
}

/// What a span between two reads of the script's own clock took here, and what it would show on the GPU.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Timer {
    /// The line that reads the clock first, `file:line`.
    pub from: String,
    /// The line that reads it again; the difference is printed from here on.
    pub to: String,
    /// The clock: `time.perf_counter`.
    pub clock: String,
    /// How often this span was timed.
    pub times: u64,
    /// What one of them took here in the median, s; as the script saw it, the recorder's own cost included.
    pub here_s: f64,
    /// What one would show on the GPU once warm, s; `None` where the recording does not say what lies in it.
    pub gpu_s: Option<Interval>,
    /// Where that comes from; `here_s` is measured, and what is loaded at first use is assumed.
    pub basis: Basis,
    /// What the first one would show on top: libraries and kernels loaded at first use, s; 0 for a span after that.
    pub first_call_s: f64,
    /// What the work begun in it takes until the GPU is done, s; more than `gpu_s` where the clock is stopped early.
    pub work_s: Option<f64>,
    /// In one line.
    pub text: String,
}

/// One thing that would turn the answer round, or that would not.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Flip {
    /// `error`, `gpu`, `precision`, `price`, `runs`, `size`; `coverage` where too little is understood; `none` where
    /// nothing within reach turns it.
    pub what: String,
    /// In one line.
    pub text: String,
    /// What it is now, in the unit that the text names; `None` where it has no number.
    pub from: Option<f64>,
    /// What it would have to be; `None` where nothing within a factor of ten turns the answer.
    pub to: Option<f64>,
}

impl Reason {
    /// A reason of the whole program; `code` is one of [`CODES`].
    pub fn new(code: &str, share: Option<f64>, cause: String, remedy: String) -> Self {
        debug_assert!(CODES.iter().any(|(known, _)| *known == code), "`{code}` is not in CODES");
        Self {
            code: code.to_owned(),
            site: None,
            also: Vec::new(),
            share,
            cause,
            evidence: Vec::new(),
            remedy,
            docs: format!("docs/reasons.md#{code}"),
        }
    }

    /// The same with one more figure.
    #[must_use]
    pub fn with(mut self, name: &str, value: f64, unit: &str, text: String) -> Self {
        if value.is_finite() {
            self.evidence.push(Evidence { name: name.to_owned(), value, unit: unit.to_owned(), text });
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::CODES;

    #[test]
    fn the_page_explains_every_code_in_order() {
        let page = include_str!("../../../../docs/reasons.md");
        let rows: Vec<&str> = page.lines().filter(|line| line.starts_with("| [`")).collect();
        let table: Vec<String> =
            CODES.iter().map(|(code, means)| format!("| [`{code}`](#{code}) | {means} |")).collect();
        assert_eq!(rows, table);
        let sections: Vec<&str> =
            page.lines().filter_map(|line| line.strip_prefix("## ")).filter(|title| !title.contains(' ')).collect();
        assert_eq!(sections, CODES.iter().map(|(code, _)| *code).collect::<Vec<_>>());
        assert!(CODES.is_sorted());
    }
}
