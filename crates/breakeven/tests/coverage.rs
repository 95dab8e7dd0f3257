//! What was not understood: named by library, no op of the script's, and no verdict rests on it.

mod common;

use breakeven::estimate::{Estimate, Verdict};
use breakeven::request::Options;
use breakeven::workload::{Exit, Workload};
use common::{ask, on};
use proptest::prelude::*;
use serde_json::{Value, json};

/// Ten seconds of a script of four lines.
fn program(ops: Value, host_code: Value) -> Workload {
    let site = |line: u32, text: &str| json!({ "file": "/home/ada/etl.py", "line": line, "function": "<module>", "text": text });
    let text = json!({
        "format": "breakeven.workload/1",
        "program": { "name": "etl.py", "wall_ns": 10_000_000_000u64, "cpu": "test", "exit": { "code": 0 } },
        "sites": [site(3, "c = a + b"), site(12, "q.collect()"), site(20, "for x in rows:"), site(30, "plt.plot(c)")],
        "ops": ops, "host_code": host_code,
    });
    Workload::from_json(text.to_string().as_bytes()).unwrap()
}

/// Element-wise work that a GPU does much faster.
fn add(cpu_s: f64) -> Value {
    json!({
        "site": 0, "name": "numpy.add", "op": { "elementwise": { "n": 50_000_000, "inputs": 2, "flop_per_element": 1.0 } },
        "dtype": "f64", "count": 40, "read_bytes": 800_000_000, "written_bytes": 400_000_000,
        "cpu_ns": (cpu_s * 1e9) as u64,
    })
}

/// The same, called by a library.
fn add_in(library: &str, cpu_s: f64) -> Value {
    let mut entry = add(cpu_s);
    let more = json!({ "site": 1, "library": library, "host_input_bytes": 400_000_000, "host_input_count": 1 });
    entry.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    entry
}

fn row(site: u32, kind: &str, library: Option<&str>, seconds: f64) -> Value {
    let function = library.map(|library| format!("{library}.run"));
    json!({
        "site": site, "kind": kind, "library": library, "function": function, "ns": (seconds * 1e9) as u64,
        "samples": (seconds * 200.0) as u64,
    })
}

fn l4(ops: Value, host_code: Value) -> Estimate {
    ask(program(ops, host_code), on("l4"))
}

fn noted(e: &Estimate, code: &str) -> Option<String> {
    e.notes.iter().find(|note| note.code == code).map(|note| note.text.clone())
}

#[track_caller]
fn near(a: f64, b: f64) {
    assert!((a - b).abs() < 0.005, "{a} is not {b}");
}

#[test]
fn native_time_of_a_library_is_not_understood() {
    for library in ["polars", "numba", "statsmodels", "libfoo.so", "scipy", "somebodys_own"] {
        let e = l4(json!([add(1.0)]), json!([row(1, "native", Some(library), 8.0), row(2, "python", None, 1.0)]));
        near(e.workload.coverage, 1.0 / 9.0);
        assert_eq!(e.summary.verdict, Verdict::Unknown, "{library}: {}", e.summary.sentence);
    }
    let e = l4(json!([]), json!([row(1, "native", None, 9.7), row(2, "python", None, 0.3)]));
    assert_eq!((e.workload.coverage, e.summary.verdict), (0.0, Verdict::Unknown));
}

#[test]
fn python_waiting_and_libraries_that_stay_on_the_host_are_understood() {
    let e = l4(json!([]), json!([row(2, "python", None, 6.0), row(1, "waiting", None, 4.0)]));
    assert_eq!((e.workload.coverage, e.summary.verdict), (1.0, Verdict::Cpu));
    assert!(e.summary.sentence.contains("nothing here would run on a GPU"), "{}", e.summary.sentence);
    let e = l4(json!([]), json!([row(3, "native", Some("matplotlib"), 9.0), row(2, "python", Some("pandas"), 1.0)]));
    assert_eq!((e.workload.coverage, e.summary.verdict), (1.0, Verdict::Cpu));
}

