//! Edits by hand count on small programs, and laws on many.

use super::draft::Draft;
use super::edits::EDITS;
use super::{Context, IDS, advise};
use crate::estimate::gpu::outcome;
use crate::estimate::{Advice, Estimate, Side, program};
use crate::request::{Options, Request};
use crate::workload::op::{Direction, Factor, Fft};
use crate::workload::{Buffer, Dtype, Entry, Exit, InGraph, Op, Phase, Program, Site, Step, Unseen, Workload, order};
use proptest::prelude::*;

mod later;

/// An entry at the line of its own number, run `count` times.
fn entry(site: u32, name: &str, op: Op, dtype: Dtype, count: u64) -> Entry {
    let bytes = op.min_bytes(dtype).get() as u64;
    Entry {
        count,
        read_bytes: bytes / 2,
        written_bytes: bytes / 2,
        cpu_ns: count * 50_000,
        gap_ns: count * 1_000,
        ..Entry::untimed(site, name, op, dtype)
    }
}

fn add(n: u64) -> Op {
    Op::Elementwise { n, inputs: 2, flop_per_element: 1.0, transcendental: false }
}

fn copy(direction: Direction, bytes: u64) -> Op {
    Op::Transfer { direction, bytes, pinned: false, asynchronous: false }
}

fn on_gpu(mut entries: Vec<Entry>) -> Vec<Entry> {
    entries.iter_mut().for_each(|e| e.device = Some("cuda:0".to_owned()));
    entries
}

/// A program of these entries, its lines as given.
fn program_of(lines: &[&str], ops: Vec<Entry>, steps: Vec<Step>) -> Workload {
    let wall: u64 = ops.iter().map(|e| e.cpu_ns + e.gap_ns).sum();
    let site = |(i, text): (usize, &&str)| Site {
        file: "/home/ada/x.py".to_owned(),
        line: i as u32 + 1,
        function: "<module>".to_owned(),
        text: (*text).to_owned(),
        ..Site::default()
    };
    Workload {
        program: Program {
            name: "x.py".to_owned(),
            wall_ns: wall + 10_000_000,
            exit: Exit::Code(0),
            cpu_threads: 4,
            processes: 1,
            sampling: 1,
            ..Program::default()
        },
        sites: lines.iter().enumerate().map(site).collect(),
        ops,
        order: steps,
        ..Workload::default()
    }
}

fn asked(workload: &Workload, gpu: &str) -> Estimate {
    workload.check().unwrap();
    let options = Options { gpu: vec![gpu.to_owned()], exclude_startup: true, ..Options::default() };
    program::estimate(workload, &Request { options, ..Request::default() }).unwrap()
}

fn found(e: &Estimate, id: &str, side: Side) -> Advice {
    let of = |a: &&Advice| a.id == id && a.side == side;
    e.advice.iter().find(of).unwrap_or_else(|| panic!("no {id}: {:#?}", e.advice)).clone()
}

fn ids(e: &Estimate) -> Vec<&str> {
    e.advice.iter().map(|a| a.id.as_str()).collect()
}

fn each(n: u32) -> Vec<Step> {
    (0..n).map(Step::Run).collect()
}

#[test]
fn ids_are_a_closed_sorted_set_that_the_page_explains() {
    assert!(IDS.is_sorted());
    let page = include_str!("../../../../../docs/advice.md");
    let sections: Vec<&str> = page.lines().filter_map(|line| line.strip_prefix("## ")).collect();
    assert_eq!(sections, IDS);
    let mut edits: Vec<&str> = EDITS.iter().map(|e| e.id).chain(["cheaper-gpu"]).collect();
    edits.sort_unstable();
    assert_eq!(edits, IDS);
}

/// The list that every tutorial on GPUs in Python gives.
#[test]
fn the_usual_list_is_all_here() {
    for (advice, id) in [
        ("vectorise", "vectorise"),
        ("keep data on the device", "keep-resident"),
        ("mixed precision", "mixed-precision"),
        ("larger batches", "larger-batch"),
        ("fuse", "fuse"),
        ("synchronise less", "fewer-syncs"),
        ("input pipeline", "input-pipeline"),
        ("prefetch from pinned memory", "pinned-overlap"),
    ] {
        assert!(IDS.contains(&id), "{advice}");
    }
    // "Profile again" is what every piece of advice is: the edited program, estimated again.
    let page = include_str!("../../../../../docs/advice.md");
    assert!(page.contains("record it again"));
}

