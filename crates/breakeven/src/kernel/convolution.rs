//! Convolution as the fastest of what cuDNN offers (Chetlur et al. 2014): implicit GEMM on tensor units, around which images
//! change their layout, or on ordinary cores; Winograd (`winograd`); kernels for each channel by itself (`depthwise`).

use super::cost::{Cost, Job, beside};
use super::machine::{Generation, Machine};
use super::matmul::{self, Tile};
use super::{depthwise, winograd};
use crate::workload::{Dtype, Pass, family::ConvolutionDims};

/// The year of the first cuDNN whose small transforms of weights are kernels of their own.
const SMALL_TRANSFORMS: f64 = 2018.0;

/// Tiles of cuDNN's implicit GEMM on ordinary cores, output channels first.
const IMPLICIT: &[Tile] = &[(128.0, 128.0), (64.0, 128.0), (32.0, 128.0)];
/// The same from Hopper on, as their names say: forward, and both gradients.
const LATE_FORWARD: &[Tile] = &[(64.0, 256.0), (32.0, 128.0), (32.0, 32.0)];
const LATE_BACK: &[Tile] = &[(32.0, 32.0)];
/// Rows and columns of its kernels that scatter a gradient of images.
const SCATTERED: &[Tile] = &[(64.0, 32.0)];
/// Points of an image that one block sums for a gradient of weights.
const SUMMED: f64 = 512.0;

/// Seconds of a kernel beyond its work, to whoever chooses among algorithms.
const LAUNCH: f64 = 2e-6;

/// Groups of few channels are packed into tiles of so many columns; rows and channels of a block that changes layouts.
const PACKED: f64 = 64.0;
const PIECE: f64 = 32.0;

/// A convolution with the sides that choose its algorithm.
pub(super) struct Sides<'a> {
    pub(super) dims: &'a ConvolutionDims,
    pub(super) input: &'a [u64],
    pub(super) kernel: &'a [u64],
}

/// One way to do a pass: seconds of arithmetic, of memory traffic beside it and the share of the shorter that is not hidden,
/// of changing layouts, and kernels.
#[derive(Clone, Copy)]
pub(super) struct Way {
    pub(super) compute: f64,
    pub(super) memory: f64,
    pub(super) serial: f64,
    pub(super) turning: f64,
    pub(super) launches: f64,
}

impl Way {
    fn seconds(&self) -> f64 {
        beside(self.compute, self.memory, self.serial) + self.turning
    }

    fn or(self, other: Self) -> Self {
        let with_launches = |way: &Self| way.seconds() + way.launches * LAUNCH;
        if with_launches(&other) < with_launches(&self) { other } else { self }
    }
}

pub(super) fn cost(machine: &Machine<'_>, job: &Job, sides: &Sides<'_>, pass: Pass) -> Cost {
    let both = [Pass::BackwardData, Pass::BackwardWeight];
    let passes = if pass == Pass::Backward { &both[..] } else { &[pass] };
    let count = passes.len() as f64;
    let one = Job { flop: job.flop / count, bytes: job.bytes / count, ..*job };
    let each = passes.iter().map(|pass| {
        let asked = fastest(machine, &one, sides, *pass);
        // What may be in TF32 need not be: cuDNN takes Winograd in fp32 where that is faster.
        let plain = || fastest(machine, &Job { dtype: Dtype::F32, ..one }, sides, *pass);
        // Its transforms take halves, too, and compute them in fp32: on boards whose tensor units are hardly faster.
        let halves = job.dtype == Dtype::F16 && machine.nvidia && !machine.late;
        if job.dtype == Dtype::Tf32 || halves { asked.or(plain()) } else { asked }
    });
    let (mut seconds, mut launches, mut balance) = (0.0, 0.0, 0.0);
    for way in each {
        seconds += way.seconds();
        launches += way.launches;
        balance += way.compute - way.memory - way.turning;
    }
    let (compute, memory) = if balance >= 0.0 { (seconds, 0.0) } else { (0.0, seconds) };
    // Gradients have more algorithms than these.
    let doubt = if pass == Pass::Forward { 1.0 } else { 1.8 };
    // What cuDNN has since Hopper was read off Hopper alone.
    let doubt = if machine.beyond_hopper { 1.5 * doubt } else { doubt };
    let at_peak = job.flop / machine.matrix_peak(job.dtype).0;
    Cost { launches, at_peak, doubt, ..Cost::of(job, compute, memory) }
}

