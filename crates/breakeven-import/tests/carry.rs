//! A small trace on other GPUs: what must hold of it, and what is refused.

use breakeven::choice::{Choice, choose};
use breakeven::hardware::Catalogue;
use breakeven::request::{Options, Request};
use breakeven::workload::Workload;
use breakeven_import::carry::{Asked, carry, source, workload};
use breakeven_import::report::{carried, json};
use breakeven_import::{Source, Summary, Trace, read};

const PLAIN: Asked<'_> = Asked { source: None, host_factor: 1.0 };

fn trace(text: &str) -> Trace {
    read(Source::from_bytes("trace.json", text.as_bytes()).unwrap()).unwrap()
}

fn fixture() -> Trace {
    trace(include_str!("fixtures/cuda.json"))
}

fn gpus(names: &[&str]) -> Choice {
    let options = Options { gpu: names.iter().map(|name| (*name).to_owned()).collect(), ..Options::default() };
    choose(&Request { today: "2026-11-30".to_owned(), options, ..Request::default() }).unwrap()
}

/// The fixture names `NVIDIA A100-SXM4-…`: which of them is said.
fn asked() -> Asked<'static> {
    Asked { source: Some("a100-sxm4-80gb"), ..PLAIN }
}

#[test]
fn on_the_gpu_that_was_recorded_it_is_what_was_measured() {
    let all = carry(&[fixture()], asked(), &gpus(&["a100-sxm4-80gb", "l4", "b200"])).unwrap();
    let [same, l4, b200] = all.gpus.as_slice() else { panic!("{all:?}") };
    let mean = Summary::of(vec![fixture()]).steps.unwrap().mean_s;
    assert_eq!([same.time.p10, same.time.p50, same.time.p90], [mean; 3]);
    assert!(l4.time.p50 > same.time.p50 && b200.time.p50 <= same.time.p50);
    assert!(l4.time.p10 < l4.time.p50 && l4.time.p50 < l4.time.p90);
    assert!((all.coverage.iter().sum::<f64>() - 1.0).abs() < 1e-9);
    assert!(carried::sentence(&all).starts_with("Fastest for a step is "), "{}", carried::sentence(&all));
}

#[test]
fn a_slower_host_is_never_faster() {
    let choice = gpus(&["h200-sxm-141gb"]);
    let on = |host_factor| carry(&[fixture()], Asked { host_factor, ..asked() }, &choice).unwrap().gpus[0].time.p50;
    assert!(on(2.0) > on(1.0) && on(1.0) > on(0.5));
}

#[test]
fn what_is_not_known_is_null_and_said() {
    let all = carry(&[fixture()], asked(), &gpus(&["l4"])).unwrap();
    let value: serde_json::Value =
        serde_json::from_str(&json(&Summary::of(vec![fixture()]), Some(&all))).expect("JSON");
    let l4 = &value["carried"]["gpus"][0];
    assert_eq!((&l4["gpu"], &l4["fits"]), (&"l4".into(), &serde_json::Value::Null));
    assert!(l4["time_s"]["p50"].as_f64().unwrap() > 0.0 && l4["cost_usd"]["p50"].as_f64().unwrap() > 0.0);
    for text in [carried::text(&all, false), carried::text(&all, true)] {
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    }
    assert!(carried::markdown(&all).contains("| GPU"));
}

#[test]
fn gpus_that_nobody_knows_are_refused_by_name() {
    let kernel = |name: &str| {
        format!(
            r#"{{"schemaVersion": 1, "deviceProperties": [{{"id": 0, "name": "{name}"}}], "traceEvents": [
            {{"ph": "X", "cat": "kernel", "name": "gemm", "ts": 10, "dur": 2.5, "args": {{"device": 0}}}}]}}"#
        )
    };
    let refused = |text: &str| source(&[trace(text)], PLAIN, Catalogue::embedded()).unwrap_err();
    let unknown = refused(&kernel("NVIDIA Z9000"));
    assert_eq!(unknown.code, "source-gpu");
    assert!(unknown.message.contains("NVIDIA Z9000") && unknown.hint.unwrap().contains("--source-gpu"));
    assert!(refused(&kernel("NVIDIA A100")).message.contains("a100-pcie-40gb, a100-sxm4-40gb"));
    let nothing = refused(
        r#"{"schemaVersion": 1, "traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "a", "ts": 1, "dur": 1}]}"#,
    );
    assert_eq!(nothing.code, "no-gpu-events");
    assert_eq!(source(&[trace(&kernel("NVIDIA L4"))], PLAIN, Catalogue::embedded()).unwrap().id(), "l4");
}

#[test]
fn shapes_become_ops_and_a_workload() {
    let text = r#"{"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "NVIDIA L4"}], "traceEvents": [
        {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 1, "dur": 9, "args": {
         "External id": 5, "Input Dims": [[4096, 4096], [4096, 4096]], "Input type": ["c10::Half", "c10::Half"],
         "Concrete Inputs": ["", ""]}},
        {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 3, "dur": 4,
         "args": {"External id": 5, "correlation": 77}},
        {"ph": "X", "cat": "kernel", "name": "ampere_fp16_s16816gemm_fp16_128x128_nn", "pid": 0, "tid": 7, "ts": 12,
         "dur": 2600, "args": {"External id": 5, "correlation": 77, "device": 0, "stream": 7}},
        {"ph": "X", "cat": "kernel", "name": "mystery", "pid": 0, "tid": 7, "ts": 2700, "dur": 10,
         "args": {"correlation": 78, "device": 0, "stream": 7}}]}"#;
    let all = carry(&[trace(text)], PLAIN, &gpus(&["h100-sxm5-80gb"])).unwrap();
    assert!(all.coverage[0] > 0.99 && all.coverage[2] > 0.0, "{:?}", all.coverage);
    assert!(!all.of_step && all.gpus[0].speedup.p50 > 3.0, "{all:?}");
    let gpu = source(&[trace(text)], PLAIN, Catalogue::embedded()).unwrap();
    let made = workload(&trace(text), gpu);
    let read = Workload::from_json(made.to_json().unwrap().as_bytes()).expect("what is written reads");
    assert_eq!(read.program.gpu.as_deref(), Some("L4"));
    let names: Vec<&str> = read.ops.iter().map(|entry| entry.name.as_str()).collect();
    assert_eq!(names, ["aten.mm", "mystery"]);
    assert_eq!(read.ops[1].op, breakeven::workload::Op::Opaque);
    assert_eq!((read.ops[1].cpu_ns, read.unseen[0].ns), (10_000, 10_000));
}
