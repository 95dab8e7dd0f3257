//! The main reason of programs that people ask about, and its figures counted by hand. The recordings in `workloads/`
//! are of the scripts beside them and of those in `examples/`.

mod common;

use breakeven::estimate::{Estimate, Flip, Reason};
use breakeven::request::Options;
use breakeven::workload::{Wait, Workload};
use common::{ask, on};
use serde_json::{Value, json};

fn recorded(name: &str) -> Workload {
    let path = format!("{}/tests/workloads/{name}.breakeven.json", env!("CARGO_MANIFEST_DIR"));
    Workload::from_json(&std::fs::read(path).unwrap()).unwrap()
}

/// As on a GPU that has been in use.
fn warm(gpu: &str) -> Options {
    Options { exclude_startup: true, ..on(gpu) }
}

fn t4(name: &str) -> Estimate {
    ask(recorded(name), on("t4"))
}

fn reason<'a>(e: &'a Estimate, code: &str) -> &'a Reason {
    let found = e.reasons.iter().find(|reason| reason.code == code);
    found.unwrap_or_else(|| panic!("no {code} among {:#?}", e.reasons))
}

fn has(e: &Estimate, code: &str) -> bool {
    e.reasons.iter().any(|reason| reason.code == code)
}

fn main(e: &Estimate) -> &str {
    &e.reasons[0].code
}

fn figure(reason: &Reason, name: &str) -> f64 {
    let found = reason.evidence.iter().find(|figure| figure.name == name);
    found.unwrap_or_else(|| panic!("no {name} in {reason:#?}")).value
}

fn flip<'a>(e: &'a Estimate, what: &str) -> &'a Flip {
    e.robustness.iter().find(|flip| flip.what == what).unwrap_or_else(|| panic!("no {what} in {:#?}", e.robustness))
}

#[track_caller]
fn near(a: f64, b: f64, relative: f64) {
    assert!((a - b).abs() <= relative * b.abs(), "{a} is not {b}");
}

fn program(wall_s: f64, ops: Value, order: Value) -> Workload {
    let text = json!({
        "format": "breakeven.workload/1",
        "program": {"name": "test.py", "wall_ns": (wall_s * 1e9) as u64, "exit": {"code": 0}},
        "sites": [{"file": "/home/ada/test.py", "line": 3}, {"file": "/home/ada/test.py", "line": 4}],
        "ops": ops, "order": order,
    });
    Workload::from_json(text.to_string().as_bytes()).unwrap()
}

fn add(n: u64, count: u64, cpu_s: f64) -> Value {
    json!({
        "site": 0, "name": "numpy.add", "op": {"elementwise": {"n": n, "inputs": 2, "flop_per_element": 1.0}},
        "dtype": "f64", "count": count, "read_bytes": n * 16, "written_bytes": n * 8, "cpu_ns": (cpu_s * 1e9) as u64,
    })
}

// The classic losses.

#[test]
fn tiny_arrays_are_bound_by_launches() {
    let e = t4("lose_tiny_arrays");
    assert_eq!(main(&e), "launch-bound");
    // Two operations in each of 100 000 rounds, zeros once and linspace, which takes two; the sum is part of its reading. A ufunc call
    // costs 13.4 µs.
    let launches = reason(&e, "launch-bound");
    assert_eq!(figure(launches, "launches"), 200_003.0);
    assert_eq!((figure(launches, "rounds"), figure(launches, "launches_per_round")), (100_000.0, 2.0));
    near(figure(launches, "per_round"), 2.0 * 13.4e-6, 0.01);
    near(figure(launches, "per_launch"), 13.4e-6, 0.01);
    assert_eq!(launches.also[..2], ["lose_tiny_arrays.py:11", "lose_tiny_arrays.py:10"]);
    // A T4 has 40 units of 1 024 threads.
    let few = reason(&e, "little-parallelism");
    assert_eq!((figure(few, "elements"), figure(few, "threads")), (10.0, 40_960.0));
}

