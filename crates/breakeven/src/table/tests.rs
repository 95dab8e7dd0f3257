//! Rows as they come, good and bad.

use super::*;
use crate::hardware::{Catalogue, Device, DeviceKind};
use crate::workload::{Dtype, Op};
use proptest::prelude::*;

const HEADER: [&str; 14] =
    ["op", "gpu", "dtype", "b", "m", "n", "k", "h", "cin", "cout", "ksize", "hw", "stride", "pad"];

/// Reads `op=conv hw=56 …`.
fn row(text: &str) -> Result<Row, String> {
    let columns = Columns::read(HEADER).unwrap();
    let cells: Vec<(&str, &str)> = text.split(' ').filter_map(|cell| cell.split_once('=')).collect();
    Row::read(&columns, |i| {
        cells.iter().find(|(name, _)| *name == HEADER[i]).map_or(Cell::Empty, |(_, value)| Cell::Text(value))
    })
}

fn gpu(id: &str) -> &'static Device {
    &Catalogue::embedded().gpu(id).unwrap().device
}

#[test]
fn rows_become_ops() {
    assert_eq!(row("op=linear m=8 n=16 k=32").unwrap().op(), Op::Matmul { m: 8, n: 16, k: 32, batch: 1, bias: true });
    let conv = row("op=conv b=2 cin=3 cout=64 ksize=7 hw=224 stride=2 pad=3").unwrap().op();
    assert!(matches!(conv, Op::Convolution { ref output, .. } if output == &[112, 112]), "{conv:?}");
    let pow = row("op=pow b=10 h=20 dtype=fp64").unwrap();
    assert!(matches!(pow.op(), Op::Elementwise { n: 200, inputs: 2, .. }));
    assert_eq!((pow.dtype(), pow.name()), (Dtype::F64, "pow"));
    // As pandas writes whole numbers of a column with gaps.
    assert_eq!(row("op=add b=4.0 h=1e3"), row("op=ADD b=4 h=1000"));
    assert!(matches!(row("op=h2d h=10 dtype=f64").unwrap().op(), Op::Transfer { bytes: 80, .. }));
}

#[test]
fn every_name_reads_and_takes_time_on_every_maker() {
    for (name, needs, _) in ops() {
        let dims: Vec<String> =
            needs.iter().map(|d| format!("{}={}", d.name(), if *d == Dim::Ksize { 3 } else { 64 })).collect();
        let row = row(&format!("op={name} {}", dims.join(" "))).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(row.name(), name);
        for id in ["v100-pcie-16gb", "mi300x", "arc-pro-b60", "h100-sxm5-80gb"] {
            let t = timed(&row, gpu(id), Clock::Device).unwrap();
            assert!(0.0 < t.time_us.p10 && t.time_us.p10 < t.time_us.p50 && t.time_us.p50 < t.time_us.p90, "{name}");
            let clocked = timed(&row, gpu(id), Clock::Events).unwrap();
            assert!(clocked.time_us.p50 >= t.time_us.p50.max(30.0), "{name}");
        }
    }
}

