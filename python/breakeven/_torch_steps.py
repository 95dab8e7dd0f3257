"""Loops that repeat: after some equal steps the next ones are counted without being watched.

A step ends with the optimizer's, or with the outermost module's call where there is no optimizer. Once three rounds
are equal (a round may be up to four steps, as when two networks are trained in turn) the dispatch mode is taken off
the stack. From then on a step is compared by what costs next to nothing: the shapes and types of what the outermost
module is given, whether it trains, how often modules are called, how many graph nodes are made, how long it
takes. What differs is watched from there on, and from time to time a round is watched
anyway.
"""

from __future__ import annotations

import os
import sys
import threading

from . import _native, _torch_ops

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

#: No ops are seen now.
skipping = False
#: There was a step whose ops were not seen.
unwatched = False

_ROUNDS = 3
_LONGEST_PERIOD = 4
#: A step that took so much more of the processor than the others, and 2 ms, is not like them; nor is one that took so
#: much more time, and 200 ms, without its threads' waiting for a processor that other programs had. That is asked
#: no more often than every 50 ms.
_LONGER = 3.0
_ASKED_NS = 50_000_000
_NOISE_NS, _WAIT_NS = 2_000_000, 200_000_000
#: The processor's time takes longer to read than the rest: steps for whose sake it is not, at most, and how long one of
#: them may be. So many processors cannot have spent more than the noise on it.
_UNREAD = 8
_SHORT_NS = _NOISE_NS // (os.cpu_count() or 1)
#: Steps that go unwatched at most before a round is watched again, and at first.
_MOST, _FIRST = 1024, 96

_hashes: list[int] = []
_signals: list[Any] = []
_shapes: list[Any] = []
_began = _busy = 0
#: What all threads had waited for a processor, and when that was asked.
_waited = _asked = 0
#: Steps since the processor's time was read.
_unread = 0
_nodes = _calls = 0
_period = 0
_at = 0
_left = 0
_stretch = _FIRST
_optimizer = False
_before_root = False
#: The thread whose steps go unwatched.
_thread = 0


def begins(module: Any, args: tuple[Any, ...]) -> None:
    """The outermost module is about to be called."""
    global _before_root
    if not _optimizer and _before_root:
        _end()
    given = [(a.shape, a.dtype) if hasattr(a, "shape") else type(a) for a in args[1:]]
    _shapes.append((id(module), module.training, given))
    if skipping and not _as_expected():
        _notice()
    _before_root = True


def optimizer_stepped() -> None:
    """An optimizer has made its step."""
    global _optimizer
    if not _optimizer and _before_root:
        _optimizer = True
        _reset()
        _native.step_end(False)
        return
    _optimizer = True
    _end()


def _as_expected() -> bool:
    expected = _signals[_at][0]
    return len(_shapes) <= len(expected) and _shapes[-1] == expected[len(_shapes) - 1]


def _reset() -> None:
    """A step begins that is going to be watched, or is the first that is not."""
    global _began, _busy, _unread, _calls, _nodes, _waited, _asked
    _shapes.clear()
    _began, _calls = _native.step_clock()
    if _began - _asked > _ASKED_NS:
        _waited, _asked = _native.waited_ns(), _began
    _busy, _unread, _nodes = _native.cpu_ns(), 0, _sequence()


def _sequence() -> int:
    return sys.modules["torch._C"]._autograd._get_sequence_nr()  # type: ignore[no-any-return]


def _end() -> None:
    """A step ends here."""
    global _began, _calls, _nodes
    if not _native.recording():
        return
    now, calls = _native.step_clock()
    nodes = _sequence()
    if not skipping:
        _watch((list(_shapes), calls - _calls, nodes - _nodes), now - _began)
        return _reset()
    # What the outermost modules were given was as expected so far, or nobody would be skipping.
    shapes, expected_calls, expected_nodes = _signals[_at]
    same = len(_shapes) == len(shapes) and calls - _calls == expected_calls and nodes - _nodes == expected_nodes
    took = now - _began
    _shapes.clear()
    _began, _calls, _nodes = now, calls, nodes
    _count(same, took)


