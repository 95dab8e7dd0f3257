"""600 calls of a module without an optimizer; now and then the script works for long between the call and what follows."""

import time

import torch

model = torch.nn.Linear(64, 64)
x = torch.randn(32, 64)
with torch.no_grad():
    for step in range(600):
        out = model(x)
        if step % 60 == 59:
            until = time.process_time() + 0.03
            while time.process_time() < until:
                pass
        x = x * 0.999 + out.mean()