/// One pass by its fastest algorithm.
fn fastest(machine: &Machine<'_>, job: &Job, sides: &Sides<'_>, pass: Pass) -> Way {
    if let Some(way) = depthwise::way(machine, job, sides, pass) {
        return way;
    }
    let d = sides.dims;
    // Tensor units take channels by 16 bytes. Less is filled up from Ampere on, or runs on ordinary cores, as before.
    let wide = d.cin / d.groups * job.dtype.bytes() as f64 >= 16.0;
    let tensor = machine.matrix_peak(job.dtype).1;
    let one = match (tensor, wide) {
        (true, true) => on_tensor_units(machine, job, d, pass),
        (true, false) if fills(machine) && pass == Pass::Forward => {
            on_tensor_units(machine, job, d, pass).or(on_ordinary_cores(machine, job, d, pass))
        }
        (true, false) if fills(machine) => on_tensor_units(machine, job, d, pass),
        _ => on_ordinary_cores(machine, job, d, pass),
    };
    let tensor = tensor && wide;
    // Padding keeps the image's size; a gradient of the weights has no such small tiles.
    let weights = pass == Pass::BackwardWeight;
    let exact = matches!(job.dtype, Dtype::F32 | Dtype::C64);
    // Nor does cuDNN transform doubles.
    let plain = exact || (!tensor && !matches!(job.dtype, Dtype::F64 | Dtype::C128));
    let dense = machine.transforms && d.output >= 0.8 * d.input && d.groups == 1.0 && plain;
    let floor = job.flop / machine.matrix_peak(job.dtype).0;
    let way = |compute, launches| Way { compute, turning: 0.0, launches, ..one };
    let memory = machine.traffic(job.bytes, job.bytes, 1.0);
    let way = |compute, launches| Way { memory, ..way(compute, launches) };
    let side = match sides.kernel {
        [3, 3] if dense => 3.0,
        [5, 5] if dense => 5.0,
        _ => return one,
    };
    if machine.late && !weights {
        let (seconds, launches) = winograd::fourier(machine, job, d, side);
        return if exact { one.or(way(seconds, launches)) } else { one };
    }
    let one = match side == 3.0 && !weights {
        true => one.or(way(winograd::fused(machine, job, d).max(floor / 2.25), 1.0)),
        false => one,
    };
    // cuDNN 5 and 6 gained nothing by them.
    let late = machine.constants.library_year >= SMALL_TRANSFORMS;
    let back = if weights && late { machine.constants.winograd_back } else { 1.0 };
    let products = winograd::in_steps(machine, job, d, (side + 3.0) * (side + 3.0), weights) / back;
    one.or(way(products.max(floor / winograd::saved(side)), 4.0))
}

/// The pass as a product: rows, columns, depth. `cin` and `cout` are channels of a group as they are computed.
fn product(d: &ConvolutionDims, pass: Pass, [cin, cout]: [f64; 2]) -> [f64; 3] {
    match pass {
        Pass::BackwardData => {
            // Strides leave holes: an input point meets as many outputs as there are, not all of the kernel. Points that
            // meet none are skipped in part.
            let met = d.kernel * (d.output / d.input.max(1.0)).min(1.0);
            let met = if met < 1.0 { libm::sqrt(met) } else { met };
            [d.batch * d.input, cin, cout * met]
        }
        Pass::BackwardWeight => [cout, cin * d.kernel, d.batch * d.output],
        _ => [d.batch * d.output, cout, cin * d.kernel],
    }
}

