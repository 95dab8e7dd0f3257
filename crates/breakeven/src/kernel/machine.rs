//! A device as the family models use it: datasheet figures with the gaps filled, and how much the filling may be off.

use super::{Constants, Support};
use crate::hardware::{Device, DeviceKind, device::Vendor};
use crate::workload::{Dtype, Family};

/// Standard deviation of ln(time) of a CPU's ops beyond that of a GPU's.
const CPU_SIGMA: f64 = 0.35;
/// The same of a CPU of which only the cores are known: of one that draws 36 GB/s from memory with one core, and one that
/// draws 12.
const UNKNOWN_CPU_SIGMA: f64 = 0.55;

/// The bandwidth times this is the last cache of a board since 2020 whose datasheet does not tell it; and of NVIDIA's since
/// Ada that have no stacked memory.
const CACHE_SECONDS: f64 = 15e-6;
pub(super) const LARGE_CACHE_SECONDS: f64 = 60e-6;

/// NVIDIA's compute capabilities of which fits have seen boards; of older ones only convolutions and products.
const FITTED: [u32; 6] = [6, 7, 8, 9, 10, 12];

/// Standard deviation of ln(time) of a board that is announced and not sold: within a year the bandwidth of one was raised by
/// a fifth before it came out, that of another by two thirds.
const ANNOUNCED_SIGMA: f64 = 0.25;

/// Standard deviation of ln(time) where a rate that a board has is not told.
const UNTOLD_SIGMA: f64 = 0.7;

/// Kernels are chosen by generation: up to Pascal, Volta and Turing, Ampere and later. Other makers' boards by year.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Generation {
    Early,
    Volta,
    Ampere,
}

/// A device and the constants of the models, worked out once for all ops that are timed on it.
pub struct Machine<'a> {
    pub(super) device: &'a Device,
    pub(super) constants: &'a Constants,
    /// When it was made, as far as libraries tell boards apart.
    pub(super) generation: Generation,
    /// Hopper and later: cuDNN has no forward Winograd for them.
    pub(super) late: bool,
    /// The same without Hopper, of which alone that was seen.
    pub(super) beyond_hopper: bool,
    /// Whether tensor units are fed by the tensor memory accelerator: Hopper and the large Blackwells.
    pub(super) fetches: bool,
    /// The generation of Ada and Hopper and later, whose copies to shared memory run further ahead.
    pub(super) recent: bool,
    /// Whether the maker's libraries are cuBLAS and cuDNN.
    pub(super) nvidia: bool,
    /// Whether they are AMD's.
    pub(super) amd: bool,
    /// Whether they convolve by transforms: PyTorch asks oneDNN for direct algorithms alone
    /// (`aten/src/ATen/native/mkldnn/xpu/detail/Conv.cpp`).
    pub(super) transforms: bool,
    /// SMs, compute units, cores; at least 1.
    pub(super) units: f64,
    /// Hz.
    pub(super) clock: f64,
    /// Its clock as a multiple of the datasheet's, which rates go by.
    clocks: f64,
    /// fp32 FLOP/s of the ordinary cores.
    pub(super) f32_peak: f64,
    /// Datasheet bandwidth, B/s.
    pub(super) bandwidth: f64,
    /// What a long stream reaches, B/s.
    pub(super) stream: f64,
    /// Bytes of the last cache that a working set can use and stay resident.
    pub(super) resident: f64,
    /// Rate from that cache, B/s; never below `stream`.
    pub(super) cache_rate: f64,
    /// The same of a kernel that reads as much as it writes, and does little else.
    pub(super) cache_stream: f64,
    /// Watts for arithmetic when the board is at its limit.
    pub(super) watts: f64,
    /// Energy of an fp32 FLOP of the ordinary cores and of an fp16 FLOP of tensor units at the full clock, pJ.
    energy: [f64; 2],
    /// Shortest kernel, s.
    pub(super) floor: f64,
    /// Extra standard deviation of ln(time) for figures that were missing.
    pub(super) gaps: f64,
    /// Whether any were: a time that rests on a stand-in says little of how short the kernel is.
    pub(super) filled: bool,
}

impl<'a> Machine<'a> {
    /// `device` with the constants that ship.
    pub fn of(device: &'a Device) -> Self {
        Self::new(device, Constants::shipped())
    }

