"""CUDA graphs of a GPU that is not there: what is captured runs at once, and a replay runs its ops again.

A GPU does not run what it captures; here it has to, or there would be no tensors to go on with. Each op is told with
what it is on a GPU: recorded only, or part of a graph that one call has handed over. `make_graphed_callables` is
PyTorch's own, made of these.

What a capture makes may go while it lasts: the graph keeps no tensors for that, but how each lay in which memory. A
replay makes those anew, and writes to what is still there.
"""

from __future__ import annotations

import functools
import itertools
import weakref

from ... import _native
from .. import dispatch_mode
from ..describe import storages
from ..session import GPU, TEMPORARY, session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


#: Graphs that are being captured, outermost first.
_capturing: list[Any] = []
_numbers = itertools.count(1)


class _Pool:
    """Memory that graphs have for themselves: as much as their captures took when they took most."""

    def __init__(self, handle: Any) -> None:
        self.handle = handle
        self.captures = False
        self.taken = self.most = self.idle = 0
        # In whose name the memory is held that nothing is in.
        self._storage = _native.storage_new(0, TEMPORARY, False, True)
        weakref.finalize(self, _native.storage_freed, self._storage).atexit = False

    def takes(self, storage: Any) -> None:
        size = storage.nbytes()
        self.taken += size
        self.most = max(self.most, self.taken)
        weakref.finalize(storage, _given_back, weakref.ref(self), size).atexit = False

    def settle(self) -> None:
        """What nothing is in is kept from others; a capture takes that first."""
        self.idle = 0 if self.captures else self.most - self.taken
        _native.storage_resized(self._storage, self.idle)


_pools: weakref.WeakValueDictionary[Any, _Pool] = weakref.WeakValueDictionary()


def _given_back(to: Callable[[], _Pool | None], size: int) -> None:
    pool = to()
    if pool is not None:
        pool.taken -= size
        pool.settle()


def idle() -> int:
    """Bytes that graphs keep from others, and nothing is in."""
    return sum(pool.idle for pool in _pools.values())


def wait_refused() -> Any:
    """The error of a host that waits while a graph is captured, which that does not survive; None if none is."""
    if not _capturing:
        return None
    _capturing[-1].failed = True
    return _error("operation not permitted when stream is capturing")


def _error(text: str) -> Any:
    """One of the driver's, for which newer versions of PyTorch have a class."""
    return getattr(session.torch, "AcceleratorError", RuntimeError)(f"CUDA error: {text}")


def copy_refused(pinned: bool, asynchronous: bool) -> Any:
    """The error of a copy between host and GPU while a graph is captured, of host memory that is `pinned` or not."""
    if not _capturing:
        return None
    if pinned:
        return None if asynchronous else wait_refused()
    return RuntimeError(
        "Cannot copy between CPU and CUDA tensors during CUDA graph capture unless the CPU tensor is pinned. "
        "Please use tensor.pin_memory() or allocate the tensor with pin_memory=True."
    )


class _Part:
    """A tensor that a capture made: how it lies in which memory."""

    __slots__ = ("dtype", "known", "offset", "shape", "stride")

    def __init__(self, tensor: Any, known: Any) -> None:
        self.known, self.dtype, self.shape = known, tensor.dtype, tensor.shape
        self.stride, self.offset = tensor.stride(), tensor.storage_offset()

    def key(self) -> Any:
        return self.known.id, self.dtype, self.shape, self.stride, self.offset


def _each(change: Callable[[Any], Any], value: Any) -> Any:
    """The value with all in it changed, lists within it, too."""
    if isinstance(value, (list, tuple)):
        changed = [_each(change, one) for one in value]
        return tuple(changed) if isinstance(value, tuple) else changed
    if isinstance(value, dict):
        return {name: _each(change, one) for name, one in value.items()}
    return change(value)


class _Ops:
    """The ops of a capture."""

    def __init__(self, pool: _Pool) -> None:
        self.pool = pool
        #: Function, what it is given, what it gives; and, once it is known, what no later one is given.
        self.ops: list[tuple[Any, Any, Any, Any, list[_Part]]] = []
        self._made: set[int] = set()
        self._parts: dict[Any, _Part] = {}
        #: What is still there when the capture ends: a replay writes to it.
        self._places: dict[_Part, Any] = {}

    def add(self, func: Any, args: Any, kwargs: Any) -> Any:
        given = _each(self._given, args), _each(self._given, kwargs)
        before = {
            known.id for tensor in storages.flat([*args, *kwargs.values()]) if (known := storages.known_storage(tensor))
        }
        result = func(*args, **kwargs)
        for tensor in storages.flat(result):
            known = storages.known_storage(tensor)
            if known is not None and known.id not in before and known.id not in self._made:
                self._made.add(known.id)
                if known.device != "cpu":
                    self.pool.takes(known())
        again = functools.partial(_as_another, func) if session.torch.Tag.inplace_view in func.tags else func
        self.ops.append((again, *given, _each(self._result, result), []))
        return result

    def _given(self, value: Any) -> Any:
        part = self._part(value)
        return value if part is None else self._parts.get(part.key(), value)

    def _result(self, value: Any) -> Any:
        part = self._part(value)
        return value if part is None else self._parts.setdefault(part.key(), part)

    def _part(self, value: Any) -> _Part | None:
        if type(value) not in session.plain or value.is_conj() or value.is_neg():
            return None
        known = storages.known_storage(value)
        return _Part(value, known) if known is not None and known.id in self._made else None

    def end(self, torch: Any) -> None:
        """All of the capture has run."""
        if not session.valueless:
            self._places = {part: place for part in self._parts.values() if (place := _place(torch, part)) is not None}
        last = set(self._places)
        for _, args, kwargs, result, gone in reversed(self.ops):
            _each(lambda value: _note(value, last, gone), (args, kwargs, result))

    def replay(self) -> None:
        there = dict(self._places)
        for func, args, kwargs, result, gone in self.ops:
            made = func(*_found(args, there), **_found(kwargs, there))
            _keep(made, result, there)
            for part in gone:
                del there[part]


