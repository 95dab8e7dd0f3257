//! Edits of loading, threads, memory and quantisation by hand count.

use super::*;
use crate::estimate::Verdict;
use crate::report::words;
use crate::workload::op::Part;

fn loop_of_two(loading: u64, step: u64) -> Workload {
    let mut ops = on_gpu(vec![
        entry(0, "aten.stack", Op::Copy { n: 1000, strided: false, inputs: 8, run: 0 }, Dtype::F32, 1000),
        entry(1, "aten.mm", Op::Matmul { m: 64, n: 64, k: 64, batch: 1, bias: false }, Dtype::F32, 1000),
    ]);
    (ops[0].phase, ops[0].device) = (Some(Phase::Data), None);
    (ops[0].cpu_ns, ops[0].gap_ns) = (1000 * 100_000, 1000 * (loading - 100_000));
    (ops[1].phase, ops[1].gap_ns) = (Some(Phase::Forward), 1000 * step);
    program_of(&["for x in loader:", "y = model(x)"], ops, vec![Step::Repeat(1000, each(2))])
}

#[test]
fn workers_hide_loading_behind_the_step() {
    // 4 ms of loading, 2 ms of step; the three workers that four threads leave need 1.3 ms a batch.
    let e = asked(&loop_of_two(4_000_000, 2_000_000), "L4");
    let a = found(&e, "input-pipeline", Side::Gpu);
    assert!((a.saves_s.unwrap().p50 / (1000.0 * 3.8e-3) - 1.0).abs() < 0.02, "{a:?}");
    // 12 ms of loading behind 1 ms: of the 4 ms that three workers need, 3 are still seen.
    let e = asked(&loop_of_two(12_000_000, 1_000_000), "L4");
    let left = 12.0 - found(&e, "input-pipeline", Side::Gpu).saves_s.unwrap().p50;
    assert!((2.8..3.1).contains(&left), "{left}");
    // What the data set does with NumPy is loading, too.
    let mut with_numpy = loop_of_two(4_000_000, 2_000_000);
    with_numpy.ops[0].name = "numpy.concatenate".to_owned();
    assert!(ids(&asked(&with_numpy, "L4")).contains(&"input-pipeline"));
    let mut alone = loop_of_two(4_000_000, 2_000_000);
    alone.program.cpu_threads = 1;
    assert!(!ids(&asked(&alone, "L4")).contains(&"input-pipeline"), "no thread for a worker");
}

#[test]
fn blas_that_may_use_one_core_of_four() {
    let mut product =
        entry(0, "numpy.matmul", Op::Matmul { m: 1000, n: 1000, k: 1000, batch: 1, bias: false }, Dtype::F64, 10);
    product.cpu_ns = 1_000_000_000;
    let mut w = program_of(&["c = a @ b"], vec![product], vec![Step::Repeat(10, each(1))]);
    (w.program.cpu_threads, w.program.blas_threads) = (8, Some(1));
    // Eight logical CPUs are four cores; three more of 80 % each: 3.4 times as fast.
    let a = found(&asked(&w, "L4"), "blas-threads", Side::Cpu);
    assert!((a.saves_s.unwrap().p50 - (1.0 - 1.0 / 3.4)).abs() < 0.01, "{a:?}");
    w.program.cpu_cores = Some(8);
    let a = found(&asked(&w, "L4"), "blas-threads", Side::Cpu);
    assert!((a.saves_s.unwrap().p50 - (1.0 - 1.0 / 6.6)).abs() < 0.01, "eight cores: {a:?}");
    w.program.cpu_cores = Some(4);
    for threads in [None, Some(0), Some(4), Some(64)] {
        w.program.blas_threads = threads;
        assert!(!ids(&asked(&w, "L4")).contains(&"blas-threads"), "{threads:?}");
    }
}

#[test]
fn a_line_of_large_arrays_in_one_pass() {
    let step = |name: &str, reads: u64, cpu_ns: u64| {
        let mut step = entry(0, name, add(10_000_000), Dtype::F64, 20);
        (step.read_bytes, step.written_bytes, step.cpu_ns, step.gap_ns) =
            (reads * 80_000_000, 80_000_000, 20 * cpu_ns, 0);
        step
    };
    let program = |line: &str, cores: u32| {
        let ops = vec![
            step("numpy.multiply", 2, 25_000_000),
            step("numpy.multiply", 1, 20_000_000),
            step("numpy.add", 2, 25_000_000),
        ];
        let mut w = program_of(&[line], ops, vec![Step::Repeat(20, each(3))]);
        w.program.cpu_cores = Some(cores);
        w
    };
    let a = found(&asked(&program("y = a * b + 2.0 * c", 1), "L4"), "numexpr", Side::Cpu);
    // 13.5 ms of steps; 320 MB through memory at 24 GB/s and 80 MB of new pages at 12 GB/s, 0.7 of which are seen.
    let each_run = 20e-6 + 3.0 * 1e7 * 0.45e-9 + 0.7 * (320e6 / 24e9 + 80e6 / 12e9);
    assert!((a.saves_s.unwrap().p50 / (20.0 * (0.070 - each_run)) - 1.0).abs() < 0.01, "{a:?}");
    assert!(a.patch.unwrap().ends_with("\n+y = numexpr.evaluate(\"a * b + 2.0 * c\")\n"));
    assert!(a.title.starts_with("numexpr for the 3 element-wise steps of x.py:1"), "{}", a.title);
    let more = found(&asked(&program("y = a * b + 2.0 * c", 4), "L4"), "numexpr", Side::Cpu);
    assert!(more.saves_s.unwrap().p50 > a.saves_s.unwrap().p50 * 1.2, "{more:?}");
    // Slices are no part of its language: the reader gets the function, and no diff.
    let sliced = found(&asked(&program("y = a[1:] * b + 2.0 * c", 4), "L4"), "numexpr", Side::Cpu);
    assert!(sliced.patch.is_none() && sliced.ready.unwrap().starts_with("numexpr.evaluate("));
    // Steps on lines of their own, small arrays, and what numexpr does not have are left alone.
    let mut apart = program("y = a * b", 4);
    apart.sites.push(Site { line: 2, text: "y = y + c".to_owned(), ..apart.sites[0].clone() });
    apart.sites.push(Site { line: 3, text: "y = y - c".to_owned(), ..apart.sites[0].clone() });
    (apart.ops[1].site, apart.ops[2].site) = (1, 2);
    let mut unknown = program("y = np.cbrt(a) * b + 2.0 * c", 4);
    unknown.ops.iter_mut().for_each(|op| op.name = "numpy.cbrt".to_owned());
    let mut small = program("y = a * b + 2.0 * c", 4);
    small.ops.iter_mut().for_each(|op| op.op = add(99_999));
    for other in [apart, unknown, small] {
        assert!(!ids(&asked(&other, "L4")).contains(&"numexpr"));
    }
}

