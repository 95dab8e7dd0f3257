"""Histograms with weights, bins by hand and by NumPy."""
import numpy as np

def bin_edges(a, bins):
    a_min, a_max = a.min(), a.max()
    delta = (a_max - a_min) / bins
    edges = np.empty((bins + 1,), dtype=a.dtype)
    for i in range(edges.shape[0]):
        edges[i] = a_min + i * delta
    edges[-1] = a_max
    return edges

def histogram(a, bins, weights):
    edges = bin_edges(a, bins)
    cumulative = np.zeros(edges.shape, weights.dtype)
    zero = np.zeros(1, dtype=weights.dtype)
    sorting = np.argsort(a)
    sa, sw = a[sorting], weights[sorting]
    cw = np.concatenate((zero, sw.cumsum()))
    where = np.r_[sa.searchsorted(edges[:-1], "left"), sa.searchsorted(edges[-1], "right")]
    cumulative[:] = cw[where]
    return np.diff(cumulative), edges

rng = np.random.default_rng(7)
data, radius = rng.random(1500), rng.random(1500)
hu, edges = np.histogram(data, bins=20)
hw, _ = histogram(data, 20, radius)
print(hu.tolist(), f"{np.sum(hw / np.maximum(hu, 1)):.10f}", edges[:2])