#[test]
fn a_busy_machine_that_decides_is_named_in_the_first_line() {
    let asked = |cpu_s: f64, busy: f64| {
        let mut workload = program(json!([add(cpu_s * busy)]), json!([]));
        workload.program.wall_ns = (workload.program.wall_ns as f64 * busy) as u64;
        workload.program.stolen_ns = Some((1e10 * (busy - 1.0)) as u64);
        ask(workload, Options { exclude_startup: true, ..on("l4") })
    };
    let told = |e: &Estimate| e.summary.sentence.ends_with("This machine was busy: record again when it is quiet.");
    let mut decided = 0;
    for tenths in 1..40 {
        let (quiet, busy) = (asked(f64::from(tenths) / 10.0, 1.0), asked(f64::from(tenths) / 10.0, 2.0));
        assert!(!told(&quiet));
        // What is off the time already leaves the rest as it was, at most three times as wide.
        near(quiet.baseline.time_s.unwrap().p50 / busy.baseline.time_s.unwrap().p50, 1.0);
        let time = busy.baseline.time_s.unwrap();
        assert!(time.p90 / time.p10 < 3.1, "{time:?}");
        assert!(!busy.summary.sentence.contains("Wh This"), "{}", busy.summary.sentence);
        let decides = quiet.summary.verdict == Verdict::Gpu && busy.summary.verdict == Verdict::Either;
        assert_eq!(told(&busy), decides, "{tenths}: {}", busy.summary.sentence);
        decided += usize::from(decides);
    }
    assert!(decided > 0);
}

#[test]
fn time_in_pandas_is_told_with_a_command_that_estimates_it() {
    let e = l4(json!([add(1.0)]), json!([row(1, "native", Some("pandas"), 9.0)]));
    let note = e.notes.iter().find(|note| note.code == "not-recorded").unwrap();
    let says = "pandas: 90 % of the time, not recorded; `breakeven estimate --rows N` compares it with cuDF for a group-by of N rows";
    assert!(note.text.starts_with(says), "{note:?}");
    let shown = breakeven::report::text(&e, &breakeven::report::TextOptions::default());
    assert!(shown.contains("`breakeven estimate --rows N`\n      compares it with cuDF"), "{shown}");
}

#[test]
fn what_a_script_that_ended_well_did_without_is_no_matter() {
    let told = |exit| {
        let mut workload = program(json!([add(9.0)]), json!([]));
        workload.program.exit = exit;
        let text = "the script asks for a GPU (etl.py:1), and there is none".to_owned();
        workload.unseen.push(breakeven::workload::Unseen { reason: "no-gpu".to_owned(), text, ns: 0, count: 1 });
        ask(workload, on("l4")).notes.iter().any(|note| note.code == "no-gpu")
    };
    assert_eq!([Exit::Code(0), Exit::Code(1), Exit::Unknown].map(told), [false, true, true]);
}

#[test]
fn a_stray_sample_is_no_library() {
    let e = l4(json!([]), json!([row(2, "python", None, 9.9), row(1, "native", Some("lxml"), 0.1)]));
    assert_eq!((e.workload.coverage, e.summary.verdict), (1.0, Verdict::Cpu));
}

#[test]
fn native_time_is_at_most_the_time_outside_ops() {
    // The ops took 9 of 10 s: what was sampled as 50 s is one of them.
    let e = l4(json!([add(9.0)]), json!([row(1, "native", Some("polars"), 50.0)]));
    near(e.workload.coverage, 0.9);
    assert_eq!(e.summary.verdict, Verdict::Gpu, "{}", e.summary.sentence);
}

