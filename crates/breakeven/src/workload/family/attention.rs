//! softmax(Q·Kᵀ)·V: the two products forward, five in both gradients, of which one recomputes Q·Kᵀ (Dao,
//! *FlashAttention-2*, 2023, §3.1 and its benchmark's formula). The soft-max itself is not counted there or here.
//! Scores need not reach memory, so bytes are Q, K, V and the result alone.

use super::{Need, Pass};
use crate::workload::Dtype;

pub(super) fn need(pass: Pass, heads: f64, [q, kv, d]: [f64; 3], causal: bool, dtype: Dtype) -> Need {
    let scores = if causal { visible(q, kv) } else { q * kv };
    let product = 2.0 * heads * scores * d * dtype.complex_factor();
    let row = heads * d * dtype.bytes() as f64;
    match pass {
        Pass::Forward => Need { flop: 2.0 * product, bytes: row * (2.0 * q + 2.0 * kv) },
        // Reads Q, K, V, O, dO and writes dQ, dK, dV.
        Pass::Backward | Pass::BackwardData | Pass::BackwardWeight => {
            Need { flop: 5.0 * product, bytes: row * (4.0 * q + 4.0 * kv) }
        }
    }
}

/// Pairs a causal mask leaves when the last query sees every key: the triangle, and the rectangle left of it.
fn visible(q: f64, kv: f64) -> f64 {
    let corner = q.min(kv);
    corner * (corner + 1.0) / 2.0 + corner * (kv - corner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forward_is_two_products_and_backward_five() {
        // 16 heads of 64, 512 × 512 scores: 2·16·512·512·64 per product.
        let dims = [512.0, 512.0, 64.0];
        let forward = need(Pass::Forward, 16.0, dims, false, Dtype::F16);
        assert_eq!(forward.flop, 2.0 * 536_870_912.0);
        assert_eq!(forward.bytes, 16.0 * 64.0 * 2.0 * 2048.0);
        assert_eq!(need(Pass::Backward, 16.0, dims, false, Dtype::F16).flop, 2.5 * forward.flop);
    }

    #[test]
    fn a_causal_mask_leaves_the_triangle() {
        assert_eq!(visible(3.0, 3.0), 6.0);
        assert_eq!(visible(1.0, 7.0), 7.0); // one new token sees all seven
        assert_eq!(visible(2.0, 4.0), 7.0); // 3 + 4
    }
}
