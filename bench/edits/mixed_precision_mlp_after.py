import torch

torch.manual_seed(0)
with torch.device("cuda"):
    model = torch.nn.Sequential(torch.nn.Linear(4096, 16384), torch.nn.GELU(), torch.nn.Linear(16384, 4096))
x = torch.randn(4096, 4096, device="cuda")
with torch.no_grad(), torch.autocast("cuda", dtype=torch.bfloat16):
    for _ in range(8):
        y = model(x)
print(tuple(y.shape))
