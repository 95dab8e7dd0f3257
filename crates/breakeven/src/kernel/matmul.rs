//! Dense products on tiles: each SM works through whole tiles of C, so the busiest one decides; k may be split over
//! several SMs when C is small. The time is that of the best tile and split on the library's menu (the structure of
//! cuBLAS and CUTLASS, *Efficient GEMM in CUDA*, CUTLASS documentation).

use super::cost::{Cost, Job, beside};
use super::machine::{Generation, Machine};
use crate::workload::Dtype;

/// Columns and rows of C in one tile.
pub(super) type Tile = (f64, f64);

/// What libraries offer for one product, and for batches on tensor units.
const TENSOR: &[Tile] = &[(256.0, 128.0), (128.0, 128.0), (128.0, 64.0), (64.0, 128.0), (64.0, 64.0), (32.0, 32.0)];
const ORDINARY: &[Tile] =
    &[(128.0, 128.0), (128.0, 64.0), (32.0, 128.0), (128.0, 32.0), (64.0, 64.0), (64.0, 32.0), (32.0, 32.0)];
/// fp32 tiles that cuBLAS 12 launches on boards up to 2016, single and in batches, and in batches on later ones, as
/// the kernels' names in published traces say.
const EARLY: &[Tile] = &[(32.0, 128.0), (64.0, 64.0), (128.0, 32.0)];
/// What cuBLAS had for them while they were sold, and its first version for Pascal, as times of then say.
const EARLY_THEN: &[Tile] = &[(128.0, 128.0), (128.0, 64.0), (64.0, 64.0)];
const EARLY_FIRST: &[Tile] = &[(128.0, 128.0)];
/// The same for linear layers from Ampere on, whose weights lie along k.
const AMPERE_LINEAR: &[Tile] = &[(128.0, 64.0), (32.0, 128.0), (128.0, 32.0), (64.0, 32.0), (32.0, 32.0)];
const EARLY_BATCH: &[Tile] = &[(128.0, 64.0)];
const VOLTA_BATCH: &[Tile] = &[(128.0, 64.0), (64.0, 64.0), (32.0, 128.0), (128.0, 32.0)];
const AMPERE_BATCH: &[Tile] = &[(128.0, 128.0)];
/// From Hopper on single products come in large tiles only, batches in all; both as times of an H100 and an H200 say.
const LATE: &[Tile] = &[(128.0, 128.0), (128.0, 64.0), (64.0, 128.0)];

/// Elements of a large tile, for which what its start and end take is given.
const LARGE: f64 = 128.0 * 128.0;
/// Parts of k at most.
const PARTS: f64 = 16.0;
/// The last years of cuBLAS's first kernels for Pascal, and of large fp32 tiles for boards up to 2016.
const FIRST: f64 = 2016.0;
const KEPT: f64 = 2021.0;
/// k advances by this many bytes of a row at a time.
const STEP_BYTES: f64 = 64.0;
/// Large tiles that share an SM and wait at the same time, and small ones at most.
const TOGETHER: f64 = 2.0;
const MOST_TOGETHER: f64 = 16.0;
/// Hz at which a tile's fill and drain on tensor units is given.
pub(super) const TILE_CLOCK: f64 = 1.4e9;
/// Row length in bytes from which operands that run along k miss pages.
const PAGES: f64 = 32768.0;
/// k from which few tiles leave a library the choice.
const LONG: f64 = 8192.0;
/// What such rows add at most, in times of the product: none longer than 200 KB has been seen.
const FAR: f64 = 3.0;

/// Exponent by which the time grows from one column to two, and with the products of a small batch, at most: 2^1.3 is 2.5.
const GROWTH: f64 = 1.3;
/// Rows or columns from which batches were timed: one of both sides at least was as long.
const TIMED: f64 = 8.0;
/// Cycles of an SM for the block of one product of a batch: start, one wait for memory, end, with 8 to 16 blocks at a time
/// (assumed; a batch of dot products by PyTorch was seen 44 × slower than to multiply and to sum).
const BLOCK_CYCLES: f64 = 250.0;

