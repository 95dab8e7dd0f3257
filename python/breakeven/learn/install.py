"""Arms the recorder: each hook runs right after the module that it is about has been imported."""

from __future__ import annotations

from ..process import imports
from .modules import MODULES, NATIVE


def arm() -> None:
    """From now on, imports of these libraries are followed by their hooks; nothing is imported here."""
    imports.after("sklearn.utils._metadata_requests", _classes)
    imports.after("sklearn.base", _mixins)
    imports.after("sklearn.utils.parallel", _workers)
    for module in MODULES:
        imports.after(module, _functions)
    for module in NATIVE:
        imports.after(module, _boosting)


def _classes(module: str) -> None:
    from . import methods

    methods.hook(module)


def _mixins(module: str) -> None:
    from . import methods

    methods.hook_mixins(module)


def _workers(module: str) -> None:
    from . import functions

    functions.hook_workers(module)


def _functions(module: str) -> None:
    from . import functions

    functions.hook(module)


def _boosting(module: str) -> None:
    from . import boosting

    boosting.hook(module)