#[test]
fn taking_turns_is_bound_by_waiting() {
    let e = ask(recorded("lose_ping_pong"), warm("t4"));
    assert_eq!(main(&e), "synchronisation-bound");
    let waits = reason(&e, "synchronisation-bound");
    assert_eq!(figure(waits, "waits"), 20_000.0);
    assert_eq!(waits.also, ["lose_ping_pong.py:12"]);
    // Launching the maximum takes 15.6 µs, asking for it 12 µs of host time, the copy 10 µs, going on 4.3 µs.
    let saved = e.estimates[0].breakdown_s.unwrap().total() - figure(waits, "without");
    near(saved, 20_000.0 * 41.9e-6, 0.01);
    // The multiplication of each round is what is left of the launches, at 13.4 µs; two divisions and the numbers.
    assert_eq!(figure(reason(&e, "launch-bound"), "launches"), 20_004.0);
    // Where copies cost next to nothing, the host stops all the same.
    for gpu in ["gb10", "h100 sxm", "rtx 3090"] {
        assert_eq!(main(&ask(recorded("lose_ping_pong"), warm(gpu))), "synchronisation-bound", "{gpu}");
    }
    assert_eq!(main(&t4("lose_ping_pong")), "synchronisation-bound");
}

#[test]
fn one_pass_over_a_file_is_bound_by_the_file_then_by_the_copy() {
    let e = t4("lose_one_pass");
    assert_eq!(main(&e), "input-output-bound");
    let copies = reason(&e, "transfer-bound");
    // 250 million float32 go in, the first of them comes back; each is read once. PCIe 3 at half its 15.75 GB/s.
    assert_eq!((figure(copies, "to_gpu"), figure(copies, "back")), (1e9, 4.0));
    near(figure(copies, "per_byte"), 1.0, 0.001);
    near(copies.share.unwrap() * e.estimates[0].time_s.unwrap().p50, 1e9 / (15.75e9 * 0.5), 0.01);

    // The same when the data is in memory already.
    let mut in_memory = recorded("lose_one_pass");
    let file: u64 = in_memory.ops.iter().filter(|op| op.name == "numpy.fromfile").map(|op| op.cpu_ns).sum();
    in_memory.ops.iter_mut().filter(|op| op.name == "numpy.fromfile").for_each(|op| op.cpu_ns = 0);
    in_memory.program.wall_ns -= file;
    in_memory.ops.iter_mut().filter(|op| op.name == "numpy.memmap").for_each(|op| op.cpu_ns = 0);
    assert_eq!(main(&ask(in_memory, warm("t4"))), "transfer-bound");
}

// What people ask about.

#[test]
fn one_addition_per_element_is_bound_by_its_copies() {
    let e = t4("copied_add");
    assert_eq!(main(&e), "transfer-bound");
    let copies = reason(&e, "transfer-bound");
    // 40 times 20 million float64 there and back.
    assert_eq!((figure(copies, "to_gpu"), figure(copies, "back"), figure(copies, "copies")), (6.4e9, 6.4e9, 80.0));
    assert_eq!((figure(copies, "ping_pong"), copies.also[0].as_str()), (39.0, "copied_add.py:7"));
    near(figure(copies, "per_byte"), 1.0, 0.001);
}

#[test]
fn four_by_four_products_in_a_loop_are_bound_by_launches() {
    let e = t4("small_products");
    assert_eq!(main(&e), "launch-bound");
    // 50 000 products at 20.3 µs; full and ones, and the value printed is read.
    let launches = reason(&e, "launch-bound");
    assert_eq!(figure(launches, "rounds"), 50_000.0);
    near(figure(launches, "launches"), 50_000.0, 1e-4);
    near(figure(launches, "per_launch"), 20.3e-6, 0.01);
    assert_eq!(figure(reason(&e, "little-parallelism"), "elements"), 16.0);
}