#[test]
fn a_large_array_in_place() {
    let mut scale = entry(0, "numpy.multiply", add(20_000_000), Dtype::F64, 20);
    (scale.read_bytes, scale.written_bytes, scale.cpu_ns) = (160_000_000, 160_000_000, 1_000_000_000);
    let w = program_of(&["x = x * 0.5"], vec![scale], vec![Step::Repeat(20, each(1))]);
    let a = found(&asked(&w, "L4"), "in-place", Side::Cpu);
    assert!(a.patch.unwrap().contains("\n+x *= 0.5\n"));
    // 160 MB of pages cleared twenty times, at 12 GB/s.
    assert!((a.saves_s.unwrap().p50 - 20.0 * 160e6 / 12e9).abs() < 0.01);
    let mut busy = w.clone();
    busy.ops[0].cpu_ns *= 4;
    busy.program.wall_ns *= 4;
    busy.program.stolen_ns = Some(busy.program.wall_ns / 4 * 3);
    let b = found(&asked(&busy, "L4"), "in-place", Side::Cpu);
    assert!(
        (b.saves_s.unwrap().p50 / a.saves_s.unwrap().p50 - 1.0).abs() < 0.05,
        "what other programs took is no pages'"
    );
    let mut small = w.clone();
    small.ops[0].written_bytes = 1_000_000;
    assert!(!ids(&asked(&small, "L4")).contains(&"in-place"), "the allocator has memory of that size");
}

#[test]
fn inference_in_eight_bits_where_the_gpu_has_them() {
    let mut large = training(4096, 4096, 200);
    large.ops.retain(|e| e.phase == Some(Phase::Forward));
    large.order = vec![Step::Repeat(200, each(2))];
    let e = asked(&large, "L4");
    let (int8, mixed) = (found(&e, "int8", Side::Gpu), found(&e, "mixed-precision", Side::Gpu));
    assert!(int8.time_s_after.unwrap().p50 < mixed.time_s_after.unwrap().p50);
    assert!(!ids(&asked(&training(4096, 4096, 200), "L4")).contains(&"int8"), "it trains");
    assert!(!ids(&asked(&large, "P100 PCIe 16GB")).contains(&"int8"), "no units for it");
    // On an H100 it was 8 % slower than bfloat16 as eager code: cuBLAS's integer products are no faster there.
    large.ops.iter_mut().for_each(|e| e.dtype = Dtype::Bf16);
    let gain = |gpu| asked(&large, gpu).advice.iter().find(|a| a.id == "int8").map(|a| a.speedup_after.unwrap().p50);
    assert!(gain("H100 SXM5 80GB").is_none_or(|after| after < 1.3 * now(&asked(&large, "H100 SXM5 80GB"))));
}

fn now(e: &Estimate) -> f64 {
    e.estimates[0].speedup.unwrap().p50
}

#[test]
fn single_precision_is_no_faster_than_cupy_takes_elements() {
    let big =
        |n| on_gpu(vec![Entry { name: "cupy.add".to_owned(), ..entry(0, "cupy.add", add(n), Dtype::F64, 100_000) }]);
    let w = program_of(&["y = a + b"], big(1 << 25), vec![Step::Repeat(100_000, each(1))]);
    // 33.5 million elements: 277 µs of memory in double precision, 161 µs of elements in single; memory would say 138.
    let after = found(&asked(&w, "H200 SXM 141GB"), "float32", Side::Gpu).breakdown_s_after.unwrap();
    assert!((after.memory / 1e5 - 161e-6).abs() < 8e-6, "{after:?}");
}

#[test]
fn a_script_that_compiles_is_told_both_times_and_not_told_to() {
    let chain = |i| entry(i, "aten.mul", add(1 << 20), Dtype::F32, 5000);
    let mut w =
        program_of(&["y = a * b * c"], on_gpu(vec![chain(0), chain(0), chain(0)]), vec![Step::Repeat(5000, each(3))]);
    found(&asked(&w, "L4"), "fuse", Side::Gpu);
    w.unseen.push(Unseen { reason: "torch-compile".to_owned(), text: "as eager code".to_owned(), ns: 0, count: 1 });
    let e = asked(&w, "L4");
    assert!(!ids(&e).contains(&"fuse"));
    let note = e.notes.iter().find(|note| note.code == "torch-compile").expect("both times");
    assert!(note.text.contains("1 kernel in place of several"), "{}", note.text);
    let l4 = &e.estimates[0];
    assert!(l4.compiled.expect("a second time").time_s.p50 < 0.8 * l4.time_s.unwrap().p50);
}

