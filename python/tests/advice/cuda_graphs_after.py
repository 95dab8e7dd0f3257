import torch

x = torch.randn(32, 64, device="cuda")
y = torch.randn(32, 8, device="cuda")
model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 8)).cuda()
graph, side = torch.cuda.CUDAGraph(), torch.cuda.Stream()
with torch.no_grad():
    # What a library sets up at its first call cannot be captured: some rounds come before, on a stream of their own.
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            out = model(x)
            x.copy_(x * 0.999 + out.mean())
    torch.cuda.current_stream().wait_stream(side)
    with torch.cuda.graph(graph):
        out = model(x)
        x.copy_(x * 0.999 + out.mean())
    for _ in range(3000):
        graph.replay()
print(float(x.mean()))
