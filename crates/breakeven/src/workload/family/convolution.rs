//! Direct convolution: one multiply-add per output, kernel element and input channel of its group (Goodfellow et al.,
//! *Deep Learning*, §9.5). Both gradients cost what the forward pass does (Jia, *Learning Semantic Image
//! Representations at a Large Scale*, §6.2: each is again a convolution of the same size).

use super::{LARGEST, Need, Pass};
use crate::workload::Dtype;

/// A convolution's sizes with the spatial dims multiplied out.
pub(crate) struct Dims {
    pub(crate) batch: f64,
    pub(crate) cin: f64,
    pub(crate) cout: f64,
    /// At least 1.
    pub(crate) groups: f64,
    /// Points of the input image, of the kernel, of the output image.
    pub(crate) input: f64,
    pub(crate) kernel: f64,
    pub(crate) output: f64,
}

impl Dims {
    pub(crate) fn new(
        batch: u64,
        cin: u64,
        cout: u64,
        groups: u64,
        input: &[u64],
        kernel: &[u64],
        output: &[u64],
    ) -> Self {
        // Spatial dims come as a list of any length: hold each product where six more factors stay finite.
        let points = |dims: &[u64]| dims.iter().fold(1.0, |p: f64, &d| (p * d as f64).min(LARGEST / 1e110));
        Self {
            batch: batch as f64,
            cin: cin as f64,
            cout: cout as f64,
            groups: groups.max(1) as f64,
            input: points(input),
            kernel: points(kernel),
            output: points(output),
        }
    }
}

pub(super) fn need(d: &Dims, pass: Pass, dtype: Dtype) -> Need {
    let passes = if pass == Pass::Backward { 2.0 } else { 1.0 };
    let flop = 2.0 * d.batch * d.output * d.cout * (d.cin / d.groups) * d.kernel * dtype.complex_factor();
    let elements = d.batch * (d.cin * d.input + d.cout * d.output) + d.cout * (d.cin / d.groups) * d.kernel;
    Need { flop: passes * flop, bytes: passes * elements * dtype.bytes() as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first layer of ResNet-50 on one image: 112·112 outputs × 64 × 3·7·7 multiply-adds.
    #[test]
    fn first_layer_of_resnet_50() {
        let d = Dims::new(1, 3, 64, 1, &[224, 224], &[7, 7], &[112, 112]);
        let forward = need(&d, Pass::Forward, Dtype::F32);
        assert_eq!(forward.flop, 236_027_904.0);
        assert_eq!(forward.bytes, 4.0 * (3.0 * 50_176.0 + 64.0 * 12_544.0 + 9_408.0));
        assert_eq!(need(&d, Pass::BackwardData, Dtype::F32), forward);
        assert_eq!(need(&d, Pass::Backward, Dtype::F32).flop, 2.0 * forward.flop);
    }

    #[test]
    fn depthwise_divides_by_its_groups() {
        let dense = Dims::new(2, 32, 32, 1, &[8], &[3], &[8]);
        let depthwise = Dims::new(2, 32, 32, 32, &[8], &[3], &[8]);
        let flop = |d| need(d, Pass::Forward, Dtype::F32).flop;
        assert_eq!(flop(&depthwise), flop(&dense) / 32.0);
        assert_eq!(flop(&depthwise), 2.0 * 2.0 * 8.0 * 32.0 * 3.0);
    }
}
