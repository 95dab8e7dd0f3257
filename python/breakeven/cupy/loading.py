"""Makes the stand-in's modules when they are imported."""

from __future__ import annotations

import sys
from importlib.machinery import ModuleSpec
from types import ModuleType

from .. import _native
from . import modules
from .arrays import backend
from .core import catalogue


class Loader:
    """Makes one module."""

    @staticmethod
    def create_module(spec: ModuleSpec) -> ModuleType:
        return modules.Module(spec.name)

    @staticmethod
    def exec_module(module: ModuleType) -> None:
        recorded = _native.recording()
        if recorded:
            _native.stop()
        try:
            _fill(module)
        finally:
            if recorded:
                _native.start()


def _fill(module: ModuleType) -> None:
    name = module.__name__
    home = modules.home_of(name)
    if home is not None and home.startswith("scipy"):
        try:
            __import__(home)
        except ImportError as error:
            raise ModuleNotFoundError(
                f"breakeven's stand-in for {name} computes with SciPy: {error}", name=error.name
            ) from None
    module.__dict__["__breakeven__"] = True
    module.__dict__["__version__"] = modules.VERSION
    if name == "cupy":
        _begin(module)
    if name == "cupyx.scipy.fft":
        module.__dict__.update(backend.of(module))


def spec(name: str) -> ModuleSpec | None:
    """Where the import of `name` leads; None where CuPy has no such module either.

    Raises ModuleNotFoundError for a module that CuPy has and the stand-in has not, ImportError for what is no module.
    """
    if modules.known(name):
        return ModuleSpec(name, Loader, is_package=True)  # type: ignore[arg-type]
    holder, _, last = name.rpartition(".")
    # Without a `name`: of one that has it, `from holder import last` makes another that does not say whose fault it is.
    if catalogue.missing(name):
        raise ModuleNotFoundError(f"breakeven's stand-in for cupy has no {name}")
    if last in catalogue.names().get(holder, ()):
        raise ImportError(f"breakeven's stand-in for cupy has no {name}")
    return None


def _begin(module: ModuleType) -> None:
    import importlib

    import numpy

    for part in ("cuda", "fft", "linalg", "random"):
        setattr(module, part, importlib.import_module(f"cupy.{part}"))
    importlib.import_module("cupy.cuda.runtime")
    importlib.import_module("cupyx")
    python = ".".join(map(str, sys.version_info[:3]))
    versions = f'"python": "{python}", "numpy": "{numpy.__version__}", "cupy": "{modules.VERSION} (stand-in)"'
    _native.set_program(f'{{"versions": {{{versions}}}}}')