#[test]
fn a_script_that_replays_graphs_hands_each_over_once_and_is_not_told_to() {
    let single = training(100, 32, 20_000);
    let before = asked(&single, "L4");
    let advised = found(&before, "cuda-graphs", Side::Gpu).time_s_after.unwrap().p50;
    let mut w = single.clone();
    let launch = Entry { op: Op::View, graph: Some(InGraph::Launch), cpu_ns: 0, gap_ns: 0, ..w.ops[0].clone() };
    let name = "torch.cuda.CUDAGraph.replay".to_owned();
    w.ops.iter_mut().for_each(|node| node.graph = Some(InGraph::Node));
    let nodes = w.ops.len() as u32;
    w.ops.push(Entry { name, count: 20_000, ..launch });
    w.order = vec![Step::Repeat(20_000, [vec![Step::Run(nodes)], each(nodes)].concat())];
    let e = asked(&w, "L4");
    assert!(!ids(&e).contains(&"cuda-graphs"));
    assert_eq!((before.workload.launches, e.workload.launches), (20_000 * u64::from(nodes), 20_000));
    let replayed = e.estimates[0].time_s.unwrap().p50;
    assert!((replayed / advised - 1.0).abs() < 1e-9, "{replayed} {advised}");
    // Only recorded, nothing runs on the device.
    w.ops.iter_mut().filter(|e| e.graph == Some(InGraph::Node)).for_each(|e| e.graph = Some(InGraph::Capture));
    let parts = asked(&w, "L4").estimates[0].breakdown_s.unwrap();
    assert_eq!((parts.compute, parts.memory), (0.0, 0.0));
}

#[test]
fn a_larger_batch_loads_as_many_samples() {
    let mut w = training(100, 32, 20_000);
    let mut load =
        entry(0, "aten.stack", Op::Copy { n: 3200, strided: false, inputs: 100, run: 0 }, Dtype::F32, 20_000);
    (load.phase, load.gap_ns) = (Some(Phase::Data), 20_000 * 500_000);
    w.ops.push(load);
    w.order = vec![Step::Repeat(20_000, each(7))];
    w.program.wall_ns += 20_000 * 550_000;
    let e = asked(&w, "L4");
    // 11 s of loading stay whatever the batch; a quarter of them would be less than the whole program takes then.
    assert!(found(&e, "input-pipeline", Side::Gpu).saves_s.unwrap().p50 > 5.0);
    let larger = e.advice.iter().find(|a| a.id == "larger-batch").and_then(|a| a.time_s_after);
    assert!(larger.is_none_or(|time| time.p50 > 10.0), "{larger:?}");
}

#[test]
fn who_goes_back_by_a_complex_transform_needs_the_whole_spectrum() {
    let transform = |name: &str, read: u64| {
        let mut fft = entry(0, name, Op::Fft { kind: Fft::C2c, n: 1 << 20, batch: 1 }, Dtype::C128, 20);
        (fft.read_bytes, fft.written_bytes, fft.cpu_ns) = (read, 16 << 20, 1_000_000_000);
        fft
    };
    let back = transform("numpy.fft.ifft", 16 << 20);
    let w = program_of(
        &["y = np.fft.ifft(np.fft.fft(x) * h)"],
        vec![transform("numpy.fft.fft", 8 << 20), back],
        vec![Step::Repeat(20, each(2))],
    );
    assert!(!ids(&asked(&w, "L4")).contains(&"real-fft"));
}

#[test]
fn numba_does_not_compile_what_lies_between_the_calls() {
    let mut ops = vec![entry(0, "numpy.multiply", add(10), Dtype::F64, 1_000_000)];
    (ops[0].cpu_ns, ops[0].gap_ns) = (400_000_000, 10_000_000_000);
    let w = program_of(&["seen[str(k)] = s * 0.999"], ops, vec![Step::Repeat(1_000_000, each(1))]);
    // 10 µs a round of dictionaries and text: 1.5 of them belong to the call.
    let left = asked(&w, "L4").advice.iter().find(|a| a.id == "numba").and_then(|a| a.time_s_after);
    assert!(left.is_none_or(|time| time.p50 > 8.0), "{left:?}");
}

#[test]
fn elements_in_a_loop_are_one_addition() {
    let n = 200_000;
    let view = || Entry {
        shapes: Some(format!("[{n}] -> []")),
        ..entry(0, "cupy.ndarray.__getitem__", Op::View, Dtype::F32, 2 * n)
    };
    let set = || Entry {
        shapes: Some(format!("[{n}] [] -> []")),
        ..entry(0, "cupy.ndarray.__setitem__", Op::Copy { n: 1, strided: true, inputs: 1, run: 0 }, Dtype::F32, n)
    };
    let ops = || {
        let mut ops = on_gpu(vec![view(), entry(0, "cupy.add", add(1), Dtype::F32, n), set()]);
        ops.iter_mut().for_each(|e| e.cpu_ns = 500 * e.count);
        ops
    };
    let steps = || vec![Step::Repeat(n, [0, 0, 1, 2].map(Step::Run).to_vec())];
    let e = asked(&program_of(&["c[i] = a[i] + b[i]"], ops(), steps()), "L4");
    let a = found(&e, "vectorise", Side::Gpu);
    // 400 000 launches of some microseconds become two.
    let (before, after) = (e.estimates[0].time_s.unwrap().p50, a.time_s_after.unwrap().p50);
    assert!(before > 1.0 && after < 0.3 * before, "{before} {after}");
    for line in ["c[i] = c[i - 1] + b[i]", "c[i] = state + b[i]"] {
        assert!(!ids(&asked(&program_of(&[line], ops(), steps()), "L4")).contains(&"vectorise"), "{line}");
    }
    // In part: another loop, or one that ends early.
    let mut part = ops();
    part.iter_mut().for_each(|e| e.set_count(e.count / 2));
    let part =
        program_of(&["c[i] = a[i] + b[i]"], part, vec![Step::Repeat(n / 2, [0, 0, 1, 2].map(Step::Run).to_vec())]);
    assert!(!ids(&asked(&part, "L4")).contains(&"vectorise"));
}

