//! Workloads through the whole engine: figures counted by hand, and laws.

mod common;

use breakeven::answer::answer_request;
use breakeven::estimate::{Estimate, Verdict};
use breakeven::request::{Options, Request};
use breakeven::workload::Workload;
use common::{ask, on};
use proptest::prelude::*;
use serde_json::{Value, json};

fn workload(wall_s: f64, ops: Value, order: Value) -> Workload {
    let text = json!({
        "format": "breakeven.workload/1",
        "program": { "name": "test.py", "wall_ns": (wall_s * 1e9) as u64, "cpu": "test", "exit": { "code": 0 } },
        "sites": [{ "file": "test.py", "line": 3, "function": "<module>", "text": "c = a @ b" }],
        "ops": ops,
        "order": order,
    });
    Workload::from_json(text.to_string().as_bytes()).unwrap()
}

fn product() -> Workload {
    workload(
        1.0,
        json!([{
            "site": 0, "name": "numpy.matmul", "op": { "matmul": { "m": 2000, "n": 2000, "k": 2000 } }, "dtype": "f64",
            "count": 1, "read_bytes": 64_000_000, "written_bytes": 32_000_000, "cpu_ns": 900_000_000,
            "host_input_bytes": 64_000_000, "host_input_count": 2
        }]),
        json!([0]),
    )
}

fn add(n: u64, count: u64, cpu_ns: u64) -> Value {
    json!([{
        "site": 0, "name": "numpy.add", "op": { "elementwise": { "n": n, "inputs": 2, "flop_per_element": 1.0 } },
        "dtype": "f64", "count": count, "read_bytes": n * 16, "written_bytes": n * 8, "cpu_ns": cpu_ns
    }])
}

#[test]
fn one_product_counts_as_by_hand() {
    let e = ask(product(), on("h100-sxm5-80gb"));
    assert_eq!(e.workload.flop, Some(1.6e10));
    assert_eq!(e.workload.h2d_bytes, Some(64e6));
    assert_eq!(e.workload.d2h_bytes, Some(0.0));
    assert_eq!((e.workload.ops, e.workload.launches), (1, 1));
    assert_eq!(e.workload.coverage, 1.0);
}

#[test]
fn what_is_unknown_has_a_note() {
    let noted = |options| {
        let e = ask(product(), options);
        let noted = |code| e.notes.iter().any(|n| n.code == code);
        (e.estimates[0].price.is_none(), noted("no-price"), noted("no-watts"))
    };
    assert_eq!(noted(on("jetson-orin-nano-8gb-super")), (true, true, false));
    let graviton = Options { cpu: Some("graviton3".to_owned()), ..on("l4") };
    assert_eq!(noted(graviton), (false, false, true));
}

#[test]
fn what_is_said_of_other_makers_concerns_the_programs_library() {
    let noted = |mut workload: Workload, name: &str| {
        workload.ops[0].name = name.to_owned();
        let gpu = vec!["mi300x".to_owned(), "m4-max-40-core".to_owned()];
        let e = ask(workload, Options { gpu, ..Options::default() });
        let text = |code| e.notes.iter().find(|n| n.code == code).map(|n| n.text.clone());
        (text("port-amd"), text("port-native").unwrap())
    };
    let (amd, native) = noted(product(), "numpy.matmul");
    assert!(amd.unwrap().contains("CuPy") && native.contains("native array library"), "{native}");
    let (amd, native) = noted(product(), "aten.mm");
    assert!(amd.is_none() && native.contains("PyTorch"), "{native}");
}

#[test]
fn only_makers_that_the_library_has_a_release_for_count() {
    let counted = |name: &str| {
        let mut workload = product();
        workload.ops[0].name = name.to_owned();
        let gpu = ["l4", "mi300x", "m4-max-40-core"].map(str::to_owned).to_vec();
        let e = ask(workload, Options { gpu, ..Options::default() });
        let by_maker = |vendor: &str| e.estimates.iter().find(|g| g.gpu.starts_with(vendor)).unwrap().counted;
        ["l4", "mi300x", "m4-max"].map(by_maker)
    };
    assert_eq!(counted("numpy.matmul"), [true, true, false]);
    assert_eq!(counted("sklearn.cluster.KMeans.fit"), [true, false, false]);
}

