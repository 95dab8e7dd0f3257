//! `--timeline`, `--trace` and `--html` of a saved workload.

use super::{breakeven, said};
use std::io::Read;
use std::path::Path;

const HEAT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/examples/heat.breakeven.json");

fn events(text: &str) -> Vec<serde_json::Value> {
    let json: serde_json::Value = serde_json::from_str(text).expect("it is JSON");
    json["traceEvents"].as_array().expect("a list").clone()
}

fn show(options: &[&str], trace: Option<&Path>) -> String {
    let mut command = breakeven();
    command.args(["show", HEAT, "--gpu", "l4"]).args(options);
    if let Some(trace) = trace {
        command.arg("--trace").arg(trace);
    }
    said(&mut command)
}

#[test]
fn a_trace_is_a_file_for_perfetto_packed_or_not() {
    let folder = tempfile::tempdir().unwrap();
    let plain = folder.path().join("heat.trace.json");
    assert!(show(&["--quiet"], Some(&plain)).starts_with("exit 0"));
    let text = std::fs::read_to_string(&plain).unwrap();
    let names: Vec<String> = events(&text).iter().map(|e| e["name"].to_string()).collect();
    assert!(names.iter().any(|name| name.contains("numpy.add")), "{names:?}");

    let packed = folder.path().join("heat.trace.json.gz");
    assert!(show(&["--quiet"], Some(&packed)).starts_with("exit 0"));
    let mut unpacked = String::new();
    flate2::read::GzDecoder::new(std::fs::File::open(&packed).unwrap()).read_to_string(&mut unpacked).unwrap();
    assert_eq!(unpacked, text);
}

#[test]
fn a_dash_is_stdout() {
    let folder = tempfile::tempdir().unwrap();
    let report = folder.path().join("report.txt");
    let text = show(&["--output", report.to_str().unwrap()], Some(Path::new("-")));
    assert!(!events(text.strip_prefix("exit 0\n--- stdout\n").expect("a trace")).is_empty());
    assert!(!Path::new("-").exists());
}

#[test]
fn a_trace_that_cannot_be_written_is_an_error_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let nowhere = folder.path().join("missing").join("t.json");
    let said = show(&[], Some(&nowhere));
    assert!(said.starts_with("exit 2") && said.contains("cannot write"), "{said}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_sketch_shows_who_is_busy() {
    let text = show(&["--timeline"], None);
    let rows: Vec<&str> = text.lines().skip_while(|line| !line.starts_with("on l4, ")).skip(1).take(7).collect();
    let names: Vec<&str> = rows.iter().map(|row| row[..14].trim()).collect();
    assert_eq!(names, ["start-up", "Python", "launching", "waiting", "kernels", "copies in", "copies back"], "{text}");
    assert!(rows.iter().all(|row| row.chars().count() == 75), "{text}");
    assert!(!show(&[], None).contains("launching  "));
}

#[test]
fn a_page_is_whole_and_changes_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("heat.html");
    let mut command = breakeven();
    command.args(["show", HEAT, "--gpu", "l4", "--html"]).arg(&page);
    let told = said(&mut command);
    let (report, wrote) = told.split_once("--- stderr\n").unwrap();
    assert_eq!(report, show(&[], None));
    assert!(wrote.starts_with(&format!("wrote {} (", page.display())) && wrote.ends_with(" kB)\n"), "{wrote}");
    let text = std::fs::read_to_string(&page).unwrap();
    for part in [
        "<!doctype html>",
        "<title>heat.py · breakeven</title>",
        "Where the time goes",
        "Break-even",
        "In the course of the run",
        "Kernels by length",
        "heat.py:6",
        r#"<script id="asked" type="application/json">{"gpu":["l4"]"#,
        "</html>",
    ] {
        assert!(text.contains(part), "{part}");
    }
    assert!(!text.contains("<!--breakeven:"), "every mark is filled");
    let (_, rest) = text.split_once(r#"<script id="file" type="application/octet-stream">"#).unwrap();
    assert!(rest.split_once("</script>").unwrap().0.len() > 500, "the workload is in it");
}

#[test]
fn a_changed_program_says_so() {
    let text = show(&["--precision", "float32", "--size", "2"], None);
    assert!(text.contains("on 2044×2044 instead of 1022×1022 and in fp32"), "{text}");
    let text = show(&["--size", "huge"], None);
    assert!(text.starts_with("exit 2") && text.contains("`huge` is not a number"), "{text}");
}

#[test]
fn nothing_is_written_over_another_thing() {
    let folder = tempfile::tempdir().unwrap();
    let kept = folder.path().join("heat.breakeven.json");
    std::fs::copy(HEAT, &kept).unwrap();
    let of = |arguments: &[&str]| {
        let mut command = breakeven();
        said(command.current_dir(folder.path()).args(["show", "heat.breakeven.json"]).args(arguments))
    };
    insta::assert_snapshot!(of(&["--output", "report", "--html", "./report"]), @"
    exit 2
    --- stderr
    error: ./report is both the report and --html: one would overwrite the other
     hint: give each a file of its own
    ");
    let same_as_read = of(&["--trace", kept.to_str().unwrap()]);
    assert!(same_as_read.starts_with("exit 2") && same_as_read.contains("both what is read and --trace"));
    assert!(of(&["--html", "-"]).contains("- is both the report and --html"));
    assert_eq!(std::fs::read(&kept).unwrap(), std::fs::read(HEAT).unwrap());
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is half-written");
    assert!(of(&["--output", "/dev/null", "--html", "/dev/null"]).starts_with("exit 0"));
}
