//! Workloads for tests: the documented example, and random ones that are sound.

use super::op::{Cell, Collective, Dataframe, Direction, Factor, Fft, Random, Rowwise, Sort, Sparse, Window};
use super::*;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

/// The text of the documented example.
pub(crate) const HEAT: &str =
    include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/examples/heat.breakeven.json"));

/// The documented example.
pub(crate) fn heat() -> Workload {
    Workload::from_json(HEAT.as_bytes()).expect("the documented example is sound")
}

const DTYPES: &[Dtype] = &[Dtype::F64, Dtype::F32, Dtype::Bf16, Dtype::I64, Dtype::Bool, Dtype::C128, Dtype::Other];

fn pass() -> impl Strategy<Value = Pass> {
    select(vec![Pass::Forward, Pass::BackwardData, Pass::BackwardWeight, Pass::Backward])
}

/// An op of any family.
pub(crate) fn ops() -> impl Strategy<Value = Op> {
    let part = (plain_ops(), select(DTYPES), 1..1000_u64, 0..2_u64)
        .prop_map(|(op, dtype, count, told)| Part { read_bytes: told * 24, ..Part::new(op, dtype, count) });
    prop_oneof![
        9 => plain_ops(),
        1 => prop::collection::vec(part, 0..4).prop_map(|parts| Op::Routine { parts }),
    ]
}

fn plain_ops() -> impl Strategy<Value = Op> {
    let d = || prop_oneof![0..5_u64, 0..100_000_u64, Just(u64::MAX)];
    let space = || prop::collection::vec(1..64_u64, 1..4);
    prop_oneof![
        (d(), d(), d(), d(), any::<bool>()).prop_map(|(m, n, k, batch, bias)| Op::Matmul { m, n, k, batch, bias }),
        (pass(), d(), d(), d(), space(), space(), space()).prop_map(
            |(pass, batch, cin, cout, input, kernel, output)| {
                Op::Convolution { pass, batch, cin, cout, groups: 1, input, kernel, output }
            }
        ),
        (pass(), d(), d(), d(), any::<bool>()).prop_map(|(pass, heads, q_len, kv_len, causal)| {
            Op::Attention { pass, batch: 2, heads, q_len, kv_len, head_dim: 64, causal }
        }),
        (select(Cell::ALL), pass(), d(), d(), d(), d()).prop_map(|(cell, pass, steps, rows, input, hidden)| {
            Op::Recurrent { cell, pass, steps, rows, input, hidden, projection: 0 }
        }),
        (d(), 0..4_u32, 0.0..50.0, any::<bool>()).prop_map(|(n, inputs, flop_per_element, transcendental)| {
            Op::Elementwise { n, inputs, flop_per_element, transcendental }
        }),
        (d(), d(), 0.0..50.0).prop_map(|(n, out, flop_per_element)| Op::Reduce { n, out, flop_per_element }),
        (select(Rowwise::ALL), pass(), d(), d()).prop_map(|(kind, pass, rows, width)| Op::Rowwise {
            kind,
            pass,
            rows,
            width
        }),
        (d(), d()).prop_map(|(rows, width)| Op::Scan { rows, width }),
        (select(Sort::ALL), d(), d()).prop_map(|(kind, rows, width)| Op::Sort { kind, rows, width }),
        (d(), d()).prop_map(|(n, source)| Op::Gather { n, source }),
        (d(), d(), any::<bool>()).prop_map(|(n, target, accumulate)| Op::Scatter { n, target, accumulate }),
        (d(), any::<bool>(), 0..4_u32).prop_map(|(n, strided, inputs)| Op::Copy { n, strided, inputs, run: 0 }),
        (select(Fft::ALL), d(), d()).prop_map(|(kind, n, batch)| Op::Fft { kind, n, batch }),
        (select(Factor::ALL), d(), d(), d(), d()).prop_map(|(kind, m, n, rhs, batch)| Op::Factor {
            kind,
            m,
            n,
            rhs,
            batch
        }),
        (select(Sparse::ALL), d(), d(), d(), d()).prop_map(|(kind, rows, cols, nnz, n)| Op::Sparse {
            kind,
            rows,
            cols,
            nnz,
            n
        }),
        (select(Random::ALL), d()).prop_map(|(kind, n)| Op::Random { kind, n }),
        (select(Window::ALL), pass(), d(), d(), d()).prop_map(|(kind, pass, n, input, window)| Op::Window {
            kind,
            pass,
            n,
            input,
            window
        }),
        (pass(), d(), d(), d()).prop_map(|(pass, n, width, table)| Op::Embedding { pass, n, width, table }),
        (select(Dataframe::ALL), d(), d(), d(), d(), d(), d()).prop_map(
            |(kind, rows, columns, out_rows, keys, other_rows, window)| Op::Dataframe {
                kind,
                rows,
                columns,
                out_rows,
                keys,
                other_rows,
                window
            }
        ),
        (select(Collective::ALL), d(), d()).prop_map(|(kind, bytes, ranks)| Op::Collective { kind, bytes, ranks }),
        (select(Direction::ALL), d(), any::<bool>(), any::<bool>()).prop_map(
            |(direction, bytes, pinned, asynchronous)| Op::Transfer { direction, bytes, pinned, asynchronous }
        ),
        d().prop_map(|bytes| Op::HostRead { bytes }),
        select(vec![Op::Synchronise, Op::StreamWait, Op::View, Op::HostOnly, Op::Opaque]),
    ]
}

