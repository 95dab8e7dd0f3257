"""`torch.func` on a GPU: what a transformed function makes there is not copied; and where a function of autograd's finds
its gradient, also in steps that nobody watches."""

import torch
from torch.func import grad, jacrev, vmap

weight = torch.eye(6, device="cuda")
x = torch.randn(5, 6).to("cuda")
jacobian = jacrev(lambda row: torch.tanh(row @ torch.ones(6, 6, device="cuda")))(x[0])
each = vmap(grad(lambda row: (row @ weight * torch.ones(6, device="cuda")).sum()))(x)
print(jacobian.shape, each.shape, jacobian.device, each.device)


class Doubled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, value):
        return 2 * value

    @staticmethod
    def backward(ctx, gradient):
        assert gradient.device.type == "cuda"
        return 2 * gradient


layer = torch.nn.Linear(6, 6).to("cuda")
optimizer = torch.optim.SGD(layer.parameters(), 0.1)
for _ in range(9):
    optimizer.zero_grad()
    layer(Doubled.apply(layer(x))).square().mean().backward()
    optimizer.step()
