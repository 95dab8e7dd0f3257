//! What must hold whatever the constants are, tried on the constants that ship.

use super::machine::LARGE_CACHE_SECONDS;
use super::*;
use crate::hardware::{Peaks, device::Vendor};
use crate::units::{BytesPerSec, FlopPerSec, Hertz, Watts};
use crate::workload::{Family, Part, Pass, op};
use proptest::prelude::*;
use proptest::sample::select;

const DTYPES: &[Dtype] = &[
    Dtype::F64,
    Dtype::F32,
    Dtype::Tf32,
    Dtype::F16,
    Dtype::Bf16,
    Dtype::F8,
    Dtype::I64,
    Dtype::I32,
    Dtype::I8,
    Dtype::Bool,
    Dtype::C64,
    Dtype::C128,
    Dtype::Other,
];

/// Makers, and what their chips are called: which kernels a library has goes by it.
const MAKERS: &[(Vendor, Option<&str>)] = &[
    (Vendor::Other, None),
    (Vendor::Apple, None),
    (Vendor::Intel, None),
    (Vendor::Amd, None),
    (Vendor::Amd, Some("gfx90a")),
    (Vendor::Amd, Some("gfx942")),
    (Vendor::Amd, Some("gfx1100")),
    (Vendor::Nvidia, None),
    (Vendor::Nvidia, Some("3.7")),
    (Vendor::Nvidia, Some("5.2")),
    (Vendor::Nvidia, Some("6.1")),
    (Vendor::Nvidia, Some("7.0")),
    (Vendor::Nvidia, Some("7.5")),
    (Vendor::Nvidia, Some("8.0")),
    (Vendor::Nvidia, Some("8.6")),
    (Vendor::Nvidia, Some("8.9")),
    (Vendor::Nvidia, Some("9.0")),
    (Vendor::Nvidia, Some("10.3")),
    (Vendor::Nvidia, Some("12.0")),
    (Vendor::Nvidia, Some("13.0")),
];

/// 0, small, common and absurd sizes.
fn dim() -> impl Strategy<Value = u64> {
    prop_oneof![
        1 => Just(0u64),
        1 => Just(1u64),
        4 => 2..300u64,
        4 => 300..100_000u64,
        2 => 100_000..1_000_000_000_000u64,
        1 => Just(u64::MAX),
    ]
}

fn pass() -> impl Strategy<Value = Pass> {
    select(&[Pass::Forward, Pass::BackwardData, Pass::BackwardWeight, Pass::Backward][..])
}

fn dims() -> impl Strategy<Value = Vec<u64>> {
    prop::collection::vec(dim(), 0..4)
}

/// Any op of a family that runs on the device, and the same op with every dim at least as large.
fn any_op() -> impl Strategy<Value = Op> {
    let part = (any_plain_op(), select(DTYPES), 1..1000_u64).prop_map(|(op, dtype, count)| Part::new(op, dtype, count));
    prop_oneof![
        12 => any_plain_op(),
        1 => prop::collection::vec(part, 0..4).prop_map(|parts| Op::Routine { parts }),
    ]
}

