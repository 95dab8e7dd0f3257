"""Calls that need not pass our function mode: those of what a replayed step calls as a whole (`backward`, `step`,
`zero_grad`), and methods that no device changes."""

from __future__ import annotations

import functools
from importlib import import_module
from types import BuiltinFunctionType, FunctionType

from ... import _native
from .. import patch
from ..describe import optimizer_state, storages
from ..gpu_form import foreach
from ..session import session
from . import factories, placed_ops

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any


#: What tells a device of tensors, and what of those on a device.
_ATTRIBUTES = {
    "device": lambda device: session.torch.device(device),
    "is_cuda": lambda device: device != "cpu",
    "is_cpu": lambda device: device == "cpu",
    "__cuda_array_interface__": None,
}


def attributes(torch: Any) -> None:
    """Stand in for tensors' attributes, whose functions are what handlers are kept under."""
    for name, told in _ATTRIBUTES.items():
        plain = getattr(torch.Tensor, name)
        patch.put(torch.Tensor, name, _native.PassingAttribute(plain, told), plain)


def install(torch: Any, mode: Any, handlers: dict[Any, Any]) -> None:
    """Let calls pass by `mode` where they may, but for those of `handlers` and what may name a device."""
    from torch.utils import _device

    handled = {plain for plain in handlers if not isinstance(plain, type(torch.Tensor.device.__get__))}
    named = {plain for plain in _device._device_constructors() if isinstance(plain, BuiltinFunctionType)} - handled
    like = {name.removeprefix("aten::") for name in placed_ops.LIKE}
    of_tensors = {name for name in like if name.startswith("new_")} | {"new_tensor"}
    named |= {getattr(torch, name) for name in like - of_tensors} - handled
    for name, plain in _found(torch.Tensor, dir(torch.Tensor), handled):
        patch.put(torch.Tensor, name, _native.Passing(plain), plain)
    # What is written in Python is PyTorch's by name alone, and goes by without.
    handled = {plain for plain in handled if not isinstance(plain, FunctionType)}
    for name in of_tensors:
        plain = getattr(torch.Tensor, name)
        patch.put(torch.Tensor, name, _native.Passing(plain, True), plain)
    names = {plain.__name__ for plain in handled | named}
    functions = (
        torch.nn.functional,
        torch.functional,
        torch.fft,
        torch.linalg,
        torch.nested,
        torch.sparse,
        torch.special,
    )
    stand_ins = {plain: _stand_in(plain, plain in named) for plain in handled | named}
    for holder in (torch, torch._C._nn, torch._VF, *functions):
        for name, plain in list(_found(holder, names.union(vars(holder)), handled | named)):
            patch.put(holder, name, stand_ins[plain], plain)
    _native.calls_pass(mode, torch._C, session.plain, storages.alive)
    _pass_by(torch)


def _found(holder: Any, names: Any, wanted: set[Any]) -> Iterator[tuple[str, Any]]:
    for name in names:
        plain = getattr(holder, name, None)
        if callable(plain) and plain.__hash__ is not None and plain in wanted:
            yield name, plain


def _stand_in(plain: Any, named: bool) -> Any:
    from torch.jit import _builtins

    stand_in = _native.Passing(plain, named, plain in factories.filled)
    if (operator := _builtins._find_builtin(plain)) is not None:
        _builtins._register_builtin(stand_in, operator)
    return stand_in


def _pass_by(torch: Any) -> None:
    """What runs as a whole, besides modules; and a script's own modes, which hand on what they get to the one that
    is off."""
    optimizer = import_module("torch.optim.optimizer").Optimizer
    loader = torch.utils.data.dataloader._BaseDataLoaderIter
    whole = (
        (optimizer, "zero_grad"), (torch.nn.Module, "zero_grad"), (loader, "__next__"),
        (torch.Tensor, "backward"), (torch.autograd, "backward"), (torch.autograd, "grad"),
    )  # fmt: skip
    for holder, name in whole:
        plain = vars(holder)[name]
        patch.put(holder, name, _native.Whole(plain), plain)
    # With what an optimizer is to call, which is the script's, calls pass.
    optimizer.profile_hook_step = staticmethod(functools.partial(_hooked, optimizer.profile_hook_step))
    foreach.take_few_in_turn(torch, optimizer_state.stepping)
    mode = torch.overrides.TorchFunctionMode
    patch.watch(mode, "__enter__", mode.__enter__, lambda _: _native.mode_on(), lambda *_: None)


def _hooked(plain: Any, step: Any) -> Any:
    """An optimizer's step, as PyTorch has it, with what is to be called before and after it: of all optimizers the
    recorder's alone, or of this one."""
    optimizers = import_module("torch.optim.optimizer")
    of_all = [optimizers._global_optimizer_pre_hooks, optimizers._global_optimizer_post_hooks]
    with_hooks = plain(_native.Whole(step, True))
    whole = _native.Whole(with_hooks, True, ["_optimizer_step_pre_hooks", "_optimizer_step_post_hooks"], of_all)
    return functools.update_wrapper(whole, functools.update_wrapper(with_hooks, step))
