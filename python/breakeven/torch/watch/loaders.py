"""Data loaders: their phase, the processes and threads that they begin, the batches that these make."""

from __future__ import annotations

from ... import _native
from ...events import recorder
from ...process import endings
from .. import dispatch_mode
from ..describe import likes, storages
from ..device import processes
from ..session import session
from ..steps import sampler

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class State:
    """What changes while the script runs."""

    #: In a process that makes batches for a script: what it has made.
    of_worker: dict[str, int] | None = None


state = State()


def begin_worker(_: str, __: tuple[Any, ...]) -> None:
    """This process loads data beside the script: what the script waits for it is seen there."""
    recorder.unseen(
        "loader-process", "processes of a DataLoader worked beside the script: only how long a batch took is known"
    )
    state.of_worker = {"workers": 1, "batches": 0, "ns": 0}
    while _native.recording():
        _native.stop()

    dispatch_mode.pause()
    processes.loads()


def begin_batch(_: str, __: tuple[Any, ...]) -> int:
    return _native.clock_ns() if state.of_worker is not None else 0


def end_batch(began: int, _: tuple[Any, ...], result: Any, *__: Any) -> None:
    """A worker has made a batch: how many so far, and how long they took in all."""
    if state.of_worker is None or result is None:
        return
    from torch.utils.data import get_worker_info

    state.of_worker["workers"] = get_worker_info().num_workers
    state.of_worker["batches"] += 1
    state.of_worker["ns"] += _native.clock_ns() - began
    told = ", ".join(f'"{name}": {value}' for name, value in state.of_worker.items())
    _native.set_program(f'{{"loaders": {{{told}}}}}')
    endings.write_sparingly(share=0.03)


def begin_loader(_: str, __: tuple[Any, ...]) -> tuple[str | None, _native.Moment | None]:
    return enter_phase("data"), sampler.turn_begins()


def end_loader(before: tuple[str | None, _native.Moment | None], *_: Any) -> None:
    phase, since = before
    end_phase(phase)
    sampler.turned(since)


def begin_data(_: str, arguments: tuple[Any, ...]) -> tuple[str | None, bool, int, _native.Moment | None]:
    sampler.goes_on()
    phase, before = enter_phase("data"), _native.loading(True)
    # A batch that this process makes is what makes it; one that others make is waited for.
    waits = hasattr(arguments[0], "_workers")
    # The first one is there when processes have begun.
    since = sampler.turn_begins() if waits and arguments[0]._num_yielded == 0 else None
    return phase, before, _native.enter("torch.utils.data.DataLoader.__next__") if waits else 0, since


def end_data(
    before: tuple[str | None, bool, int, _native.Moment | None], _: tuple[Any, ...], result: Any, *__: Any
) -> None:
    phase, loading, token, since = before
    if token:
        _native.leave(token, (), None if result is None else ())
    end_phase(phase)
    _native.loading(loading)
    sampler.turned(since)
    if likes.shared and sampler.state.skipping:
        _know_batch(result)


def _know_batch(value: Any) -> None:
    """What a loader gave unwatched is the host's, though steps make the like."""
    for tensor in storages.flat(list(value.values()) if isinstance(value, dict) else value):
        if likes.is_shared(tensor):
            storages.stored(tensor, False, likes.OF_HOST)


def enter_phase(phase: str) -> str | None:
    before = session.phase
    session.phase = phase
    return before


def end_phase(before: str | None) -> None:
    session.phase = before
