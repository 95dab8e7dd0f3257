"""Triton's kernels on a GPU that is imitated: its own interpreter runs them, and tells what they load, store and
compute.

It must be asked before Triton is imported, which decides what `triton.jit` makes. Without values a kernel does not
run: what it costs a script says (`breakeven.kernel`), or nobody knows.
"""

from __future__ import annotations

import sys

from ... import _native
from ...events import recorder
from ...events.kernel import described, threads
from ...process import imports
from ..describe import contexts, operands
from ..no_values import known_values
from ..session import session
from ..sides.side import asked
from ..steps import sampler

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class State:
    """What changes while the script runs."""

    #: That of the launch that runs.
    work: _Work | None = None


state = State()


#: Threads of a warp, and warps of a program where a launch does not say.
_WARP, _WARPS = 32, 4


class _Work:
    """What one launch does: floating-point operations, and bytes by the address of where they are loaded from or
    stored."""

    def __init__(self) -> None:
        self.flops = 0
        self.loaded: dict[int, int] = {}
        self.stored: dict[int, int] = {}


def install() -> None:
    """Have kernels interpreted once Triton is imported."""
    imports.after("triton.knobs", lambda name: setattr(sys.modules[name].runtime, "interpret", True))
    imports.after("triton.runtime.interpreter", _watch)
    imports.after("triton.runtime.autotuner", _choose)


def _choose(name: str) -> None:
    """The first configuration is taken: none can be timed here."""
    tuner: Any = vars(sys.modules[name])["Autotuner"]
    plain = tuner.prune_configs

    def prune_configs(self: Any, kwargs: Any) -> list[Any]:
        recorder.unseen(
            "autotune", f"configurations of kernel `{self.base_fn.__name__}` were not timed: the first was taken"
        )
        return list(plain(self, kwargs)[:1])

    tuner.prune_configs = prune_configs


def _watch(name: str) -> None:
    module: Any = sys.modules[name]
    builder, function = module.InterpreterBuilder, module.InterpretedFunction
    _count(builder, "create_masked_load", lambda work, ptrs, mask, *_: _add(work.loaded, ptrs, mask))
    _count(builder, "create_masked_store", lambda work, ptrs, _, mask, *__: _add(work.stored, ptrs, mask))
    _count(builder, "create_atomic_rmw", lambda work, _, ptrs, __, mask, *___: _add(work.stored, ptrs, mask))
    _count(builder, "create_dot", _product)
    for elementwise in ("binary_op", "unary_op", "ternary_op"):
        _count(builder, elementwise, lambda work, first, *_: _each(work, first))
    function.run = _running(function.run)


def _count(builder: Any, name: str, told: Any) -> None:
    """Tell `told` of each call of a method while a kernel runs."""
    plain = getattr(builder, name)

    def counted(self: Any, *args: Any, **kwargs: Any) -> Any:
        if state.work is not None:
            told(state.work, *args)
        return plain(self, *args, **kwargs)

    setattr(builder, name, counted)


def _add(where: dict[int, int], ptrs: Any, mask: Any) -> None:
    import numpy

    addresses = numpy.broadcast_to(ptrs.data, numpy.broadcast_shapes(ptrs.data.shape, mask.data.shape))[mask.data]
    if addresses.size:
        size = max(1, ptrs.get_element_ty().primitive_bitwidth // 8)
        first = int(addresses[0])
        where[first] = where.get(first, 0) + addresses.size * size


def _product(work: _Work, a: Any, b: Any, *_: Any) -> None:
    work.flops += 2 * a.data.size * b.data.shape[-1]


def _each(work: _Work, operand: Any) -> None:
    if operand.dtype.scalar.is_floating():
        work.flops += operand.data.size


def _running(plain: Any) -> Any:
    """`kernel[grid](...)`."""

    def run(self: Any, *args: Any, grid: Any, warmup: bool, **kwargs: Any) -> Any:
        if warmup:
            return None
        given = dict(zip(self.arg_names, args)) | {name: kwargs[name] for name in self.arg_names if name in kwargs}
        tensors = [value for value in given.values() if isinstance(value, session.torch.Tensor)]
        for at, value in enumerate(given.values()):
            if isinstance(value, session.torch.Tensor) and asked(value, at) == "cpu":
                raise ValueError(f"Pointer argument (at {at}) cannot be accessed from Triton (cpu tensor?)")
        grid = tuple(grid(given | kwargs)) if callable(grid) else tuple(grid)
        if session.valueless:
            for tensor in tensors:
                known_values.forget(tensor)
            return _told(self.__name__, grid, given, kwargs, tensors, None)
        before, state.work = state.work, _Work()
        try:
            with session.torch._C.DisableTorchFunction():
                known_values.call(plain, self, *args, grid=grid, warmup=False, **kwargs)
            work = state.work
        finally:
            state.work = before
        return _told(self.__name__, grid, given, kwargs, tensors, work)

    return run


def _told(name: str, grid: Any, given: Any, kwargs: Any, tensors: list[Any], work: _Work | None) -> None:
    """The launch has been made. The time that it took is the interpreter's, which is nobody's."""
    if sampler.unseen():
        return
    block = (_WARP * int(kwargs.get("num_warps", _WARPS)), 1, 1)
    # Without values any may be.
    sides = (work.loaded, work.stored) if work is not None else (None, None)
    loaded, stored = ([_moved(one, tensor) for tensor in tensors] for one in sides)
    event = "breakeven.kernel"
    costs: dict[str, float] = {"n": threads(grid, block)}
    if (says := described(name)) is not None:
        costs = says.launch(grid, block, tuple(given.values()))
    elif work is not None:
        costs |= {"flops": work.flops, "bytes": sum(loaded) + sum(stored)}
    else:
        event = f"triton.{name}"
        recorder.unseen(
            "kernel-effect", f"what kernel `{name}` computes is not known without values: `breakeven.kernel` can say"
        )
    with contexts.on_device():
        read = [operands.describe(tensor) for tensor, moved in zip(tensors, loaded) if moved]
        written = [operands.describe(tensor, True) for tensor, moved in zip(tensors, stored) if moved]
        keywords = [(word, str(cost)) for word, cost in costs.items()]
        _native.no_gap()
        recorder.op(event, read, written, keywords, contexts.context(), 0, 0)


def _moved(addresses: dict[int, int] | None, tensor: Any) -> int:
    """Bytes of a tensor that were loaded or stored, each once at most; all where that is not known."""
    whole = int(tensor.numel() * tensor.element_size())
    if addresses is None:
        return whole
    storage = tensor.untyped_storage()
    first, size = storage.data_ptr(), storage.nbytes()
    asked_for = sum(count for address, count in addresses.items() if first <= address < first + size)
    return min(asked_for, whole)
