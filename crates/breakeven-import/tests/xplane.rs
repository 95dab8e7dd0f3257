//! XPlanes of JAX and TensorFlow, built here field by field, and the same as events in Chrome's format.

use breakeven_import::{Direction, Kind, Source, Summary, read, report};
use proptest::prelude::*;

/// A message of protobuf in the making.
#[derive(Clone, Default)]
struct Message(Vec<u8>);

impl Message {
    fn varint(&mut self, mut n: u64) {
        while n >= 0x80 {
            self.0.push(n as u8 | 0x80);
            n >>= 7;
        }
        self.0.push(n as u8);
    }

    fn number(mut self, field: u64, n: u64) -> Self {
        self.varint(field << 3);
        self.varint(n);
        self
    }

    fn bytes(mut self, field: u64, bytes: &[u8]) -> Self {
        self.varint(field << 3 | 2);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
        self
    }

    fn text(self, field: u64, text: &str) -> Self {
        self.bytes(field, text.as_bytes())
    }

    fn inner(self, field: u64, message: Self) -> Self {
        self.bytes(field, &message.0)
    }
}

fn new() -> Message {
    Message::default()
}

/// An entry of a plane's tables: of events (4) or stats (5).
fn named(plane: Message, field: u64, id: u64, name: &str) -> Message {
    plane.inner(field, new().number(1, id).inner(2, new().number(1, id).text(2, name)))
}

fn event(metadata: u64, offset_ps: u64, duration_ps: u64, stats: &[Message]) -> Message {
    let event = new().number(1, metadata).number(2, offset_ps).number(3, duration_ps);
    stats.iter().fold(event, |event, stat| event.inner(4, stat.clone()))
}

fn line(name: &str, from_ns: u64, events: &[Message]) -> Message {
    let line = new().number(1, 7).text(2, name).number(3, from_ns);
    events.iter().fold(line, |line, event| line.inner(4, event.clone()))
}

/// Stats: 1 the operation, by reference; 2 the program; 3 the correlation; 4 the copy; 5 the step.
fn with_stats(plane: Message) -> Message {
    let names = ["hlo_op", "program_id", "correlation_id", "memcpy_details", "step_num", "hlo_module"];
    let plane = (1..).zip(names).fold(plane, |plane, (id, name)| named(plane, 5, id, name));
    named(named(plane, 5, 20, "dot.3"), 5, 21, "jit_step")
}

fn device() -> Message {
    let program =
        || [new().number(1, 1).number(7, 20), new().number(1, 2).number(3, 9), new().number(1, 6).number(7, 21)];
    let kernel = |correlation: u64| [program().to_vec(), vec![new().number(1, 3).number(4, correlation)]].concat();
    let details = new().number(1, 4).text(5, "kind_src:pinned kind_dst:device size:4096 dest:0 async:1");
    let stream = line(
        "Stream #13(Compute,MemcpyH2D)",
        1000,
        &[
            event(1, 2_000_000, 3_000_500, &kernel(5)),
            event(1, 6_000_000, 1_000_000, &kernel(6)),
            event(2, 500_000, 1_000_000, &[details]),
        ],
    );
    // The same time again.
    let again = line("XLA Ops", 1000, &[event(1, 2_000_000, 3_000_000, &[])]);
    let plane = new().number(1, 1).text(2, "/device:GPU:0").inner(3, stream).inner(3, again);
    let plane = with_stats(named(named(plane, 4, 1, "gemm_kernel"), 4, 2, "MemcpyH2D"));
    named(plane, 5, 30, "device_name").inner(6, new().number(1, 30).text(5, "NVIDIA H100"))
}