#[test]
fn a_profile_is_for_programs_of_its_library() {
    let options = Options { port: Some("torch".to_owned()), ..on("l4") };
    let workload = Some(Box::new(product()));
    let request = Request { today: "2026-11-21".to_owned(), workload, options, ..Request::default() };
    let error = answer_request(&request).unwrap_err();
    assert_eq!((error.code, error.field), ("unknown-port", Some("port")));
}

#[test]
fn parts_sum_to_the_time_on_every_gpu() {
    let e = ask(product(), Options::default());
    assert!(e.estimates.len() >= 75);
    for g in &e.estimates {
        let (Some(t), Some(parts)) = (g.time_s, g.breakdown_s) else { continue };
        assert!((parts.total() / t.p50 - 1.0).abs() < 1e-9, "{}: {parts:?} {t:?}", g.gpu);
        assert!(t.p10 <= t.p50 && t.p50 <= t.p90, "{}: {t:?}", g.gpu);
        let s = g.speedup.unwrap();
        assert!(s.p10 <= s.p50 && s.p50 <= s.p90, "{}: {s:?}", g.gpu);
    }
}

#[test]
fn launches_of_one_element_are_linear_in_their_number() {
    let time = |n: u64| {
        let e = ask(
            workload(n as f64 * 1e-6, add(1, n, n * 500), json!([[n, [0]]])),
            Options { exclude_startup: true, ..on("t4") },
        );
        assert_eq!(e.workload.launches, n);
        e.estimates[0].time_s.unwrap().p50
    };
    let (one, ten) = (time(100_000), time(1_000_000));
    assert!((ten / one - 10.0).abs() < 0.1, "{one} {ten}");
}

#[test]
fn tiny_arrays_stay_on_the_cpu() {
    let e = ask(workload(0.5, add(10, 400_000, 400_000 * 600), json!([[400_000, [0]]])), Options::default());
    assert_eq!(e.summary.verdict, Verdict::Cpu, "{}", e.summary.sentence);
    assert_eq!(e.summary.wins_on, 0);
}

#[test]
fn large_element_wise_work_wins() {
    let e = ask(workload(60.0, add(50_000_000, 300, 59_000_000_000), json!([[300, [0]]])), Options::default());
    assert_eq!(e.summary.verdict, Verdict::Gpu, "{}", e.summary.sentence);
}

#[test]
fn plain_python_is_a_confident_cpu() {
    let e = ask(workload(5.0, json!([]), json!([])), Options::default());
    assert_eq!(e.summary.verdict, Verdict::Cpu, "{}", e.summary.sentence);
    assert_eq!(e.workload.coverage, 1.0);
    let note = e.notes.iter().find(|n| n.code == "no-array-ops").unwrap();
    assert!(note.text.contains("arithmetic on single NumPy numbers, which is not counted as FLOP"));
}

#[test]
fn arithmetic_on_single_numbers_is_said_not_to_be_counted() {
    let noted = |count: u64| {
        let read = json!({ "site": 0, "name": "numpy.ndarray.item", "op": { "host_read": { "bytes": 8 } }, "dtype": "f64",
                           "count": count, "read_bytes": 8, "written_bytes": 0, "cpu_ns": 40 * count });
        let e = ask(
            workload(2.0, json!([read, add(1000, 5000, 5_000_000)[0]]), json!([[count, [0]], [5000, [1]]])),
            on("l4"),
        );
        assert_eq!(e.summary.verdict, Verdict::Cpu, "{}", e.summary.sentence);
        e.notes.into_iter().find(|n| n.code == "single-numbers").map(|n| n.text)
    };
    assert!(noted(900_000).unwrap().starts_with("900 000 single numbers were taken out of arrays: "));
    assert_eq!(noted(4000), None);
}

