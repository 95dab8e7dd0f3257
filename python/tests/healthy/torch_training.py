"""A network trained as the tuning guide says: data on the device, large batches, autocast, one read an epoch."""

import torch

torch.manual_seed(0)
device = "cuda" if torch.cuda.is_available() else "cpu"
features = torch.randn(8192, 512, device=device)
labels = torch.randint(0, 10, (8192,), device=device)
model = torch.nn.Sequential(torch.nn.Linear(512, 1024), torch.nn.ReLU(), torch.nn.Linear(1024, 10)).to(device)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for epoch in range(2):
    total = torch.zeros((), device=device)
    for rows in torch.arange(8192, device=device).split(2048):
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast(device, dtype=torch.bfloat16):
            loss = torch.nn.functional.cross_entropy(model(features[rows]), labels[rows])
        loss.backward()
        optimizer.step()
        total += loss.detach()
    print(f"epoch {epoch}: {total.item() / 4:.3f}")