fn host() -> Message {
    let events = [
        event(1, 0, 10_000_000, &[new().number(1, 5).number(4, 0)]),
        event(2, 1_000_000, 500_000, &[new().number(1, 3).number(4, 5)]),
        event(3, 2_000_000, 100_000, &[]),
        event(4, 3_000_000, 2_000_000, &[]),
    ];
    let plane = new().text(2, "/host:CPU").inner(3, line("python", 1000, &events));
    let names = ["train", "cuLaunchKernel", "end: dot.3", "$model.py:12 step"];
    with_stats((1..).zip(names).fold(plane, |plane, (id, name)| named(plane, 4, id, name)))
}

/// The module of program 9: where `dot.3` comes from, by its stack frame.
fn metadata() -> Message {
    let operation = new().text(2, "jit(step)/dot_general").number(15, 1);
    let instruction = new().text(1, "dot.3").inner(7, operation);
    let frames = new()
        .text(1, "model.py")
        .text(2, "step")
        .inner(3, new().number(1, 1).number(2, 1).number(3, 42))
        .inner(4, new().number(1, 1));
    let module = new().text(1, "jit_step").inner(3, new().inner(2, instruction)).inner(17, frames);
    let proto = new().inner(1, module);
    let stat = new().number(1, 1).bytes(6, &proto.0);
    let entry = new().number(1, 1).inner(2, new().number(1, 1).text(2, "jit_step(9)").inner(5, stat));
    named(new().text(2, "/host:metadata").inner(4, entry), 5, 1, "hlo_proto")
}

fn file(planes: &[Message]) -> Vec<u8> {
    planes.iter().fold(new(), |file, plane| file.inner(1, plane.clone())).text(4, "node-17").0
}

fn summary(bytes: &[u8]) -> Summary {
    Summary::of(vec![Source::from_bytes("host.xplane.pb", bytes).and_then(read).unwrap()])
}

fn codes(summary: &Summary) -> Vec<&str> {
    summary.not_read.iter().map(|note| note.code).collect()
}

#[track_caller]
fn near(found: Option<f64>, ns: f64) {
    let found = found.expect("it is known") * 1e9;
    assert!((found - ns).abs() < 1e-3, "{found} ns instead of {ns}");
}

#[test]
fn kernels_with_their_ops_lines_and_modules() {
    // The plane of metadata may come before the devices or after them.
    for planes in [[metadata(), device(), host()], [device(), host(), metadata()]] {
        let all = summary(&file(&planes));
        assert_eq!((all.kind, all.kernels), (Kind::Xplane, Some(2)));
        assert_eq!(all.gpus[0].name.as_deref(), Some("NVIDIA H100"));
        near(all.kernel_s, 4001.0);
        near(all.busy_s, 5001.0);
        near(all.span_s, 6500.0);
        assert_eq!((all.copies[0].direction, all.copies[0].bytes), (Direction::HostToDevice, Some(4096)));
        let first = |list: &[breakeven_import::HostTotal]| (list[0].name.clone(), list[0].times.count);
        assert_eq!(first(&all.ops), ("jit(step)/dot_general".to_owned(), 2));
        assert_eq!(first(&all.modules), ("jit_step".to_owned(), 2));
        assert_eq!(first(&all.lines), ("model.py:42".to_owned(), 2));
        assert_eq!((all.launches.unwrap().count, all.steps.as_ref().unwrap().count), (1, 1));
        let host: Vec<_> = all.host.iter().map(|host| host.name.as_str()).collect();
        assert_eq!(host, ["train", "cuLaunchKernel"]);
        assert_eq!(codes(&all), ["no-launch", "python", "metadata"]);
        assert!(!report::json(&all, None).contains("node-17"));
    }
}

#[test]
fn on_a_tpu_operations_are_all_there_is() {
    let ops = [event(1, 0, 9_000_000, &[]), event(2, 0, 4_000_000, &[]), event(3, 4_000_000, 5_000_000, &[])];
    let plane = new().text(2, "/device:TPU:0").inner(3, line("XLA Ops", 5, &ops));
    let plane = (1..).zip(["while.5", "fusion.1", "dot.2"]).fold(plane, |plane, (id, name)| named(plane, 4, id, name));
    let all = summary(&file(&[plane]));
    assert_eq!(all.kernels, Some(2));
    near(all.kernel_s, 9000.0);
}