#[test]
fn a_clock_around_the_first_call_and_without_a_wait_is_told() {
    let e = t4("timed");
    let early = reason(&e, "timing-without-wait");
    assert_eq!((early.site.as_deref(), early.also.as_slice()), (Some("timed.py:7"), &["timed.py:9".to_owned()][..]));
    assert!(figure(early, "shown") < 0.5 * figure(early, "work"));
    // cuBLAS is loaded by the first product: 75 ms.
    near(figure(reason(&e, "timing-first-call"), "first_call"), 0.075, 1e-9);
    near(e.timers[0].first_call_s, 0.075, 1e-9);
    assert_eq!(e.timers[1].first_call_s, 0.0);
    // Twenty products of 16 GFLOP at 8.1 TFLOP/s at most.
    assert!(e.timers[1].work_s.unwrap() > 20.0 * 16e9 / 8.141e12);
    assert!(e.timers[1].text.starts_with("timed.py:10–13 would show "), "{}", e.timers[1].text);

    let waits = t4("timed_waiting");
    assert!(!has(&waits, "timing-without-wait") && !has(&waits, "timing-first-call"), "{:#?}", waits.timers);
    assert!(waits.timers[0].gpu_s.unwrap().p50 > 20.0 * 16e9 / 8.141e12);
}

#[test]
fn what_an_op_waited_for_elsewhere_is_no_part_of_a_timed_span() {
    let mut workload = recorded("timed");
    let before = ask(workload.clone(), warm("t4")).timers;
    // An import, say, before one of the products.
    let minute = 60_000_000_000;
    workload.program.wall_ns += minute;
    workload.ops.last_mut().unwrap().gap_ns += minute;
    let after = ask(workload, warm("t4")).timers;
    assert_eq!(after.len(), before.len());
    for (after, before) in after.iter().zip(&before) {
        assert!(after.work_s.unwrap() < before.work_s.unwrap() + before.here_s, "{after:?} {before:?}");
    }
}

#[test]
fn a_value_read_in_each_round_is_told() {
    let e = t4("item_each_round");
    let waits = reason(&e, "synchronisation-bound");
    assert_eq!((figure(waits, "waits"), figure(waits, "rounds")), (5_000.0, 5_000.0));
    assert_eq!(waits.also, ["item_each_round.py:8"]);
}

// Networks, precision, Python, memory.

#[test]
fn a_small_training_loop_is_bound_by_python_then_by_launches() {
    let e = t4("torch_small_loop");
    assert_eq!(main(&e), "host-bound");
    assert_eq!(e.reasons[1].code, "launch-bound");
    // 1 000 steps; the first of them also makes the optimizer's state.
    assert_eq!(figure(reason(&e, "launch-bound"), "rounds"), 1000.0);
}

#[test]
fn slow_loading_of_batches_is_told() {
    let stall = t4("torch_loader");
    let stall = reason(&stall, "input-pipeline-stall");
    assert!(stall.also.contains(&"torch_loader.py:9".to_owned()), "{stall:#?}");
}

#[test]
fn double_precision_on_a_geforce_is_the_reason() {
    let e = ask(recorded("doubles"), on("rtx-3080"));
    assert_eq!(main(&e), "float64-rate");
    let doubles = reason(&e, "float64-rate");
    near(figure(doubles, "ratio"), 64.0, 0.03);
    assert!(doubles.cause.contains("1/64 of its float32 rate"), "{}", doubles.cause);
    // Thirty products of 16 GFLOP never take less than at the peak.
    let rate = figure(doubles, "float64_rate");
    assert!(figure(doubles, "kernels") > 30.0 * 16e9 / rate);
    assert!(figure(doubles, "in_float32") < 0.1 * figure(doubles, "kernels"));
    let lines: Vec<_> = e.reasons.iter().filter(|r| r.site.is_some()).map(|r| r.code.as_str()).collect();
    assert_eq!(lines, ["float64-rate"]);
    assert!(!has(&ask(recorded("doubles"), on("a100-sxm4-80gb")), "float64-rate"));
}

