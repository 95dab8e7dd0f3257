//! Machine files: what is refused, what changes with one, and how much nearer it brings the models.

#[path = "../../../accuracy/src/calibrated.rs"]
mod calibrated;

use breakeven::answer::answer_request;
use breakeven::calibration::{self, Calibration};
use breakeven::estimate::Estimate;
use breakeven::hardware::Catalogue;
use breakeven::interval::Basis;
use breakeven::request::{Machine, Numbers, Options, Request, Typed};
use serde_json::{Value, json};
use std::path::Path;

/// A machine on which products take twice as long as modelled, and whose small calls are three times as slow.
fn file() -> Value {
    let kernel = |side: u64, seconds: f64| {
        let bytes = 4 * side * side;
        json!({ "on": "cpu", "library": "numpy", "op": { "matmul": { "m": side, "n": side, "k": side } }, "dtype": "f32",
                "read_bytes": 2 * bytes, "written_bytes": bytes,
                "seconds": { "p10": seconds, "p50": seconds, "p90": seconds } })
    };
    let product = |side: u64| kernel(side, 2.0 * modelled(side));
    let sides = [256, 512, 1024, 2048, 4096];
    json!({
        "format": "breakeven.machine/1", "date": "2026-11-30", "version": "0.1.0",
        "machine": { "cpu": "AMD EPYC 7763", "cpu_threads": 8 }, "busy": 0.0, "gpu": null,
        "kernels": sides.map(product),
        "costs": [{ "library": "numpy", "what": "small_call", "seconds": { "p10": 855e-9, "p50": 855e-9, "p90": 855e-9 } }]
    })
}

fn ask(side: u64, machine: Option<String>, cpu: Option<&str>) -> Estimate {
    let options = Options { gpu: vec!["l4".into()], cpu: cpu.map(str::to_owned), machine, ..Options::default() };
    let numbers = Numbers { matmul: Some(Typed::Number(side as f64)), ..Numbers::default() };
    let here = Machine { cpu: "AMD EPYC 7763".to_owned(), cpu_threads: 8, ..Machine::default() };
    answer_request(&Request { numbers: Some(numbers), options, machine: Some(here), ..Request::default() }).unwrap()
}

/// The baseline of a product without a machine file, s.
fn modelled(side: u64) -> f64 {
    ask(side, None, None).baseline.time_s.unwrap().p50
}

fn note(answer: &Estimate) -> Option<String> {
    answer.notes.iter().find(|note| note.code == "calibrated").map(|note| note.text.clone())
}

#[test]
fn a_baseline_takes_the_times_that_were_measured() {
    let plain = ask(3000, None, None);
    let own = ask(3000, Some(file().to_string()), None);
    let [before, after] = [&plain, &own].map(|answer| answer.baseline.time_s.unwrap());
    assert!((after.p50 / before.p50 - 2.0).abs() < 0.02, "{before:?} {after:?}");
    assert!(after.p90 / after.p10 < before.p90 / before.p10, "{before:?} {after:?}");
    assert_eq!((plain.baseline.basis, own.baseline.basis), (Basis::Modelled, Basis::Measured));
    insta::assert_snapshot!(note(&own).unwrap(), @"times on AMD EPYC 7763 (8 threads) rest on what `breakeven calibrate` measured there on 2026-11-30");
    assert_eq!((note(&plain), own.options.get("machine")), (None, Some(&Value::Null)));
}

#[test]
fn another_cpu_is_as_it_was_unless_the_file_is_asked_for() {
    let named = ask(3000, Some(file().to_string()), Some("graviton3"));
    assert_eq!(named.baseline, ask(3000, None, Some("graviton3")).baseline);
    assert_eq!(note(&named), None);
    let mut other = file();
    other["machine"]["cpu_threads"] = json!(16);
    let unlike = ask(3000, Some(other.to_string()), None);
    assert_eq!((unlike.baseline.basis, note(&unlike)), (Basis::Modelled, None));
    let asked = ask(3000, Some(other.to_string()), Some("machine"));
    assert_eq!(asked.baseline.basis, Basis::Measured);
    assert!(note(&asked).is_some());
}

#[test]
fn a_file_that_cannot_be_is_refused_with_what_is_allowed() {
    let refused = |place: &str, value: Value| {
        let mut wrong = file();
        *wrong.pointer_mut(place).unwrap() = value;
        calibration::read(&wrong.to_string()).unwrap_err().message
    };
    let whole = file().to_string();
    let told = [
        calibration::read(&whole[..whole.len() / 2]).unwrap_err().message,
        calibration::read("").unwrap_err().message,
        calibration::read("[]").unwrap_err().message,
        refused("/format", json!("breakeven.machine/2")),
        refused("/kernels/1/seconds/p50", json!(null)),
        refused("/kernels/1/seconds/p50", json!(-1.0)),
        refused("/kernels/1/seconds/p90", json!(1e300)),
        refused("/kernels/1/op", json!("view")),
        refused("/kernels/1/on", json!("tpu")),
        refused("/costs/0/seconds/p10", json!(0.0)),
        refused("/busy", json!(7)),
    ];
    insta::assert_snapshot!(told.join("\n"));
    assert!(calibration::read(&whole.replace("2.0", "NaN").replace("0.0", "NaN")).is_err());
}

#[test]
fn what_is_no_measurement_of_the_work_changes_nothing() {
    let mut absurd = file();
    for kernel in absurd["kernels"].as_array_mut().unwrap() {
        kernel["seconds"] = json!({ "p10": 3600.0, "p50": 3600.0, "p90": 3600.0 });
    }
    let answer = ask(256, Some(absurd.to_string()), None);
    assert!((answer.baseline.time_s.unwrap().p50 / modelled(256) - 1.0).abs() < 1e-9);
    assert_eq!(answer.baseline.basis, Basis::Modelled);
}

#[test]
fn small_calls_tell_the_pace_of_the_host() {
    let calibration = Calibration::new(&file().to_string(), Catalogue::embedded()).unwrap();
    let paces = calibration.paces();
    let of = |name: &str| paces.iter().find(|(known, _)| *known == name).map(|(_, pace)| *pace);
    assert!((of("cupy").unwrap() - 3.0).abs() < 1e-9 && of("torch").is_none(), "{paces:?}");
}

#[test]
fn boards_come_nearer_on_the_third_of_their_kernels_that_was_held_back() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../accuracy");
    let ledger: Value =
        serde_json::from_str(&std::fs::read_to_string(folder.join("ledger-calibrated.json")).unwrap()).unwrap();
    for row in ledger.as_array().unwrap() {
        let report = calibrated::score(&folder.join("measured").join(row["file"].as_str().unwrap())).unwrap();
        println!("{}", serde_json::to_string(&report).unwrap());
        assert!(report.ratio <= row["most"].as_f64().unwrap(), "{report:?}");
    }
}
