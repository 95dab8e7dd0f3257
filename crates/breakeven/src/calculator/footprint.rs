//! Memory that N values take, by precision.

use super::kind::precision_name;
use crate::estimate::Footprint;
use crate::units::Bytes;
use crate::workload::Dtype;

/// Precisions that a calculation may be asked about.
pub const PRECISIONS: [Dtype; 7] = [Dtype::F64, Dtype::F32, Dtype::Tf32, Dtype::F16, Dtype::Bf16, Dtype::F8, Dtype::I8];

/// What a precision is for.
const fn role(dtype: Dtype) -> &'static str {
    match dtype {
        Dtype::F64 => "NumPy's default; simulation, linear algebra",
        Dtype::Tf32 => "fp32 storage, shorter products on tensor cores",
        Dtype::F16 => "training with loss scaling, inference",
        Dtype::Bf16 => "training: fp32's range, fewer digits",
        Dtype::F8 => "training and inference on recent GPUs",
        Dtype::I8 => "quantised inference",
        _ => "single precision; most array work",
    }
}

/// `values` numbers stored as `dtype`.
///
/// ```
/// use breakeven::{calculator::footprint::bytes, units::Bytes, workload::Dtype};
/// assert_eq!(bytes(1e9, Dtype::F32), Bytes(4e9));
/// ```
pub fn bytes(values: f64, dtype: Dtype) -> Bytes {
    Bytes(values * dtype.bytes() as f64)
}

/// A row for each precision.
pub fn table(values: f64) -> Vec<Footprint> {
    let row = |dtype: Dtype| Footprint {
        precision: precision_name(dtype).to_owned(),
        bytes: bytes(values, dtype).get(),
        text: format!("{:.2} GiB", bytes(values, dtype) / Bytes::gib(1.0)),
        role: role(dtype).to_owned(),
    };
    PRECISIONS.into_iter().map(row).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_billion_values() {
        let text = |p: &str| super::table(1e9).into_iter().find(|r| r.precision == p).map(|r| r.text);
        assert_eq!(text("fp32").as_deref(), Some("3.73 GiB"));
        assert_eq!(text("fp16").as_deref(), Some("1.86 GiB"));
        assert_eq!(text("bf16").as_deref(), Some("1.86 GiB"));
        assert_eq!(text("int8").as_deref(), Some("0.93 GiB"));
    }
}
