//! Routines: the sums over their parts.

use super::Need;
use crate::workload::op::{Op, Part};

/// A part that is a routine itself counts as nothing: reading refuses such a workload.
pub(super) fn need(parts: &[Part]) -> Need {
    let plain = parts.iter().filter(|part| !matches!(part.op, Op::Routine { .. }));
    plain.fold(Need::NOTHING, |sum, part| {
        let (one, count) = (part.op.need(part.dtype), part.count as f64);
        let told = part.told_bytes();
        let bytes = if told > 0 { told as f64 } else { one.bytes };
        Need { flop: sum.flop + count * one.flop, bytes: sum.bytes + count * bytes }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::Dtype;

    #[test]
    fn ten_products_and_a_sum_of_their_results() {
        let product = Op::Matmul { m: 8, n: 8, k: 8, batch: 1, bias: false };
        let sum = Op::Reduce { n: 64, out: 1, flop_per_element: 1.0 };
        let mut parts = [(product, 10), (sum, 1)].map(|(op, count)| Part::new(op, Dtype::F32, count));
        assert_eq!(need(&parts), Need { flop: 10.0 * 1024.0 + 64.0, bytes: 10.0 * 768.0 + 260.0 });
        (parts[1].read_bytes, parts[1].written_bytes) = (4, 4);
        assert_eq!(need(&parts).bytes, 10.0 * 768.0 + 8.0);
    }
}
