"""What each module of the stand-in holds that is no function of NumPy's or SciPy's, and what it must not hold."""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Callable, Iterator
from types import GenericAlias
from typing import Any, TypeVar

from numpy.typing import ArrayLike, DTypeLike

import numpy as np

from . import testing
from .arrays import creation, functions, iterate, ndarray, polynomials, randoms
from .core import calls, devices, errors, pools, streams, syncdetect
from .kernels import composed, jit, kernels, vectorized
from .memory import hooks, pointers
from .runtime import graphs, profiler, runtime
from .scipy import direct, distances, labels, lanczos, lapack, lobpcg, residuals, series, sparse, trees, wavelets

_plain: Callable[..., Any] = calls.plain


def _scatter(kind: str) -> Callable[..., None]:
    def scatter(a: Any, slices: Any, value: Any) -> None:
        getattr(a, f"scatter_{kind}")(slices, value)

    scatter.__name__ = f"scatter_{kind}"
    return scatter


def _rsqrt(x: Any, **kwargs: Any) -> Any:
    return calls.call("cupy.reciprocal", lambda a: 1 / np.sqrt(a), (x,), kwargs)


def _set_allocator(allocator: Any = None) -> None:
    pools.use(getattr(allocator, "__self__", None))


def _using_allocator(allocator: Any = None) -> Any:
    return pools.using(getattr(allocator, "__self__", None))


@contextlib.contextmanager
def _settings(*args: Any, **kwargs: Any) -> Iterator[None]:
    yield


def _nothing(*args: Any, **kwargs: Any) -> None:
    pass


def _is_available() -> bool:
    return True


def _alloc(size: int) -> pointers.MemoryPointer:
    return pools.pool.malloc(size)  # type: ignore[no-any-return]


def _alloc_pinned(size: int) -> pointers.PinnedMemoryPointer:
    return pointers.PinnedMemoryPointer(size)


def _get_stream(device_id: int | None = None) -> streams.Stream:
    return streams.current()


def _malloc(size: int) -> Any:
    return pools.pool.malloc(size)


def _get_allocator() -> Any:
    return pools.pool.malloc


def _pool() -> pools.MemoryPool:
    return pools.pool


def _pinned_pool() -> pointers.PinnedMemoryPool:
    return pointers.pinned_pool


def _device_id() -> int:
    return 0


def _compute_capability() -> str:
    return str(devices.Device().compute_capability)


def _scipy_of(*args: Any) -> Any:
    """`cupyx.scipy` where one of the arguments is of the device, else `scipy`."""
    name = "scipy" if creation.get_array_module(*args) is np else "cupyx.scipy"
    return importlib.import_module(name)


class _PlanCache:
    """Plans of transforms: none are kept here."""

    def get_size(self) -> int:
        return 16

    def get_memsize(self) -> int:
        return -1

    def get_curr_size(self) -> int:
        return 0

    get_curr_memsize = get_curr_size
    set_size = set_memsize = clear = show_info = staticmethod(lambda *args: None)


class _Transforms:
    """`cupy.fft.config`."""

    enable_nd_planning = True
    use_multi_gpus = False
    get_plan_cache = staticmethod(_PlanCache)
    clear_plan_cache = show_plan_cache_info = set_cufft_gpus = staticmethod(lambda *args: None)


def _plan(*args: Any, **kwargs: Any) -> Any:
    """A plan, as what it is used for: a block in which transforms take it."""
    return contextlib.nullcontext()


def _show_config(*args: Any, **kwargs: Any) -> None:
    print("CuPy Version : 14.2.0 (breakeven's stand-in: it computes with NumPy)")


_memory = {
    "MemoryPool": pools.MemoryPool, "MemoryAsyncPool": pools.MemoryAsyncPool, "Memory": pointers.Memory,
    "UnownedMemory": pointers.UnownedMemory, "MemoryPointer": pointers.MemoryPointer,
    "alloc": _alloc, "set_allocator": _set_allocator, "get_allocator": _get_allocator,
    "using_allocator": _using_allocator,
    "malloc_managed": _malloc, "malloc_async": _malloc,
}  # fmt: skip
_pinned = {
    "PinnedMemoryPool": pointers.PinnedMemoryPool, "PinnedMemoryPointer": pointers.PinnedMemoryPointer,
    "alloc_pinned_memory": _alloc_pinned, "set_pinned_memory_allocator": _nothing,
}  # fmt: skip
_stream = {
    "Stream": streams.Stream, "ExternalStream": streams.ExternalStream, "Event": streams.Event,
    "get_current_stream": _get_stream,
    "get_elapsed_time": streams.elapsed_time,
}  # fmt: skip
_creation = {
    name: getattr(creation, name)
    for name in (
        "array asarray asanyarray ascontiguousarray asfortranarray asnumpy array_repr array_str array2string "
        "frombuffer "
        "format_float_positional format_float_scientific from_dlpack fromfile fromiter fromstring genfromtxt "
        "get_array_module load loadtxt may_share_memory save savez savez_compressed savetxt shares_memory"
    ).split()
}
_core = {
    "array": creation.unpickled, "ndarray": ndarray.ndarray, "ufunc": functions.ufunc,
    "ElementwiseKernel": kernels.ElementwiseKernel, "ReductionKernel": kernels.ReductionKernel,
}  # fmt: skip
_Element = TypeVar("_Element", bound=np.generic, covariant=True)
_NDArray = GenericAlias(ndarray.ndarray, (Any, GenericAlias(np.dtype, (_Element,))))
_ACCELERATORS = [f"set_{what}_accelerators" for what in ("elementwise", "reduction", "routine")]

