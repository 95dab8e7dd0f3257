"""Loops that repeat: after some equal steps the next ones are counted without being watched.

A step ends with the optimizer's, or with the outermost module's call where there is no optimizer, or with a gradient
where there is neither. Once three rounds are equal (a round may be up to four steps, as when two networks are
trained in turn) the dispatch mode is taken off the stack. From then on a step is compared by what costs next to
nothing: the shapes and types of what the outermost module is given, or without one those that the gradient goes
through first, whether it trains, how often modules are called, how many graph nodes are made, how much memory
PyTorch asks for, how long it takes. What differs is watched from there on, and from time to time a round is watched
anyway. Where PyTorch is called on a path through the script that no step took (after the loop, say, or between two
epochs) the ops are seen until steps go on; so it is where a network is called for no gradient between two steps.
"""

from __future__ import annotations

import itertools
import sys
import threading

from ... import _native
from ...events import recorder
from .. import dispatch_mode
from ..describe import called_modules, contexts, likes, storages
from ..no_gpu import placement
from ..session import GRADIENT, REFUSED, no_gpu, session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any


class State:
    """What is known of the loop whose steps repeat."""

    #: No ops are seen now.
    skipping = False
    #: Ops are seen, of which only those count that steps do not do: the others are counted when their step ends.
    aside = False
    #: There was a step whose ops were not seen.
    unwatched = False
    #: Steps in a round, 0 where the last ones were not equal rounds.
    period = 0
    #: The script has asked in this step how much memory is in use.
    asks_memory = False
    #: A loader begins or ends an epoch now.
    turning = False
    #: What is done now is told by itself, and none of the step's.
    leaves_out = False
    #: Without values, elements that ops gave.
    computed = 0
    optimizer = False
    #: An optimizer has made its step while gradients were being computed.
    within_backward = False
    before_root = False
    #: A gradient has been computed, and there was neither an optimizer nor a module; there were several, and each ends
    #: a step.
    gradient = False
    by_gradient = False
    #: The thread whose steps go unwatched.
    thread = 0


state = State()


_ROUNDS = 3
_LONGEST_PERIOD = 4
#: Nodes of the graph whose shapes are compared.
_GRADIENTS = 8
#: Of what a module is given so many parts are compared, and so many levels of what holds others.
_PARTS, _LEVELS = 64, 4
#: Bytes that a step may keep for ever and go unwatched; what it does keep is found by looking at all tensors then.
_GROWTH = 64 << 10

#: What watched steps did, what they are known by, and bytes on the device when they ended.
_hashes: list[int] = []
_signals_seen: list[Any] = []
_alive: list[int] = []
#: The loop: whether its steps are like each other where they go unwatched, and how far the step has come that goes on.
loop = _native.Loop()
#: Threads that the script has begun and that make no steps: what they do is always seen, and part of no step.
_beside: set[int] = set()


def unseen() -> bool:
    """Whether the ops of this thread are not seen now."""
    return state.skipping and not is_beside()


def is_beside() -> bool:
    """Whether this thread works beside the one that makes steps."""
    return bool(_beside) and threading.get_ident() in _beside


def begin_beside() -> None:
    """A thread begins that the script has asked for."""
    _beside.add(threading.get_ident())
    _native.beside(True)


def leave_out() -> _native.Moment:
    """What comes next is told by itself until `left_out`, in a step that goes on unwatched: it ends no loop."""
    state.leaves_out = True
    _native.no_gap()
    return _native.Moment()


def left_out(since: _native.Moment) -> None:
    """The time since then is none of the step's, nor is what was asked for."""
    state.leaves_out = False
    loop.leave_out(since)


def thread_ends() -> None:
    """It ends, and with it a loop that it runs."""
    if (state.skipping or state.aside) and threading.get_ident() == state.thread:
        _notice()
    end_beside()


def end_beside() -> None:
    """It makes steps itself, or ends."""
    _beside.discard(threading.get_ident())
    _native.beside(False)


