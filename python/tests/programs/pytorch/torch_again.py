"""A loop that puts on its device, in each of its steps: its batch, twice; a part of it; one mask that all steps share; and
in one step a longer batch."""

import torch

STEPS, LONGER = 300, 150

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = torch.nn.Linear(8, 3).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
mask = torch.ones(3)
batches = [torch.ones(7 if step == LONGER else 5, 8) for step in range(STEPS)]


def loss_of(inputs, outputs):
    inputs = inputs.to(device)
    first = inputs[0].to(device)
    return outputs.square().mean() + first.sum()


for step in range(STEPS):
    inputs = batches[step].to(device, non_blocking=True)
    optimizer.zero_grad()
    loss = loss_of(inputs, model(inputs) * mask.to(device))
    loss.backward()
    optimizer.step()
