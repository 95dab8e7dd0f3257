"""What a script puts on its device where it asks for a GPU and gets none: `.to(device)` gives the tensor back, so that
which tensors are there is known of the tensors themselves. Of the rows of one that stays, each is put there apart."""

from __future__ import annotations

import dis
import functools
import sys
import weakref

from . import _torch_aside, _torch_back, _torch_ops, _torch_sparse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    Line = tuple[Any, int]
    Steps = list[dis.Instruction]

#: Instructions that take a method.
METHODS = ("LOAD_METHOD", "LOAD_ATTR")
#: Those that take a part of something.
_PARTS = ("BINARY_SUBSCR", "BINARY_SLICE")
#: Whether the call at an instruction names the CPU in words, and no GPU.
_says_cpu: dict[tuple[Any, int], bool] = {}
#: Leaves of the graph that are on the host, by identity, and have been put on the device: their gradient so far, and how often they
#: were since it came.
returning: dict[int, tuple[Any, tuple[int, int] | None, int]] = {}
#: What lines do.
_does: dict[Line, Steps] = {}


def line() -> tuple[Line, int, bool]:
    """The script's line that calls what our caller stands in for, at which instruction, and whether that line does so, and no
    library's. A library's line that leaves what it copies on the host counts as the script's."""
    frame: Any = sys._getframe(2)
    direct = True
    while frame.f_back is not None:
        if not frame.f_globals.get("__name__", "").startswith("breakeven."):
            if "-packages" not in frame.f_code.co_filename or direct and _torch_back.keeps(frame):
                break
            direct = False
        frame = frame.f_back
    return (frame.f_code, frame.f_lineno), _torch_ops.at(frame)[1], direct


def put(tensor: Any, known: Any, by: Line, part: Any = None, before: bool = False, module: bool = False) -> None:
    """A tensor, whose storage is `known`, has been put on the script's device by this line, now or `before`, or as one of a `module`'s;
    of a sparse one this part."""
    span = _span(tensor if part is None else part)
    known.put_by.add(by)
    _torch_back.leaves(known)
    # A buffer may be what a data set has, too.
    kept = module and type(tensor) is _torch_ops.plain[0]
    stays = _torch_back.OF_DATA if kept else _torch_back.stays(by, tensor, before)
    for i, (ref, *over, of) in enumerate(known.put):
        if ref() is tensor and over == [*span]:
            if not before or of is None or (of.code, of.line) != by:
                known.put[i] = ref, *span, stays
            return
    known.put[:] = [part for part in known.put if (other := part[0]()) is not None and other is not tensor]
    used = stays is not None and stays.used
    known.put.append((_torch_aside.put(tensor, known, span, by, used), *span, stays))


def returns(tensor: Any) -> bool:
    """Whether the gradient of what is put on the device goes back to a tensor that the script has on the host."""
    if not (tensor.requires_grad and tensor.is_leaf and sys.modules["torch"].is_grad_enabled()):
        return False
    key = id(tensor)
    _, before, times = returning.get(key) or (None, _gradient(tensor), 0)
    returning[key] = weakref.ref(tensor, functools.partial(returning.pop, key)), before, times + 1
    return True


def _gradient(tensor: Any) -> tuple[int, int] | None:
    """What tells a gradient from what it was before."""
    return None if tensor.grad is None else (id(tensor.grad), tensor.grad._version)


def returned() -> list[Any]:
    """The gradients that have come back to the host since this was asked last."""
    came: list[Any] = []
    for key, (ref, before, times) in list(returning.items()):
        tensor = ref()
        if tensor is not None and (now := _gradient(tensor)) not in (None, before):
            came += [tensor.grad] * max(times, 1)
            returning[key] = ref, now, 0
    return came


def is_there(tensor: Any, known: Any) -> bool:
    """Whether a tensor was computed on the device, or is one that was put there or a part of one, and not the host's copy."""
    if known.back is not None and _torch_back.is_hosts(known):
        return False
    if known.placed or not known.put:
        return known.placed  # type: ignore[no-any-return]
    first, last = _span(tensor)
    return any(ref() is not None and begin <= first and last <= end and _counts(stays) for ref, begin, end, stays in known.put)


def _counts(stays: Any) -> bool:
    """Whether what the running line takes of something that was put there is the device's, and not what stays on the host."""
    return stays is None or not _torch_back.is_of(stays)


def holds(known: Any) -> bool:
    """Whether a storage has anything on the device."""
    if _torch_back.is_hosts(known):
        return False
    return known.placed or any(ref() is not None and _counts(stays) for ref, *_, stays in known.put)


def is_whole(tensor: Any, known: Any) -> bool:
    """Whether a tensor is all of its storage."""
    first, last = _span(tensor)
    return last - first + 1 >= known.bytes  # type: ignore[no-any-return]


def _span(tensor: Any) -> tuple[int, int]:
    """The bytes of its storage that a tensor lies in: first, last. Of a sparse one: its values."""
    tensor = _torch_sparse.parts(tensor)[-1]
    first, size = tensor.storage_offset(), tensor.element_size()
    if tensor.is_contiguous():
        extent = tensor.numel()
    else:
        extent = 1 + sum((length - 1) * stride for length, stride in zip(tensor.shape, tensor.stride()))
    return first * size, (first + extent) * size - 1


