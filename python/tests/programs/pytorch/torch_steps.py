"""A loop of 300 equal steps, in which step 150 may differ."""

import sys
import time

import torch

torch.manual_seed(0)
torch.set_num_threads(1)
what = sys.argv[1]
model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))
extra = torch.nn.Linear(8, 8)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)


def evaluate():
    model.eval()
    with torch.no_grad():
        total = sum(model(torch.ones(50, 8)).mean() for _ in range(3))
    model.train()
    return total


for step in range(300):
    special = step == 150
    if what == "evaluations before" and step % 30 == 0:
        evaluate()
    x = torch.ones(7 if special and what == "shape" or step >= 150 and what == "functions" else 5, 8)
    optimizer.zero_grad()
    if special and what == "branch":
        x = extra(x)
    if special and what == "longer":
        until = time.process_time() + 0.1
        while time.process_time() < until:
            pass
    if special and what == "waits":
        time.sleep(0.6)
    if what == "functions":
        hidden = torch.relu(torch.nn.functional.linear(x, model[0].weight))
        result = torch.nn.functional.linear(hidden, model[2].weight)
    else:
        result = model(x)
    for _ in range(special and what == "again"):
        result = result + model(x)
    loss = result.square().mean()
    if special and what == "graph":
        loss = loss + loss.exp()
    loss.backward()
    optimizer.step()
    if special and what == "evaluation":
        with torch.no_grad():
            model(torch.ones(50, 8))
    if what == "evaluations after" and step % 30 == 29:
        print(evaluate())
if what == "tail":
    a = torch.full((300, 300), 1e-3)
    for _ in range(400):
        a = torch.tanh(a @ a)
