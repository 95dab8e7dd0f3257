"""A training step of a network with 7 G parameters, of which an ordinary machine holds none."""

import torch
import torch.nn.functional as F
from torch import nn


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.before, self.after = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = self.qkv(self.before(x)).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(batch, length, width)
        x = x + self.out(mixed)
        return x + self.down(F.gelu(self.up(self.after(x))))


model = nn.Sequential(*(Block(4096, 32) for _ in range(34)))
print(sum(p.numel() for p in model.parameters()))
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
loss = model(torch.randn(1, 512, 4096)).square().mean()
loss.backward()
optimizer.step()
print(loss.item() > 0)