#[test]
fn elements_that_branch_are_one_where() {
    let n: u64 = 3_000_000;
    let of_one = |site, name: &str, op, count: u64, shapes: &str| {
        let mut e = entry(site, name, op, Dtype::F64, count);
        (e.cpu_ns, e.gap_ns, e.shapes) = (40 * count, 200 * count, Some(shapes.to_owned()));
        e
    };
    let set = || Op::Copy { n: 1, strided: true, inputs: 0, run: 0 };
    let ops = vec![
        of_one(0, "numpy.ndarray.item", Op::HostRead { bytes: 8 }, n, "[] ->"),
        of_one(1, "numpy.ndarray.item", Op::HostRead { bytes: 8 }, n / 2, "[] ->"),
        of_one(1, "numpy.ndarray.__setitem__", set(), n / 2, "[3000000] -> []"),
        of_one(2, "numpy.ndarray.__setitem__", set(), n / 2, "[3000000] -> []"),
    ];
    let order = [[0, 1, 2].map(Step::Run).to_vec(), [0, 3].map(Step::Run).to_vec()];
    let order = order.map(|body| Step::Repeat(n / 2, body)).to_vec();
    let mut w = program_of(&["if x[i] > 0.5:", "out[i] = x[i] * 2", "out[i] = 0"], ops, order);
    w.sites[2].line = 4; // below `else:`
    let a = found(&asked(&w, "L4"), "vectorise", Side::Cpu);
    // 2.16 s of single numbers become three passes over 24 MB.
    assert!(a.time_s_after.unwrap().p50 < 0.2, "{a:?}");
    assert!(a.ready.unwrap().contains("np.where"));
    // A line between that nobody saw.
    w.sites[2].line = 9;
    assert!(!ids(&asked(&w, "L4")).contains(&"vectorise"));
}

#[test]
fn a_sample_copied_each_round_is_copied_with_the_others() {
    let mut ops = vec![
        entry(0, "aten.select", Op::View, Dtype::F32, 20_000),
        entry(0, "torch.Tensor.to", copy(Direction::H2d, 1024), Dtype::F32, 20_000),
        entry(1, "aten.relu", add(256), Dtype::F32, 20_000),
    ];
    ops[0].shapes = Some("[20000,256] -> [256]".to_owned());
    ops[2].written_bytes = 1024;
    let program = |lines: &[&str]| program_of(lines, ops.clone(), vec![Step::Repeat(20_000, each(3))]);
    let a = found(&asked(&program(&["x = data[i].to(dev)", "y = net(x)"]), "L4"), "vectorise", Side::Gpu);
    assert!(a.title.starts_with("One call on all 20 000 rows"), "{}", a.title);
    assert!(!ids(&asked(&program(&["x = (data[i] + y).to(dev)", "y = net(x)"]), "L4")).contains(&"vectorise"));
}

#[test]
fn samples_of_a_list_are_copied_together() {
    let mut ops = vec![
        entry(0, "aten.randn", add(256), Dtype::F32, 20_000),
        entry(1, "torch.Tensor.to", copy(Direction::H2d, 1024), Dtype::F32, 20_000),
        entry(1, "aten.relu", add(256), Dtype::F32, 20_000),
    ];
    ops[1..].iter_mut().for_each(|e| e.device = Some("cuda:0".to_owned()));
    ops[2].written_bytes = 1024;
    let made = |by: u32, count| Buffer {
        producer: Some(by),
        bytes: 1024,
        count,
        peak_live: count,
        first_use: 0,
        last_use: 60_000,
        host_touches: 0,
        role: None,
        pinned: false,
    };
    let program = |line: &str, buffer| {
        let order = vec![Step::Repeat(20_000, each(1)), Step::Repeat(20_000, [1, 2].map(Step::Run).to_vec())];
        Workload { buffers: vec![buffer], ..program_of(&["s = [randn() for _ in n]", line], ops.clone(), order) }
    };
    let line = "out.append(net(s.to(dev)))";
    let a = found(&asked(&program(line, made(0, 20_000)), "L4"), "vectorise", Side::Gpu);
    assert!(a.title.starts_with("One call on all 20 000 rows"), "{}", a.title);
    // Watched in parts.
    let mut parts = program(line, made(0, 20_000));
    parts.order[1] = Step::Repeat(12_000, [1, 2].map(Step::Run).to_vec());
    parts.order.push(Step::Repeat(8_000, [1, 2].map(Step::Run).to_vec()));
    let a = found(&asked(&parts, "L4"), "vectorise", Side::Gpu);
    assert!(a.title.starts_with("One call on all 20 000 rows"), "{}", a.title);
    // One array again and again; what a round makes of what came before.
    assert!(!ids(&asked(&program(line, made(0, 1)), "L4")).contains(&"vectorise"));
    let handed_on = "out.append(net(s.to(dev), out[-1]))";
    assert!(!ids(&asked(&program(handed_on, made(0, 20_000)), "L4")).contains(&"vectorise"));
}

