import torch

with torch.device("cuda"):
    model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 8)).half().eval()
    x = torch.randn(32, 64).half()
graph, side = torch.cuda.CUDAGraph(), torch.cuda.Stream()
with torch.no_grad():
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            out = model(x)
    torch.cuda.current_stream().wait_stream(side)
    with torch.cuda.graph(graph):
        out = model(x)
    for _ in range(200):
        graph.replay()
print(tuple(out.float().cpu().shape))
