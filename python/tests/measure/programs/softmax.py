"""Softmax of attention scores in float32, with NaN where a row is masked."""
import numpy as np

def softmax(x):
    top = np.max(x, axis=-1, keepdims=True)
    out = np.exp(x - top)
    return out / np.sum(out, axis=-1, keepdims=True)

rng = np.random.default_rng(3)
scores = rng.random((2, 4, 12, 12), dtype=np.float32) * 10 - 5
probs = softmax(scores)
masked = np.where(np.tri(12, dtype=bool), scores, -np.inf)
causal = softmax(masked)
print(probs.dtype, probs.shape, np.allclose(probs.sum(-1), 1.0), float(causal[0, 0, 3].max()))
print(np.nanmax(np.log(causal)), np.isfinite(np.log(causal)).sum())
