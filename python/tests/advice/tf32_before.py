import torch

x = torch.randn(4096, 2048, device="cuda")
model = torch.nn.Sequential(*(torch.nn.Linear(2048, 2048, bias=False) for _ in range(8))).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
for _ in range(10):
    optimizer.zero_grad()
    loss = model(x).square().mean()
    loss.backward()
    optimizer.step()
