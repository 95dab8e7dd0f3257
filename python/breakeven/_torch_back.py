"""What a script without a GPU has brought back from its device: `y.cpu()` is `y` itself there. The variable that was copied holds
the device's tensor, and all else that holds it the host's."""

from __future__ import annotations

import dis
import inspect
from collections import namedtuple

from . import _native, _torch_aside, _torch_ops, _torch_placed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Stays = tuple[Any, int, str | None]

#: A copy to the host: the instruction and its line, the variable that the device's tensor is in, whether the copy takes its
#: place, whether the host keeps what it was given.
Back = namedtuple("Back", "code at line name rebound kept")
COPY = "torch.Tensor.cpu"
#: What copies, and reads.
_METHODS = ("cpu", "to", "cuda", "item", "tolist", "numpy")
_NUMBERS = ("float", "int", "bool", "complex")
#: Instructions that read values, and whether last of what the host had.
_of_host: dict[tuple[Any, int], bool] = {}
_taken: dict[tuple[Any, int], frozenset[Any]] = {}
#: What lines put on the device, where it stays in a variable.
_staying: dict[_torch_placed.Line, Stays | None] = {}
#: Lines that hand what they put there to modules alone.
_passing: dict[_torch_placed.Line, bool] = {}
#: The variable, attribute or nothing that an instruction copies from, and whether the copy takes its place.
_sources: dict[tuple[Any, int], tuple[str | None, bool]] = {}


def comes(tensor: Any, known: Any) -> None:
    """A tensor is copied to the host by the call that runs; `known` is its storage."""
    if _torch_ops.gpu is not None or (_torch_aside.aware and _torch_aside.where(tensor) is False):
        return
    frame = _torch_ops.caller()
    name, rebound = _source(frame)
    # Of what training goes on with a copy is used up at once, but where a module moves.
    moves = frame.f_globals.get("__name__") == "torch.nn.modules.module"
    kept = moves or known.role not in (_torch_ops.PARAMETER, _torch_ops.GRADIENT, _torch_ops.STATE)
    known.back = Back(*_torch_ops.at(frame), frame.f_lineno, name, rebound or moves, kept)
    if kept and _torch_placed.is_whole(tensor, known):
        _move(known, True)


def stays(by: _torch_placed.Line) -> Stays | None:
    """The variable that what a line puts on the device stays in, on the host, none where it is on the device in passing;
    None where it is in no variable."""
    frame = _torch_ops.caller()
    if (frame.f_code, frame.f_lineno) == by:
        name, rebound = _source(frame)
        _staying[by] = None if name is None or rebound else (*by, None if _passes(frame) else name)
    return _staying.get(by)


def is_of(stays: Stays) -> bool:
    """Whether the line that runs takes that variable, or is not the one that has the device's tensor in passing."""
    code, line, name = stays
    frame = _within(code)
    if name is None:
        return _torch_ops.phase != "backward" and (frame is None or frame.f_lineno != line)
    return frame is not None and frame.f_lineno != line and name in takes(code, frame.f_lineno)


def _passes(frame: Any) -> bool:
    """Whether the line that a frame is at keeps nothing but what a module makes of it."""
    at = frame.f_code, frame.f_lineno
    if at not in _passing:
        _passing[at] = not _torch_placed.keeps(*at) and _takes_module(frame)
    return _passing[at]


def _takes_module(frame: Any) -> bool:
    """Whether a module is among what a line takes: a variable, or an attribute of one."""
    names = takes(frame.f_code, frame.f_lineno)
    values = [frame.f_locals.get(name, frame.f_globals.get(name)) for name in names]
    for value in list(values):
        try:
            held = object.__getattribute__(value, "__dict__")
        except AttributeError:
            continue
        for holder in (held, held.get("_modules")):
            values += [holder.get(name) for name in names] if isinstance(holder, dict) else []
    return any(issubclass(type(value), _torch_ops._torch.nn.Module) for value in values)


def is_gone(known: Any) -> bool:
    """Whether what was put on the device of a storage is gone from there, though the tensor lives: the function that had it
    in a variable is over, or this line puts the same variable there as another has done, in another loop."""
    frame = _torch_ops.caller()
    return bool(known.put_by) and not known.placed and all(_has_gone(code, line, frame) for code, line in known.put_by)


