//! Data frames: how a script runs on a GPU unchanged, and which versions its libraries have to go back to.

use super::gpu::Question;
use crate::port::{self, Counterpart};
use crate::report::words;
use crate::workload::{Entry, Workload};

/// cuDF 26.10 takes pandas up to here, cudf-polars Polars up to here: as their wheels say (`Requires-Dist`).
const PANDAS: (u64, u64) = (3, 1);
const POLARS: (u64, u64) = (1, 45);

/// Codes and texts of the notes.
pub(super) fn notes(q: &Question<'_>) -> Vec<(&'static str, String)> {
    let workload = q.workload;
    let mut found = Vec::new();
    if let Some(version) = uses(workload, "pandas") {
        let back = goes_back(version, PANDAS)
            .then(|| format!("; cuDF 26.10 takes pandas below 3.1, and this is {}", words::printable(version, 20)));
        let script = words::printable(&workload.program.name, 60);
        found.push((
            "cudf-pandas",
            format!("on a GPU unchanged: `python -m cudf.pandas {script}`{}", back.unwrap_or_default()),
        ));
    }
    if let Some(version) = uses(workload, "polars") {
        let back = goes_back(version, POLARS).then(|| {
            format!("; cudf-polars 26.10 takes Polars below 1.45, and this is {}", words::printable(version, 20))
        });
        found.push((
            "polars-gpu",
            format!("on a GPU: `.collect(engine=\"gpu\")` of lazy queries{}", back.unwrap_or_default()),
        ));
    }
    found
}

/// The version of a library whose calls would run on a GPU.
fn uses<'a>(workload: &'a Workload, library: &str) -> Option<&'a str> {
    let on_device = |entry: &Entry| {
        entry.name.split('.').next() == Some(library)
            && entry.op.is_array_work()
            && matches!(port::of(&entry.name).counterpart(&entry.name), Counterpart::Device(_))
    };
    workload.ops.iter().any(on_device).then(|| workload.program.versions.get(library).map_or("", String::as_str))
}

/// Whether a version is `limit` or later.
fn goes_back(version: &str, limit: (u64, u64)) -> bool {
    let mut parts = version.split('.').map(|part| part.parse().unwrap_or(0));
    (parts.next().unwrap_or(0), parts.next().unwrap_or(0)) >= limit
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_by_their_numbers() {
        assert!(goes_back("3.1.1", PANDAS) && goes_back("3.10", PANDAS) && goes_back("2.1.0", POLARS));
        assert!(!goes_back("3.0.9", PANDAS) && !goes_back("2.3.3", PANDAS) && !goes_back("1.44.0", POLARS));
        assert!(!goes_back("", PANDAS));
    }
}
