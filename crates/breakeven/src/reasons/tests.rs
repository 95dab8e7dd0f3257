//! Laws that hold for every program.

use crate::answer::answer_request;
use crate::estimate::gpu::{Outcome, outcome};
use crate::estimate::program::ask;
use crate::estimate::{Estimate, REASON_CODES};
use crate::request::{Options, Request};
use crate::timeline::finish;
use crate::workload::{Op, Workload, samples};
use proptest::prelude::*;
use serde_json::json;

fn on_t4(workload: &Workload) -> Request {
    let options = Options { gpu: vec!["t4".to_owned()], ..Options::default() };
    Request { workload: Some(Box::new(workload.clone())), options, ..Request::default() }
}

fn estimate(workload: &Workload) -> Estimate {
    answer_request(&on_t4(workload)).unwrap()
}

fn has(e: &Estimate, code: &str) -> bool {
    e.reasons.iter().any(|reason| reason.code == code)
}

/// A loop of one element-wise kernel, perhaps with arrays from the host and a value read in each round.
fn loops() -> impl Strategy<Value = Workload> {
    let sizes = prop_oneof![1..2000_u64, 1..20_000_000_u64];
    (sizes, 1..5000_u64, 0..200_000_u64, 0..100_000_u64, any::<bool>(), any::<bool>()).prop_map(
        |(n, count, cpu_ns, gap_ns, from_host, reads)| {
            let bytes = if from_host { n * 8 * count } else { 0 };
            let mut ops = vec![json!({
                "site": 0, "name": "numpy.add", "op": {"elementwise": {"n": n, "inputs": 2, "flop_per_element": 1.0}},
                "dtype": "f64", "count": count, "read_bytes": n * 16, "written_bytes": n * 8, "cpu_ns": cpu_ns * count,
                "gap_ns": gap_ns * count, "host_input_bytes": bytes, "host_input_count": if from_host { count } else { 0 },
            })];
            let mut round = vec![0];
            if reads {
                round.push(1);
                ops.push(json!({
                    "site": 1, "name": "numpy.ndarray.__float__", "op": {"host_read": {"bytes": 8}}, "dtype": "f64",
                    "count": count,
                }));
            }
            let wall = (cpu_ns + gap_ns) * count + 1_000_000;
            let text = json!({
                "format": "breakeven.workload/1",
                "program": {"name": "a.py", "wall_ns": wall, "exit": {"code": 0}},
                "sites": [{"file": "a.py", "line": 3}, {"file": "a.py", "line": 4}],
                "ops": ops, "order": [[count, round]],
            });
            Workload::from_json(text.to_string().as_bytes()).unwrap()
        },
    )
}

fn sound(e: &Estimate) -> Result<(), TestCaseError> {
    let program = e.reasons.iter().filter(|reason| reason.site.is_none());
    let shares: f64 = program.filter_map(|reason| reason.share).sum();
    prop_assert!(shares <= 1.0 + 1e-9, "{shares}: {:?}", e.reasons);
    for reason in &e.reasons {
        prop_assert!(REASON_CODES.iter().any(|(code, _)| *code == reason.code), "{}", reason.code);
        prop_assert!(reason.share.is_none_or(|share| (0.0..=1.0).contains(&share)), "{reason:?}");
        prop_assert!(reason.evidence.iter().all(|figure| figure.value.is_finite()), "{reason:?}");
        prop_assert!(!reason.cause.is_empty() && !reason.cause.contains("NaN"), "{reason:?}");
    }
    for timer in &e.timers {
        prop_assert!(timer.here_s >= 0.0 && timer.first_call_s >= 0.0, "{timer:?}");
        let (shown, work) = (timer.gpu_s.map_or(0.0, |shown| shown.p50), timer.work_s.unwrap_or(f64::INFINITY));
        prop_assert!(shown >= 0.0 && work >= shown, "{timer:?}");
    }
    for flip in &e.robustness {
        prop_assert!(flip.from.is_none_or(f64::is_finite) && flip.to.is_none_or(f64::is_finite), "{flip:?}");
        prop_assert!(!flip.text.contains("NaN"), "{flip:?}");
    }
    Ok(())
}

/// A program of one line that runs 400 times, by these means.
fn line(via: Option<&str>, name: &str, op: serde_json::Value) -> Workload {
    let text = json!({
        "format": "breakeven.workload/1",
        "program": {"name": "a.py", "wall_ns": 2_100_000_000_u64, "exit": {"code": 0}},
        "sites": [{"file": "a.py", "line": 3, "via": via}],
        "ops": [{
            "site": 0, "name": name, "op": op, "dtype": "f64", "count": 400, "read_bytes": 2_880_000,
            "written_bytes": 2_880_000, "cpu_ns": 2_000_000_000_u64,
        }],
        "order": [[400, [0]]],
    });
    Workload::from_json(text.to_string().as_bytes()).unwrap()
}

#[test]
fn a_function_of_scipys_is_known_by_what_its_package_has() {
    let product = |via: &str| {
        let op = json!({"sparse": {"kind": "spmv", "rows": 40_000, "cols": 40_000, "nnz": 199_200, "n": 1}});
        estimate(&line(Some(via), "scipy.sparse.csr_matvec", op))
    };
    for via in ["scipy.sparse.__matmul__", "scipy.sparse.linalg.iterative.cg"] {
        assert!(!has(&product(via), "no-counterpart"), "{via}");
    }
    let e = product("scipy.integrate.ivp.solve_ivp");
    let reason = e.reasons.iter().find(|reason| reason.code == "no-counterpart").unwrap();
    assert!(reason.cause.starts_with("scipy.integrate.ivp.solve_ivp stays on the CPU"), "{}", reason.cause);
}