#: By module and name.
CONTENTS: dict[str, dict[str, Any]] = {
    "cupy": {
        **_creation, **composed.CONTENTS["cupy"],
        "poly1d": polynomials.poly1d, "vectorize": vectorized.vectorize,
        "__version__": "14.2.0",
        "ndarray": ndarray.ndarray, "ufunc": functions.ufunc, "flatiter": iterate.flatiter,
        "ElementwiseKernel": kernels.ElementwiseKernel, "ReductionKernel": kernels.ReductionKernel,
        "RawKernel": kernels.RawKernel, "RawModule": kernels.RawModule, "fuse": kernels.fuse,
        "get_default_memory_pool": _pool, "get_default_pinned_memory_pool": _pinned_pool,
        "is_available": _is_available, "show_config": _show_config, "fromDlpack": creation.from_dlpack,
        "clear_memo": _nothing, "memoize": lambda *a, **k: (lambda f: f),
    },
    **series.CONTENTS,
    "cupy.exceptions": dict(vars(np.exceptions)),
    "cupy.typing": {"ArrayLike": ArrayLike, "DTypeLike": DTypeLike, "NDArray": _NDArray},
    "cupy._core": {**_core, **dict.fromkeys(_ACCELERATORS, _nothing)},
    "cupy._core.core": _core,
    "cupy_backends.cuda.api.runtime": runtime.CONTENTS,
    "cupy.cuda": {
        **_memory, **_pinned, **_stream,
        "Device": devices.Device, "MemoryHook": hooks.MemoryHook, "is_available": _is_available,
        "get_device_id": _device_id,
        "get_cuda_path": _nothing, "profile": _settings, "get_local_runtime_version": runtime.runtimeGetVersion,
    },
    "cupy.cuda.device": {
        "Device": devices.Device, "get_device_id": _device_id, "get_compute_capability": _compute_capability,
    },
    "cupy.cuda.graph": {"Graph": graphs.Graph},
    "cupy.cuda.memory": {**_memory, "OutOfMemoryError": pools.OutOfMemoryError},
    "cupy.cuda.memory_hook": {"MemoryHook": hooks.MemoryHook},
    "cupy.cuda.memory_hooks": {"DebugPrintHook": hooks.DebugPrintHook, "LineProfileHook": hooks.LineProfileHook},
    "cupy.cuda.pinned_memory": _pinned,
    "cupy.cuda.stream": _stream,
    "cupy.cuda.profiler": {"start": _nothing, "stop": _nothing},
    "cupy.cuda.nvtx": {
        **dict.fromkeys(("Mark", "MarkC", "RangePush", "RangePushC", "RangePop", "RangeStart", "RangeEnd"), _nothing),
        "available": True,
    },
    "cupy.cuda.runtime": runtime.CONTENTS,
    "cupy.fft": {"config": _Transforms()},
    **dict.fromkeys(("cupyx.scipy.fft", "cupyx.scipy.fftpack"), {"get_fft_plan": _plan}),
    "cupy.random": randoms.CONTENTS,
    "cupyx.scipy.linalg": composed.CONTENTS["cupyx.scipy.linalg"],
    "cupyx.scipy.ndimage": {**composed.CONTENTS["cupyx.scipy.ndimage"], **labels.CONTENTS},
    "cupyx.scipy.special": composed.CONTENTS["cupyx.scipy.special"],
    "cupyx.scipy.signal": {**composed.CONTENTS["cupyx.scipy.signal"], **wavelets.CONTENTS},
    "cupy.testing": testing.CONTENTS,
    "cupyx": {
        **{f"scatter_{kind}": _scatter(kind) for kind in ("add", "max", "min")},
        "empty_pinned": pointers.empty_pinned, "zeros_pinned": pointers.zeros_pinned,
        "empty_like_pinned": pointers.empty_like_pinned, "zeros_like_pinned": pointers.zeros_like_pinned,
        "errstate": errors.errstate, "geterr": errors.geterr, "seterr": errors.seterr, "rsqrt": _rsqrt,
        "allow_synchronize": syncdetect.allow_synchronize, "DeviceSynchronized": syncdetect.DeviceSynchronized,
    },
    "cupyx.profiler": {"benchmark": profiler.benchmark, "time_range": profiler.time_range, "profile": _settings},
    "cupyx.jit": jit.CONTENTS,
    "cupyx.lapack": lapack.CONTENTS,
    "cupyx.time": {"repeat": profiler.benchmark},
    "cupyx.scipy": {"get_array_module": _scipy_of},
    "cupyx.scipy.sparse": sparse.CONTENTS,
    "cupyx.scipy.spatial": {"distance_matrix": distances.distance_matrix, "KDTree": trees.KDTree},
    "cupyx.scipy.spatial.distance": distances.CONTENTS,
    "cupyx.scipy.sparse.linalg": {
        **sparse.SOLVERS, **direct.CONTENTS, **residuals.CONTENTS, **lanczos.CONTENTS, **lobpcg.CONTENTS,
    },
}  # fmt: skip

#: Names that NumPy and SciPy have in another sense.
WITHOUT = {
    "cupy": frozenset("broadcast DataSource format_parser".split()),
    "cupyx.scipy.spatial": frozenset(["Delaunay"]),
}
