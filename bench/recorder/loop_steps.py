"""A training loop with a `DataLoader`; prints wall and processor time of a step after the first 20, µs."""

import sys
import time

import torch
from torch.utils.data import DataLoader, TensorDataset

net, workers, steps = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
torch.set_num_threads(1)
torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
if net in ("small", "reads"):
    model = torch.nn.Sequential(torch.nn.Linear(784, 128), torch.nn.ReLU(), torch.nn.Linear(128, 10))
    batch, shape = 64, (784,)
else:
    parts = [torch.nn.Conv2d(3 if i == 0 else 16, 16, 3, padding=1) for i in range(4)]
    model, batch, shape = torch.nn.Sequential(*parts, torch.nn.Flatten(), torch.nn.Linear(4096, 10)), 16, (3, 16, 16)
model.to(device)
data = TensorDataset(torch.randn(batch * 64, *shape), torch.randint(0, 10, (batch * 64,)))
loader = DataLoader(data, batch_size=batch, shuffle=True, num_workers=workers, persistent_workers=workers > 0)
loss_of = torch.nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
step, total, right = 0, 0.0, 0
while step < steps:
    for inputs, labels in loader:
        if step == 20:
            wall, busy = time.perf_counter(), time.process_time()
        inputs, labels = inputs.to(device), labels.to(device)
        optimizer.zero_grad()
        outputs = model(inputs)
        loss = loss_of(outputs, labels)
        loss.backward()
        optimizer.step()
        if net == "reads":
            total += loss.item() * len(labels)
            right += (outputs.argmax(1) == labels).sum().item()
        step += 1
        if step == steps:
            break
wall, busy = time.perf_counter() - wall, time.process_time() - busy
print(wall / (steps - 20) * 1e6, busy / (steps - 20) * 1e6)
