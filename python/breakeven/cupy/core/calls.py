"""One call of the stand-in: its arrays taken out of their wrappers, computed by NumPy, told to the recorder, wrapped.

Between `_native.enter` and `_native.leave` the hooks on NumPy see nothing, so an op is recorded once: as the program
wrote it, on the device.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from ... import _native
from ...scipy import named_ops
from . import launches, pools, refusals, shared, streams, syncdetect, waits, workspace

#: Sizes of CuPy's own page-locked memory by which copies have gone; its pool keeps it.
buffers: set[int] = set()

_PLAIN = (int, float, complex, bool, str, bytes, type(None), type, slice, np.generic, np.dtype)


def cupy() -> Any:
    """CuPy as the program has it, whose names are there once all parts of the stand-in are."""
    return sys.modules["cupy"]


def is_device(value: object) -> bool:
    """Whether it is an array of the device."""
    return isinstance(value, shared.state.ndarray)


def plain(value: Any) -> Any:
    """NumPy's array in a device array; the same within lists, tuples and dicts.

    Raises TypeError for an array of the host, as CuPy does.
    """
    kind = type(value)
    if kind is shared.state.ndarray:
        return value._a
    if kind in _PLAIN:
        return value
    if isinstance(value, shared.state.ndarray):
        return value._a  # type: ignore[attr-defined]
    if isinstance(value, np.ndarray):
        raise TypeError(f"Unsupported type {kind}")
    if kind is list or kind is tuple:
        return kind(plain(item) for item in value)
    if kind is dict:
        return {name: plain(item) for name, item in value.items()}
    if hasattr(kind, "_breakeven_held"):
        return value._made
    return as_ours(value, plainly=True)


def as_ours(value: Any, plainly: bool = False) -> Any:
    """What another library has on the device, by the interface that all share, as an array of ours; else the same."""
    if (
        isinstance(value, (*_PLAIN, np.ndarray, shared.state.ndarray))
        or getattr(value, "__cuda_array_interface__", None) is None
    ):
        return value
    made = shared.state.asarray(value)
    return made._a if plainly else made


def on_device(result: Any) -> Any:
    """A result in which every scalar of NumPy is an array without dims: CuPy leaves it on the device."""
    if isinstance(result, np.generic):
        return np.asarray(result)
    if type(result) is list:
        return [on_device(item) for item in result]
    if isinstance(result, tuple):
        items = [on_device(item) for item in result]
        named = hasattr(result, "_fields") and not type(result).__module__.startswith("numpy.linalg")
        return type(result)(*items) if named else tuple(items)
    return result


def wrapped(result: Any) -> Any:
    """NumPy's arrays as device arrays."""
    if isinstance(result, np.ndarray):
        return shared.state.ndarray._of(result)  # type: ignore[attr-defined]
    if type(result) is list:
        return [wrapped(item) for item in result]
    if isinstance(result, tuple):
        items = [wrapped(item) for item in result]
        return type(result)(*items) if hasattr(result, "_fields") else tuple(items)
    return result


def arrays(value: Any) -> tuple[Any, ...]:
    """NumPy's arrays among arguments."""
    found: list[Any] = []
    for item in value:
        if isinstance(item, np.ndarray):
            found.append(item)
        elif type(item) in (list, tuple):
            found.extend(arrays(item))
    return tuple(found)


def run(
    name: str,
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    told: dict[str, Any] | None = None,
) -> Any:
    """`function(*args, **kwargs)` of plain arrays as the op `name`; the result is plain, its scalars on the device.

    `told` are keywords for the recorder, `kwargs` unless given.
    """
    if shared.state.fused is not None:
        shared.state.fused.append(name.replace("cupy.", "numpy.", 1))
        return _native.work_of_call(_computed, function, args, kwargs)
    if shared.state.capturing is not None:
        shared.state.capturing.keep(arrays((*args, *kwargs.values())))
    tag = streams.tag()
    token = _native.enter(name, True, tag)
    before, named_ops.computing.tag = named_ops.computing.tag, tag
    try:
        result = _computed(function, args, kwargs)
    except BaseException as error:
        _native.leave(token, (), None)
        if isinstance(error, MemoryError):
            pools.refuse(error)
        if isinstance(error, Exception) and (new := refusals.as_cupy(error, args)) is not error:
            raise new from None
        raise
    finally:
        named_ops.computing.tag = before
    inputs = arrays(args)
    if kwargs:
        inputs += arrays(value for key, value in kwargs.items() if key != "out")
    outputs = result if isinstance(result, (np.ndarray, tuple, list)) else ()
    told = kwargs if told is None else told
    if token and "kernels" not in told and (kernels := launches.counted(name, args, kwargs)):
        told = {**told, "kernels": kernels}
    _native.leave(token, inputs, outputs, told, tag)
    if name in workspace.NAMES and (passing := workspace.needed(name, args, kwargs)):
        pools.pass_through(passing + sum(item.nbytes for item in arrays((outputs,))))
    if token and waits.waits(name, args, kwargs):
        read(waits.TOLD)
    if shared.state.capturing is not None:
        shared.state.capturing.add((name, function, args, kwargs, told, result))
    return result