def begins(module: Any, args: tuple[Any, ...]) -> None:
    """The outermost module is about to be called."""
    if _beside and is_beside() and (state.skipping or state.aside or state.optimizer):
        return
    if state.by_gradient:
        _notice()
        state.by_gradient = False
        _reset()
    if not state.optimizer and state.before_root:
        _end()
    if state.skipping and not loop.mixed and loop.simply((module, *args)):
        return
    known = _native.of_steps()
    if (state.skipping or state.aside) and not known and _evaluates(module):
        step_aside(0)
        return
    if loop.mixed and not loop.roots:
        # What was done before it is none of the step's.
        loop.calls_anew()
    with sys.modules["torch"]._C.DisableTorchFunction():  # the script does not ask
        given = _alike(args)
    shape = id(module), module.training, given
    if not (state.skipping or state.aside):
        _native.step_calls()
    elif not (known and loop.expects(shape)):
        told = state.skipping and loop.roots > 0
        if told:
            loop.differs()
        _notice(told=told)
    elif state.aside:
        _skip_the_rest()
    loop.gives(shape)
    state.before_root = True


def _alike(given: Iterable[Any], levels: int = _LEVELS) -> list[Any]:
    """What is compared of what a module is given: shapes and types of arrays, also in lists, dictionaries and
    objects; types of the rest. No code of the script's runs for it."""
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
    """Arrays, dictionaries and objects that an object has as attributes, or a dictionary as values; not lists, which
    grow."""
    if not isinstance(value, dict):
        try:
            value = object.__getattribute__(value, "__dict__")
        except AttributeError:
            return ()
    return [part for part in dict.values(value) if not isinstance(part, (int, float, str, list, tuple, type(None)))]


def _evaluates(module: Any) -> bool:
    """Whether a network is called for no gradient, between steps that an optimizer ends."""
    return state.optimizer and not loop.roots and not (module.training and sys.modules["torch"].is_grad_enabled())


def backward_begins(args: tuple[Any, ...]) -> None:
    """A gradient is about to be computed: in a step that calls no module, the shapes that it goes through first tell
    what the step was given."""
    if state.before_root and not state.optimizer or _beside and is_beside():
        return
    if loop.mixed and (state.skipping or state.aside) and loop.made_more() and threading.get_ident() == state.thread:
        # What else was done has gradients of its own, which the step that is known has not.
        _notice(before=True)
    if loop.roots:
        return
    shapes: list[Any] = []
    with sys.modules["torch"]._C.DisableTorchFunction():
        node = next((one.grad_fn for one in args[0] if one.grad_fn is not None), None)
        while node is not None and len(shapes) < _GRADIENTS:
            shapes.append([tuple(given.shape) for given in getattr(node, "_input_metadata", ())])
            node = next((following for following, _ in node.next_functions if following is not None), None)
    if state.skipping and not loop.expects(shapes):
        loop.differs()
        _native.step_end(False)  # what led to other shapes is not what steps do
        _notice()
    loop.gives(shapes)


def backward_ended() -> None:
    """A gradient has been computed."""
    if threading.get_ident() == state.thread:
        dispatch_mode.settle(not state.skipping)
    if state.within_backward and sys.modules["torch"]._C._current_graph_task_id() == -1:
        state.within_backward = False
        optimizer_stepped()
    elif not (state.optimizer or state.before_root):
        _gradient_ended()


def _gradient_ended() -> None:
    """The same, where there is neither an optimizer nor a module."""
    if _beside and is_beside() or sys.modules["torch"]._C._current_graph_task_id() != -1:
        return
    if state.by_gradient:
        _end()
    elif state.gradient:
        state.by_gradient = True
        _forget()
        _reset()
    state.gradient = True


