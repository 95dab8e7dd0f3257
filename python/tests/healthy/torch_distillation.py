"""PyTorch: a small network learns from a large one in bfloat16, on the GPU throughout; the loss is read at the end."""

import torch
from torch import nn

device = "cuda" if torch.cuda.is_available() else "cpu"
teacher = nn.Sequential(nn.Linear(256, 2048), nn.GELU(), nn.Linear(2048, 16)).to(device).eval()
pupil = nn.Sequential(nn.Linear(256, 512), nn.GELU(), nn.Linear(512, 16)).to(device)
optimizer = torch.optim.AdamW(pupil.parameters(), lr=1e-3, fused=device == "cuda")
x = torch.rand(2048, 256, device=device)
for _ in range(8):
    with torch.autocast(device, dtype=torch.bfloat16):
        with torch.no_grad():
            wanted = teacher(x).softmax(1)
        loss = nn.functional.cross_entropy(pupil(x), wanted)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
print(loss.item() > 0)
