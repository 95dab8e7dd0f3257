"""Large products in single precision: here the GPU is at its limit, as it should be.

main reason on t4: compute-bound
"""

import torch

torch.backends.cuda.matmul.allow_tf32 = False
a = torch.randn(6000, 6000, device="cuda")
for _ in range(30):
    b = a @ a
print(tuple(b.shape))
