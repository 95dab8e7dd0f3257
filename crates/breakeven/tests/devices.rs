//! Any GPU from its row: every maker, every dtype, rows with gaps.

use breakeven::hardware::{Catalogue, Device};
use breakeven::kernel::{Bound, PowerConstants, capped_speed, entry_time, kernel_time};
use breakeven::table::{Cell, Clock, Columns, Row, Timed, timed};
use breakeven::units::Bytes;
use breakeven::workload::op::{Collective, Direction, Factor};
use breakeven::workload::{Dtype, Entry, Op, Pass};

fn time(op: &str, dtype: &str, device: &Device) -> Result<Timed, String> {
    let columns = Columns::read(["op", "dtype", "b", "m", "n", "k", "h"]).unwrap();
    let cells = match op {
        "matmul" => [op, dtype, "1", "2048", "2048", "2048", ""],
        _ => [op, dtype, "2048", "", "", "", "2048"],
    };
    timed(&Row::read(&columns, |i| Cell::Text(cells[i])).unwrap(), device, Clock::Device)
}

const HEADER: &str = "gpu,figure,value,unit,source,read,confidence,note\n";

/// A GPU with only what every row must have, less `without`.
fn bare(vendor: &str, without: &str) -> Result<Device, String> {
    let figures = [
        ("name", "Novel 1", "text"),
        ("vendor", vendor, "text"),
        ("memory", "24", "GiB"),
        ("bandwidth", "800", "GB/s"),
        ("fp32_vector", "40", "TFLOP/s"),
    ];
    let rows = figures.iter().filter(|(name, ..)| *name != without);
    let rows: String =
        rows.map(|(f, v, u)| format!("novel-1,{f},{v},{u},my datasheet,2026-11-21,datasheet,\n")).collect();
    let catalogue = Catalogue::embedded().with_override("novel.csv", &(HEADER.to_owned() + &rows));
    catalogue.map(|c| c.gpu("novel-1").unwrap().device.clone()).map_err(|e| e.to_string())
}

#[test]
fn every_gpu_answers_in_every_dtype_and_names_what_it_emulates() {
    for gpu in Catalogue::embedded().gpus() {
        for dtype in ["f64", "f32", "tf32", "f16", "bf16", "f8", "i8", "i64", "bool", "c64", "c128"] {
            for op in ["matmul", "add", "softmax", "sort"] {
                let t = time(op, dtype, &gpu.device).unwrap_or_else(|e| panic!("{} {op} {dtype}: {e}", gpu.id()));
                let us = t.time_us;
                assert!(
                    0.0 < us.p10 && us.p10 < us.p50 && us.p50 < us.p90 && us.p90.is_finite(),
                    "{} {op} {dtype}",
                    gpu.id()
                );
            }
            let lacks = dtype == "f8" && gpu.device.peaks.f8_tensor.is_none();
            let note = time("matmul", dtype, &gpu.device).unwrap().note.unwrap_or_default();
            assert!(!lacks || note.contains("no units for f8"), "{}: {note}", gpu.id());
        }
    }
}

#[test]
fn a_bare_row_of_any_maker_answers_with_a_wider_interval_and_says_why() {
    let full = time("matmul", "f32", &Catalogue::embedded().gpu("l4").unwrap().device).unwrap().time_us;
    for vendor in ["NVIDIA", "AMD", "Intel", "Apple", "Other"] {
        let t = time("matmul", "f32", &bare(vendor, "").unwrap()).unwrap();
        let note = t.note.unwrap();
        for gap in ["boost clock", "units", "cache", "power limit", "year"] {
            assert!(note.contains(gap), "{note}");
        }
        assert!(t.time_us.p90 / t.time_us.p10 > full.p90 / full.p10);
    }
}

#[test]
fn what_no_row_can_be_without_is_named() {
    for figure in ["memory", "bandwidth", "fp32_vector"] {
        let error = bare("AMD", figure).unwrap_err();
        assert!(error.contains(&format!("has no {figure}")), "{error}");
    }
}

#[test]
fn a_double_precision_vector_waits_for_the_matrix() {
    for (gpu, bandwidth) in [("l4", 300e9), ("h100-sxm", 3350e9)] {
        let device = &Catalogue::embedded().find_gpu(gpu).expect("it is in the catalogue").gpus[0].device;
        let time = |n| {
            let op = Op::Matmul { m: 2000, n, k: 2000, batch: 1, bias: false };
            kernel_time(&op, Dtype::F64, Bytes(0.0), Bytes(0.0), device)
        };
        // 32 MB read once.
        let (least, vector) = (32e6 / bandwidth, time(1));
        assert!(vector.p50.get() < 2.5 * least && vector.bound == Bound::Memory, "{gpu}: {vector:?}");
        assert!(vector.p50.get() < time(64).p50.get(), "{gpu}");
    }
}

