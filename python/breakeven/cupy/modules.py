"""The modules of the stand-in: `cupy`, `cupyx` and what is in them, made when they are imported.

A name that CuPy has not is an AttributeError as in CuPy. A name that CuPy has and the stand-in has not is one that
says so. `names.txt` tells the two apart.
"""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any

from . import special
from .arrays import functions
from .core import catalogue, frameless

VERSION = "14.2.0"

_NOTHING: Any = object()
#: Modules of which the stand-in has only what `special.py` holds.
_SMALL = (
    "cupy._core", "cupy._core.core", "cupy_backends", "cupy_backends.cuda", "cupy_backends.cuda.api",
    "cupy_backends.cuda.api.runtime", "cupy.cuda.device", "cupy.cuda.graph", "cupy.cuda.memory",
    "cupy.cuda.memory_hook", "cupy.cuda.memory_hooks",
    "cupy.cuda.pinned_memory", "cupy.cuda.profiler", "cupy.cuda.stream", "cupy.exceptions", "cupy.lib", "cupy.typing",
    "cupy.polynomial", "cupy.polynomial.polynomial", "cupy.polynomial.polyutils",
    "cupyx.jit", "cupyx.lapack", "cupyx.time",
)  # fmt: skip


def known(module: str) -> bool:
    """Whether the stand-in has a module of this name."""
    return module in catalogue.names() and module != "cupy.ndarray" or module in _SMALL


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
        raise catalogue.absent(module, name, f"module {module!r}")

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *catalogue.names().get(self.__name__, ())})


frameless.methods(Module)


def _made(module: str, name: str) -> Any:
    own = special.CONTENTS.get(module, {})
    if name in own:
        return own[name]
    if name not in catalogue.names().get(module, ()) or name in special.WITHOUT.get(module, ()):
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
