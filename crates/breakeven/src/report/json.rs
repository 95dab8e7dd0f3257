//! JSON: the estimate itself, every digit.

use crate::estimate::Estimate;

/// `breakeven.estimate/1`, indented, with a final newline. Numbers are the shortest that read back the same.
pub fn json(e: &Estimate) -> String {
    match serde_json::to_string_pretty(e) {
        Ok(text) => text + "\n",
        Err(_) => unreachable!("an estimate has only text keys, and serde_json writes any f64"),
    }
}
