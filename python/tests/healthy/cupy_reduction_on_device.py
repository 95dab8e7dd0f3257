import cupy as cp

x = cp.random.default_rng(0).random((1000, 500), dtype=cp.float32)
summary = cp.stack([x.min(), x.max(), x.mean(), x.std(), x.sum()])
print(cp.asnumpy(summary).shape)