def _watch(signal: Any, took: int) -> None:
    global skipping, unwatched, _period, _at, _left, _thread
    _hashes.append(_native.step_end(True))
    _signals_seen.append(signal)
    for kept in (_hashes, _signals_seen):
        del kept[: -_ROUNDS * _LONGEST_PERIOD]
    _period = _repeats()
    if _period:
        from . import _torch, _torch_reads

        if _torch.pause():
            skipping = unwatched = True
            _thread = threading.get_ident()
            _native.leave_unwatched(True, int(_LONGER * took) + _NOISE_NS)
            _torch_reads.watch_single(True)
            _signals[:] = _signals_seen[-_period:]
            _at, _left = 0, _stretch
            _usual.clear()
            _usual_at.clear()


_signals_seen: list[Any] = []
#: Processor time and time of unwatched steps.
_usual: list[tuple[int, int]] = []
#: Their medians, brought up to date now and then.
_usual_at: list[int] = []


def _repeats() -> int:
    """How many steps make a round, 0 where the last ones were not equal rounds."""
    for period in range(1, _LONGEST_PERIOD + 1):
        count = _ROUNDS * period
        if len(_hashes) < count:
            return 0
        recent, told = _hashes[-count:], _signals_seen[-count:]
        if 0 not in recent and all(
            recent[i] == recent[i - period] and told[i] == told[i - period] for i in range(period, count)
        ):
            return period
    return 0


def _count(same: bool, took: int) -> None:
    """A step went unwatched."""
    global _at, _left, _stretch
    valueless = _torch_ops.valueless
    extra = 0 if valueless else _beyond(took)
    _native.step_again(_period - _at, took - extra, valueless)
    if extra or not same:
        what = "did something else" if not same else "took longer"
        text = f"a step of a loop that had been steady {what} while ops were not watched; those after it were"
        _native.unseen("step-differs", text, extra)
    _at = (_at + 1) % _period
    _left -= 1
    if extra or not same:
        _notice()
    elif _left <= 0 and _at == 0:
        _stretch = min(_stretch * 2, _MOST)
        _notice(again=True)


def _beyond(took: int) -> int:
    """How much longer than the others a step took, where that is no noise; else 0, and it is one of the others."""
    global _busy, _unread, _waited, _asked
    if _usual_at and took < _SHORT_NS and _unread < _UNREAD:
        _unread += 1
        return 0
    now, unread = _native.cpu_ns(), _unread
    spent = now - _busy
    _busy, _unread = now, 0
    waited = 0
    if _began - _asked > _ASKED_NS:
        waits = _native.waited_ns()
        waited, _waited, _asked = waits - _waited, waits, _began
    if _usual_at:
        usual_busy, usual_took = _usual_at
        busy = spent - unread * usual_busy
        if busy > _LONGER * usual_busy + _NOISE_NS or took - waited > _LONGER * usual_took + _WAIT_NS:
            return max(0, took - usual_took)
    _usual.append((spent // (unread + 1), took))
    if len(_usual) in (5, 15):
        _usual_at[:] = (sorted(times)[len(_usual) // 2] for times in zip(*_usual))
        del _usual[15:]
    elif len(_usual) > 30:
        _usual.clear()
    return 0


def left_loop() -> None:
    """No step has ended for long, and tensors come and go: watch what comes after the loop, if it is over."""
    if not skipping or threading.get_ident() != _thread or not _native.recording():
        return
    now, calls = _native.step_clock()
    _, expected, _ = _signals[_at]
    if _optimizer and _shapes or not _optimizer and calls - _calls < expected:
        return  # A step is going on.
    usual = _usual_at[0] if _usual_at else 0
    if _native.cpu_ns() - _busy <= (_unread + _LONGER) * usual + _NOISE_NS:
        return
    if _optimizer:
        text = "what came after the last step of a loop was not watched at first"
        _native.unseen("step-differs", text, now - _began)
        _notice()
    else:
        _end()


def recording_ends() -> None:
    """The last step of a loop without an optimizer ends with the program."""
    if skipping and _before_root and not _optimizer:
        _end()


def _notice(again: bool = False) -> None:
    """Watch from here on; `again`: for one round, where nothing has changed."""
    global skipping, _stretch
    from . import _torch, _torch_reads

    skipping = False
    _native.leave_unwatched(False)
    _torch_reads.watch_single(False)
    _torch_reads.know_placed()
    _torch.resume()
    if again:
        # One equal round is enough to go on.
        del _hashes[: -(_ROUNDS - 1) * _period]
        del _signals_seen[: -(_ROUNDS - 1) * _period]
    else:
        _stretch = _FIRST
        _hashes.clear()
        _signals_seen.clear()
        _native.step_end(False)