#[test]
fn what_a_library_calls_is_its_own_time() {
    let e = l4(json!([add_in("pandas", 9.0), add(0.1)]), json!([]));
    near(e.workload.coverage, 0.1 / 9.1);
    assert_eq!(e.summary.verdict, Verdict::Unknown, "{}", e.summary.sentence);
    assert_eq!((e.workload.launches, e.workload.ops), (40, 40), "those of the script's own");
    assert_eq!(e.workload.h2d_bytes, Some(0.0), "what only lives in the library is not copied");
    // The same on the host on both sides.
    let e = l4(json!([add_in("statsmodels", 9.0)]), json!([]));
    assert_eq!((e.workload.launches, e.workload.coverage), (0, 0.0));
    // xarray works on CuPy's arrays: its calls are the script's.
    let e = l4(json!([add_in("xarray", 9.0)]), json!([]));
    assert_eq!((e.workload.coverage, e.workload.launches, e.summary.verdict), (1.0, 40, Verdict::Gpu));
    // What matplotlib computes stays where it draws.
    let e = l4(json!([add_in("matplotlib", 9.0)]), json!([]));
    assert_eq!((e.workload.coverage, e.workload.launches, e.summary.verdict), (1.0, 0, Verdict::Cpu));
}

#[test]
fn the_report_names_the_library_its_line_and_what_would_do_it() {
    let e = l4(json!([add(0.3)]), json!([row(1, "native", Some("polars"), 9.0), row(2, "native", Some("lxml"), 0.7)]));
    let text = noted(&e, "not-recorded").unwrap();
    let start = "polars: 90 % of the time, not recorded (etl.py:12 polars.run); its GPU engine";
    assert!(text.starts_with(start), "{text}");
    let said = "Not enough evidence: 90 % of the time is in polars, which was not recorded. With that left on the CPU, L4 would be 0.9";
    assert!(e.summary.sentence.starts_with(said), "{}", e.summary.sentence);
    let [polars, lxml] = e.not_understood.as_slice() else { panic!("{:?}", e.not_understood) };
    near(polars.share, 0.9);
    near(polars.time_s.p50, 9.0);
    assert_eq!((lxml.library.as_deref(), lxml.site.as_deref()), (Some("lxml"), Some("etl.py:20")));
    assert_eq!(lxml.gpu_version, None);
    assert!(e.notes.iter().any(|n| n.text.starts_with("lxml: 7 % ") && n.text.ends_with("no GPU version known")));
    let reason = &e.reasons[0];
    assert!(reason.code == "not-covered" && reason.cause.contains("(polars, lxml)"), "{reason:?}");
    assert_eq!(reason.also, ["etl.py:12", "etl.py:20"]);
    // Calls inside a library are named by the function that the script called.
    let mut w = program(json!([add_in("pandas", 9.0)]), json!([]));
    w.sites[1].via = Some("pandas.DataFrame.sum".to_owned());
    let text = noted(&ask(w, on("l4")), "not-recorded").unwrap();
    assert!(text.starts_with("pandas: 90 % ") && text.ends_with(" (etl.py:12 pandas.DataFrame.sum)"), "{text}");
}

#[test]
fn an_op_with_a_device_stays_one_whoever_called_it() {
    let mut entry = add_in("transformers", 0.1);
    entry["name"] = json!("aten.add");
    entry["device"] = json!("cuda:0");
    let e = l4(json!([entry]), json!([]));
    assert_eq!((e.workload.coverage, e.workload.launches), (1.0, 40));
}

#[test]
fn a_loss_that_holds_with_the_rest_in_no_time_is_certain() {
    // 400 000 launches of ten elements lose by far; 0.5 s of polars do not change that.
    let mut tiny = add(1.0);
    tiny["op"]["elementwise"]["n"] = json!(10);
    (tiny["read_bytes"], tiny["written_bytes"], tiny["count"]) = (json!(160), json!(80), json!(1_000_000));
    let e = l4(json!([tiny]), json!([row(1, "native", Some("polars"), 0.5), row(2, "python", None, 8.5)]));
    assert!(e.workload.coverage < 0.8, "{}", e.workload.coverage);
    assert_eq!(e.summary.verdict, Verdict::Cpu, "{}", e.summary.sentence);
    let warm = ask(
        program(json!([add(1.0)]), json!([row(1, "native", Some("polars"), 8.0), row(2, "python", None, 1.0)])),
        Options { exclude_startup: true, ..on("l4") },
    );
    assert_eq!(warm.summary.verdict, Verdict::Unknown, "start-up left out follows the same rule");
}

