"""Arms the recorder: each hook runs right after the module that it is about has been imported."""

from __future__ import annotations

from ..process import imports
from . import boosting, functions, methods


def arm() -> None:
    """From now on, imports of these libraries are followed by their hooks; nothing is imported here."""
    imports.after("sklearn.utils._metadata_requests", methods.hook)
    imports.after("sklearn.base", methods.hook_mixins)
    imports.after("sklearn.utils.parallel", functions.hook_workers)
    for module in functions.MODULES:
        imports.after(functions.whole(module), functions.hook)
    for module in boosting.NATIVE:
        imports.after(module, boosting.hook)
