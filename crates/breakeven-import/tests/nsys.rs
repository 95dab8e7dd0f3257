//! Exports of Nsight Systems, made here table by table: what they come to, counted by hand; other databases; damage.

use breakeven_import::{Direction, Kind, Source, Summary, read, report};
use proptest::prelude::*;
use rusqlite::Connection;
use std::sync::LazyLock;

/// Two processes that each call their GPU device 0, and use the same correlations.
const NEW: &str = "
    CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
    INSERT INTO StringIds VALUES (1, 'void gemm<float>(int)'), (2, 'ncclDevKernel_AllReduce'), (3, 'gemm'),
        (4, 'cudaLaunchKernel_v7000'), (5, 'cudaStreamSynchronize_v3020'), (6, 'aten::mm, op_id = 7');
    CREATE TABLE META_DATA_CAPTURE (name TEXT NOT NULL, value TEXT);
    INSERT INTO META_DATA_CAPTURE VALUES ('PROCESS_0:ENVIRONMENT_VARIABLE', 'TOKEN=s3cret');
    CREATE TABLE TARGET_INFO_GPU (id INTEGER NOT NULL, name TEXT, cuDevice INTEGER);
    INSERT INTO TARGET_INFO_GPU VALUES (0, 'NVIDIA H100', NULL), (1, 'NVIDIA L4', NULL);
    CREATE TABLE TARGET_INFO_CUDA_DEVICE (gpuId INTEGER, cudaId INTEGER, pid INTEGER);
    INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES (1, 0, 100), (0, 0, 200);
    CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL,
        streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER, demangledName INTEGER NOT NULL,
        shortName INTEGER NOT NULL, graphNodeId INTEGER);
    CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL,
        streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER, bytes INTEGER NOT NULL, copyKind INTEGER);
    CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL,
        streamId INTEGER NOT NULL, globalPid INTEGER);
    CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER NOT NULL, end INTEGER NOT NULL, globalTid INTEGER,
        correlationId INTEGER, nameId INTEGER NOT NULL);
    CREATE TABLE NVTX_EVENTS (start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL, text TEXT,
        globalTid INTEGER, textId INTEGER);
";

/// The serialized id of a thread of a process.
const fn id(pid: i64, thread: i64) -> i64 {
    1 << 48 | pid << 24 | thread
}

fn built(sql: &str) -> Vec<u8> {
    let mut database = Connection::open_in_memory().unwrap();
    database.execute_batch(sql).unwrap();
    database.serialize("main").unwrap().to_vec()
}

static TWO: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let (one, two) = (id(100, 0), id(200, 0));
    let (thread, other) = (id(100, 100), id(200, 200));
    built(&format!(
        "{NEW}
        INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES
            (1000, 3000, 0, 7, 1, {one}, 1, 3, NULL), (3500, 4000, 0, 9, 2, {one}, 2, 2, NULL),
            (1000, 6000, 0, 7, 1, {two}, 1, 3, NULL), (9000, 8000, 0, 7, 5, {two}, 1, 3, NULL);
        INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (2500, 3200, 0, 7, 3, {one}, 7000, 1);
        INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES (6000, 6100, 0, 7, {two});
        INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES
            (800, 900, {thread}, 1, 4), (3200, 3350, {thread}, 2, 4), (4000, 4100, {thread}, 9, 5),
            (700, 750, {other}, 1, 4);
        INSERT INTO NVTX_EVENTS VALUES
            (600, 5000, 59, 'train_step 4', {thread}, NULL), (700, 1000, 59, NULL, {thread}, 6),
            (5000, 6500, 59, 'train_step 5', {thread}, NULL), (5100, 5300, 60, 'dataloader', {thread}, NULL),
            (10, NULL, 34, 'a mark', {thread}, NULL), (20, NULL, 59, 'never ended', {thread}, NULL);"
    ))
});

