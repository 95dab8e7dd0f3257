import torch

groups = torch.randint(0, 100, (50_000,), device="cuda")
values = torch.rand(50_000, device="cuda")
sums = torch.zeros(100, device="cuda").index_add_(0, groups, values)
print(sums.sum().item() > 0)
