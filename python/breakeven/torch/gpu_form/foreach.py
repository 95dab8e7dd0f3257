"""An optimizer's step as a GPU takes it: where the parameters are there, and the script does not say otherwise, PyTorch
steps with all of them in one call for each operation (`foreach`), on a CPU with one after the other.

What a parameter after the other ran is told as those calls. Their time is that of all the ops in them, and of Python
between these but for the first ones'.
"""

from __future__ import annotations

import functools
import importlib
import pkgutil
import threading

from ... import _native
from ...events import recorder
from .. import frames
from ..describe import operands
from ..session import TEMPORARY, session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class State:
    """What changes while the script runs."""

    #: The learning rate of the step that goes on is a number: by a tensor PyTorch scales one parameter after the other.
    plain_rate = True
    #: PyTorch has been asked whether to take all parameters at once, and on a GPU would.
    wanted = False
    thread = 0


state = State()

#: What PyTorch asks that by.
_DEFAULT = "_default_to_fused_or_foreach"
#: Ops of the parameters of the step that goes on, by name, place and types; and the thread that makes it.
_calls: dict[Any, _Call] = {}
#: Whether there is such an op for lists.
_known: dict[str, bool] = {}


class _Call:
    """The same op of all parameters."""

    __slots__ = ("arrays", "context", "gap", "keywords", "own")

    def __init__(self, keywords: list[tuple[str, str]], context: int, gap: int) -> None:
        self.arrays: list[tuple[list[Any], list[Any]]] = []
        self.keywords, self.context = keywords, context
        self.own, self.gap = 0, gap


def install(torch: Any, stand_in: Any) -> None:
    """`stand_in(module, name, enter, leave)` puts what is told of each call in its place."""
    session.torch = torch
    for found in pkgutil.iter_modules(torch.optim.__path__):
        module = importlib.import_module(f"torch.optim.{found.name}")
        for name in list(vars(module)):
            if name == _DEFAULT:
                stand_in(module, name, _asked, _nothing)
            elif name.startswith("_single_tensor_"):
                stand_in(module, name, _begin, _end)


#: Optimizers that give the same bits either way, in these types, where the rate is a number.
_SAME = ("adadelta", "adagrad", "adam", "adamax", "adamw", "rmsprop", "sgd")
#: So few parameters a CPU is done with sooner one by one than by lists.
_FEW = 4


def take_few_in_turn(torch: Any, stepping: Any) -> None:
    """Where a GPU is imitated PyTorch steps by lists, too, as is told of the steps that are watched. In others a CPU
    may take the parameters as it is quickest; `stepping()` is the optimizer that makes its step."""
    types = torch.float32, torch.float64

    def is_same(params: Any) -> bool:
        if not _native.is_mode_off() or len(params) > _FEW or not all(one.dtype in types for one in params):
            return False
        optimizer = stepping()
        return optimizer is not None and all(
            type(group.get("lr")) is float and not group.get("capturable") for group in optimizer.param_groups
        )

    def in_turn(plain: Any) -> Any:
        @functools.wraps(plain)
        def default(params: Any, *args: Any, **kwargs: Any) -> Any:
            return (False, False) if is_same(params) else plain(params, *args, **kwargs)

        return default

    for name in _SAME:
        module = importlib.import_module(f"torch.optim.{name}")
        if plain := getattr(module, _DEFAULT, None):
            setattr(module, _DEFAULT, in_turn(plain))


