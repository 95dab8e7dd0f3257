"""Training with reads of the loss in every step, others now and then, and an evaluation without gradients."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
dev = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.manual_seed(0)
ds = TensorDataset(torch.randn(4096, 16), torch.randint(0, 4, (4096,)))
model = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 4)).to(dev)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
n, total, correct = 0, 0.0, 0
for epoch in range(4):
    model.train()
    for x, y in DataLoader(ds, batch_size=32):
        x, y = x.to(dev), y.to(dev)
        loss = nn.functional.cross_entropy(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        assert loss.device.type == dev.type
        n += 1
        total += loss.item()
        if n % 10 == 0:
            print(n, loss.detach().cpu().numpy().shape, float(loss) > 0)
    model.eval()
    with torch.no_grad():
        for x, y in DataLoader(ds, batch_size=64):
            x, y = x.to(dev), y.to(dev)
            correct += (model(x).argmax(1) == y).sum().item()