def _has_gone(code: Any, line: int, frame: Any) -> bool:
    """The same of what one line has put there."""
    if _torch_placed.keeps(code, line):
        return False
    names = _torch_placed.stored(code, line)
    if frame.f_code is code:
        source, _ = _source(frame)
        return frame.f_lineno != line and source in names
    if not code.co_flags & inspect.CO_OPTIMIZED or _within(code) is not None:
        return False  # of a module, whose variables stay, or running
    lines = {number for *_, number in code.co_lines() if number is not None}
    return not any(names & takes(code, number) and _torch_placed.keeps(code, number) for number in lines)


def _within(code: Any) -> Any:
    """The innermost frame of this code, in which something runs; None where nothing does."""
    if _torch_ops.phase == "backward":
        return None
    frame = _torch_ops.caller()
    while frame is not None and frame.f_code is not code:
        frame = frame.f_back
    return frame


def leaves(known: Any) -> None:
    """It is on the device all the same, or again."""
    if known.back is not None:
        known.back = None
        _move(known, False)


def _move(known: Any, host: bool) -> None:
    """Its memory is the host's from now on, or the device's; the device has the values."""
    if _torch_aside.aware and not known.aside:
        _native.storage_side(known.id, host)
        _native.storage_put(known.id, 0)


def is_hosts(known: Any) -> bool:
    """Whether what runs takes the host's copy of a storage, if there is one, and not what is on the device."""
    if known.back is None or _torch_ops.phase == "backward":
        return False
    back: Back = known.back
    frame = _within(back.code)
    if frame is not None and frame.f_lineno == back.line:
        again = frame is _torch_ops.caller() and _torch_ops.at(frame)[1] != back.at and _source(frame)[0] == back.name
        return bool(back.rebound or back.name is None or not again)
    return back.kept and (back.rebound or frame is None or back.name not in takes(frame.f_code, frame.f_lineno))


def is_read(known: Any, name: str) -> bool:
    """Whether the call that runs reads what the host has got; where nobody knows the storage (None), as it did last."""
    frame = _torch_ops.caller()
    at = _torch_ops.at(frame)
    if known is not None:
        _of_host[at] = known.back is not None and _has(known, frame, name == COPY)
        if name == COPY and not _of_host[at]:
            leaves(known)
    return _of_host.get(at, False)


def _has(known: Any, frame: Any, copies: bool) -> bool:
    """Whether the host has already got what it reads, or copies, of a storage."""
    back: Back = known.back
    if copies and (back.rebound or frame.f_code is not back.code or _torch_ops.at(frame)[1] == back.at):
        return bool(back.rebound)
    source, _ = _source(frame)
    if frame.f_code is back.code and source is not None:
        return bool(back.rebound or source != back.name)
    return not copies and is_hosts(known)


def takes(code: Any, number: int) -> frozenset[Any]:
    """What variables and attributes a line takes."""
    if (code, number) not in _taken:
        loads = (step.argval for step in _torch_placed.instructions(code, number) if step.opname.startswith("LOAD_"))
        _taken[code, number] = frozenset(value for value in loads if isinstance(value, str))
    return _taken[code, number]


def _source(frame: Any) -> tuple[str | None, bool]:
    at = _torch_ops.at(frame)
    if at not in _sources:
        name = _copied_from(*at)
        steps = _torch_placed.instructions(frame.f_code, frame.f_lineno)
        stored = {step.argval for step in steps if step.opname.startswith("STORE_") and step.offset > at[1]}
        _sources[at] = name, name is not None and name in stored
    return _sources[at]


def _copied_from(code: Any, at: int) -> str | None:
    """The variable or attribute `y` of `y.cpu()`, `y.to("cpu")`, `y.detach().tolist()` and `float(y)`; None for what no variable
    holds."""
    steps = [step for step in dis.get_instructions(code) if step.offset <= at and step.opname != "PRECALL"][:-1]
    if len(steps) > 1 and steps[-2].argval in _NUMBERS and steps[-1].opname.startswith("LOAD_"):
        return str(steps[-1].argval)
    while steps and not (steps[-1].opname in _torch_placed.METHODS and steps[-1].argval in _METHODS):
        if steps.pop().opname.startswith("CALL"):
            return None
    while len(steps) > 2 and steps[-2].opname.startswith("CALL") and steps[-3].opname in _torch_placed.METHODS:
        steps = steps[:-2]
        if steps[-1].argval == "cpu":
            return None
    last = steps[-2] if len(steps) > 1 else None
    return last.argval if last is not None and last.opname.startswith("LOAD_") and isinstance(last.argval, str) else None