#[test]
fn a_script_of_plain_python_is_bound_by_python() {
    let e = t4("collatz");
    assert_eq!(main(&e), "host-bound");
    let ceiling = figure(reason(&e, "host-bound"), "ceiling");
    assert!((1.0..1.1).contains(&ceiling), "{ceiling}");
}

#[test]
fn what_needs_more_memory_does_not_fit() {
    let e = t4("hog");
    assert_eq!(main(&e), "does-not-fit");
    assert_eq!(e.reasons.len(), 1);
    // 25 000 × 100 000 float64, a row of them times two, its sum.
    let room = reason(&e, "does-not-fit");
    assert_eq!((figure(room, "needed"), figure(room, "memory")), (2e10 + 8e5 + 8.0, 16.0 * 1024.0 * 1024.0 * 1024.0));
    near(flip(&e, "size").to.unwrap(), 0.92 * figure(room, "memory"), 1e-9);

    // Where it fits on none, the reason names the largest.
    let mut larger = recorded("hog");
    larger.program.peak_bytes = 1_000_000_000_000_000;
    let e = ask(larger, Options::default());
    assert_eq!(main(&e), "does-not-fit");
    assert!(figure(reason(&e, "does-not-fit"), "memory") > 250e9);
}

#[test]
fn the_roofline_counts_as_by_hand() {
    let e = ask(program(60.0, json!([add(50_000_000, 300, 59.0)]), json!([[300, [0]]])), on("t4"));
    assert_eq!(main(&e), "memory-bound");
    let memory = reason(&e, "memory-bound");
    // One addition for 24 bytes; 254 GFLOP/s (1/32 of 8.141 TFLOP/s) and 320 GB/s.
    near(figure(memory, "operational_intensity"), 1.0 / 24.0, 1e-9);
    assert_eq!(figure(memory, "bytes"), 300.0 * 50e6 * 24.0);
    near(figure(memory, "ridge_point"), 8.141e12 / 32.0 / 320e9, 0.03);

    let product = json!([{
        "site": 0, "name": "numpy.matmul", "op": {"matmul": {"m": 8000, "n": 8000, "k": 8000}}, "dtype": "f32",
        "count": 10, "read_bytes": 512_000_000, "written_bytes": 256_000_000, "cpu_ns": 50_000_000_000u64,
    }]);
    let e = ask(program(51.0, product, json!([[10, [0]]])), on("t4"));
    assert_eq!(main(&e), "compute-bound");
    let compute = reason(&e, "compute-bound");
    assert_eq!(figure(compute, "flop"), 10.0 * 2.0 * 8000.0 * 8000.0 * 8000.0);
    near(figure(compute, "operational_intensity"), 2.0 * 8000.0 / (3.0 * 4.0), 1e-9);
}

#[test]
fn what_is_not_understood_comes_first_where_it_decides() {
    let opaque =
        json!({"site": 1, "name": "mystery", "op": "opaque", "dtype": "f64", "count": 10, "cpu_ns": 58_000_000_000u64});
    let e = ask(program(60.0, json!([add(50_000_000, 10, 1.5), opaque]), json!([[10, [0, 1]]])), on("t4"));
    assert_eq!(main(&e), "not-covered");
    near(figure(reason(&e, "not-covered"), "coverage"), 1.5 / 59.5, 1e-9);
    assert_eq!(reason(&e, "not-covered").also, ["test.py:4"]);
    assert_eq!(e.robustness[0].what, "coverage");
}