    /// The device itself.
    pub fn device(&self) -> &'a Device {
        self.device
    }

    /// `device` with other constants, for fitting them.
    pub fn new(device: &'a Device, constants: &'a Constants) -> Self {
        // The spreads were fitted on GPUs; libraries and memory of CPUs differ more.
        let mut missing = match device.kind {
            DeviceKind::Cpu if device.architecture.is_empty() => UNKNOWN_CPU_SIGMA * UNKNOWN_CPU_SIGMA,
            DeviceKind::Cpu => CPU_SIGMA * CPU_SIGMA,
            DeviceKind::Gpu => 0.0,
        };
        let mut or = |value: Option<f64>, default: f64, sigma: f64| {
            value.and_then(positive).unwrap_or_else(|| {
                missing += sigma * sigma;
                default
            })
        };
        let p = &device.peaks;
        let cpu = device.kind == DeviceKind::Cpu;
        let bandwidth = or(Some(device.bandwidth.get()), 100e9, 0.3);
        // Kernels are chosen by these, and energy goes by them.
        for known in [dated(device), classed(device)] {
            or(known.then_some(1.0), 1.0, 0.1);
        }
        // Boards of one age have about 15 FLOP of fp32 for a byte of bandwidth, and tensor units 8 times that.
        let guess = p.f16_tensor.or(p.bf16_tensor).map_or(15.0 * bandwidth, |t| t.get() / 8.0);
        let clocks = if boosts(device) { constants.boost_beyond } else { 1.0 };
        let f32_peak = clocks
            * or(p.f32_vector.or(p.f64_vector.filter(|_| cpu).map(|r| r * 2.0)).map(|r| r.get()), guess.max(1e9), 0.3);
        let clock = clocks * or(boost(device), 1.5e9, 0.05);
        let major = compute_capability(device);
        let since = |first: u32| major.is_some_and(|major| major >= first);
        let recent =
            since(9) || (device.vendor == Vendor::Nvidia && device.compute_capability.as_deref() == Some("8.9"));
        let fetches = since(9) && !since(12);
        // Hopper and the large Blackwells have 132 to 152. By the rate it would be nearer for others, but then twice the rate of
        // a board at its power limit would leave a lone tile half of it.
        let filled_units = if cpu {
            8.0
        } else if fetches {
            140.0
        } else {
            64.0
        };
        let units = or(device.units.map(f64::from), filled_units, 0.15);
        let seconds = match since_2020(device) {
            _ if recent && !fetches => LARGE_CACHE_SECONDS,
            Some(true) => CACHE_SECONDS,
            _ => 0.0,
        };
        let cache = or(device.cache.map(|b| b.get()), (seconds * bandwidth).max(4e6), 0.1);
        let tdp = or(device.tdp.map(|w| w.get()), limit_from_peak(f32_peak), 0.1);
        let generation = generation(device);
        // The constants were fitted to NVIDIA boards, with a handful of figures from AMD and Intel.
        let far = match device.vendor {
            _ if cpu => 0.0,
            // Its oldest and its next ones are far, too.
            Vendor::Nvidia if major.is_some_and(|major| FITTED.contains(&major)) => 0.0,
            Vendor::Nvidia => 0.1,
            Vendor::Amd | Vendor::Intel => 0.15,
            Vendor::Apple | Vendor::Other => 0.25,
        };
        let announced = if device.announced { ANNOUNCED_SIGMA } else { 0.0 };
        let stream = bandwidth
            * match device.vendor {
                _ if generation == Generation::Early => constants.stream_share_early,
                Vendor::Amd if !cpu => constants.stream_share_amd,
                _ if cpu || stacked(device) => constants.stream_share,
                _ if corrects(device) => constants.stream_share_corrected,
                _ => constants.stream_share_plain,
            };
        Self {
            generation,
            late: since(9),
            beyond_hopper: since(10),
            fetches,
            recent,
            nvidia: device.vendor == Vendor::Nvidia,
            amd: device.vendor == Vendor::Amd && !cpu,
            transforms: device.vendor != Vendor::Intel,
            device,
            constants,
            units,
            clock,
            f32_peak,
            bandwidth,
            stream,
            resident: cache
                * match device.vendor {
                    Vendor::Amd if !cpu => constants.l2_reach_amd,
                    _ => constants.l2_reach,
                },
            clocks,
            cache_rate: (units * clock * constants.l2_bytes_per_clock).max(1.5 * stream),
            cache_stream: (units * clock * constants.l2_stream_bytes).max(stream),
            watts: tdp - (constants.floor_work * floor_watts(device, tdp)).min(0.75 * tdp),
            energy: energy(device, constants, f32_peak, tdp),
            floor: if cpu { 0.3e-6 } else { constants.floor_us * 1e-6 },
            gaps: libm::sqrt(missing + far * far + announced * announced),
            filled: missing > 0.0,
        }
    }

    /// Datasheet rate of the ordinary cores in `dtype`, FLOP/s, with a stand-in where there are no such units.
    pub(super) fn vector_peak(&self, dtype: Dtype) -> f64 {
        let given = self.device.vector_peak(dtype).and_then(|r| positive(r.get() * self.clocks));
        given.unwrap_or_else(|| match dtype {
            // Two or more fp32 operations with error terms for each one: Dekker 1971, about 20 times the work.
            Dtype::F64 | Dtype::C128 | Dtype::Other => self.f32_peak / 32.0,
            Dtype::I64 | Dtype::U64 => self.f32_peak / 4.0,
            _ => self.f32_peak,
        })
    }

    /// The fastest datasheet rate for matrix products, FLOP/s, and whether tensor units give it.
    pub(super) fn matrix_peak(&self, dtype: Dtype) -> (f64, bool) {
        match self.device.matrix_peak(dtype) {
            Some((rate, tensor)) if rate.get() > 0.0 => (rate.get() * self.clocks, tensor),
            _ => (self.vector_peak(dtype), false),
        }
    }

    /// What `peak` comes down to near the board's power limit, FLOP/s; never above `peak`.
    pub(super) fn sustained(&self, peak: f64, tensor: bool, dtype: Dtype) -> f64 {
        let c = self.constants;
        let [vector, unit] = self.energy;
        let picojoule = match (tensor, dtype) {
            (false, Dtype::F64 | Dtype::C128) => 2.0 * vector,
            (false, Dtype::F16) => 0.6 * vector,
            (false, _) => vector,
            // As an H100 says, whose products in double precision stay near their peak.
            (true, Dtype::F64 | Dtype::C128) => 0.8 * vector,
            (true, Dtype::F32 | Dtype::C64) => 0.5 * vector,
            // Without units for it the products are fp16's.
            (true, Dtype::F8) if self.device.peaks.f8_tensor.is_some() => c.f8_energy * unit,
            (true, Dtype::I8 | Dtype::U8) => c.i8_energy * unit,
            (true, Dtype::Tf32) => 2.0 * unit,
            (true, _) => unit,
        };
        let by_power = self.watts / (picojoule * 1e-12);
        // The clock gives way a little before the limit is reached: 1 / 8-norm of the reciprocals.
        let ratio = (peak / by_power).min(1e6);
        let eighth_root = |x: f64| libm::sqrt(libm::sqrt(libm::sqrt(x)));
        peak * clock_at(1.0 / eighth_root(1.0 + libm::pow(ratio, 8.0)), c.least_voltage)
    }

    /// Seconds for `bytes` whose working set is `set` bytes: from the cache while it fits, from memory when it does
    /// not, in between in between.
    pub(super) fn traffic(&self, bytes: f64, set: f64, share: f64) -> f64 {
        let hit = self.hits(set);
        bytes * (hit / self.cache_rate + (1.0 - hit) / self.stream) / share
    }

    /// The same for one pass over arrays of `bytes` in all, at `share` of what a copy reaches.
    pub(super) fn streamed(&self, bytes: f64, share: f64) -> f64 {
        let hit = self.hits(bytes);
        bytes * (hit / self.cache_stream + (1.0 - hit) / self.stream) / share
    }

    /// The share of a working set of `set` bytes that is found in the last cache.
    fn hits(&self, set: f64) -> f64 {
        if set <= self.resident { 1.0 } else { (2.0 - set / self.resident).max(0.0) }
    }

    /// Seconds for `flop` operations of ordinary element-wise arithmetic in `dtype`. Libraries compute those of 16 bits
    /// and less in fp32.
    pub(super) fn arithmetic(&self, flop: f64, dtype: Dtype) -> f64 {
        let dtype = super::matmul::plain(dtype);
        let c = self.constants;
        flop / (self.vector_peak(dtype) * if self.amd { c.map_share_amd } else { c.map_share })
    }

    /// Whether loads and the integer arithmetic of indices take the place of floating-point: on boards up to 2016, and
    /// again on those that issue one instruction a clock for 32 lanes.
    pub(super) fn shares_issue(&self) -> bool {
        self.generation == Generation::Early || self.single_issue()
    }

    /// Four schedulers for 128 lanes, each with one instruction a clock: loads and loops take the place of arithmetic.
    /// With 64 lanes each instruction lasts two clocks and leaves every other one free (NVIDIA, whitepapers of GV100,
    /// GA100, GA102 and GH100).
    pub(super) fn single_issue(&self) -> bool {
        self.nvidia && self.generation == Generation::Ampere && lanes(self.device) == 128.0
    }

    /// Extra standard deviation of ln(time) of the family's work in `dtype` for figures that were missing.
    pub(super) fn gaps_in(&self, family: Family, dtype: Dtype) -> f64 {
        libm::hypot(self.gaps, if untold(self.device, family, dtype) { UNTOLD_SIGMA } else { 0.0 })
    }

    pub(super) fn support(&self, family: Family, dtype: Dtype) -> Support {
        if self.device.kind == DeviceKind::Cpu || (moves(family) && dtype != Dtype::Other) {
            return Support::Native;
        }
        let p = &self.device.peaks;
        match dtype {
            Dtype::Other => Support::Refused,
            _ if untold(self.device, family, dtype) => Support::Native,
            Dtype::F64 | Dtype::C128 => Support::or_emulated(p.f64_vector.is_none() && p.f64_tensor.is_none()),
            Dtype::I8 | Dtype::U8 => Support::or_emulated(p.i8_tensor.is_none() && product(family)),
            Dtype::F8 => Support::or_emulated(p.f8_tensor.is_none()),
            Dtype::Bf16 => Support::or_emulated(p.bf16_tensor.is_none()),
            Dtype::F16 => Support::or_emulated(p.f16_tensor.is_none() && p.f16_vector.is_none()),
            Dtype::Tf32 => Support::or_emulated(p.tf32_tensor.is_none() && product(family)),
            _ => Support::Native,
        }
    }
}

