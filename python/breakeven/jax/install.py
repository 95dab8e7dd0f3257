"""JAX: what is put in place when a script has imported it.

Nothing is patched but JAX's own Python functions, by stand-ins without a frame, and two slots of its compiled types.
Names of JAX's inner modules are looked up here alone; where one is missing nothing is recorded, which is said.
"""

from __future__ import annotations

import sys

from .. import _native
from . import calls, pretend
from .executables import known
from .session import session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

#: Versions that this was tried with.
KNOWN = ((0, 10), (0, 12))


class _Synchronous:
    """In place of JAX's setting: executables run in the thread that calls them, unless arguments are on their way."""

    value = False


def install(_: str) -> str | None:
    """Record what JAX runs from now on; why not, where it cannot be."""
    jax = sys.modules["jax"]
    version = str(getattr(jax, "__version__", ""))
    why = _unknown(version)
    if why is None:
        try:
            why = _hook(jax)
        except (AttributeError, ImportError) as error:
            why = f"JAX {version} has no {error}"
    if why is not None:
        return why
    pretend.install(jax)
    session.on = True
    return None


def _unknown(version: str) -> str | None:
    numbers = tuple(int(word) for word in version.split(".")[:2] if word.isdecimal())
    if KNOWN[0] <= numbers <= KNOWN[1]:
        return None
    return f"JAX {version} is none of the versions from 0.10 to 0.12 that breakeven knows"


def _hook(jax: Any) -> str | None:
    """Why it cannot be, or nothing."""
    from jax._src import api, array, compiler, pjit, tree_util, xla_bridge
    from jax._src.interpreters import pxla

    session.tag = _native.device_tag("gpu:0")
    function = type(jax.jit(lambda x: x))
    numpy = sys.modules["numpy"]
    session.waits = array.ArrayImpl.__dict__["block_until_ready"]
    why = _native.jitted_hook(
        function, array.ArrayImpl, numpy.ndarray, tree_util.tree_flatten, session.waits, session.tag
    )
    if why is not None:
        return why
    _native.exported_hook(array.ArrayImpl)
    xla_bridge._CPU_ENABLE_ASYNC_DISPATCH = _Synchronous()
    _put(pxla, "lower_sharding_computation", calls.lowering_begins, calls.lowering_ends, keywords=True)
    _put(pxla.MeshComputation, "compile", calls.compiling_begins, calls.compiling_ends, arguments=True)
    _put(compiler, "compile_or_get_cached", calls.compiler_begins, calls.compiler_ends)
    _put(pjit, "_infer_params", calls.call_begins, calls.call_ends)
    _put(pxla.ExecuteReplicated, "__call__", calls.run_begins, calls.run_ends, arguments=True)
    _put(pxla, "batched_device_put", calls.put_begins, calls.put_ends, arguments=True)
    _put(array.ArrayImpl, "block_until_ready", calls.wait_begins, calls.wait_ends)
    waits = _put(api, "block_until_ready", calls.wait_begins, calls.wait_ends)
    jax.block_until_ready = waits
    pjit.jit_p.impl = _native.Named(pjit.jit_p.impl, "impl", calls.inner_begins, calls.call_ends, keywords=True)
    pjit._get_fastpath_data = _Asking(pjit._get_fastpath_data)
    value = array.ArrayImpl.__dict__["_value"]
    stand_in = _native.Named(value.fget, "_value", calls.value_begins, calls.call_ends, arguments=True)
    array.ArrayImpl._value = property(stand_in, doc=value.__doc__)
    return None


def _put(
    holder: Any,
    name: str,
    begins: Callable[..., Any],
    ends: Callable[..., Any],
    arguments: bool = False,
    keywords: bool = False,
) -> Any:
    """A stand-in in the place of a function of JAX's."""
    plain = vars(holder)[name]
    stand_in = _native.Named(plain, name, begins, ends, arguments=arguments, keywords=keywords)
    setattr(holder, name, stand_in)
    return stand_in


class _Asking:
    """In place of what lets JAX run an executable without Python: not where each of its runs has to be looked at."""

    def __init__(self, plain: Callable[..., Any]) -> None:
        self.plain = plain

    def __call__(self, executable: Any, *rest: Any) -> Any:
        runs = getattr(executable, "unsafe_call", None)
        told = known.running.get(runs) if runs is not None else None
        if told is not None and told.asks_each_time and session.on:
            return None
        return self.plain(executable, *rest)