#[test]
fn every_gpu_follows_the_rule() {
    let rows = json!([row(1, "native", Some("polars"), 8.0)]);
    let e = ask(program(json!([add(2.0)]), rows), Options::default());
    assert!(e.estimates.iter().all(|g| g.verdict != Verdict::Gpu));
}

#[test]
fn nothing_that_rests_on_the_whole_program_is_said_where_too_little_is_understood() {
    let of = |dark: f64| {
        let e =
            l4(json!([add(2.0)]), json!([row(1, "native", Some("polars"), dark), row(2, "python", None, 8.0 - dark)]));
        let turns = e.robustness.iter().any(|flip| flip.what != "coverage");
        let text = breakeven::report::markdown(&e, false);
        let warm = text.contains("once warm") || text.contains("reaks even") || text.contains("warm it would be");
        (e.estimates[0].break_even.is_some(), turns, warm)
    };
    assert_eq!(of(0.3), (true, true, true));
    assert_eq!(of(3.0), (false, false, false));
}

/// A loop of additions to ten numbers, eight seconds of ten, with what else the host did at its line.
fn small_loop(kind: &str, library: Option<&str>) -> Estimate {
    let mut op = add(8.5);
    op["op"]["elementwise"]["n"] = json!(10);
    (op["read_bytes"], op["written_bytes"], op["count"]) = (json!(160), json!(80), json!(4_000_000));
    op["gap_ns"] = json!(1_500_000_000u64);
    let mut w = program(json!([op]), json!([row(0, kind, library, 1.5)]));
    w.order = serde_json::from_value(json!([[4_000_000, [0]]])).unwrap();
    ask(w, on("l4"))
}

#[test]
fn no_advice_is_given_whose_library_is_at_work_at_that_line() {
    let numba = |e: &Estimate| e.advice.iter().any(|advice| advice.id == "numba");
    assert!(numba(&small_loop("python", None)), "the loop is Python's");
    let compiled = small_loop("native", Some("numba"));
    assert!(compiled.workload.coverage > 0.8 && !numba(&compiled), "{:?}", compiled.advice);
    assert!(!numba(&small_loop("native", Some("libfoo.so"))), "compiled already, by whatever");
    // Numba's compiler is Python.
    let compiling = small_loop("python", Some("numba"));
    assert!(!numba(&compiling));
    let told = compiling.reasons.iter().filter(|reason| reason.remedy.contains("compile it"));
    assert_eq!(told.count(), 0, "{:?}", compiling.reasons);
}

fn line(e: &Estimate, line: u32) -> &breakeven::estimate::SiteEstimate {
    e.sites.iter().find(|site| site.line == line).unwrap_or_else(|| panic!("no line {line} in {:#?}", e.sites))
}

