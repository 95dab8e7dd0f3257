"""The classic small loop: a linear layer, a batch of 100, 1000 steps of Adam. Uses a GPU where there is one."""

import time

import torch

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
x = torch.randn(100, 10).to(device)
y = torch.randn(100, 2).to(device)
model = torch.nn.Linear(10, 2).to(device)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
loss_function = torch.nn.MSELoss()

began = time.perf_counter()
for step in range(1000):
    optimizer.zero_grad()
    loss = loss_function(model(x), y)
    loss.backward()
    optimizer.step()
print(f"{step + 1} steps on {device.type}")
print(f"{time.perf_counter() - began:.2f} s", file=__import__("sys").stderr)
