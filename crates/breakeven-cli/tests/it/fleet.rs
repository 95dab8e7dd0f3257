//! `fleet`: job logs good and bad.

use super::{breakeven, said};
use serde_json::Value;
use std::fs;

const LOG: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/examples/sacct.txt");

fn json(arguments: &[&str]) -> Value {
    let text = said(breakeven().args(["fleet", LOG, "--format", "json"]).args(arguments));
    let text = text.strip_prefix("exit 0\n--- stdout\n").unwrap_or_else(|| panic!("{text}"));
    serde_json::from_str(text.split("--- stderr").next().unwrap_or(text)).unwrap_or_else(|e| panic!("{e}: {text}"))
}

/// Whether a value is as a part of the schema says: types, required keys, what lies below. The words that it uses.
fn fits(value: &Value, schema: &Value, whole: &Value, at: &str) {
    if let Some(name) = schema["$ref"].as_str() {
        fits(value, &whole["$defs"][name.trim_start_matches("#/$defs/")], whole, at);
    }
    for part in schema["allOf"].as_array().into_iter().flatten() {
        fits(value, part, whole, at);
    }
    let kinds: Vec<&str> = match &schema["type"] {
        Value::Array(all) => all.iter().filter_map(Value::as_str).collect(),
        one => one.as_str().into_iter().collect(),
    };
    let is = |kind: &&str| match *kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_u64(),
        "number" => value.is_number(),
        _ => value.is_null(),
    };
    assert!(kinds.is_empty() || kinds.iter().any(is), "{at}: {value} is none of {kinds:?}");
    if let Some(constant) = schema.get("const") {
        assert_eq!(value, constant, "{at}");
    }
    if value.is_object() {
        for key in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            assert!(value.get(key).is_some(), "{at} has no {key}");
        }
    }
    for (key, below) in value.as_object().into_iter().flatten() {
        let part = schema["properties"].get(key).or_else(|| schema.get("additionalProperties"));
        part.into_iter().for_each(|part| fits(below, part, whole, &format!("{at}.{key}")));
    }
    for below in value.as_array().into_iter().flatten().filter(|_| schema.get("items").is_some()) {
        fits(below, &schema["items"], whole, &format!("{at}[]"));
    }
}

#[test]
fn the_report_fits_its_schema_and_adds_up() {
    let schema = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/schema/fleet-1.schema.json");
    let schema: Value = serde_json::from_str(&fs::read_to_string(schema).unwrap()).unwrap();
    let all = json(&["--price", "2"]);
    fits(&all, &schema, &schema, "$");
    let sum = |key: &str| all[key].as_object().unwrap().values().map(|n| n.as_u64().unwrap()).sum::<u64>();
    assert_eq!((sum("judged") + sum("not_judged"), all["rows"].as_u64()), (10, Some(10)));
    // 4 × 24 + 6 + 2 min + 2 × 12 + 1 GPU-hours; the first never used its four.
    let hours = all["totals"]["gpu_hours"].as_f64().unwrap();
    assert!((hours - (96.0 + 6.0 + 2.0 / 60.0 + 24.0 + 1.0)).abs() < 1e-9, "{hours}");
    assert_eq!((all["totals"]["usd"].as_f64().unwrap() - 2.0 * hours).abs() < 1e-6, true);
    assert_eq!((all["certain"]["jobs"].as_u64(), all["certain"]["gpu_hours"].as_f64()), (Some(1), Some(96.0)));
    assert_eq!(all["certain"]["usd"]["p50"].as_f64(), Some(192.0));
    assert_eq!(all["judged"]["small-work"], 1);
}

#[test]
fn recordings_judge_jobs_of_their_script() {
    let recording = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/examples/heat.breakeven.json");
    let all = json(&["--recordings", recording]);
    let not = &all["not_judged"];
    let judged = all["judged"]["pays-on-gpu"].as_u64().unwrap() + all["judged"]["stays-on-cpu"].as_u64().unwrap();
    assert_eq!(judged + not["recording-unsure"].as_u64().unwrap(), 1, "{not}");
    assert_eq!(not["no-recording"], 0);
}

#[test]
fn pages_rows_and_names_are_whole_and_hidden() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let arguments = ["--html", &path("f.html"), "--out", &path("f.parquet"), "--anonymise", "--output", &path("f.txt")];
    let told = said(breakeven().args(["fleet", LOG]).args(arguments));
    assert!(told.starts_with("exit 0\n") && told.contains("f.parquet"), "{told}");
    let page = fs::read_to_string(path("f.html")).unwrap();
    let text = fs::read_to_string(path("f.txt")).unwrap();
    assert!(page.contains("<svg") && page.ends_with("</html>\n") && !page.contains("http"), "{page}");
    for name in ["ada", "sweep", "bio"] {
        assert!(!text.contains(name) && !page.contains(&format!(">{name}")), "{name}");
    }
    assert_eq!(&fs::read(path("f.parquet")).unwrap()[..4], b"PAR1");
}

#[test]
fn conditions_and_wrong_input_have_their_exit_codes() {
    let told = said(breakeven().args(["fleet", LOG, "--fail-if", "certain_share > 0.05", "--output", "/dev/null"]));
    assert!(told.starts_with("exit 1\n") && told.contains("certain_share > 0.05"), "{told}");
    for (arguments, part) in [
        (&["--fail-if", "waste > 3"][..], "`waste` is not a figure"),
        (&["--gpu", "zx81"], "zx81"),
        (&["--gpu", "l4", "--gpu", "t4"], "NAME=GPU"),
        (&["--price", "cheap"], "cheap"),
        (&["--mapping", "/nowhere.toml"], "nowhere"),
    ] {
        let told = said(breakeven().args(["fleet", LOG]).args(arguments));
        assert!(told.starts_with("exit 2\n") && told.contains(part), "{arguments:?}: {told}");
    }
    let told = said(breakeven().args(["fleet", "-"]).write_stdin("TIMESTAMP,ContextTokens,GeneratedTokens\n1,2,3\n"));
    assert!(told.starts_with("exit 2\n") && told.contains("no job log"), "{told}");
}