/// Implicit GEMM on tensor units: around it images are turned to channels last, or, for points, taken as they are.
fn on_tensor_units(machine: &Machine<'_>, job: &Job, d: &ConvolutionDims, pass: Pass) -> Way {
    let weights = pass == Pass::BackwardWeight;
    let s = job.dtype.bytes() as f64;
    let channels = [d.cin / d.groups, d.cout / d.groups];
    if !fills(machine) {
        let gemm = units(machine, job, d, pass, (channels, channels, 1.0));
        let direct = || Way { compute: direct(machine, job, d, weights), ..gemm };
        return if d.groups > 1.0 { gemm.or(direct()) } else { gemm };
    }
    let filled = channels.map(|count| filled(count, d.groups, s));
    // Groups of few channels share a tile, of which only the blocks on the diagonal are wanted.
    let packed = match d.groups > 1.0 {
        true => (PACKED / filled[0].max(filled[1])).floor().clamp(1.0, d.groups),
        false => 1.0,
    };
    // The first layer's few channels are read one by one where they lie last.
    let first = pass == Pass::Forward && job.channels_last && channels[0] * s < 16.0 && d.groups <= 1.0;
    let rows = if first { channels } else { filled };
    let (turning, kernels) = turning(machine, job, d, [0, 1].map(|i| rows[i] / channels[i].max(1.0)));
    let gemm = units(machine, job, d, pass, (rows, rows, packed));
    let turned = Way { turning, launches: gemm.launches + kernels, ..gemm };
    if d.kernel > 1.0 || d.output < d.input || d.groups > 1.0 {
        return turned;
    }
    // Each image is a matrix of channels by points already.
    let rows = match (job.channels_last, weights) {
        (true, _) => channels,
        (false, true) => [d.input, d.input],
        (false, false) => [d.input, d.cin],
    };
    let gemm = units(machine, job, d, pass, (channels, rows, 1.0));
    let share = if job.channels_last { 1.0 } else { machine.constants.conv_points };
    turned.or(Way { memory: gemm.memory / share, ..gemm })
}

/// The product itself: channels of a group as they are computed, elements of the rows that are loaded, groups in a tile.
fn units(
    machine: &Machine<'_>,
    job: &Job,
    d: &ConvolutionDims,
    pass: Pass,
    (channels, rows, packed): ([f64; 2], [f64; 2], f64),
) -> Way {
    let c = machine.constants;
    let [m, n, k] = product(d, pass, channels.map(|count| count * packed));
    // Images have just been written, and are found in the cache of later boards if they fit; weights are cold.
    let weights = d.cin * d.cout / d.groups * d.kernel * job.dtype.bytes() as f64;
    let cold = if fills(machine) { weights.min(job.bytes) } else { job.bytes };
    let loads = matmul::loads(machine, job.dtype, rows);
    let dims = [m, n, k, (d.groups / packed).ceil()];
    let cold = cold / machine.stream;
    let mut product = matmul::on_tiles(machine, job.dtype, dims, false, loads, cold);
    if dims[0] <= 1.0 || dims[1] <= 1.0 {
        product = product.or(matmul::vector(machine, job.dtype, dims, cold));
    }
    let back = match pass {
        // Operands of 32 bits that lie along images are turned on their way into Hopper's units, which take them along k
        // only (PTX, `wgmma`).
        Pass::BackwardWeight if machine.fetches && job.dtype == Dtype::Tf32 => c.conv_back_turned,
        // Neighbouring columns of a kernel's gradient share what they load.
        Pass::BackwardWeight => c.conv_back,
        // Points of an image that strides reach in another way have other parts of the kernel to meet.
        Pass::BackwardData if fills(machine) && d.output < 0.8 * d.input => c.conv_back_strided,
        _ => 1.0,
    };
    let images = job.bytes - cold;
    let memory = (machine.traffic(images, images, 1.0) + cold / machine.stream).max(product.memory);
    let (peak, tensor) = machine.matrix_peak(job.dtype);
    let early = tensor && !machine.recent && pass != Pass::BackwardWeight;
    let start = if early { c.conv_start_us * 1e-6 * matmul::TILE_CLOCK / machine.clock } else { 0.0 };
    let compute = (product.compute / back + start).max(job.flop / peak);
    Way { compute, memory, serial: matmul::serial(machine, job.dtype), turning: 0.0, launches: 1.0 }
}

/// Whether cuDNN has kernels that fill channels up to whole pieces, and pack groups of few.
fn fills(machine: &Machine<'_>) -> bool {
    machine.nvidia && machine.generation == Generation::Ampere
}

/// Channels of a group filled up to pieces of 16 bytes; of several groups to a power of two, up to a whole tile.
fn filled(channels: f64, groups: f64, bytes: f64) -> f64 {
    let piece = 16.0 / bytes;
    if groups <= 1.0 || channels >= PACKED {
        return (channels / piece).ceil() * piece;
    }
    let mut power = piece / 2.0;
    while power < channels {
        power *= 2.0;
    }
    power
}