#[test]
fn what_is_wrong_with_a_row_is_said() {
    let all: Vec<String> = [
        "op=matmul m=8 n=16",
        "op=matmul m=8 n=16 k=0",
        "op=matmul m=8 n=16 k=-3",
        "op=matmul m=8 n=16 k=1000000000000",
        "op=matmul m=8 n=16 k=1e308",
        "op=matmul m=8 n=16 k=1.5",
        "op=matmul m=8 n=16 k=4KiB",
        "op=matmul m=8 n=16 k=x",
        "op=matmul m=8 n=16 k=inf",
        "op=matmul m=8 n=16 k=32 h=7",
        "op=matmull m=8 n=16 k=32",
        "op=frobnicate b=1 h=1",
        "op= b=1 h=1",
        "op=add b=1 h=1 dtype=fp4",
        "op=conv cin=3 cout=8 ksize=9 hw=4",
        "op=conv cin=3 cout=8 ksize=3 hw=4 stride=0",
        "op=median_filter b=1 h=50 ksize=10",
    ]
    .into_iter()
    .map(|text| format!("{text} → {}", row(text).unwrap_err()))
    .collect();
    insta::assert_snapshot!(all.join("\n"), @r"
    op=matmul m=8 n=16 → k is missing: `matmul` takes m, n, k
    op=matmul m=8 n=16 k=0 → k is 0; allowed is 1 to 10¹¹
    op=matmul m=8 n=16 k=-3 → k is -3; allowed is 1 to 10¹¹
    op=matmul m=8 n=16 k=1000000000000 → k is 1000000000000; allowed is 1 to 10¹¹
    op=matmul m=8 n=16 k=1e308 → k is 1e308; allowed is 1 to 10¹¹
    op=matmul m=8 n=16 k=1.5 → k is 1.5; a whole number is allowed
    op=matmul m=8 n=16 k=4KiB → k is `4KiB`: a plain count is allowed, without a unit or commas
    op=matmul m=8 n=16 k=x → k is `x`, which is not a number
    op=matmul m=8 n=16 k=inf → k is `inf`, which is not a number
    op=matmul m=8 n=16 k=32 h=7 → `matmul` has no h, which is 7 here; it takes m, n, k
    op=matmull m=8 n=16 k=32 → no op is called `matmull`: the nearest is `matmul`
    op=frobnicate b=1 h=1 → no op is called `frobnicate`: matmul, linear, conv, add, softmax, sum, sort, fft, … (`breakeven kernels --help` lists all)
    op= b=1 h=1 → op is empty
    op=add b=1 h=1 dtype=fp4 → no dtype is called `fp4`: f64, f32, tf32, f16, bf16, f8, i64 … u8, bool, c64, c128 are allowed
    op=conv cin=3 cout=8 ksize=9 hw=4 → a window of 9 is larger than the padded image of 4
    op=conv cin=3 cout=8 ksize=3 hw=4 stride=0 → stride is 0; allowed is 1 to 10¹¹
    op=median_filter b=1 h=50 ksize=10 → a window of 10×10 is larger than the 50 points
    ");
}

#[test]
fn what_a_device_cannot_do_is_said() {
    let refused = |text: &str, id: &str| timed(&row(text).unwrap(), gpu(id), Clock::Device).unwrap_err();
    insta::assert_snapshot!(refused("op=add b=1000000 h=1000000", "l4"), @"`add` moves 12 TB, and l4 has 25.8 GB");
    let note = |text: &str, id: &str| timed(&row(text).unwrap(), gpu(id), Clock::Device).unwrap().note;
    assert_eq!(
        note("op=matmul m=64 n=64 k=64 dtype=fp8", "v100-pcie-16gb").as_deref(),
        Some("v100-pcie-16gb has no units for f8: emulated")
    );
    assert_eq!(note("op=matmul m=64 n=64 k=64", "v100-pcie-16gb"), None);
    // A rate that its row lacks is named where it is asked for, and not taken for missing units.
    let ten = gpu("gb10");
    assert_eq!(ten.peaks.i8_tensor, None);
    let of = |text: &str| timed(&row(text).unwrap(), ten, Clock::Device).unwrap();
    let [product, copy] = ["op=matmul m=64 n=64 k=64 dtype=i8", "op=copy h=1000000 dtype=i8"].map(of);
    assert_eq!((product.note.as_deref(), copy.note), (Some("wider, for gb10 lacks: rate in this type"), None));
    assert!(product.time_us.p90 > 5.0 * product.time_us.p10 && copy.time_us.p90 < 2.5 * copy.time_us.p10);
    let gappy = Device { tdp: None, cache: None, ..gpu("l4").clone() };
    let plain = row("op=softmax b=4096 h=4096").unwrap();
    let (wide, known) =
        (timed(&plain, &gappy, Clock::Device).unwrap(), timed(&plain, gpu("l4"), Clock::Device).unwrap());
    assert_eq!(wide.note.as_deref(), Some("wider, for l4 lacks: cache, power limit"));
    assert!(wide.time_us.p90 / wide.time_us.p10 > known.time_us.p90 / known.time_us.p10);
}

#[test]
fn headers_that_do_not_do() {
    let refused = |header: &[&str]| Columns::read(header.iter().copied()).unwrap_err().to_string();
    let all = [
        refused(&[]),
        refused(&["a", "time"]),
        refused(&["operation", "b", "h"]),
        refused(&["op", "gpu"]),
        refused(&["op", "b", "B"]),
        refused(&["op", "m_kib", "n", "k"]),
        refused(&["op", "b", "h", "latency_us", "latency_ms"]),
        refused(&["op", "b", "h", "time_us_p50"]),
    ];
    insta::assert_snapshot!(all.join("\n"), @r"
    error: no column is called `op`: found no column; allowed are `op`, `gpu`, `dtype` and the dims b, m, n, k, h, cin, cout, ksize, hw, stride, pad
     hint: the first line of the table names its columns: `op,b,m,n,k`
    error: no column is called `op`: found `a`, `time`; allowed are `op`, `gpu`, `dtype` and the dims b, m, n, k, h, cin, cout, ksize, hw, stride, pad
     hint: the first line of the table names its columns: `op,b,m,n,k`
    error: no column is called `op`: found `operation`, `b`, `h`; allowed are `op`, `gpu`, `dtype` and the dims b, m, n, k, h, cin, cout, ksize, hw, stride, pad
     hint: is it called `operation` here? Rename that column to `op`
    error: no column holds a dim: found `op`, `gpu`; allowed are `op`, `gpu`, `dtype` and the dims b, m, n, k, h, cin, cout, ksize, hw, stride, pad
     hint: a matmul has m, n and k, a soft-max b rows of h
    error: two columns are called `b`: found `op`, `b`, `b`
     hint: keep one of them
    error: the column `m_kib` has a unit: dims are plain counts, in a column called `m`
     hint: write counts of elements (4096), and 1 for none
    error: times in two units: `latency_us` and `latency_ms`
     hint: a table has its times in one unit; what is added is in microseconds
    error: the table has a column `time_us_p50` already, and that is what is to be added
     hint: rename it or leave it out
    ");
}

#[test]
fn case_blanks_and_a_byte_order_mark_do_not_count() {
    let columns = Columns::read(["\u{feff}OP", " B ", "h", "remark"]).unwrap();
    assert_eq!((columns.op, columns.dims[0], columns.gpu), (0, Some(1), None));
}

proptest! {
    #[test]
    fn no_cell_panics(op in any::<String>(), dtype in any::<String>(), dim in any::<f64>(), text in any::<String>()) {
        let columns = Columns::read(HEADER).unwrap();
        for op in [op.as_str(), "matmul", "conv", "add", "eigh"] {
            let _ = Row::read(&columns, |i| match i {
                0 => Cell::Text(op),
                2 if op == "add" => Cell::Text(&dtype),
                3 | 4 => Cell::Text(&text),
                _ => Cell::Number(dim),
            });
        }
    }

    #[test]
    fn more_work_never_takes_less(h in 1u64..1_000_000, more in 1u64..1000, name in prop::sample::select(vec!["add", "softmax", "sum", "sort", "cumsum"])) {
        let time = |h: u64| timed(&row(&format!("op={name} b=8 h={h}")).unwrap(), gpu("l4"), Clock::Device).unwrap().time_us.p50;
        prop_assert!(time(h + more) >= time(h));
    }
}

#[test]
fn a_cpu_is_found_by_the_name_that_gpus_carry() {
    let columns = Columns::read(["op", "gpu", "h"]).unwrap();
    let mut devices = Devices::new(&columns, Catalogue::embedded(), &[]).unwrap();
    let place = devices.find("NVIDIA Grace").unwrap();
    assert_eq!(devices.known()[place as usize].kind, DeviceKind::Cpu);
    assert!(devices.find("GH200").unwrap_err().contains("names 2"));
    let error = Columns::read(["op;h;dtype"]).unwrap_err();
    assert!(error.hint.unwrap().ends_with("here by semicolons"));
}
