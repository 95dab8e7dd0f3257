"""Loops that repeat: after some equal steps the next ones are counted without being watched.

A step ends with the optimizer's, or with the outermost module's call where there is no optimizer, or with a gradient where there is
neither. Once three rounds
are equal (a round may be up to four steps, as when two networks are trained in turn) the dispatch mode is taken off
the stack. From then on a step is compared by what costs next to nothing: the shapes and types of what the outermost
module is given, or without one those that the gradient goes through first, whether it trains, how often modules are
called, how many graph nodes are made, how much memory PyTorch asks for, how long it takes. What differs is watched from there on, and from time to time
a round is watched anyway. Where PyTorch is called on a path through the script that no step took (after the loop, say, or between two
epochs) the ops are seen until steps go on; so it is where a network is called for no gradient between two steps.
"""

from __future__ import annotations

import itertools
import sys
import threading

from . import _native, _torch, _torch_ops, _torch_placement, _torch_unwatched

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
#: Steps in a round, 0 where the last ones were not equal rounds.
_period = 0
#: The script has asked in this step how much memory is in use.
_asks_memory = False
#: The loop: whether its steps are like each other where they go unwatched, and how far the step has come that goes on.
loop = _native.Loop()
#: A loader begins or ends an epoch now.
_turning = False
#: What is done now is told by itself, and none of the step's.
_leaves_out = False
#: Without values, elements that ops gave.
computed = 0
_optimizer = False
#: An optimizer has made its step while gradients were being computed.
_within_backward = False
_before_root = False
#: A gradient has been computed, and there was neither an optimizer nor a module; there were several, and each ends a step.
_gradient = False
_by_gradient = False
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


def leave_out() -> _native.Moment:
    """What comes next is told by itself until `left_out`, in a step that goes on unwatched: it ends no loop."""
    global _leaves_out
    _leaves_out = True
    _native.no_gap()
    return _native.Moment()


def left_out(since: _native.Moment) -> None:
    """The time since then is none of the step's, nor is what was asked for."""
    global _leaves_out
    _leaves_out = False
    loop.leave_out(since)


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
    global _before_root, _by_gradient
    if _beside and is_beside() and (skipping or aside or _optimizer):
        return
    if _by_gradient:
        _notice()
        _by_gradient = False
        _reset()
    if not _optimizer and _before_root:
        _end()
    if skipping and not loop.mixed and loop.simply((module, *args)):
        return
    known = _native.of_steps()
    if (skipping or aside) and not known and _evaluates(module):
        step_aside(0)
        return
    if loop.mixed and not loop.roots:
        # What was done before it is none of the step's.
        loop.calls_anew()
    with sys.modules["torch"]._C.DisableTorchFunction():  # the script does not ask
        given = _alike(args)
    shape = id(module), module.training, given
    if not (skipping or aside):
        _native.step_calls()
    elif not (known and loop.expects(shape)):
        told = skipping and loop.roots > 0
        if told:
            loop.differs()
        _notice(told=told)
    elif aside:
        _skip_the_rest()
    loop.gives(shape)
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
    return _optimizer and not loop.roots and not (module.training and sys.modules["torch"].is_grad_enabled())


def backward_begins(args: tuple[Any, ...]) -> None:
    """A gradient is about to be computed: in a step that calls no module, the shapes that it goes through first tell what
    the step was given."""
    if _before_root and not _optimizer or _beside and is_beside():
        return
    if loop.mixed and (skipping or aside) and loop.made_more() and threading.get_ident() == _thread:
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
    if skipping and not loop.expects(shapes):
        loop.differs()
        _native.step_end(False)  # what led to other shapes is not what steps do
        _notice()
    loop.gives(shapes)


def backward_ended() -> None:
    """A gradient has been computed."""
    global _within_backward
    if threading.get_ident() == _thread:
        _torch.settle(not skipping)
    if _within_backward and sys.modules["torch"]._C._current_graph_task_id() == -1:
        _within_backward = False
        optimizer_stepped()
    elif not (_optimizer or _before_root):
        _gradient_ended()


def _gradient_ended() -> None:
    """The same, where there is neither an optimizer nor a module."""
    global _gradient, _by_gradient
    if _beside and is_beside() or sys.modules["torch"]._C._current_graph_task_id() != -1:
        return
    if _by_gradient:
        _end()
    elif _gradient:
        _by_gradient = True
        _forget()
        _reset()
    _gradient = True


def optimizer_stepped() -> None:
    """An optimizer has made its step. Where hooks call it as gradients come, the step ends with the last one."""
    global _optimizer, _within_backward, _by_gradient
    if _beside and is_beside() and (skipping or aside):
        return
    if sys.modules["torch"]._C._current_graph_task_id() != -1:
        _within_backward = True
        return
    if not _optimizer and (_before_root or _by_gradient):
        # What were steps so far were calls of a module within a step, or gradients.
        _notice()
        _optimizer, _by_gradient = True, False
        return _reset()
    _optimizer = True
    _end()


def _reset() -> None:
    """A step begins that is going to be watched, or is the first that is not."""
    _torch_unwatched.begins()
    loop.begins(computed)


