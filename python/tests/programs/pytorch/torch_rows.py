"""Rows of one tensor that are put on a device each, a whole that is, and what comes back; the bytes beside it."""

import torch

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
x, w, h = torch.randn(6, 100), torch.randn(8, 8), torch.arange(10.0).to("cpu")
model = torch.nn.Linear(100, 2).to(device)  # in 800, 8
model.to(device)
total = torch.zeros((), device=device)
for epoch in range(2):
    for row in x:
        batch = row.to(device)  # in 12 times 400
        top = model(batch).detach().to("cpu")  # out 12 times 8
whole = w.to(device)  # in 256
for i in range(3):
    (whole[i] + whole[i].to(device)).sum()
print(whole[0].to(torch.device("cpu")).shape)  # out 32
for epoch in range(3):
    y = h.to(device)  # in 3 times 40