#[test]
fn what_is_not_understood_makes_the_verdict_unknown() {
    let ops = json!([{ "site": 0, "name": "mystery", "op": "opaque", "dtype": "f64", "count": 10, "cpu_ns": 58_000_000_000u64 },
        { "site": 0, "name": "numpy.add", "op": { "elementwise": { "n": 50_000_000, "inputs": 2, "flop_per_element": 1.0 } },
          "dtype": "f64", "count": 10, "read_bytes": 800_000_000, "written_bytes": 400_000_000, "cpu_ns": 1_500_000_000u64 }]);
    let e = ask(workload(60.0, ops, json!([[10, [0, 1]]])), on("h100-sxm5-80gb"));
    assert!(e.workload.coverage < 0.2);
    assert_eq!(e.summary.verdict, Verdict::Unknown, "{}", e.summary.sentence);
}

#[test]
fn what_does_not_fit_has_no_time() {
    let mut w = product();
    w.program.peak_bytes = 100_000_000_000;
    let e = ask(w, on("t4"));
    let g = &e.estimates[0];
    assert_eq!((g.fits, g.verdict, g.time_s), (Some(false), Verdict::Cpu, None));
    assert!(e.summary.sentence.contains("not fit"), "{}", e.summary.sentence);
}

#[test]
fn every_part_of_an_answer_speaks_of_the_same_gpu() {
    let heat = include_str!("../../../docs/examples/heat.breakeven.json");
    let mut w = Workload::from_json(heat.as_bytes()).unwrap();
    let of = |w: &Workload| {
        let e = ask(w.clone(), Options::default());
        let id = e.summary.shown_gpu.clone().unwrap();
        let name = e.estimates.iter().find(|g| g.gpu == id).unwrap().name.clone();
        let options = breakeven::report::TextOptions { verbose: true, ..Default::default() };
        let (text, markdown) = (breakeven::report::text(&e, &options), breakeven::report::markdown(&e, false));
        assert!(text.contains(&format!("\nwhy, on {name}\n")), "{text}");
        assert_eq!(e.estimates[0].gpu, id);
        let cpu = text.lines().position(|line| line.starts_with("  CPU")).unwrap();
        assert!(text.lines().nth(cpu + 1).unwrap().starts_with(&format!("  {name} ")), "{text}");
        assert!(markdown.contains(&format!("\n### Hot lines, on {name}\n")), "{markdown}");
        assert!(breakeven::report::html(&e, false).contains(&format!("<small>on {name}")));
        (e, name)
    };
    let (fits, _) = of(&w);
    assert_eq!(fits.summary.shown_gpu, fits.summary.best_gpu);
    // The script was shown one: that comes first, with the best value after it.
    w.program.imitated_gpu = Some("t4".to_owned());
    let (e, name) = of(&w);
    assert_eq!((name.as_str(), &e.summary.best_gpu), ("T4", &fits.summary.best_gpu));
    assert!(e.summary.sentence.contains(" on T4; in one run of"), "{}", e.summary.sentence);
    let warm = ask(w.clone(), Options { exclude_startup: true, ..Options::default() }).summary;
    assert!(warm.sentence.contains(" on T4: ") && warm.sentence.contains("; best value: "), "{}", warm.sentence);
    assert_eq!(ask(w.clone(), on("l4")).summary.shown_gpu.as_deref(), Some("l4"), "it is not asked about");
    w.program.imitated_gpu = None;
    // It fits nowhere: the largest GPU is spoken of, and no line wins there.
    w.program.peak_bytes = 1_000_000_000_000_000;
    let (e, name) = of(&w);
    assert_eq!((e.summary.best_gpu.as_ref(), e.summary.verdict), (None, Verdict::Cpu));
    assert!(e.estimates.iter().all(|g| g.fits == Some(false)));
    assert_eq!(e.reasons[0].code, "does-not-fit");
    assert!(e.reasons[0].cause.contains(&name), "{name}: {}", e.reasons[0].cause);
    let shown = e.estimates.iter().find(|g| Some(&g.gpu) == e.summary.shown_gpu.as_ref()).unwrap();
    let counted = e.estimates.iter().filter(|g| g.counted);
    assert_eq!(shown.memory_bytes, counted.map(|g| g.memory_bytes.unwrap()).reduce(f64::max));
    assert!(!e.sites.is_empty());
    for site in &e.sites {
        assert_eq!((site.verdict, site.gpu_time_s, site.bound_by), (Verdict::Cpu, None, None), "{site:?}");
    }
    assert!(e.timers.is_empty(), "{:?}", e.timers);
}

