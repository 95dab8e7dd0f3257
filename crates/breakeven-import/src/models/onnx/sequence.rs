//! Recurrent networks, attention, and what language models have around it.

use super::array::Array;
use super::call::{Call, Made, Work};
use breakeven::workload::op::Cell;
use breakeven::workload::{Dtype, Op, Pass};

/// A node on sequences; `None` where it is another, or its inputs are not known.
pub(super) fn of(call: &Call<'_>) -> Option<Made> {
    match (call.node.domain.as_str(), call.node.op.as_str()) {
        ("", "LSTM") => recurrent(call, Cell::Lstm),
        ("", "GRU") => recurrent(call, Cell::Gru),
        ("", "RNN") => recurrent(call, Cell::Rnn),
        ("", "Attention") => attention(call),
        ("com.microsoft", "Attention" | "QAttention") => with_projection(call),
        ("com.microsoft", "MultiHeadAttention" | "DecoderMaskedMultiHeadAttention") => many_heads(call),
        ("com.microsoft", "GroupQueryAttention" | "SparseAttention" | "PagedAttention") => grouped(call),
        ("" | "com.microsoft", "RotaryEmbedding" | "GemmaRotaryEmbedding") => {
            let from = call.input(0)?;
            let op = Op::Elementwise { n: from.count(), inputs: 3, flop_per_element: 3.0, transcendental: false };
            Some(Made::one(Array::new(from.dtype, from.dims.clone()), op))
        }
        _ => None,
    }
}

fn recurrent(call: &Call<'_>, cell: Cell) -> Option<Made> {
    let (from, weight, back) = (call.input(0)?, call.input(1)?, call.input(2)?);
    let [first, second, input] = from.dims[..] else { return None };
    let last = call.int("layout").unwrap_or(0) == 1;
    let (steps, batch) = if last { (second, first) } else { (first, second) };
    let directions = weight.dim(0);
    let hidden = call.int("hidden_size").and_then(|n| u64::try_from(n).ok()).unwrap_or_else(|| back.dim(-1));
    let op = Op::Recurrent {
        cell,
        pass: Pass::Forward,
        steps,
        rows: steps.saturating_mul(batch),
        input,
        hidden,
        projection: 0,
    };
    let every = if last { vec![batch, steps, directions, hidden] } else { vec![steps, directions, batch, hidden] };
    let end = if last { vec![batch, directions, hidden] } else { vec![directions, batch, hidden] };
    let outputs = [every, end.clone(), end].map(|dims| Some(Array::new(from.dtype, dims)));
    let kernels = vec![(op, from.dtype); usize::try_from(directions).ok()?.clamp(1, 2)];
    Some(Made { outputs: outputs.into(), work: Work::Kernels(kernels) })
}

/// Lengths of attention.
struct Heads {
    batch: u64,
    heads: u64,
    kv_heads: u64,
    q_len: u64,
    kv_len: u64,
    head_dim: u64,
    causal: bool,
}

impl Heads {
    fn op(&self) -> Op {
        Op::Attention {
            pass: Pass::Forward,
            batch: self.batch,
            heads: self.heads,
            q_len: self.q_len,
            kv_len: self.kv_len,
            head_dim: self.head_dim,
            causal: self.causal,
        }
    }

    /// Keys, or values, as they are kept for the next token.
    fn kept(&self, dtype: Dtype) -> Option<Array> {
        Some(Array::new(dtype, vec![self.batch, self.kv_heads, self.kv_len, self.head_dim]))
    }
}

/// Attention of the standard operators, from version 23 on: heads are an axis, or part of the last one.
fn attention(call: &Call<'_>) -> Option<Made> {
    let (q, k, v) = (call.input(0)?, call.input(1)?, call.input(2)?);
    let count = |name: &str| call.int(name).and_then(|n| u64::try_from(n).ok());
    let past = call.input(4).map_or(0, |past| past.dim(2));
    let causal = call.int("is_causal").unwrap_or(0) == 1;
    let (heads, dims) = match (&q.dims[..], &k.dims[..], &v.dims[..]) {
        (&[batch, heads, q_len, head_dim], &[_, kv_heads, k_len, _], &[.., value]) => {
            let kv_len = k_len.checked_add(past)?;
            (Heads { batch, heads, kv_heads, q_len, kv_len, head_dim, causal }, vec![batch, heads, q_len, value])
        }
        (&[batch, q_len, width], &[_, k_len, _], &[_, _, value]) => {
            let (heads, kv_heads) = (count("q_num_heads")?.max(1), count("kv_num_heads")?.max(1));
            let kv_len = k_len.checked_add(past)?;
            let made = Heads { batch, heads, kv_heads, q_len, kv_len, head_dim: width / heads, causal };
            (made, vec![batch, q_len, heads.checked_mul(value / kv_heads)?])
        }
        _ => return None,
    };
    let scores = call.gives(3).then(|| Array::new(q.dtype, vec![heads.batch, heads.heads, heads.q_len, heads.kv_len]));
    let outputs = vec![Some(Array::new(q.dtype, dims)), heads.kept(q.dtype), heads.kept(v.dtype), scores];
    Some(Made { outputs, work: Work::Kernels(vec![(heads.op(), q.dtype)]) })
}