/// The share of the clock that a share `power` of the full power is enough for. Voltage falls with the clock in a line,
/// to `least` of the full voltage: power = clock × (least + (1 − least) × clock)².
fn clock_at(power: f64, least: f64) -> f64 {
    let mut clock = 1.0;
    // Convex and rising, so that Newton's steps come down from above and never pass the root.
    for _ in 0..12 {
        let voltage = least + (1.0 - least) * clock;
        clock -= (clock * voltage * voltage - power) / (voltage * (voltage + 2.0 * (1.0 - least) * clock));
    }
    clock
}

/// The board's power limit, W; from its fp32 rate where the datasheet says none.
pub(super) fn limit_watts(device: &Device) -> f64 {
    let given = device.tdp.and_then(|w| positive(w.get()));
    given.unwrap_or_else(|| limit_from_peak(device.peaks.f32_vector.map_or(10e12, |r| r.get())).clamp(10.0, 1000.0))
}

/// fp32 lanes of one unit; where they are not told, those of most of the maker's boards.
pub(super) fn lanes(device: &Device) -> f64 {
    let most = match device.vendor {
        Vendor::Nvidia if generation(device) != Generation::Ampere => 64,
        Vendor::Nvidia | Vendor::Intel | Vendor::Apple => 128,
        Vendor::Amd | Vendor::Other => 64,
    };
    f64::from(device.cores_per_unit.filter(|count| *count > 0).unwrap_or(most))
}