/// Share of the rate of tensor cores whose 16-bit operands come by pairs, and one by one.
const PAIRS: [f64; 2] = [0.9, 0.5];
/// The same where only rows of whole 16 bytes can be fetched by the tensor memory accelerator: others take the kernels of
/// the generation before, on an H100.
const FETCHED_PAIRS: [f64; 2] = [0.36, 0.16];

/// Factors on the spread of what is less, or more, certain than a product on tensor units.
const EIGHT_BIT: f64 = 1.9;
const EARLY_LINEAR: f64 = 2.0;
const UNTIMED: f64 = 2.0;
const STREAMING: f64 = 0.6;
const FLAT: f64 = 1.4;
const FLATTEST: f64 = 2.4;
const NARROW: f64 = 1.8;
const DEEP: f64 = 6.0;
const MOST: f64 = 8.0;
const START: f64 = 6.0;
const TINY: f64 = 10.0;

/// What works through the tiles.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Units {
    Ordinary,
    Tensor,
    /// Tensor units whose operands the tensor memory accelerator fetches.
    Fed,
}

/// Arithmetic and memory seconds of a product, and the kernels it takes.
pub(super) struct Product {
    pub(super) compute: f64,
    pub(super) memory: f64,
    pub(super) launches: f64,
    /// All of it, beyond the start of one kernel.
    pub(super) seconds: f64,
}

impl Product {
    fn times(self, count: f64) -> Self {
        Self { compute: self.compute * count, memory: self.memory * count, seconds: self.seconds * count, ..self }
    }

    fn longer(self, other: Self) -> Self {
        if other.seconds > self.seconds { other } else { self }
    }

    pub(super) fn or(self, other: Self) -> Self {
        if other.seconds < self.seconds { other } else { self }
    }
}

pub(super) fn cost(machine: &Machine<'_>, job: &Job, dims: [f64; 4], bias: bool) -> Cost {
    let product = product(machine, job.dtype, dims, bias, job.turned);
    // The bias is added for every element of C, even where k is nothing.
    let at_peak = job.flop / machine.matrix_peak(job.dtype).0;
    let [written, weights] = match operands(machine, job.dtype, dims) {
        // Of an empty product the bias is left.
        [0.0, 0.0] => [0.0, job.bytes],
        both => both,
    };
    let recorded = job.bytes / (written + weights).max(1.0);
    let memory = product.memory.max(once(machine, written * recorded, weights * recorded));
    let tensor = machine.matrix_peak(job.dtype).1;
    let serial = serial(machine, job.dtype);
    // 8-bit products differ between libraries; cuBLAS's choices for old boards are odd.
    let early = bias && !tensor && machine.generation == Generation::Early;
    let doubt = match job.dtype {
        Dtype::F8 | Dtype::I8 | Dtype::U8 => EIGHT_BIT,
        Dtype::F32 | Dtype::Tf32 | Dtype::F16 | Dtype::Bf16 if !early => 1.0,
        _ if early => EARLY_LINEAR,
        // Of doubles, complex and whole numbers two boards have timed a handful.
        _ => UNTIMED,
    };
    let compute = product.compute.max(at_peak);
    // Bandwidth is surer than what a tile reaches, where the figures say which of them it is.
    let known = tensor && machine.device.tdp.is_some() && machine.device.cache.is_some();
    let streams = if known { (memory / compute.max(1e-300) - 1.0).clamp(0.0, 1.0) } else { 0.0 };
    let doubt = doubt * (1.0 - (1.0 - STREAMING) * streams);
    // Of a flat product libraries choose the tile badly, and the time is that of its epilogue.
    let [m, n, k, _] = dims;
    let flat = match k * k / (m * n).max(1.0) {
        square if square < 0.0025 => FLATTEST,
        square if square < 0.01 => FLAT,
        _ => 1.0,
    };
    // On ordinary cores narrow products have kernels of their own; on tensor units those of a few launches' time depend
    // on how the library starts them.
    let start = match machine.floor / (machine.floor + product.seconds) {
        _ if tensor && machine.filled => (START * machine.floor / (machine.floor + at_peak)).min(1.0),
        share if tensor => (START * share).min(1.0),
        _ => 0.0,
    };
    let narrow = if !tensor && m.min(n) <= 32.0 { NARROW } else { 1.0 };
    // One or two SMs go through all of a long k, or it is split: libraries choose by rules that no datasheet tells.
    let [columns, rows, batch] = [(n / 64.0).ceil(), (m / 64.0).ceil(), dims[3]];
    let deep = if m.min(n) > 1.0 && k >= LONG && columns * rows * batch * 16.0 <= machine.units { DEEP } else { 1.0 };
    let doubt = (doubt * flat * narrow.max(deep) * (1.0 + start)).min(MOST);
    let doubt = if dims[3] > 1.0 && m.max(n) < TIMED { TINY } else { doubt };
    // A product that has less arithmetic than its operands take to come waits for these, also where its tiles are too few
    // to ask for all of the bandwidth. Which of the two is named does not change the time.
    let (compute, memory) = if at_peak < job.bytes / machine.bandwidth {
        (compute.min(memory), compute.max(memory))
    } else {
        (compute, memory)
    };
    Cost { launches: product.launches, at_peak, serial, doubt, ..Cost::of(job, compute, memory) }
}

