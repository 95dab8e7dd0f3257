import torch

torch.manual_seed(0)
x = torch.randn(64 * 800, 32, device="cuda")
y = torch.randn(64 * 800, 4, device="cuda")
model = torch.nn.Sequential(torch.nn.Linear(32, 64), torch.nn.ReLU(), torch.nn.Linear(64, 4)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
for inputs, targets in zip(x.split(64), y.split(64)):
    optimizer.zero_grad()
    loss = torch.nn.functional.mse_loss(model(inputs), targets)
    loss.backward()
    optimizer.step()