def optimizer_stepped() -> None:
    """An optimizer has made its step. Where hooks call it as gradients come, the step ends with the last one."""
    if _beside and is_beside() and (state.skipping or state.aside):
        return
    if sys.modules["torch"]._C._current_graph_task_id() != -1:
        state.within_backward = True
        return
    if not state.optimizer and (state.before_root or state.by_gradient):
        # What were steps so far were calls of a module within a step, or gradients.
        _notice()
        state.optimizer, state.by_gradient = True, False
        return _reset()
    state.optimizer = True
    _end()


def _reset() -> None:
    """A step begins that is going to be watched, or is the first that is not."""
    likes.begins()
    loop.begins(state.computed)


def _end() -> None:
    """A step ends here."""
    if not _native.recording():
        return
    if _beside and is_beside():
        if state.skipping or state.aside:
            return
        end_beside()
    if not (state.skipping or state.aside):
        signal, took = loop.so_far()
        if state.optimizer or state.by_gradient:
            _native.of_steps()  # learns its path; that of a module which is called is the next step's
        _watch(signal, took)
        return _reset()
    if state.aside and (state.optimizer or state.by_gradient) and not _native.of_steps():
        return _notice()  # of another loop, whose ops were told
    # What the outermost modules were given was as expected so far, or nobody would be skipping.
    all_watched = loop.ended(state.computed, session.valueless)
    if all_watched is not None:
        _notice(again=not all_watched)
    elif state.aside:
        _skip()


def _watch(signal: Any, took: int) -> None:
    likes.ended()
    _hashes.append(_native.step_end(True) * (not (state.asks_memory or likes.state.mixes)))
    state.asks_memory = False
    _signals_seen.append(signal)
    _alive.append(_native.storage_bytes()[0])
    for kept in (_hashes, _signals_seen, _alive):
        del kept[: -_ROUNDS * _LONGEST_PERIOD]
    state.period = _repeats()
    if state.period:
        loop.settle(_signals_seen[-state.period :], _hashes[-state.period :], took, state.optimizer)
        if _skip(_ROUNDS * state.period):
            state.thread = threading.get_ident()


def _skip(alike: int = 0) -> bool:
    """See no ops from here on, if the script's own modes allow it; `alike`: others do what so many watched ones did."""
    if not dispatch_mode.pause():
        return False
    state.skipping, state.unwatched, state.aside = True, True, False
    likes.goes_unwatched(alike)
    _native.leave_unwatched(True, loop.longest, alike)
    return True


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


def step_aside(missed: int, given: Sequence[int] = ()) -> None:
    """PyTorch is called on a path through the script that steps do not take; `missed` ns it has run already, and was
    `given` memory at these addresses."""
    if not state.skipping or threading.get_ident() != state.thread or not _native.recording():
        return
    if missed:
        text = "the first op of what no step of a loop had done before was not watched"
        recorder.unseen("step-differs", text, missed)
        if session.phase != "data":
            likes.missed.clear()
            likes.missed.update(given)
    loop.steps_aside()
    state.skipping, state.aside = False, True
    _see(True)
    # Between two epochs a loader is about to go on with what steps make.
    if session.phase != "data":
        _look(True)


def goes_on() -> None:
    """A loader is asked for a batch: where steps ask it, what comes is known."""
    if _native.of_steps() and state.aside:
        _skip_the_rest()


def _skip_the_rest() -> None:
    """The step goes on with what steps do, after ops that were seen."""
    if _skip():
        loop.know_all()


def turn_begins() -> _native.Moment | None:
    """A loader is about to begin an epoch, or to end one, with processes that it starts or stops; None within that."""
    if state.turning or is_beside():
        return None
    state.turning = True
    return _native.Moment()


def turned(since: _native.Moment | None) -> None:
    """It has; that is told with its next batch, and makes no other step of the one that goes on."""
    if since is not None:
        state.turning = False
        loop.know(since)


