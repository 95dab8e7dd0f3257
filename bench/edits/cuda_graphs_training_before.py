import torch

torch.manual_seed(0)
x, y = torch.randn(64, 128, device="cuda"), torch.randn(64, 1, device="cuda")
layers = [torch.nn.Linear(128, 128), torch.nn.ReLU(), torch.nn.Linear(128, 128), torch.nn.ReLU(), torch.nn.Linear(128, 1)]
model = torch.nn.Sequential(*layers).cuda()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, capturable=True)
for step in range(500):
    optimizer.zero_grad()
    loss = torch.nn.functional.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
print(float(loss) >= 0)
