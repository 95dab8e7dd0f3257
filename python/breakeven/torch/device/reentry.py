"""Keeps our function mode active where PyTorch switches it off: in new threads, under the script's own modes, and
inside callbacks (hooks of autograd, hooks of saved tensors, custom kernels, dispatch modes)."""

from __future__ import annotations

import functools
import sys
from types import FunctionType

from ... import _native
from ...events import recorder
from ..describe import storages
from ..no_values import valueless
from ..patch import put
from ..session import session
from ..sides.side import named, where
from . import factories, function_mode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

#: What a script's own dispatch modes do, within which calls pass here.
_through: set[Any] = set()
#: What TorchScript does that shows it where tensors really are.
_TELLING = (("prim::is_cuda",), ("prim::is_cpu",), ("aten::cpu(",), ("prim::device", "aten::to("))


def install(torch: Any, passing: Any) -> None:
    """Let calls pass through this function mode."""
    function_mode.state.mode = passing
    _let_through(torch)
    _stand_in_context()
    _stand_in_engine()
    _stand_in_keeping()
    _stand_in_kernels()
    _stand_in_modes()
    function_mode.stand_below()


def _let_through(torch: Any) -> None:
    """What is written in Python passes on to modes as a whole, and what it calls would not pass here any more: for our
    mode alone it does not stop."""
    from torch.jit import _builtins

    core = torch._C
    plain_types = (torch.Tensor, torch.nn.Parameter)

    def overridden(value: Any) -> bool:
        return type(value) not in plain_types and core._has_torch_function((value,))

    def alone() -> bool:
        return core._len_torch_function_stack() == 1 and core._get_function_stack_at(0) is function_mode.state.mode

    def has(plain: Any, values: Any) -> Any:
        def asked(*args: Any) -> bool:
            if not alone():
                return plain(*args)  # type: ignore[no-any-return]
            core._pop_torch_function_stack()
            try:
                return any(overridden(value) for value in values(args))
            finally:
                core._push_on_torch_function_stack(function_mode.state.mode)

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


def _stand_in_engine() -> None:
    """Backward runs with the modes that there are when its engine is called, which is within a call that has passed
    here already: what the script does in it (hooks, functions of its own) passes here all the same."""
    graph, name = session.torch.autograd.graph, "_engine_run_backward"
    plain = graph._engine_run_backward
    put(graph, name, _passing(plain, name), plain)
    session.torch.autograd._engine_run_backward = graph._engine_run_backward


def _passing(function: Any, name: str) -> Any:
    """What lets calls pass here in a function of this name."""
    return _native.Named(function, name, function_mode.go_in, function_mode.come_out, passing=True)


def _stand_in_keeping() -> None:
    """How a script keeps what gradients need (`save_on_cpu`) is called within a call that has passed here, too."""
    core = session.torch._C._autograd
    plain = core._push_saved_tensors_default_hooks

    def push(*hooks: Any) -> None:
        plain(*(_passing(hook, "hook") for hook in hooks))

    core._push_saved_tensors_default_hooks = push


def _stand_in_kernels() -> None:
    """So is a kernel that a script registers for an op of its own (`torch.library`)."""
    library = session.torch.library.Library
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
            if key in ("CPU", "CUDA") and session.imitated is not None:
                kinds = vars(self).setdefault("_kernels", {}).setdefault(name, {})
                kinds[key] = fn
                if len(kinds) > 1:
                    return None  # the other one chooses
                fn, dispatch_key = _chooses(name, kinds), "CPU"
            if key in ("CPU", "CUDA", "CompositeExplicitAutograd"):
                valueless.kernels[name] = fn
        return plain(self, op_name, fn, dispatch_key, **kwargs)

    library.impl = impl


def _chooses(name: str, kinds: dict[str, Any]) -> Any:
    """A script's kernels for the CPU and for CUDA as one, which is the one for where its tensors are."""

    def kernel(*args: Any, **kwargs: Any) -> Any:
        there = any(where(one) != "cpu" for one in storages.flat((*args, *kwargs.values())))
        key = "CUDA" if there else "CPU"
        if key not in kinds:
            raise NotImplementedError(f"Could not run '{name}' with arguments from the '{key}' backend.")
        return kinds[key](*args, **kwargs)

    return kernel


def _stand_in_modes() -> None:
    """And so is what a script's own dispatch mode does with an op."""
    modes = session.torch.utils._python_dispatch
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
        inside = function_mode.go_in("")
        try:
            return plain(*args, **kwargs)
        finally:
            function_mode.come_out(inside)

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
        return factories.call(plain, args, kwargs)

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
                recorder.unseen(
                    "torch-jit",
                    "TorchScript that asks whether a tensor is on the GPU, or copies it there, found it on the host",
                )
        return _native.call_noted(plain, args, kwargs)

    return called


def _stand_in_context() -> None:
    """`torch.set_default_device("cuda")` works by a mode that keeps itself below all others: calls that it has given a
    device to come by here once more."""
    from torch.utils import _device

    plain = _device.DeviceContext.__torch_function__

    def passed() -> bool:
        return function_mode.state.mode is not None and not function_mode.is_on()

    def given(self: Any, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        words = kwargs or {}
        if words.get("device") is None and passed() and func in _device._device_constructors():
            return factories.call(func, args, {**words, "device": self.device})
        return plain(self, func, types, args, words)

    _device.DeviceContext.__torch_function__ = given
