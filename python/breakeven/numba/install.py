"""Has Numba's calls and compilations told, from the moment that it is imported."""

from __future__ import annotations

import sys

from .. import _native
from ..process import imports

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


#: Classes whose objects are what Numba compiles: functions, element-wise ones, generalised ones, stencils.
_CLASSES = (
    ("numba.core.registry", "CPUDispatcher"),
    ("numba.np.ufunc.dufunc", "DUFunc"),
    ("numba.np.ufunc.gufunc", "GUFunc"),
    ("numba.stencils.stencil", "StencilFunc"),
)


def install(_: str) -> None:
    """Numba has just been imported."""
    from numba.core import event

    from . import calls, launches

    launches.simulated()
    imports.after("numba.cuda.simulator.kernel", launches.hook)
    _compiler_is_startup()
    imports.after("numba.np.ufunc.ufuncbuilder", _building)
    for place, (module, name) in enumerate(_CLASSES):
        found = getattr(sys.modules.get(module), name, None)
        if found is not None:
            _native.compiled_watch(found, place, calls.before, calls.after)
    event.register("numba:compile", _listener(event))


def _compiler_is_startup() -> None:
    """What Numba sets up for its first function (LLVM's symbols) is start-up as well."""
    from numba.core import registry

    plain = registry.cpu.CPUContext

    def begun(*args: Any, **words: Any) -> Any:
        registry.cpu.CPUContext = plain
        began = _native.import_begins("compile", ())
        try:
            return plain(*args, **words)
        finally:
            _native.import_ends(began)

    registry.cpu.CPUContext = begun


def _building(_: str) -> None:
    """What `@vectorize` and its kind compile for signatures that they are given is start-up, too."""
    from numba.np.ufunc import ufuncbuilder

    for holder, name in (
        (ufuncbuilder._BaseUFuncBuilder, "add"),
        (ufuncbuilder.UFuncBuilder, "build_ufunc"),
        (ufuncbuilder.GUFuncBuilder, "build_ufunc"),
    ):
        plain = getattr(holder, name)
        setattr(holder, name, _native.Named(plain, name, _compiles, _compiled))


def _compiles(_: str) -> bool:
    return _native.import_begins("compile", ())


def _compiled(begun: bool | None, *_: object) -> None:
    if begun is not None:
        _native.import_ends(begun)


def _listener(event: Any) -> Any:
    """What is told when a function is compiled: that is start-up, of the call that it is compiled for, too."""

    class Compiles(event.Listener):  # type: ignore[misc]
        def __init__(self) -> None:
            self.begun: list[bool] = []

        def on_start(self, _: Any) -> None:
            self.begun.append(_native.import_begins("compile", ()))

        def on_end(self, _: Any) -> None:
            if self.begun:
                _native.import_ends(self.begun.pop())

    return Compiles()
