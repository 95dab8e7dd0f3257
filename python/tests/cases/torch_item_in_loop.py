"""A sum over a tensor on the GPU, element by element: `.item()` waits each time.

main reason on t4: synchronisation-bound
"""

import torch

x = torch.ones(4000, device="cuda")
total = 0.0
for i in range(len(x)):
    total += x[i].item()
print(total)
