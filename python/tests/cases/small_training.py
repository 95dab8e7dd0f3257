"""Two layers of 50, 100 samples, a thousand steps: slower on the GPU than on the CPU.
(Said beforehand: launch-bound. What PyTorch does in Python between the launches takes longer than they do, but where the GPU
loses, its launches are why. Here both take about as long, so that either may be first.)

main reason on t4: host-bound or launch-bound
"""

import torch

torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(10, 50), torch.nn.ReLU(), torch.nn.Linear(50, 1)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
x, y = torch.randn(100, 10, device="cuda"), torch.randn(100, 1, device="cuda")
for _ in range(1000):
    optimizer.zero_grad()
    loss = torch.nn.functional.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
print(loss.item() >= 0)
