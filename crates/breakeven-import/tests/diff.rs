//! What changed between two runs, on traces made for it; conditions; folders of traces.

use breakeven_import::diff::{Condition, Difference, Side, json, markdown, sentence, text};
use breakeven_import::{Source, Summary, read, report, traces};
use proptest::prelude::*;
use std::fs;

/// Steps of 1 ms with one kernel each and idle time behind it.
fn run(kernel_us: u32, step_us: u32, steps: u32) -> Summary {
    let step = |i: u32| {
        let at = i * step_us;
        format!(
            r#"{{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#{i}", "pid": 1, "tid": 1, "ts": {at},
              "dur": {step_us}}},
            {{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": {at}, "dur": 5,
              "args": {{"correlation": {i}}}}},
            {{"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": {at}, "dur": {kernel_us},
              "args": {{"device": 0, "stream": 7, "correlation": {i}}}}}"#
        )
    };
    let events: Vec<String> = (0..steps).map(step).collect();
    let head = r#"{"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "NVIDIA L4"}], "traceEvents": ["#;
    let whole = format!("{head}{}]}}", events.join(",\n"));
    Summary::of(vec![read(Source::from_bytes("run.json", whole.as_bytes()).unwrap()).unwrap()])
}

fn between(before: &Summary, after: &Summary) -> Difference {
    Difference::of(&Side::of(before), &Side::of(after))
}

#[test]
fn faster_kernels_that_gain_nothing() {
    let found = between(&run(500, 1000, 10), &run(455, 1000, 10));
    assert!(found.of_step);
    let said = sentence(&found);
    assert!(
        said.starts_with(
            "Kernel time fell 9 % (500 µs to 455 µs) while the step stayed the same (1 ms): idle for host"
        ),
        "{said}"
    );
}

#[test]
fn a_step_that_fell_says_by_what() {
    let found = between(&run(500, 1000, 10), &run(300, 800, 20));
    // Twice as many steps: figures are of one.
    let said = sentence(&found);
    assert_eq!(said, "The step fell 20 % (1 ms to 800 µs): kernel time −200 µs.");
    let kernels = found.change("kernels").unwrap();
    assert_eq!((kernels.before, kernels.after), (Some(1.0), Some(1.0)));
    let shown = text(&found);
    assert!(shown.lines().all(|line| line.chars().count() <= 80), "{shown}");
    assert!(shown.contains("−20 %") && shown.contains("gemm"), "{shown}");
    assert!(markdown(&found).contains("| kernel time |"), "{}", markdown(&found));
    let value: serde_json::Value = serde_json::from_str(&json(&found)).unwrap();
    assert_eq!((value["schema"].as_str(), value["per"].as_str()), (Some("breakeven.diff/1"), Some("step")));
}

#[test]
fn saved_totals_are_as_good_as_the_trace() {
    let (before, after) = (run(500, 1000, 10), run(455, 1000, 10));
    let saved = Side::saved("totals.json", &report::json(&before, None)).unwrap();
    assert!(Side::is_saved(report::json(&before, None).as_bytes()));
    assert_eq!(Difference::of(&saved, &Side::of(&after)), between(&before, &after));
    assert!(Side::saved("other.json", "{}").is_err());
}

#[test]
fn conditions_on_parts_differences_and_figures() {
    let found = between(&run(500, 1000, 10), &run(600, 1150, 10));
    for (condition, fails) in [
        ("time > +10%", true),
        ("time>20%", false),
        ("kernel_time <= +0.00011", true),
        ("kernel_time < 0.0005", false),
        ("launches > 1", false),
        ("launches != +0", false),
        ("time < -5%", false),
        // Not known: no loader in either, no graph.
        ("copy_bytes > +10%", false),
        ("communication_alone > +1%", false),
    ] {
        assert_eq!(Condition::read(condition).unwrap().fails(&found), fails, "{condition}");
    }
    for bad in ["", "time", "speed > 2", "time >", "time > two", "time > nan%", "> 2"] {
        let error = Condition::read(bad).unwrap_err();
        assert!(error.hint.unwrap().contains("time > +10%"), "{bad}");
    }
}

#[test]
fn what_is_not_known_fails_and_is_said() {
    let host = r#"[{"ph": "X", "name": "f", "ts": 1, "dur": 2, "pid": 1, "tid": 1}]"#;
    let host = Summary::of(vec![read(Source::from_bytes("host.json", host.as_bytes()).unwrap()).unwrap()]);
    let found = between(&run(500, 1000, 2), &host);
    assert!(Condition::read("time > +10%").unwrap().fails(&found));
    assert!(sentence(&found).contains("unknown"));
    assert!(found.notes.iter().any(|note| note.contains("NVIDIA L4 before, no GPU after")), "{:?}", found.notes);
}

#[test]
fn folders_give_their_traces() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let xplane = b"\x0a\x0b\x12\x09/host:CPU";
    for run in ["2026_01_01_00_00_00", "2026_01_02_00_00_00"] {
        fs::create_dir_all(path("plugins/profile").join(run)).unwrap();
        fs::write(path("plugins/profile").join(run).join("vm.xplane.pb"), xplane).unwrap();
        fs::write(path("plugins/profile").join(run).join("vm.trace.json"), r#"{"traceEvents": []}"#).unwrap();
    }
    fs::write(path("notes.txt"), "nothing").unwrap();
    fs::write(path("package.json"), r#"{"name": "x"}"#).unwrap();
    assert_eq!(traces(folder.path()).unwrap(), [path("plugins/profile/2026_01_02_00_00_00/vm.xplane.pb")]);
    let runs = traces(&path("plugins/profile")).map(|found| found.len());
    assert_eq!(runs.unwrap(), 1);
    fs::create_dir(path("empty")).unwrap();
    assert!(traces(&path("empty")).unwrap_err().hint.is_some());
    assert_eq!(traces(&path("notes.txt")).unwrap(), [path("notes.txt")]);
}

proptest! {
    #[test]
    fn any_condition_is_read_or_refused(text in ".{0,40}") {
        let _ = Condition::read(&text);
    }
}