def _end() -> None:
    """A step ends here."""
    if not _native.recording():
        return
    if _beside and is_beside():
        if skipping or aside:
            return
        end_beside()
    if not (skipping or aside):
        signal, took = loop.so_far()
        if _optimizer or _by_gradient:
            _native.of_steps()  # learns its path; that of a module which is called is the next step's
        _watch(signal, took)
        return _reset()
    if aside and (_optimizer or _by_gradient) and not _native.of_steps():
        return _notice()  # of another loop, whose ops were told
    # What the outermost modules were given was as expected so far, or nobody would be skipping.
    all_watched = loop.ended(computed, _torch_ops.valueless)
    if all_watched is not None:
        _notice(again=not all_watched)
    elif aside:
        _skip()


def _watch(signal: Any, took: int) -> None:
    global _period, _thread, _asks_memory
    _torch_unwatched.ended()
    _hashes.append(_native.step_end(True) * (not (_asks_memory or _torch_unwatched.mixes)))
    _asks_memory = False
    _signals_seen.append(signal)
    _alive.append(_native.storage_bytes()[0])
    for kept in (_hashes, _signals_seen, _alive):
        del kept[: -_ROUNDS * _LONGEST_PERIOD]
    _period = _repeats()
    if _period:
        loop.settle(_signals_seen[-_period:], _hashes[-_period:], took, _optimizer)
        if _skip(_ROUNDS * _period):
            _thread = threading.get_ident()


def _skip(alike: int = 0) -> bool:
    """See no ops from here on, if the script's own modes allow it; `alike`: others do what so many watched ones did."""
    global skipping, unwatched, aside
    if not _torch.pause():
        return False
    skipping, unwatched, aside = True, True, False
    _torch_unwatched.goes_unwatched(alike)
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
    """PyTorch is called on a path through the script that steps do not take; `missed` ns it has run already, and was `given`
    memory at these addresses."""
    global skipping, aside
    if not skipping or threading.get_ident() != _thread or not _native.recording():
        return
    if missed:
        text = "the first op of what no step of a loop had done before was not watched"
        _native.unseen("step-differs", text, missed)
        if _torch_ops.phase != "data":
            _torch_unwatched.missed.clear()
            _torch_unwatched.missed.update(given)
    loop.steps_aside()
    skipping, aside = False, True
    _see(True)
    # Between two epochs a loader is about to go on with what steps make.
    if _torch_ops.phase != "data":
        _look(True)


def goes_on() -> None:
    """A loader is asked for a batch: where steps ask it, what comes is known."""
    if _native.of_steps() and aside:
        _skip_the_rest()


def _skip_the_rest() -> None:
    """The step goes on with what steps do, after ops that were seen."""
    if _skip():
        loop.know_all()


def turn_begins() -> _native.Moment | None:
    """A loader is about to begin an epoch, or to end one, with processes that it starts or stops; None within that."""
    global _turning
    if _turning or is_beside():
        return None
    _turning = True
    return _native.Moment()


def turned(since: _native.Moment | None) -> None:
    """It has; that is told with its next batch, and makes no other step of the one that goes on."""
    global _turning
    if since is not None:
        _turning = False
        loop.know(since)


def left_loop() -> None:
    """No step has ended for long, and tensors come and go: watch what comes after the loop, if it is over."""
    if not skipping or _leaves_out or threading.get_ident() != _thread or not _native.recording():
        return
    if loop.called_less() if _before_root and not _optimizer else loop.roots:
        return  # A step is going on.
    if (unknown := loop.beyond()) is None:
        return
    if _optimizer or _by_gradient:
        _native.unseen("step-differs", "what came after the last step of a loop was not watched at first", unknown)
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
            _native.step_in_part(loop.back, loop.roots)
    _look(False)


def forked() -> None:
    """This process begins in the midst of its parent's steps: those that it makes itself, it has not told of yet."""
    global skipping, aside
    try:
        if skipping or aside:
            skipping = aside = False
            loop.watched()
            _see(False)
        _forget()
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
    if known is None and not _torch_ops.is_missed(tensor) and (like := _torch_unwatched.left(tensor)) is not None:
        known = new = _torch_ops.stored(tensor, False, like)
    if known is None or not (tensor.requires_grad and tensor.is_leaf) or (gradient := tensor.grad) is None:
        return new
    unknown = _torch_ops._known(gradient) is None
    with _torch_ops.on_device(known.device or "cpu"):
        _torch_ops.assign(gradient, _torch_ops.GRADIENT)
    if not unknown:
        return new
    known = _torch_ops._known(gradient)
    if known is not None and _torch_placement.now.tells and _torch_placement.where(tensor):
        _torch_placement.was_made_there(known)  # gradients are where that is which they are of
    return known


def _notice(again: bool = False, before: bool = False, told: bool = False) -> None:
    """Watch from here on; `again`: for one round, where nothing has changed; `before`: what the running line does is seen;
    `told`: that the step does something else."""
    global skipping, aside
    if skipping or aside:
        if _native.step_in_part(loop.back, loop.roots, before) and not told:
            loop.differs(0)
        skipping = aside = False
        loop.watched()
        _see(False)
        _look(True, again)
    if again:
        # One equal round is enough to go on.
        del _hashes[: -(_ROUNDS - 1) * _period]
        del _signals_seen[: -(_ROUNDS - 1) * _period]
        del _alive[: -(_ROUNDS - 1) * _period]
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
    from . import _torch_modules, _torch_reads

    _native.leave_unwatched(False, aside=beside)
    _native.mode_on()
    _torch_unwatched.watched_again()
    # All tensors may not be looked at now; gradients are what most loops leave.
    with sys.modules["torch"]._C.DisableTorchFunction():
        _torch_unwatched.found(map(_met, _torch_modules.parameters()))
    _torch_reads.know_placed()
    _torch.resume()