/// A product with `bias` is a linear layer. Rows of the first factor run along m where it lies by columns (`turned`).
///
/// Libraries change kernels from one column to two, and from one product to a batch. The change is taken in steps, so that
/// 1×2×2 and 2×2×2, or batches of 1 and of 2, do not differ by the padding of a tile.
pub(super) fn product(machine: &Machine<'_>, dtype: Dtype, dims: [f64; 4], bias: bool, turned: bool) -> Product {
    let [m, n, k, batch] = dims;
    let loads = loads(machine, dtype, [n, if turned { m } else { k }]);
    let moved = |dims: [f64; 4]| {
        let [written, weights] = operands(machine, dtype, dims);
        once(machine, written, weights)
    };
    let tiled = |dims: [f64; 4]| on_tiles(machine, dtype, dims, bias, loads, moved(dims));
    let by_vector = |dims: [f64; 4]| vector(machine, dtype, dims, moved(dims));
    let columns = m.min(n).max(1.0);
    if batch <= 1.0 {
        // Few columns are no slower than one vector after the other, one product no slower than two of a batch.
        let one_column = if m > n { [m, 1.0, k, batch] } else { [1.0, n, k, batch] };
        return tiled(dims).or(by_vector(one_column).times(columns)).or(tiled([m, n, k, 2.0]).times(2.0));
    }
    let [wide, high] = [m.max(2.0), n.max(2.0)];
    let alone = product(machine, dtype, [wide, high, k, 1.0], bias, turned);
    let small = (wide.max(high) / TIMED).min(1.0);
    let whole = tiled([wide, high, k, batch]).times(small).or(alone.times(libm::pow(batch, GROWTH)));
    let whole = whole.longer(by_vector([1.0, 1.0, k, batch]));
    match [m, n].into_iter().filter(|d| *d <= 1.0).count() {
        0 => whole,
        1 => by_vector(dims).longer(whole.times(libm::pow(0.5, GROWTH))),
        _ => by_vector(dims).longer(whole.times(0.25)),
    }
}

