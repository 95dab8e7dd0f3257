"""A script that changes PyTorch itself, and ends in the middle of it."""

import torch

plain = torch.nn.Linear.forward


def counted(self, x):
    counted.calls += 1
    return plain(self, x)


counted.calls = 0
torch.nn.Linear.forward = counted
torch.Tensor.halved = lambda self: self / 2
torch.add_one = lambda x: x + 1
layer = torch.nn.Linear(3, 1)
layer.register_forward_hook(lambda module, given, result: print("hook", tuple(result.shape)))
print(counted.calls, layer(torch.ones(2, 3)).halved().shape, counted.calls, torch.add_one(torch.zeros(1)).item())
print(len(torch.nn.modules.module._global_forward_hooks), len(torch.nn.modules.module._global_forward_pre_hooks))


class Broken(torch.nn.Module):
    def forward(self, x):
        return x.no_such_thing


class Scaled(torch.optim.SGD):
    def step(self, closure=None):
        print("own step")
        return super().step(closure)


optimizer = Scaled(layer.parameters(), lr=0.1)
layer(torch.ones(1, 3)).sum().backward()
optimizer.step()
import no_such_package_for_sure  # noqa: E402, F401
