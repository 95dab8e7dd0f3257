"""TorchScript, traced and scripted."""

import warnings

import torch

warnings.simplefilter("ignore")
model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 8)).eval()
x = torch.randn(16, 64)
with torch.no_grad():
    print(tuple(torch.jit.trace(model, x)(x).shape), tuple(torch.jit.script(model)(x).shape))
