//! `import`: traces good and bad.

use super::{breakeven, said, says};
use std::fs;
use std::path::PathBuf;

const TRACE: &str = r#"{"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "NVIDIA L4"}], "traceEvents": [
  {"ph": "X", "cat": "kernel", "name": "gemm", "ts": 10, "dur": 30, "args": {"device": 0, "correlation": 1}},
  {"ph": "X", "cat": "kernel", "name": "add", "ts": 90, "dur": 20, "args": {"device": 0, "correlation": 2}}]}"#;

/// Reads what is on stdin.
fn import(bytes: &[u8], arguments: &[&str]) -> String {
    said(breakeven().args(["import", "-"]).args(arguments).write_stdin(bytes))
}

fn json(text: &str) -> serde_json::Value {
    let text = text.strip_prefix("exit 0\n--- stdout\n").unwrap_or_else(|| panic!("{text}"));
    serde_json::from_str(text).unwrap_or_else(|e| panic!("{e}: {text}"))
}

#[test]
fn the_answer_comes_first() {
    let text = import(TRACE.as_bytes(), &[]);
    assert!(text.starts_with("exit 0\n--- stdout\nGPU busy 50 % of 100 µs;"), "{text}");
    assert!(text.contains("NVIDIA L4") && text.contains("(no-calls)"), "{text}");
    assert!(text.contains("--gpu NAME carries it"), "{text}");
}

#[test]
fn every_digit_as_json_and_unknown_is_null() {
    let all = json(&import(TRACE.as_bytes(), &["--format", "json"]));
    let trace = &all["trace"];
    assert_eq!(all["schema"], "breakeven.trace/1");
    assert_eq!((&trace["kind"], trace["kernels"].as_u64()), (&"kineto".into(), Some(2)));
    assert_eq!((trace["kernel_s"].as_f64(), trace["busy_s"].as_f64()), (Some(5e-5), Some(5e-5)));
    assert_eq!(
        (trace["gpus"][0]["name"].as_str(), trace["gpus"][0]["span_s"].as_f64()),
        (Some("NVIDIA L4"), Some(1e-4))
    );
    assert!(trace["steps"]["count"].is_null() && trace["launches"].is_null() && trace["causes"]["host_s"].is_null());
    let host =
        json(&import(br#"[{"ph": "X", "name": "f", "ts": 1, "dur": 2, "pid": 1, "tid": 1}]"#, &["--format", "json"]));
    assert!(host["trace"]["kernels"].is_null() && host["trace"]["busy_s"].is_null());
    assert_eq!(host["trace"]["not_read"][0]["code"], "no-gpu-events");
}

#[test]
fn many_files_by_content_and_to_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| -> PathBuf { folder.path().join(name) };
    fs::write(path("rank0.txt"), TRACE).unwrap();
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut packed, TRACE.as_bytes()).unwrap();
    fs::write(path("rank1.csv"), packed.finish().unwrap()).unwrap();
    let mut command = breakeven();
    command.arg("import").arg(path("rank0.txt")).arg(path("rank1.csv")).args(["--format", "json", "--output"]);
    assert_eq!(said(command.arg(path("totals.json"))), "exit 0\n");
    let all: serde_json::Value = serde_json::from_slice(&fs::read(path("totals.json")).unwrap()).unwrap();
    assert_eq!((all["trace"]["kernels"].as_u64(), all["trace"]["gpus"].as_array().unwrap().len()), (Some(4), 2));
    let mut command = breakeven();
    let text = said(command.arg("import").arg(path("rank0.txt")).arg("--output").arg(path("rank0.txt")));
    assert!(text.starts_with("exit 2\n--- stderr\nerror: ") && text.contains("overwrite"), "{text}");
    // A folder is the traces in it, and totals are none.
    let all = json(&said(breakeven().arg("import").arg(folder.path()).args(["--format", "json"])));
    assert_eq!(all["files"].as_array().unwrap().len(), 2);
    let empty = tempfile::tempdir().unwrap();
    let text = said(breakeven().arg("import").arg(empty.path()));
    assert!(text.contains("holds no trace") && text.contains("\n hint: "), "{text}");
}

#[test]
fn what_is_no_trace_is_told_with_the_next_step() {
    for (bytes, part) in [
        (b"" as &[u8], "empty"),
        (b"a,b\n1,2\n", "no trace that is known"),
        (b"SQLite format 3\0", "SQLite"),
        (br#"{"format": "breakeven.workload/1"}"#, "breakeven show"),
    ] {
        let text = import(bytes, &[]);
        assert!(text.starts_with("exit 2\n--- stderr\nerror: stdin is "), "{text}");
        assert!(text.contains(part) && text.contains("\n hint: "), "{text}");
    }
    let text = said(breakeven().args(["import", "no-such-file.json"]));
    assert!(text.starts_with("exit 2\n--- stderr\nerror: cannot read no-such-file.json: "), "{text}");
}

#[test]
fn names_in_a_trace_cannot_feign_lines_of_ours() {
    let trace = TRACE.replace("gemm", "gemm\\u001b[31m\\nGPU busy 100 %");
    let text = import(trace.as_bytes(), &[]);
    assert!(!text.contains('\u{1b}') && !text.contains("\nGPU busy 100 %"), "{text}");
    let markdown = import(trace.as_bytes(), &["--format", "markdown"]);
    assert!(!markdown.contains("\nGPU busy 100 %"), "{markdown}");
}

/// Three rounds of a layer.
const MODEL: &[u8] = include_bytes!("../../../breakeven-import/tests/fixtures/dense.mlir");

#[test]
fn a_model_file_is_estimated_and_saved() {
    let folder = tempfile::tempdir().unwrap();
    let saved = folder.path().join("dense.breakeven.json");
    let out = saved.to_str().unwrap();
    let first = import(MODEL, &["--gpu", "l4", "--format", "json", "--out", out]);
    let first = json(first.split("--- stderr").next().unwrap());
    assert_eq!(first["model"]["kind"], "stablehlo");
    assert_eq!(first["baseline"]["basis"], "modelled");
    assert_eq!(first["model"]["parameters"], serde_json::Value::Null);
    assert_eq!(first["workload"]["coverage"], 1.0);
    let again = json(&says(&["show", out, "--gpu", "l4", "--format", "json"]));
    assert_eq!(again["estimates"], first["estimates"]);
}

#[test]
fn what_is_for_models_or_traces_alone_is_said() {
    assert!(import(TRACE.as_bytes(), &["--dim", "batch=8"]).contains("--dim is for one model file"));
    assert!(import(TRACE.as_bytes(), &["--exclude-startup"]).contains("of a trace only --gpu"));
    assert!(import(MODEL, &["--source-gpu", "l4"]).contains("--source-gpu is for a trace"));
    assert!(import(MODEL, &["--dim", "batch=8"]).contains("leaves no length `batch` open"));
}
