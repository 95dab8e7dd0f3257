//! Whether two sides came to the same, by `python -m breakeven.measure.compare`.

use super::Side;
use crate::failure::Failure;
use crate::record::Python;
use breakeven::report::words;
use serde::{Deserialize, Serialize};
use std::process::{Command, Stdio};

/// What the comparison came to.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Compared {
    pub(crate) agree: bool,
    pub(crate) differences: Vec<Difference>,
    /// Of what agrees.
    pub(crate) largest_relative: f64,
    pub(crate) largest_of: String,
    pub(crate) numbers: u64,
    pub(crate) lines: u64,
    pub(crate) arrays: u64,
    pub(crate) files: u64,
    /// All of these together.
    pub(crate) compared: u64,
    /// What was not compared, in words.
    pub(crate) left_out: Vec<String>,
    /// What differs between two runs of the first side.
    pub(crate) varying: Vec<String>,
    /// What differs between two runs of the second side.
    #[serde(default)]
    pub(crate) varying_second: Vec<String>,
    /// What a run in float64 says of the first difference.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) referee: Option<Referee>,
}

/// How far each side is from the same in float64.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Referee {
    /// Of what.
    pub(crate) what: String,
    /// Relative; none where a side has no finite number.
    pub(crate) first: Option<f64>,
    pub(crate) second: Option<f64>,
    pub(crate) off: Off,
}

/// The side that is further from float64 by far.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Off {
    /// The reference.
    First,
    /// The other.
    Second,
    /// Neither is much nearer.
    Both,
}

impl Referee {
    /// Which side is off, by its names.
    pub(crate) fn words(&self, first: &str, second: &str) -> String {
        let far = |relative: Option<f64>| relative.map_or_else(|| "not finite".to_owned(), |x| format!("{x:.0e}"));
        let from =
            format!("from a run in float64, {first} is {} off and {second} {}", far(self.first), far(self.second));
        match self.off {
            Off::First => format!("{first} is wrong, not {second} ({from})"),
            Off::Second => format!("{second} is wrong, not {first} ({from})"),
            Off::Both => format!("float64 takes no side ({from})"),
        }
    }
}

/// Something that does not agree.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Difference {
    pub(crate) what: String,
    pub(crate) text: String,
    /// Where numbers differ.
    pub(crate) relative: Option<f64>,
}

impl Compared {
    /// Whether numbers differ, by a finite amount.
    pub(crate) fn numbers_differ(&self) -> bool {
        self.differences.iter().any(|difference| difference.relative.is_some())
    }

    /// In a few words, for the first line.
    pub(crate) fn words(&self) -> String {
        match self.differences.first() {
            Some(first) => format!("results differ: {}", words::printable(&first.text, 160)),
            None if self.compared == 0 => "results were not compared: nothing was printed, kept or written".to_owned(),
            None if self.largest_relative > 0.0 => {
                format!("results agree (largest relative difference {:.0e})", self.largest_relative)
            }
            None => "results agree (to the last digit)".to_owned(),
        }
    }
}

/// Compares two sides; `one_script` where both ran the same, `exact` a run of it in float64.
///
/// # Errors
/// The comparison does not run.
pub(crate) fn compare(
    python: &Python,
    first: &Side,
    second: &Side,
    exact: Option<&Side>,
    one_script: bool,
) -> Result<Compared, Failure> {
    let mut command = Command::new(&python.path);
    command.args(["-m", "breakeven.measure.compare"]).arg(&first.folder).arg(&second.folder);
    command.args(exact.map(|side| &side.folder));
    if !one_script {
        command.arg("--against");
    }
    let cannot = |why: String| {
        let message = format!("the results cannot be compared: {why}");
        Failure::new("no-comparison", message, "`pip install numpy` in the script's Python, if it is missing")
    };
    // Python would import modules of the user's from the working folder.
    let output = command
        .current_dir(first.folder.parent().unwrap_or(&first.folder))
        .stdin(Stdio::null())
        .output()
        .map_err(|e| cannot(e.to_string()))?;
    serde_json::from_slice(&output.stdout).map_err(|_| {
        let told = String::from_utf8_lossy(&output.stderr);
        cannot(told.trim_end().lines().last().unwrap_or("it said nothing").to_owned())
    })
}
