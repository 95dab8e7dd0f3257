"""Small tensors whose values are worked out, though tensors have none: what a script computes its settings with.

Widths of layers, rates that grow with depth, masks of a few numbers: where all that a tensor comes of is known, so
is it. Its values are those of a second, real tensor, which the script never sees; views of one tensor share them as
they would.
"""

from __future__ import annotations

from ..session import session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class State:
    """What changes while the script runs."""

    fake: Any = None


state = State()


#: Elements of a tensor whose values are worked out, and of one that chance decides: which way a picture is turned.
_MOST, _FEW = 1 << 14, 16
#: Ops that set all values of a tensor.
_FILLS = frozenset(
    "uniform_ normal_ random_ bernoulli_ exponential_ log_normal_ cauchy_ geometric_ fill_ zero_".split()
)
#: Where ops are PyTorch's: what a script's own do is not done a second time.
_PYTORCHS = frozenset(("aten", "prims", "torchvision"))
#: Ops that make tensors of nothing, whose values nobody has set.
_UNSET = frozenset(("empty", "empty_like", "empty_strided", "empty_permuted", "new_empty", "new_empty_strided"))
#: Ops that look at no more of a tensor than its shape and type.
_SHAPED = frozenset("ones_like zeros_like full_like new_ones new_zeros new_full".split())


def prepare(torch: Any, fake: Any) -> None:
    """Learn the type of tensors without values."""
    session.torch, state.fake = torch, fake


def known(tensor: Any) -> Any:
    """A real tensor with its values, or nothing."""
    if not isinstance(tensor, state.fake):
        return tensor if type(tensor) is session.torch.Tensor and tensor.numel() <= _MOST else None
    value = tensor.__dict__.get("_value")
    # What was overwritten with something unknown has given its memory back, and all views of it with it.
    if value is None or value.layout != session.torch.strided or value.numel() == 0 or value.untyped_storage().nbytes():
        return value
    return None


def inputs(func: Any, args: Any, kwargs: Any) -> tuple[Any, Any] | None:
    """The arguments with values instead of tensors; nothing where one is not known, or chance decides on many."""
    name = func.overloadpacket.__name__
    if name in _UNSET or func.namespace not in _PYTORCHS:
        return None
    if name in _FILLS and known(args[0]) is None and args[0].numel() <= _FEW and _is_own(args[0]):
        args[0]._value = call(session.torch.empty, tuple(args[0].shape), dtype=args[0].dtype)
    changes = func._schema.is_mutable
    real: list[Any] = []
    for arg in (*args, *(kwargs or {}).values()):
        if isinstance(arg, (list, tuple)):
            parts = [known(part) if isinstance(part, session.torch.Tensor) else part for part in arg]
            if any(part is None and given is not None for part, given in zip(parts, arg)):
                return None
            real.append(type(arg)(parts) if type(arg) in (list, tuple) else parts)
        elif isinstance(arg, session.torch.Tensor):
            value = known(arg)
            if value is None and name in _SHAPED:
                value = call(session.torch.empty, (), dtype=arg.dtype).expand(arg.shape)
            if value is None or (changes and value is arg):
                return None
            real.append(value)
        else:
            real.append(session.torch.device("cpu") if isinstance(arg, session.torch.device) else arg)
    return tuple(real[: len(args)]), dict(zip(kwargs or {}, real[len(args) :]))


def _is_own(tensor: Any) -> bool:
    """Whether nothing else may have a tensor's memory; parameters have values in no other case either."""
    return isinstance(tensor, state.fake) and tensor._base is None and not tensor.requires_grad


def follow(func: Any, args: Any, kwargs: Any, result: Any, real: tuple[Any, Any] | None) -> None:
    """Work out the values of `result`; what was changed in an unknown way is no longer known."""
    tensors = [
        part for part in (result if isinstance(result, (list, tuple)) else (result,)) if isinstance(part, state.fake)
    ]
    most = _FEW if session.torch.Tag.nondeterministic_seeded in func.tags else _MOST
    if real is not None and all(part.numel() <= most for part in tensors):
        try:
            worked = call(func, *real[0], **real[1])
        except Exception:  # Whatever it cannot work out stays unknown.
            worked = None
        values = [
            part
            for part in (worked if isinstance(worked, (list, tuple)) else (worked,))
            if isinstance(part, session.torch.Tensor)
        ]
        if len(values) == len(tensors) and all(
            v.shape == t.shape and v.dtype == t.dtype for v, t in zip(values, tensors)
        ):
            for value, tensor in zip(values, tensors):
                tensor._value = value
            return
    if func._schema.is_mutable:
        for argument, given in zip(func._schema.arguments, args):
            if argument.alias_info is not None and argument.alias_info.is_write:
                for tensor in given if isinstance(given, (list, tuple)) else (given,):
                    forget(tensor)
        for given in (kwargs or {}).values():
            forget(given)


def call(func: Any, *args: Any, **kwargs: Any) -> Any:
    """What `func` gives for real tensors, unseen by every mode."""
    from torch.utils._python_dispatch import _disable_current_modes

    import torch

    with _disable_current_modes(), torch.no_grad():
        return func(*args, **kwargs)


def forget(tensor: Any) -> None:
    """Something unknown was written here."""
    value = tensor.__dict__.get("_value") if isinstance(tensor, state.fake) else None
    if value is not None:
        value.untyped_storage().resize_(0)
