"""Mixed precision as in PyTorch's own recipes, with clipping, on a batch in pinned memory; a mean of the weights beside."""

import torch
from torch import nn

model = nn.Sequential(nn.Linear(64, 128), nn.GELU(), nn.Linear(128, 64)).cuda()
mean = [parameter.detach().clone() for parameter in model.parameters()]
optimizer = torch.optim.AdamW(model.parameters(), fused=True)
scaler = torch.amp.GradScaler("cuda")
batch = torch.randn(32, 64, pin_memory=True)
seen = torch.zeros((), device="cuda")
for _ in range(60):
    x = batch.to("cuda", non_blocking=True)
    optimizer.zero_grad()
    with torch.autocast("cuda"):
        loss = (model(x) - x).pow(2).mean()
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    scaler.step(optimizer)
    scaler.update()
    with torch.no_grad():
        torch._foreach_lerp_(mean, list(model.parameters()), 0.01)
        seen += loss.detach().to(seen.device) + norm.detach().to("cuda") + torch.ones((), device=norm.device)
print(seen.device, batch.is_pinned(), float(seen) > 0)
