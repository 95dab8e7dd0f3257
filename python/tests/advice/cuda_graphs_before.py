import torch

x = torch.randn(32, 64, device="cuda")
y = torch.randn(32, 8, device="cuda")
model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 8)).cuda()
with torch.no_grad():
    for _ in range(3000):
        out = model(x)
        x = x * 0.999 + out.mean()
print(float(x.mean()))