fn summary(bytes: &[u8]) -> Summary {
    Summary::of(vec![Source::from_bytes("report.sqlite", bytes).and_then(read).unwrap()])
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
fn two_processes_that_count_alike() {
    let all = summary(&TWO);
    assert_eq!((all.kind, all.kernels), (Kind::Nsys, Some(4)));
    let gpus: Vec<_> = all.gpus.iter().map(|gpu| (gpu.number, gpu.name.as_deref(), gpu.kernels)).collect();
    assert_eq!(gpus, [(0, Some("NVIDIA H100"), Some(2)), (1, Some("NVIDIA L4"), Some(2))]);
    near(all.kernel_s, 7500.0);
    near(all.busy_s, 2200.0 + 500.0 + 5100.0);
    near(all.idle_s, 300.0);
    let causes = all.causes.unwrap();
    near(causes.launch_s, 150.0);
    near(causes.host_s, 150.0);
    near(causes.copy_s, 200.0);
    near(Some(causes.communication_s), 500.0);
    let copies: Vec<_> = all.copies.iter().map(|copy| (copy.direction, copy.bytes)).collect();
    assert_eq!(copies, [(Direction::HostToDevice, Some(7000))]);
    assert_eq!((all.launches.unwrap().count, all.waits.unwrap().count), (3, 1));
    // Kernels by the range around their launch, without PyTorch's number of the op.
    let ops: Vec<_> = all.ops.iter().map(|op| (op.name.as_str(), op.times.count)).collect();
    assert_eq!(ops, [("aten::mm", 1), ("train_step 4", 1)]);
    let own = |name: &str| all.host.iter().find(|host| host.name == name).map(|host| host.times.seconds);
    near(own("aten::mm"), 200.0);
    near(own("train_step 4"), 4400.0 - 300.0 - 150.0 - 100.0);
    let steps = all.steps.as_ref().unwrap();
    assert_eq!(steps.count, 2);
    near(Some(steps.mean_s), 2950.0);
    assert_eq!((steps.slow[0].number, steps.slow.len()), (4, 1));
    near(steps.slow[0].busy_s, 2700.0);
    let streams: Vec<_> = all.streams.iter().map(|stream| (stream.gpu, stream.stream, stream.count)).collect();
    assert_eq!(streams, [(0, Some(7), 2), (1, Some(7), 2), (1, Some(9), 1)]);
    assert_eq!(codes(&all), ["negative-duration", "no-time", "no-launch", "metadata"]);
    for text in [report::json(&all, None), report::text(&all, true), report::markdown(&all)] {
        assert!(!text.contains("s3cret") && !text.contains("TOKEN"), "{text}");
    }
}

#[test]
fn a_version_without_processes_and_with_other_columns() {
    let all = summary(&built(
        "CREATE TABLE StringIds (id INTEGER, value TEXT);
        INSERT INTO StringIds VALUES (1, 'old_kernel');
        CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, shortName INTEGER, correlationId INTEGER);
        INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (10, 30, 1, 5), (40, 60, 99, NULL);
        CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, globalTid INTEGER, correlationId INTEGER,
            nameId INTEGER);
        INSERT INTO StringIds VALUES (2, 'cuLaunchKernel');
        INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (1, 5, 281475010265089, 5, 2);",
    ));
    assert_eq!((all.kernels, all.gpus[0].number), (Some(2), 0));
    near(all.kernel_s, 40.0);
    let names: Vec<_> = all.top.iter().map(|kernel| kernel.name.as_str()).collect();
    assert_eq!(names, ["(no name)", "old_kernel"]);
    assert_eq!(codes(&all), ["no-gpu-name", "no-launch"]);
    assert!(all.not_read.iter().any(|note| note.text.starts_with("1 kernel has")));
}

#[test]
fn graphs_that_are_one_row_are_busy_and_no_kernels() {
    let all = summary(&built(&format!(
        "{NEW}
        CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start INTEGER, end INTEGER, deviceId INTEGER, streamId INTEGER);
        INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES (100, 900, 0, 7), (1000, 1800, 0, 7);"
    )));
    assert_eq!(all.kernels, Some(0));
    near(all.busy_s, 1600.0);
    assert!(codes(&all).contains(&"graphs"));
}

#[test]
fn rows_in_runs_by_thread_are_put_in_order() {
    let thread = id(100, 100);
    let all = summary(&built(&format!(
        "{NEW}
        INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (500, 600, 0, 7, 2, {0}, 1, 3, NULL);
        INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (900, 950, {thread}, 3, 5), (150, 180, {thread}, 2, 4);
        INSERT INTO NVTX_EVENTS VALUES (100, 200, 59, 'forward', {thread}, NULL), (800, 990, 59, 'wait', {thread}, NULL);",
        id(100, 0)
    )));
    assert_eq!(all.ops[0].name, "forward");
    assert!(!codes(&all).contains(&"out-of-order"));
}

#[test]
fn on_disk_packed_and_as_a_stream() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a report?.sqlite");
    std::fs::write(&path, &*TWO).unwrap();
    let on_disk = Summary::of(vec![Source::open(&path).and_then(read).unwrap()]);
    assert_eq!(on_disk.busy_s, summary(&TWO).busy_s);
    let packed = zstd::encode_all(TWO.as_slice(), 1).unwrap();
    assert_eq!(summary(&packed), summary(&TWO));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn other_databases_are_refused_by_name() {
    for (sql, part) in [
        ("CREATE TABLE friends (name TEXT);", "not of Nsight Systems"),
        (
            "CREATE TABLE StringTable (_id_ INTEGER); CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER);",
            "nvprof",
        ),
        ("CREATE TABLE rocpd_kernel_dispatch (id INTEGER);", "rocprof"),
        ("CREATE VIEW StringIds AS SELECT 1 AS id, 'x' AS value;", "not of Nsight Systems"),
    ] {
        let error = Source::from_bytes("given", &built(sql)).and_then(read).unwrap_err();
        assert!(error.message.contains(part) && error.hint.is_some(), "{error}");
    }
}

#[test]
fn cut_at_any_place() {
    let whole = summary(&TWO).kernels;
    for at in (17..TWO.len()).step_by(97) {
        match Source::from_bytes("cut.sqlite", &TWO[..at]).and_then(read) {
            Ok(trace) => {
                let all = Summary::of(vec![trace]);
                assert!(all.kernels <= whole && codes(&all).contains(&"cut-short"), "cut at {at}: {:?}", all.not_read);
            }
            Err(error) => assert!(error.hint.is_some() && error.message.contains("not whole"), "cut at {at}: {error}"),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn changed_at_any_byte(changes in prop::collection::vec((16_usize..40_000, any::<u8>()), 1..12)) {
        let mut bytes = TWO.clone();
        let size = bytes.len();
        for (at, byte) in changes {
            bytes[16 + at % (size - 16)] = byte;
        }
        if let Ok(trace) = Source::from_bytes("changed.sqlite", &bytes).and_then(read) {
            let all = Summary::of(vec![trace]);
            if let (Some(busy), Some(span)) = (all.busy_s, all.span_s) {
                prop_assert!(0.0 <= busy && busy <= span);
            }
            let _ = (report::text(&all, false), report::json(&all, None));
        }
    }
}
