"""Training steps of a small network; with a second argument `allocator`, prints the most that PyTorch's own count says."""

import sys

import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile


def mlp():
    model = nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 512), nn.GELU(), nn.Linear(512, 10))
    return model, torch.optim.Adam(model.parameters()), torch.randn(1024, 256)


def conv():
    block = lambda i, o: (nn.Conv2d(i, o, 3, padding=1, bias=False), nn.BatchNorm2d(o), nn.ReLU())  # noqa: E731
    head = (nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 10))
    model = nn.Sequential(*block(3, 32), *block(32, 64), nn.MaxPool2d(2), *block(64, 64), *head)
    return model, torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9), torch.randn(16, 3, 48, 48)


def attention():
    layer = nn.TransformerEncoderLayer(128, 4, 512, dropout=0.0, batch_first=True)
    model = nn.Sequential(nn.Linear(32, 128), nn.TransformerEncoder(layer, 3), nn.Flatten(), nn.Linear(128 * 64, 10))
    return model, torch.optim.AdamW(model.parameters()), torch.randn(8, 64, 32)


def train(name, steps=3):
    torch.manual_seed(0)
    model, optimizer, given = globals()[name]()
    wanted = torch.randint(0, 10, (len(given),))
    for _ in range(steps):
        loss = nn.functional.cross_entropy(model(given), wanted)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def most(name):
    """The highest sum of what its allocator gave out and took back, in the order in which it did."""
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as seen:
        train(name)
    live = peak = 0
    changes = [event for event in seen.profiler.kineto_results.events() if event.name() == "[memory]"]
    for event in sorted(changes, key=lambda event: event.start_ns()):
        live += event.nbytes()
        peak = max(peak, live)
    return peak


if sys.argv[2:] == ["allocator"]:
    print(most(sys.argv[1]))
else:
    train(sys.argv[1])
