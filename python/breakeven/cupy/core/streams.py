"""Streams, events, and the current device: `cupy.cuda.Stream`, `Event`, `Device`."""

from __future__ import annotations

import os
import threading
from typing import Any

from ... import _native
from . import shared


class State:
    """What changes while the script runs."""

    #: What calls have to do with a CUDA graph now: `capture`, `node`.
    graph: str | None = None
    #: Who was given work since the default stream and those that block had to do with each other.
    null_works = False
    blocking_works = False
    #: Whether the program has had memory of the device.
    used = False


works = State()


_DEVICE = "cuda:0"


class CUDARuntimeError(RuntimeError):
    """An error of the CUDA runtime by its number."""

    _NAMES = {
        1: ("InvalidValue", "invalid argument"), 2: ("MemoryAllocation", "out of memory"),
        3: ("InitializationError", "initialization error"),
        101: ("InvalidDevice", "invalid device ordinal"), 400: ("InvalidResourceHandle", "invalid resource handle"),
        900: ("StreamCaptureUnsupported", "operation not permitted when stream is capturing"),
        901: ("StreamCaptureInvalidated", "operation failed due to a previous error during capture"),
    }  # fmt: skip

    def __init__(self, status: int) -> None:
        self.status = status
        name, text = self._NAMES.get(status, ("Unknown", "unknown error"))
        super().__init__(f"cudaError{name}: {text}")

    def __reduce__(self) -> Any:
        return type(self), (self.status,)


CUDARuntimeError.__module__ = "cupy_backends.cuda.api.runtime"


def mark(name: str, number: int) -> None:
    """An op of the host and the device without arrays, under a tag."""
    _native.leave(_native.enter(name, True), (), (), None, number)


#: The numbers of streams by where they lie, as far as programs can tell; CUDA's own addresses are the default stream's.
_numbers = {0: 0, 1: 0, 2: 0}


def wait_tag(ptr: int) -> int:
    """The recorder's number for waits for the stream at an address."""
    return ExternalStream(ptr)._wait_tag


class Stream:
    """A stream. Work of the default one and of those that block keeps the order in which it was given."""

    null: Stream
    ptds: Stream

    def __init__(
        self, null: bool = False, non_blocking: bool = False, ptds: bool = False, priority: int | None = None
    ) -> None:
        self._before: list[Stream] = []
        number = 0 if null or ptds else _next_number()
        self._lie(0 if number == 0 else 0x5EED0000 + number * 0x100, number)
        self.null_ = null
        self.non_blocking = non_blocking
        self.priority = priority or 0
        self.device_id = 0

    def _lie(self, ptr: int, number: int) -> None:
        self.ptr, self._number = ptr, number
        _numbers[ptr] = number
        self._tag = _native.device_tag(_DEVICE, number or None)
        self._wait_tag = _native.device_tag(_DEVICE, number)

    def __enter__(self) -> Stream:
        self._before.append(current())
        return self.use()

    def __exit__(self, *error: object) -> None:
        _thread.stream = self._before.pop()

    def use(self) -> Stream:
        _thread.stream = self
        return self

    def synchronize(self) -> None:
        refuse_reading()
        mark("cupy.cuda.Stream.synchronize", self._wait_tag)

    @property
    def done(self) -> bool:
        return True

    @property
    def is_non_blocking(self) -> bool:
        return self.non_blocking

    def graph_tag(self, part: str) -> int:
        """The recorder's number for this stream and a part of a CUDA graph."""
        return _native.device_tag(_DEVICE, self._number or None, part)

    def is_capturing(self) -> bool:
        return shared.state.capturing is not None and _thread.stream is self

    def begin_capture(self, mode: Any = None) -> None:
        _begin(self)

    def end_capture(self) -> Any:
        return _end()

    @staticmethod
    def from_external(obj: Any) -> Stream:
        return ExternalStream(int(getattr(obj, "ptr", 0)))

    def record(self, event: Event | None = None) -> Event:
        event = Event() if event is None else event
        event.record(self)
        return event

    def wait_event(self, event: Event) -> None:
        if not hasattr(event, "ptr"):
            raise AttributeError(f"{type(event).__name__!r} object has no attribute 'ptr'")
        mark("cupy.cuda.Stream.wait_event", self._wait_tag)

    def launch_host_func(self, callback: Any, arg: Any) -> None:
        callback(arg)

    def add_callback(self, callback: Any, arg: Any) -> None:
        callback(self, 0, arg)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream) and self.ptr == other.ptr

    def __hash__(self) -> int:
        return hash((self.ptr, self._number))

    def __repr__(self) -> str:
        return f"<Stream {self.ptr} (device {self.device_id})>"


