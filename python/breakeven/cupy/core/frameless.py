"""CuPy's own functions are compiled, most of them: tracebacks end in the program's line. So they do here."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import FunctionType, GenericAlias
from typing import Any

import numpy

from ... import _native

#: Set in classes whose objects call functions of the program's.
CALLS_PROGRAMS = "_calls_programs"
#: This folder, and where those are on which it relies.
_FOLDER = str(Path(__file__).parent.parent) + "/"
_LIBRARIES = [str(Path(numpy.__file__).parent.with_name(name)) + "/" for name in ("numpy", "scipy")]


def function(plain: Callable[..., Any], method: bool = False) -> Any:
    """A function whose frames tracebacks do not show, nor those of what it calls here and in NumPy; and whose time
    is none of the program's, unless it is given something to call: as a `method`, besides its object."""
    framed = _native.Frameless(plain, _FOLDER, _LIBRARIES, method)
    framed.__module__ = plain.__module__
    return framed


def methods(cls: type) -> None:
    """The same of all methods of a class that programs call, and of its properties."""
    method = not getattr(cls, CALLS_PROGRAMS, False)
    for name, value in list(vars(cls).items()):
        if isinstance(value, FunctionType) and (name.startswith("__") or not name.startswith("_")):
            setattr(cls, name, function(value, method))
        elif isinstance(value, property):
            getter, setter = (of and function(of, method) for of in (value.fget, value.fset))
            setattr(cls, name, property(getter, setter, doc=value.__doc__))


def value(made: Any, module: str) -> Any:
    """What a module of the stand-in has under a name: functions and classes without their frames."""
    if isinstance(made, FunctionType):
        if made.__module__.startswith("breakeven."):  # so that it pickles as what the program knows it by
            made.__module__, made.__qualname__ = module, made.__name__
        return function(made)
    # `isinstance(alias, type)` holds on Python 3.10.
    if isinstance(made, GenericAlias):
        return made
    if (
        isinstance(made, type)
        and made.__module__.startswith(("breakeven.", "cupy"))
        and not issubclass(made, Exception)
    ):
        methods(made)
    return made
