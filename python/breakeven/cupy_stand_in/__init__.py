"""A stand-in for CuPy on machines without a GPU: computes with NumPy, records what the program does with its GPU.

Only in a recorded process, and only where CuPy is not installed or no GPU is there. `offer` puts a finder in front of
all others; the modules are made when the program imports them.
"""

from __future__ import annotations

import os
import sys

from .. import _native

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType

#: What drivers of GPUs make: NVIDIA on Linux, in WSL, on Jetson; AMD.
_DEVICES = ("/dev/nvidiactl", "/dev/dxg", "/dev/nvhost-gpu", "/dev/kfd")


class _Finder:
    @staticmethod
    def find_spec(
        name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        package = name.partition(".")[0]
        if package not in ("cupy", "cupyx", "cupy_backends"):
            return None
        if package not in sys.modules and (package in name.split(".")[1:] or not _wanted(package)):
            return None
        import numpy  # its import is start-up here as in CuPy

        recorded = _native.recording() and numpy is not None
        if recorded:
            _native.stop()  # making the stand-in is no time of the program's
        try:
            from . import loading

            return loading.spec(name)
        finally:
            if recorded:
                _native.start()


def offer() -> None:
    """From now on `import cupy` finds the stand-in, where the real one cannot work."""
    if _Finder not in sys.meta_path:
        sys.meta_path.insert(0, _Finder)


def _wanted(package: str) -> bool:
    other = sys.modules.get("cupy") or sys.modules.get("cupyx")
    if other is not None:
        return getattr(other, "__breakeven__", False)
    return _asked_by_user() and not (_installed() and any(map(os.path.exists, _DEVICES)))


def _installed() -> bool:
    """Whether there is a real CuPy."""
    for finder in sys.meta_path:
        if finder is not _Finder and finder.find_spec("cupy", None, None) is not None:
            return True
    return False


def _asked_by_user() -> bool:
    """Whether the program's own code imports it: a library that tries what is there goes on without."""
    frame = sys._getframe(1)
    while frame is not None:
        file = frame.f_code.co_filename
        if not file.startswith("<frozen importlib") and "/breakeven/" not in file and "/importlib/" not in file:
            return "/site-packages/" not in file and "/dist-packages/" not in file
        frame = frame.f_back  # type: ignore[assignment]
    return False
