//! Memory that N values take, by precision.

use crate::estimate::Footprint;
use crate::units::Bytes;
use crate::workload::Dtype;

/// Precisions shown, and what each is for.
const ROLES: [(Dtype, &str, &str); 7] = [
    (Dtype::F64, "fp64", "NumPy's default; simulation, linear algebra"),
    (Dtype::F32, "fp32", "single precision; most array work"),
    (Dtype::Tf32, "tf32", "fp32 storage, shorter products on tensor cores"),
    (Dtype::F16, "fp16", "training with loss scaling, inference"),
    (Dtype::Bf16, "bf16", "training: fp32's range, fewer digits"),
    (Dtype::F8, "fp8", "training and inference on recent GPUs"),
    (Dtype::I8, "int8", "quantised inference"),
];

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
    let row = |&(dtype, precision, role): &(Dtype, &str, &str)| Footprint {
        precision: precision.to_owned(),
        bytes: bytes(values, dtype).get(),
        text: format!("{:.2} GiB", bytes(values, dtype) / Bytes::gib(1.0)),
        role: role.to_owned(),
    };
    ROLES.iter().map(row).collect()
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
