import torch

a = torch.randn(500, 12, 12, dtype=torch.float64, device="cuda") + 12 * torch.eye(12, dtype=torch.float64, device="cuda")
b = torch.randn(500, 12, 1, dtype=torch.float64, device="cuda")
print(torch.linalg.solve(a, b).isfinite().all().item())