def left_loop() -> None:
    """No step has ended for long, and tensors come and go: watch what comes after the loop, if it is over."""
    if not state.skipping or state.leaves_out or threading.get_ident() != state.thread or not _native.recording():
        return
    if loop.called_less() if state.before_root and not state.optimizer else loop.roots:
        return  # A step is going on.
    if (unknown := loop.beyond()) is None:
        return
    if state.optimizer or state.by_gradient:
        recorder.unseen("step-differs", "what came after the last step of a loop was not watched at first", unknown)
        _notice()
    else:
        # Its modules have run, what else is of it may not have: that is counted when the next step begins.
        step_aside(0)


def recording_ends() -> None:
    """The last step of a loop ends with the program: where there is an optimizer, it is one that has only begun."""
    if state.skipping or state.aside:
        if state.before_root and not state.optimizer:
            _end()
        else:
            _native.step_in_part(loop.back, loop.roots)
    _look(False)


def forked() -> None:
    """This process begins in the midst of its parent's steps: those that it makes itself, it has not told of yet."""
    try:
        if state.skipping or state.aside:
            state.skipping = state.aside = False
            loop.watched()
            _see(False)
        _forget()
        _reset()
    except Exception as error:
        recorder.unseen("hook-failed", f"a forked process may not be recorded as it should be: {error!r}")


def memory_asked() -> None:
    """The script asks how much memory is in use: what unwatched steps have made has to be known, and steps that ask are
    watched."""
    state.asks_memory = True
    _look(False)


def _look(sparingly: bool, young: bool = False) -> None:
    """Make known what unwatched steps have made and is still there."""
    likes.look(sys.modules["torch"], _met, state.skipping, sparingly, young)


def _met(tensor: Any) -> Any:
    """A tensor is there; its storage, or that of its gradient, where an unwatched step has left it and nobody knew."""
    try:
        return _left_by_steps(tensor)
    except REFUSED:  # wrapped in a transform, say, or without a shape so far
        return None


def _left_by_steps(tensor: Any) -> Any:
    known, new = storages.known_storage(tensor), None
    if known is None and not storages.is_missed(tensor) and (like := likes.left(tensor)) is not None:
        known = new = storages.stored(tensor, False, like)
    if known is None or not (tensor.requires_grad and tensor.is_leaf) or (gradient := tensor.grad) is None:
        return new
    unknown = storages.known_storage(gradient) is None
    with contexts.on_device(known.device or "cpu"):
        storages.assign(gradient, GRADIENT)
    if not unknown:
        return new
    known = storages.known_storage(gradient)
    if known is not None and no_gpu.tells and placement.where(tensor):
        placement.was_made_there(known)  # gradients are where that is which they are of
    return known


def _notice(again: bool = False, before: bool = False, told: bool = False) -> None:
    """Watch from here on; `again`: for one round, where nothing has changed; `before`: what the running line does is
    seen; `told`: that the step does something else."""
    if state.skipping or state.aside:
        if _native.step_in_part(loop.back, loop.roots, before) and not told:
            loop.differs(0)
        state.skipping = state.aside = False
        loop.watched()
        _see(False)
        _look(True, again)
    if again:
        # One equal round is enough to go on.
        del _hashes[: -(_ROUNDS - 1) * state.period]
        del _signals_seen[: -(_ROUNDS - 1) * state.period]
        del _alive[: -(_ROUNDS - 1) * state.period]
    else:
        _forget()


def _forget() -> None:
    """Steps are as none before, and what ran since the last one is none."""
    for of_steps in (_hashes, _signals_seen, _alive):
        of_steps.clear()
    loop.forget()
    _native.step_end(False)


def _see(beside: bool) -> None:
    """See ops again; `beside`: only for those that steps do not do."""
    _native.leave_unwatched(False, aside=beside)
    _native.mode_on()
    likes.watched_again()
    # All tensors may not be looked at now; gradients are what most loops leave.
    with sys.modules["torch"]._C.DisableTorchFunction():
        likes.found(map(_met, called_modules.parameters()))
    placement.know_placed()
    dispatch_mode.resume()
