"""The modules of the stand-in: `cupy`, `cupyx` and what is in them, made when they are imported.

A name that CuPy has not is an AttributeError as in CuPy. A name that CuPy has and the stand-in has not is one that
says so. `names.txt` tells the two apart.
"""

from __future__ import annotations

import importlib
import sys
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from . import frameless, functions

VERSION = "14.2.0"

_NOTHING: Any = object()
#: Packages that CuPy has and the stand-in has not.
_MISSING = (
    "cupy._core", "cupy_backends", "cupy.cuda.nccl", "cupy.cuda.cub", "cupy.cuda.cufft", "cupy.cuda.thrust",
    "cupy.cuda.texture", "cupy.cuda.function", "cupy.cuda.compiler", "cupy.cuda.cutensor", "cupy.cuda.jitify",
    "cupy.cuda.common", "cupy.cuda.cublas", "cupy.cuda.curand", "cupy.cuda.cusolver", "cupy.cuda.cusparse",
    "cupy.cuda.driver", "cupy.cuda.nvrtc", "cupy.cublas",
    "cupyx.distributed", "cupyx.optimizing", "cupyx.tools", "cupyx.cusolver", "cupyx.cusparse", "cupyx.cutensor",
    "cupyx.linalg", "cupyx.signal", "cupyx.jit.cg", "cupyx.jit.cub", "cupyx.jit.thrust",
    "cupyx.scipy.sparse.csgraph", "cupyx.scipy.spatial.delaunay_2d",
)  # fmt: skip
#: Modules of which the stand-in has only what `special.py` holds.
_SMALL = (
    "cupy._core", "cupy._core.core", "cupy_backends", "cupy_backends.cuda", "cupy_backends.cuda.api",
    "cupy_backends.cuda.api.runtime", "cupy.cuda.device", "cupy.cuda.graph", "cupy.cuda.memory",
    "cupy.cuda.memory_hook", "cupy.cuda.memory_hooks",
    "cupy.cuda.pinned_memory", "cupy.cuda.profiler", "cupy.cuda.stream", "cupy.exceptions", "cupy.lib", "cupy.typing",
    "cupy.polynomial", "cupy.polynomial.polynomial", "cupy.polynomial.polyutils",
    "cupyx.jit", "cupyx.lapack", "cupyx.time",
)  # fmt: skip


@cache
def names() -> dict[str, frozenset[str]]:
    """CuPy's public names by module."""
    text = Path(__file__).with_name("names.txt").read_text(encoding="utf-8")
    lines = (line.partition(": ") for line in text.splitlines() if line and not line.startswith("#"))
    return {module: frozenset(words.split()) for module, _, words in lines}


def known(module: str) -> bool:
    """Whether the stand-in has a module of this name."""
    return module in names() and module != "cupy.ndarray" or module in _SMALL


def missing(module: str) -> bool:
    """Whether CuPy has a module of this name, and the stand-in has not."""
    return any(module == name or module.startswith(name + ".") for name in _MISSING)


def absent(module: str, name: str, holder: str) -> AttributeError:
    """The error for a name that a module has not."""
    if name in names().get(module, ()) or missing(f"{module}.{name}"):
        short = f"{module}.{name}".removeprefix("cupy.")
        return AttributeError(f"breakeven's stand-in for cupy has no {short}")
    return AttributeError(f"{holder} has no attribute {name!r}")


class Module(ModuleType):
    """A module whose contents are made when they are first asked for."""

    def __getattr__(self, name: str) -> Any:
        module = self.__name__
        if not name.startswith("__"):
            value = frameless.value(_made(module, name), module)
            if value is not _NOTHING:
                setattr(self, name, value)
                return value
            if known(f"{module}.{name}"):
                return importlib.import_module(f"{module}.{name}")
            if name in functions.CONSTANTS and module == "cupy":
                return functions.CONSTANTS[name]
        raise absent(module, name, f"module {module!r}")

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *names().get(self.__name__, ())})


frameless.methods(Module)


def _made(module: str, name: str) -> Any:
    from . import special

    own = special.CONTENTS.get(module, {})
    if name in own:
        return own[name]
    if name not in names().get(module, ()) or name in special.WITHOUT.get(module, ()):
        return _NOTHING
    value = counterpart(module, name)
    if isinstance(value, type) and module.startswith("cupyx.") and not issubclass(value, Exception):
        return functions.held(module, name, value)
    return value if value is _NOTHING else functions.wrapped(module, name, value)


def counterpart(module: str, name: str) -> Any:
    """What NumPy or SciPy has for a name of CuPy's; `_NOTHING` where they have nothing."""
    home = home_of(module)
    if home is None:
        return _NOTHING
    found = importlib.import_module(home)
    value = getattr(found, name, _NOTHING)
    if value is _NOTHING and module == "cupy":
        value = getattr(found, functions.ALIASES.get(name, ""), _NOTHING)
        if value is _NOTHING:
            value = getattr(importlib.import_module("numpy.exceptions"), name, _NOTHING)
    return value


def home_of(module: str) -> str | None:
    """The module of NumPy or SciPy that one of CuPy's imitates."""
    if module.startswith("cupyx.scipy"):
        return module.removeprefix("cupyx.")
    if module in ("cupy", "cupy.linalg", "cupy.fft", "cupy.lib.stride_tricks"):
        return "numpy" + module.removeprefix("cupy")
    return None


def numpys(module: str, name: str) -> Any:
    """The stand-in's function for one of NumPy's, or of `scipy.special`; or None."""
    if module == "scipy.special":
        if name not in names().get("cupyx.scipy.special", ()):
            return None
        return getattr(importlib.import_module("cupyx.scipy.special"), name, None)
    home = "cupy" + module.removeprefix("numpy") if module.startswith("numpy") else "cupy"
    holder = sys.modules.get(home) or sys.modules["cupy"]
    return getattr(holder, name, None)
