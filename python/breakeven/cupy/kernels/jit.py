"""`cupyx.jit`: kernels written as Python functions. They are recorded where `breakeven.kernel` describes them."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from .kernels import RawKernel


class _Kernel(RawKernel):
    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__("", function.__name__)
        functools.update_wrapper(self, function)

    def __getitem__(self, launch: Any) -> Callable[..., None]:
        grid, block, *others = launch
        return lambda *args: self(_dims(grid), _dims(block), args, shared_mem=others[0] if others else 0)


_Kernel.__module__ = "cupyx.jit"


def _dims(value: Any) -> tuple[int, ...]:
    return tuple(value) if isinstance(value, (tuple, list)) else (int(value),)


def rawkernel(*, mode: str = "cuda", device: bool = False) -> Callable[[Callable[..., Any]], Any]:
    """A kernel; a device function stays what it is, as it only runs in kernels."""
    return lambda function: function if device else _Kernel(function)


def _inside(name: str) -> Any:
    """What has a meaning only inside of a kernel."""

    def inside(*args: Any, **kwargs: Any) -> None:
        raise RuntimeError(f"cupyx.jit.{name} is called outside of a kernel")

    inside.__name__ = name
    return inside


CONTENTS: dict[str, Any] = {
    "rawkernel": rawkernel,
    **{
        name: _inside(name)
        for name in "grid gridsize syncthreads syncwarp shared_memory laneid range atomic_add atomic_sub atomic_max "
                    "atomic_min "
        "atomic_exch atomic_inc atomic_dec atomic_cas atomic_and atomic_or atomic_xor shfl_sync shfl_up_sync "
        "shfl_down_sync shfl_xor_sync "
        "threadIdx blockIdx blockDim gridDim warpsize".split()
    },
}
