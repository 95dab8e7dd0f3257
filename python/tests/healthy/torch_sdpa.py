import torch

with torch.no_grad():
    q, k, v = (torch.randn(4, 8, 256, 64, device="cuda", dtype=torch.float16) for _ in range(3))
    y = torch.nn.functional.scaled_dot_product_attention(q, k, v)
print(tuple(y.shape))
