import torch

torch.manual_seed(0)
frames = [torch.zeros(64, 3, 224, 224) for _ in range(3)]
weight = torch.randn(8, 3, 7, 7, device="cuda")
total = torch.zeros(8, device="cuda")
with torch.no_grad():
    for step in range(150):
        batch = frames[step % 3].to("cuda")
        total += torch.nn.functional.conv2d(batch, weight, stride=2).mean((0, 2, 3))
print(tuple(total.shape))
