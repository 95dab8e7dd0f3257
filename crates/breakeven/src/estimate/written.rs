//! What a program that uses a GPU library itself comes to.

use super::{Estimate, Note, Verdict};
use crate::answer::answer_request;
use crate::interval::Basis;
use crate::report::TextOptions;
use crate::request::{Options, Request};
use crate::workload::Workload;
use serde_json::{Value, json};

/// Two copies in, a product, a wait, a copy out, between two reads of a clock or around them.
fn classic(waits: bool) -> Value {
    let entry = |name: &str, op: Value, cpu_ms: u64| {
        json!({"site": 0, "name": name, "op": op, "dtype": "f64", "count": 1, "device": "cuda:0",
            "cpu_ns": cpu_ms * 1_000_000, "gap_ns": 1000})
    };
    let copy = |direction: &str| json!({"transfer": {"direction": direction, "bytes": 32_000_000}});
    let mut into = entry("cupy.asarray", copy("h2d"), 10);
    into["count"] = json!(2);
    let mut ops = vec![
        into,
        entry("cupy.dot", json!({"matmul": {"m": 2000, "n": 2000, "k": 2000}}), 400),
        entry("cupy.cuda.Stream.synchronize", json!("synchronise"), 0),
        entry("cupy.asnumpy", copy("d2h"), 5),
    ];
    let mut order = vec![0, 0, 1, 2, 3];
    if !waits {
        ops.remove(2);
        order = vec![0, 0, 1, 2];
    }
    let marker = |line: u32, position: usize| json!({"clock": "time.perf_counter", "site": line, "position": position, "at_ns": 5});
    json!({
        "format": "breakeven.workload/1",
        "program": {"name": "classic.py", "wall_ns": 600_000_000, "device_peak_bytes": 96_000_000, "exit": {"code": 0}},
        "sites": [{"file": "classic.py", "line": 3}, {"file": "/home/me/classic.py", "line": 8},
            {"file": "/home/me/classic.py", "line": 11}],
        "ops": ops, "order": order,
        "markers": [marker(1, 2), marker(2, if waits { 4 } else { 3 })],
    })
}

fn estimate(workload: &Value, options: Options) -> crate::Result<Estimate> {
    let workload = Workload::from_json(workload.to_string().as_bytes())?;
    let options = Options { gpu: vec!["rtx-4090".to_owned()], ..options };
    answer_request(&Request { workload: Some(Box::new(workload)), options, ..Request::default() })
}

fn note<'a>(e: &'a Estimate, code: &str) -> Option<&'a Note> {
    e.notes.iter().find(|note| note.code == code)
}

#[test]
fn copies_and_waits_are_those_of_the_program() {
    let e = estimate(&classic(true), Options::default()).unwrap();
    let w = &e.workload;
    assert_eq!((w.h2d_bytes, w.d2h_bytes), (Some(64_000_000.0), Some(32_000_000.0)));
    assert_eq!((w.h2d_copies, w.d2h_copies, w.synchronisations, w.launches), (Some(2), Some(1), Some(1), 1));
    assert_eq!((w.peak_bytes, e.estimates[0].policy.as_str()), (Some(96_000_000.0), "as-written"));
    assert_eq!(e.estimates[0].naive_time_s, None);
    assert!(note(&e, "as-written").is_some_and(|n| n.text.contains("uses cupy")));
    let g = &e.estimates[0];
    let parts = g.breakdown_s.unwrap();
    assert!((parts.total() / g.time_s.unwrap().p50 - 1.0).abs() < 1e-12);
    assert!(parts.transfer > 3.2e7 * 3.0 / 32e9, "{parts:?}");
}

#[test]
fn the_timed_span_leaves_out_the_copies_and_takes_in_the_set_up() {
    let e = estimate(&classic(true), Options::default()).unwrap();
    let text = &note(&e, "timed-span").unwrap().text;
    assert!(text.contains("classic.py:8–11 takes leaves out the copies (64 MB to the GPU, 32 MB back)"), "{text}");
    assert!(text.contains("includes set-up at first use"), "{text}");
    // Without the copy back.
    let mut w = classic(true);
    w["order"].as_array_mut().unwrap().pop();
    w["ops"].as_array_mut().unwrap().pop();
    let text = note(&estimate(&w, Options::default()).unwrap(), "timed-span").unwrap().text.clone();
    assert!(text.contains("leaves out the copies (64 MB to the GPU, nothing back)"), "{text}");
    assert!(note(&e, "timer-without-wait").is_none());
}

