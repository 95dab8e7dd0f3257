"""`cupyx.allow_synchronize`: within it values that the host reads are an error."""

from __future__ import annotations

import contextlib
import threading
import warnings
from collections.abc import Iterator

_local = threading.local()


class DeviceSynchronized(RuntimeError):
    """What reads a value where that is not allowed raises."""

    def __init__(self, message: str | None = None) -> None:
        super().__init__(message or "Device synchronization was detected while disallowed.")


DeviceSynchronized.__module__ = "cupyx"


def declare() -> None:
    """Raises DeviceSynchronized where the host must not wait."""
    if not getattr(_local, "allowed", True):
        raise DeviceSynchronized


@contextlib.contextmanager
def allow_synchronize(allow: bool) -> Iterator[None]:
    """Whether the host may read what is on the device, in a block of this thread."""
    warnings.warn(
        "cupyx.allow_synchronize will be removed in future releases as it is not possible to reliably detect "
        "synchronizations.",
        stacklevel=3,
    )
    before = getattr(_local, "allowed", True)
    _local.allowed = allow
    try:
        yield
    finally:
        _local.allowed = before
