"""ResNet-50, a batch of 64, training steps with SGD. Uses a GPU where there is one.

    breakeven run --fake examples/torch_resnet.py          on a machine that would take minutes
    breakeven run examples/torch_resnet.py --steps 1
"""

import argparse

import torch
from torchvision.models import resnet50

parser = argparse.ArgumentParser()
parser.add_argument("--batch", type=int, default=64)
parser.add_argument("--steps", type=int, default=3)
arguments = parser.parse_args()

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = resnet50().to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
loss_function = torch.nn.CrossEntropyLoss()

for step in range(arguments.steps):
    images = torch.randn(arguments.batch, 3, 224, 224).to(device)
    labels = torch.randint(0, 1000, (arguments.batch,)).to(device)
    optimizer.zero_grad()
    loss = loss_function(model(images), labels)
    loss.backward()
    optimizer.step()
print(f"{arguments.steps} steps of {arguments.batch} images on {device.type}")