#[test]
fn chains_of_dependent_steps_are_told() {
    let qr = json!([{
        "site": 0, "name": "numpy.linalg.eigvalsh", "op": {"factor": {"kind": "eigvalsh", "m": 200, "n": 200}},
        "dtype": "f32", "count": 500, "read_bytes": 160_000, "written_bytes": 800, "cpu_ns": 2_000_000_000u64,
    }]);
    let e = ask(program(2.1, qr, json!([[500, [0]]])), warm("t4"));
    assert!(has(&e, "sequential-dependence"), "{:#?}", e.reasons);
}

#[test]
fn waiting_is_not_python() {
    let mut waits = program(10.0, json!([add(1000, 10, 0.001)]), json!([[10, [0]]]));
    waits.program.idle_ns = 9_000_000_000;
    let e = ask(waits, warm("t4"));
    let waiting = reason(&e, "input-output-bound");
    assert_eq!(main(&e), "input-output-bound");
    near(figure(waiting, "input_output"), 9.0, 0.01);
    assert!(waiting.cause.starts_with("Waiting ("), "{}", waiting.cause);
    near(figure(reason(&e, "host-bound"), "host"), 1.0, 0.01);
}

#[test]
fn no_cpu_makes_what_is_waited_for_come_sooner() {
    let mut waits = program(10.0, json!([add(1000, 10, 0.001)]), json!([[10, [0]]]));
    waits.ops[0].gap_ns = 3_000_000_000;
    waits.program.idle_ns = 9_000_000_000;
    waits.waits = vec![Wait { site: Some(1), before: Some(0), ns: 9_000_000_000 }];
    let cpu = |name: &str| Some(name.to_owned());
    for (slow, fast) in [("EPYC 7763", "Core i9-14900K"), ("Core i9-14900K", "EPYC 7763")] {
        let e = ask(waits.clone(), Options { cpu: cpu(slow), host_cpu: cpu(fast), ..warm("t4") });
        let waiting = reason(&e, "input-output-bound");
        near(figure(waiting, "input_output"), 9.0, 0.01);
        assert!(waiting.cause.contains(", as long as on the CPU alone: 9 s at test.py:4"), "{}", waiting.cause);
        let line =
            |line: u32| e.sites.iter().find(|site| site.line == line).and_then(|s| s.gpu_time_s.as_ref()).unwrap().p50;
        near(line(4), 9.0, 0.01);
        assert!(line(3) < 3.0, "what it does but for waiting: {}", line(3));
        let host = e.estimates[0].breakdown_s.unwrap().host;
        assert!((host - 10.0).abs() > 0.1 && host > 9.0, "{host}: the rest is computed by the other CPU");
    }
}

#[test]
fn a_wait_names_its_line() {
    let mut waits = program(10.0, json!([add(1000, 10, 0.001)]), json!([[10, [0]]]));
    waits.ops[0].gap_ns = 8_000_000_000;
    waits.program.idle_ns = 9_000_000_000;
    let wait = |site, before, ns| Wait { site, before, ns };
    waits.waits = vec![wait(Some(1), Some(0), 5_000_000_000), wait(None, Some(0), 2_000_000_000)];
    let e = ask(waits, warm("t4"));
    let waiting = reason(&e, "input-output-bound");
    assert!(waiting.cause.ends_with(": 5 s at test.py:4, 2 s before test.py:3."), "{}", waiting.cause);
    assert_eq!(waiting.also, ["test.py:4"]);
    let of = |line: &str| {
        let found = e.reasons.iter().find(|r| r.site.as_deref() == Some(line)).unwrap_or_else(|| panic!("{e:#?}"));
        (found.code.as_str(), figure(found, "here"))
    };
    // Of the 8 s before the addition the program waited 7, and 2 of these at no line that is known.
    let (code, here) = of("test.py:4");
    assert_eq!(code, "input-output-bound");
    near(here, 5.0, 1e-9);
    let (code, here) = of("test.py:3");
    assert_eq!(code, "input-output-bound");
    near(here, 8.0 - 5.0 + 0.001, 1e-9);
    let line = |n: u32| e.sites.iter().find(|s| s.line == n).expect("it is listed").time_s.p50;
    near(line(4), 5.0, 1e-9);
    near(line(3), 8.0 - 5.0 + 0.001, 1e-9);
}

