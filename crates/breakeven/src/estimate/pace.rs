//! How much longer a library's call takes on the recording host than on the reference CPU, by its smallest calls.
//!
//! The costs of a port (`ports/NAME_costs.csv`) are those of a server core of 2020 to 2024. A host on which adding two
//! arrays of ten numbers takes three times what it takes there needs three times as long to hand over a kernel, too.

use super::hosttime::{HostTime, host_time};
use crate::port::{self, PortProfile};
use crate::report::words;
use crate::workload::{Entry, Op, Workload};

/// Array bytes in and out of a call up to which its time is the library's overhead alone.
const SMALL_BYTES: u64 = 2048;
/// Fewer runs of an entry are mostly first calls.
const LEAST_RUNS: u64 = 100;
/// Fewer small calls in all are no evidence.
const LEAST_CALLS: u64 = 1000;
/// The recorder whose times are the library's own: rewritten Python code adds its own to each call.
const RECORDER: &str = "numpy-native";
/// The least share of the time that must have been the program's. Interruptions hardly fall on calls so short, so that none of
/// their time is taken off, but caches are shared.
const LEAST_OWN: f64 = 0.5;
/// Calls of one loop over two arrays, by package: others do more beside it.
const SMALL_CALLS: [(&str, &[&str]); 2] = [
    (
        "numpy.",
        &["add", "subtract", "multiply", "divide", "true_divide", "maximum", "minimum", "greater", "less", "equal"],
    ),
    ("aten.", &["add", "sub", "mul", "div", "add_", "sub_", "mul_", "div_"]),
];
/// A pace is told where it differs so much, either way.
const TOLD_FROM: f64 = 1.5;
/// What is believed of a host.
const BOUNDS: (f64, f64) = (0.5, 8.0);

/// The pace of each library on the host that recorded `workload`.
pub fn paces(workload: &Workload) -> Vec<(&'static str, f64)> {
    let host = host_time(workload);
    port::all().iter().map(|profile| (profile.name, pace(workload, &host, profile))).collect()
}

/// What a reader should know of the pace of the library that a program is estimated for; nothing where it is usual.
pub fn note(host: &HostTime, library: &str) -> Option<String> {
    let pace = host.pace(library);
    (!(1.0 / TOLD_FROM..=TOLD_FROM).contains(&pace)).then(|| {
        let from = if library == "cupy" { "NumPy" } else { "PyTorch" };
        let pace = words::times(pace);
        format!(
            "small {from} calls took {pace} as long on this host as on the reference CPU (assumed): handing work to the GPU \
             is taken to cost {pace} as much; `--host-cpu` names another host"
        )
    })
}

/// How many times as long a call of `profile`'s library takes on the host that recorded `workload`: from 0.5 to 8. 1
/// where the recording has no small calls of the library that the port starts from (NumPy for CuPy, PyTorch's on the CPU
/// for PyTorch), or where other programs had more than half of the time.
pub fn pace(workload: &Workload, host: &HostTime, profile: &PortProfile) -> f64 {
    let Some(reference) = profile.small_call() else { return 1.0 };
    let program = &workload.program;
    if program.recorder != RECORDER || host.own < LEAST_OWN || workload.unseen.iter().any(|u| u.reason == "fake") {
        return 1.0;
    }
    let (package, names) = SMALL_CALLS[usize::from(profile.name != port::cupy().name)];
    let small = |entry: &&Entry| {
        let adds = matches!(entry.op, Op::Elementwise { inputs: 2, transcendental: false, .. });
        adds && entry.device.is_none()
            && entry.name.strip_prefix(package).is_some_and(|name| names.contains(&name))
            && entry.read_bytes.saturating_add(entry.written_bytes) <= SMALL_BYTES
            && entry.count >= LEAST_RUNS
            && entry.cpu_ns > 0
    };
    let mut calls: Vec<(f64, u64)> = workload
        .ops
        .iter()
        .filter(small)
        .map(|entry| (entry.cpu_ns as f64 * 1e-9 / entry.count as f64, entry.count))
        .collect();
    calls.sort_by(|a, b| a.0.total_cmp(&b.0));
    match median(&calls) {
        Some(one) => (one / reference.p50).clamp(BOUNDS.0, BOUNDS.1),
        None => 1.0,
    }
}