#[test]
fn host_time_is_at_the_line_that_ran() {
    // The op at line 3 comes after nine seconds of other lines.
    let mut op = add(1.0);
    op["gap_ns"] = json!(9_000_000_000u64);
    let rows = json!([
        row(2, "python", None, 5.0),
        row(1, "native", Some("polars"), 3.0),
        row(0, "waiting", None, 0.5),
        row(3, "native", Some("matplotlib"), 0.5),
    ]);
    let e = l4(json!([op.clone()]), rows);
    let times = [3, 12, 20, 30].map(|n| line(&e, n).time_s.p50);
    times.iter().zip([1.5, 3.0, 5.0, 0.5]).for_each(|(time, right)| near(*time, right));
    near(e.sites.iter().map(|site| site.time_s.p50).sum::<f64>(), 10.0);
    // The same on the GPU, where only the op is faster.
    let there = [12, 20, 30].map(|n| line(&e, n).gpu_time_s.unwrap().p50);
    // Device work beside the host is shared out among the lines.
    there
        .iter()
        .zip([3.0, 5.0, 0.5])
        .for_each(|(time, right)| assert!((0.97..=1.0).contains(&(time / right)), "{there:?}"));
    assert!(line(&e, 3).gpu_time_s.unwrap().p50 < 1.0, "{:?}", line(&e, 3));
    assert_eq!(line(&e, 12).via.as_deref(), Some("polars.run"));
    assert_eq!(line(&e, 20).via, None);
    let verdicts = [3, 12, 20, 30].map(|n| line(&e, n).verdict);
    assert_eq!(verdicts, [Verdict::Gpu, Verdict::Unknown, Verdict::Cpu, Verdict::Cpu]);
    // Without samples it is at the line of the op that follows.
    near(line(&l4(json!([op]), json!([])), 3).time_s.p50, 10.0);
}

#[test]
fn reasons_of_lines_are_those_of_what_ran_there_and_each_once() {
    let mut op = add(1.0);
    op["gap_ns"] = json!(9_000_000_000u64);
    let mut w = program(
        json!([op]),
        json!([row(2, "python", None, 4.0), row(1, "native", Some("polars"), 3.0), row(3, "waiting", None, 2.0)]),
    );
    // A second site of the same line, as a library function or a module has.
    w.sites.push(breakeven::workload::Site { via: Some("numpy.pad".to_owned()), ..w.sites[2].clone() });
    let half = breakeven::workload::HostCode { site: Some(4), ns: 2_000_000_000, ..w.host_code[0].clone() };
    w.host_code[0].ns = 2_000_000_000;
    w.host_code.push(half);
    let e = ask(w, on("l4"));
    let mut at: Vec<(&str, &str)> =
        e.reasons.iter().filter_map(|r| Some((r.site.as_deref()?, r.code.as_str()))).collect();
    at.sort_unstable();
    assert_eq!(at, [("etl.py:12", "not-covered"), ("etl.py:20", "host-bound"), ("etl.py:30", "input-output-bound")]);
    let host = e.reasons.iter().find(|r| r.code == "host-bound" && r.site.is_none()).unwrap();
    assert!(host.also[0] == "etl.py:20" && host.cause.contains("4 s"), "{host:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn more_dark_time_never_makes_an_answer_more_certain(ops in 0.0..5.0_f64, dark in 0.0..5.0_f64, part in 0.0..1.0_f64) {
        let verdict = |seconds: f64| {
            let host = json!([row(1, "native", Some("polars"), seconds), row(2, "python", None, 10.0 - ops - seconds)]);
            let e = l4(json!([add(ops)]), host);
            (e.summary.verdict, e.workload.coverage)
        };
        let ((less, more_covered), (more, less_covered)) = (verdict(dark * part), verdict(dark));
        prop_assert!(more_covered >= less_covered);
        prop_assert!(!matches!(more, Verdict::Gpu | Verdict::Cpu) || more == less, "{less:?} {more:?}");
    }
    #[test]
    fn the_time_of_all_lines_is_that_of_the_program(
        ops in 0.0..9.0_f64, gap in 0.0..9.0_f64,
        rows in proptest::collection::vec((0..4_u32, 0..3_usize, 0.01..9.0_f64), 1..8),
    ) {
        let kinds = [("python", None), ("native", Some("polars")), ("waiting", None)];
        let mut op = add(ops);
        op["gap_ns"] = json!((gap * 1e9) as u64);
        let rows: Vec<Value> = rows.iter().map(|&(site, k, s)| row(site, kinds[k].0, kinds[k].1, s)).collect();
        let e = l4(json!([op]), json!(rows));
        let sum: f64 = e.sites.iter().map(|site| site.time_s.p50).sum();
        prop_assert!((sum - 10.0).abs() < 1e-6, "{sum}");
    }
}