#[test]
fn a_sort_is_not_said_to_be_light_work() {
    let sort = json!({
        "site": 0, "name": "numpy.sort", "op": {"sort": {"kind": "sort", "rows": 1, "width": 1 << 26}}, "dtype": "f64",
        "count": 10, "read_bytes": 1_u64 << 29, "written_bytes": 1_u64 << 29, "cpu_ns": 60_000_000_000_u64,
    });
    let e = ask(program(60.0, json!([sort]), json!([[10, [0]]])), warm("t4"));
    let memory = reason(&e, "memory-bound");
    assert!(figure(memory, "operational_intensity") > figure(memory, "ridge_point"), "{:#?}", memory.evidence);
    assert!(memory.cause.starts_with("The data is read and written several times"), "{}", memory.cause);
}

#[test]
fn sorting_a_few_numbers_again_and_again_is_bound_by_launches() {
    let sort = |width: u64, count: u64| {
        let sort = json!({
            "site": 0, "name": "numpy.sort", "op": {"sort": {"kind": "sort", "rows": 1, "width": width}}, "dtype": "i64",
            "count": count, "read_bytes": 8 * width, "written_bytes": 8 * width, "cpu_ns": 2_000_000_000_u64,
        });
        ask(program(2.1, json!([sort]), json!([[count, [0]]])), warm("t4"))
    };
    let small = sort(64, 5000);
    assert_eq!(main(&small), "launch-bound");
    // A pass for each byte of the keys, one for the counts, one more.
    assert_eq!(figure(reason(&small, "launch-bound"), "launches"), 50_000.0);
    assert_eq!(figure(reason(&small, "little-parallelism"), "elements"), 64.0);
    assert!(!has(&small, "memory-bound"));
    assert!(has(&sort(1 << 24, 5), "memory-bound"));
}

#[test]
fn arrays_of_objects_are_not_said_to_lack_a_function() {
    let objects = json!([{
        "site": 0, "name": "numpy.ndarray.astype", "op": "host_only", "dtype": "other", "count": 1,
        "read_bytes": 8_000_000, "written_bytes": 8_000_000, "cpu_ns": 1_000_000_000u64,
    }]);
    let e = ask(program(1.1, objects, json!([0])), warm("t4"));
    assert!(reason(&e, "no-counterpart").cause.contains("hold no plain numbers"), "{:#?}", e.reasons);
}

#[test]
fn each_wrong_tool_is_named() {
    let named = [
        ("tiny work", "lose_tiny_arrays", "launch-bound"),
        ("sequential branching", "branches", "sequential-dependence"),
        ("input and output", "parse", "input-output-bound"),
        ("a library without a GPU", "scipy_only", "no-counterpart"),
        ("simplicity matters more: nothing to gain", "collatz", "host-bound"),
    ];
    for (what, workload, code) in named {
        assert!(has(&t4(workload), code), "{what}");
    }
    for (workload, code) in [("parse", "input-output-bound"), ("scipy_only", "no-counterpart")] {
        assert_eq!(main(&t4(workload)), code, "{workload}");
    }
    let branches = t4("branches");
    assert_eq!(figure(reason(&branches, "sequential-dependence"), "decisions"), 20_000.0);
}

// What would turn the answer.

#[test]
fn at_the_error_that_turns_it_both_take_the_same_time() {
    for name in ["doubles", "item_each_round", "torch_loader"] {
        let e = t4(name);
        let g = &e.estimates[0];
        let (parts, speedup) = (g.breakdown_s.unwrap(), g.speedup.unwrap().p50);
        let factor = flip(&e, "error").to.unwrap();
        let turned = parts.host + factor * (parts.total() - parts.host);
        near(turned, speedup * parts.total(), 1e-9);
    }
}

