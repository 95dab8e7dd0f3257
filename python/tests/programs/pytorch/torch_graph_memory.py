"""What a graph makes and drops is in memory that is used again within it, and that the graph keeps."""

import torch

x = torch.ones(1 << 19, device="cuda", dtype=torch.float64)


def memory(when):
    cuda, stats = torch.cuda, torch.cuda.memory_stats()
    assert stats["allocated_bytes.all.current"] == cuda.memory_allocated()
    assert stats["reserved_bytes.all.current"] == cuda.memory_reserved()
    print(when, *(told() >> 20 for told in (cuda.memory_allocated, cuda.memory_reserved, cuda.max_memory_allocated)))


def chain(start):
    for _ in range(20):
        start = start * 1.5
    return start


chain(x)
memory("by itself")
graph, second = torch.cuda.CUDAGraph(), torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    doubled = x * 2
    few = doubled[:4]
    few.unsqueeze_(0)
    doubled.add_(1)
    y = chain(doubled)
    y.add_(few.sum())
    del doubled
memory("captured")
for k in range(3):
    x.fill_(k)
    graph.replay()
    print("values", few[0, 3].item(), y[0].item())
memory("replayed")
with torch.cuda.graph(second, pool=graph.pool()):
    z = x
    for _ in range(5):
        z = z - 1
memory("a second in the same memory")
x.fill_(7)
second.replay()
print("values", z[0].item())
del graph, second
memory("gone")
