"""The batch is larger than the memory of the GPU.

main reason on gtx-1650: does-not-fit
"""

import torch

x = torch.zeros(9000, 60000, device="cuda")
y = x * 2
z = y + x
print(tuple(z.shape))