#[test]
fn at_the_price_that_turns_it_both_cost_the_same() {
    let e = t4("doubles");
    let even = flip(&e, "price").to.unwrap();
    let again = ask(recorded("doubles"), Options { price: Some(breakeven::request::Typed::Number(even)), ..on("t4") });
    near(again.estimates[0].cost_usd.unwrap().p50, again.baseline.cost_usd.unwrap().p50, 1e-9);
}

#[test]
fn so_many_runs_in_one_process_make_up_for_the_start() {
    // 0.25 s here and about 0.1 s warm: start-up of some 0.8 s is made up for by a handful of runs.
    let e = ask(program(0.25, json!([add(50_000_000, 2, 0.24)]), json!([[2, [0]]])), on("t4"));
    let runs = flip(&e, "runs").to.unwrap();
    let warm = ask(program(0.25, json!([add(50_000_000, 2, 0.24)]), json!([[2, [0]]])), warm("t4"));
    let (cpu, gpu) = (e.baseline.time_s.unwrap().p50, warm.estimates[0].time_s.unwrap().p50);
    let once = e.estimates[0].time_s.unwrap().p50 - gpu;
    assert!(runs * cpu > once + runs * gpu, "{runs}");
    assert!((runs - 1.0) * cpu <= once + (runs - 1.0) * gpu, "{runs}");
    assert_eq!(main(&e), "start-up-bound");
}

#[test]
fn another_precision_is_estimated_again_on_both_sides() {
    let gpu = "gtx-750";
    let e = ask(recorded("doubles"), on(gpu));
    let precision = flip(&e, "precision");
    near(precision.from.unwrap(), e.estimates[0].speedup.unwrap().p50, 1e-9);
    let turned = precision.to.unwrap();

    let mut singles = recorded("doubles");
    for op in &mut singles.ops {
        op.dtype = breakeven::workload::Dtype::F32;
        (op.read_bytes, op.written_bytes) = (op.read_bytes / 2, op.written_bytes / 2);
    }
    let gpu_time = ask(singles, on(gpu)).estimates[0].time_s.unwrap().p50;
    // A CPU has twice as many lanes for float32.
    let share = turned * gpu_time / e.baseline.time_s.unwrap().p50;
    assert!((0.35..0.75).contains(&share), "{share}");
}

#[test]
fn at_the_edge_no_factor_of_one_is_told() {
    let once =
        |seconds: f64| ask(program(seconds, json!([add(1 << 24, 100, seconds)]), json!([[100, [0]]])), warm("t4"));
    let even = once(once(1.0).estimates[0].time_s.unwrap().p50);
    let size = flip(&even, "size");
    near(size.to.unwrap(), 1.0, 0.01);
    assert!(size.text.starts_with("size: it is at the edge: with a little "), "{}", size.text);
}

#[test]
fn nothing_within_reach_is_said() {
    let e = t4("lose_tiny_arrays");
    assert_eq!((e.robustness[0].what.as_str(), e.robustness[0].to), ("none", None));
    assert_eq!(e.robustness[0].text, "nothing within ×10 turns it");
    let all = ask(recorded("doubles"), Options::default());
    assert!(flip(&all, "gpu").text.starts_with("GPU: on "), "{:#?}", all.robustness);
}

