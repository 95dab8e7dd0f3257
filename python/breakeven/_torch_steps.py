"""Loops that repeat: after some equal steps the next ones are counted without being watched.

A step ends with the optimizer's, or with the outermost module's call where there is no optimizer. Once three rounds
are equal (a round may be up to four steps, as when two networks are trained in turn) the dispatch mode is taken off
the stack. From then on a step is compared by what costs next to nothing: the shapes and types of what the outermost
module is given, or without one those that the gradient goes through first, whether it trains, how often modules are
called, how many graph nodes are made, how much memory PyTorch asks for, how long it takes. What differs is watched from there on, and from time to time
a round is watched anyway. Where PyTorch is called on a path through the script that no step took (after the loop, say, or between two
epochs) the ops are seen until steps go on; so it is where a network is called for no gradient between two steps.
"""

from __future__ import annotations

import itertools
import os
import sys
import threading

from . import _native, _torch, _torch_aside, _torch_ops, _torch_unwatched

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

#: No ops are seen now.
skipping = False
#: Ops are seen, of which only those count that steps do not do: the others are counted when their step ends.
aside = False
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
#: Threads that have waited for a processor for so much of the time are kept from running by other programs. What then takes
#: twice as long as one of the faster steps, of so many, was among those.
_WAITING, _TWICE, _FAST = 0.1, 2.0, 16
#: The system tells a wait when it is over: so much may have begun before the step.
_LAG_NS = 200_000_000
#: Nodes of the graph whose shapes are compared.
_GRADIENTS = 8
#: What is told of a step whose ops were not seen, or not all, when it turned out to do something else.
_IN_PART = "a step of a loop that had been steady did something else, a part of it unwatched"
#: How often something else may be done before it is asked whether the loop is a steady one.
_MANY = 8
#: Of what a module is given so many parts are compared, and so many levels of what holds others.
_PARTS, _LEVELS = 64, 4
#: Unwatched steps that asked the same of PyTorch, after which another that did not has done something else; and how often that
#: may be found of steps that turn out to do what they did before.
_AGREED, _DOUBTS = 3, 8
#: Bytes that a step may keep for ever and go unwatched; what it does keep is found by looking at all tensors then.
_GROWTH = 64 << 10
#: Steps that go unwatched at most before a round is watched again, and at first.
_MOST, _FIRST = 1024, 96
#: What watching a round takes may be so much of what the steps took that went unwatched before it.
_FOR_WATCHING = 0.02

_hashes: list[int] = []
_signals: list[Any] = []
_shapes: list[Any] = []
_began = _busy = 0
#: What the recorder itself had taken unwatched when it began, ns.
_own = 0
#: For so much of the time since it began it is known what was done: ops were seen, or a loader began or ended an epoch, ns.
_known = 0
#: A loader begins or ends an epoch now.
_turning = False
#: What all threads had waited for a processor, and when that was asked.
_waited = _asked = 0
#: Steps since the processor's time was read.
_unread = 0
_nodes = _calls = 0
#: What had been asked of PyTorch when the step began; without values, elements that its ops gave.
_before = computed = 0
#: At each place of a round what unwatched steps asked last, and how many in a row did.
_asks: dict[int, tuple[int, int]] = {}
#: Steps are watched since one asked for something else; how often they did the same then as before; what they did before.
_suspected, _doubts, _settled = False, 0, frozenset[int]()
_period = 0
_at = 0
_left = 0
_stretch = _FIRST
#: What the last step that was watched took, and when steps went unwatched, ns.
_took_watched = _since = 0
#: For how long a loop whose steps go unwatched is not looked for its end, ns.
_longest = 0
#: How often something else was done than steps do, and steps, since they went unwatched.
_asides = _counted = 0
#: In the step that goes on something else was done.
_mixed = False
_optimizer = False
#: An optimizer has made its step while gradients were being computed.
_within_backward = False
_before_root = False
#: The thread whose steps go unwatched.
_thread = 0
#: Threads that the script has begun and that make no steps: what they do is always seen, and part of no step.
_beside: set[int] = set()


def unseen() -> bool:
    """Whether the ops of this thread are not seen now."""
    return skipping and not is_beside()


def is_beside() -> bool:
    """Whether this thread works beside the one that makes steps."""
    return bool(_beside) and threading.get_ident() in _beside


def begin_beside() -> None:
    """A thread begins that the script has asked for."""
    _beside.add(threading.get_ident())
    _native.beside(True)


