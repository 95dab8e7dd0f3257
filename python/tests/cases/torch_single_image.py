"""A small network asked for one sample at a time is no faster on the GPU.

main reason on t4: launch-bound
"""

import torch

model = torch.nn.Sequential(torch.nn.Linear(100, 50), torch.nn.ReLU(), torch.nn.Linear(50, 10)).cuda().eval()
x = torch.randn(1, 100, device="cuda")
with torch.no_grad():
    for _ in range(3000):
        y = model(x)
print(tuple(y.shape))
