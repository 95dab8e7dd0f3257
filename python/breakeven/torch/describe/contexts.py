"""Phase, device, stream and module path of an op, as one number; copies between host and device."""

from __future__ import annotations

from ... import _native
from ...events import recorder
from ..session import GPU, no_gpu, session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_contexts: dict[tuple[str | None, str | None, int | None, str | None, str | None, bool], int] = {}


class on_device:
    """New storages and ops are on this device, where one is imitated."""

    def __init__(self, name: str = GPU) -> None:
        self.name = name

    def __enter__(self) -> None:
        self.before = session.device
        if session.device is not None:
            session.device = self.name

    def __exit__(self, *_: object) -> None:
        session.device = self.before


def use_stream(number: int | None) -> None:
    """Ops go to this stream from now on; None: the default one."""
    session.stream = number


def crossed(name: str, inputs: list[Any], outputs: list[Any], apart: bool = True) -> None:
    """Arrays were copied between host and GPU; `apart`: in whatever step, told each time."""
    with on_device():
        recorder.op(name, inputs, outputs, [], context(), 0, 0, apart)


def context(given: dict[str, Any] | None = None, there: str | None = None, aside: bool = False) -> int:
    """The number of the phase, device, stream and module path as they are now; `there` is a real GPU, what stays
    `aside` is the host's."""
    now = session.phase
    if session.path and now not in ("backward", "data"):
        now = "forward"
    elif now is None and given is not None:
        if any(getattr(value, "requires_grad", False) for value in given.values()):
            now = "forward"
    imitated = session.device is not None and session.device != "cpu"
    if aside and no_gpu.aware:
        now, aside = "data", False
    elif now == "data" and given is not None and no_gpu.aware:
        now = None  # a loader's, of a set that is on the device
    key = (
        now,
        session.device if imitated else there,
        session.stream if imitated else None,
        session.path[-1] if session.path else None,
        session.graph,
        aside,
    )
    number = _contexts.get(key)
    if number is None:
        number = _contexts[key] = _native.tensor_context(*key)
    return number