/// The median of a call, s, where there are enough of them; `calls` are seconds and how often, sorted.
fn median(calls: &[(f64, u64)]) -> Option<f64> {
    let all = calls.iter().fold(0_u64, |sum, (_, count)| sum.saturating_add(*count));
    let mut seen = 0_u64;
    let middle = calls.iter().find(|(_, count)| {
        seen = seen.saturating_add(*count);
        seen >= all.div_ceil(2)
    });
    middle.map(|(one, _)| *one).filter(|_| all >= LEAST_CALLS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::answer_request;
    use crate::request::{Options, Request};
    use proptest::prelude::*;
    use serde_json::{Value, json};

    /// A loop of small additions that take `ns` each, a product between them, and Python code of 1 µs.
    fn recorded(ns: u64, count: u64) -> Value {
        let add = json!({ "elementwise": { "n": 10, "inputs": 2, "flop_per_element": 1.0 } });
        let op = |name: &str, op: Value, ns: u64, bytes: u64| {
            json!({ "site": 0, "name": name, "op": op, "dtype": "f64", "count": count, "cpu_ns": ns * count,
                    "gap_ns": 1000 * count, "read_bytes": bytes, "written_bytes": bytes })
        };
        let product = json!({ "matmul": { "m": 64, "n": 64, "k": 64, "batch": 1 } });
        json!({
            "format": "breakeven.workload/1",
            "program": { "name": "x.py", "wall_ns": (ns + 22_000) * count + 1_000_000, "recorder": RECORDER,
                         "cpu": "AMD EPYC 7763", "cpu_threads": 8, "exit": { "code": 0 } },
            "sites": [{ "file": "x.py", "line": 1 }],
            "ops": [op("numpy.add", add, ns, 160), op("numpy.matmul", product, 20_000, 32_768)]
        })
    }

    fn workload(text: &Value) -> Workload {
        Workload::from_json(text.to_string().as_bytes()).unwrap()
    }

    fn paced(text: &Value) -> f64 {
        let workload = workload(text);
        pace(&workload, &host_time(&workload), port::cupy())
    }

    /// Median time on a GPU, s.
    fn on_gpu(text: &Value, host_cpu: Option<&str>) -> f64 {
        let options = Options { gpu: vec!["k80".into()], host_cpu: host_cpu.map(str::to_owned), ..Options::default() };
        let request = Request { workload: Some(Box::new(workload(text))), options, ..Request::default() };
        answer_request(&request).unwrap().estimates[0].time_s.unwrap().p50
    }

    #[test]
    fn a_host_three_times_as_slow_hands_over_three_times_as_slowly() {
        let usual = (port::cupy().small_call().unwrap().p50 * 1e9) as u64;
        let (fast, slow) = (recorded(usual, 100_000), recorded(3 * usual, 100_000));
        assert!((paced(&fast) - 1.0).abs() < 1e-9 && (paced(&slow) - 3.0).abs() < 1e-9);
        let once = port::cupy().dispatch("numpy.add", &workload(&fast).ops[0].op).p50
            + port::cupy().dispatch("numpy.matmul", &workload(&fast).ops[1].op).p50;
        let more = on_gpu(&slow, None) - on_gpu(&fast, None);
        assert!((more / (2.0 * once * 100_000.0) - 1.0).abs() < 0.02, "{more}");
        let notes = |text: &Value| {
            let request = Request { workload: Some(Box::new(workload(text))), ..Request::default() };
            let notes = answer_request(&request).unwrap().notes;
            notes.into_iter().find(|note| note.code == "host-pace").map(|note| note.text)
        };
        assert_eq!(notes(&fast), None);
        insta::assert_snapshot!(notes(&slow).unwrap(), @"small NumPy calls took 3.0× as long on this host as on the reference CPU (assumed): handing work to the GPU is taken to cost 3.0× as much; `--host-cpu` names another host");
        // What the recording host is like says nothing of another.
        let elsewhere = [&fast, &slow].map(|text| on_gpu(text, Some("epyc-7763")));
        assert!((elsewhere[1] / elsewhere[0] - 1.0).abs() < 1e-9, "{elsewhere:?}");
    }

    #[test]
    fn without_evidence_it_is_as_the_reference() {
        let slow = recorded(3000, 100_000);
        assert!(paced(&slow) > 1.0);
        assert_eq!(paced(&recorded(3000, 200)), 1.0, "too few calls");
        for (place, value) in [
            ("/program/recorder", json!("numpy-ast")),
            ("/ops/0/name", json!("aten.add")),
            ("/ops/0/name", json!("numpy.arctan2")),
            ("/ops/0/read_bytes", json!(SMALL_BYTES)),
            ("/ops/0/op/elementwise/inputs", json!(1)),
            ("/ops/0/cpu_ns", json!(0)),
        ] {
            let mut other = slow.clone();
            *other.pointer_mut(place).unwrap() = value;
            assert_eq!(paced(&other), 1.0, "{place}");
        }
        let mut busy = slow.clone();
        busy["program"]["stolen_ns"] = json!(slow["program"]["wall_ns"].as_u64().unwrap() * 3 / 4);
        assert_eq!(paced(&busy), 1.0);
    }

    proptest! {
        #[test]
        fn a_slower_host_never_makes_the_gpu_side_faster(ns in 1_u64..20_000, more in 0_u64..20_000) {
            let (fast, slow) = (recorded(ns, 5000), recorded(ns + more, 5000));
            prop_assert!(BOUNDS.0 <= paced(&fast) && paced(&fast) <= paced(&slow) && paced(&slow) <= BOUNDS.1);
            prop_assert!(on_gpu(&slow, None) >= on_gpu(&fast, None) * (1.0 - 1e-9));
        }
    }
}