#[test]
fn a_clock_stopped_while_the_gpu_works_is_told() {
    let e = estimate(&classic(false), Options::default()).unwrap();
    let text = &note(&e, "timer-without-wait").unwrap().text;
    assert!(text.contains("classic.py:8–11") && text.contains("without waiting"), "{text}");
    assert_eq!(e.workload.synchronisations, Some(0));
}

#[test]
fn a_script_that_failed_before_its_work_is_not_put_a_figure_on() {
    let text = json!({
        "format": "breakeven.workload/1",
        "program": {"name": "early.py", "wall_ns": 80_000_000, "startup_ns": 79_000_000, "exit": {"code": 3}},
    });
    for (warm, gpus) in [(false, 1), (true, 1), (true, 0)] {
        let workload = crate::workload::Workload::from_json(text.to_string().as_bytes()).unwrap();
        let gpu = if gpus == 1 { vec!["rtx-4090".to_owned()] } else { Vec::new() };
        let options = Options { exclude_startup: warm, gpu, ..Options::default() };
        let e = answer_request(&Request { workload: Some(Box::new(workload)), options, ..Request::default() }).unwrap();
        assert_eq!(e.summary.verdict, Verdict::Unknown);
        assert!(e.estimates.iter().all(|g| g.time_s.is_none() && g.speedup.is_none() && g.cost_usd.is_none()));
        assert!(e.estimates.iter().all(|g| g.breakdown_s.is_none() && g.energy_wh.is_none() && g.bound_by.is_none()));
        assert_eq!((e.reasons.len(), e.advice.len()), (0, 0));
        assert!(e.robustness[0].text.starts_with("a run that goes on"), "{:?}", e.robustness);
        let wide = TextOptions { width: Some(200), ..TextOptions::default() };
        for shown in [crate::report::text(&e, &wide), crate::report::markdown(&e, false)] {
            assert!(shown.contains("unknown") && shown.contains("Not enough evidence"), "{shown}");
            assert!(!shown.contains(" 0×") && !shown.contains(" 1.0×") && !shown.contains("Held back"), "{shown}");
        }
    }
}

#[test]
fn a_script_that_ended_for_want_of_a_gpu_is_told_how_to_have_one() {
    let answered = |exit: u32| {
        let mut text = classic(true);
        text["program"]["exit"] = json!({ "code": exit });
        text["unseen"] = json!([{"reason": "no-gpu", "text": "the script asks for a GPU (--pretend-gpu NAME)", "ns": 0, "count": 1}]);
        let e = estimate(&text, Options::default()).unwrap();
        (e.summary.verdict, crate::report::text(&e, &TextOptions::default()))
    };
    let (verdict, shown) = answered(1);
    assert_eq!(verdict, Verdict::Unknown);
    assert!(shown.starts_with("Not enough evidence: the script asks for a GPU (--pretend-gpu NAME)."), "{shown}");
    assert_ne!(answered(0).0, Verdict::Unknown, "it went on without");
}

#[test]
fn what_ran_out_of_memory_needs_at_least_what_it_came_to() {
    let mut text = classic(true);
    text["program"]["exit"] = json!({ "code": 1 });
    text["program"]["device_peak_bytes"] = json!(25u64 << 30);
    text["unseen"] = json!([{"reason": "no-room", "text": "the script runs out", "ns": 0, "count": 1}]);
    let answered = |gpu: &[&str]| {
        let options = Options { gpu: gpu.iter().map(|&g| g.to_owned()).collect(), ..Options::default() };
        let workload = Workload::from_json(text.to_string().as_bytes()).unwrap();
        answer_request(&Request { workload: Some(Box::new(workload)), options, ..Request::default() }).unwrap()
    };
    let small = answered(&["rtx-4090"]);
    assert_eq!(small.summary.sentence, "Does not fit on GeForce RTX 4090: it needs at least 25 GiB of device memory.");
    assert!(small.reasons[0].cause.contains("need 25 GiB at least"), "{:?}", small.reasons);
    for gpus in [&["a100-80"][..], &["rtx-4090", "a100-80", "l40s"]] {
        let e = answered(gpus);
        let large = e.estimates.iter().find(|g| g.gpu.contains("a100")).unwrap();
        assert_eq!((e.summary.verdict, large.fits, large.time_s.is_none()), (Verdict::Unknown, None, true));
        assert_eq!(e.summary.sentence, "Not enough evidence: the script runs out.");
        assert!(e.advice.is_empty() && e.robustness[0].text.starts_with("a run that goes on"), "{:?}", e.robustness);
    }
}