#[test]
fn all_pairs_are_one_call() {
    let pairs: u64 = 400 * 400;
    let mut ops = vec![
        entry(0, "numpy.ndarray.__getitem__", Op::View, Dtype::F64, 2 * pairs),
        entry(0, "numpy.subtract", add(3), Dtype::F64, pairs),
        entry(0, "numpy.sum", Op::Reduce { n: 3, out: 1, flop_per_element: 1.0 }, Dtype::F64, pairs),
        entry(0, "numpy.ndarray.__setitem__", Op::Copy { n: 1, strided: true, inputs: 0, run: 0 }, Dtype::F64, pairs),
    ];
    ops[0].shapes = Some("[400,3] -> [3]".to_owned());
    ops[1].shapes = Some("[3] [3] -> [3]".to_owned());
    ops[3].shapes = Some("[400,400] -> []".to_owned());
    let program = |line: &str, rounds: u64| {
        let mut ops = ops.clone();
        ops.iter_mut().for_each(|e| e.set_count(e.count / pairs * rounds));
        let body = [0, 0, 1, 2, 3].map(Step::Run).to_vec();
        program_of(&[line], ops, vec![Step::Repeat(rounds, body)])
    };
    let line = "d[i, j] = np.sum(p[i] - p[j])";
    let a = found(&asked(&program(line, pairs), "L4"), "vectorise", Side::Cpu);
    // 32 s of calls become two passes over 480 000 numbers.
    assert!(a.time_s_after.unwrap().p50 < 0.1, "{a:?}");
    // Half of the pairs; a name that plain Python may change; a function that nobody saw; the element before.
    for (line, rounds) in [
        (line, pairs / 2),
        ("d[i, j] = np.sum(p[i] - p[j]) + last", pairs),
        ("d[i, j] = f(np.sum(p[i] - p[j]))", pairs),
        ("d[i, j] = d[i, j - 1] + np.sum(p[i] - p[j])", pairs),
    ] {
        assert!(!ids(&asked(&program(line, rounds), "L4")).contains(&"vectorise"), "{line}");
    }
}

#[test]
fn a_function_called_for_each_number_is_an_expression_on_arrays() {
    let n: u64 = 2_000_000;
    let object = |name: &str, gap_ns: u64| {
        let mut e = entry(0, name, Op::HostOnly, Dtype::Other, 1);
        (e.cpu_ns, e.gap_ns, e.read_bytes, e.written_bytes) = (40 * n, gap_ns * n, 8 * n, 8 * n);
        e.shapes = Some("[2000000] -> [2000000]".to_owned());
        e
    };
    let program = |via: &str, name: &str, gap_ns: u64, bytes: u64| {
        let mut ops = vec![object(name, 0), object(name, gap_ns)];
        ops.iter_mut().for_each(|e| e.read_bytes = bytes * n);
        let mut w = program_of(&["y = f(x)"], ops, each(2));
        w.sites[0].via = Some(via.to_owned());
        w
    };
    for (via, name) in [
        ("numpy.vectorize.__call__", "numpy.asanyarray"),
        ("numpy.__call__", "numpy.asanyarray"),
        ("pandas.core.series.Series.apply", "numpy.ndarray.astype"),
        ("pandas.core.series.apply", "numpy.ndarray.astype"),
    ] {
        let a = found(&asked(&program(via, name, 200, 8), "L4"), "vectorise", Side::Cpu);
        // 560 ms of calls and objects become four passes over 16 MB.
        assert!(a.time_s_after.unwrap().p50 < 0.06, "{a:?}");
        assert_eq!(a.site.as_deref(), Some("x.py:1"));
        // Text; a function of 5 µs, of which 3.5 stay.
        assert!(!ids(&asked(&program(via, name, 200, 80), "L4")).contains(&"vectorise"));
        let slow = found(&asked(&program(via, name, 5_000, 8), "L4"), "vectorise", Side::Cpu);
        assert!(slow.time_s_after.unwrap().p50 > 7.0, "{slow:?}");
    }
    assert!(
        !ids(&asked(&program("pandas.core.frame.DataFrame.sum", "numpy.ndarray.astype", 200, 8), "L4"))
            .contains(&"vectorise")
    );
}

#[test]
fn who_acts_on_what_a_network_says_has_no_larger_batch() {
    let mut w = training(100, 32, 20_000);
    take_batches(&mut w, 100, 32);
    assert!(ids(&asked(&w, "L4")).contains(&"larger-batch"));
    let one = Op::Matmul { m: 1, n: 64, k: 64, batch: 1, bias: true };
    let mut asks = entry(0, "aten.addmm", one, Dtype::F32, 20_000);
    (asks.device, asks.phase) = (Some("cuda:0".to_owned()), Some(Phase::Forward));
    w.ops.push(asks);
    let last = w.ops.len() as u32 - 1;
    w.order = vec![w.order[0].clone(), Step::Repeat(20_000, [last, 0, 1, 2, 3, 4, 5].map(Step::Run).to_vec())];
    assert!(!ids(&asked(&w, "L4")).contains(&"larger-batch"));
}