/// Seconds and kernels to change images and weights to channels last for tensor units, and the result back, or to fill up
/// their channels to so many times `more`. A point for an image lies the same either way.
fn turning(machine: &Machine<'_>, job: &Job, d: &ConvolutionDims, more: [f64; 2]) -> (f64, f64) {
    let c = machine.constants;
    let s = job.dtype.bytes() as f64;
    let cycles = |count: f64| count / (machine.units * machine.clock);
    if d.input.max(d.output) <= 1.0 {
        return (0.0, 0.0);
    }
    let weights = d.cin * d.cout / d.groups * d.kernel;
    let images = [(d.cin, d.input), (d.cout, d.output)].map(|(channels, points)| d.batch * channels * points);
    // Weights of groups are filled up by a kernel that takes its time however few they are.
    let filters = if d.groups > 1.0 && more != [1.0, 1.0] { 1e-6 * c.conv_fill_us } else { 0.0 };
    if job.channels_last {
        let grown = (0..2).filter(|&i| more[i] > 1.0);
        let elements: f64 = grown.map(|i| images[i] * more[i]).sum();
        let kernels = if elements > 0.0 { 2.0 } else { 0.0 };
        return (machine.streamed(2.0 * elements * s, 1.0).max(cycles(elements / c.conv_fill)) + filters, kernels);
    }
    let share = if s < 4.0 { c.conv_turned } else { 1.0 };
    // Channels that are no whole pieces of 16 bytes go one element at a time.
    let gathered = if (d.cin * s) % 16.0 == 0.0 { share } else { c.strided_share };
    // A block takes its time whatever part of it is filled.
    let blocks = |channels: f64, points: f64| d.batch * (channels / PIECE).ceil() * (points / PIECE).ceil();
    let image = |channels: f64, points: f64, share| {
        let bytes = 2.0 * d.batch * channels * points * s;
        machine.streamed(bytes, share).max(cycles(c.conv_turn_cycles * blocks(channels, points)))
    };
    let images = image(d.cin, d.input, gathered) + image(d.cout, d.output, share);
    (images + machine.streamed(2.0 * weights * s, gathered) + filters, 3.0)
}

/// Implicit GEMM on ordinary cores; NVIDIA's goes through groups one after the other.
fn on_ordinary_cores(machine: &Machine<'_>, job: &Job, d: &ConvolutionDims, pass: Pass) -> Way {
    let c = machine.constants;
    let weights = pass == Pass::BackwardWeight;
    let memory = machine.traffic(job.bytes, job.bytes, 1.0);
    let floor = job.flop / machine.matrix_peak(job.dtype).0;
    // As in the same product; kernels that share an SM load the next tile meanwhile.
    let serial = if machine.late { matmul::serial(machine, ordinary(machine, job.dtype)) } else { 0.0 };
    let share = if machine.shares_issue() { c.conv_share_early } else { 1.0 };
    let channels = [d.cin / d.groups, d.cout / d.groups];
    let (in_turn, at_once) = if machine.nvidia { (d.groups, 1.0) } else { (1.0, d.groups) };
    let [m, n, k] = product(d, pass, channels);
    let dims = [m, n, k, at_once];
    let way = |seconds: f64, launches: f64| Way {
        compute: (in_turn * seconds).max(floor),
        memory,
        serial,
        turning: 0.0,
        launches: in_turn * launches,
    };
    let gemm = match pass {
        _ if !machine.late => {
            // Neighbouring columns of a kernel's gradient share what they load; a 1×1 kernel has none.
            let back = match weights {
                true if d.kernel <= 1.0 => c.conv_back_point,
                true => c.conv_back,
                false => 1.0,
            };
            way(implicit(machine, job, IMPLICIT, dims, (share, c.gemm_edge, weights)) / back, 1.0)
        }
        Pass::BackwardData => {
            let gathers = implicit(machine, job, LATE_BACK, dims, (share, c.conv_edge_late, false));
            // Or the other way round: each output adds to the inputs under the kernel, which are cleared before.
            let scattered = [d.batch * d.output, channels[0] * d.kernel, channels[1], at_once];
            let scatters = implicit(machine, job, SCATTERED, scattered, (share, c.conv_edge_late, false));
            let cleared = machine.streamed(d.batch * d.cin * d.input * job.dtype.bytes() as f64, 1.0);
            way(gathers, 1.0).or(Way { turning: cleared, ..way(scatters, 2.0) })
        }
        Pass::BackwardWeight => {
            // A block for each tile and part of an image adds to the gradient: its points follow one another, however many
            // blocks share the SM. Or one for each tile looks at all images, with channels last.
            let tile = LATE_BACK[0];
            let tiles = (m / tile.0).ceil() * (n / tile.1).ceil() * at_once;
            let point = |share| {
                let rate = ordinary_rate(machine, job, share) * matmul::tile_share(tile, c.gemm_edge);
                2.0 * job.dtype.complex_factor() * tile.0 * tile.1 / rate
            };
            let blocks = tiles * d.batch * (d.output / SUMMED).ceil();
            let each = blocks / machine.units * point(share) + c.conv_sum_cycles / machine.clock;
            let summed = way(d.output.min(SUMMED) * each, 1.0);
            let each = (tiles / machine.units).ceil() * point(1.0) + c.conv_tile_cycles / machine.clock;
            let turned = machine.streamed(2.0 * job.bytes, 1.0);
            summed.or(Way { turning: turned, ..way(k * each, 3.0) })
        }
        _ => way(implicit(machine, job, LATE_FORWARD, dims, (share, c.conv_edge_late, false)), 1.0),
    };
    match d.groups > 1.0 && !machine.nvidia {
        true => gemm.or(Way { compute: direct(machine, job, d, weights).max(floor), ..gemm }),
        false => gemm,
    }
}

