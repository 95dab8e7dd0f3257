"""The classic small loop, with the losses of a seeded run."""

import torch

torch.manual_seed(0)
torch.set_num_threads(1)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
x = torch.randn(100, 10).to(device)
y = torch.randn(100, 2).to(device)
model = torch.nn.Linear(10, 2).to(device)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
loss_function = torch.nn.MSELoss()
for step in range(1000):
    optimizer.zero_grad()
    loss = loss_function(model(x), y)
    loss.backward()
    optimizer.step()
print(device, step, model.weight._version)