def leave_out() -> tuple[int, ...]:
    """What comes next is told by itself until `left_out`, in a step that goes on unwatched."""
    _native.no_gap()
    return _native.clock_ns(), _native.cpu_ns(), *_native.step_clock()[2:]


def left_out(since: tuple[int, ...]) -> None:
    """The time since then is none of the step's, nor is what was asked for."""
    global _began, _busy, _before, _own
    now = _native.clock_ns(), _native.cpu_ns(), *_native.step_clock()[2:]
    clock, busy, asked, own = (there - here for there, here in zip(now, since))
    _began, _busy, _before, _own = _began + clock, _busy + busy, _before + asked, _own + own


def thread_ends() -> None:
    """It ends, and with it a loop that it runs."""
    if (skipping or aside) and threading.get_ident() == _thread:
        _notice()
    end_beside()


def end_beside() -> None:
    """It makes steps itself, or ends."""
    _beside.discard(threading.get_ident())
    _native.beside(False)


def begins(module: Any, args: tuple[Any, ...]) -> None:
    """The outermost module is about to be called."""
    global _before_root, _calls, _nodes
    if _beside and is_beside() and (skipping or aside or _optimizer):
        return
    if not _optimizer and _before_root:
        _end()
    known = _native.of_steps()
    if (skipping or aside) and not known and _evaluates(module):
        step_aside(0)
        return
    if _mixed and not _shapes:
        # What was done before it is none of the step's.
        _, _calls, *_ = _native.step_clock()
        _nodes = _sequence()
    with sys.modules["torch"]._C.DisableTorchFunction():  # the script does not ask
        given = _alike(args)
    shape = id(module), module.training, given
    if not (skipping or aside):
        _native.step_calls()
    elif not (known and _as_expected(shape)):
        told = skipping and bool(_shapes)
        if told:
            _native.unseen("step-differs", _IN_PART, _native.step_clock()[0] - _began)
        _notice(told=told)
    elif aside:
        _skip_the_rest()
    _shapes.append(shape)
    _before_root = True


def _alike(given: Iterable[Any], levels: int = _LEVELS) -> list[Any]:
    """What is compared of what a module is given: shapes and types of arrays, also in lists, dictionaries and objects; types of
    the rest. No code of the script's runs for it."""
    told: list[Any] = []
    torch = sys.modules["torch"]
    for value in itertools.islice(given, _PARTS):
        kind = type(value)
        if kind is torch.Tensor:
            told.append((value.shape, value.dtype))
        elif issubclass(kind, torch.Tensor) or kind.__module__ == "numpy":
            told.append((getattr(value, "shape", kind), getattr(value, "dtype", kind)))
        elif levels and (kind is list or issubclass(kind, tuple)):
            told.append(_alike(value if issubclass(kind, list) else tuple.__iter__(value), levels - 1))
        elif levels and not issubclass(kind, (type, torch.nn.Module)):
            told += kind, _alike(_held(value), levels - 1)
        else:
            told.append(kind)
    return told


def _held(value: Any) -> Iterable[Any]:
    """Arrays, dictionaries and objects that an object has as attributes, or a dictionary as values; not lists, which grow."""
    if not isinstance(value, dict):
        try:
            value = object.__getattribute__(value, "__dict__")
        except AttributeError:
            return ()
    return [part for part in dict.values(value) if not isinstance(part, (int, float, str, list, tuple, type(None)))]


def _evaluates(module: Any) -> bool:
    """Whether a network is called for no gradient, between steps that an optimizer ends."""
    return _optimizer and not _shapes and not (module.training and sys.modules["torch"].is_grad_enabled())


def backward_begins(_: str, args: tuple[Any, ...]) -> None:
    """A gradient is about to be computed: in a step that calls no module, the shapes that it goes through first tell what
    the step was given."""
    if not _optimizer or _beside and is_beside():
        return
    if _mixed and (skipping or aside) and _sequence() - _nodes > _signals[_at][2] and threading.get_ident() == _thread:
        # What else was done has gradients of its own, which the step that is known has not.
        _notice(before=True)
    if _shapes:
        return
    shapes: list[Any] = []
    with sys.modules["torch"]._C.DisableTorchFunction():
        node = next((one.grad_fn for one in args[0] if one.grad_fn is not None), None)
        while node is not None and len(shapes) < _GRADIENTS:
            shapes.append([tuple(given.shape) for given in getattr(node, "_input_metadata", ())])
            node = next((following for following, _ in node.next_functions if following is not None), None)
    if skipping and not _as_expected(shapes):
        _native.unseen("step-differs", _IN_PART, _native.step_clock()[0] - _began)
        _native.step_end(False)  # what led to other shapes is not what steps do
        _notice()
    _shapes.append(shapes)


