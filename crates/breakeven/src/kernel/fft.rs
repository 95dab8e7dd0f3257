//! Transforms by passes over memory: up to 4096 points stay in shared memory (one pass), each further factor of 4096 is
//! another pass (cuFFT's documentation; Govindaraju et al., SC '08). Lengths with a prime above 127 go by Bluestein's
//! convolution: three transforms of the next power of two above 2n.
//!
//! Time is not monotone in n: 4096 is faster than 4093.

use super::cost::{Cost, Job};
use super::machine::Machine;

const IN_SHARED: f64 = 12.0;

pub(super) fn cost(machine: &Machine<'_>, job: &Job, n: u64) -> Cost {
    let passes = if n > 1 { (libm::log2(n as f64) / IN_SHARED).ceil() } else { 1.0 };
    // 2n rounded up to a power of two is 2 to 4 n; three transforms of it, two products.
    let bluestein = if smooth(n) { 1.0 } else { 8.0 };
    let memory = passes * bluestein * machine.traffic(job.bytes, job.bytes, machine.constants.fft_share);
    let compute = bluestein * machine.arithmetic(job.flop, job.dtype);
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
