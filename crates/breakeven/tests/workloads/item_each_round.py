"""The loss is read in every round, so the GPU waits for the host and the host for the GPU."""
import cupy as cp

x = cp.linspace(0.0, 1.0, 20_000)
total = 0.0
for _ in range(5000):
    x = cp.sqrt(x * x + 1e-9)
    total += x.sum().item()
print(total)