/// Bytes of the first factor and the result, and of the second factor.
fn operands(machine: &Machine<'_>, dtype: Dtype, [m, n, k, batch]: [f64; 4]) -> [f64; 2] {
    let s = dtype.bytes() as f64;
    // Products of 8-bit numbers are handed back in 16 bits.
    let result = if machine.matrix_peak(dtype).1 { s.max(2.0) } else { s };
    let [rows, weights] = [(m * k * s + m * n * result) * batch, k * n * s];
    // Of a batch the first matrix is as cold as that of a single product.
    [rows + weights * (batch - 1.0).max(0.0), weights * batch.min(1.0)]
}

/// Seconds that moving the operands takes: what the op before has written, and what this one writes, is in the cache if it
/// fits; weights are cold when their turn comes.
fn once(machine: &Machine<'_>, written: f64, weights: f64) -> f64 {
    machine.traffic(written, written, 1.0) + weights / machine.stream
}

/// Tensor cores want rows of 16 bytes; 16-bit numbers are also loaded by pairs, others one by one at half the rate. Units
/// that take fp32 or fp64 as it is do not care.
pub(super) fn loads(machine: &Machine<'_>, dtype: Dtype, rows: [f64; 2]) -> f64 {
    let s = dtype.bytes() as f64;
    let rows_of = |bytes: f64| rows.iter().all(|row| (row * s) % bytes == 0.0);
    let whole = matches!(dtype, Dtype::F32 | Dtype::C64 | Dtype::F64 | Dtype::C128);
    let [pairs, singles] = if machine.fetches { FETCHED_PAIRS } else { PAIRS };
    match () {
        () if !machine.matrix_peak(dtype).1 || whole || rows_of(16.0) => 1.0,
        () if s == 2.0 && rows_of(4.0) => pairs,
        () => singles,
    }
}