def backward_ended() -> None:
    """A gradient has been computed."""
    global _within_backward
    if threading.get_ident() == _thread:
        _torch.settle(not skipping)
    if _within_backward and sys.modules["torch"]._C._current_graph_task_id() == -1:
        _within_backward = False
        optimizer_stepped()


def optimizer_stepped() -> None:
    """An optimizer has made its step. Where hooks call it as gradients come, the step ends with the last one."""
    global _optimizer, _within_backward
    if _beside and is_beside() and (skipping or aside):
        return
    if sys.modules["torch"]._C._current_graph_task_id() != -1:
        _within_backward = True
        return
    if not _optimizer and _before_root:
        # What were steps so far were calls of a module within a step.
        _notice()
        _optimizer = True
        return _reset()
    _optimizer = True
    _end()


def _as_expected(shape: Any) -> bool:
    """Whether this is what the step is given next."""
    expected = _signals[_at][0]
    return len(_shapes) < len(expected) and bool(shape == expected[len(_shapes)])


def _reset() -> None:
    """A step begins that is going to be watched, or is the first that is not."""
    global _began, _busy, _unread, _calls, _nodes, _before, _known, _own
    _shapes.clear()
    _known = 0
    _torch_unwatched.begins()
    _began, _calls, _before, _own = _native.step_clock()
    _before += computed
    if _began - _asked > _ASKED_NS:
        _ask_waited()
    _busy, _unread, _nodes = _native.cpu_ns(), 0, _sequence()


def _sequence() -> int:
    return sys.modules["torch._C"]._autograd._get_sequence_nr()  # type: ignore[no-any-return]


def _end() -> None:
    """A step ends here."""
    global _began, _calls, _nodes, _before, _known, _own
    if not _native.recording():
        return
    if _beside and is_beside():
        if skipping or aside:
            return
        end_beside()
    now, calls, asked, own = _native.step_clock()
    asked += computed
    nodes = _sequence()
    known = skipping or _native.of_steps()  # asked of watched ones, it learns their paths
    if aside and _optimizer and not known:
        return _notice()  # of another loop, whose ops were told
    if not (skipping or aside):
        _watch((list(_shapes), calls - _calls, nodes - _nodes), now - _began)
        return _reset()
    # What the outermost modules were given was as expected so far, or nobody would be skipping.
    shapes, expected_calls, expected_nodes = _signals[_at]
    same = len(_shapes) == len(shapes) and calls - _calls == expected_calls and nodes - _nodes == expected_nodes
    took, ours = now - _began, own - _own
    if not 0 <= ours <= took:
        ours = 0 if ours < 0 else took  # in a forked process it begins anew
    took -= ours
    _shapes.clear()
    asks, _before = asked - _before, asked
    _began, _calls, _nodes, _own = now, calls, nodes, own
    if _mixed:
        _count_mixed(same, took, ours)
    else:
        _count(same and _asks_alike(asks), took, ours)
    _known = 0


def _asks_alike(asked: int) -> bool:
    """Whether an unwatched step asked of PyTorch what those at its place in the round do, where these agree."""
    global _suspected
    if _doubts >= _DOUBTS:
        return True
    usual, times = _asks.get(_at, (asked, 0))
    _asks[_at] = asked, times + 1 if asked == usual else 0
    _suspected = asked != usual and times >= _AGREED
    return not _suspected


def _settles(hashes: frozenset[int]) -> None:
    """Steps that did this go unwatched: was what one asked for a reason to look at them?"""
    global _doubts, _settled, _suspected
    if _suspected:
        _doubts = _doubts + 1 if hashes == _settled else 0
        _suspected = False
    if hashes != _settled or _period > 1:
        _asks.clear()
    _settled = hashes