/// Microseconds on an H100 of 64 images of 112×112 with 64 channels, the first batch-norm of ResNet-50, as measured
/// (accuracy/measured/h100-sxm-networks.nodes.csv).
#[test]
fn batch_norms_wait_for_few_channels_and_in_bf16() {
    let us = |pass: Pass, dtype: Dtype, layout: Option<&str>| {
        let op = serde_json::json!({"rowwise": {"kind": "batch_norm", "pass": pass, "rows": 64, "width": 802_816}});
        let entry = serde_json::json!({"site": 0, "name": "", "op": op, "dtype": dtype, "count": 1, "layout": layout});
        let entry: Entry = serde_json::from_value(entry).expect("an entry");
        entry_time(&entry, &Catalogue::embedded().gpu("h100-sxm5-80gb").expect("there").device).p50.get() * 1e6
    };
    let last = Some("channels_last");
    for (pass, dtype, layout, measured) in [
        (Pass::Forward, Dtype::F32, None, 484.0),
        (Pass::Backward, Dtype::F32, None, 1238.0),
        (Pass::Forward, Dtype::Bf16, None, 786.0),
        (Pass::Backward, Dtype::Bf16, None, 1461.0),
        (Pass::Forward, Dtype::Bf16, last, 318.0),
        (Pass::Backward, Dtype::Bf16, last, 256.0),
    ] {
        let us = us(pass, dtype, layout);
        assert!((0.75..1.25).contains(&(us / measured)), "{pass:?} {dtype:?} {layout:?}: {us} for {measured}");
    }
    // cuDNN takes fp16 either way.
    assert!(us(Pass::Forward, Dtype::F16, None) < us(Pass::Forward, Dtype::Bf16, None));
}

/// The layout that was recorded decides whether images are turned for tensor units.
#[test]
fn images_with_their_channels_last_are_not_turned() {
    let us = |layout: Option<&str>| {
        let op = serde_json::json!({"convolution": {"batch": 64, "cin": 64, "cout": 64, "input": [56, 56], "kernel": [3, 3],
            "output": [56, 56]}});
        let entry = serde_json::json!({"site": 0, "name": "", "op": op, "dtype": "bf16", "count": 1, "layout": layout});
        let entry: Entry = serde_json::from_value(entry).expect("an entry");
        entry_time(&entry, &Catalogue::embedded().gpu("h100-sxm5-80gb").expect("there").device).p50.get() * 1e6
    };
    // 97 and 43 µs as measured.
    let (turned, last) = (us(None), us(Some("channels_last")));
    assert!((80.0..115.0).contains(&turned) && (27.0..60.0).contains(&last), "{turned} and {last}");
}

/// Microseconds on an H100 as measured (accuracy/measured/h100-sxm-kernels.csv): CuPy's kernels have the same pace whatever
/// memory could do, PyTorch's take several elements a thread.
#[test]
fn a_thread_an_element_has_a_pace_of_its_own() {
    let us = |name: &str, inputs: u64| {
        let op = serde_json::json!({"elementwise": {"n": 33_554_432, "inputs": inputs, "flop_per_element": 1.0}});
        let entry = serde_json::json!({"site": 0, "name": name, "op": op, "dtype": "f32", "count": 1});
        let entry: Entry = serde_json::from_value(entry).expect("an entry");
        entry_time(&entry, &Catalogue::embedded().gpu("h100-sxm5-80gb").expect("there").device).p50.get() * 1e6
    };
    for (name, inputs, measured) in
        [("cupy.add", 2, 161.8), ("numpy.exp", 1, 161.2), ("aten.add", 2, 135.1), ("torch.exp", 1, 92.5)]
    {
        let us = us(name, inputs);
        assert!((0.85..1.15).contains(&(us / measured)), "{name}: {us} for {measured}");
    }
}