/// Kernels for groups of few channels: a thread an output, or a block a weight that looks at all images.
fn direct(machine: &Machine<'_>, job: &Job, d: &ConvolutionDims, weights: bool) -> f64 {
    let arithmetic = job.flop / (0.15 * machine.vector_peak(job.dtype));
    // Each element of a filter passes over its images once more; neighbouring blocks share half of it in the cache.
    let again = 0.5 * d.kernel * (d.cin / d.groups) * job.bytes;
    if weights { arithmetic.max(machine.traffic(again, job.bytes, 1.0)) } else { arithmetic }
}

/// One product whose left operand is gathered from the image as it goes.
/// A gradient of weights, small and summed over all images, is worth splitting and may lie either way.
fn implicit(
    machine: &Machine<'_>,
    job: &Job,
    menu: &[Tile],
    dims: [f64; 4],
    (share, edge, splits): (f64, f64, bool),
) -> f64 {
    let [m, n, k, batch] = dims;
    // A step of k waits for its loads: only other tiles on the SM can hide that.
    let wait = if machine.late { k * machine.constants.conv_wait_cycles / machine.clock } else { 0.0 };
    let tile = |&t: &Tile| {
        let time = tiled(machine, job, t, dims, (share, edge, splits)).max(wait);
        if splits { time.min(tiled(machine, job, t, [n, m, k, batch], (share, edge, splits))) } else { time }
    };
    menu.iter().map(tile).fold(f64::INFINITY, f64::min)
}

/// Seconds of `batch` products m×n×k in one size of tile, whose edges cost `edge`; k may be split when the tiles leave SMs
/// idle.
pub(super) fn tiled(
    machine: &Machine<'_>,
    job: &Job,
    tile: Tile,
    [m, n, k, batch]: [f64; 4],
    (share, edge, splits): (f64, f64, bool),
) -> f64 {
    let c = machine.constants;
    let tiles = (n / tile.0).ceil() * (m / tile.1).ceil() * batch;
    let most = if splits { (k / 256.0).max(1.0) } else { 1.0 };
    let split = (machine.units / tiles.max(1.0)).floor().clamp(1.0, most);
    let rate = ordinary_rate(machine, job, share) * matmul::tile_share(tile, edge);
    let flop = 2.0 * job.dtype.complex_factor() * tile.0 * tile.1 * (k / split + c.gemm_fill_vector);
    let partial = if split > 1.0 { 2.0 * split * m * n * batch * job.dtype.bytes() as f64 } else { 0.0 };
    matmul::waves(machine, tiles * split, matmul::Units::Ordinary) * flop / rate
        + machine.traffic(partial, partial, 1.0)
}

/// FLOP/s of one SM's ordinary cores.
pub(super) fn ordinary_rate(machine: &Machine<'_>, job: &Job, slack: f64) -> f64 {
    matmul::ordinary_rate(machine, ordinary(machine, job.dtype), slack)
}

/// In what ordinary cores compute what tensor units do not take.
fn ordinary(machine: &Machine<'_>, dtype: Dtype) -> Dtype {
    if machine.matrix_peak(dtype).1 { Dtype::F32 } else { dtype }
}