def _computed(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    with np.errstate(all="ignore"):  # a GPU tells nobody that it divides by zero, whatever NumPy is set to
        return on_device(function(*args, **kwargs))


def call(name: str, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A call as the program wrote it, of device arrays."""
    out = kwargs.get("out")
    result = run(name, function, plain(args), plain(kwargs))
    if isinstance(out, tuple) and len(out) > 1:
        return tuple(wrapped(found) if given is None else given for given, found in zip(out, result))
    if out is not None:
        return out[0] if isinstance(out, tuple) else out
    if isinstance(result, np.ndarray):
        refuse_dtype(result.dtype)
        for given in (*args, *kwargs.values()):  # `output=` of a filter is itself what comes back
            if is_device(given) and given._a is result:
                return given
    return wrapped(result)


def copy_in(name: str, make: Callable[[], Any], pinned: bool = False, beside: bool = True) -> Any:
    """An array that `make` builds from what the host has: a copy to the device; a number goes there with a kernel.

    CuPy copies what is not `pinned` into page-locked memory of its own first, so that the host does not wait for
    what the GPU still has to do.
    """
    tag = streams.tag()
    token = _native.enter(name, True)
    try:
        result = make()
        refuse_dtype(result.dtype)
    except BaseException:
        _native.leave(token, (), None)
        raise
    if result.ndim == 0 and name != "cupy.ndarray.set":
        _native.leave(token, (), None)
        return run("cupy.full", lambda: result, (), {})
    if beside and not pinned and result.nbytes:
        buffers.add(pools.rounded(result.nbytes))
    _native.leave(token, (), result, {"pinned": pinned, "asynchronous": beside}, tag)
    return result


def copied_in(host: Any) -> Any:
    """A plain array of the device with what one of the host holds."""
    return copy_in("cupy.array", host.copy)


def copy_out(
    name: str, array: Any, into: Any = None, beside: bool = False, pinned: bool = False, order: str = "C"
) -> Any:
    """The values of a plain array on the host: a copy from the device."""
    streams.refuse_reading()
    if into is None and not array.size:
        return array.copy()
    array = _in_one_piece(array, order if into is None else _orders(into))
    syncdetect.declare()
    tag = streams.tag()
    token = _native.enter(name, True)
    if into is None:
        result = array.copy(order)
    else:
        into[...] = array
        result = into
    _native.leave(token, (array,), (), {"pinned": pinned, "asynchronous": beside and pinned}, tag)
    return result


def _orders(array: Any) -> str:
    return "".join(order for order in "CF" if array.flags[f"{order}_CONTIGUOUS"])


def _in_one_piece(array: Any, order: str) -> Any:
    """What a copy to the host is made of: a kernel brings the elements into the order that they have there."""
    wanted = "CF" if order.upper() == "A" else order.upper()
    if not set(wanted) <= {"C", "F"}:
        raise ValueError(f"unsupported order: {wanted}")
    if set(wanted) & set(_orders(array)):
        return array
    return run("cupy.copy", lambda a: a.copy(wanted[0]), (array,), {}, {})


def read(array: Any, name: str = "cupy.ndarray.item") -> None:
    """The host reads the array's values: it waits, and copies them."""
    refuse_in_fusion()
    streams.refuse_reading()
    syncdetect.declare()
    tag = streams.tag()
    _native.leave(_native.enter(name, True), (array,), (), None, tag)


def refuse_in_fusion() -> None:
    """Raises TypeError within a fused function, which has no values yet in CuPy."""
    if shared.state.fused is not None:
        raise TypeError("Cannot convert to Python scalar in cupy.fuse")


def refuse_as_whole(values: Any) -> None:
    """Raises TypeError for arrays of the device among lengths or axes: what they hold, the host has not been told."""
    if any(map(is_device, values if isinstance(values, (tuple, list)) else (values,))):
        raise TypeError("'ndarray' object cannot be interpreted as an integer")


def refuse_dtype(dtype: Any) -> None:
    """Raises ValueError for types of elements that CuPy has no kernels for."""
    if dtype.byteorder == ">":
        raise ValueError(f"Unsupported dtype {dtype} with big-endian byte-order")
    if (
        dtype.kind not in "biufcV"
        or (dtype.kind != "V" and dtype.itemsize > 16)
        or (dtype.kind == "f" and dtype.itemsize > 8)
    ):
        raise ValueError(f"Unsupported dtype {dtype}")
