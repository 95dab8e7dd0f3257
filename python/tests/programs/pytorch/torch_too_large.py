"""Training of a network that is larger than the memory it is given; what it would keep at the end is refused."""

import torch
from torch import nn

print("begins", flush=True)
where = WHERE
if where == "product":
    x = torch.ones(70_000)
    print((x[:, None] * x).shape == (70_000, 70_000))
else:
    layers = 24 if where == "model" else 8
    model = nn.Sequential(*(nn.Linear(4096, 4096) for _ in range(layers)))
    optimizer = torch.optim.AdamW(model.parameters())
    losses = []
    for _ in range(5):
        loss = model(torch.randn(16, 4096)).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
    print(len(losses) == 5)
for keep in (lambda: torch.save({}, KEPT), lambda: open(KEPT, "wb")):
    try:
        keep()
    except MemoryError as error:
        print(error)