/// The boost clock, Hz. Where it is not given it follows from NVIDIA's fp32 rate: two operations a clock and lane.
///
/// ```
/// let mut a100 = breakeven::hardware::Catalogue::embedded().gpu("a100-sxm4-80gb").unwrap().device.clone();
/// let told = breakeven::kernel::boost(&a100).unwrap();
/// a100.boost = None;
/// assert!((breakeven::kernel::boost(&a100).unwrap() / told - 1.0).abs() < 0.01);
/// ```
pub fn boost(device: &Device) -> Option<f64> {
    let told = || {
        let lanes = f64::from(device.units?) * f64::from(device.cores_per_unit?);
        let rate = device.peaks.f32_vector?.get();
        (device.vendor == Vendor::Nvidia && device.kind == DeviceKind::Gpu).then_some(rate / (2.0 * lanes))
    };
    device.boost.map(|h| h.get()).or_else(told)
}

/// Figures that the device's row lacks for the family's work in `dtype` and that are filled in from its neighbours in kind:
/// what widens its intervals.
///
/// ```
/// use breakeven::{hardware::Catalogue, kernel::gaps, workload::{Dtype, Family}};
/// let mut a100 = Catalogue::embedded().gpu("a100-sxm4-80gb").unwrap().device.clone();
/// assert!(gaps(&a100, Family::Matmul, Dtype::F16).is_empty());
/// (a100.tdp, a100.peaks.f16_tensor, a100.peaks.f16_vector) = (None, None, None);
/// assert_eq!(gaps(&a100, Family::Matmul, Dtype::F16), ["power limit", "rate in this type"]);
/// assert_eq!(gaps(&a100, Family::Copy, Dtype::F16), ["power limit"]);
/// ```
pub fn gaps(device: &Device, family: Family, dtype: Dtype) -> Vec<&'static str> {
    let p = &device.peaks;
    let known = |value: Option<f64>| value.and_then(positive).is_some();
    let figures = [
        ("bandwidth", known(Some(device.bandwidth.get()))),
        ("fp32 rate", known(p.f32_vector.or(p.f64_vector.filter(|_| device.kind == DeviceKind::Cpu)).map(|r| r.get()))),
        ("boost clock", known(boost(device))),
        ("units", known(device.units.map(f64::from))),
        ("cache", known(device.cache.map(|b| b.get()))),
        ("power limit", known(device.tdp.map(|w| w.get()))),
        ("year", dated(device)),
        ("compute capability", classed(device)),
        ("rate in this type", !untold(device, family, dtype)),
    ];
    figures.into_iter().filter(|(_, known)| !known).map(|(name, _)| name).collect()
}

