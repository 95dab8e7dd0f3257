"""Calls us right after a named module has been imported, and leaves no other trace of it; times imports of libraries.

The loader of a named module is wrapped for the length of one `exec_module`; the module sees its own loader in
`__loader__` and `__spec__`. The wrapper's code carries importlib's file name, so that a failed import shows no frame
of ours (the interpreter cuts importlib's own frames out of such tracebacks).
"""

from __future__ import annotations

import sys

from .. import _native

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from importlib.machinery import ModuleSpec
    from types import CodeType, ModuleType
    from typing import Any


#: Modules of SciPy whose functions are recorded as named ops.
SCIPY = (
    "scipy.cluster.vq",
    "scipy.fft",
    "scipy.linalg",
    "scipy.ndimage",
    "scipy.signal",
    "scipy.sparse",
    "scipy.sparse.linalg",
    "scipy.spatial.distance",
    "scipy.special",
)

_waiting: dict[str, list[Callable[[str], None]]] = {}


def time_libraries() -> None:
    """From now on what importing libraries takes is start-up."""
    from _frozen_importlib_external import ExtensionFileLoader, _LoaderBasics

    for loader, name in (
        (_LoaderBasics, "exec_module"),
        (ExtensionFileLoader, "create_module"),
        (ExtensionFileLoader, "exec_module"),
    ):
        plain = getattr(loader, name)
        setattr(loader, name, _native.Named(plain, name, _native.import_begins, _native.import_ends, True))


def after(name: str, action: Callable[[str], None]) -> None:
    """Call `action(name)` once, when `name` has been imported; now, if it has been."""
    if name in sys.modules:
        action(name)
        return
    _waiting.setdefault(name, []).append(action)
    if Finder not in sys.meta_path:
        sys.meta_path.insert(0, Finder)


class _Loader:
    """Stands in for a module's loader until the module has run."""

    def __init__(self, loader: Any) -> None:
        self.loader = loader

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        created: ModuleType | None = self.loader.create_module(spec)
        return created

    def exec_module(self, module: ModuleType) -> None:
        if module.__spec__ is not None:
            module.__spec__.loader = self.loader
        module.__loader__ = self.loader
        begun = _native.import_begins("exec_module", ())
        try:
            self.loader.exec_module(module)
        finally:
            _native.import_ends(begun)
        # importlib's next step, before ours: to NumPy, a `numpy.random` that is not there yet means to import it again.
        package, _, name = module.__name__.rpartition(".")
        if package:
            setattr(sys.modules[package], name, module)
        for action in _waiting.pop(module.__name__, ()):
            try:
                action(module.__name__)
            except Exception as error:  # ours; the script's import has succeeded
                _native.unseen("hook-failed", f"{module.__name__} is not recorded as it should be: {error}")


class Finder:
    """A finder that finds nothing itself: it asks the others and wraps the loader they give."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> ModuleSpec | None:
        if name not in _waiting:
            return None
        for finder in sys.meta_path:
            if finder is Finder:
                continue
            spec = finder.find_spec(name, path, target)
            if spec is not None:
                if spec.loader is not None and hasattr(spec.loader, "exec_module"):
                    spec.loader = _Loader(spec.loader)  # type: ignore[assignment]
                return spec
        return None


def _disguised(function: Any) -> Any:
    """`function` with importlib's file name in its code."""
    code: CodeType = function.__code__.replace(co_filename="<frozen importlib._bootstrap>")
    return type(function)(code, function.__globals__, function.__name__, function.__defaults__, function.__closure__)


_Loader.exec_module = _disguised(_Loader.exec_module)  # type: ignore[method-assign]
_Loader.create_module = _disguised(_Loader.create_module)  # type: ignore[method-assign]
Finder.find_spec = staticmethod(_disguised(Finder.__dict__["find_spec"].__func__))  # type: ignore[method-assign]
