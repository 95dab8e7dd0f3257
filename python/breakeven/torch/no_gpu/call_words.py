"""What the call that is being made says about devices: its words and names, as its instructions have them."""

from __future__ import annotations

import dis
import functools
import itertools
import sys

from .. import frames

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Steps = list[dis.Instruction]


#: Instructions that take a method.
METHODS = ("LOAD_METHOD", "LOAD_ATTR")
#: Parts of a call that say nothing.
_SILENT = ("PRECALL", "PUSH_NULL", "DICT_MERGE", "NOP")
#: What `device(…)` answers of a device that no variable holds, and of keywords that may hold one.
UNKNOWN, PERHAPS = object(), object()


@functools.cache
def instructions(code: Any) -> Steps:
    """What code does, one variable an instruction: CPython 3.13 has some that take or give two."""
    found: Steps = []
    for step in dis.get_instructions(code):
        words = step.opname.split("_")
        if words[1:2] == words[3:] == ["FAST"]:
            pairs = zip((words[:2], words[2:]), step.argval)
            found += [step._replace(opname="_".join(name), argval=variable) for name, variable in pairs]
        else:
            found.append(step)
    return found


@functools.cache
def line(code: Any, number: int) -> Steps:
    """What a line does."""
    of_line = [range(first, last) for first, last, line in code.co_lines() if line == number]
    return [step for step in instructions(code) if any(step.offset in part for part in of_line)]


@functools.cache
def call(code: Any, at: int) -> Steps:
    """The call at an instruction, from what is called to the call itself, on however many lines; before CPython 3.11,
    which does not say where an expression begins, its line up to it. Empty where that is no call."""
    before = [step for step in instructions(code) if step.offset <= at]
    if not before or not before[-1].opname.startswith("CALL"):
        return []
    if sys.version_info < (3, 11):
        number = next((number for first, last, number in code.co_lines() if first <= at < last), None)
        return [step for step in line(code, number) if step.offset <= at]
    whole = before[-1].positions
    return [step for step in before if step.opname not in _SILENT and _is_in(step.positions, whole)]


def _is_in(part: Any, whole: Any) -> bool:
    if None in part or None in whole:
        return bool(part.lineno == whole.lineno)
    begins = (whole.lineno, whole.col_offset) <= (part.lineno, part.col_offset)
    return bool(begins and (part.end_lineno, part.end_col_offset) <= (whole.end_lineno, whole.end_col_offset))


@functools.cache
def says_host(code: Any, at: int) -> bool:
    """Whether the call at an instruction names the CPU in a word or a name that it is given, and no GPU."""
    steps = call(code, at)
    moves = [i for i, step in enumerate(steps) if step.opname in METHODS and step.argval in ("to", "cuda")]
    words, names = set(), set()
    for step in steps[moves[-1] + 1 if moves else 0 :]:
        if step.opname.startswith("LOAD_CONST"):
            words.add(str(step.argval)[:4])
        elif step.opname.startswith("LOAD_") and step.opname not in METHODS:
            names.add(str(step.argval).lower())
    return "cuda" not in words and ("cpu" in words or any("cpu" in name for name in names))


@functools.cache
def names(code: Any, at: int) -> frozenset[str]:
    """Functions and methods that the call at an instruction names."""
    return frozenset(step.argval for step in call(code, at) if isinstance(step.argval, str))


def device(frame: Any) -> Any:
    """The device that the call gives which a frame is at, or a tensor by whose `.device` it does so: `None` for none,
    `UNKNOWN` for what no variable holds, `PERHAPS` for keywords that none does."""
    how, name = _device(*frames.at(frame))
    if name is None:
        return PERHAPS if how == "**" else UNKNOWN if how else None
    value = frames.variables(frame).get(name, frame.f_globals.get(name, UNKNOWN))
    if how == "**":
        return value.get("device") if isinstance(value, dict) else PERHAPS
    return value