/// The same where both factors and the result take `once` seconds to move, a convolution's images are not as many as the
/// rows that are gathered from them, and loads leave the share `loads` of the rate.
pub(super) fn on_tiles(
    machine: &Machine<'_>,
    dtype: Dtype,
    [m, n, k, batch]: [f64; 4],
    bias: bool,
    loads: f64,
    once: f64,
) -> Product {
    let c = machine.constants;
    let tensor = machine.matrix_peak(dtype).1;
    let s = dtype.bytes() as f64;
    let eight = dtype == Dtype::F8 && machine.device.peaks.f8_tensor.is_some();
    // Without units for them 8-bit floats are multiplied as 16-bit ones.
    let step = STEP_BYTES / if dtype == Dtype::F8 && !eight { 2.0 } else { s };
    let units = match tensor {
        false => Units::Ordinary,
        // Rows that the accelerator cannot fetch take the kernels of the generation before.
        true if machine.fetches && loads >= 1.0 => Units::Fed,
        true => Units::Tensor,
    };
    let single = batch <= 1.0;
    let named = machine.nvidia && matches!(dtype, Dtype::F32 | Dtype::C64);
    let early = machine.generation == Generation::Early && single && !tensor;
    let first = early && named && c.library_year <= FIRST;
    let dropped = early && c.library_year > KEPT;
    let menu = match (machine.generation, single) {
        _ if tensor => TENSOR,
        _ if !named => ORDINARY,
        _ if machine.late => {
            if single {
                LATE
            } else {
                ORDINARY
            }
        }
        (Generation::Early, true) if first => EARLY_FIRST,
        (Generation::Early, true) if dropped => EARLY,
        (Generation::Early, true) => EARLY_THEN,
        (Generation::Early, false) => EARLY_BATCH,
        (Generation::Ampere, true) if bias => AMPERE_LINEAR,
        (_, true) => ORDINARY,
        (Generation::Volta, false) => VOLTA_BATCH,
        (Generation::Ampere, false) => AMPERE_BATCH,
    };
    // A part has four steps at least; as many parts as that allows are on the menu, too, so that more steps never take less.
    let most = if first { 1.0 } else { (k / (4.0 * step)).clamp(1.0, PARTS) };
    // Long rows of a layer's operands span many pages of memory.
    let pages = if dropped { c.gemm_far } else { c.gemm_far_late };
    let far = if bias { 1.0 + ((k * s - PAGES).max(0.0) / (PAGES * pages)).min(FAR) } else { 1.0 };
    // Before Ampere the fastest loads are for whole steps of k.
    let ragged = !tensor && single && machine.generation != Generation::Ampere && k % 32.0 != 0.0;
    let mut share = loads;
    if dropped {
        share *= c.gemm_early;
    }
    if ragged {
        share *= c.gemm_ragged;
    }
    if machine.amd && !single {
        share *= c.gemm_batch_amd;
    }
    let per_unit = unit_rate(machine, dtype) * share;
    let flop_per_step = 2.0 * dtype.complex_factor();
    let (fill, end, issue, tile_s, slope, wait) = if tensor {
        // Latencies are cycles.
        let start = c.gemm_tile_us_tensor * 1e-6 * (TILE_CLOCK / machine.clock);
        let wait = if units == Units::Fed { c.gemm_wait_fetched } else { c.gemm_wait_tensor };
        // What feeds the units is so many instructions, however fast they multiply.
        let issue = if units == Units::Fed { c.gemm_step_fetched } else { c.gemm_step_cycles };
        let [end, issue] = [c.gemm_end_cycles, issue / step].map(|cycles| cycles / (LARGE * machine.clock));
        (0.0, end, issue, start, c.gemm_edge_tensor, wait / machine.clock)
    } else {
        (c.gemm_fill_vector, 0.0, 0.0, c.gemm_tile_us * 1e-6, c.gemm_edge, 0.0)
    };

    let serial = serial(machine, dtype);
    let mut best = Product { compute: f64::INFINITY, memory: 0.0, launches: 1.0, seconds: f64::INFINITY };
    for &(columns, rows) in menu {
        let tiles = (n / columns).ceil() * (m / rows).ceil() * batch;
        let rate = per_unit * tile_share((columns, rows), slope);
        // Splitting fills SMs that have no tile.
        for split in [1.0, 2.0, 4.0, 8.0, PARTS, most] {
            // Products of 8-bit floats with scales are not split.
            if split > 1.0 && (split > most || tiles >= machine.units || eight) {
                continue;
            }
            let depth = (k / split / step).ceil() * step;
            let each = columns * rows * (flop_per_step * (depth * far + fill) / rate + depth * issue + end);
            let arithmetic = waves(machine, tiles * split, units) * each;
            // A step along k waits for its operands, also where nothing else keeps the SM busy.
            let together = (TOGETHER * LARGE / (columns * rows)).min(MOST_TOGETHER);
            let rounds = (tiles * split / (machine.units * together)).max(tiles.min(1.0));
            let compute = arithmetic.max(rounds * wait * depth / step) + tile_s;
            // Operands once from memory (weights are cold when their turn comes) and again from cache for each tile;
            // partial results there and back.
            let partial = if split > 1.0 { 2.0 * split * m * n * batch * s.max(4.0) } else { 0.0 };
            let reloads = tiles * (columns + rows) * k * s;
            // However few the tiles, each draws its operands through its own SM.
            let alone = (columns + rows) * depth * s / (machine.clock * c.gemm_draw);
            let memory = (once + machine.traffic(partial, partial, 1.0))
                .max(reloads / (machine.cache_rate * c.gemm_reload))
                .max(alone);
            let launches = if split > 1.0 { 2.0 } else { 1.0 };
            let seconds = beside(compute, memory, serial) + (launches - 1.0) * machine.floor;
            if seconds < best.seconds {
                best = Product { compute, memory, launches, seconds };
            }
        }
    }
    best
}

