//! What small files come to, counted by hand.

use breakeven_import::{Direction, Kind, Source, Summary, Trace, read, report};

macro_rules! fixture {
    ($name:literal) => {
        ($name, include_bytes!(concat!("fixtures/", $name)).as_slice())
    };
}

fn trace((name, bytes): (&str, &[u8])) -> Trace {
    read(Source::from_bytes(name, bytes).unwrap()).unwrap()
}

fn summary(file: (&str, &[u8])) -> Summary {
    Summary::of(vec![trace(file)])
}

fn codes(summary: &Summary) -> Vec<&str> {
    summary.not_read.iter().map(|note| note.code).collect()
}

#[track_caller]
fn near(found: Option<f64>, microseconds: f64) {
    let found = found.expect("it is known") * 1e6;
    assert!((found - microseconds).abs() < 1e-6, "{found} µs instead of {microseconds}");
}

#[test]
fn a_trace_of_cuda() {
    let all = summary(fixture!("cuda.json"));
    assert_eq!((all.kind, all.kernels), (Kind::Kineto, Some(4)));
    near(all.kernel_s, 400.0);
    near(all.busy_s, 530.0);
    near(all.span_s, 1370.0);
    near(all.idle_s, 840.0);
    near(all.longest_gap_s, 590.0);
    let causes = all.causes.unwrap();
    near(causes.launch_s, 70.0);
    near(causes.sync_s, 100.0);
    near(causes.loading_s, 300.0);
    near(causes.host_s, 370.0);
    near(causes.copy_s, 120.0);
    near(Some(causes.communication_s), 100.0);
    let gpu = &all.gpus[0];
    assert_eq!((gpu.name.as_deref(), gpu.rank), (Some("NVIDIA A100-SXM4-80GB"), Some(3)));
    assert_eq!((gpu.kernels, gpu.copies, gpu.memsets), (Some(4), Some(2), Some(1)));
    near(gpu.copy_s, 200.0);
    let steps = all.steps.as_ref().unwrap();
    assert_eq!(steps.count, 2);
    near(Some(steps.mean_s), 1250.0);
    let copies: Vec<_> = all.copies.iter().map(|copy| (copy.direction, copy.bytes)).collect();
    assert_eq!(copies, [(Direction::HostToDevice, Some(1_000_000)), (Direction::DeviceToHost, Some(4))]);
    assert_eq!(all.launches.unwrap().count, 4);
    assert_eq!(all.waits.unwrap().count, 1);
    assert_eq!((all.ops[0].name.as_str(), all.ops[0].times.count), ("aten::mm", 1));
    assert_eq!(codes(&all), ["python", "metadata"]);
}

#[test]
fn nothing_of_the_machine_that_recorded_is_copied() {
    for file in [fixture!("cuda.json"), fixture!("rocprof.json"), fixture!("rocprof3.json")] {
        let all = summary(file);
        for text in [report::json(&all, None), report::text(&all, true), report::markdown(&all)] {
            for secret in ["s3cret", "TOKEN", "MY_ENV", "node-17", "someone"] {
                assert!(!text.contains(secret), "{secret} in {text}");
            }
            assert!(text.contains("metadata"), "{text}");
        }
    }
}

#[test]
fn the_first_versions_with_capitals() {
    let all = summary(fixture!("capitals.json"));
    assert_eq!((all.kernels, all.steps.as_ref().unwrap().count), (Some(1), 1));
    near(all.kernel_s, 40.0);
    near(all.busy_s, 50.0);
    // The kernel knows its op by way of the launch alone.
    assert_eq!(all.ops[0].name, "aten::add");
    assert!(codes(&all).contains(&"no-gpu-name"));
}

#[test]
fn rocm_numbers_devices_otherwise_and_says_bytes_in_the_call() {
    let all = summary(fixture!("rocm.json"));
    assert_eq!(all.gpus[0].name.as_deref(), Some("AMD Instinct MI300X"));
    assert_eq!(all.copies[0].bytes, Some(2560));
    near(all.kernel_s, 6.88);
    near(all.gpus[0].copy_s, 10.125);
    assert_eq!(all.waits.unwrap().count, 1);
    assert!(codes(&all).contains(&"no-launch"));
}

#[test]
fn rocprof_has_exact_times_beside_rounded_ones() {
    let all = summary(fixture!("rocprof.json"));
    assert_eq!((all.kind, all.kernels), (Kind::RocprofJson, Some(1)));
    near(all.kernel_s, 5.28);
    near(all.gpus[0].copy_s, 8.48);
    assert_eq!(all.copies[0].bytes, None);
}