#[test]
fn a_trace_of_the_cpu_alone() {
    let all = summary(&file(&[host()]));
    assert_eq!((all.kernels, all.busy_s), (None, None));
    assert!(codes(&all).contains(&"no-gpu-events"));
    assert!(report::sentence(&all).contains("ran on the CPU"));
}

#[test]
fn the_same_as_json() {
    let text = r#"{"displayTimeUnit": "ns", "metadata": {"highres-ticks": true}, "traceEvents": [
        {"ph": "M", "pid": 1, "name": "process_name", "args": {"name": "/device:GPU:0"}},
        {"ph": "M", "pid": 1, "tid": 13, "name": "thread_name", "args": {"name": "Stream #13(Compute)"}},
        {"ph": "M", "pid": 1, "tid": 14, "name": "thread_name", "args": {"name": "XLA Ops"}},
        {"ph": "M", "pid": 7, "name": "process_name", "args": {"name": "/host:CPU"}},
        {"ph": "X", "pid": 1, "tid": 13, "ts": 2.0, "dur": 3.0, "name": "gemm", "args": {"correlation_id": "5"}},
        {"ph": "X", "pid": 1, "tid": 14, "ts": 2.0, "dur": 3.0, "name": "dot.3", "args": {}},
        {"ph": "X", "pid": 1, "tid": 13, "ts": 0.5, "dur": 1.0, "name": "MemcpyH2D",
            "args": {"memcpy_details": "kind_src:pinned kind_dst:device size:4096 dest:0 async:1"}},
        {"ph": "X", "pid": 7, "tid": 1, "ts": 0.0, "dur": 10.0, "name": "train", "args": {"step_num": "0"}},
        {"ph": "X", "pid": 7, "tid": 1, "ts": 1.0, "dur": 0.5, "name": "cuLaunchKernel",
            "args": {"correlation_id": "5"}},
        {"ph": "X", "pid": 7, "tid": 1, "ts": 2.0, "dur": 0.1, "name": "end: dot.3", "args": {}},
        {}]}"#;
    let all = summary(text.as_bytes());
    assert_eq!((all.kind, all.kernels), (Kind::XplaneJson, Some(1)));
    near(all.kernel_s, 3000.0);
    near(all.gpus[0].copy_s, 1000.0);
    assert_eq!((all.copies[0].bytes, all.launches.unwrap().count), (Some(4096), 1));
    assert_eq!(all.steps.unwrap().count, 1);
}

#[test]
fn cut_at_any_byte() {
    let whole = file(&[metadata(), device(), host()]);
    for at in 20..whole.len() - 10 {
        match Source::from_bytes("cut.pb", &whole[..at]).and_then(read) {
            Ok(trace) => assert!(trace.kernels.len() <= 2, "cut at {at}"),
            Err(error) => assert!(error.hint.is_some(), "cut at {at}: {error}"),
        }
    }
    let cut = summary(&whole[..whole.len() - 60]);
    assert!(codes(&cut).contains(&"cut-short"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn changed_at_any_byte(changes in prop::collection::vec((1_usize..2000, any::<u8>()), 1..8)) {
        let mut bytes = file(&[metadata(), device(), host()]);
        let size = bytes.len();
        for (at, byte) in changes {
            bytes[1 + at % (size - 1)] = byte;
        }
        if let Ok(trace) = Source::from_bytes("changed.pb", &bytes).and_then(read) {
            let all = Summary::of(vec![trace]);
            if let (Some(busy), Some(span)) = (all.busy_s, all.span_s) {
                prop_assert!(0.0 <= busy && busy <= span);
            }
            let _ = report::text(&all, false);
        }
    }
}