/// Attention of com.microsoft with the product that makes queries, keys and values.
fn with_projection(call: &Call<'_>) -> Option<Made> {
    let (from, weight) = (call.input(0)?, call.input(1)?);
    let [batch, q_len, width] = from.dims[..] else { return None };
    let heads = call.int("num_heads").and_then(|n| u64::try_from(n).ok()).filter(|&n| n > 0)?;
    let n = weight.dim(-1);
    let hidden = n / 3;
    let past = call.input(4).map_or(0, |past| past.dim(3));
    let causal = call.int("unidirectional").unwrap_or(0) == 1;
    let kv_len = q_len.checked_add(past)?;
    let made = Heads { batch, heads, kv_heads: heads, q_len, kv_len, head_dim: hidden / heads, causal };
    let product = Op::Matmul { m: batch.saturating_mul(q_len), n, k: width, batch: 1, bias: call.has(2) };
    let present = Array::new(from.dtype, vec![2, batch, heads, kv_len, made.head_dim]);
    let outputs = vec![Some(Array::new(from.dtype, vec![batch, q_len, hidden])), Some(present)];
    Some(Made { outputs, work: Work::Kernels(vec![(product, from.dtype), (made.op(), from.dtype)]) })
}

fn many_heads(call: &Call<'_>) -> Option<Made> {
    let q = call.input(0)?;
    let heads = call.int("num_heads").and_then(|n| u64::try_from(n).ok()).filter(|&n| n > 0)?;
    let (batch, q_len) = (q.dim(0), q.dim(1));
    let packed = !call.has(1);
    // Packed together they are [batch, length, heads, 3, width].
    let hidden = if packed && q.rank() == 5 { heads.checked_mul(q.dim(4))? } else { q.dim(2) };
    let past = call.input(6).map_or(0, |past| past.dim(2));
    let (k_len, value) = match (call.input(1), call.input(2)) {
        (Some(k), v) => {
            // As heads already: [batch, heads, length, width].
            let long = if k.rank() == 4 { k.dim(2) } else { k.dim(1) };
            (long, v.map_or(hidden, |v| if v.rank() == 4 { v.dim(1).saturating_mul(v.dim(3)) } else { v.dim(2) }))
        }
        (None, _) if packed => (q_len, hidden),
        _ => return None,
    };
    let causal = call.int("unidirectional").unwrap_or(0) == 1;
    let kv_len = k_len.checked_add(past)?;
    let made = Heads { batch, heads, kv_heads: heads, q_len, kv_len, head_dim: hidden / heads, causal };
    let outputs = vec![Some(Array::new(q.dtype, vec![batch, q_len, value])), made.kept(q.dtype), made.kept(q.dtype)];
    Some(Made { outputs, work: Work::Kernels(vec![(made.op(), q.dtype)]) })
}

/// Several heads share keys and values, which are kept in a cache of a length that its input has.
fn grouped(call: &Call<'_>) -> Option<Made> {
    let q = call.input(0)?;
    let [batch, q_len, width] = q.dims[..] else { return None };
    let count = |name: &str| call.int(name).and_then(|n| u64::try_from(n).ok()).filter(|&n| n > 0);
    let (heads, kv_heads) = (count("num_heads")?, count("kv_num_heads")?);
    let packed = !call.has(1);
    let head_dim = if packed { width / heads.checked_add(kv_heads.checked_mul(2)?)? } else { width / heads };
    let past = call.input(3).map_or(0, |past| past.dim(2));
    let total = call.input(6).and_then(Array::ints).and_then(|total| u64::try_from(*total.first()?).ok());
    let kv_len = total.unwrap_or(past.checked_add(q_len)?);
    let made = Heads { batch, heads, kv_heads, q_len, kv_len, head_dim, causal: true };
    let out = Array::new(q.dtype, vec![batch, q_len, heads.checked_mul(head_dim)?]);
    let outputs = vec![Some(out), made.kept(q.dtype), made.kept(q.dtype)];
    Some(Made { outputs, work: Work::Kernels(vec![(made.op(), q.dtype)]) })
}