#[test]
fn what_is_only_reduced_is_reduced_first() {
    let bytes = 32_000_000;
    let reduce = Op::Reduce { n: 4_000_000, out: 1, flop_per_element: 1.0 };
    let whole = |name, op, read| Entry {
        read_bytes: read,
        written_bytes: 0,
        shapes: Some("[2000,2000] ->".to_owned()),
        ..entry(2, name, op, Dtype::F64, 200)
    };
    let mut ops = on_gpu(vec![
        entry(0, "cupy.sqrt", add(4_000_000), Dtype::F64, 200),
        Entry { site: 1, ..whole("cupy.asnumpy", copy(Direction::D2h, bytes), bytes) },
    ]);
    ops.push(whole("numpy.ndarray.max", reduce.clone(), bytes));
    let lines = ["x = cp.sqrt(x + 1)", "host = cp.asnumpy(x)", "maxima.append(host.max())"];
    let steps = || vec![Step::Repeat(200, each(3))];
    let e = asked(&program_of(&lines, ops.clone(), steps()), "l4");
    let a = found(&e, "reduce-before-copy", Side::Gpu);
    assert_eq!(a.site.as_deref(), Some("x.py:2"));
    assert!(a.why.starts_with("200 copies of 32 MB come back, and the host takes only the max of each"), "{}", a.why);
    // By hand: the same with the reduction on the GPU, and 8 bytes back.
    let mut edited = ops.clone();
    edited[1] = Entry { op: copy(Direction::D2h, 8), ..edited[1].clone() };
    edited[2] = Entry { device: Some("cuda:0".to_owned()), name: "cupy.max".to_owned(), ..edited[2].clone() };
    let order = vec![Step::Repeat(200, vec![Step::Run(0), Step::Run(2), Step::Run(1)])];
    let by_hand = asked(&program_of(&lines, edited, order), "l4").estimates[0].time_s.unwrap().p50;
    let after = a.time_s_after.unwrap().p50;
    assert!((after / by_hand - 1.0).abs() < 0.05, "{after} {by_hand}");
    // Another user of the copy, or one number of it, and nothing is said.
    let others = [
        whole("numpy.exp", add(4_000_000), bytes),
        whole("numpy.ndarray.__getitem__", Op::View, 0),
        Entry { shapes: Some("[] ->".to_owned()), ..whole("numpy.ndarray.item", Op::HostRead { bytes: 8 }, 8) },
        Entry { device: Some("cuda:0".to_owned()), ..whole("cupy.asarray", copy(Direction::H2d, bytes), bytes) },
    ];
    for other in others {
        let ops = ops.iter().cloned().chain([other]).collect();
        let e = asked(&program_of(&lines, ops, vec![Step::Repeat(200, each(4))]), "l4");
        assert!(!ids(&e).contains(&"reduce-before-copy"), "{:#?}", e.advice);
    }
    let mut kept = program_of(&lines, ops, steps());
    kept.buffers = vec![Buffer {
        producer: None,
        bytes,
        count: 200,
        peak_live: 200,
        first_use: 1,
        last_use: 600,
        host_touches: 0,
        role: None,
        pinned: false,
    }];
    assert!(!ids(&asked(&kept, "l4")).contains(&"reduce-before-copy"));
}

#[test]
fn ping_pong_ends() {
    let bytes = 4_000_000;
    // CuPy asks for its copies without waiting, which those of ordinary memory do not grant.
    let asked_aside = Op::Transfer { direction: Direction::H2d, bytes, pinned: false, asynchronous: true };
    let mut ops = on_gpu(vec![
        entry(0, "cupy.asarray", asked_aside, Dtype::F32, 1000),
        entry(1, "cupy.sqrt", add(1_000_000), Dtype::F32, 1000),
        entry(2, "cupy.asnumpy", copy(Direction::D2h, bytes), Dtype::F32, 1000),
    ]);
    ops.push(entry(3, "numpy.maximum", add(1_000_000), Dtype::F32, 1000));
    let w = program_of(
        &["d = cp.asarray(x)", "d = cp.sqrt(d)", "x = cp.asnumpy(d)", "x = np.maximum(x, 0)"],
        ops,
        vec![Step::Repeat(1000, each(4))],
    );
    let e = asked(&w, "L4");
    let a = found(&e, "keep-resident", Side::Gpu);
    assert_eq!(a.site.as_deref(), Some("x.py:1"));
    // PCIe 4.0 x16 pageable, 16 GB/s: 4 MB take 250 µs each way, and 10 µs to begin.
    let g = &e.estimates[0];
    let copies = g.breakdown_s.unwrap().transfer - a.breakdown_s_after.unwrap().transfer;
    assert!((copies / (999.0 * 2.0 * 260e-6) - 1.0).abs() < 0.1, "{copies}");
    // What ran on the host runs on the GPU: 50 µs of CPU a round less.
    assert!(g.breakdown_s.unwrap().host - a.breakdown_s_after.unwrap().host > 0.045);
    assert!(!ids(&e).contains(&"pinned-overlap"), "copies that need not be are not to be copied faster");
}

