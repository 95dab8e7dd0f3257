"""A stand-in for CuPy on machines without a GPU: computes with NumPy, records what the program does with its GPU.

Only in a recorded process, and only where CuPy is not installed, no GPU is there, or one is named to be imitated.
`offer` puts a finder in front of all others; the modules are made when the program imports them. Of a real CuPy nothing
is seen but that the program uses it.
"""

from __future__ import annotations

import os
import sys

from .. import _native
from ..process import imports, program, warned

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType


PACKAGES = ("cupy", "cupyx", "cupy_backends")
#: What drivers of GPUs make: NVIDIA on Linux, in WSL, on Jetson; AMD.
_DEVICES = ("/dev/nvidiactl", "/dev/dxg", "/dev/nvhost-gpu", "/dev/kfd")
#: Code between an import and who asks for it: Python's, and this package's. A program's folder may have their names.
_IMPORTING = (
    "<frozen importlib",
    os.path.join(os.path.dirname(os.__file__), "importlib", ""),
    os.path.join(os.path.dirname(os.path.dirname(__file__)), ""),
)


class _Finder:
    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> ModuleSpec | None:
        package = name.partition(".")[0]
        if package not in PACKAGES:
            return None
        if not _wanted():
            return None
        import numpy  # its import is start-up here as in CuPy

        recorded = _native.recording() and numpy is not None
        if recorded:
            _native.stop()  # making the stand-in is no time of the program's
        try:
            from . import loading

            warned.name_the_script()
            return loading.spec(name)
        finally:
            if recorded:
                _native.start()


def offer() -> None:
    """From now on `import cupy` finds the stand-in, where the real one cannot work."""
    if _Finder not in sys.meta_path:
        sys.meta_path.insert(0, _Finder)


def _wanted() -> bool:
    for package in PACKAGES:
        if package in sys.modules:  # its other parts are of the same make
            return _is_ours(sys.modules[package])
    return asked_by_user() and (_named() or not (_installed() and _has_gpu()))


def _named() -> bool:
    """Whether a GPU is named that is to be imitated."""
    return bool(os.environ.get("BREAKEVEN_PRETEND_GPU"))


def real() -> None:
    """CuPy has been imported: what it does on a GPU is not seen, if it is no stand-in."""
    cupy = sys.modules["cupy"]
    if _is_ours(cupy) or not (asked_by_user() and _has_gpu()):
        return
    program.add_version("cupy", str(cupy.__version__))
    text = (
        "CuPy ran on this machine's own GPU, and nothing of that was seen: `--pretend-gpu NAME` records the script "
        "with "
        "a stand-in for CuPy, on the CPU"
    )
    _native.unseen("gpu-not-watched", text)


def _is_ours(module: ModuleType) -> bool:
    return "__breakeven__" in getattr(module, "__dict__", ())


def _has_gpu() -> bool:
    return any(map(os.path.exists, _DEVICES))


def _installed() -> bool:
    """Whether there is a real CuPy."""
    for finder in sys.meta_path:
        if finder not in (_Finder, imports.Finder) and finder.find_spec("cupy", None, None) is not None:
            return True
    return False


def asked_by_user() -> bool:
    """Whether the program's own code imports it: a library that tries what is there goes on without."""
    frame = sys._getframe(1)
    while frame is not None:
        file = frame.f_code.co_filename
        if not file.startswith(_IMPORTING):
            return "/site-packages/" not in file and "/dist-packages/" not in file
        frame = frame.f_back  # type: ignore[assignment]
    return False
