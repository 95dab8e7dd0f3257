"""Has Numba's calls and compilations told, from the moment that it is imported."""

from __future__ import annotations

import sys

from .. import _native

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

    from . import calls

    for place, (module, name) in enumerate(_CLASSES):
        found = getattr(sys.modules.get(module), name, None)
        if found is not None:
            _native.compiled_watch(found, place, calls.before, calls.after)
    event.register("numba:compile", _listener(event))


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
