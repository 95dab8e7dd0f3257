"""One call: to CuPy, and where it refuses to NumPy with copies of the arguments, so that errors are NumPy's own."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from . import device, values
from .counts import counts

state = device.state

#: Functions that make arrays of numbers; those of the host would only have to be copied.
CREATING = frozenset(
    f"numpy.{name}"
    for name in "zeros ones empty full arange linspace logspace geomspace eye identity tri indices fft.fftfreq "
    "fft.rfftfreq hanning hamming blackman kaiser bartlett".split()
)
#: Of these NumPy gives an array even if it has no dims.
KEEPING = frozenset(
    f"numpy.{name}"
    for name in "array asarray asanyarray ascontiguousarray asfortranarray zeros ones empty full zeros_like ones_like "
    "empty_like full_like copy reshape squeeze where broadcast_to broadcast_arrays transpose ndarray.reshape "
    "ndarray.squeeze ndarray.copy ndarray.astype ndarray.view ndarray.transpose ndarray.T ndarray.real ndarray.imag "
    "require atleast_1d".split()
)
#: Of these NumPy gives a truth value of Python's.
_TRUTHS = frozenset(
    f"numpy.{name}" for name in "allclose array_equal array_equiv isscalar may_share_memory shares_memory".split()
)
#: Functions that change an argument, by its place.
IN_PLACE = {
    **dict.fromkeys(
        (f"numpy.{name}" for name in "copyto put place putmask fill_diagonal put_along_axis random.shuffle".split()), 0
    ),
    **dict.fromkeys(
        (f"numpy.ndarray.{name}" for name in "sort partition fill put itemset resize setfield __setitem__".split()), 0
    ),
}
#: What `numpy.linalg` gives by names.
_NAMED = {
    "numpy.linalg.eig": "EigResult", "numpy.linalg.eigh": "EighResult", "numpy.linalg.qr": "QRResult",
    "numpy.linalg.slogdet": "SlogdetResult", "numpy.linalg.svd": "SVDResult",
}  # fmt: skip
#: Functions that draw random numbers, or read and write files: the host's own work, also where CuPy has them.
OF_THE_HOST = frozenset(
    [f"numpy.{name}" for name in "load save savez savez_compressed savetxt loadtxt genfromtxt fromfile".split()]
    + ["scipy.sparse.random", "scipy.sparse.rand", "scipy.sparse.random_array"]
)
_LONGEST = 160


def call(
    name: str, own: Callable[..., Any] | None, host: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """`host(*args, **kwargs)`, computed by CuPy's `own` where that can."""
    given = values.survey(args)
    if given != values.DEVICE and kwargs:
        given = max(given, values.survey(kwargs.values()))
    if given == values.NOTHING and name not in CREATING:
        brought = values.Brought(name)  # numbers stay on the host; arrays are the device's
        return brought.up(host(*brought.host(args), **brought.host(kwargs)))
    if given != values.DEVICE and state.falling_back:
        return host(*args, **kwargs)  # NumPy or SciPy called the user's function, with arrays of the host
    if own is None:
        why = "files and random numbers are the host's" if name in OF_THE_HOST else "CuPy has no such function"
        return fall_back(name, host, args, kwargs, why)
    began = time.perf_counter() if state.by_line else 0.0
    try:
        result = _own(own, args, kwargs)
    except MemoryError:
        raise
    except Exception as error:
        return fall_back(name, host, args, kwargs, reason(error))
    counts.calls += 1
    if state.by_line:
        device.wait()
        counts.took(time.perf_counter() - began)
    return _result(name, result, args, kwargs)


def _own(own: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    words = {key: values.down(arg) for key, arg in kwargs.items()}
    try:
        return own(*(values.down(arg) for arg in args), **words)
    except (TypeError, ValueError, AttributeError, NotImplementedError, np.linalg.LinAlgError):
        # Many of CuPy's functions take no lists, as NumPy's do.
        listed = tuple(_list_as_array(arg) for arg in args)
        if all(new is old for new, old in zip(listed, args)):
            raise
        return own(*(values.down(arg) for arg in listed), **words)


def _list_as_array(value: Any) -> Any:
    if type(value) is not list or values.survey(value[: values.FIRST]):
        return value
    made = np.asarray(value)
    return made if values.holds(made.dtype) else value


def _result(name: str, result: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    out = kwargs.get("out")
    if out is not None:
        return out[0] if isinstance(out, tuple) and len(out) == 1 else out
    if isinstance(result, state.ndarray):
        for arg in args:
            if type(arg) is state.array and arg._d is result:
                return arg
    if name in _TRUTHS:
        return bool(result)
    if type(result) is tuple and name in _NAMED:
        named = getattr(getattr(np.linalg, "_linalg", None), _NAMED[name], None)
        if named is not None and len(named._fields) == len(result):
            return named(*(values.wrapped(item) for item in result))
    return values.wrapped(result, name in KEEPING)


def reason(error: Exception) -> str:
    """Why CuPy did not take a call, in one line."""
    if isinstance(error, values.Unsupported):
        return str(error)
    words = " ".join(str(error).split())
    return f"{type(error).__name__}: {words}"[:_LONGEST]


def fall_back(
    name: str, host: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], why: str
) -> Any:
    """NumPy's own call, with copies of what is on the device; results are copied back."""
    brought = values.Brought(name)
    began = time.perf_counter() if state.by_line else 0.0
    host_args = tuple(brought.host(arg) for arg in args)
    host_kwargs = {key: brought.host(arg) for key, arg in kwargs.items()}
    state.falling_back += 1
    try:
        result = host(*host_args, **host_kwargs)
    finally:
        state.falling_back -= 1
    if name in IN_PLACE and len(host_args) > IN_PLACE[name]:
        brought.write_back(host_args[IN_PLACE[name]])
    for out in _outs(host_kwargs.get("out")):
        brought.write_back(out)
    found = brought.up(result)
    counts.fell_back(name, why, brought.bytes)
    if state.by_line:
        device.wait()
        counts.took(time.perf_counter() - began)
    return found


def _outs(out: Any) -> tuple[Any, ...]:
    return out if isinstance(out, tuple) else () if out is None else (out,)
