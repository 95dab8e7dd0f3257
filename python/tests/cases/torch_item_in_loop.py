"""Large kernels, and `.item()` after each: the GPU waits for Python, Python for the GPU.

main reason on t4: synchronisation-bound
"""

import torch

x = torch.randn(600, 600, device="cuda")
w = torch.randn(600, 600, device="cuda") / 600
worst = 0.0
for _ in range(300):
    y = x @ w
    worst = max(worst, y.abs().max().item())
print(worst > 0)
