//! `diff`: two traces, conditions, and what cannot be compared.

use super::{breakeven, said};
use std::fs;

const BEFORE: &str = "../breakeven-import/tests/fixtures/before.json";
const AFTER: &str = "../breakeven-import/tests/fixtures/after.json";

fn diff(arguments: &[&str]) -> String {
    said(breakeven().arg("diff").args(arguments))
}

#[test]
fn a_condition_that_holds_ends_with_1_and_says_so() {
    let text = diff(&[BEFORE, AFTER, "--fail-if", "kernel_time > +10%", "--fail-if", "launches > +10%"]);
    assert!(text.starts_with("exit 1\n--- stdout\n"), "{text}");
    assert!(text.contains("--fail-if: `launches > +10%` holds") && !text.contains("`kernel_time"), "{text}");
    let text = diff(&[BEFORE, AFTER, "--fail-if", "time > +10%", "--format", "markdown"]);
    assert!(text.starts_with("exit 0\n--- stdout\n**"), "{text}");
    let text = diff(&[BEFORE, AFTER, "--fail-if", "speed > 2"]);
    assert!(text.starts_with("exit 2\n--- stderr\nerror: ") && text.contains("time > +10%"), "{text}");
}

#[test]
fn totals_that_were_saved_and_folders_stand_for_traces() {
    let folder = tempfile::tempdir().unwrap();
    let totals = folder.path().join("totals.json");
    fs::create_dir(folder.path().join("ranks")).unwrap();
    fs::copy(AFTER, folder.path().join("ranks/rank0.json")).unwrap();
    said(breakeven().args(["import", BEFORE, "--format", "json", "--output"]).arg(&totals));
    let json = |before: &std::path::Path, after: &std::path::Path| {
        let text = said(breakeven().arg("diff").args([before, after]).args(["--format", "json"]));
        let mut value: serde_json::Value =
            serde_json::from_str(text.strip_prefix("exit 0\n--- stdout\n").unwrap_or_else(|| panic!("{text}")))
                .unwrap();
        value["after"].take();
        value
    };
    assert_eq!(json(&totals, &folder.path().join("ranks")), json(BEFORE.as_ref(), AFTER.as_ref()));
    let text = said(breakeven().arg("import").arg(&totals));
    assert!(text.contains("breakeven diff"), "{text}");
}
