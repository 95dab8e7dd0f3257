//! What the documents must mention, and how sources open.

use std::collections::BTreeSet;

use super::{read, root, sources};

/// Folders of Rust sources. Each file in them is a module or a crate root.
const SOURCES: [&str; 22] = [
    "crates/breakeven/src",
    "crates/breakeven-batch/src",
    "crates/breakeven-cli/src",
    "crates/breakeven-cli/tests",
    "crates/breakeven-fleet/src",
    "crates/breakeven-fleet/tests",
    "crates/breakeven-import/src",
    "crates/breakeven-import/tests",
    "crates/breakeven-page/src",
    "crates/breakeven-plan/src",
    "crates/breakeven-plan/tests",
    "crates/breakeven-python/src",
    "crates/breakeven-report-wasm/src",
    "crates/breakeven-server/src",
    "crates/breakeven-server/tests",
    "crates/breakeven-wasm/src",
    "crates/breakeven-watch/src",
    "crates/breakeven-watch/tests",
    "accuracy/src",
    "bench/src",
    "fuzz/fuzz_targets",
    "xtask/src",
];

#[test]
fn every_source_opens_by_saying_what_it_holds() {
    for path in SOURCES.into_iter().flat_map(sources) {
        assert!(read(&path).starts_with("//! "), "{path} does not open with `//!`");
    }
}

/// What ARCHITECTURE.md has a line for: the backticked names in the first cell of each table row, below the folder that
/// the section's heading names.
fn mentioned() -> BTreeSet<String> {
    let text = read("ARCHITECTURE.md");
    let mut folder = "";
    let mut found = BTreeSet::new();
    for line in text.lines() {
        if line.starts_with('#') {
            folder = line.split('`').nth(1).unwrap_or("");
        } else if let Some(row) = line.strip_prefix("| `") {
            let cell = row.split('|').next().unwrap_or("");
            found.extend(cell.split('`').step_by(2).map(|name| format!("{folder}{name}")));
        }
    }
    found
}

#[test]
fn the_architecture_has_a_line_for_every_source() {
    let mentioned = mentioned();
    for path in SOURCES.into_iter().flat_map(sources) {
        let folder = path.match_indices('/').any(|(at, _)| mentioned.contains(&path[..=at]));
        assert!(folder || mentioned.contains(&path), "{path} has no line in ARCHITECTURE.md, nor has its folder");
    }
}

#[test]
fn what_the_architecture_mentions_exists() {
    for path in mentioned() {
        assert!(root().join(&path).exists(), "{path} has a line in ARCHITECTURE.md and does not exist");
    }
}