/// Boards of the last ten years have about 50 GFLOP/s of fp32 a watt.
fn limit_from_peak(f32_peak: f64) -> f64 {
    f32_peak * 20e-12
}

/// Watts of the board with a context and no work: measured, or the share of the power limit seen on boards of its
/// size (0.40 up to 100 W, 0.25 from 150 to 200 W, 0.18 from 240 W on, in between in between).
pub(super) fn floor_watts(device: &Device, tdp: f64) -> f64 {
    let between = |from: f64, to: f64| ((tdp - from) / (to - from)).clamp(0.0, 1.0);
    let share = 0.40 - 0.15 * between(100.0, 150.0) - 0.07 * between(200.0, 240.0);
    device.context_idle.map_or(share * tdp, |w| w.get()).clamp(0.0, 0.6 * tdp)
}

/// The generation of NVIDIA's architecture, which boards are sold with for years; of other boards their year's.
fn generation(device: &Device) -> Generation {
    match (compute_capability(device), device.year.unwrap_or(2018)) {
        (Some(..=6), _) | (None, ..=2016) => Generation::Early,
        (Some(7), _) | (None, 2017..=2019) => Generation::Volta,
        _ => Generation::Ampere,
    }
}

/// Whether the chip is of 2020 or later: as its name tells, for boards are sold for years, else as the board's year does.
fn since_2020(device: &Device) -> Option<bool> {
    let target = device.compute_capability.as_deref().unwrap_or_default();
    match (compute_capability(device), target) {
        (Some(..=7), _) => Some(false),
        (Some(8..=10 | 12), _) | (None, "gfx90a" | "gfx942") => Some(true),
        _ => device.year.map(|year| year >= 2020),
    }
}

/// Energy of an fp32 FLOP of the ordinary cores and of an fp16 FLOP of tensor units at the full clock, pJ.
///
/// A maker sets the power limit of a chip's most generous board for hard work near its boost clock. So watts ÷ peak of that
/// board tells the energy of an operation, also on boards that give the chip less: of L4, T4 and P4, of Max-Q and PCIe.
fn energy(device: &Device, constants: &Constants, f32_peak: f64, tdp: f64) -> [f64; 2] {
    let p = &device.peaks;
    let own = || {
        let tensor = p.f16_tensor.or(p.bf16_tensor).map_or(8.0 * f32_peak, |rate| rate.get());
        [tdp / f32_peak, tdp / tensor].map(|joule| joule * 1e12)
    };
    let [vector, tensor] = full_board(device).unwrap_or_else(own);
    [constants.energy_vector * vector, constants.energy_tensor * tensor]
}