#[test]
fn tables_of_rocprof_are_one_run() {
    let files = [fixture!("kernel_trace.csv"), fixture!("memory_copy_trace.csv"), fixture!("hip_trace.csv")];
    let all = Summary::of(files.map(trace).into());
    assert_eq!((all.kind, all.kernels, all.gpus.len()), (Kind::RocprofCsv, Some(2), 1));
    near(all.kernel_s, 24.0);
    near(all.busy_s, 34.0);
    near(all.span_s, 100.0);
    near(all.causes.unwrap().sync_s, 20.0);
    assert_eq!(all.copies[0].direction, Direction::HostToDevice);
    assert_eq!(all.launches.unwrap().count, 1);
    let kernels_alone = summary(fixture!("kernel_trace.csv"));
    near(kernels_alone.busy_s, 24.0);
    assert_eq!((kernels_alone.gpus[0].copies, kernels_alone.gpus[0].copy_s), (None, None));
    assert_eq!(codes(&kernels_alone), ["no-gpu-name", "no-copies", "no-calls"]);
    let copies_alone = summary(fixture!("memory_copy_trace.csv"));
    assert_eq!((copies_alone.kernels, copies_alone.kernel_s, copies_alone.gpus[0].copies), (None, None, Some(1)));
    near(copies_alone.busy_s, 10.0);
    let calls_alone = summary(fixture!("hip_trace.csv"));
    assert_eq!((calls_alone.kernels, codes(&calls_alone)), (None, vec!["no-gpu-events"]));
}

#[test]
fn the_first_tables_of_rocprof() {
    let all = summary(fixture!("results.csv"));
    assert_eq!((all.kernels, all.gpus[0].number), (Some(2), 8));
    near(all.kernel_s, 1087.688 + 2647.539);
    let cut = summary(("cut.csv", &include_bytes!("fixtures/results.csv")[..330]));
    assert_eq!((cut.kernels, cut.not_read[0].code), (Some(1), "cut-short"));
}

#[test]
fn json_of_rocprofv3_names_by_number() {
    let all = summary(fixture!("rocprof3.json"));
    assert_eq!((all.kind, all.kernels), (Kind::Rocprof3Json, Some(2)));
    near(all.kernel_s, 3.0);
    near(all.busy_s, 4.0);
    near(all.idle_s, 2.0);
    near(all.causes.unwrap().sync_s, 2.0);
    assert_eq!((all.gpus.len(), all.gpus[0].number), (1, 0));
    assert_eq!(all.gpus[0].name.as_deref(), Some("AMD Instinct MI300X"));
    let names: Vec<_> = all.top.iter().map(|kernel| kernel.name.as_str()).collect();
    assert_eq!(names, ["gemm()", "(no name)"]);
    assert_eq!((all.copies[0].direction, all.copies[0].bytes), (Direction::DeviceToHost, Some(4096)));
    assert_eq!((all.launches.unwrap().count, all.waits.unwrap().count), (1, 1));
    assert_eq!(codes(&all), ["negative-duration", "no-launch", "metadata"]);
}

#[test]
fn operators_of_onnx_runtime_are_host_time() {
    let all = summary(fixture!("onnxruntime.json"));
    assert_eq!((all.kind, all.kernels), (Kind::OnnxRuntime, None));
    let host: Vec<_> = all.host.iter().map(|host| (host.name.as_str(), (host.times.seconds * 1e6).round())).collect();
    // What a loop contains is its own no more.
    let expected =
        [("MatMul", 300.0), ("model_run", 200.0), ("Add", 150.0), ("model_loading_uri", 100.0), ("Loop", 50.0)];
    assert_eq!(host, expected);
    let ops: Vec<_> = all.ops.iter().map(|op| op.name.as_str()).collect();
    assert_eq!(ops, ["MatMul 8×64, 64×32", "Loop scalar", "Add"]);
    assert_eq!(all.steps.as_ref().unwrap().count, 1);
    assert!(report::sentence(&all).starts_with("No GPU trace"));
}

