"""Tensors without values as a script has them: of classes of its own, copied, pickled, and never told to be PyTorch's
`FakeTensor`, for which libraries take paths that they would not take on a GPU.
"""

from __future__ import annotations

import copy
import functools
import sys
from types import ModuleType

from ...events import recorder
from .. import frames, saved_files
from ..no_values import known_values
from ..session import session
from ..sides import side
from . import virtual_files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class State:
    """What changes while the script runs."""

    fake: Any = None
    mode: Any = None


state = State()

#: What stands for a class of the script's, whose tensors have no values.
_classes: dict[type, type] = {}
#: Attributes that are PyTorch's or ours.
_own: set[str] = {"_value", "_is_param", "ordinary", "why", "count"}


def install(torch: Any, fake: Any, mode: Any) -> None:
    """Tensors of `mode`, which are of the class `fake`, are the script's from now on."""
    session.torch, state.fake, state.mode = torch, fake, mode
    _own.update(vars(torch.empty(0)))
    _hide()
    fake.__name__ = fake.__qualname__ = "Tensor"
    fake.__module__ = "torch"
    fake.__copy__, fake.__reduce_ex__, fake.data_ptr = _shares, _pickled, _address
    plain = torch.Tensor.data
    fake.data = property(plain.__get__, functools.partial(_becomes, plain.__set__))
    torch.UntypedStorage.data_ptr = _storage_address(torch.UntypedStorage.data_ptr)
    tensor, parameter = torch.Tensor, torch.nn.Parameter
    tensor.__deepcopy__ = _copies(tensor.__deepcopy__)
    tensor.as_subclass = _as(tensor.as_subclass)
    tensor._make_subclass = staticmethod(_made(tensor._make_subclass))
    parameter.__new__ = staticmethod(_parameter(parameter.__new__))
    reductions = torch.multiprocessing.reductions
    reductions.rebuild_tensor = _received(reductions.rebuild_tensor)


def _hide() -> None:
    """Whoever but PyTorch asks whether a tensor is a `FakeTensor` is told so of those alone that the script made so
    itself."""
    kind = _Asked("FakeTensor", (), {"__module__": "torch._subclasses.fake_tensor"})

    class Hiding(ModuleType):
        def __getattribute__(self, name: str) -> Any:
            asks = sys._getframe(1).f_globals.get("__name__", "") if name == "FakeTensor" else "torch."
            return super().__getattribute__(name) if asks.startswith(("torch.", "breakeven.")) else kind

    for name in ("torch._subclasses", "torch._subclasses.fake_tensor"):
        sys.modules[name].__class__ = Hiding


class _Asked(type):
    """The class of what stands for `FakeTensor`."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, state.fake) and instance.fake_mode is not state.mode

    def __getattr__(cls, name: str) -> Any:
        return getattr(state.fake, name)

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        return state.fake(*args, **kwargs)


def _becomes(plain: Any, tensor: Any, other: Any) -> None:
    """`tensor.data = other`: it has the other's memory from now on, and what is known of it."""
    plain(tensor, other)
    for name in ("_value", "ordinary", "why", "count"):
        vars(tensor).pop(name, None)
        if name in vars(other):
            setattr(tensor, name, vars(other)[name])


def _address(tensor: Any) -> int:
    """What tells a tensor's memory from another's, as scripts look for weights that are shared."""
    address: int = tensor.untyped_storage()._cdata + tensor.storage_offset() * tensor.element_size()
    return address if tensor.numel() else 0


def _storage_address(plain: Any) -> Any:
    @functools.wraps(plain)
    def data_ptr(storage: Any) -> Any:
        return plain(storage) if storage.device.type != "meta" else storage._cdata

    return data_ptr


def _dressed(tensor: Any, kind: Any) -> Any:
    """A tensor that was just made, which becomes one of a class of the script's."""
    if issubclass(kind, session.torch.nn.Parameter):
        tensor._is_param = True
    if kind not in (session.torch.Tensor, session.torch.nn.Parameter) and not isinstance(tensor, kind):
        tensor.__class__ = kind if issubclass(kind, state.fake) else _class(kind)
    return tensor


def _class(kind: Any) -> type:
    """The script's class, whose tensors have no values."""
    made = _classes.get(kind)
    if made is None:
        own = {name: getattr(kind, name) for name in ("__module__", "__qualname__", "__doc__")}
        if kind.__reduce_ex__ in (session.torch.Tensor.__reduce_ex__, session.torch.nn.Parameter.__reduce_ex__):
            own["__reduce_ex__"] = _pickled
        base: Any = type("Tensor", (state.fake,), {})
        made = _classes[kind] = type(kind)(kind.__name__, (kind, base), own)
        # PyTorch takes this from each class that does its own ops.
        base.__torch_function__ = vars(session.torch.Tensor)["__torch_function__"]
        if "__torch_function__" in vars(made):
            del made.__torch_function__
        session.plain += (made,)
    return made