/// A product with a vector (gemv, dot) pads no tile: each number of the matrix is used once, in `once` seconds. Each product
/// of a batch takes a block of threads, however little it does.
pub(super) fn vector(machine: &Machine<'_>, dtype: Dtype, [m, n, k, batch]: [f64; 4], once: f64) -> Product {
    let c = machine.constants;
    let rate = machine.vector_peak(plain(dtype)) * c.gemm_share_vector;
    let compute = 2.0 * dtype.complex_factor() * m * n * k * batch / rate + c.gemm_tile_us * 1e-6;
    let blocks = if batch > 1.0 { batch * BLOCK_CYCLES / (machine.units * machine.clock) } else { 0.0 };
    let memory = once.max(blocks);
    let seconds = beside(compute, memory, serial(machine, dtype));
    Product { compute, memory, launches: 1.0, seconds }
}

/// How much of the shorter of arithmetic and memory is not hidden. From Hopper on a tile of fp32 has its SM to itself: while
/// it loads or stores nothing is multiplied.
pub(super) fn serial(machine: &Machine<'_>, dtype: Dtype) -> f64 {
    match (machine.matrix_peak(dtype).1, dtype) {
        (true, _) => machine.constants.gemm_serial_tensor,
        (false, Dtype::F32 | Dtype::C64) if machine.late => 1.0,
        _ => machine.constants.gemm_serial,
    }
}

/// What ordinary cores compute numbers of 16 bits and less in, and those of TF32.
pub(super) fn plain(dtype: Dtype) -> Dtype {
    if matches!(dtype, Dtype::F16 | Dtype::Bf16 | Dtype::F8 | Dtype::Tf32) { Dtype::F32 } else { dtype }
}

/// FLOP/s of one SM inside a large tile. The power limit
/// throttles the clock of all SMs alike, and less where there is less arithmetic.
pub(super) fn unit_rate(machine: &Machine<'_>, dtype: Dtype) -> f64 {
    unit_rate_of(machine, dtype, machine.matrix_peak(dtype), 1.0)
}

/// The same of its ordinary cores, whatever else it has, where every instruction but the share `slack` is arithmetic.
pub(super) fn ordinary_rate(machine: &Machine<'_>, dtype: Dtype, slack: f64) -> f64 {
    unit_rate_of(machine, dtype, (machine.vector_peak(dtype), false), slack)
}

fn unit_rate_of(machine: &Machine<'_>, dtype: Dtype, (peak, tensor): (f64, bool), slack: f64) -> f64 {
    let c = machine.constants;
    let share = match tensor {
        true if machine.amd && dtype.bytes() <= 2 => c.gemm_share_amd,
        true if machine.amd && dtype == Dtype::F32 => c.gemm_share_amd_single,
        true if dtype.bytes() < 8 => c.gemm_share_tensor,
        false if machine.single_issue() => c.gemm_share_vector * c.gemm_issue,
        _ => c.gemm_share_vector,
    };
    machine.sustained(peak * share * slack, tensor, dtype) / machine.units
}

/// Share of a large tile's rate: what a tile loads grows with its edges, what it computes with its area.
pub(super) fn tile_share((columns, rows): Tile, slope: f64) -> f64 {
    1.0 / (1.0 + slope * (1.0 / columns + 1.0 / rows - 1.0 / 64.0).max(0.0))
}

/// Tiles that the busiest SM works through, one after the other. The last wave is partly hidden by tiles that share
/// the SM; a tile alone on its SM cannot hide its own latencies.
pub(super) fn waves(machine: &Machine<'_>, tiles: f64, units: Units) -> f64 {
    let c = machine.constants;
    let (whole, lone) = match units {
        Units::Ordinary => (c.gemm_wave, c.gemm_lone),
        Units::Tensor => (c.gemm_wave_tensor, 0.0),
        Units::Fed => (c.gemm_wave_fetched, 0.0),
    };
    let each = tiles / machine.units;
    if each <= 0.0 {
        return 0.0; // an empty product
    }
    (whole * each.ceil() + (1.0 - whole) * each).max(1.0 + lone)
}