#[test]
fn a_host_op_without_counterpart_keeps_the_ping_pong() {
    let mut ops = on_gpu(vec![
        entry(0, "cupy.asarray", copy(Direction::H2d, 4_000_000), Dtype::F32, 1000),
        entry(1, "cupy.asnumpy", copy(Direction::D2h, 4_000_000), Dtype::F32, 1000),
    ]);
    ops.push(entry(2, "numpy.savetxt", Op::HostOnly, Dtype::F32, 1000));
    let w = program_of(
        &["d = cp.asarray(x)", "x = cp.asnumpy(d)", "np.savetxt(f, x)"],
        ops,
        vec![Step::Repeat(1000, each(3))],
    );
    assert!(!ids(&asked(&w, "L4")).contains(&"keep-resident"));
}

#[test]
fn an_array_that_never_changes_is_copied_once() {
    let ops = on_gpu(vec![
        entry(0, "cupy.asarray", copy(Direction::H2d, 4_000_000), Dtype::F32, 1000),
        entry(1, "cupy.matmul", Op::Matmul { m: 1000, n: 8, k: 1000, batch: 1, bias: false }, Dtype::F32, 1000),
    ]);
    let mut w = program_of(&["w = cp.asarray(a)", "v = w @ v"], ops, vec![Step::Repeat(1000, each(2))]);
    assert!(!ids(&asked(&w, "L4")).contains(&"hoist-transfers"), "nothing says that it is one array");
    let buffer = Buffer {
        producer: None,
        bytes: 4_000_000,
        count: 1,
        peak_live: 1,
        first_use: 0,
        last_use: 1999,
        host_touches: 0,
        role: None,
        pinned: false,
    };
    w.buffers.push(buffer);
    let e = asked(&w, "L4");
    let a = found(&e, "hoist-transfers", Side::Gpu);
    assert!((a.breakdown_s_after.unwrap().transfer - 260e-6).abs() < 20e-6, "{a:?}");
    w.buffers[0].host_touches = 1000;
    assert!(!ids(&asked(&w, "L4")).contains(&"hoist-transfers"), "a file is read into it each round");
    (w.buffers[0].host_touches, w.buffers[0].count, w.buffers[0].peak_live) = (0, 1000, 1000);
    let many = asked(&w, "L4");
    assert!(!ids(&many).contains(&"hoist-transfers"), "a thousand arrays");
    found(&many, "pinned-overlap", Side::Gpu);
}

#[test]
fn values_are_read_every_tenth_round() {
    let ops = on_gpu(vec![
        entry(0, "cupy.add", add(1000), Dtype::F32, 10_000),
        entry(1, "cupy.ndarray.item", Op::HostRead { bytes: 4 }, Dtype::F32, 10_000),
    ]);
    let w = program_of(&["a = a + b", "history.append(a[0].item())"], ops, vec![Step::Repeat(10_000, each(2))]);
    let e = asked(&w, "L4");
    let a = found(&e, "fewer-syncs", Side::Gpu);
    let (before, after) = (e.estimates[0].breakdown_s.unwrap(), a.breakdown_s_after.unwrap());
    assert!((after.transfer / before.transfer - 0.1).abs() < 0.01, "{before:?} {after:?}");
    assert!((after.sync / before.sync - 0.1).abs() < 0.01);
}

#[test]
fn seven_small_steps_become_one_launch() {
    let names = ["add", "multiply", "subtract", "multiply", "add", "true_divide", "subtract"];
    let ops = on_gpu(names.iter().map(|n| entry(0, &format!("cupy.{n}"), add(1000), Dtype::F32, 5000)).collect());
    let w = program_of(&["u = u + k * (u - v * u + w / v - u)"], ops, vec![Step::Repeat(5000, each(7))]);
    let e = asked(&w, "L4");
    let a = found(&e, "fuse", Side::Gpu);
    assert_eq!(a.title, "Fusing the 7 element-wise steps of x.py:1");
    assert_eq!(a.ready.as_deref().map(|r| r.lines().last().unwrap()), Some("u = fused(u, k, v, w)"));
    // 13.4 µs to hand over a kernel, seven times or once, 5000 times.
    let launch = |b: crate::estimate::Breakdown| b.launch;
    let saved = launch(e.estimates[0].breakdown_s.unwrap()) - launch(a.breakdown_s_after.unwrap());
    assert!((saved / (5000.0 * 6.0 * 13.4e-6) - 1.0).abs() < 0.1, "{saved}");
}