#[test]
fn copying_at_each_call_is_never_faster() {
    let w = workload(10.0, add(1_000_000, 1000, 9_000_000_000), json!([[1000, [0]]]));
    let e = ask(w.clone(), on("t4"));
    let g = &e.estimates[0];
    assert!(g.naive_time_s.unwrap() > g.time_s.unwrap().p50);
    let naive = ask(w, Options { policy: Some("naive".into()), ..on("t4") });
    assert!((naive.estimates[0].time_s.unwrap().p50 / g.naive_time_s.unwrap() - 1.0).abs() < 1e-9);
}

#[test]
fn a_named_cpu_is_modelled() {
    let e = ask(product(), Options { cpu: Some("Ryzen 9 7950X".into()), ..on("t4") });
    assert_eq!(e.baseline.basis, breakeven::interval::Basis::Modelled);
    assert!(e.baseline.time_s.unwrap().p50 > 0.0);
}

#[test]
fn start_up_can_be_left_out() {
    let with = ask(product(), on("t4"));
    let without = ask(product(), Options { exclude_startup: true, ..on("t4") });
    let time = |e: &Estimate| e.estimates[0].time_s.unwrap().p50;
    assert!(time(&without) < time(&with));
    assert_eq!(without.estimates[0].breakdown_s.unwrap().startup, 0.0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn more_work_never_makes_the_gpu_faster(n in 1u64..10_000_000, count in 1u64..5000, k in 2u64..5) {
        let time = |n: u64| {
            let w = workload(1.0, add(n, count, 500_000_000), json!([[count, [0]]]));
            ask(w, on("a100-sxm4-40gb")).estimates[0].time_s.unwrap().p50
        };
        prop_assert!(time(n * k) >= time(n) * (1.0 - 1e-9));
    }

    #[test]
    fn any_recorded_time_gives_an_ordered_answer(wall in 0.001..1e5f64, cpu in 0u64..1 << 50, gap in 0u64..1 << 50, count in 1u64..1 << 40) {
        let mut w = workload(wall, add(1000, count, cpu), json!([[count, [0]]]));
        w.ops[0].gap_ns = gap;
        let e = ask(w, on("t4"));
        let g = &e.estimates[0];
        let (t, s) = (g.time_s.unwrap(), g.speedup.unwrap());
        prop_assert!(t.p10 >= 0.0 && t.p10 <= t.p50 && t.p50 <= t.p90 && t.p90.is_finite(), "{t:?}");
        prop_assert!(s.p10 <= s.p50 && s.p50 <= s.p90 && s.p90.is_finite(), "{s:?}");
    }
}

fn heat() -> Workload {
    Workload::from_json(include_bytes!("../../../docs/examples/heat.breakeven.json")).unwrap()
}

#[test]
fn a_problem_of_another_size_breaks_even_where_it_did() {
    let even = |size: Option<&str>| {
        let options = Options { size: size.map(Into::into), gpu: vec!["l4".to_owned()], ..Options::default() };
        let even = ask(heat(), options).estimates[0].break_even.clone().unwrap();
        (even.size.unwrap(), even.describes)
    };
    let (recorded, _) = even(None);
    for (size, now) in [("2", 2044), ("0.5", 511)] {
        let (resized, describes) = even(Some(size));
        assert_eq!(resized.now, now, "{describes}");
        let [here, there] = [recorded.at.unwrap().p50, resized.at.unwrap().p50];
        assert!((here / there - 1.0).abs() < 0.02, "{here} {there}");
        assert!(describes.contains(&format!("{now}×{now}")), "{describes}");
    }
}

#[test]
fn lines_are_parts_of_the_time_that_the_table_has() {
    for options in [
        Options::default(),
        Options { exclude_startup: true, ..Options::default() },
        Options { cpu: Some("apple-m1".to_owned()), ..Options::default() },
    ] {
        let e = ask(heat(), options);
        let all = e.baseline.time_s.unwrap().p50;
        let lines: f64 = e.sites.iter().map(|site| site.time_s.p50).sum();
        assert!(lines <= all * 1.001, "{lines} of {all}");
        for site in &e.sites {
            assert!((site.share - site.time_s.p50 / all).abs() < 0.01, "{site:?} of {all}");
        }
    }
}
