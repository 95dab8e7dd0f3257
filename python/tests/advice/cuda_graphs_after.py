import torch

x = torch.randn(32, 64, device="cuda")
y = torch.randn(32, 8, device="cuda")
model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 8)).cuda()
graph = torch.cuda.CUDAGraph()
with torch.no_grad():
    with torch.cuda.graph(graph):
        out = model(x)
        x.copy_(x * 0.999 + out.mean())
    for _ in range(3000):
        graph.replay()
print(float(x.mean()))
