"""A small network learns a sine by PyTorch, on the GPU where there is one, timed with the GPU waited for."""

import time

import torch

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
x = torch.linspace(-3, 3, 1024).unsqueeze(1)
y = torch.sin(x)
x, y = x.to(device), y.to(device)

model = torch.nn.Sequential(torch.nn.Linear(1, 64), torch.nn.Tanh(), torch.nn.Linear(64, 1)).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)


def wait():
    if device.type == "cuda":
        torch.cuda.synchronize()


wait()
began = time.perf_counter()
for _ in range(300):
    optimizer.zero_grad()
    loss = torch.nn.functional.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
wait()
took = time.perf_counter() - began

print(f"loss {loss.item():.4f}")
print(f"300 steps in {took:.3f} s")
