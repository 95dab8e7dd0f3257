//! Fourier transforms: 5·n·log₂ n for complex data, half for real (the convention of benchFFT, <https://www.fftw.org/speed/method.html>,
//! after the radix-2 count of Cooley & Tukey 1965).

use super::{Need, log2};
use crate::workload::{Dtype, op::Fft};

pub(super) fn need(kind: Fft, n: f64, batch: f64, dtype: Dtype) -> Need {
    let (real, complex) = element_bytes(dtype);
    let half = if n > 0.0 { n / 2.0 + 1.0 } else { 0.0 };
    match kind {
        Fft::C2c => Need { flop: batch * 5.0 * n * log2(n), bytes: batch * 2.0 * n * complex },
        Fft::R2c | Fft::C2r => Need { flop: batch * 2.5 * n * log2(n), bytes: batch * (n * real + half * complex) },
    }
}

/// Bytes of a real and of a complex element, whichever of the two `dtype` names.
pub(crate) fn element_bytes(dtype: Dtype) -> (f64, f64) {
    let s = dtype.bytes() as f64;
    match dtype {
        Dtype::C64 | Dtype::C128 => (s / 2.0, s),
        _ => (s, 2.0 * s),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kilopoint_transform() {
        assert_eq!(need(Fft::C2c, 1024.0, 1.0, Dtype::C128), Need { flop: 51_200.0, bytes: 32_768.0 });
        assert_eq!(need(Fft::R2c, 1024.0, 2.0, Dtype::F64), Need { flop: 51_200.0, bytes: 32_800.0 });
    }
}
