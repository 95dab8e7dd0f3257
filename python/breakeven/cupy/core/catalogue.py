"""Which names CuPy has, and where: `names.txt` lists them by module."""

from __future__ import annotations

import importlib
import sys
from functools import cache
from pathlib import Path
from typing import Any

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


@cache
def names() -> dict[str, frozenset[str]]:
    """CuPy's public names by module."""
    text = Path(__file__).with_name("names.txt").read_text(encoding="utf-8")
    lines = (line.partition(": ") for line in text.splitlines() if line and not line.startswith("#"))
    return {module: frozenset(words.split()) for module, _, words in lines}


def missing(module: str) -> bool:
    """Whether CuPy has a module of this name, and the stand-in has not."""
    return any(module == name or module.startswith(name + ".") for name in _MISSING)


def absent(module: str, name: str, holder: str) -> AttributeError:
    """The error for a name that a module has not."""
    if name in names().get(module, ()) or missing(f"{module}.{name}"):
        short = f"{module}.{name}".removeprefix("cupy.")
        return AttributeError(f"breakeven's stand-in for cupy has no {short}")
    return AttributeError(f"{holder} has no attribute {name!r}")


def numpys(module: str, name: str) -> Any:
    """The stand-in's function for one of NumPy's, or of `scipy.special`; or None."""
    if module == "scipy.special":
        if name not in names().get("cupyx.scipy.special", ()):
            return None
        return getattr(importlib.import_module("cupyx.scipy.special"), name, None)
    home = "cupy" + module.removeprefix("numpy") if module.startswith("numpy") else "cupy"
    holder = sys.modules.get(home) or sys.modules["cupy"]
    return getattr(holder, name, None)