def _as_another(func: Any, tensor: Any, *args: Any, **kwargs: Any) -> Any:
    """An op that changes how its tensor lies, on a tensor for that: the next replay begins with that one as it was."""
    return func(tensor.detach(), *args, **kwargs)


def _place(torch: Any, part: _Part) -> Any:
    """The tensor again, if its memory is still there."""
    storage = part.known()
    if storage is None:
        return None
    paused = dispatch_mode.pause()
    try:
        with torch._C.DisableTorchFunction(), torch.no_grad():
            return torch.empty(0, dtype=part.dtype).set_(storage, part.offset, part.shape, part.stride)
    finally:
        if paused:
            dispatch_mode.resume()


def _note(value: Any, noted: set[_Part], new: list[_Part]) -> None:
    if isinstance(value, _Part) and value not in noted:
        noted.add(value)
        new.append(value)


def _found(value: Any, there: dict[_Part, Any]) -> Any:
    return _each(lambda one: there[one] if isinstance(one, _Part) else one, value)


def _keep(made: Any, place: Any, there: dict[_Part, Any]) -> None:
    """A replay writes where the capture did."""
    if isinstance(place, (list, tuple)):
        for one, its_place in zip(made, place):
            _keep(one, its_place, there)
        return
    if isinstance(place, _Part):
        place = there.setdefault(place, made)
    if isinstance(place, session.torch.Tensor) and made is not place and not session.valueless:
        if made.data_ptr() != place.data_ptr():
            paused = dispatch_mode.pause()
            try:
                place.copy_(made)
            finally:
                if paused:
                    dispatch_mode.resume()


def install(torch: Any) -> None:
    """Replace the classes that need a driver."""
    from torch.utils._python_dispatch import TorchDispatchMode

    class Tape(TorchDispatchMode):  # type: ignore[misc]
        """Writes down each op."""

        def __init__(self, ops: _Ops) -> None:
            super().__init__()
            self.ops = ops

        def __torch_dispatch__(self, func: Any, _: Any, args: Any = (), kwargs: Any = None) -> Any:
            return self.ops.add(func, args, kwargs or {})

    class CUDAGraph:
        """What `torch.cuda.CUDAGraph` does for a script."""

        def __init__(self, keep_graph: bool = False) -> None:
            self._ops: _Ops | None = None
            self._tape: Any = None
            self.failed = False

        def capture_begin(self, pool: Any = None, capture_error_mode: str = "global") -> None:
            handle = _handle() if pool is None else getattr(pool, "id", pool)
            shared = _pools.get(handle)
            if shared is None:
                shared = _pools[handle] = _Pool(handle)
            shared.captures = True
            shared.settle()
            self._ops = _Ops(shared)
            self._tape = Tape(self._ops)
            self._tape.__enter__()
            self.failed = False
            _capturing.append(self)
            session.graph = "capture"

        def capture_end(self) -> None:
            _capturing.remove(self)
            session.graph = "capture" if _capturing else None
            self._tape.__exit__(None, None, None)
            self._tape = None
            if self._ops is not None:
                self._ops.end(torch)
                self._ops.pool.captures = False
                self._ops.pool.settle()
            if self.failed:
                self.reset()
                raise _error("operation failed due to a previous error during capture")

        def instantiate(self) -> None:
            pass

        def replay(self) -> None:
            tag = _native.device_tag(GPU, session.stream, "launch")
            _native.leave(_native.enter("torch.cuda.CUDAGraph.replay", True), (), (), None, tag)
            if self._ops is None:
                return
            session.graph = "node"
            try:
                with torch.no_grad():
                    self._ops.replay()
            finally:
                session.graph = None

        def reset(self) -> None:
            self._ops = None

        def pool(self) -> Any:
            return _handle() if self._ops is None else self._ops.pool.handle

        def enable_debug_mode(self) -> None:
            pass

        def debug_dump(self, debug_path: str) -> None:
            pass

    class Graph:
        """`with torch.cuda.graph(g):`."""

        def __init__(
            self, cuda_graph: Any, pool: Any = None, stream: Any = None, capture_error_mode: str = "global", **_: Any
        ) -> None:
            self.cuda_graph, self.pool = cuda_graph, pool

        def __enter__(self) -> None:
            torch.cuda.synchronize()  # as PyTorch's own
            self.cuda_graph.capture_begin(self.pool)

        def __exit__(self, *_: object) -> None:
            self.cuda_graph.capture_end()

    for module in (torch.cuda, torch.cuda.graphs):
        module.CUDAGraph, module.graph = CUDAGraph, Graph
        module.graph_pool_handle = _handle
        module.is_current_stream_capturing = is_capturing


def is_capturing() -> bool:
    return bool(_capturing)


def _handle() -> tuple[int, int]:
    """A pool's, as PyTorch numbers those of graphs."""
    return next(_numbers), 0