#[test]
fn values_that_are_all_kept_are_read_after_the_loop() {
    let ready = |line: &str| {
        let ops = on_gpu(vec![
            entry(0, "cupy.multiply", add(10_000), Dtype::F32, 20_000),
            entry(0, "cupy.ndarray.item", Op::HostRead { bytes: 4 }, Dtype::F32, 20_000),
        ]);
        let w = program_of(&[line], ops, vec![Step::Repeat(20_000, each(2))]);
        found(&asked(&w, "L4"), "fewer-syncs", Side::Gpu).ready.unwrap()
    };
    assert!(ready("losses.append((x * y).item())").contains("after the loop"));
    assert!(ready("print((x * y).item())").contains("% 10 == 9"));
}

#[test]
fn a_gain_over_calls_that_were_held_up_is_less_sure() {
    let rows = |cpu_ns: u64| {
        let mut ops = vec![
            entry(0, "numpy.ndarray.__getitem__", Op::View, Dtype::F64, 5000),
            entry(0, "numpy.matmul", Op::Matmul { m: 1, n: 64, k: 64, batch: 1, bias: false }, Dtype::F64, 5000),
        ];
        ops[0].shapes = Some("[5000,64] -> [64]".to_owned());
        ops.iter_mut().for_each(|e| (e.cpu_ns, e.written_bytes) = (5000 * cpu_ns, 512));
        let e = asked(&program_of(&["y = a[i] @ w"], ops, vec![Step::Repeat(5000, each(2))]), "L4");
        let gain = found(&e, "vectorise", Side::Cpu).speedup_after.unwrap();
        gain.p50 / gain.p10
    };
    // A product of that size takes some microseconds: half a millisecond is somebody else's.
    let (quiet, held) = (rows(20_000), rows(500_000));
    assert!(held > 3.0 * quiet, "{quiet} {held}");
}

#[test]
fn numbers_taken_out_one_by_one_are_compiled() {
    let rounds = 20_000_000;
    let read = |gap_ns: u64| {
        let mut read = entry(0, "numpy.ndarray.item", Op::HostRead { bytes: 8 }, Dtype::F64, rounds);
        (read.cpu_ns, read.gap_ns, read.read_bytes) = (30 * rounds, gap_ns * rounds, 8);
        program_of(&["state = 0.9 * state + x[i]"], vec![read], vec![Step::Repeat(rounds, each(1))])
    };
    let a = found(&asked(&read(300), "L4"), "numba", Side::Cpu);
    assert!(a.why.contains("take single numbers out of arrays"), "{}", a.why);
    // 6.6 s of Python become 6 ms, beside the 10 ms of everything else; start-up, which compiling is, is left out.
    let left = a.time_s_after.unwrap().p50;
    assert!((left - 0.016).abs() < 1e-3, "{left}");
    // 20 µs a round are other code, which may be anything.
    let left = asked(&read(20_000), "L4").advice.iter().find(|a| a.id == "numba").and_then(|a| a.time_s_after);
    assert!(left.is_none_or(|time| time.p50 > 0.9 * 400.0), "{left:?}");
}

#[test]
fn a_script_that_names_a_device_is_told_what_would_help_there_even_where_the_cpu_wins() {
    let mut w = training(100, 32, 20_000);
    for e in &mut w.ops {
        (e.device, e.stream, e.cpu_ns) = (None, None, e.count * 500);
    }
    w.program.wall_ns = 2_000_000_000;
    let e = asked(&w, "L4");
    assert_eq!((e.estimates[0].verdict, ids(&e).contains(&"cuda-graphs")), (Verdict::Cpu, false));
    w.ops.push(entry(0, "torch.Tensor.to", copy(Direction::H2d, 4000), Dtype::F32, 1));
    w.order.insert(0, Step::Run(6));
    let e = asked(&w, "L4");
    assert_eq!(
        (e.estimates[0].verdict, ids(&e).contains(&"cuda-graphs")),
        (Verdict::Cpu, true),
        "{:?}",
        e.estimates[0]
    );
}

#[test]
fn what_a_library_does_inside_numba_does_not_compile() {
    let mut row = entry(0, "numpy.multiply", add(2), Dtype::F64, 1_000_000);
    (row.cpu_ns, row.gap_ns) = (1_000_000_000, 1_000_000_000);
    let mut w = program_of(&["for row in frame.iterrows():"], vec![row], vec![Step::Repeat(1_000_000, each(1))]);
    assert!(ids(&asked(&w, "L4")).contains(&"numba"));
    w.sites[0].via = Some("pandas.core.frame.DataFrame.iterrows".to_owned());
    assert!(!ids(&asked(&w, "L4")).contains(&"numba"));
}

