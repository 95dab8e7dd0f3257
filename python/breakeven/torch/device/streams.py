"""Streams and events of a GPU that is imitated: what waits for what, and times that are this machine's."""

from __future__ import annotations

import sys

from ... import _native
from ...events import recorder
from ..describe import contexts
from ..session import GPU, session
from . import graphs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class State:
    """What changes while the script runs."""

    streams = 0


state = State()


def wait(name: str, stream: int | None) -> None:
    """The host waits for a stream, or all of them; or one stream waits for another."""
    if name.endswith(".synchronize") and (refused := graphs.wait_refused()) is not None:
        raise refused
    before = session.stream
    session.stream = stream
    try:
        with contexts.on_device():
            recorder.op(name, [], [], [], contexts.context(), 0, 0, True)
    finally:
        session.stream = before


class Stream:
    """A stream by its number, 0 for the default one; without a number, one of its own."""

    def __init__(self, device: Any = None, priority: int = 0, _number: int | None = None, **_: Any) -> None:
        if _number is None:
            state.streams += 1
            _number = state.streams
        self.stream_id = self.cuda_stream = self.native_handle = _number
        self.priority = priority
        self.device = sys.modules["torch"].device(GPU)
        self.device_index, self.device_type = self.device.index or 0, 1

    @staticmethod
    def priority_range() -> tuple[int, int]:
        return 0, -5

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream) and other.stream_id == self.stream_id

    def __hash__(self) -> int:
        return hash(self.stream_id)

    def __repr__(self) -> str:
        return f"<torch.cuda.Stream device={self.device} cuda_stream={self.cuda_stream:#x}>"

    def synchronize(self) -> None:
        wait("torch.cuda.Stream.synchronize", self.stream_id or None)

    def wait_stream(self, _: Any) -> None:
        wait("torch.cuda.Stream.wait_stream", self.stream_id or None)

    def wait_event(self, _: Any) -> None:
        wait("torch.cuda.Stream.wait_event", self.stream_id or None)

    def record_event(self, event: Any = None) -> Any:
        event = event or Event()
        event.record(self)
        return event

    def query(self) -> bool:
        return True

    def is_capturing(self) -> bool:
        return graphs.is_capturing()

    def __enter__(self) -> Any:
        return On(self).__enter__()

    def __exit__(self, *_: object) -> None:
        session.stream = None


class On:
    """`with torch.cuda.stream(s):`."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream

    def __enter__(self) -> Any:
        self.before = session.stream
        if self.stream is not None:
            session.stream = self.stream.stream_id or None
        return self.stream

    def __exit__(self, *_: object) -> None:
        session.stream = self.before


class Event:
    """An event that knows this machine's clock."""

    def __init__(self, device: Any = None, enable_timing: bool = False, *_: Any, **__: Any) -> None:
        # `torch.cuda.Event` takes no device, `torch.Event` does.
        self.timed = device is True or enable_timing
        self.at = 0

    def record(self, _: Any = None) -> None:
        self.at = _native.clock_ns()
        _native.marker("cuda.Event.record")

    def wait(self, _: Any = None) -> None:
        wait("torch.cuda.Stream.wait_event", session.stream)

    def synchronize(self) -> None:
        wait("torch.cuda.Event.synchronize", None)

    def query(self) -> bool:
        return True

    def elapsed_time(self, end: Event) -> float:
        if not (self.timed and end.timed):
            raise ValueError("Both events must be created with argument 'enable_timing=True'.")
        if not (self.at and end.at):
            raise ValueError("Both events must be recorded before calculating elapsed time.")
        return (end.at - self.at) * 1e-6