def sort_by_device(torch: Any) -> None:
    """Optimizers and clipping of gradients ask for tensors by device, where nobody but PyTorch itself looks: by the
    one that the script sees. Without values C++ would ask each of all lists for it, and that in Python."""
    plain = torch._C._group_tensors_by_device_and_dtype

    def pieces(lists: Any) -> Any:
        """Device and type of what stands side by side in the lists, that, and at which indices: as much at once as
        is in one place."""
        if session.valueless and lists and all(len(one) in (0, len(lists[0])) for one in lists):
            for index, tensor in enumerate(lists[0]):
                yield tensor.device, tensor.dtype, [one[index : index + 1] for one in lists], [index]
            return
        for (device, dtype), (parts, indices) in plain(lists, True).items():
            places = [tensor.device for tensor in parts[0]] if device.type == "cpu" else [device]
            if places.count(places[0]) == len(places):
                yield places[0], dtype, parts, indices
                continue
            for at, (place, index) in enumerate(zip(places, indices)):
                yield place, dtype, [part[at : at + 1] for part in parts], [index]

    def grouped(lists: Any, with_indices: bool = False) -> Any:
        groups: dict[Any, Any] = {}
        for place, dtype, parts, indices in pieces(lists):
            if (key := (place, dtype)) not in groups:
                groups[key] = parts, indices
                continue
            into, order = groups[key]
            order.extend(indices)
            for to, part in zip(into, parts):
                to.extend(part)
        return groups if with_indices else {key: (parts, []) for key, (parts, _) in groups.items()}

    torch._C._group_tensors_by_device_and_dtype = grouped


def begins(optimizer: Any) -> None:
    """An optimizer begins a step."""
    rates = (group for group in optimizer.param_groups if not group.get("capturable"))
    state.plain_rate = not any(isinstance(group.get("lr"), session.torch.Tensor) for group in rates)


def _asked(_: str, args: tuple[Any, ...]) -> None:
    here = state.plain_rate and session.device is None and session.gpu is None
    plain = (*importlib.import_module("torch.optim.optimizer")._foreach_supported_types, type(None))
    # Some say by keyword that it is not to be differentiable.
    state.wanted = here and args[1:2] != (True,) and all(type(parameter) in plain for parameter in args[0])


def _begin(_: str, __: tuple[Any, ...]) -> bool:
    begins, state.wanted = state.wanted and session.together is None, False
    if begins:
        state.thread = threading.get_ident()
        session.together = _takes
    return begins


def _takes(name: str, inputs: list[Any], outputs: list[Any], keywords: Any, context: int, own: int, gap: int) -> bool:
    """Whether this op is one of those that are told together, once all parameters have had theirs."""
    if threading.get_ident() != state.thread or len(outputs) != 1 or not outputs[0][3] or not _is_for_lists(name):
        return False
    frame = frames.caller()
    types = tuple(array[0] for array in (*inputs, *outputs))
    key = (name, frame.f_code, frame.f_lasti, types, str(keywords), context)
    call = _calls.get(key)
    if call is None:
        call = _calls[key] = _Call(keywords, context, gap)
        gap = 0
    call.own += own + gap
    call.arrays.append((inputs, outputs))
    return True


def _is_for_lists(name: str) -> bool:
    known = _known.get(name)
    if known is None:
        kind, _, op = name.partition(".")
        # Of a step's first buffers PyTorch makes one after the other.
        known = _known[name] = kind == "aten" and op != "clone" and hasattr(session.torch.ops.aten, f"_foreach_{op}")
    return known


def _end(begun: bool, *_: Any) -> None:
    if not begun:
        return
    session.together = None
    calls = dict(_calls)
    _calls.clear()
    size = _between([call.arrays for call in calls.values()])
    whole = _native.storage_new(size, TEMPORARY, False, True) if size else 0
    for (name, *_), call in calls.items():
        inputs, outputs = (operands.as_lists(pair[side] for pair in call.arrays) for side in (0, 1))
        name = name.replace("aten.", "aten._foreach_")
        recorder.op(name, inputs, outputs, call.keywords, call.context, call.own, call.gap)
    if whole:
        _native.storage_freed(whole)


def _between(calls: list[list[tuple[list[Any], list[Any]]]]) -> int:
    """The most bytes that calls leave to later ones, of all parameters at once: each of these made them and let them go
    before the next one's. A result takes the place of what is read for the last time."""
    sizes = [0] * len(calls)
    for at, arrays in enumerate(calls):
        inputs, (output,) = arrays[0]
        if any(array[4] == output[4] for array in inputs):
            continue
        uses = [later for later in range(at + 1, len(calls)) if any(a[4] == output[4] for a in calls[later][0][0])]
        size = sum(operands.size(made[0]) for _, made in arrays)
        for between in range(at + 1, max(uses, default=at) + 1):
            sizes[between] += size
    return max(sizes, default=0)


def _nothing(*_: Any) -> None:
    pass