Stream.__module__ = "cupy.cuda.stream"
Stream.null = Stream(null=True)
Stream.ptds = Stream(ptds=True)


class ExternalStream(Stream):
    """A stream of another library's, by its address."""

    def __init__(self, ptr: int, device_id: int = -1) -> None:
        super().__init__(null=True, non_blocking=True)
        self.null_ = ptr == 0
        self._lie(ptr, _numbers[ptr] if ptr in _numbers else _next_number())


def _next_number() -> int:
    return max(_numbers.values()) + 1


class _Thread(threading.local):
    stream = Stream.null


_thread = _Thread()
_behind: set[int] = set()


def current() -> Stream:
    """The stream that work of this thread is given to now."""
    return _thread.stream


def tag() -> int:
    """The recorder's number for the current stream; tells where it has to wait for another.

    CUDA's default stream waits for every stream that blocks, and each of those for it.
    """
    stream = _thread.stream
    if works.graph is not None:
        return stream.graph_tag(works.graph)
    if stream._number == 0:
        if works.blocking_works:
            mark("cupy.cuda.Stream.wait_event", stream._wait_tag)
            works.blocking_works = False
        works.null_works = True
        _behind.clear()
    elif not stream.non_blocking:
        if works.null_works and stream._number not in _behind:
            mark("cupy.cuda.Stream.wait_event", stream._wait_tag)
            _behind.add(stream._number)
        works.blocking_works = True
    return stream._tag


def _lost(*_: Any) -> int:
    raise CUDARuntimeError(3)


def _forked() -> None:
    """CUDA does not live on in a forked process, once its parent has used it."""
    global mark, tag
    if works.used:
        mark = tag = _lost  # type: ignore[assignment]


os.register_at_fork(after_in_child=_forked)


class Event:
    """A point in a stream. Its time is that of this machine."""

    def __init__(self, block: bool = False, disable_timing: bool = False, interprocess: bool = False) -> None:
        if interprocess and not disable_timing:
            raise ValueError("Timing must be disabled for interprocess events")
        self._at: int | None = None
        self._timed = not disable_timing
        self._stream = Stream.null
        self.ptr = id(self)

    @property
    def done(self) -> bool:
        return True

    def record(self, stream: Stream | None = None) -> None:
        self._stream = stream or current()
        self._at = _native.clock_ns()
        _native.marker("cuda.Event.record")

    def synchronize(self) -> None:
        mark("cupy.cuda.Event.synchronize", self._stream._wait_tag)


Event.__module__ = "cupy.cuda.stream"


def elapsed_time(start: Event, end: Event) -> float:
    """From one event to another, ms."""
    if start._at is None or end._at is None or not (start._timed and end._timed):
        raise CUDARuntimeError(400)
    return (end._at - start._at) * 1e-6


def _begin(stream: Stream) -> None:
    """Capture what the stream is given from now on."""
    if stream._number == 0:
        raise RuntimeError("cannot capture on the default (legacy) stream")
    if shared.state.capturing is not None:
        raise CUDARuntimeError(901)
    shared.state.capturing = shared.state.new_graph()
    works.graph = "capture"


def _end() -> Any:
    """The graph of what was captured."""
    captured = shared.state.capturing
    if captured is None:
        raise CUDARuntimeError(901)
    shared.state.capturing = works.graph = None
    shared.quietly(captured.end)
    return captured


def refuse_reading() -> None:
    """The host cannot wait for what is only written down."""
    if shared.state.capturing is not None:
        raise CUDARuntimeError(900)