/// Watts for each TFLOP/s of fp32 and of fp16 products, of the most generous board of NVIDIA's chips of that compute
/// capability (its datasheets and whitepapers); where GeForce accumulates in fp32 at half rate, the full one.
fn full_board(device: &Device) -> Option<[f64; 2]> {
    let target = device.compute_capability.as_deref().filter(|_| device.vendor == Vendor::Nvidia)?;
    let (watts, vector, tensor) = match target {
        // TITAN X, P100 SXM2, TITAN Xp: without tensor units.
        "5.2" => (250.0, 6.7, 53.6),
        "6.0" => (300.0, 10.6, 84.8),
        "6.1" => (250.0, 12.1, 96.8),
        // V100 SXM2, TITAN RTX, A100 SXM, RTX 3090.
        "7.0" => (300.0, 15.7, 125.0),
        "7.5" => (280.0, 16.3, 130.5),
        "8.0" => (400.0, 19.5, 312.0),
        "8.6" => (350.0, 35.6, 142.0),
        // RTX 4090, H100 SXM, B200, RTX 5090.
        "8.9" => (450.0, 82.6, 330.3),
        "9.0" => (700.0, 66.9, 989.4),
        "10.0" => (1000.0, 80.0, 2250.0),
        "12.0" => (575.0, 104.8, 419.0),
        _ => return None,
    };
    Some([watts / vector, watts / tensor])
}

/// Whether it corrects errors of memory that is not stacked, whose check bits lie in the same memory: NVIDIA's boards for data
/// centres do so as they come, those for games never, for workstations if asked.
fn corrects(device: &Device) -> bool {
    let asked = ["GeForce", "TITAN", "RTX", "Quadro"].iter().any(|series| device.name.starts_with(series));
    device.vendor == Vendor::Nvidia && !asked
}

/// Whether its boost clock is what it reaches on average and not the highest one: of boards for games (NVIDIA, *GPU Boost*).
fn boosts(device: &Device) -> bool {
    ["GeForce", "TITAN"].iter().any(|series| device.name.starts_with(series))
}

/// Whether its memory is stacked beside the chip (HBM): of what computes in double precision at a fair rate, and of NVIDIA's
/// boards for data centres that do not any more.
pub(super) fn stacked(device: &Device) -> bool {
    let p = &device.peaks;
    let doubles = p.f64_vector.zip(p.f32_vector).is_some_and(|(f64, f32)| f64.get() >= 0.25 * f32.get());
    doubles || compute_capability(device) == Some(10)
}

/// Whether the family moves numbers and computes nothing with them.
fn moves(family: Family) -> bool {
    matches!(family, Family::Copy | Family::Transfer | Family::HostRead | Family::Collective)
}

/// Whether it is of those that tensor units work on.
fn product(family: Family) -> bool {
    matches!(family, Family::Matmul | Family::Convolution)
}

/// Whether it has units for the dtype, or may have, of whose rate its row does not tell. All of NVIDIA's have some for
/// doubles; halves came with Volta's tensor units, bytes with Pascal's `DP4A` (not the P100's), bfloat16 and TF32 with
/// Ampere, 8-bit floats with Ada. Without a compute capability nothing is known.
fn untold(device: &Device, family: Family, dtype: Dtype) -> bool {
    let p = &device.peaks;
    let target = device.compute_capability.as_deref().unwrap_or_default();
    let since = |first: u32| compute_capability(device).is_none_or(|major| major >= first);
    if device.vendor != Vendor::Nvidia || device.kind == DeviceKind::Cpu || moves(family) {
        return false;
    }
    match dtype {
        Dtype::F64 | Dtype::C128 => p.f64_vector.is_none() && p.f64_tensor.is_none(),
        Dtype::F16 => since(7) && p.f16_tensor.is_none() && p.f16_vector.is_none(),
        Dtype::Bf16 => since(8) && p.bf16_tensor.is_none(),
        Dtype::Tf32 => product(family) && since(8) && p.tf32_tensor.is_none(),
        Dtype::I8 | Dtype::U8 => product(family) && (since(7) || target == "6.1") && p.i8_tensor.is_none(),
        Dtype::F8 => (since(9) || target == "8.9") && p.f8_tensor.is_none(),
        _ => false,
    }
}

/// Whether the age of its process is known.
fn dated(device: &Device) -> bool {
    device.kind == DeviceKind::Cpu || since_2020(device).is_some()
}

/// Whether the kernels that a library has for it are known: NVIDIA's go by compute capability.
fn classed(device: &Device) -> bool {
    device.kind == DeviceKind::Cpu || device.vendor != Vendor::Nvidia || compute_capability(device).is_some()
}

/// The first number of NVIDIA's compute capability.
fn compute_capability(device: &Device) -> Option<u32> {
    let text = device.compute_capability.as_deref().filter(|_| device.vendor == Vendor::Nvidia)?;
    text.split('.').next()?.parse().ok()
}

fn positive(x: f64) -> Option<f64> {
    (x > 0.0 && x.is_finite()).then_some(x)
}