#[test]
fn what_nobody_saw_is_unknown_whatever_the_clock_said() {
    // Both sides are the same sum then, whose last bit differs for some of these.
    for wall_ns in (5_000_000u64..6_000_000).step_by(997) {
        let text = json!({
            "format": "breakeven.workload/1",
            "program": {"name": "x.py", "wall_ns": wall_ns, "startup_ns": 1_882_559, "stolen_ns": 10_225, "exit": {"code": 0}},
            "unseen": [{"reason": "gpu-not-watched", "text": "CuPy ran on a GPU", "ns": wall_ns - 1_882_559, "count": 1}],
        });
        let workload = crate::workload::Workload::from_json(text.to_string().as_bytes()).unwrap();
        let options = Options { gpu: vec!["l4".to_owned()], ..Options::default() };
        let e = answer_request(&Request { workload: Some(Box::new(workload)), options, ..Request::default() }).unwrap();
        assert_eq!(e.summary.verdict, Verdict::Unknown, "{wall_ns}");
    }
}

#[test]
fn no_other_policy_fits_and_this_one_fits_no_other_program() {
    let asked = |workload: &Value, policy: Option<&str>, port: Option<&str>| {
        let options =
            Options { policy: policy.map(str::to_owned), port: port.map(str::to_owned), ..Options::default() };
        estimate(workload, options).map(|e| e.estimates[0].policy.clone()).map_err(|e| e.code)
    };
    let written = classic(true);
    let mut plain = written.clone();
    plain["ops"].as_array_mut().unwrap().iter_mut().for_each(|op| {
        op.as_object_mut().unwrap().remove("device");
    });
    assert_eq!(asked(&written, Some("as-written"), None), Ok("as-written".to_owned()));
    assert_eq!(asked(&written, None, Some("as-written")), Ok("as-written".to_owned()));
    assert_eq!(asked(&written, Some("naive"), None), Err("written-for-a-gpu"));
    assert_eq!(asked(&plain, None, Some("as-written")), Err("not-written-for-a-gpu"));
    assert_eq!(asked(&plain, None, None), Ok("resident".to_owned()));
    assert_eq!(asked(&plain, Some("fast"), None), Err("unknown-policy"));
}

#[test]
fn what_has_no_device_stays_on_the_host() {
    let mut mixed = classic(true);
    mixed["ops"][1].as_object_mut().unwrap().remove("device");
    let e = estimate(&mixed, Options::default()).unwrap();
    assert_eq!(e.workload.launches, 0);
    assert!(e.estimates[0].breakdown_s.unwrap().host > 0.4);
}

#[test]
fn what_ran_on_a_gpu_here_says_nothing_of_a_cpu() {
    let on_gpu = |waiting_ms: u64| {
        let mut workload = classic(true);
        workload["program"]["gpu"] = json!("NVIDIA H100 80GB HBM3");
        for op in workload["ops"].as_array_mut().unwrap() {
            op["cpu_ns"] = json!(waiting_ms * 1_000_000);
        }
        workload["program"]["wall_ns"] = json!((500 + 4 * waiting_ms) * 1_000_000);
        estimate(&workload, Options::default()).unwrap()
    };
    let (short, long) = (on_gpu(1), on_gpu(1000));
    assert_eq!(short.baseline.basis, Basis::Modelled);
    let cpu = |e: &Estimate| e.baseline.time_s.unwrap().p50;
    assert!((cpu(&short) / cpu(&long) - 1.0).abs() < 1e-6, "{} {}", cpu(&short), cpu(&long));
    // Half a second of the script's own, and two products of 8 GFLOP on some CPU.
    assert!(cpu(&short) > 0.501 && cpu(&short) < 5.0, "{}", cpu(&short));
    let lines = |e: &Estimate| e.sites.iter().map(|s| s.time_s.p50).sum::<f64>();
    assert!((lines(&short) / lines(&long) - 1.0).abs() < 1e-6, "{} {}", lines(&short), lines(&long));
    let told = &note(&long, "own-gpu").unwrap().text;
    assert!(told.contains("4.5 s on this machine's NVIDIA H100 80GB HBM3"), "{told}");
    assert!(note(&long, "as-written").is_none());
    assert!(note(&long, "own-clocks").is_some_and(|note| note.text.contains("on this GPU")));
}
