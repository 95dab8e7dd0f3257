import torch

torch.manual_seed(0)
x = torch.randn(8192, 1024)
model = torch.nn.Sequential(*(torch.nn.Linear(1024, 1024) for _ in range(4)))
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
x, model = x.to(device), model.to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
for _ in range(8):
    optimizer.zero_grad()
    loss = model(x).square().mean()
    loss.backward()
    optimizer.step()
