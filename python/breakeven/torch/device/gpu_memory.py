"""The memory of an imitated GPU, and the error where it has run out."""

from __future__ import annotations

import functools
import sys

from ... import _native
from ...events import recorder
from ...process import caught
from .. import frames
from ..describe import optimizer_state, storages
from ..session import session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class State:
    """What changes while the script runs."""

    #: How often there was no room.
    refusals = 0


state = State()


def resizes(plain: Any) -> Any:
    """`UntypedStorage.resize_`, which passes no dispatcher: what it takes or gives back is the GPU's at once."""

    @functools.wraps(plain)
    def resize_(storage: Any, size: Any) -> Any:
        known = storages.alive.get(storage._cdata)
        if known is None or known.device == "cpu" or not isinstance(size, int):
            return plain(storage, size)
        _native.storage_resized(known.id, size)
        if (refused := room()) is not None:
            raise refused
        try:
            return plain(storage, size)
        finally:
            known.bytes = storage.nbytes()
            if known.bytes != size:  # it could not be
                _native.storage_resized(known.id, known.bytes)

    return resize_


def forget_refusals() -> None:
    """Count them anew."""
    state.refusals = 0


def room() -> Any:
    """Nothing, or the error that the GPU's allocator would raise."""
    refused = _native.storage_refused()
    if refused is None:
        return None
    state.refusals += 1
    optimizer_state.no_room()
    (live, _), gpu = _native.storage_bytes(), session.imitated
    if not caught.would_be_caught("Exception", "RuntimeError", "OutOfMemoryError"):
        at = frames.script_line()
        text = f"the script runs out of the GPU's memory ({at}): --pretend-gpu of one with more shows what it needs"
        recorder.unseen("no-room", text)
    return session.torch.cuda.OutOfMemoryError(
        f"CUDA out of memory. Tried to allocate {_readable(refused)}. GPU 0 has a total capacity of "
        f"{_readable(gpu['memory'])} of which "
        f"{_readable(gpu['usable'] - live)} is free. Including non-PyTorch memory, this process has {_readable(live)} "
        f"memory in use. Of the "
        f"allocated memory {_readable(live)} is allocated by PyTorch, and 0 bytes is reserved by PyTorch but "
        f"unallocated."
    )


def recording_ends() -> None:
    """A script that no error ends has done without what there was no room for."""
    if not hasattr(sys, "last_value"):
        _native.storage_done_without()


def _readable(count: int) -> str:
    """Bytes as the GPU's allocator prints them."""
    for unit, name in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if count > unit:
            return f"{count / unit:.2f} {name}"
    return f"{count} bytes"
