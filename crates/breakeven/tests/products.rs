//! Products on any GPU of the catalogue: neighbours take similar times, with no step between those that differ by one in
//! one dim; and additions to one place, of which a GPU's time is known.

use breakeven::hardware::{Catalogue, Gpu};
use breakeven::kernel::kernel_time;
use breakeven::units::Bytes;
use breakeven::workload::{Dtype, Op};
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
    Dtype::C64,
    Dtype::C128,
];

/// Times that the next size takes at most: where the dim grows by less than half, and where it doubles. Beside twice the
/// tiles there are SMs without one, k that is no longer split, operands that outgrow the cache, and the model's growth from
/// one column to two.
const MOST: [f64; 2] = [2.5, 4.0];

/// Mostly few, where padding weighs most, and the edges of tiles.
fn dim() -> impl Strategy<Value = u64> {
    prop_oneof![
        4 => 1..20_u64,
        2 => select(&[31_u64, 32, 63, 64, 127, 128, 255, 256, 8191, 8192][..]),
        2 => 20..600_u64,
        1 => 600..20_000_u64,
    ]
}

fn batch() -> impl Strategy<Value = u64> {
    prop_oneof![3 => 1..20_u64, 2 => 20..3000_u64, 2 => 3000..4_000_000_u64]
}

/// Elements that one load of a tensor unit takes: rows of other lengths take slower kernels, by a factor that was
/// measured, so that neighbours are the next rows of the same kind.
fn stride(dtype: Dtype) -> u64 {
    16 / dtype.bytes().clamp(1, 16)
}

/// Bytes of both factors and the result.
fn bytes([m, n, k, batch]: [u64; 4], dtype: Dtype) -> f64 {
    Op::Matmul { m, n, k, batch, bias: false }.min_bytes(dtype).get()
}

/// The next in one dim, and how often its time is of the time here.
fn step(dims: [u64; 4], (which, twice): (usize, bool), bias: bool, dtype: Dtype, gpu: &Gpu) -> Option<([u64; 4], f64)> {
    let whole = matches!(dtype, Dtype::F32 | Dtype::F64 | Dtype::C64 | Dtype::C128 | Dtype::I64 | Dtype::I32);
    let by = if which == 3 || whole { 1 } else { stride(dtype) };
    let mut next = dims;
    next[which] += if twice { dims[which] } else { by };
    // Memory is up to eight times slower than the last cache: no neighbours where one fits and the other does not.
    // A cache that is not told is taken for one of these, by age and maker.
    let bandwidth = gpu.device.bandwidth.get();
    let caches = gpu.device.cache.map_or_else(|| vec![4e6, 15e-6 * bandwidth, 60e-6 * bandwidth], |c| vec![c.get()]);
    let crosses = |small: [u64; 4], large: [u64; 4]| {
        caches.iter().any(|cache| bytes(small, dtype) < 3.0 * cache && bytes(large, dtype) > 0.3 * cache)
    };
    let of_batch = |[m, n, k, _]: [u64; 4]| [m, n, k, 1];
    if crosses(dims, next) || crosses(of_batch(dims), of_batch(next)) {
        return None;
    }
    let seconds = |[m, n, k, batch]: [u64; 4]| {
        let op = Op::Matmul { m, n, k, batch, bias };
        kernel_time(&op, dtype, Bytes::ZERO, Bytes::ZERO, &gpu.device).p50.get()
    };
    Some((next, seconds(next) / seconds(dims)))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    #[test]
    fn no_step_between_neighbours(dims in (dim(), dim(), dim(), batch()), bias in any::<bool>(), which in (0..4_usize, any::<bool>()),
        dtype in select(DTYPES), gpu in select(Catalogue::embedded().gpus()))
    {
        let whole = matches!(dtype, Dtype::F32 | Dtype::F64 | Dtype::C64 | Dtype::C128 | Dtype::I64 | Dtype::I32);
        let by = if whole { 1 } else { stride(dtype) };
        let dims = [dims.0.next_multiple_of(by), dims.1.next_multiple_of(by), dims.2.next_multiple_of(by), dims.3];
        if let Some((next, ratio)) = step(dims, which, bias, dtype, &gpu) {
            let most = MOST[usize::from(2 * next[which.0] > 3 * dims[which.0])];
            prop_assert!(ratio <= most && ratio >= 1.0 / MOST[0], "{dtype:?} {dims:?} to {next:?}: {ratio} × on {}", gpu.device.id);
        }
    }
}

#[test]
fn tiny_products_cost_alike() {
    for gpu in Catalogue::embedded().gpus() {
        for dtype in DTYPES {
            let [vector, square] = [1, 2].map(|m| {
                let op = Op::Matmul { m, n: 2, k: 2, batch: 1 << 20, bias: false };
                kernel_time(&op, *dtype, Bytes::ZERO, Bytes::ZERO, &gpu.device).p50.get()
            });
            assert!(square < 2.6 * vector && vector <= square * 1.001, "{vector} {square} {dtype:?} {}", gpu.device.id);
        }
    }
}

/// A million dot products of PyTorch, each a product of a batch, were seen to take 44 times as long as to multiply and to
/// sum.
#[test]
fn a_batch_of_dot_products_is_slower_than_to_multiply_and_to_sum() {
    let gpu = &Catalogue::embedded().gpu("a100-sxm4-80gb").unwrap().device;
    let time = |op: &Op| kernel_time(op, Dtype::F32, Bytes::ZERO, Bytes::ZERO, gpu);
    for c in [3, 16, 64] {
        let n = 1 << 20;
        let dots = time(&Op::Matmul { m: 1, n: 1, k: c, batch: n, bias: false });
        let product = Op::Elementwise { n: n * c, inputs: 2, flop_per_element: 1.0, transcendental: false };
        let apart = time(&product).p50.get() + time(&Op::Reduce { n: n * c, out: n, flop_per_element: 1.0 }).p50.get();
        let ratio = dots.p50.get() / apart;
        let spread = libm::exp(1.2816 * libm::hypot(dots.sigma_shared, dots.sigma_own));
        let holds = ratio / spread < 44.0 && ratio * spread > 44.0;
        assert!(holds || (44.0 / 3.0..44.0 * 3.0).contains(&ratio), "{c}: {ratio} ×, {spread}");
    }
}

#[test]
fn all_to_one_place_takes_forty_milliseconds_on_a_v100() {
    let gpu = &Catalogue::embedded().gpu("v100-sxm2-16gb").unwrap().device;
    let ms = |target| {
        let op = Op::Scatter { n: 1 << 24, target, accumulate: true };
        kernel_time(&op, Dtype::F64, Bytes::ZERO, Bytes::ZERO, gpu).p50.get() * 1e3
    };
    assert!((ms(1) / 40.0 - 1.0).abs() < 0.3, "{} ms", ms(1));
    assert!(ms(2) < 0.6 * ms(1) && ms(1 << 20) < 0.1 * ms(1), "{} {}", ms(2), ms(1 << 20));
}
