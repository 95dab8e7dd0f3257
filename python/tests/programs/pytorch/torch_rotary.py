"""Places of tensors as networks with rotary positions ask for them."""

import torch

with torch.device("cuda"):
    steps = torch.arange(0, 8, 2, dtype=torch.int64)
    rates = 1.0 / (10_000 ** (steps.to(device=None, dtype=torch.float) / 8))
x = torch.ones(1, 4, 8, device="cuda")
positions = torch.arange(4, device=x.device).unsqueeze(0)
angles = rates[None, :, None].expand(1, -1, 1).to(x.device) @ positions[:, None, :].float()
turned = x * torch.cat((angles, angles), dim=1).transpose(1, 2).cos()
print(steps.device, rates.device, positions.device, turned.device, turned.cpu().device, torch.ones(1).device)