fn entries(sites: u32) -> impl Strategy<Value = Entry> {
    let n = || 0..1_000_000_u64;
    let op = (0..sites, ops(), select(DTYPES), "[a-z]{1,3}");
    let numbers = (n(), n(), n(), n(), n(), n());
    let tags = (
        option::of(0..3_u32),
        option::of(0..3_u32),
        option::of(Just("cuda:0".to_owned())),
        option::of(select(vec![Phase::Forward, Phase::Backward, Phase::Optimizer])),
        option::of(select(vec![InGraph::Capture, InGraph::Launch, InGraph::Node])),
        option::weighted(0.2, select(vec!["pandas".to_owned(), "xarray".to_owned()])),
    );
    (op, numbers, tags, option::of("[0-9,]{0,8}")).prop_map(|(op, numbers, tags, shapes)| Entry {
        site: op.0,
        name: format!("numpy.{}", op.3),
        op: op.1,
        dtype: op.2,
        count: 1,
        read_bytes: numbers.0,
        written_bytes: numbers.1,
        cpu_ns: numbers.2,
        gap_ns: numbers.3,
        host_input_bytes: numbers.4,
        host_input_count: numbers.5,
        kernels: numbers.0 % 3,
        phase: tags.3,
        device: tags.2,
        stream: tags.0,
        thread: tags.1,
        pid: None,
        rank: tags.0,
        shapes,
        layout: None,
        graph: tags.4,
        library: tags.5,
    })
}

fn programs() -> impl Strategy<Value = Program> {
    let n = || 0..1_000_000_000_u64;
    (n(), n(), n(), n(), 0.0..200.0, prop::collection::vec("[a-zé/\"\\\\]{0,6}", 0..3)).prop_map(
        |(wall_ns, events, idle_ns, peak_bytes, hook_ns, argv)| Program {
            name: "script.py".to_owned(),
            argv,
            recorder: "numpy-native".to_owned(),
            start_unix_ms: Some(wall_ns),
            wall_ns,
            events,
            hook_ns,
            idle_ns,
            cpu_cores: (idle_ns % 3 == 0).then_some((idle_ns % 32) as u32),
            gpu: (idle_ns % 7 == 0).then(|| "NVIDIA L4".to_owned()),
            loaders: (idle_ns % 5 == 0).then_some(Loaders { workers: 4, batches: events, ns: wall_ns }),
            blas_threads: (idle_ns % 2 == 0).then_some((idle_ns % 64) as u32),
            peak_bytes,
            exit: if events % 2 == 0 { Exit::Code(0) } else { Exit::Signal(9) },
            processes: 1,
            sampling: 1,
            ..Program::default()
        },
    )
}

/// Host time at the first line or at none.
fn host_code() -> impl Strategy<Value = HostCode> {
    let kinds = select(vec![HostKind::Python, HostKind::Native, HostKind::Waiting]);
    let library = option::of(select(vec!["polars".to_owned(), "matplotlib".to_owned(), "libfoo.so".to_owned()]));
    (any::<bool>(), kinds, library, 0..1_000_000_u64).prop_map(|(known, kind, library, ns)| HostCode {
        site: known.then_some(0),
        kind,
        function: library.as_ref().map(|library| format!("{library}.run")),
        library,
        ns,
        samples: ns / 5_000,
    })
}

/// A sound workload with up to five entries in an order with loops.
pub(crate) fn workloads() -> impl Strategy<Value = Workload> {
    let lists = (
        prop::collection::vec(("[ab]", 1..4_u32), 1..4),
        prop::collection::vec(0..100_u64, 0..4),
        prop::collection::vec(("[ab]", 0..1000_u64), 0..3),
        prop::collection::vec(host_code(), 0..4),
    );
    (programs(), prop::collection::vec(entries(1), 1..6), prop::collection::vec(0..5_usize, 0..40), lists).prop_map(
        |(program, mut ops, runs, (sites, sizes, unseen, host_code))| {
            let runs: Vec<usize> = (0..ops.len()).chain(runs.into_iter().map(|run| run % ops.len())).collect();
            let mut order = Sequence::new();
            ops.iter_mut().for_each(|entry| entry.count = 0);
            for &run in &runs {
                order.push(run as u32);
                ops[run].count += 1;
            }
            for (i, entry) in ops.iter_mut().enumerate() {
                entry.site = (i % sites.len()) as u32;
            }
            let last = runs.len() as u64;
            Workload {
                format: FORMAT.to_owned(),
                program,
                sites: sites
                    .into_iter()
                    .map(|(file, line)| Site { file, line, function: "f".to_owned(), ..Site::default() })
                    .collect(),
                order: order.finish(),
                buffers: sizes
                    .iter()
                    .map(|&bytes| Buffer {
                        producer: (bytes % 2 == 0).then_some(0),
                        bytes,
                        count: 2,
                        peak_live: 1,
                        first_use: bytes.min(last),
                        last_use: last,
                        host_touches: bytes,
                        role: None,
                        pinned: bytes % 3 == 0,
                    })
                    .collect(),
                markers: vec![Marker { clock: "time.time".to_owned(), site: 0, position: last, at_ns: 5 }],
                waits: sizes
                    .iter()
                    .map(|&ns| Wait { site: (ns % 2 == 0).then_some(0), before: (ns % 3 > 0).then_some(0), ns })
                    .collect(),
                host_code,
                unseen: unseen
                    .into_iter()
                    .map(|(reason, ns)| Unseen { reason, text: "Not seen.".to_owned(), ns, count: 1 })
                    .collect(),
                ops,
                optional_fields: Vec::new(),
            }
        },
    )
}
