//! Transforms by passes over memory: what fits an SM's shared memory takes one pass, each further factor of as many
//! points another (cuFFT's documentation; Govindaraju et al., SC '08), in strides that gain nothing from the cache.
//! Lengths with a prime above 127 go by Bluestein's convolution: three transforms of the next power of two above 2n.
//!
//! Time is not monotone in n: 4096 is faster than 4093, and one transform that just fits an SM has no other SM to help it,
//! as an H100's of 8192 complex doubles shows, while one that does not is spread over several.

use super::cost::{Cost, Job};
use super::machine::Machine;

/// Transforms that lie side by side and are read together, so that each read is a whole line of memory.
const TOGETHER: f64 = 16.0;

pub(super) fn cost(machine: &Machine<'_>, job: &Job, n: u64, batch: f64) -> Cost {
    let shared = machine.device.shared_per_unit.map_or(65_536.0, |b| b.get()).max(32_768.0);
    let complex = job.dtype.bytes() as f64 * if job.dtype.complex_factor() > 1.0 { 1.0 } else { 2.0 };
    let digits = libm::log2(n.max(1) as f64);
    let passes = (digits / libm::log2(shared / complex).floor()).ceil().max(1.0);
    // 2n rounded up to a power of two is 2 to 4 n; three transforms of it, two products.
    let bluestein = if smooth(n) { 1.0 } else { 8.0 };
    let share = machine.constants.fft_share;
    let pass = if passes > 1.0 {
        job.bytes / (0.8 * share * machine.stream)
    } else {
        machine.traffic(job.bytes, job.bytes, share)
    };
    let memory = passes * bluestein * pass;
    // A block works through one transform, or through as many short ones as are read together: few of them leave SMs idle.
    let points = if passes > 1.0 { TOGETHER * libm::pow(n as f64, 1.0 / passes) } else { n as f64 }.max(1.0);
    let blocks = (batch * n as f64 / points).clamp(1.0, machine.units);
    let compute = bluestein * machine.arithmetic(job.flop, job.dtype) * machine.units / blocks;
    let at_peak = job.flop / machine.vector_peak(job.dtype);
    let launches = passes * if bluestein > 1.0 { 4.0 } else { 1.0 };
    Cost { launches, at_peak, ..Cost::of(job, compute, memory) }
}

/// No prime factor above 127.
fn smooth(mut n: u64) -> bool {
    const PRIMES: [u64; 31] = [
        2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97, 101, 103, 107,
        109, 113, 127,
    ];
    if n == 0 {
        return true;
    }
    n >>= n.trailing_zeros();
    for p in &PRIMES[1..] {
        while n.is_multiple_of(*p) {
            n /= p;
        }
    }
    n == 1
}

#[cfg(test)]
mod tests {
    use super::smooth;

    #[test]
    fn lengths_with_large_primes_are_rough() {
        assert!(smooth(1) && smooth(4096) && smooth(1000) && smooth(127 * 127) && smooth(0));
        assert!(!smooth(131) && !smooth(4093));
    }
}
