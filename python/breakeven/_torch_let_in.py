"""How calls of PyTorch come by where a GPU is imitated: in every thread, below the modes of the script, and within calls
that have come by already."""

from __future__ import annotations

import functools
import sys
from types import FunctionType

from . import _native, _torch_fake, _torch_made, _torch_ops, _torch_side
from ._torch_side import named, where

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

#: What every call of PyTorch's API passes through, in each thread of its own accord; None where a process has left it.
mode: Any = None
#: What a script's own dispatch modes do, within which calls pass here.
_through: set[Any] = set()
#: What TorchScript does that shows it where tensors really are.
_TELLING = (("prim::is_cuda",), ("prim::is_cpu",), ("aten::cpu(",), ("prim::device", "aten::to("))


def install(torch: Any, passing: Any) -> None:
    """Let calls pass through this function mode."""
    global mode
    mode = passing
    _let_through(torch)
    _stand_in_context()
    _stand_in_engine()
    _stand_in_keeping()
    _stand_in_kernels()
    _stand_in_modes()
    stand_below()


def _let_through(torch: Any) -> None:
    """What is written in Python passes on to modes as a whole, and what it calls would not pass here any more: for our
    mode alone it does not stop."""
    from torch.jit import _builtins

    core = torch._C
    plain_types = (torch.Tensor, torch.nn.Parameter)

    def overridden(value: Any) -> bool:
        return type(value) not in plain_types and core._has_torch_function((value,))

    def alone() -> bool:
        return core._len_torch_function_stack() == 1 and core._get_function_stack_at(0) is mode

    def has(plain: Any, values: Any) -> Any:
        def asked(*args: Any) -> bool:
            if not alone():
                return plain(*args)  # type: ignore[no-any-return]
            core._pop_torch_function_stack()
            try:
                return any(overridden(value) for value in values(args))
            finally:
                core._push_on_torch_function_stack(mode)

        return asked

    stand_ins = {
        core._has_torch_function: has(core._has_torch_function, lambda args: args[0]),
        core._has_torch_function_unary: has(core._has_torch_function_unary, lambda args: args),
        core._has_torch_function_variadic: has(core._has_torch_function_variadic, lambda args: args),
    }
    plain_has = torch.overrides.has_torch_function

    def of_layers(args: Any) -> bool:
        # Ops that take functions ask here, too, and are to pass on to modes.
        asking = str(sys._getframe(1).f_globals.get("__name__"))
        return bool((stand_ins[plain_has] if asking.startswith("torch.nn.modules.") else plain_has)(args))

    torch.overrides.has_torch_function = of_layers
    for plain, stand_in in [*stand_ins.items(), (plain_has, of_layers)]:
        operator = _builtins._find_builtin(plain)
        if operator is not None:
            _builtins._register_builtin(stand_in, operator)
    for name in ("torch.functional", "torch.nn.functional", "torch.nn.init"):
        module = sys.modules[name]
        for word, value in list(vars(module).items()):
            if word.startswith("has_torch_function") and value in stand_ins:
                setattr(module, word, stand_ins[value])


def _is_on() -> bool:
    """Whether calls of this thread pass here."""
    core = _torch_side.lib._C
    return any(core._get_function_stack_at(i) is mode for i in range(core._len_torch_function_stack()))


def _stand_in_engine() -> None:
    """Backward runs with the modes that there are when its engine is called, which is within a call that has passed here
    already: what the script does in it (hooks, functions of its own) passes here all the same."""
    from ._torch_modules import put

    graph, name = _torch_side.lib.autograd.graph, "_engine_run_backward"
    plain = graph._engine_run_backward
    put(graph, name, _passing(plain, name), plain)
    _torch_side.lib.autograd._engine_run_backward = graph._engine_run_backward


def _passing(function: Any, name: str) -> Any:
    """What lets calls pass here in a function of this name."""
    return _native.Named(function, name, go_in, come_out, passing=True)


def go_in(_: str) -> bool | None:
    """Calls pass here again within one that has; None where they need not."""
    if mode is not None and _native.is_mode_off():
        return None
    inside = mode is not None and not _is_on()
    if inside:
        _torch_side.lib._C._push_on_torch_function_stack(mode)
    return inside


def come_out(inside: bool | None, *_: Any) -> None:
    """That call is over; None: in it calls began to pass."""
    if inside:
        _torch_side.lib._C._pop_torch_function_stack()
    elif inside is None and mode is not None and not (_native.is_mode_off() or _is_on()):
        stand_below()  # backward's engine leaves the modes as it found them


def _stand_in_keeping() -> None:
    """How a script keeps what gradients need (`save_on_cpu`) is called within a call that has passed here, too."""
    core = _torch_side.lib._C._autograd
    plain = core._push_saved_tensors_default_hooks

    def push(*hooks: Any) -> None:
        plain(*(_passing(hook, "hook") for hook in hooks))

    core._push_saved_tensors_default_hooks = push