def _takes(tensor: Any, kind: Any) -> bool:
    """Whether a tensor without values can become one of this class. What does its own ops wraps others."""
    own_ops = getattr(kind, "__torch_dispatch__", None) is not session.torch._C._disabled_torch_dispatch_impl
    return isinstance(tensor, state.fake) and (issubclass(kind, state.fake) or not own_ops)


def _as(plain: Any) -> Any:
    @functools.wraps(plain)
    def as_subclass(self: Any, cls: Any) -> Any:
        if not (isinstance(cls, type) and _takes(self, cls)):
            return plain(self, cls)
        with session.torch._C.DisableTorchFunctionSubclass():
            return _dressed(session.torch.ops.aten.alias.default(self), cls)

    return as_subclass


def _made(plain: Any) -> Any:
    @functools.wraps(plain)
    def _make_subclass(cls: Any, data: Any, require_grad: bool = False, **kwargs: Any) -> Any:
        if issubclass(cls, state.fake) or not _takes(data, cls):
            return plain(cls, data, require_grad, **kwargs)
        with session.torch._C.DisableTorchFunctionSubclass():
            return _dressed(data.detach(), cls).requires_grad_(require_grad)

    return _make_subclass


def _parameter(plain: Any) -> Any:
    @functools.wraps(plain)
    def __new__(cls: Any, data: Any = None, requires_grad: bool = True) -> Any:
        made = plain(cls, data, requires_grad)
        return _dressed(made, cls) if _takes(made, cls) else made

    return __new__


def _of_script(tensor: Any) -> dict[str, Any]:
    """The attributes that the script has given to a tensor."""
    return {name: value for name, value in vars(tensor).items() if name not in _own}


def _copies(plain: Any) -> Any:
    """`copy.deepcopy(model)`: among a tensor's attributes is the mode that it lives in, of which there is one."""

    @functools.wraps(plain)
    def __deepcopy__(tensor: Any, memo: Any) -> Any:
        if not hasattr(tensor, "fake_mode"):
            return known_values.call(plain, tensor, memo)
        if id(tensor) in memo:
            return memo[id(tensor)]
        if not tensor.is_leaf:
            raise RuntimeError(
                "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol"
            )
        with session.torch.no_grad():
            memo[id(tensor)] = new = tensor.clone()
        vars(new).update(copy.deepcopy(_of_script(tensor), memo))
        new.requires_grad_(tensor.requires_grad)
        if tensor.grad is not None and not isinstance(tensor, session.torch.nn.Parameter):
            new.grad = copy.deepcopy(tensor.grad, memo)
        return new

    return __deepcopy__


def _shares(tensor: Any) -> Any:
    """`copy.copy(tensor)`: another one in the same memory."""
    with session.torch._C.DisableTorchFunctionSubclass():
        new = _dressed(tensor.detach(), type(tensor)).requires_grad_(tensor.requires_grad)
    if isinstance(tensor, session.torch.nn.Parameter):
        new._is_param = True
    vars(new).update(_of_script(tensor))
    return new


def _pickled(tensor: Any, _: Any) -> Any:
    """What is pickled of a tensor: all but its values, where they are not known. They would be copied from the GPU."""
    value = known_values.known(tensor)
    if value is None:
        recorder.unseen("fake", f"a pickled tensor ({frames.script_line()}) has no values: there were none")
    saved_files.leaves([tensor.untyped_storage()])
    kind = next((kind for kind, made in _classes.items() if type(tensor) is made), session.torch.Tensor)
    form = tuple(tensor.size()), tensor.stride(), tensor.dtype, side.where(tensor), tensor.requires_grad
    values = None if value is None else known_values.call(session.torch._C.TensorBase.tolist, value)
    return _unpickled, (kind, isinstance(tensor, session.torch.nn.Parameter), form, values, _of_script(tensor))


def _received(plain: Any) -> Any:
    """What another process has sent in memory that both share: its processes have values, those of a loader above
    all."""

    @functools.wraps(plain)
    def rebuild_tensor(cls: Any, storage: Any, metadata: Any) -> Any:
        value = known_values.call(plain, cls, storage, metadata)
        if (
            session.torch._C._get_dispatch_mode(session.torch._C._TorchDispatchModeKey.FAKE) is None
            or known_values.known(value) is not None
        ):
            return value
        return state.mode.fake_tensor_converter.from_real_tensor(state.mode, value)

    return rebuild_tensor


def _unpickled(kind: Any, parameter: bool, form: Any, values: Any, attributes: dict[str, Any]) -> Any:
    """A tensor like one that was pickled; zeros in a process where tensors have values."""
    import torch

    shape, stride, dtype, place, requires_grad = form
    if not (new := torch.empty_strided(shape, stride, dtype=dtype)).__class__ is state.fake:
        new.zero_() if values is None else new.copy_(torch.tensor(values, dtype=dtype))
        return torch.nn.Parameter(new, requires_grad) if parameter else new.requires_grad_(requires_grad)
    value = None if values is None else known_values.call(torch.tensor, values, dtype=dtype)
    new = _dressed(virtual_files.placed(new, value, place), torch.nn.Parameter if parameter else kind)
    new = _dressed(new, kind).requires_grad_(requires_grad)
    vars(new).update(attributes)
    return new
