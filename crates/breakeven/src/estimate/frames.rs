//! Data frames: how a script runs on a GPU unchanged, and which versions its libraries have to go back to.

use super::gpu::{Question, USABLE_MEMORY, device_bytes, frame_bytes};
use crate::hardware::Device;
use crate::kernel::Link;
use crate::port::{self, Counterpart};
use crate::report::words;
use crate::workload::{Entry, Op, Workload};

/// cuDF 26.10 takes pandas up to here, cudf-polars Polars up to here: as their wheels say (`Requires-Dist`).
const PANDAS: (u64, u64) = (3, 1);
const POLARS: (u64, u64) = (1, 45);
/// Rows that a column of cuDF cannot have: they are counted in 32 bits with a sign.
const COLUMN: u64 = 1 << 31;

/// Calls that need less of the device's memory are not worth a word, bytes.
const TOLD_FROM: f64 = 1e9;

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
    let most = workload.ops.iter().filter_map(|entry| rows(&entry.op)).max().unwrap_or(0);
    if most >= COLUMN {
        let rows = words::count(most);
        found.push((
            "cudf-rows",
            format!("a column of cuDF has fewer than 2,147,483,648 rows, and one here has {rows}: it must be split"),
        ));
    }
    found
}

/// The call that needs most of the device's memory beside what it reads and gives, and what it costs to have more than
/// the device has: RMM's managed memory moves pages over the link, there and back.
pub(super) fn memory(q: &Question<'_>, device: &Device) -> Option<(&'static str, String)> {
    let needs = |entry: &&Entry| frame_bytes(entry, 0.0);
    let frames = q.workload.ops.iter().filter(|entry| needs(entry) >= TOLD_FROM);
    let most = frames.max_by(|a, b| needs(a).total_cmp(&needs(b)))?;
    let own = (most.read_bytes + most.written_bytes) as f64;
    let site = q.workload.sites.get(most.site as usize).map(|site| format!(" at {}", site.label())).unwrap_or_default();
    let name = words::printable(most.name.split_once('.').map_or(&*most.name, |(_, name)| name), 60);
    let mut text = format!(
        "{name}{site} needs {} of the GPU's memory: {} that it reads and gives, {} for its tables and maps (assumed)",
        words::bytes(needs(&most)),
        words::bytes(own),
        words::bytes(needs(&most) - own),
    );
    let all = device_bytes(q.workload, q.port.policy());
    let beyond = all - device.memory.get() * USABLE_MEMORY;
    if beyond > 0.0 {
        let link = Link::of(device);
        let moved = words::seconds(link.up(beyond) + link.down(beyond));
        text += &format!(
            "; {} more than {} holds: with RMM's managed memory (`CUDF_PANDAS_RMM_MODE=managed_pool`) each pass over it \
             moves that both ways, {moved} and more",
            words::bytes(beyond),
            device.name,
        );
    }
    Some(("frame-memory", text))
}

/// Rows of the longest table of an op.
fn rows(op: &Op) -> Option<u64> {
    match op {
        Op::Dataframe { rows, out_rows, other_rows, .. } => Some(*rows.max(out_rows).max(other_rows)),
        Op::Routine { parts } => parts.iter().filter_map(|part| rows(&part.op)).max(),
        _ => None,
    }
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