def _watch(signal: Any, took: int) -> None:
    global _period, _at, _left, _thread, _longest, _asides, _counted, _credit
    global _asks_memory, _took_watched, _since
    _torch_unwatched.ended()
    _hashes.append(_native.step_end(True) * (not (_asks_memory or _torch_unwatched.mixes)))
    _asks_memory = False
    _signals_seen.append(signal)
    _alive.append(_native.storage_bytes()[0])
    for kept in (_hashes, _signals_seen, _alive):
        del kept[: -_ROUNDS * _LONGEST_PERIOD]
    _period = _repeats()
    if _period:
        _longest = int(_LONGER * took) + _NOISE_NS
        if _skip(_ROUNDS * _period):
            _credit, _took_watched, _since = 0, took, _native.clock_ns()
            _thread = threading.get_ident()
            _signals[:] = _signals_seen[-_period:]
            _settles(frozenset(_hashes[-_period:]))
            _at, _left, _asides, _counted = 0, _stretch, 0, 0
            for of_steps in (_usual, _usual_at, _lately, _fast):
                of_steps.clear()


def _skip(alike: int = 0) -> bool:
    """See no ops from here on, if the script's own modes allow it; `alike`: others do what so many watched ones did."""
    global skipping, unwatched, aside
    if not _torch.pause():
        return False
    skipping, unwatched, aside = True, True, False
    _torch_unwatched.goes_unwatched(alike)
    _native.leave_unwatched(True, _longest, alike)
    return True


_signals_seen: list[Any] = []
#: Bytes on the device when these steps ended.
_alive: list[int] = []
#: The script has asked in this step how much memory is in use.
_asks_memory = False
#: Processor time and time of unwatched steps.
_usual: list[tuple[int, int]] = []
#: Their medians, brought up to date now and then.
_usual_at: list[int] = []
#: What the steps at each place of a round took lately, and the faster ones of those so far.
_lately: dict[int, list[int]] = {}
_fast: dict[int, int] = {}
#: Other programs keep threads of this process from running; for how long they have lately, ns, that no step was relieved of.
_crowded = False
_credit = 0


def _repeats() -> int:
    """How many steps make a round, 0 where the last ones were not equal rounds."""
    for period in range(1, _LONGEST_PERIOD + 1):
        count = _ROUNDS * period
        if len(_hashes) < count:
            return 0
        if all(after - before > _GROWTH * period for before, after in _rounds(period)):
            return 0  # the steps keep what they make: how much that is decides whether there is room
        recent, told = _hashes[-count:], _signals_seen[-count:]
        if 0 not in recent and all(
            recent[i] == recent[i - period] and told[i] == told[i - period] for i in range(period, count)
        ):
            return period
    return 0


def _rounds(period: int) -> Any:
    """Bytes on the device at the ends of the last rounds, one after the other."""
    ends = _alive[-1 - (_ROUNDS - 1) * period :: period]
    return zip(ends, ends[1:])


def _count(same: bool, took: int, ours: int) -> None:
    """A step went unwatched, beside which the recorder took `ours`, ns."""
    global _at, _left, _stretch, _counted
    valueless = _torch_ops.valueless
    others = 0 if valueless or not same else _of_others(took)
    extra = 0 if valueless else _beyond(took - others - _known, others)
    _native.step_again(_period - _at, took - extra - others, valueless, others, ours)
    if extra or not same:
        what = "did something else" if not same else "took longer"
        text = f"a step of a loop that had been steady {what} while ops were not watched; those after it were"
        _native.unseen("step-differs", text, extra)
    _at = (_at + 1) % _period
    _left -= 1
    _counted += 1
    if _left == 0 and not _may_watch():
        _left = _period
    if not same:
        _notice()
    elif (extra or _left <= 0) and _at == 0:
        # What was only slow may have been the machine: one round shows whether anything else has changed.
        if not extra:
            _stretch = min(_stretch * 2, _MOST)
        _notice(again=True)
    elif extra:
        _left = 0


def _may_watch() -> bool:
    """Whether steps have gone unwatched for so long that watching a round again is cheap beside that."""
    return _counted >= _MOST or _period * _took_watched <= _FOR_WATCHING * (_native.clock_ns() - _since)


