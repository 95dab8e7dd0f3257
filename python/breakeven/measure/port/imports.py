"""`import numpy` in the user's own code gives the port's module; libraries keep the real one."""

from __future__ import annotations

import builtins
import sys
from typing import Any

from . import device, modules
from .counts import is_users

_PACKAGES = ("numpy", "scipy")


def install(stand_in: bool) -> None:
    """From now on the script is ported.

    Raises RuntimeError where CuPy is not installed, or finds no device.
    """
    device.begin(stand_in)
    plain = builtins.__import__

    def __import__(
        name: str, globals: Any = None, locals: Any = None, fromlist: Any = (), level: int = 0
    ) -> Any:
        module = plain(name, globals, locals, fromlist, level)
        if level == 0 and name.partition(".")[0] in _PACKAGES and _asks_for_it(globals):
            return modules.module(module)
        return module

    builtins.__import__ = __import__


def _asks_for_it(names: Any) -> bool:
    file = names.get("__file__") if isinstance(names, dict) else None
    return is_users(file if isinstance(file, str) else sys._getframe(2).f_code.co_filename)