#[test]
fn what_is_used_after_a_chain_is_still_written() {
    let names = ["multiply", "add", "sqrt"];
    let n = 20_000_000;
    let mut ops =
        on_gpu(names.iter().map(|n| entry(0, &format!("cupy.{n}"), add(20_000_000), Dtype::F32, 200)).collect());
    let sum = Op::Reduce { n, out: 1, flop_per_element: 1.0 };
    ops.extend(on_gpu(vec![entry(1, "cupy.ndarray.sum", sum, Dtype::F32, 200)]));
    let lines = &["x = np.sqrt(x * 2 + 1)", "s = s + a.sum()"];
    let mut w = program_of(lines, ops, vec![Step::Repeat(200, each(4))]);
    let memory = |w: &Workload| found(&asked(w, "L4"), "fuse", Side::Gpu).breakdown_s_after.unwrap().memory;
    let array = |producer: u32, last_use: u64| Buffer {
        producer: Some(producer),
        bytes: 4 * n,
        count: 200,
        peak_live: 1,
        first_use: 0,
        last_use,
        host_touches: 0,
        role: None,
        pinned: false,
    };
    // The last round begins at position 796: the chain ends at 798, the sum is 799.
    w.buffers = vec![array(0, 797), array(1, 798)];
    let alone = memory(&w);
    w.buffers[0].last_use = 799;
    let one_more = memory(&w);
    let pass = 200.0 * 4.0 * n as f64 / 300e9;
    assert!((one_more - alone) / pass > 0.9 && (one_more - alone) / pass < 2.0, "{alone} {one_more} {pass}");
}

#[test]
fn rows_in_a_loop_are_one_product() {
    let lines = ["row = a[i]", "out[i] = row @ w"];
    let mut ops = vec![
        entry(0, "numpy.ndarray.__getitem__", Op::View, Dtype::F64, 20_000),
        entry(1, "numpy.matmul", Op::Matmul { m: 1, n: 32, k: 64, batch: 1, bias: false }, Dtype::F64, 20_000),
        entry(1, "numpy.ndarray.__setitem__", Op::Copy { n: 32, strided: true, inputs: 1, run: 0 }, Dtype::F64, 20_000),
    ];
    ops[0].shapes = Some("[20000,64] -> [64]".to_owned());
    let w = program_of(&lines, ops.clone(), vec![Step::Repeat(20_000, each(3))]);
    let e = asked(&w, "L4");
    for side in [Side::Gpu, Side::Cpu] {
        let a = found(&e, "vectorise", side);
        assert!(a.speedup_after.unwrap().p50 > 20.0, "{a:?}");
    }
    let steps = vec![Step::Repeat(20_000, each(3))];
    let carried = program_of(&["row = a[i]", "state = row @ w + state"], ops.clone(), steps.clone());
    assert!(!ids(&asked(&carried, "L4")).contains(&"vectorise"), "each round needs the one before");
    ops[1].written_bytes = 1 << 20;
    let large = program_of(&lines, ops, steps);
    assert!(!ids(&asked(&large, "L4")).contains(&"vectorise"), "20 GiB at once");
}

#[test]
fn a_loop_in_a_loop_over_rows_goes_with_it_where_its_rounds_are_independent() {
    let product = Op::Matmul { m: 1, n: 32, k: 64, batch: 1, bias: false };
    let mut ops = vec![
        entry(0, "numpy.ndarray.__getitem__", Op::View, Dtype::F64, 400),
        entry(1, "numpy.matmul", product, Dtype::F64, 4_000),
        entry(2, "numpy.argmin", Op::Reduce { n: 10, out: 1, flop_per_element: 1.0 }, Dtype::F64, 400),
    ];
    ops[0].shapes = Some("[400,64] -> [64]".to_owned());
    ops.iter_mut().for_each(|e| e.written_bytes = 256);
    let inner = Step::Repeat(10, vec![Step::Run(1)]);
    let steps = vec![Step::Repeat(400, vec![Step::Run(0), inner, Step::Run(2)])];
    let on_gpu = |lines: &[&str]| {
        let w = program_of(lines, ops.clone(), steps.clone());
        let parts = found(&asked(&w, "L4"), "vectorise", Side::Gpu).breakdown_s_after.unwrap();
        parts.launch + parts.compute
    };
    let apart = on_gpu(&["row = a[i]", "d[k] = row @ w", "out[i] = np.argmin(d)"]);
    let chained = on_gpu(&["row = a[i]", "row = row @ w", "out[i] = np.argmin(row)"]);
    assert!(chained > 2.0 * apart, "{chained} {apart}: ten products one after the other, or one");
}