fn any_plain_op() -> impl Strategy<Value = Op> {
    let d = dim;
    prop_oneof![
        (d(), d(), d(), d(), any::<bool>()).prop_map(|(m, n, k, batch, bias)| Op::Matmul { m, n, k, batch, bias }),
        (pass(), d(), d(), d(), d(), dims(), dims(), dims()).prop_map(
            |(pass, batch, cin, cout, groups, input, kernel, output)| Op::Convolution {
                pass,
                batch,
                cin,
                cout,
                groups,
                input,
                kernel,
                output
            }
        ),
        (pass(), d(), d(), d(), d(), d(), any::<bool>()).prop_map(
            |(pass, batch, heads, q_len, kv_len, head_dim, causal)| Op::Attention {
                pass,
                batch,
                heads,
                q_len,
                kv_len,
                head_dim,
                causal
            }
        ),
        (select(op::Cell::ALL), pass(), d(), d(), d(), d(), d()).prop_map(
            |(cell, pass, steps, rows, input, hidden, projection)| Op::Recurrent {
                cell,
                pass,
                steps,
                rows,
                input,
                hidden,
                projection
            }
        ),
        (d(), 0..9u32, any::<f64>(), any::<bool>()).prop_map(|(n, inputs, flop_per_element, transcendental)| {
            Op::Elementwise { n, inputs, flop_per_element, transcendental }
        }),
        (d(), d(), 0.0..9.0).prop_map(|(n, out, flop_per_element)| Op::Reduce { n, out, flop_per_element }),
        (select(op::Rowwise::ALL), pass(), d(), d()).prop_map(|(kind, pass, rows, width)| Op::Rowwise {
            kind,
            pass,
            rows,
            width
        }),
        (d(), d()).prop_map(|(rows, width)| Op::Scan { rows, width }),
        (select(op::Sort::ALL), d(), d()).prop_map(|(kind, rows, width)| Op::Sort { kind, rows, width }),
        (d(), d()).prop_map(|(n, source)| Op::Gather { n, source }),
        (d(), d(), any::<bool>()).prop_map(|(n, target, accumulate)| Op::Scatter { n, target, accumulate }),
        (d(), any::<bool>(), 0..9u32).prop_map(|(n, strided, inputs)| Op::Copy { n, strided, inputs, run: 0 }),
        (select(op::Fft::ALL), d(), d()).prop_map(|(kind, n, batch)| Op::Fft { kind, n, batch }),
        (select(op::Factor::ALL), d(), d(), d(), d()).prop_map(|(kind, m, n, rhs, batch)| Op::Factor {
            kind,
            m,
            n,
            rhs,
            batch
        }),
        (select(op::Sparse::ALL), d(), d(), d(), d()).prop_map(|(kind, rows, cols, nnz, n)| Op::Sparse {
            kind,
            rows,
            cols,
            nnz,
            n
        }),
        (select(op::Random::ALL), d()).prop_map(|(kind, n)| Op::Random { kind, n }),
        (select(op::Window::ALL), pass(), d(), d(), d()).prop_map(|(kind, pass, n, input, window)| Op::Window {
            kind,
            pass,
            n,
            input,
            window
        }),
        (pass(), d(), d(), d()).prop_map(|(pass, n, width, table)| Op::Embedding { pass, n, width, table }),
        (select(op::Dataframe::ALL), d(), 1..500_u64, d(), 1..8_u64, d(), 0..5000_u64).prop_map(
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
        (select(op::Collective::ALL), d(), d()).prop_map(|(kind, bytes, ranks)| Op::Collective { kind, bytes, ranks }),
        (select(op::Direction::ALL), d(), any::<bool>(), any::<bool>()).prop_map(
            |(direction, bytes, pinned, asynchronous)| Op::Transfer { direction, bytes, pinned, asynchronous }
        ),
        d().prop_map(|bytes| Op::HostRead { bytes }),
        Just(Op::Synchronise),
        Just(Op::StreamWait),
        Just(Op::View),
        Just(Op::HostOnly),
        Just(Op::Opaque),
    ]
}

fn rate(range: std::ops::Range<f64>) -> impl Strategy<Value = Option<FlopPerSec>> {
    prop::option::weighted(0.8, range.prop_map(FlopPerSec::tera))
}

/// Boards that could exist, with gaps in their rows.
fn any_device() -> impl Strategy<Value = Device> {
    let vector = (rate(0.1..80.0), rate(2.0..120.0), rate(4.0..240.0));
    let peaks = (vector, rate(1.0..80.0), rate(4.0..240.0), rate(20.0..3000.0)).prop_map(
        |((f64_vector, f32_vector, f16_vector), f64_tensor, f32_tensor, tensor)| Peaks {
            f64_vector,
            f64_tensor,
            f32_vector,
            f16_vector,
            f32_tensor,
            tf32_tensor: tensor.map(|r| r / 2.0),
            f16_tensor: tensor,
            bf16_tensor: tensor,
            f8_tensor: tensor.map(|r| r * 2.0),
            i8_tensor: tensor.map(|r| r * 2.0),
        },
    );
    let rest = (
        prop::bool::weighted(0.8),
        prop::option::of(2012..2030u32),
        prop::option::of(1..300u32),
        prop::option::of(0.5e9..4e9),
        prop::option::of(0.5e6..300e6),
        prop::option::of(15.0..1500.0),
        50.0..9000.0,
    );
    let maker = (
        select(MAKERS),
        prop::option::of(select(&[32u32, 64, 128, 192][..])),
        prop::option::of(select(&[48.0, 64.0, 100.0, 228.0][..])),
        any::<bool>(),
    );
    (peaks, rest, maker).prop_map(
        |(peaks, (gpu, year, units, boost, cache, tdp, gb_per_s), (made, lanes, shared, one))| Device {
            peaks: if gpu {
                peaks
            } else {
                Peaks {
                    f64_vector: peaks.f64_vector,
                    f32_vector: peaks.f64_vector.map(|r| r * 2.0),
                    ..Peaks::default()
                }
            },
            id: "any".into(),
            name: "any".into(),
            kind: if gpu { DeviceKind::Gpu } else { DeviceKind::Cpu },
            vendor: made.0,
            architecture: "any".into(),
            year,
            announced: false,
            units,
            cores_per_unit: lanes,
            compute_capability: made.1.map(str::to_owned),
            shared_per_unit: shared.map(|kib| Bytes(kib * 1024.0)),
            unified_memory: one,
            boost: boost.map(Hertz),
            memory: Bytes::gb(16.0),
            bandwidth: BytesPerSec::gb_per_s(gb_per_s),
            cache: cache.map(Bytes),
            host_link: None,
            tdp: tdp.map(Watts),
            idle: None,
            context_idle: None,
            measured: None,
            copies: None,
        },
    )
}

fn doubled(device: &Device) -> Device {
    let mut twice = device.clone();
    let p = &mut twice.peaks;
    for peak in [
        &mut p.f64_vector,
        &mut p.f64_tensor,
        &mut p.f32_vector,
        &mut p.f16_vector,
        &mut p.f32_tensor,
        &mut p.tf32_tensor,
        &mut p.f16_tensor,
        &mut p.bf16_tensor,
        &mut p.f8_tensor,
        &mut p.i8_tensor,
    ] {
        *peak = peak.map(|r| r * 2.0);
    }
    twice.bandwidth = twice.bandwidth * 2.0;
    // A clock that follows from the rates is still the same one.
    twice.boost = boost(device).map(Hertz);
    twice
}

fn time(op: &Op, dtype: Dtype, device: &Device) -> KernelTime {
    kernel_time(op, dtype, Bytes::ZERO, Bytes::ZERO, device)
}

fn has_device_work(op: &Op) -> bool {
    if let Op::Routine { parts } = op {
        return parts.iter().any(|part| has_device_work(&part.op));
    }
    !matches!(op.family(), Family::Synchronise | Family::StreamWait | Family::View | Family::HostOnly | Family::Opaque)
}

/// Products in whole tiles: other shapes take slower kernels, so that 4097 is slower than 4128.
fn rounded(op: Op) -> Op {
    match op {
        Op::Matmul { m, n, k, batch, bias } => {
            let [m, n, k] = [m, n, k].map(|d| d.min(1 << 50) / 32 * 32);
            Op::Matmul { m, n, k, batch: batch / 32 * 32, bias }
        }
        op => op,
    }
}

/// Families whose time never falls when a dim grows; see `fft` for why transforms are not among them, `matmul` and so
/// `recurrent` for tensor units' alignment, `convolution` for the groups and the kernel size that choose the algorithm.
fn grows(op: &Op, dtype: Dtype) -> bool {
    match op.family() {
        Family::Matmul => matches!(dtype, Dtype::F32 | Dtype::C64 | Dtype::I64),
        Family::Fft
        | Family::Convolution
        | Family::Attention
        | Family::Recurrent
        | Family::Sparse
        | Family::Collective => false,
        _ => true,
    }
}

/// `op` with one of its dims larger.
fn larger(op: &Op, which: usize, factor: u64) -> Op {
    let up = |d: u64| d.saturating_mul(factor).saturating_add(if op.family() == Family::Matmul { 32 } else { 1 });
    let mut op = op.clone();
    let dims: Vec<&mut u64> = match &mut op {
        Op::Matmul { m, n, k, batch, .. } => vec![m, n, k, batch],
        Op::Elementwise { n, .. } | Op::Random { n, .. } | Op::Copy { n, .. } => vec![n],
        Op::Reduce { n, .. } => vec![n],
        Op::Rowwise { rows, width, .. } | Op::Scan { rows, width } | Op::Sort { rows, width, .. } => vec![rows, width],
        Op::Gather { n, source } => vec![n, source],
        // More places are added to side by side.
        Op::Scatter { n, accumulate: true, .. } => vec![n],
        Op::Scatter { n, target, .. } => vec![n, target],
        Op::Factor { m, n, rhs, batch, .. } => vec![m, n, rhs, batch],
        Op::Window { n, input, window, .. } => vec![n, input, window],
        Op::Embedding { n, width, .. } => vec![n, width],
        Op::Dataframe { rows, columns, out_rows, keys, other_rows, window, .. } => {
            vec![rows, columns, out_rows, other_rows, keys, window]
        }
        _ => vec![],
    };
    let count = dims.len();
    if let Some(d) = dims.into_iter().nth(which % count.max(1)) {
        *d = up(*d);
    }
    op
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn every_answer_is_finite_and_positive(op in any_op(), dtype in select(DTYPES), device in any_device(),
        read in 0.0..1e300, written in 0.0..1e300)
    {
        for t in [time(&op, dtype, &device), kernel_time(&op, dtype, Bytes(read), Bytes(written), &device)] {
            prop_assert!(t.p50.get().is_finite() && t.p50.get() >= 0.0, "{t:?}");
            prop_assert!(t.flop.get().is_finite() && t.flop.get() >= 0.0, "{t:?}");
            prop_assert!(t.bytes.get().is_finite() && t.bytes.get() >= 0.0, "{t:?}");
            prop_assert!((0.0..=1.0).contains(&t.utilisation), "{t:?}");
            prop_assert!(t.sigma_own > 0.0 && t.sigma_shared > 0.0 && t.sigma_own < 3.0 && t.sigma_shared < 3.0);
            if has_device_work(&op) {
                let floor = if device.kind == DeviceKind::Gpu { 1e-6 } else { 1e-7 };
                prop_assert!(t.p50.get() >= floor && t.launches >= 1, "{t:?}");
            } else {
                prop_assert_eq!(t.p50.get(), 0.0);
            }
        }
    }

    #[test]
    fn nothing_beats_the_datasheet(op in any_plain_op(), dtype in select(DTYPES), device in any_device()) {
        let t = time(&op, dtype, &device);
        if t.p50.get() > 1e90 {
            return Ok(()); // held at the largest time
        }
        // One that the datasheet does not tell is as large as the model takes it to be, at most.
        let untold = (LARGE_CACHE_SECONDS * device.bandwidth.get()).max(4e6);
        let beyond_cache = t.bytes.get() - 2.0 * device.cache.map_or(untold, |c| c.get());
        // The host link and one direct look at the cache are their own limits.
        if device.kind == DeviceKind::Gpu && t.bound != Bound::Transfer {
            prop_assert!(t.p50.get() >= beyond_cache / device.bandwidth.get(), "{t:?}");
        }
        let arithmetic = matches!(op.family(), Family::Matmul | Family::Attention | Family::Convolution | Family::Factor);
        if let Some((peak, _)) = device.matrix_peak(dtype).filter(|_| arithmetic) {
            // Winograd does up to 6.25 times fewer multiplications; nobody has it for doubles.
            let doubles = matches!(dtype, Dtype::F64 | Dtype::C128);
            let saved = if op.family() == Family::Convolution && !doubles { 6.25 } else { 1.0 };
            prop_assert!(t.p50.get() * saved * 1.000_001 >= t.flop.get() / peak.get(), "{t:?}");
        }
    }

    // Each of its kernels may find its bytes in the cache: what holds for them holds for their sum.
    #[test]
    fn a_routine_takes_as_long_as_its_parts(op in any_op(), dtype in select(DTYPES), device in any_device()) {
        let Op::Routine { parts } = &op else { return Ok(()) };
        let alone = |part: &Part| time(&part.op, part.dtype, &device).p50.get() * part.count as f64;
        let sum: f64 = parts.iter().map(alone).sum();
        let whole = time(&op, dtype, &device).p50.get();
        prop_assert!((whole - sum.min(1e100)).abs() <= 1e-9 * whole, "{whole} of {sum}");
    }

    #[test]
    fn more_work_never_takes_less_time(op in any_op().prop_map(rounded), dtype in select(DTYPES), device in any_device(),
        which in 0..6usize, factor in 1..50u64)
    {
        if !grows(&op, dtype) {
            return Ok(());
        }
        let (small, large) = (time(&op, dtype, &device), time(&larger(&op, which, factor), dtype, &device));
        prop_assert!(large.p50.get() >= small.p50.get() * (1.0 - 1e-12), "{small:?} {large:?}");
    }

    #[test]
    fn twice_the_bandwidth_and_compute_never_slows(op in any_op(), dtype in select(DTYPES), device in any_device()) {
        let (once, twice) = (time(&op, dtype, &device), time(&op, dtype, &doubled(&device)));
        prop_assert!(twice.p50.get() <= once.p50.get() * (1.0 + 1e-12), "{once:?} {twice:?}");
    }

    #[test]
    fn tf32_is_fp32_where_there_are_no_units_for_it(op in any_op(), device in any_device()) {
        let plain = Device { peaks: Peaks { tf32_tensor: None, ..device.peaks }, ..device.clone() };
        prop_assert_eq!(time(&op, Dtype::Tf32, &plain).p50, time(&op, Dtype::F32, &plain).p50);
        if op.family() == Family::Convolution {
            let [short, single] = [Dtype::Tf32, Dtype::F32].map(|dtype| time(&op, dtype, &device).p50.get());
            prop_assert!(short <= single * 1.000_001 + 1e-6, "{short} against {single}");
        }
    }

    #[test]
    fn a_product_below_the_ridge_is_not_bound_by_arithmetic(m in dim(), n in 1..4_u64, k in dim(), device in any_device()) {
        let t = time(&Op::Matmul { m, n, k, batch: 1, bias: false }, Dtype::F32, &device);
        let compute = t.bound == Bound::Compute && device.kind == DeviceKind::Gpu;
        if let Some((peak, _)) = device.matrix_peak(Dtype::F32).filter(|_| compute) {
            prop_assert!(t.flop.get() / peak.get() >= t.bytes.get() / device.bandwidth.get() * 0.999_999, "{t:?}");
        }
    }

    #[test]
    fn more_recorded_bytes_never_take_less_time(n in dim(), bytes in 1.0..1e12, more in 1.0..100.0, device in any_device()) {
        let op = Op::Elementwise { n, inputs: 1, flop_per_element: 1.0, transcendental: false };
        let at = |b: f64| kernel_time(&op, Dtype::F32, Bytes(b), Bytes(b), &device).p50.get();
        prop_assert!(at(bytes * more) >= at(bytes) * (1.0 - 1e-12));
    }

    #[test]
    fn gaps_in_the_row_widen(op in any_op(), dtype in select(DTYPES), mut device in any_device()) {
        // Kernels in a cache larger than any that is assumed are so short that they are uncertain themselves.
        let assumed = (LARGE_CACHE_SECONDS * device.bandwidth.get()).max(4e6);
        device.cache = device.cache.map(|cache| Bytes(cache.get().min(assumed)));
        let mut without = device.clone();
        without.tdp = None;
        without.cache = None;
        let any = device.tdp.is_some() || device.cache.is_some();
        let (with, without) = (time(&op, dtype, &device), time(&op, dtype, &without));
        // Another board weighs the parts of a routine otherwise.
        prop_assume!(op.family() != Family::Routine);
        prop_assert!(without.sigma_shared >= with.sigma_shared, "{with:?} {without:?}");
        // Another board may take another algorithm for a convolution, of another number of kernels.
        let strictly = any && has_device_work(&op) && op.family() != Family::Convolution;
        prop_assert!(without.sigma_shared > with.sigma_shared || !strictly, "{with:?} {without:?}");
    }

    #[test]
    fn each_gap_of_its_own_widens_and_is_named(device in any_device()) {
        let told = |device: &Device| super::machine::Machine::new(device, Constants::shipped()).gaps;
        let named = gaps(&device, Family::Matmul, Dtype::F32);
        type Removes = fn(&mut Device);
        let lacks: [(&str, Removes); 6] = [
            ("power limit", |d| d.tdp = None),
            ("cache", |d| d.cache = None),
            ("units", |d| d.units = None),
            ("boost clock", |d| (d.boost, d.peaks.f32_vector) = (None, None)),
            ("year", |d| (d.year, d.compute_capability) = (None, None)),
            ("compute capability", |d| d.compute_capability = None),
        ];
        for (figure, remove) in lacks {
            let mut without = device.clone();
            remove(&mut without);
            let new = gaps(&without, Family::Matmul, Dtype::F32).contains(&figure) && !named.contains(&figure);
            prop_assert!(told(&without) > told(&device) || !new, "{figure}");
        }
    }

    #[test]
    fn power_stays_between_floor_and_limit_and_grows_with_use(device in any_device(), u in prop::array::uniform3(any::<f64>()),
        a in 0.0..1.0, b in 0.0..1.0, c in 0.0..1.0, more in 0.0..1.0)
    {
        for w in [power(&device, u[0], u[1], u[2]), power(&device, a, b, c)] {
            prop_assert!(0.0 < w.p10 && w.p10 <= w.p50 && w.p50 <= w.p90 && w.p90.is_finite(), "{w:?}");
            prop_assert!(device.tdp.is_none_or(|limit| w.p90 <= limit.get()));
        }
        prop_assert!(power(&device, a + more, b, c).p50 >= power(&device, a, b, c).p50);
        prop_assert!(power(&device, a, b + more, c).p50 >= power(&device, a, b, c).p50);
    }
}
