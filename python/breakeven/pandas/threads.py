"""Threads that do a part of one call: what they ask of NumPy or pandas meanwhile is that call's."""

from __future__ import annotations

import sys
from _thread import get_ident

from .. import _native

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

#: Threads that write a Parquet file: what others read of a frame meanwhile, pyarrow's do for them.
_writing: set[int] = set()


def write_begins(_args: tuple[Any, ...], _kwargs: dict[str, Any] | None) -> None:
    """A Parquet file is about to be written."""
    _writing.add(get_ident())


def write_ends() -> None:
    """It has been, or that raised."""
    _writing.discard(get_ident())


def reads_for_another() -> bool:
    """Whether another thread writes a file, and this one perhaps reads for it."""
    return bool(_writing) and get_ident() not in _writing


def hook_readers() -> None:
    """The pool that pandas reads parts of a CSV file with, where this version has one."""
    readers = sys.modules.get("pandas.io.parsers.readers")
    pool = getattr(readers, "ThreadPoolExecutor", None)
    if not isinstance(pool, type):
        return

    class Pool(pool):  # type: ignore[misc, valid-type]
        def submit(self, function: Any, /, *args: Any, **kwargs: Any) -> Any:
            return super().submit(_part, function, *args, **kwargs)

    Pool.__name__, Pool.__qualname__, Pool.__module__ = pool.__name__, pool.__qualname__, pool.__module__
    readers.ThreadPoolExecutor = Pool  # type: ignore[union-attr]


def _part(function: Any, /, *args: Any, **kwargs: Any) -> Any:
    token = _native.enter("pandas.read_csv", True) if _native.recording() else 0
    try:
        return function(*args, **kwargs)
    finally:
        if token:
            _native.leave(token, (), None)