#[test]
fn a_model_made_on_the_host_is_to_be_made_on_the_gpu() {
    let draws = json!({
        "site": 0, "name": "aten.uniform_", "op": {"random": {"kind": "uniform", "n": 4_000_000_000_u64}},
        "dtype": "f32", "count": 1, "read_bytes": 0, "written_bytes": 16_000_000_000_u64, "cpu_ns": 20_000_000_000_u64,
    });
    let product = json!({
        "site": 1, "name": "aten.mm", "op": {"matmul": {"m": 4096, "n": 4096, "k": 4096, "batch": 1}}, "dtype": "f32",
        "count": 500, "read_bytes": 134_217_728, "written_bytes": 67_108_864, "cpu_ns": 200_000_000_000_u64,
        "device": "cuda:0",
    });
    let mut w = program(220.5, json!([draws, product]), json!([0, [500, [1]]]));
    let e = ask(w.clone(), warm("l4"));
    let host = reason(&e, "host-bound");
    assert!(host.cause.contains(" of it at test.py:3, which draws random numbers."), "{}", host.cause);
    assert!(host.remedy.contains("torch.device(\"cuda\")"), "{}", host.remedy);
    // Other code is to be compiled, and whoever gains from the GPU is not told to do without.
    w.ops[0].op = breakeven::workload::Op::HostOnly;
    w.ops[0].name = "torch.host_scalar".to_owned();
    let e = ask(w, warm("l4"));
    let host = reason(&e, "host-bound");
    assert!(host.remedy.contains("Numba") && !host.remedy.contains("leave"), "{}", host.remedy);
}

#[test]
fn start_up_that_is_left_out_is_in_no_figure_of_the_cpu() {
    let asked = |options: Options| {
        let mut w = program(10.0, json!([add(4_000_000, 500, 6.0)]), json!([[500, [0]]]));
        w.program.startup_ns = 2_000_000_000;
        ask(w, options)
    };
    let (all, warm) = (asked(on("t4")), asked(warm("t4")));
    let time = |e: &Estimate| e.baseline.time_s.unwrap().p50;
    assert!((time(&all) - time(&warm) - all.baseline.startup_s.unwrap().p50).abs() < 1e-9);
    assert!(time(&all) > 1.2 * time(&warm));
    let cost = |e: &Estimate| e.baseline.cost_usd.unwrap().p50;
    assert!((cost(&all) / cost(&warm) - time(&all) / time(&warm)).abs() < 1e-6);
    let row = time(&warm) / warm.estimates[0].time_s.unwrap().p50;
    assert!((row / warm.estimates[0].speedup.unwrap().p50 - 1.0).abs() < 1e-6, "the table's rows divide");
}

#[test]
fn what_a_line_prepares_once_is_no_batch() {
    let told = |n: u64, order: Value| {
        let draws = json!({
            "site": 0, "name": "aten.uniform_", "op": {"random": {"kind": "uniform", "n": 40_000_000}}, "dtype": "f32",
            "count": n, "read_bytes": 0, "written_bytes": n * 160_000_000, "cpu_ns": n * 200_000_000, "phase": "data",
        });
        let product = json!({
            "site": 1, "name": "aten.mm", "op": {"matmul": {"m": 4096, "n": 4096, "k": 4096, "batch": 1}}, "dtype": "f32",
            "count": 3, "read_bytes": 402_653_184, "written_bytes": 201_326_592, "cpu_ns": 1_200_000_000,
            "device": "cuda:0",
        });
        let mut w = program(1.3 + n as f64 * 0.2, json!([draws, product]), order);
        w.program.cpu_threads = 4;
        let e = ask(w, warm("l4"));
        let advice = e.advice.iter().any(|a| a.id == "input-pipeline");
        let stall = e.reasons.iter().find(|r| r.code == "input-pipeline-stall");
        (stall.is_some(), advice, e.reasons.iter().any(|r| r.code == "host-bound" && r.remedy.contains("torch.device")))
    };
    assert_eq!(told(1, json!([0, [3, [1]]])), (false, false, true));
    // The layers of a model.
    assert_eq!(told(9, json!([[9, [0]], [3, [1]]])), (false, false, true));
    assert_eq!(told(3, json!([[3, [0, 1]]])), (true, true, false));
    assert!(told(3, json!([0, 1, 0, 1, 0, 1])).0);
}