def _stand_in_kernels() -> None:
    """So is a kernel that a script registers for an op of its own (`torch.library`)."""
    library = _torch_side.lib.library.Library
    plain = library.impl

    @functools.wraps(plain)
    def impl(self: Any, op_name: Any, fn: Any, dispatch_key: str = "", **kwargs: Any) -> Any:
        module = getattr(fn, "__module__", None) or ""
        of_torch = module.startswith("torch.") and not module.startswith("torch._library.")
        if isinstance(fn, FunctionType) and not of_torch and not module.startswith("breakeven."):
            fn = _passing(fn, "kernel")
            key = dispatch_key or self.dispatch_key
            name = op_name if isinstance(op_name, str) else op_name.name()
            name = f"{self.ns}::{name.rpartition('::')[2]}"
            if key in ("CPU", "CUDA") and _torch_side.gpu is not None:
                kinds = vars(self).setdefault("_kernels", {}).setdefault(name, {})
                kinds[key] = fn
                if len(kinds) > 1:
                    return None  # the other one chooses
                fn, dispatch_key = _chooses(name, kinds), "CPU"
            if key in ("CPU", "CUDA", "CompositeExplicitAutograd"):
                _torch_fake.kernels[name] = fn
        return plain(self, op_name, fn, dispatch_key, **kwargs)

    library.impl = impl


def _chooses(name: str, kinds: dict[str, Any]) -> Any:
    """A script's kernels for the CPU and for CUDA as one, which is the one for where its tensors are."""

    def kernel(*args: Any, **kwargs: Any) -> Any:
        there = any(where(one) != "cpu" for one in _torch_ops.flat((*args, *kwargs.values())))
        key = "CUDA" if there else "CPU"
        if key not in kinds:
            raise NotImplementedError(f"Could not run '{name}' with arguments from the '{key}' backend.")
        return kinds[key](*args, **kwargs)

    return kernel


def _stand_in_modes() -> None:
    """And so is what a script's own dispatch mode does with an op."""
    modes = _torch_side.lib.utils._python_dispatch
    plain = modes._push_mode

    def push(mode: Any) -> None:
        kind = type(mode)
        told = kind.__torch_dispatch__
        of_script = not (getattr(told, "__module__", None) or "").startswith(("torch.", "breakeven."))
        if isinstance(told, FunctionType) and of_script and told not in _through:
            kind.__torch_dispatch__ = _let_in(told)
        plain(mode)

    modes._push_mode = push


def _let_in(plain: Any) -> Any:
    @functools.wraps(plain)
    def __torch_dispatch__(*args: Any, **kwargs: Any) -> Any:
        inside = go_in("")
        try:
            return plain(*args, **kwargs)
        finally:
            come_out(inside)

    _through.add(__torch_dispatch__)
    return __torch_dispatch__


def wrapping(plain: Any) -> Any:
    """`_make_wrapper_subclass`: autograd would ask the driver for streams of a GPU's. It is where what it wraps is."""

    @functools.wraps(plain)
    def function(*args: Any, **kwargs: Any) -> Any:
        if named(kwargs.get("device")) is not None:
            kwargs["device"] = "cpu"
        return plain(*args, **kwargs)

    return function


def given_device(plain: Any) -> Any:
    """A function that takes a device and passes here of its own accord by no means."""

    @functools.wraps(plain)
    def function(*args: Any, **kwargs: Any) -> Any:
        return _torch_made.call(plain, args, kwargs)

    return function


def interpreted(plain: Any) -> Any:
    """TorchScript, whose ops come by here one by one: what it makes of its own accord is where what it was given is."""
    read: set[Any] = set()

    @functools.wraps(plain)
    def called(*args: Any, **kwargs: Any) -> Any:
        if (graph := args[0].graph) not in read:
            read.add(graph)
            text = str(graph)
            if any(all(word in text for word in words) for words in _TELLING):
                _native.unseen(
                    "torch-jit", "TorchScript that asks whether a tensor is on the GPU, or copies it there, found it on the host"
                )
        return _native.call_noted(plain, args, kwargs)

    return called


def _stand_in_context() -> None:
    """`torch.set_default_device("cuda")` works by a mode that keeps itself below all others: calls that it has given a
    device to come by here once more."""
    from torch.utils import _device

    plain = _device.DeviceContext.__torch_function__

    def passed() -> bool:
        return mode is not None and not _is_on()

    def given(self: Any, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        words = kwargs or {}
        if words.get("device") is None and passed() and func in _device._device_constructors():
            return _torch_made.call(func, args, {**words, "device": self.device})
        return plain(self, func, types, args, words)

    _device.DeviceContext.__torch_function__ = given


def stand_below() -> None:
    """Take the place below the modes of the script in this thread."""
    core = _torch_side.lib._C
    above = [core._pop_torch_function_stack() for _ in range(core._len_torch_function_stack())]
    begin_thread()
    for one in reversed(above):
        if one is not mode:
            core._push_on_torch_function_stack(one)


def begin_thread() -> None:
    """In this thread, too, the GPU is there: PyTorch keeps its modes thread by thread."""
    if mode is not None:
        mode.__enter__()


def end_thread() -> None:
    """It is not there any more in what is left to do in this thread."""
    while mode is not None and _is_on():
        _torch_side.lib._C._pop_torch_function_stack()


def leave() -> None:
    """From now on calls run as they are written, where tensors really are."""
    global mode
    _native.mode_on()
    mode = None
    core = _torch_side.lib._C
    while core._len_torch_dispatch_stack():
        core._pop_torch_dispatch_stack(None)
    while core._len_torch_function_stack():
        core._pop_torch_function_stack()
