"""The same layers twice: with gradients turned off, and in inference mode."""

import sys

import torch
from torch import nn
from torch.nn import functional

torch.manual_seed(0)
layers = nn.Sequential(
    nn.Conv2d(8, 8, 3, padding=1), nn.BatchNorm2d(8), nn.Dropout(0.1), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(512, 8), nn.LayerNorm(8)
).eval()
recurrent = nn.LSTM(8, 8)
images, words, heads = torch.rand(4, 8, 16, 16), torch.rand(5, 2, 8), torch.rand(2, 4, 16, 8)


def calls() -> float:
    y = layers(images)
    functional.scaled_dot_product_attention(heads, heads, heads)
    recurrent(words)
    loss = functional.cross_entropy(torch.einsum("ij,kj->ik", y, y).matmul(y), torch.tensor([1, 2, 3, 4]))
    return float(loss + y.to(torch.float16).float().norm())


with torch.inference_mode() if sys.argv[1] == "inference" else torch.no_grad():
    print(calls())
