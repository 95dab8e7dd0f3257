"""Classes and modes that are told of every call of PyTorch's functions, and print what they are told."""

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode


class Told(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        print("class", getattr(func, "__name__", func))
        return super().__torch_function__(func, types, args, kwargs or {})


class Calls(TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        print("mode", getattr(func, "__name__", func))
        return func(*args, **(kwargs or {}))


class Ops(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        print("op", func)
        return func(*args, **(kwargs or {}))


def used(x):
    print(x.to("cpu").sum().item(), x.tolist(), x.numpy(), x.cpu().dtype, repr(x), x.device)


used(torch.ones(3).as_subclass(Told))
with Calls():
    used(torch.ones(3))
with Ops():
    used(torch.ones(3))