#[test]
fn rows_that_a_loop_goes_through_need_its_own_lines_in_sight() {
    let product = Op::Matmul { m: 4, n: 4, k: 4, batch: 1, bias: false };
    let mut ops = vec![
        entry(0, "numpy.ndarray.__getitem__", Op::View, Dtype::F64, 1),
        entry(1, "numpy.matmul", product, Dtype::F64, 200_000),
    ];
    ops[0].shapes = Some("[200000,4,4] ->".to_owned());
    let steps = vec![Step::Run(0), Step::Repeat(200_000, vec![Step::Run(1)])];
    let mut w = program_of(&["for m in a:", "total += (m @ m).trace()"], ops, steps);
    assert!(found(&asked(&w, "L4"), "vectorise", Side::Cpu).speedup_after.unwrap().p50 > 2.0);
    w.sites[1].function = "step".to_owned();
    assert!(!ids(&asked(&w, "L4")).contains(&"vectorise"), "`state = step(state, m)` would look the same");
}

#[test]
fn samples_given_to_a_network_one_by_one_are_a_batch() {
    let product = Op::Matmul { m: 1, n: 512, k: 256, batch: 1, bias: false };
    let mut ops = vec![
        entry(0, "aten.slice", Op::View, Dtype::F32, 20_000),
        entry(0, "aten.addmm", product, Dtype::F32, 20_000),
        entry(0, "aten.relu", add(512), Dtype::F32, 20_000),
    ];
    ops[0].shapes = Some("[20000,256] -> [1,256]".to_owned());
    ops.iter_mut().for_each(|e| e.written_bytes = 2_048);
    let program =
        |ops: &[Entry]| program_of(&["y = net(x[i:i + 1])"], ops.to_vec(), vec![Step::Repeat(20_000, each(3))]);
    for side in [Side::Gpu, Side::Cpu] {
        assert!(found(&asked(&program(&ops), "L4"), "vectorise", side).speedup_after.unwrap().p50 > 2.0);
    }
    ops[2].phase = Some(Phase::Optimizer);
    assert!(!ids(&asked(&program(&ops), "L4")).contains(&"vectorise"), "each sample changes the weights");
}

#[test]
fn an_inverse_that_is_only_multiplied_with() {
    let mut ops = vec![
        entry(
            0,
            "numpy.linalg.inv",
            Op::Factor { kind: Factor::Inverse, m: 800, n: 800, rhs: 0, batch: 1 },
            Dtype::F64,
            10,
        ),
        entry(0, "numpy.matmul", Op::Matmul { m: 800, n: 4, k: 800, batch: 1, bias: false }, Dtype::F64, 10),
    ];
    ops[0].cpu_ns = 1_000_000_000;
    let w = program_of(&["x = np.linalg.inv(a) @ b"], ops, vec![Step::Repeat(10, each(2))]);
    let a = found(&asked(&w, "L4"), "solve", Side::Cpu);
    // 2n³ against 2n³/3: a third, less what both share.
    let left = a.time_s_after.unwrap().p50;
    assert!((0.25..0.5).contains(&left), "{left}");
    assert!(a.patch.unwrap().contains("\n+x = np.linalg.solve(a, b)\n"));
}

#[test]
fn real_input_needs_half_the_transform() {
    let mut fft = entry(0, "numpy.fft.fft", Op::Fft { kind: Fft::C2c, n: 1 << 20, batch: 1 }, Dtype::C128, 20);
    (fft.read_bytes, fft.written_bytes, fft.cpu_ns) = (8 << 20, 16 << 20, 1_000_000_000);
    let w = program_of(&["s = np.fft.fft(x)"], vec![fft.clone()], vec![Step::Repeat(20, each(1))]);
    let a = found(&asked(&w, "L4"), "real-fft", Side::Cpu);
    assert_eq!(a.ready.as_deref(), Some("s = np.fft.rfft(x)"));
    assert!((0.35..0.75).contains(&a.time_s_after.unwrap().p50), "{a:?}");
    fft.read_bytes = 16 << 20;
    let complex = program_of(&["s = np.fft.fft(x)"], vec![fft], vec![Step::Repeat(20, each(1))]);
    assert!(!ids(&asked(&complex, "L4")).contains(&"real-fft"));
}