#[test]
fn kernels_by_module_and_line_where_frames_of_python_are_recorded() {
    let frame = |name: &str, ts: u32, dur: u32| {
        format!(
            r#"{{"ph": "X", "cat": "python_function", "name": "{name}", "pid": 1, "tid": 1, "ts": {ts}, "dur": {dur}}}"#
        )
    };
    let text = format!(
        r#"{{"schemaVersion": 1, "traceEvents": [{}, {}, {}, {},
        {{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 30, "dur": 2,
          "args": {{"correlation": 8}}}},
        {{"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 40, "dur": 9,
          "args": {{"device": 0, "stream": 7, "correlation": 8}}}}]}}"#,
        frame("train.py(12): step", 0, 100),
        frame("nn.Module: Linear_0", 10, 50),
        frame("torch/nn/modules/module.py(1750): _call_impl", 12, 40),
        frame("threading.py(3): run", 13, 30),
    );
    let all = summary(("frames.json", text.as_bytes()));
    assert_eq!((all.modules[0].name.as_str(), all.lines[0].name.as_str()), ("Linear_0", "train.py(12): step"));
    near(Some(all.lines[0].times.seconds), 9.0);
}

#[test]
fn other_traces_are_no_gpu_traces() {
    let all = summary(fixture!("chrome.json"));
    assert_eq!((all.kind, all.kernels, all.kernel_s, all.busy_s), (Kind::Chrome, None, None, None));
    let host: Vec<_> = all.host.iter().map(|host| (host.name.as_str(), (host.times.seconds * 1e6).round())).collect();
    assert_eq!(host, [("main", 50.0), ("parse", 30.0), ("schedule", 20.0)]);
    assert_eq!(codes(&all), ["cut-short", "no-gpu-events"]);
    assert!(report::sentence(&all).starts_with("No GPU trace"));
}

#[test]
fn odd_json_is_read_all_the_same() {
    let all = summary(fixture!("odd.json"));
    let names: Vec<_> = all.top.iter().map(|kernel| kernel.name.as_str()).collect();
    assert_eq!(names, ["a\tb\\qé", "kept", "after", "backwards", "nothing"]);
    assert_eq!(all.kernels, Some(5));
    near(all.kernel_s, 5.0);
    for code in ["negative-duration", "no-time", "broken"] {
        assert!(codes(&all).contains(&code), "{code} in {:?}", all.not_read);
    }
}

#[test]
fn ranks_are_added_up_each_on_its_own_clock() {
    let all = Summary::of(vec![trace(fixture!("cuda.json")), trace(fixture!("rocm.json"))]);
    assert_eq!((all.kernels, all.gpus.len()), (Some(5), 2));
    near(all.busy_s, 530.0 + 10.125 + 6.88);
    assert!(all.not_read.iter().all(|note| note.text.contains(".json: ")));
}

#[test]
fn times_in_ns_are_told_from_those_in_us() {
    let text = r#"{"schemaVersion": 1, "traceEvents": [
        {"ph": "X", "cat": "kernel", "name": "k", "ts": 1695835573023613123, "dur": 2500, "args": {"device": 0}}]}"#;
    let all = summary(("ns.json", text.as_bytes()));
    near(all.kernel_s, 2.5);
    assert!(codes(&all).contains(&"times-in-ns"));
}

#[test]
fn what_is_no_trace_is_refused_by_name() {
    let refused = |bytes: &[u8]| {
        let error = Source::from_bytes("given", bytes).and_then(read).expect_err("no trace");
        assert!(error.hint.is_some(), "{error}");
        error.message
    };
    for (bytes, part) in [
        (b"" as &[u8], "empty"),
        (b"[[-1, 1, 512, 7], [-1, 1, 512, 7]]", "memory timeline"),
        (br#"{"schema": "1.0.1", "pid": 1, "nodes": [{"name": "x"}]}"#, "execution trace"),
        (br#"{"format": "breakeven.workload/1"}"#, "recorded workload"),
        (b"SQLite format 3\0", "SQLite"),
        (br#"{"a": [1, 2], "b": {"c": "d"}}"#, "JSON without events"),
        (b"\"Name\",\"Calls\",\"TotalDurationNs\"\n", "totals"),
        (b"\"Dispatch_Id\",\"Kernel_Name\",\"Counter_Name\",\"Counter_Value\"\n", "counters"),
        (b"\x08\x01\x12\x07pytorch", "no trace that is known"),
    ] {
        let message = refused(bytes);
        assert!(message.contains(part), "{message}");
    }
}

#[test]
fn the_report_fits_its_page() {
    for file in [fixture!("cuda.json"), fixture!("rocm.json"), fixture!("chrome.json"), fixture!("odd.json")] {
        let text = report::text(&summary(file), false);
        assert!(text.lines().count() <= 24, "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        assert!(text.contains("this is what was recorded"), "{text}");
    }
}