@functools.cache
def _device(code: Any, at: int) -> tuple[str | None, str | None]:
    """How the call at an instruction names a device: by `device=`, by a tensor's `.device`, by keywords (`**`); and the
    variable that holds it."""
    steps = call(code, at)[-5:]
    if len(steps) < 2:
        return None, None
    *before, last = steps
    if last.opname == "CALL_FUNCTION_EX":
        return "**", before[-1].argval if loads(before[-1]) else None
    words = code.co_consts[before[-1].arg] if before[-1].opname in ("KW_NAMES", "LOAD_CONST") else None
    keys = words if isinstance(words, tuple) else ()
    by_name = "device" in keys
    given = before[:-1] if by_name else before
    if given and (not by_name or keys[-1] == "device"):
        if len(given) > 1 and (given[-1].opname, given[-1].argval) == ("LOAD_ATTR", "device") and loads(given[-2]):
            return ".device", given[-2].argval
        if by_name and loads(given[-1]):
            return "device=", given[-1].argval
    return ("device=", "device") if by_name else (None, None)


def loads(step: Any) -> bool:
    """Whether an instruction loads a variable."""
    return step.opname.startswith(("LOAD_FAST", "LOAD_NAME", "LOAD_GLOBAL", "LOAD_DEREF")) and isinstance(
        step.argval, str
    )


@functools.cache
def is_replaced(code: Any, number: int, at: int) -> bool:
    """Whether nothing holds the tensor any longer that `.cpu()` at an instruction copies: a call has just given it
    (`net(x).cpu()`), or the line gives the copy its name (`y = y.detach().cpu()`)."""
    steps = call(code, at)[:-1]
    while steps and not (steps[-1].opname in METHODS and steps[-1].argval in ("cpu", "to", "cuda")):
        steps = steps[:-1]
    steps = steps[:-1]
    while len(steps) > 2 and steps[-1].opname.startswith("CALL") and steps[-2].opname in METHODS:
        steps = steps[:-2]
    if not steps or steps[-1].opname.startswith("CALL"):
        return bool(steps)
    stores = [step for step in line(code, number) if step.offset > at and step.opname.startswith("STORE_")]
    return steps[-1].argval in [step.argval for step in stores]


@functools.cache
def is_handed_on(code: Any, at: int) -> bool:
    """Whether what the call at an instruction gives is handed to another call (`net(x.to(device))`), and no variable
    holds it."""
    if sys.version_info < (3, 11) or not call(code, at):
        return False
    whole = call(code, at)[-1].positions
    after = itertools.takewhile(_goes_on, (step for step in instructions(code) if step.offset > at))
    around = (step for step in after if step.opname.startswith("CALL") and step.positions != whole)
    outer = next((step for step in around if _is_in(whole, step.positions)), None)
    if outer is None or (outer.positions.lineno, outer.positions.col_offset) == (whole.lineno, whole.col_offset):
        return False  # a method of it
    return names(code, outer.offset).isdisjoint(("append", "extend", "add", "update", "setdefault", "register_buffer"))


def _goes_on(step: Any) -> bool:
    """Whether what lies on the stack before an instruction is still there after it."""
    return not step.opname.startswith(("STORE_", "POP_TOP", "RETURN_", "YIELD_", "LIST_", "SET_ADD", "MAP_ADD"))


@functools.cache
def is_let_go(code: Any, number: int) -> bool:
    """Whether a line gives what it makes to variables and keeps none of it otherwise: made again, the last is gone."""
    steps = line(code, number)
    kept = ("LIST_APPEND", "SET_ADD", "MAP_ADD", "STORE_SUBSCR", "STORE_ATTR", "YIELD_VALUE", "RETURN_VALUE")
    calls = any(step.argval in ("append", "extend", "add", "setdefault", "update") for step in steps)
    stores = any(step.opname.startswith("STORE_") for step in steps)
    return stores and not calls and not any(step.opname in kept for step in steps)
