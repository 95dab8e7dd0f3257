import torch

torch.backends.cuda.matmul.allow_tf32 = False
torch.manual_seed(0)
x = torch.randn(8192, 4096, device="cuda")
w = torch.randn(4096, 4096, device="cuda") / 64
for _ in range(20):
    x = torch.tanh(x @ w)
print(float(x.abs().mean()) < 1)
