"""CUDA graphs of a GPU that is not there: what is captured runs at once, and a replay runs its ops again.

A GPU does not run what it captures; here it has to, or there would be no tensors to go on with. Each op is told with
what it is on a GPU: recorded only, or part of a graph that one call has handed over. `make_graphed_callables` is
PyTorch's own, made of these.
"""

from __future__ import annotations

from . import _native, _torch, _torch_ops

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

#: Graphs that are being captured, outermost first.
_capturing: list[Any] = []


def install(torch: Any) -> None:
    """Replace the classes that need a driver."""
    from torch.utils._python_dispatch import TorchDispatchMode

    class Tape(TorchDispatchMode):  # type: ignore[misc]
        """Writes down each op."""

        def __init__(self, ops: list[Any]) -> None:
            super().__init__()
            self.ops = ops

        def __torch_dispatch__(self, func: Any, _: Any, args: Any = (), kwargs: Any = None) -> Any:
            result = func(*args, **(kwargs or {}))
            self.ops.append((func, args, kwargs or {}, result))
            return result

    class CUDAGraph:
        """What `torch.cuda.CUDAGraph` does for a script."""

        def __init__(self, keep_graph: bool = False) -> None:
            self._ops: list[Any] = []

        def capture_begin(self, pool: Any = None, capture_error_mode: str = "global") -> None:
            self._ops.clear()
            self._tape = Tape(self._ops)
            self._tape.__enter__()
            _capturing.append(self)
            _torch_ops.graph = "capture"

        def capture_end(self) -> None:
            _capturing.remove(self)
            _torch_ops.graph = "capture" if _capturing else None
            self._tape.__exit__(None, None, None)

        def instantiate(self) -> None:
            pass

        def replay(self) -> None:
            tag = _native.device_tag(_torch_ops.GPU, _torch_ops.stream, "launch")
            _native.leave(_native.enter("torch.cuda.CUDAGraph.replay", True), (), (), None, tag)
            _torch_ops.graph = "node"
            try:
                with torch.no_grad():
                    for func, args, kwargs, result in self._ops:
                        _keep(func(*args, **kwargs), result)
            finally:
                _torch_ops.graph = None

        def reset(self) -> None:
            self._ops.clear()

        def pool(self) -> tuple[int, int]:
            return (0, 0)

        def enable_debug_mode(self) -> None:
            pass

        def debug_dump(self, debug_path: str) -> None:
            pass

    def _keep(made: Any, place: Any) -> None:
        """A replay writes where the capture did."""
        if isinstance(place, torch.Tensor):
            if made is not place and not _torch_ops.valueless and made.data_ptr() != place.data_ptr():
                paused = _torch.pause()
                try:
                    place.copy_(made)
                finally:
                    if paused:
                        _torch.resume()
        elif isinstance(place, (list, tuple)):
            for one, its_place in zip(made, place):
                _keep(one, its_place)

    class Graph:
        """`with torch.cuda.graph(g):`."""

        def __init__(
            self, cuda_graph: Any, pool: Any = None, stream: Any = None, capture_error_mode: str = "global", **_: Any
        ) -> None:
            self.cuda_graph = cuda_graph

        def __enter__(self) -> None:
            torch.cuda.synchronize()  # as PyTorch's own
            self.cuda_graph.capture_begin()

        def __exit__(self, *_: object) -> None:
            self.cuda_graph.capture_end()

    for module in (torch.cuda, torch.cuda.graphs):
        module.CUDAGraph, module.graph = CUDAGraph, Graph
        module.graph_pool_handle = lambda: (0, 0)
        module.is_current_stream_capturing = lambda: bool(_capturing)