def _of_others(took: int) -> int:
    """What other programs have taken of a step: threads of this process waited for processors, and it for them; where that
    happens, steps that do the same take what the faster ones do."""
    global _credit
    lately = _lately.setdefault(_at, [])
    lately.append(took)
    if len(lately) == _FAST:
        _fast[_at] = min(sorted(lately)[_FAST // 4], _fast.get(_at, took))
        lately.clear()
    fast = _fast.get(_at) or min(lately)
    if not _crowded or not took > _TWICE * fast:
        return 0
    _ask_waited()
    others = min(took - fast, _credit)
    _credit = min(_credit - others, _LAG_NS)
    return others


def _ask_waited() -> int:
    """What all threads have waited for a processor since that was asked; whether that is much, where it was long ago."""
    global _waited, _asked, _crowded, _credit
    before, since, _waited, _asked = _waited, _asked, _native.waited_ns(), _native.clock_ns()
    if _asked - since > _ASKED_NS:
        _crowded = _waited - before > _WAITING * (_asked - since)
    new = max(0, _waited - before)  # what threads waited that are gone counts no more
    _credit = min(_credit, _LAG_NS) + new
    return new


def _beyond(took: int, others: int) -> int:
    """How much longer than the others a step took, where that is no noise; else 0, and it is one of the others. Other
    programs have taken more of it, in which its threads may have been busy waiting for each other."""
    global _busy, _unread
    if _usual_at and took + others < _SHORT_NS and _unread < _UNREAD:
        _unread += 1
        return 0
    now, unread = _native.cpu_ns(), _unread
    spent = now - _busy
    _busy, _unread = now, 0
    waited = 0
    if _began - _asked > _ASKED_NS:
        waited = _ask_waited()
    if _usual_at:
        usual_busy, usual_took = _usual_at
        spinning = others * (sys.modules["torch"].get_num_threads() - 1) if others else 0
        busy = spent - unread * usual_busy - spinning
        if busy > _LONGER * usual_busy + _NOISE_NS or took - waited > _LONGER * usual_took + _WAIT_NS:
            return max(0, took - usual_took)
    _usual.append((spent // (unread + 1), took))
    if len(_usual) in (5, 15):
        _usual_at[:] = (sorted(times)[len(_usual) // 2] for times in zip(*_usual))
        del _usual[15:]
    elif len(_usual) > 30:
        _usual.clear()
    return 0


def step_aside(missed: int, given: Sequence[int] = ()) -> None:
    """PyTorch is called on a path through the script that steps do not take; `missed` ns it has run already, and was `given`
    memory at these addresses."""
    global skipping, aside, _asides, _mixed
    if not skipping or threading.get_ident() != _thread or not _native.recording():
        return
    if missed:
        text = "the first op of what no step of a loop had done before was not watched"
        _native.unseen("step-differs", text, missed)
        if _torch_ops.phase != "data":
            _torch_unwatched.missed.clear()
            _torch_unwatched.missed.update(given)
    _asides += 1
    skipping, aside, _mixed = False, True, True
    _see(True)
    # Between two epochs a loader is about to go on with what steps make.
    if _torch_ops.phase != "data":
        _look(True)
        if missed:
            _torch_aside.look_at_missed()


def goes_on() -> None:
    """A loader is asked for a batch: where steps ask it, what comes is known."""
    if _native.of_steps() and aside:
        _skip_the_rest()


def _skip_the_rest() -> None:
    """The step goes on with what steps do, after ops that were seen."""
    global _known, _busy, _unread
    if _skip():
        _known, _busy, _unread = _native.clock_ns() - _began, _native.cpu_ns(), 0


def turn_begins() -> tuple[int, int] | None:
    """A loader is about to begin an epoch, or to end one, with processes that it starts or stops; None within that."""
    global _turning
    if _turning or is_beside():
        return None
    _turning = True
    return _native.clock_ns(), _native.cpu_ns()


def turned(since: tuple[int, int] | None) -> None:
    """It has; that is told with its next batch, and makes no other step of the one that goes on."""
    global _turning, _known, _busy
    if since is not None:
        _turning = False
        _known += _native.clock_ns() - since[0]
        _busy += _native.cpu_ns() - since[1]


def _count_mixed(same: bool, took: int, ours: int) -> None:
    """A step has ended within which, or before which, something else was done."""
    global _at, _left, _counted, _busy, _unread, _mixed
    usual = _usual_at[1] if _usual_at else took
    _native.step_again(_period - _at, min(took, usual), _torch_ops.valueless, ours=ours)
    _at = (_at + 1) % _period
    _left -= 1
    _counted += 1
    _busy, _unread, _mixed = _native.cpu_ns(), 0, False
    if not same or _asides > _MANY and 4 * _asides > _counted:
        if not same:
            _native.unseen("step-differs", _IN_PART)
        _notice()
    elif aside:
        _skip()


def left_loop() -> None:
    """No step has ended for long, and tensors come and go: watch what comes after the loop, if it is over."""
    if not skipping or threading.get_ident() != _thread or not _native.recording():
        return
    now, calls, *_ = _native.step_clock()
    _, expected, _ = _signals[_at]
    if _optimizer and _shapes or not _optimizer and calls - _calls < expected:
        return  # A step is going on.
    usual = _usual_at[0] if _usual_at else 0
    if _native.cpu_ns() - _busy <= (_unread + _LONGER) * usual + _NOISE_NS:
        return
    if _optimizer:
        text = "what came after the last step of a loop was not watched at first"
        _native.unseen("step-differs", text, now - _began - _known)
        _notice()
    else:
        # Its modules have run, what else is of it may not have: that is counted when the next step begins.
        step_aside(0)


def recording_ends() -> None:
    """The last step of a loop ends with the program: where there is an optimizer, it is one that has only begun."""
    if skipping or aside:
        if _before_root and not _optimizer:
            _end()
        else:
            _native.step_in_part(_period - _at, len(_shapes))
    _look(False)


def forked() -> None:
    """This process begins in the midst of its parent's steps: those that it makes itself, it has not told of yet."""
    global skipping, aside, _mixed
    try:
        if skipping or aside:
            skipping = aside = _mixed = False
            _see(False)
        for of_steps in (_hashes, _signals_seen, _alive):
            of_steps.clear()
        _native.step_end(False)
        _reset()
    except Exception as error:
        _native.unseen("hook-failed", f"a forked process may not be recorded as it should be: {error!r}")


def memory_asked() -> None:
    """The script asks how much memory is in use: what unwatched steps have made has to be known, and steps that ask are
    watched."""
    global _asks_memory
    _asks_memory = True
    _look(False)


def _look(sparingly: bool, young: bool = False) -> None:
    """Make known what unwatched steps have made and is still there."""
    _torch_unwatched.look(sys.modules["torch"], _met, skipping, sparingly, young)


def _met(tensor: Any) -> Any:
    """A tensor is there; its storage, or that of its gradient, where an unwatched step has left it and nobody knew."""
    try:
        return _left_by_steps(tensor)
    except _torch_ops.REFUSED:  # wrapped in a transform, say, or without a shape so far
        return None


def _left_by_steps(tensor: Any) -> Any:
    known, new = _torch_ops._known(tensor), None
    if known is None and (like := _torch_unwatched.left(tensor)) is not None:
        known = new = _torch_ops.stored(tensor, False, like)
    if known is None or not (tensor.requires_grad and tensor.is_leaf) or (gradient := tensor.grad) is None:
        return new
    unknown = _torch_ops._known(gradient) is None
    with _torch_ops.on_device(known.device or "cpu"):
        _torch_ops.assign(gradient, _torch_ops.GRADIENT)
    return _torch_ops._known(gradient) if unknown else new


def _notice(again: bool = False, before: bool = False, told: bool = False) -> None:
    """Watch from here on; `again`: for one round, where nothing has changed; `before`: what the running line does is seen;
    `told`: that the step does something else."""
    global skipping, aside, _mixed, _stretch
    if skipping or aside:
        if _native.step_in_part(_period - _at, len(_shapes), before) and not told:
            _native.unseen("step-differs", _IN_PART)
        skipping = aside = _mixed = False
        _see(False)
        _look(True, again)
    if again:
        # One equal round is enough to go on.
        del _hashes[: -(_ROUNDS - 1) * _period]
        del _signals_seen[: -(_ROUNDS - 1) * _period]
        del _alive[: -(_ROUNDS - 1) * _period]
    else:
        _stretch = _FIRST
        _hashes.clear()
        _signals_seen.clear()
        _alive.clear()
        _native.step_end(False)


def _see(beside: bool) -> None:
    """See ops again; `beside`: only for those that steps do not do."""
    from . import _torch_modules, _torch_reads

    _native.leave_unwatched(False, aside=beside)
    _native.mode_on()
    _torch_unwatched.watched_again()
    # All tensors may not be looked at now; gradients are what most loops leave.
    with sys.modules["torch"]._C.DisableTorchFunction():
        _torch_unwatched.found(map(_met, _torch_modules.parameters()))
    _torch_reads.know_placed()
    _torch.resume()
