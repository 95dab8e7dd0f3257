"""PyTorch's ops that take functions (`cond`, `scan`, `flex_attention`): the ops are seen that they come down to."""

from __future__ import annotations

import sys

from ...events import recorder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def run(mode: Any, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any] | None) -> Any:
    """Call one below `mode`, which it was called in."""
    torch = sys.modules["torch"]
    kernel = func.py_kernels.get(torch._C.DispatchKey.CompositeExplicitAutograd)
    words = kwargs or {}
    if kernel is None:
        recorder.unseen("higher-order-op", f"{func} was not looked into")
        return func(*args, **words)
    # Some refuse to run while there is a mode: what they do besides calling functions is no array work.
    if "_get_current_dispatch_mode" not in getattr(getattr(kernel, "__code__", None), "co_names", ()):
        return _within(kernel, [mode])(*args, **words)
    stack = torch.utils._python_dispatch
    below: list[Any] = []
    while torch._C._len_torch_dispatch_stack():
        below.insert(0, stack._pop_mode())
    try:
        return kernel(*(_within(value, [*below, mode]) if callable(value) else value for value in args), **words)
    finally:
        for one in below:
            stack._push_mode(one)


def _within(function: Callable[..., Any], modes: list[Any]) -> Callable[..., Any]:
    """The function in these modes, the last one innermost."""

    def call(*given: Any, **words: Any) -> Any:
        stack = sys.modules["torch"].utils._python_dispatch
        for mode in modes:
            stack._push_mode(mode)
        try:
            return function(*given, **words)
        finally:
            for _ in modes:
                stack._pop_mode()

    return call