/// Microseconds on an H100 as measured (accuracy/measured/h100-sxm-convolutions.csv): one tile alone on its SM, and 3×3
/// by Fourier transforms.
#[test]
fn exact_convolutions_of_hopper() {
    let us = |pass: &str, [batch, cin, cout, side, kernel]: [u64; 5]| {
        let op = serde_json::json!({"convolution": {"pass": pass, "batch": batch, "cin": cin, "cout": cout,
            "input": [side, side], "kernel": [kernel, kernel], "output": [side, side]}});
        let entry = serde_json::json!({"site": 0, "name": "", "op": op, "dtype": "f32", "count": 1});
        let entry: Entry = serde_json::from_value(entry).expect("an entry");
        entry_time(&entry, &Catalogue::embedded().gpu("h100-sxm5-80gb").expect("there").device).p50.get() * 1e6
    };
    for (pass, dims, measured) in [
        ("forward", [32, 1152, 48, 1, 1], 36.5),
        ("forward", [32, 888, 84, 1, 1], 25.9),
        ("backward_data", [32, 128, 128, 28, 3], 119.7),
        ("backward_data", [16, 128, 128, 112, 3], 1594.7),
    ] {
        let us = us(pass, dims);
        assert!((0.7..1.4).contains(&(us / measured)), "{pass} {dims:?}: {us} for {measured}");
    }
}

/// Microseconds of an op of a workload, as JSON.
fn us(op: &serde_json::Value, dtype: Dtype, device: &Device) -> f64 {
    let op: Op = serde_json::from_value(op.clone()).expect("an op");
    kernel_time(&op, dtype, Bytes::ZERO, Bytes::ZERO, device).p50.get() * 1e6
}

fn device(id: &str) -> &'static Device {
    &Catalogue::embedded().gpu(id).expect("in the catalogue").device
}

fn square(side: u64) -> serde_json::Value {
    serde_json::json!({"matmul": {"m": side, "n": side, "k": side, "batch": 1, "bias": false}})
}

/// A board that came years after the others of its chip takes as much energy for an operation.
#[test]
fn boards_of_one_chip_and_limit_are_as_fast() {
    for (one, other) in [("t4", "t4g"), ("v100-pcie-16gb", "v100-pcie-32gb")] {
        let [one, other] = [one, other].map(|id| us(&square(8192), Dtype::F32, device(id)));
        assert!((one / other - 1.0).abs() < 0.05, "{one} against {other}");
    }
    // The MI325X is the MI300X with a third more watts, which products may not need.
    let [old, new] = ["mi300x", "mi325x"].map(|id| us(&square(8192), Dtype::Bf16, device(id)));
    assert!((1.0..1.3).contains(&(old / new)), "{old} against {new}");
}

/// GPT-2's 50257 words on an H200: 4.3 ms in a training step, 148 TFLOP/s, where whole rows reach 600 and more.
#[test]
fn a_weights_gradient_loads_rows_as_long_as_the_layer_has_outputs() {
    let gradient = |outputs: u64, layout: &str, phase: &str| {
        let entry = serde_json::json!({
            "site": 0, "name": "aten.mm", "dtype": "bf16", "count": 1, "layout": layout, "phase": phase,
            "op": {"matmul": {"m": outputs, "n": 768, "k": 8192, "batch": 1, "bias": false}},
        });
        let entry = serde_json::from_value(entry).expect("an entry");
        breakeven::kernel::entry_time(&entry, device("h200-sxm-141gb")).p50.get() * 1e6
    };
    let odd = gradient(50257, "f", "backward");
    assert!((0.7..1.4).contains(&(odd / 4279.0)), "{odd}");
    let whole = gradient(50264, "f", "backward");
    assert!(odd > 4.0 * whole, "{odd} against {whole}");
    // Forward it is the second factor, the weights, that lies by columns.
    let forward = gradient(50257, "f", "forward");
    assert!(forward < 1.1 * whole, "{forward} against {whole}");
}

/// Where nothing else keeps an SM busy, each step along k waits: less where the tensor memory accelerator fetches.
#[test]
fn a_small_product_waits_for_its_operands() {
    let product = |k: u64| serde_json::json!({"matmul": {"m": 16, "n": 32, "k": k, "batch": 1, "bias": false}});
    for (gpu, at_least, at_most) in [("a100-sxm4-80gb", 0.5, 3.0), ("gb200", 0.2, 1.0)] {
        let us = |k| us(&product(k), Dtype::Bf16, device(gpu));
        let waits = us(512) - us(32);
        assert!((at_least..at_most).contains(&waits), "{gpu}: {waits}");
        assert!(us(32) < 6.0, "{gpu}: {}", us(32));
    }
}

#[test]
fn eight_bits_without_units_for_them_are_no_faster_than_sixteen() {
    for gpu in Catalogue::embedded().gpus().iter().filter(|gpu| gpu.device.peaks.f8_tensor.is_none()) {
        let [eight, sixteen] = [Dtype::F8, Dtype::F16].map(|dtype| us(&square(8192), dtype, &gpu.device));
        assert!(eight >= 0.9 * sixteen, "{}: {eight} against {sixteen}", gpu.id());
    }
}