#[test]
fn double_precision_on_a_geforce() {
    let matmul = Op::Matmul { m: 4000, n: 4000, k: 4000, batch: 1, bias: false };
    let mut product = entry(0, "numpy.matmul", matmul, Dtype::F64, 20);
    product.cpu_ns = 40_000_000_000;
    let w = program_of(&["c = a @ b"], vec![product.clone()], vec![Step::Repeat(20, each(1))]);
    let a = found(&asked(&w, "RTX 3080"), "float32", Side::Gpu);
    assert!(a.why.ends_with("computes double precision at 1:64"), "{}", a.why);
    let e = asked(&w, "RTX 3080");
    let before = e.estimates[0].time_s.unwrap().p50;
    assert!(before / a.time_s_after.unwrap().p50 > 10.0);
    found(&e, "float32", Side::Cpu);
    let meant = program_of(&["c = a @ b.astype(np.float64)"], vec![product], vec![Step::Repeat(20, each(1))]);
    assert!(!ids(&asked(&meant, "RTX 3080")).contains(&"float32"), "asked for by name");
}

#[test]
fn factorisations_keep_their_digits() {
    let mut solve = entry(
        0,
        "numpy.linalg.solve",
        Op::Factor { kind: Factor::Solve, m: 2000, n: 2000, rhs: 1, batch: 1 },
        Dtype::F64,
        20,
    );
    solve.cpu_ns = 20_000_000_000;
    let w = program_of(&["x = np.linalg.solve(a, b)"], vec![solve], vec![Step::Repeat(20, each(1))]);
    assert!(!ids(&asked(&w, "RTX 3080")).contains(&"float32"));
}

/// Each step of a training takes its batch from a larger array.
fn take_batches(w: &mut Workload, batch: u64, width: u64) {
    let mut slice = entry(0, "aten.slice", Op::View, Dtype::F32, 1);
    slice.shapes = Some(format!("[{},{width}] -> [{batch},{width}]", 50 * batch));
    w.ops.push(slice);
    w.order.insert(0, Step::Run(w.ops.len() as u32 - 1));
}

fn training(batch: u64, width: u64, steps: u64) -> Workload {
    let phase = |mut e: Entry, phase| {
        e.phase = Some(phase);
        e.shapes = Some(format!("[{batch},{width}] -> [{batch},{width}]"));
        e
    };
    let matmul = Op::Matmul { m: batch, n: width, k: width, batch: 1, bias: false };
    let gradient = Op::Matmul { m: width, n: width, k: batch, batch: 1, bias: false };
    let ops = on_gpu(vec![
        phase(entry(0, "aten.addmm", matmul, Dtype::F32, steps), Phase::Forward),
        phase(entry(0, "aten.relu", add(batch * width), Dtype::F32, steps), Phase::Forward),
        phase(entry(1, "aten.mm", gradient, Dtype::F32, steps), Phase::Backward),
        phase(entry(1, "aten.mul", add(batch * width), Dtype::F32, steps), Phase::Backward),
        phase(entry(2, "aten.add_", add(width * width), Dtype::F32, steps), Phase::Optimizer),
        phase(entry(2, "aten.addcmul_", add(width * width), Dtype::F32, steps), Phase::Optimizer),
    ]);
    let mut w = program_of(
        &["loss = f(model(x), y)", "loss.backward()", "optimizer.step()"],
        ops,
        vec![Step::Repeat(steps, each(6))],
    );
    w.program.device_peak_bytes = 4 * (batch * width * 4 + width * width * 3);
    w
}

#[test]
fn a_small_training_loop() {
    let mut w = training(100, 32, 20_000);
    take_batches(&mut w, 100, 32);
    let e = asked(&w, "L4");
    let graphs = found(&e, "cuda-graphs", Side::Gpu);
    // Six launches of 6 to 10 µs and as many µs of Python in between, against 15 µs for the graph.
    let time = graphs.time_s_after.unwrap().p50;
    assert!((0.25..0.75).contains(&(time / 20_000.0 / 30e-6)), "{time}");
    let larger = found(&e, "larger-batch", Side::Gpu);
    let ratio = larger.time_s_after.unwrap().p50 / e.estimates[0].time_s.unwrap().p50;
    assert!((0.24..0.35).contains(&ratio), "a quarter of the launches: {ratio}");
    assert!(e.advice_together.iter().any(|t| t.ids.len() > 1));
}

#[test]
fn a_graph_does_not_load_the_batches() {
    let mut w = training(100, 32, 20_000);
    let mut load = entry(3, "aten.full", add(100 * 32), Dtype::F32, 20_000);
    (load.phase, load.gap_ns) = (Some(Phase::Data), 500_000_000);
    w.ops.push(load);
    w.sites.push(Site { line: 4, ..w.sites[0].clone() });
    w.order = vec![Step::Repeat(20_000, [6, 0, 1, 2, 3, 4, 5].map(Step::Run).to_vec())];
    w.program.wall_ns += 500_000_000;
    let after = found(&asked(&w, "L4"), "cuda-graphs", Side::Gpu).breakdown_s_after.unwrap();
    assert!(after.host > 0.45, "{after:?}");
}