#[test]
fn rows_of_a_dataframe_are_columns() {
    let rows = 200_000;
    let program = |lines: [&str; 2], vias: [&str; 2], functions: [&str; 2]| {
        let mut head =
            entry(0, "numpy.ndarray.copy", Op::Copy { n: 2, strided: true, inputs: 1, run: 0 }, Dtype::F64, rows);
        let mut number = entry(1, "numpy.ndarray.item", Op::HostRead { bytes: 8 }, Dtype::F64, 2 * rows);
        (head.cpu_ns, head.gap_ns, number.cpu_ns, number.gap_ns) =
            (300 * rows, 1_000 * rows, 100 * rows, 14_000 * rows);
        let round = vec![Step::Run(0), Step::Run(1), Step::Run(1)];
        let mut w = program_of(&lines, vec![head, number], vec![Step::Repeat(rows, round)]);
        for (site, (via, function)) in w.sites.iter_mut().zip(vias.into_iter().zip(functions)) {
            (site.via, site.function) = (Some(via.to_owned()), function.to_owned());
        }
        w
    };
    let looped = ["pandas.core.frame.DataFrame.iterrows", "pandas.core.series.Series.__getitem__"];
    let whole = "total += row['a'] * row['b']";
    let e = asked(&program(["for i, row in df.iterrows():", whole], looped, ["<module>"; 2]), "L4");
    let a = found(&e, "columns", Side::Cpu);
    // All 3 s are pandas': two columns of 0.1 ms and 4 ns a number are left, beside 10 ms of everything else.
    let left = a.time_s_after.unwrap().p50;
    assert!((left - 0.0117).abs() < 1e-3, "{left}");
    // The numbers are the host's: nobody waits for a GPU.
    assert_eq!(e.estimates[0].breakdown_s.unwrap().sync, 0.0);
    assert!(!ids(&e).contains(&"vectorise"), "one of the two is enough");
    for line in ["total += row['a'] * rate", "last = row['a'] - last"] {
        let e = asked(&program(["for i, row in df.iterrows():", line], looped, ["<module>"; 2]), "L4");
        assert!(!ids(&e).contains(&"columns"), "{line}");
    }
    // A function that is called for each row may use what it likes.
    let applied = ["pandas.core.frame.DataFrame.apply", "pandas.core.series.Series.__getitem__"];
    let line = "return row['a'] * rate if row['b'] > 0 else 0";
    let a = asked(&program(["df['c'] = df.apply(f, axis=1)", line], applied, ["<module>", "f"]), "L4");
    assert!(found(&a, "columns", Side::Cpu).ready.unwrap().contains("np.where"));
    // Series on their own are no rows.
    let alone = ["pandas.core.series.Series.__init__", "pandas.core.series.Series.__getitem__"];
    let e = asked(&program(["s = pd.Series(x)", "y = s[i] * s[j]"], alone, ["<module>"; 2]), "L4");
    assert!(!ids(&e).contains(&"columns"));
}

#[test]
fn numbers_that_become_float32_at_once_are_in_single_precision() {
    let mut made = entry(0, "numpy.random.RandomState.rand", add(20_000_000), Dtype::F64, 10);
    made.cpu_ns = 2_000_000_000;
    let mut w = program_of(&["a = np.random.rand(n)"], vec![made], vec![Step::Repeat(10, each(1))]);
    assert!(ids(&asked(&w, "L4")).contains(&"float32"));
    w.sites[0].text = "a = np.random.rand(n).astype(np.float32)".to_owned();
    assert!(!ids(&asked(&w, "L4")).contains(&"float32"));
}

#[test]
fn a_step_on_all_of_the_data_has_no_larger_batch() {
    let mut w = training(100, 32, 20_000);
    let larger = |w: &Workload| ids(&asked(w, "L4")).contains(&"larger-batch");
    assert!(!larger(&w), "each step takes all there is");
    take_batches(&mut w, 100, 32);
    assert!(larger(&w), "each step takes some of it");
}

#[test]
fn what_a_library_asks_for_on_its_way_is_not_asked_for_less_often() {
    let advised = |via: Option<&str>| {
        let ops = on_gpu(vec![
            entry(0, "aten.mul", add(10_000), Dtype::F32, 20_000),
            entry(0, "aten.item", Op::HostRead { bytes: 4 }, Dtype::F32, 20_000),
        ]);
        let mut w = program_of(&["opt.step(closure)"], ops, vec![Step::Repeat(20_000, each(2))]);
        w.sites[0].via = via.map(str::to_owned);
        ids(&asked(&w, "L4")).contains(&"fewer-syncs")
    };
    assert!(advised(None) && advised(Some("torch.Tensor.__format__")));
    assert!(!advised(Some("torch.optim.lbfgs.LBFGS.step")) && !advised(Some("scipy.sparse.linalg.iterative.cg")));
}

#[test]
fn python_before_a_value_that_is_read_less_often_stays() {
    let mut ops = on_gpu(vec![
        entry(0, "cupy.add", add(1000), Dtype::F32, 10_000),
        entry(0, "cupy.ndarray.item", Op::HostRead { bytes: 4 }, Dtype::F32, 10_000),
    ]);
    ops[1].gap_ns = 10_000 * 200_000;
    let w = program_of(&["energy.append(work(a).item())"], ops, vec![Step::Repeat(10_000, each(2))]);
    let left = asked(&w, "L4").advice.iter().find(|a| a.id == "fewer-syncs").and_then(|a| a.time_s_after);
    assert!(left.is_none_or(|time| time.p50 > 2.0), "{left:?}");
}

#[test]
fn text_made_of_rows_numba_does_not_compile() {
    let advised = |bytes: u64| {
        let mut ops = vec![
            entry(0, "numpy.divide", add(50), Dtype::F64, 100_000),
            entry(0, "numpy.ndarray.tolist", Op::HostRead { bytes }, Dtype::F64, 100_000),
        ];
        ops.iter_mut().for_each(|e| e.cpu_ns = 1000 * e.count * 20);
        let w = program_of(&["file.write(str((row / norm).tolist()))"], ops, vec![Step::Repeat(100_000, each(2))]);
        ids(&asked(&w, "L4")).contains(&"numba")
    };
    assert!(advised(8) && !advised(400));
}