def means_host(device: Any, by: Line, at: int, direct: bool) -> bool:
    """Whether what is given to `.to` is the host, and not the device that a script has for want of a GPU: then the script
    says so in a word or a name, in its call at this instruction of a line; `direct`: which is given the device itself."""
    if str(device) != "cpu":
        return False
    key = by[0], at
    if key not in _says_cpu:
        _says_cpu[key] = _says(*by, at, direct)
    return _says_cpu[key]


def steps(code: Any) -> Iterator[dis.Instruction]:
    """What code does, one variable an instruction: CPython 3.13 has some that take or give two."""
    for step in dis.get_instructions(code):
        words = step.opname.split("_")
        if words[1:2] == words[3:] == ["FAST"]:
            for name, variable in zip((words[:2], words[2:]), step.argval):
                yield step._replace(opname="_".join(name), argval=variable)
        else:
            yield step


def instructions(code: Any, number: int) -> Steps:
    """What a line does."""
    if (code, number) not in _does:
        of_line = [range(first, last) for first, last, line in code.co_lines() if line == number]
        _does[code, number] = [step for step in steps(code) if any(step.offset in part for part in of_line)]
    return _does[code, number]


def called(code: Any, at: int) -> tuple[Steps, Steps] | None:
    """What the call at an instruction calls, and what it is given, on however many lines; None where that is no call.
    On the stack what is called lies lowest, and a place beside it; before CPython 3.11 only methods had that."""
    does = [step for step in steps(code) if step.offset <= at]
    call = does[-1]
    if not call.opname.startswith("CALL"):
        return None
    depths = _depths(code)
    below = depths[call.offset] + dis.stack_effect(call.opcode, call.arg) - 1

    def last(depth: int) -> int:
        return max((i for i, step in enumerate(does) if depths[step.offset] <= depth), default=0)

    beside = sys.version_info >= (3, 11) or call.opname == "CALL_METHOD"
    callee, given = last(below), last(below + 1) + beside
    while does[given].opname in METHODS:  # of what is called, where the place is below: nothing that is given begins so
        given += 1
    return does[callee:given], does[given:-1]


def taken_by(code: Any, at: int) -> tuple[str, ...] | None:
    """The names, one an attribute of the other, of what is called with what the call at an instruction gives, or with what methods of
    that give; none where an operator takes it, and `None` where it is kept, or nothing tells."""
    depths, place = _depths(code), 0
    for step in dis.get_instructions(code):
        depth = depths[step.offset]
        if step.opname == "PRECALL":
            continue  # of CPython 3.11, a part of the call
        if step.offset <= at:
            place = depth + dis.stack_effect(step.opcode, step.arg)
        elif step.opname in _PARTS or step.argrepr == "[]":
            if depth <= place:
                return ()  # an index
        elif step.opname.startswith(("BINARY_", "COMPARE_", "INPLACE_")) and depth <= place + 1:
            return ()
        elif step.opname.startswith("CALL") and (found := called(code, step.offset)) is not None:
            callee, given = found
            if given and given[0].offset <= at:
                return _names_of(callee)
            if callee[0].offset <= at < callee[-1].offset:
                continue  # a method of it
        elif depth + dis.stack_effect(step.opcode, step.arg) < place or step.opcode in dis.hasjrel:
            return None
    return None


def _names_of(callee: Steps) -> tuple[str, ...] | None:
    taken = [step for step in callee if step.opname != "PUSH_NULL"]
    if not taken or not loads(taken[0]) or any(step.opname not in METHODS for step in taken[1:]):
        return None
    return tuple(str(step.argval) for step in taken)


def loads(step: Any) -> bool:
    """Whether an instruction loads a variable."""
    return step.opname.startswith(("LOAD_FAST", "LOAD_NAME", "LOAD_GLOBAL", "LOAD_DEREF")) and isinstance(step.argval, str)


def _depths(code: Any) -> dict[int, int]:
    """How much lies on the stack before each instruction; where only an error leads, counted from anything."""
    depths: dict[int, int] = {}
    depth = 0
    for step in dis.get_instructions(code):
        depth = depths.setdefault(step.offset, depth)
        if step.opcode in dis.hasjrel or step.opcode in dis.hasjabs:
            depths.setdefault(step.argval, depth + dis.stack_effect(step.opcode, step.arg, jump=True))
        depth += dis.stack_effect(step.opcode, step.arg, jump=False)
    return depths


def _says(code: Any, number: int, at: int, direct: bool) -> bool:
    callee, given = called(code, at) or ([], instructions(code, number))
    if direct or any(step.opname in METHODS and step.argval == "to" for step in callee[-2:]):
        return say_host(given)
    return say_host([*instructions(code, number), *given])


def say_host(does: Steps) -> bool:
    """Whether instructions name the CPU in words, and no GPU."""
    words, names = set(), set()
    for step in does:
        if step.opname.startswith("LOAD_"):
            if step.opname.startswith("LOAD_CONST"):
                words.add(str(step.argval)[:4])
            elif not step.opname.startswith(("LOAD_ATTR", "LOAD_METHOD")):
                names.add(str(step.argval).lower())
    return "cuda" not in words and ("cpu" in words or any("cpu" in name for name in names))
