"""Lists of tensors changed in place: autograd is told, and refuses what it would have refused."""

import torch

parameters = [torch.nn.Parameter(torch.ones(3)) for _ in range(3)]
optimizer = torch.optim.AdamW(parameters, foreach=True)
for parameter in parameters:
    parameter.grad = torch.ones(3)
optimizer.step()
print([parameter._version for parameter in parameters])
changed = torch.ones(3, requires_grad=True) * 1
squares = (changed * changed).sum()
with torch.inference_mode():
    torch._foreach_add_([torch.ones(2)], 1)
with torch.no_grad():
    torch._foreach_mul_([changed], 2)
print(changed._version)
squares.backward()