#[test]
fn a_solver_that_runs_until_a_residual_is_small_keeps_its_precision() {
    let advised = |via: Option<&str>| {
        let mut work = entry(0, "numpy.multiply", add(2_000_000), Dtype::F64, 1000);
        work.cpu_ns = 4_000_000_000;
        let mut w = program_of(&["x, info = cg(A, b)"], vec![work], vec![Step::Repeat(1000, each(1))]);
        w.sites[0].via = via.map(str::to_owned);
        asked(&w, "L4").advice.iter().any(|a| a.id == "float32")
    };
    assert!(advised(None) && !advised(Some("scipy.sparse.linalg.iterative.cg")));
}

#[test]
fn a_loop_in_pieces_is_one_loop_of_all_its_steps() {
    let mut w = training(100, 32, 20_000);
    w.order = vec![
        Step::Repeat(5000, [0, 1, 2, 3, 4, 5].map(Step::Run).to_vec()),
        Step::Repeat(12, [2, 3, 4, 5, 0, 1].map(Step::Run).to_vec()),
        Step::Repeat(14_988, [1, 0, 2, 3, 4, 5].map(Step::Run).to_vec()),
    ];
    take_batches(&mut w, 100, 32);
    // An average of the parameters, kept after each step: neither the batch nor the line of the training.
    let mut kept = entry(3, "aten.lerp_", add(64), Dtype::F32, 10 * 20_000);
    kept.shapes = Some("[7,1000] [7,1000] -> [7,1000]".to_owned());
    (kept.phase, kept.device) = (Some(Phase::Forward), Some("cuda:0".to_owned()));
    (kept.read_bytes, kept.written_bytes) = (56_000, 28_000);
    w.ops.push(kept);
    w.sites.push(w.sites[0].clone());
    w.sites[3].line = 99;
    let last = w.ops.len() as u32 - 1;
    for step in &mut w.order {
        if let Step::Repeat(_, body) = step {
            body.insert(0, Step::Repeat(10, vec![Step::Run(last)]));
        }
    }
    let e = asked(&w, "L4");
    let a = found(&e, "larger-batch", Side::Gpu);
    assert!(a.why.starts_with(&format!("{} steps", words::count(20_000))), "{}", a.why);
    assert!(a.title.starts_with("A batch of 400 instead of 100 at ") && !a.title.contains("99"), "{}", a.title);
    let graphs = found(&e, "cuda-graphs", Side::Gpu);
    assert!(graphs.why.starts_with(&format!("{} rounds", words::count(20_000))), "{}", graphs.why);
}

#[test]
fn who_uses_numba_is_not_told_to_use_it() {
    let mut row = entry(0, "numpy.multiply", add(2), Dtype::F64, 1_000_000);
    (row.cpu_ns, row.gap_ns) = (1_000_000_000, 1_000_000_000);
    let compiled = entry(0, "numba.njit", add(2), Dtype::F64, 1);
    let steps = vec![Step::Run(1), Step::Repeat(1_000_000, each(1))];
    let w = program_of(&["for row in frame.iterrows():"], vec![row, compiled], steps);
    assert!(!ids(&asked(&w, "L4")).contains(&"numba"));
}

/// Two operations of JAX's called by themselves, each round.
fn eager_loop(name: &str, rounds: u64) -> Workload {
    let whole = |op: Op, dtype| Op::Routine { parts: vec![Part::new(op, dtype, 1)] };
    let mut ops = on_gpu(vec![
        entry(0, name, whole(add(10_000), Dtype::F32), Dtype::F32, rounds),
        entry(1, name, whole(add(10_000), Dtype::F32), Dtype::F32, rounds),
    ]);
    ops.iter_mut().for_each(|e| e.device = Some("gpu:0".to_owned()));
    program_of(&["y = x * 2", "x = y + 1"], ops, vec![Step::Repeat(rounds, each(2))])
}

#[test]
fn operations_of_a_loop_become_one_compiled_function() {
    // 100,000 rounds: a call of 15 us goes, and the kernel that it launches costs 3 us as the second of its function.
    let e = asked(&eager_loop("jax.eager", 100_000), "L4");
    let a = found(&e, "jit", Side::Gpu);
    let saved = a.saves_s.unwrap().p50;
    assert!((0.8..2.4).contains(&saved), "{a:?}");
    assert!(a.ready.as_ref().is_some_and(|text| text.contains("@jax.jit")), "{a:?}");
    // Python's part of a call stays with the loop; in a scan that goes, too.
    let scan = found(&e, "scan", Side::Gpu);
    assert!(scan.saves_s.unwrap().p50 > saved, "{scan:?}");
    let e = asked(&eager_loop("tensorflow.AddV2", 100_000), "L4");
    assert!(found(&e, "jit", Side::Gpu).ready.is_some_and(|text| text.contains("@tf.function")));
    assert!(!ids(&e).contains(&"scan"), "it is JAX's");
}

#[test]
fn what_is_compiled_or_read_each_round_is_no_scan() {
    let e = asked(&eager_loop("jax.jit", 100_000), "L4");
    assert!(!ids(&e).contains(&"jit") && ids(&e).contains(&"scan"), "{:?}", ids(&e));
    let mut read = eager_loop("jax.jit", 100_000);
    read.ops[1].op = Op::HostRead { bytes: 4 };
    read.ops[1].name = "jax.Array.__array__".to_owned();
    let read = asked(&read, "L4");
    assert!(!ids(&read).contains(&"scan") && ids(&read).contains(&"fewer-syncs"), "{:?}", ids(&read));
    let mut slow = eager_loop("jax.jit", 1000);
    slow.ops[0].gap_ns = 1000 * 200_000;
    assert!(!ids(&asked(&slow, "L4")).contains(&"scan"), "Python does other work between");
}