/// What is filled in for figures that a datasheet leaves out is of the board's size.
#[test]
fn a_row_with_gaps_answers_like_the_whole_one() {
    let rows =
        |kind: &str| serde_json::json!({"rowwise": {"kind": kind, "pass": "forward", "rows": 131_072, "width": 1024}});
    for id in ["h100-sxm5-80gb", "h200-sxm-141gb", "b200", "gb200"] {
        let gpu = Catalogue::embedded().gpu(id).expect("there");
        let gaps = Device { units: None, cores_per_unit: None, boost: None, cache: None, ..gpu.device.clone() };
        for op in [rows("softmax"), rows("layer_norm"), square(1024), square(8192)] {
            let [whole, gaps] = [&gpu.device, &gaps].map(|device| us(&op, Dtype::F16, device));
            assert!((0.4..2.5).contains(&(gaps / whole)), "{} {op}: {gaps} against {whole}", gpu.id());
        }
    }
    // Blackwell without its units and cache: close to the boards beside it.
    for (lacks, has) in [("b100", "b200"), ("gb300", "gb200")] {
        for op in [rows("softmax"), square(8192)] {
            let [lacks, has] = [lacks, has].map(|id| us(&op, Dtype::F32, device(id)));
            assert!((0.7..1.4).contains(&(lacks / has)), "{op}: {lacks} against {has}");
        }
    }
}

/// What the maker says before it is sold may change: the same time, in a wider interval.
#[test]
fn an_announced_gpu_is_known_less_well() {
    let sold = device("h100-sxm5-80gb");
    let op = Op::Matmul { m: 4096, n: 4096, k: 4096, batch: 1, bias: false };
    let times = [false, true].map(|announced| {
        let device = Device { announced, ..sold.clone() };
        kernel_time(&op, Dtype::F16, Bytes::ZERO, Bytes::ZERO, &device)
    });
    assert_eq!(times[0].p50, times[1].p50);
    assert!(times[1].sigma_shared > times[0].sigma_shared + 0.05, "{times:?}");
}

/// oneDNN is asked for direct convolutions alone: none beats the peak.
#[test]
fn no_transforms_on_intel() {
    for id in ["arc-b580", "max-1550"] {
        let op = serde_json::json!({"convolution": {"batch": 32, "cin": 64, "cout": 64, "input": [224, 224], "kernel": [3, 3],
            "output": [224, 224]}});
        let flop = 2.0 * 32.0 * 224.0 * 224.0 * 64.0 * 64.0 * 9.0;
        let peak = device(id).peaks.f32_vector.expect("given").get();
        let us = us(&op, Dtype::F32, device(id));
        assert!(us >= 1e6 * flop / peak, "{id}: {us}");
    }
}

#[test]
fn orin_multiplies_in_bf16() {
    let orin = device("jetson-agx-orin-64gb");
    assert_eq!(us(&square(4096), Dtype::Bf16, orin), us(&square(4096), Dtype::F16, orin));
}

fn kernel(op: &Op, dtype: Dtype, gpu: &str) -> f64 {
    let device = &Catalogue::embedded().gpu(gpu).unwrap().device;
    kernel_time(op, dtype, Bytes::ZERO, Bytes::ZERO, device).p50.get()
}

#[test]
fn an_inner_product_goes_at_the_pace_of_memory_in_every_dtype() {
    for gpu in Catalogue::embedded().gpus() {
        let bandwidth = gpu.device.bandwidth.get();
        for dtype in [Dtype::F64, Dtype::F32, Dtype::F16] {
            let dot = Op::Matmul { m: 1, n: 1, k: 1 << 27, batch: 1, bias: false };
            let moved = 2.0 * f64::from(1 << 27) * dtype.bytes() as f64 / bandwidth;
            // Doubles of boards that emulate them are slower than memory.
            let slow =
                dtype == Dtype::F64 && gpu.device.peaks.f64_vector.is_none_or(|rate| rate.get() < bandwidth / 4.0);
            let ratio = kernel(&dot, dtype, gpu.id()) / moved;
            assert!((0.8..2.0).contains(&ratio) || slow, "{} {dtype:?}: {ratio}", gpu.id());
        }
    }
}

#[test]
fn doubles_do_not_care_for_odd_rows() {
    let square = |n| Op::Matmul { m: n, n, k: n, batch: 1, bias: false };
    for gpu in ["h100-sxm5-80gb", "a100-sxm4-80gb", "b200", "v100-pcie-32gb", "mi300x"] {
        let [even, odd] = [4096, 4097].map(|n| kernel(&square(n), Dtype::F64, gpu));
        assert!(odd < 1.35 * even, "{gpu}: {}", odd / even);
    }
}

