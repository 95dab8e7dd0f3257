import torch

torch.manual_seed(0)
with torch.device("cuda"):
    model = torch.nn.Sequential(
        torch.nn.Conv2d(3, 32, 3, padding=1), torch.nn.ReLU(), torch.nn.Conv2d(32, 32, 3, padding=1), torch.nn.ReLU(),
        torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(), torch.nn.Linear(32, 10),
    ).eval()  # fmt: skip
    image = torch.randn(4, 3, 32, 32)
graph, side = torch.cuda.CUDAGraph(), torch.cuda.Stream()
with torch.no_grad():
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            image.copy_(image * 0.999 + model(image).mean())
    torch.cuda.current_stream().wait_stream(side)
    with torch.cuda.graph(graph):
        image.copy_(image * 0.999 + model(image).mean())
    for _ in range(997):
        graph.replay()
print(tuple(image.shape))
