//! The default report: 24 lines that fit the terminal.

use super::{breakeven, said, says};
use std::fs;
use std::path::{Path, PathBuf};

/// Recordings that come with the project: examples, and programs that fail, end early or are hardly understood.
fn recordings() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folders = ["docs/examples", "crates/breakeven/tests/workloads"].map(|folder| root.join(folder));
    let files = folders.iter().flat_map(|folder| fs::read_dir(folder).unwrap()).map(|file| file.unwrap().path());
    files.filter(|file| file.extension().is_some_and(|ending| ending == "json")).collect()
}

/// The lines of a report on a terminal that wide.
fn lines(columns: &str, arguments: &[&str]) -> Vec<String> {
    let text = said(breakeven().env("COLUMNS", columns).args(arguments));
    let report = text.strip_prefix("exit 0\n--- stdout\n").unwrap_or_else(|| panic!("{arguments:?}: {text}"));
    report.split("--- stderr").next().unwrap().lines().map(str::to_owned).collect()
}

fn fits(columns: usize, arguments: &[&str]) {
    let lines = lines(&columns.to_string(), arguments);
    assert!(lines.len() <= 24, "{arguments:?}:\n{}", lines.join("\n"));
    for line in &lines {
        assert!(line.chars().count() <= columns, "{arguments:?}:\n{line}");
    }
    assert_eq!(lines.last().unwrap(), "more: --verbose");
}

#[test]
fn any_recording_fits_a_terminal() {
    let files = recordings();
    assert!(files.len() > 10);
    for file in &files {
        let file = file.to_str().unwrap();
        fits(80, &["show", file]);
        fits(80, &["show", file, "--gpu", "l4"]);
    }
    for columns in [40, 60, 132] {
        fits(columns, &["show", files[0].to_str().unwrap()]);
    }
}

#[test]
fn a_script_that_failed_fits_a_terminal() {
    let folder = tempfile::tempdir().unwrap();
    for (name, exit) in [("failed", r#"{"code":1}"#), ("killed", r#"{"signal":9}"#)] {
        let heat = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/examples/heat.breakeven.json");
        let mut workload: serde_json::Value = serde_json::from_slice(&fs::read(heat).unwrap()).unwrap();
        workload["program"]["exit"] = serde_json::from_str(exit).unwrap();
        // An op that nobody knows takes most of the time.
        workload["ops"][3]["op"] = "opaque".into();
        let file = folder.path().join(name);
        fs::write(&file, workload.to_string()).unwrap();
        fits(80, &["show", file.to_str().unwrap()]);
    }
}

#[test]
fn numbers_fit_a_terminal() {
    let work = ["estimate", "--flops", "10TFLOP", "--data", "1GB", "--cpu-rate", "400GFLOP/s"];
    fits(80, &work);
    fits(80, &[&work[..], &["--gpu", "rtx 3080,h100 sxm", "--runs-per-month", "1000"]].concat());
    fits(80, &["estimate", "--values", "1e9"]);
}

#[test]
fn what_fits_is_told_without_times() {
    let text = says(&["estimate", "--values", "1e9", "--gpu", "t4,l4"]);
    insta::assert_snapshot!(text, @"
    exit 0
    --- stdout
    3.73 GiB fit on 2 of 2 GPUs.

      prices of 2026-07-20 and earlier
      device  memory, GiB   $/h  verdict
      L4        3.7 of 24  0.44  fits
      T4        3.7 of 16  0.53  fits

      precision    memory  for
      fp64       7.45 GiB  NumPy's default; simulation, linear algebra
      fp32       3.73 GiB  single precision; most array work
      tf32       3.73 GiB  fp32 storage, shorter products on tensor cores
      fp16       1.86 GiB  training with loss scaling, inference
      bf16       1.86 GiB  training: fp32's range, fewer digits
      fp8        0.93 GiB  training and inference on recent GPUs
      int8       0.93 GiB  quantised inference

    coverage: numbers as given; nothing was run
    more: --verbose
    ");
}

#[test]
fn the_gpu_of_the_first_line_comes_first_everywhere() {
    let heat = recordings().into_iter().find(|file| file.ends_with("heat.breakeven.json")).unwrap();
    let heat = heat.to_str().unwrap();
    let json = said(breakeven().args(["show", heat, "--format", "json"]));
    let json: serde_json::Value = serde_json::from_str(json.split_once("stdout\n").unwrap().1).unwrap();
    let first = &json["estimates"][0];
    assert_eq!(first["gpu"], json["summary"]["shown_gpu"]);
    let name = first["name"].as_str().unwrap();
    for options in [&[][..], &["--sort", "value"]] {
        let lines = lines("80", &[&["show", heat][..], options].concat());
        assert!(lines[..2].concat().contains(name), "{lines:?}");
        let cpu = lines.iter().position(|line| line.starts_with("  CPU: ")).unwrap();
        assert!(lines[cpu + 1].starts_with(&format!("  {name} ")), "{lines:?}");
    }
}

#[test]
fn rows_and_first_lines_are_as_many_in_each_format() {
    let heat = "../../docs/examples/heat.breakeven.json";
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("heat.html");
    let html = |arguments: &[&str]| {
        let text = said(breakeven().args(["show", heat, "-q", "--html"]).arg(&page).args(arguments));
        assert!(text.contains(&format!("--- stderr\nwrote {} (", page.display())), "{text}");
        fs::read_to_string(&page).unwrap()
    };
    let show = |arguments: &[&str]| says(&[&["show", heat][..], arguments].concat());
    let json = show(&["--format", "json"]);
    let json: serde_json::Value = serde_json::from_str(json.split_once("stdout\n").unwrap().1).unwrap();
    let names: Vec<&str> = json["estimates"].as_array().unwrap().iter().map(|e| e["name"].as_str().unwrap()).collect();
    let gpus = |text: &str| [names[1], names[5]].map(|name| text.contains(name));
    for format in ["text", "markdown"] {
        assert_eq!(gpus(&show(&["--format", format, "--top", "2"])), [true, false], "{format}");
        assert_eq!(gpus(&show(&["--format", format, "--quiet"])), [false, false], "{format}");
    }
    assert!(!html(&[]).contains("<table"));
}

#[test]
fn lists_fit_a_terminal() {
    for arguments in [&["gpus"][..], &["gpus", "h100"], &["prices"], &["prices", "t4"], &["doctor"]] {
        let text = said(breakeven().env("COLUMNS", "80").args(arguments));
        let wide: Vec<&str> = text.lines().filter(|line| line.chars().count() > 80).collect();
        assert!(wide.is_empty(), "{arguments:?}:\n{}", wide.join("\n"));
    }
}