#[test]
fn a_large_training_wants_matrix_units_and_more_gpus() {
    let e = asked(&training(8192, 8192, 20_000), "A100 SXM 80GB");
    let mixed = found(&e, "mixed-precision", Side::Gpu);
    assert!(mixed.speedup_after.unwrap().p50 > 3.0 * e.estimates[0].speedup.unwrap().p50);
    found(&e, "tf32", Side::Gpu);
    let two = found(&e, "multi-gpu", Side::Gpu).time_s_after.unwrap().p50 / e.estimates[0].time_s.unwrap().p50;
    assert!((0.5..0.75).contains(&two), "{two}");
    let old = asked(&training(8192, 8192, 20_000), "V100 SXM2 16GB");
    assert!(!ids(&old).contains(&"tf32"), "no TF32 before Ampere");
}

#[test]
fn tiny_arrays_in_a_long_loop() {
    let mut ops = vec![
        entry(0, "numpy.multiply", add(10), Dtype::F64, 5_000_000),
        entry(1, "numpy.add", add(10), Dtype::F64, 5_000_000),
    ];
    ops.iter_mut().for_each(|e| e.cpu_ns = e.count * 400);
    let w = program_of(&["s = s * 0.999", "s = s + d"], ops, vec![Step::Repeat(5_000_000, each(2))]);
    let a = found(&asked(&w, "L4"), "numba", Side::Cpu);
    // 4 s of calls and 10 s between them; 23 ns each remain.
    assert!((0.2..0.3).contains(&a.time_s_after.unwrap().p50), "{a:?}");
}

#[test]
fn a_smaller_gpu_for_a_program_that_waits_for_python() {
    let mut ops = vec![entry(0, "numpy.add", add(1_000_000), Dtype::F32, 1_000_000)];
    (ops[0].cpu_ns, ops[0].gap_ns) = (2_000_000_000_000, 100_000_000_000);
    let w = program_of(&["a = a + b"], ops, vec![Step::Repeat(1_000_000, each(1))]);
    let a = found(&asked(&w, "H100 SXM"), "cheaper-gpu", Side::Gpu);
    assert!(a.saves_usd.unwrap() > 0.01 && a.saves_s.is_none());
    // Taken at its word: the other GPU, asked about by name.
    let other = asked(&w, a.title.split(" instead of ").next().unwrap());
    assert_eq!(other.estimates[0].time_s, a.time_s_after);
}

#[test]
fn a_long_program_without_loops_is_not_searched_for_chains() {
    let ops: Vec<Entry> =
        (0..3).map(|i| entry(i, "numpy.add", add(1000 + u64::from(i)), Dtype::F32, 100_000)).collect();
    // No two rounds alike as far as the order tells: as many different chains as there are places.
    let steps = (0..300_000_u32).map(|i| Step::Run(i % 3)).collect();
    let e = asked(&program_of(&["a = a + b", "c = c + d", "e = e + f"], ops, steps), "L4");
    assert!(!ids(&e).contains(&"fuse"));
}

#[test]
fn nothing_ran() {
    assert!(ids(&asked(&program_of(&[], Vec::new(), Vec::new()), "L4")).is_empty());
}

/// A loop of steps that edits look for, and of steps that stop them.
fn looped() -> impl Strategy<Value = Workload> {
    let kind = prop::collection::vec(
        (0..13_usize, prop::sample::select(vec![10_u64, 20_000, 2_000_000]), any::<bool>()),
        1..9,
    );
    (kind, 1..3000_u64, 1..4_u64, any::<bool>()).prop_map(|(kinds, rounds, outer, written)| {
        let total = rounds * outer;
        let of = |(i, (kind, n, double)): (usize, (usize, u64, bool))| {
            let dtype = if double { Dtype::F64 } else { Dtype::F32 };
            let package = if written { "cupy" } else { "numpy" };
            let side = (n as f64).sqrt() as u64 + 1;
            let (name, op) = match kind {
                0..=3 => ("add", add(n)),
                4 => ("matmul", Op::Matmul { m: side, n: side, k: side, batch: 1, bias: false }),
                5 if written => ("asarray", copy(Direction::H2d, n)),
                6 if written => ("asnumpy", copy(Direction::D2h, n)),
                7 => ("ndarray.item", Op::HostRead { bytes: 4 }),
                8 => ("ndarray.__getitem__", Op::View),
                9 => ("linalg.inv", Op::Factor { kind: Factor::Inverse, m: side, n: side, rhs: 0, batch: 1 }),
                10 => ("fft.fft", Op::Fft { kind: Fft::C2c, n, batch: 1 }),
                11 => ("sum", Op::Reduce { n, out: 1, flop_per_element: 1.0 }),
                _ => ("mystery", Op::Opaque),
            };
            let mut e = entry(i as u32, &format!("{package}.{name}"), op, dtype, total);
            if kind == 8 {
                e.shapes = Some(format!("[{rounds},{n}] -> [{n}]"));
            }
            e.device = (written && kind != 3 && kind != 12).then(|| "cuda:0".to_owned());
            e
        };
        let ops: Vec<Entry> = kinds.into_iter().enumerate().map(of).collect();
        let body = Step::Repeat(rounds, each(ops.len() as u32));
        let lines = vec!["y = a + x[i]"; ops.len()];
        program_of(&lines, ops, vec![Step::Repeat(outer, vec![body])])
    })
}