/// SciPy calls NumPy for a few numbers, and the script's own function, which takes the numbers one by one.
fn minimised(ns_of_a_call: u64) -> Estimate {
    let n = 20_000;
    let ops = [
        json!({
            "site": 0, "name": "numpy.copy", "op": {"copy": {"n": 3, "inputs": 1}}, "dtype": "f64", "count": n,
            "read_bytes": 24, "written_bytes": 24, "cpu_ns": n * ns_of_a_call, "gap_ns": n * 1000,
        }),
        json!({
            "site": 1, "name": "numpy.ndarray.__iter__", "op": {"host_read": {"bytes": 8}}, "dtype": "f64", "count": n,
            "cpu_ns": n * 50, "gap_ns": n * 300,
        }),
    ];
    let text = json!({
        "format": "breakeven.workload/1",
        "program": {"name": "a.py", "wall_ns": n * (ns_of_a_call + 1350) + 1_000_000, "exit": {"code": 0}},
        "sites": [
            {"file": "a.py", "line": 7, "via": "scipy.optimize.minimize"}, {"file": "a.py", "line": 3},
        ],
        "ops": ops, "order": [[n, [0, 1]]],
    });
    estimate(&Workload::from_json(text.to_string().as_bytes()).unwrap())
}

#[test]
fn a_function_of_a_few_numbers_is_python_that_waits_for_nothing() {
    let e = minimised(600);
    assert_eq!(e.reasons[0].code, "host-bound", "{:?}", e.reasons);
    assert!(!has(&e, "synchronisation-bound") && !has(&e, "no-counterpart"));
    // Work that is worth the name has no counterpart.
    let e = minimised(60_000);
    assert_eq!(e.reasons[0].code, "no-counterpart", "{:?}", e.reasons);
    assert!(!has(&e, "synchronisation-bound"));
}

#[test]
fn a_chain_is_no_matter_of_launches() {
    let op = json!({"factor": {"kind": "lu", "m": 600, "n": 600, "rhs": 600}});
    let e = estimate(&line(None, "numpy.linalg.inv", op));
    let share =
        |code| e.reasons.iter().find(|r| r.code == code && r.site.is_none()).and_then(|r| r.share).unwrap_or(0.0);
    let (chain, launches) = (share("sequential-dependence"), share("launch-bound"));
    assert!(chain > 5.0 * launches && chain + launches <= 1.0, "{chain} {launches}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_program_has_sound_reasons(workload in samples::workloads()) {
        sound(&estimate(&workload))?;
    }

    #[test]
    fn any_loop_has_a_reason_and_shares_of_its_lines_sum_to_no_more_than_one(workload in loops()) {
        let e = estimate(&workload);
        sound(&e)?;
        prop_assert!(e.reasons.iter().any(|reason| reason.site.is_none()));
        let lines: f64 = e.reasons.iter().filter(|r| r.site.is_some()).filter_map(|r| r.share).sum();
        prop_assert!(lines <= 1.0 + 1e-9, "{lines}");
    }

    #[test]
    fn without_copies_nothing_is_bound_by_them(mut workload in samples::workloads()) {
        for entry in &mut workload.ops {
            (entry.host_input_bytes, entry.host_input_count) = (0, 0);
            // What has no counterpart runs on the host, and its arrays are copied there and back.
            entry.name = "numpy.add".to_owned();
            if matches!(entry.op, Op::Transfer { .. } | Op::HostRead { .. } | Op::HostOnly | Op::Opaque) {
                entry.op = Op::View;
            }
        }
        for buffer in &mut workload.buffers {
            buffer.host_touches = 0;
        }
        prop_assert!(!has(&estimate(&workload), "transfer-bound"));
    }

    #[test]
    fn without_reading_values_nothing_waits_for_them(workload in loops()) {
        let reads = workload.ops.len() == 2;
        prop_assert!(reads || !has(&estimate(&workload), "synchronisation-bound"));
    }

    #[test]
    fn dearer_launches_never_take_the_reason_away(workload in loops(), factor in 1.0..8.0f64) {
        let launch_bound = |factor: f64| {
            ask(&workload, &on_t4(&workload), |q, choice| {
                let device = &choice.gpus[0].gpu.device;
                let mut out: Outcome = outcome(q, device);
                out.plan.tasks.iter_mut().for_each(|task| task.dispatch *= factor);
                out.plan.sums.dispatch *= factor;
                let startup = out.parts.startup;
                let before = out.parts.total();
                out.parts = finish(&out.plan.tasks, q.order, q.port.machine());
                out.parts.startup = startup;
                out.speedup = out.speedup.map(|s| s.scale(before / out.parts.total()));
                let found = super::reasons(q, &out, device, &[]);
                found.into_iter().find(|reason| reason.code == "launch-bound" && reason.site.is_none())
            })
            .unwrap()
        };
        let (cheap, dear) = (launch_bound(1.0), launch_bound(factor));
        prop_assert!(cheap.is_none() || dear.is_some(), "{cheap:?} at ×{factor}");
    }
}