#[test]
fn batches_of_matrices_just_beyond_a_warp_are_no_cliff() {
    let inverse = |n| Op::Factor { kind: Factor::Inverse, m: n, n, rhs: 1, batch: 10_000 };
    let [small, next] = [32, 33].map(|n| kernel(&inverse(n), Dtype::F64, "a100-sxm4-80gb"));
    assert!(next < 1.2 * small, "{}", next / small);
}

#[test]
fn halves_are_never_slower_than_singles_in_a_convolution_before_hopper() {
    for gpu in ["rtx-3090", "rtx-4080-super", "v100-pcie-32gb", "t4", "a100-sxm4-80gb"] {
        for (hw, channels) in [(1024, 64), (56, 256), (14, 1024)] {
            let op = Op::Convolution {
                pass: Pass::Forward,
                batch: 8,
                cin: channels,
                cout: channels,
                groups: 1,
                input: vec![hw; 2],
                kernel: vec![3; 2],
                output: vec![hw; 2],
            };
            let [half, single] = [Dtype::F16, Dtype::F32].map(|dtype| kernel(&op, dtype, gpu));
            assert!(half <= 1.01 * single, "{gpu} {hw}: {}", half / single);
        }
    }
}

#[test]
fn a_copy_from_ordinary_memory_is_slower_and_one_within_it_is_no_copy() {
    let copy = |pinned| Op::Transfer { direction: Direction::H2d, bytes: 1 << 29, pinned, asynchronous: false };
    let [ordinary, pinned] = [false, true].map(|pinned| kernel(&copy(pinned), Dtype::U8, "h100-sxm5-80gb"));
    assert!(ordinary > 1.5 * pinned, "{}", ordinary / pinned);
    assert!(kernel(&copy(false), Dtype::U8, "m4-max-40-core") < 1e-5);
}

#[test]
fn integers_go_through_a_loop_of_one_core_in_numpy() {
    let cpu = &Catalogue::embedded().find_cpu("epyc-9755").unwrap().device;
    let time = |dtype, n, batch| {
        let op = Op::Matmul { m: n, n, k: n, batch, bias: false };
        kernel_time(&op, dtype, Bytes::ZERO, Bytes::ZERO, cpu).p50.get()
    };
    // NumPy 2.4 takes 0.4 to 0.6 ns for a multiply-add of integers and 2.9 of halves, on any number of cores.
    let [integers, halves] = [Dtype::I64, Dtype::F16].map(|dtype| time(dtype, 1000, 1));
    assert!((0.3..0.9).contains(&integers) && (2.0..4.0).contains(&halves), "{integers} {halves}");
    assert!(time(Dtype::F64, 1000, 1) < 0.05 * integers);
    // Each of many small products is a call of its own: no number of cores helps.
    assert!(time(Dtype::F64, 8, 10_000) > 20.0 * time(Dtype::F64, 8, 100) && time(Dtype::F64, 8, 10_000) > 1e-4);
}

#[test]
fn copies_between_devices_and_sums_over_them_have_their_own_way() {
    let whole = f64::from(1 << 30);
    let on = |op: &Op, gpu| {
        let device = &Catalogue::embedded().gpu(gpu).unwrap().device;
        (kernel_time(op, Dtype::U8, Bytes::ZERO, Bytes::ZERO, device).p50.get(), device)
    };
    let within = Op::Transfer { direction: Direction::D2d, bytes: 1 << 30, pinned: false, asynchronous: false };
    let (seconds, device) = on(&within, "h100-sxm5-80gb");
    assert!((0.9..1.2).contains(&(seconds / (2.0 * whole / device.bandwidth.get()))), "{seconds}");
    // Memory that is one with the host's is not another device's.
    let sum = Op::Collective { kind: Collective::AllReduce, bytes: 1 << 30, ranks: 2 };
    assert!(on(&sum, "gb10").0 > 0.01);
}

#[test]
fn a_cap_below_what_a_board_draws_slows_it_without_a_jump() {
    let v100 = &Catalogue::embedded().gpu("v100-pcie-32gb").unwrap().device;
    let speed = |draw, cap| capped_speed(PowerConstants::shipped(), v100, draw, cap);
    for draw in [20.0, 36.0, 225.0] {
        assert!(speed(draw, draw) == 1.0 && speed(draw, 0.999 * draw) > 0.99 && speed(draw, 0.2 * draw) < 0.5);
    }
}
