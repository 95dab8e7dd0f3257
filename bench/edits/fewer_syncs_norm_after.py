import torch

torch.manual_seed(0)
model = torch.nn.Sequential(*[torch.nn.Linear(256, 256, device="cuda") for _ in range(12)])
x = torch.randn(64, 256, device="cuda")
history = []
with torch.no_grad():
    for step in range(400):
        y = x
        for layer in model:
            y = torch.relu(layer(y))
            history.append(y.norm())
history = torch.stack(history).tolist()
print(len(history), history[-1] >= 0)