/// Edits that do the same arithmetic in another way.
const SAME_ARITHMETIC: &[&str] = &[
    "keep-resident",
    "hoist-transfers",
    "fewer-syncs",
    "fuse",
    "cuda-graphs",
    "pinned-overlap",
    "multi-gpu",
    "float32",
    "numba",
    "vectorise",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn edits_leave_a_sound_program_that_does_the_same(w in looped()) {
        let options = Options { gpu: vec!["L4".to_owned()], ..Options::default() };
        let request = Request { options, ..Request::default() };
        program::ask(&w, &request, |question, choice| {
            let device = &choice.gpus[0].gpu.device;
            let before = outcome(question, device);
            let ctx = Context { question, device, before: &before, cpu: &choice.cpu.device, cpu_modelled: false };
            let draft = Draft::new(&w, question.port.policy());
            for edit in EDITS {
                for &side in edit.sides {
                    let Some(change) = (edit.apply)(&draft, &ctx, side) else { continue };
                    let ops = &change.draft.workload.ops;
                    let counts = order::counts(&change.draft.order, ops.len());
                    prop_assert!(counts.is_some_and(|c| c.iter().zip(ops).all(|(n, e)| *n == e.count && *n > 0)), "{}", edit.id);
                    // Quantising is work of its own.
                    if edit.id == "int8" {
                        continue;
                    }
                    let (was, is) = (w.flop().get(), change.draft.workload.flop().get());
                    if SAME_ARITHMETIC.contains(&edit.id) {
                        prop_assert!((is / was - 1.0).abs() < 1e-9 || was == is, "{}: {was} became {is}", edit.id);
                    } else {
                        prop_assert!(is <= was * (1.0 + 1e-9), "{}: {was} became {is}", edit.id);
                    }
                    prop_assert!(change.draft.workload.bytes().get() <= w.bytes().get() * (1.0 + 1e-9), "{}", edit.id);
                }
            }
            Ok(())
        }).unwrap()?;
    }

    #[test]
    fn no_advice_makes_it_slower(w in looped(), gpu in prop::sample::select(vec!["L4", "RTX 3080", "GTX 1050 Ti"])) {
        let e = asked(&w, gpu);
        for a in &e.advice {
            prop_assert!(IDS.contains(&a.id.as_str()));
            let Some(saves) = a.saves_s else { continue };
            let now = match a.side { Side::Gpu => e.estimates[0].time_s, Side::Cpu => e.baseline.time_s }.unwrap().p50;
            prop_assert!(saves.p50 >= super::MIN_SECONDS && a.time_s_after.unwrap().p50 < now);
            prop_assert!(saves.p10 <= saves.p50 && saves.p50 <= saves.p90);
            if let Some(parts) = a.breakdown_s_after {
                prop_assert!((parts.total() / a.time_s_after.unwrap().p50 - 1.0).abs() < 1e-9);
            }
        }
        for t in &e.advice_together {
            let single = e.advice.iter().filter(|a| a.side == t.side).filter_map(|a| a.time_s_after).map(|t| t.p50);
            prop_assert!(t.time_s_after.p50 <= single.fold(f64::INFINITY, f64::min) * (1.0 + 1e-9));
        }
    }

    #[test]
    fn any_sound_workload_can_be_advised_on(w in crate::workload::samples::workloads()) {
        let request = Request { options: Options { gpu: vec!["L4".to_owned()], ..Options::default() }, ..Request::default() };
        if let Ok(advice) = program::ask(&w, &request, |question, choice| {
            let device = &choice.gpus[0].gpu.device;
            let before = outcome(question, device);
            let draft = Draft::new(&w, question.port.policy());
            advise(&Context { question, device, before: &before, cpu: &choice.cpu.device, cpu_modelled: false }, &draft).0
        }) {
            prop_assert!(advice.iter().all(|a| a.time_s_after.is_some_and(|t| t.p50.is_finite())));
        }
    }
}
