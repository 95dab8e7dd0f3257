//! The one formula.
//!
//! effective rate = peak × utilisation × (1 − Python overhead) × workload factor × precision factor
//!
//! GPU time = max(FLOP ÷ effective rate, bytes ÷ (bandwidth × 0.85)) + data ÷ link + initialisation
//!
//! CPU time = FLOP ÷ CPU rate. With a parallel fraction p < 1 the first term becomes
//! (1 − p) × CPU time + p × that term (Amdahl 1967), so that 80 % never exceeds 5× and 20 % never 1.25×.

use crate::estimate::Breakdown;
use crate::estimate::setup::together;
use crate::units::{Bytes, BytesPerSec, Flop, FlopPerSec, Seconds};

/// Share of the peak bandwidth that a streaming kernel reaches.
pub const STREAM_FRACTION: f64 = 0.85;

/// The factors of the effective rate; all are fractions or multiples of 1 but `peak`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rate {
    /// Peak of one GPU in the precision asked for.
    pub peak: FlopPerSec,
    /// Share of it that is reached, 0–1.
    pub utilisation: f64,
    /// Share of the time lost to Python, 0–1.
    pub python_overhead: f64,
    /// By kind of work.
    pub workload_factor: f64,
    /// By precision, for a given fp32 peak.
    pub precision_factor: f64,
}

impl Rate {
    /// What is left of the peak.
    ///
    /// ```
    /// use breakeven::{calculator::formula::Rate, units::FlopPerSec};
    /// let rate = Rate {
    ///     peak: FlopPerSec::tera(10.0),
    ///     utilisation: 0.5,
    ///     python_overhead: 0.2,
    ///     workload_factor: 1.0,
    ///     precision_factor: 1.0,
    /// };
    /// assert_eq!(rate.effective(), FlopPerSec::tera(4.0));
    /// ```
    pub fn effective(&self) -> FlopPerSec {
        self.peak * self.utilisation * (1.0 - self.python_overhead) * self.workload_factor * self.precision_factor
    }
}

/// The work and what is fixed about it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Work {
    /// Arithmetic.
    pub flop: Flop,
    /// Traffic to and from device memory; `None` leaves the memory term out.
    pub bytes: Option<Bytes>,
    /// Copied to the device and back, together.
    pub data: Bytes,
    /// Share of the CPU time that can run on the GPU, 0–1.
    pub parallel_fraction: f64,
    /// What the CPU takes; needed when `parallel_fraction` < 1.
    pub cpu_time: Option<Seconds>,
    /// GPUs used, ≥ 1.
    pub gpus: f64,
    /// Efficiency of more than one GPU, 0–1.
    pub scaling_efficiency: f64,
}

/// GPU time by its parts; they sum to the time.
pub fn gpu_time(
    work: &Work,
    effective: FlopPerSec,
    bandwidth: Option<BytesPerSec>,
    link: BytesPerSec,
    init: Seconds,
) -> Breakdown {
    let compute = work.flop / effective;
    let memory = match (work.bytes, bandwidth) {
        (Some(bytes), Some(bandwidth)) => bytes / (bandwidth * STREAM_FRACTION),
        _ => Seconds::ZERO,
    };
    let on_gpu = compute.max(memory) / together(work.gpus, work.scaling_efficiency);
    let (serial, on_gpu) = match work.cpu_time {
        Some(cpu) if work.parallel_fraction < 1.0 => {
            (cpu * (1.0 - work.parallel_fraction), on_gpu * work.parallel_fraction)
        }
        _ => (Seconds::ZERO, on_gpu),
    };
    let (compute, memory) = if memory > compute { (0.0, on_gpu.get()) } else { (on_gpu.get(), 0.0) };
    let transfer = if work.data.get() == 0.0 { 0.0 } else { (work.data / link).get() };
    Breakdown { host: serial.get(), compute, memory, transfer, startup: init.get(), ..Breakdown::default() }
}

/// The multiple of the present work (FLOP and bytes alike, data and initialisation fixed) at which GPU and CPU take
/// the same time; `None` when the GPU never catches up.
pub fn break_even_scale(parts: &Breakdown, cpu_time: Seconds) -> Option<f64> {
    let fixed = parts.transfer + parts.startup;
    let gained = cpu_time.get() - parts.host - parts.compute - parts.memory;
    (gained > 0.0 && fixed > 0.0).then(|| fixed / gained)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn table_row(gflop: f64) -> (f64, f64) {
        let work = Work {
            flop: Flop(gflop * 1e9),
            bytes: None,
            data: Bytes::ZERO,
            parallel_fraction: 1.0,
            cpu_time: None,
            gpus: 1.0,
            scaling_efficiency: 0.9,
        };
        let gpu = gpu_time(&work, FlopPerSec::tera(12.5), None, BytesPerSec::gb_per_s(32.0), Seconds(0.5)).total();
        (gflop / 400.0, gpu)
    }

    #[test]
    fn published_table() {
        for (gflop, cpu, gpu, speedup) in [
            (100.0, 0.25, 0.508, 0.49),
            (206.6, 0.517, 0.517, 1.00),
            (1e3, 2.5, 0.58, 4.31),
            (1e4, 25.0, 1.3, 19.23),
            (1e5, 250.0, 8.5, 29.41),
        ] {
            let (c, g) = table_row(gflop);
            assert!((c - cpu).abs() < 6e-4, "{gflop} GFLOP: CPU {c}");
            assert!((g - gpu).abs() < 6e-4, "{gflop} GFLOP: GPU {g}");
            assert!((c / g - speedup).abs() < 5.1e-3, "{gflop} GFLOP: {}", c / g);
        }
    }

    #[test]
    fn break_even_of_the_table_is_206_6_gflop() {
        let parts = Breakdown { compute: 100.0 / 12_500.0, startup: 0.5, ..Breakdown::default() };
        let scale = break_even_scale(&parts, Seconds(0.25)).unwrap();
        assert!((100.0 * scale - 206.6).abs() < 0.05, "{}", 100.0 * scale);
    }

    proptest! {
        #[test]
        fn amdahl_holds(p in 0.0..1.0f64, flop in 1e6..1e18f64) {
            let cpu = Seconds(flop / 1e11);
            let work = Work { flop: Flop(flop), bytes: None, data: Bytes::ZERO, parallel_fraction: p, cpu_time: Some(cpu), gpus: 1.0, scaling_efficiency: 1.0 };
            let t = gpu_time(&work, FlopPerSec::tera(1e6), None, BytesPerSec(1.0), Seconds::ZERO).total();
            prop_assert!(cpu.get() / t <= 1.0 / (1.0 - p) * (1.0 + 1e-12));
        }

        #[test]
        fn more_work_never_takes_less(flop in 1e3..1e18f64, more in 1.0..1e3f64, bytes in 1e3..1e15f64) {
            let work = |k: f64| Work { flop: Flop(flop * k), bytes: Some(Bytes(bytes * k)), data: Bytes(bytes), parallel_fraction: 1.0, cpu_time: None, gpus: 1.0, scaling_efficiency: 1.0 };
            let t = |k| gpu_time(&work(k), FlopPerSec::tera(10.0), Some(BytesPerSec::gb_per_s(500.0)), BytesPerSec::gb_per_s(16.0), Seconds(0.25)).total();
            prop_assert!(t(more) >= t(1.0));
        }
    }
}
