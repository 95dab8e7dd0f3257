"""A training loop that does something else from step 60 of 120 on; what: the first argument."""

import collections
import dataclasses
import sys

import torch
from torch import nn

WHAT = sys.argv[1]
Pair = collections.namedtuple("Pair", "x scale")


@dataclasses.dataclass
class Batch:
    x: torch.Tensor
    scale: torch.Tensor


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.norm, self.last = nn.Linear(8, 8, bias=False), nn.BatchNorm1d(8), nn.Linear(8, 4)

    def forward(self, batch=None, x=None, scale=None):
        if batch is None:
            x, scale = (x, scale) if WHAT == "keywords" else (self.x, self.scale)
        elif isinstance(batch, dict):
            x, scale = batch["x"], batch["scale"]
        elif isinstance(batch, (list, tuple)):
            x, scale = batch
        else:
            x, scale = batch.x, batch.scale
        return self.last(torch.relu(self.norm(self.first(x) * scale)))


device = "cuda" if torch.cuda.is_available() else "cpu"
net = Net().to(device)
optimizer = torch.optim.SGD([*net.first.parameters(), *net.norm.parameters()], lr=0.01, momentum=0.9)
hold = {
    "dictionary": lambda x, scale: {"x": x, "scale": scale},
    "list": lambda x, scale: [x, scale],
    "named tuple": Pair,
    "object": Batch,
}.get(WHAT)

for step in range(120):
    changed = step >= 60
    rows = 7 if changed and (hold or WHAT in ("keywords", "attributes")) else 5
    x, scale = torch.ones(rows, 8).to(device), torch.ones(rows, 1).to(device)
    if WHAT == "optimizer" and step == 60:
        optimizer = torch.optim.Adam(net.parameters())
    elif WHAT == "decay" and step == 60:
        optimizer.param_groups[0]["weight_decay"] = 0.1
    elif WHAT == "group" and step == 60:
        optimizer.add_param_group({"params": list(net.last.parameters())})
    elif WHAT == "frozen" and step == 60:
        net.norm.eval()
    for _ in range(4 if WHAT == "loop" and changed else 1):
        with torch.no_grad():
            x = x * 0.5
    if WHAT == "keywords":
        out = net(x=x, scale=scale)
    elif hold:
        out = net(hold(x, scale))
    elif WHAT == "attributes":
        net.x, net.scale = x, scale
        out = net()
    else:
        out = net([x, scale])
    optimizer.zero_grad()
    out.square().mean().backward()
    optimizer.step()
