"""What a script without a GPU has brought back from its device: `y.cpu()` is `y` itself there. The variable that was copied holds
the device's tensor, and all else that holds it the host's."""

from __future__ import annotations

import builtins
import functools
import itertools
import types
import weakref
from collections import namedtuple

from . import _native, _torch_aside, _torch_ops, _torch_placed

TYPE_CHECKING = False
if TYPE_CHECKING:
    import dis
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any

#: A copy to the host: the instruction and its line, the variable that the device's tensor is in, whether the copy takes its
#: place, whether the host keeps what it was given; in which code what variables and attributes hold the device's tensor, and
#: which hold others in the same memory, that are on the device as well: None for any code; and which callers' code, at which line,
#: gave it what variables and attributes still hold there.
Back = namedtuple("Back", "code at line name rebound kept holders beside callers")
#: What stays on the host of what a line puts on the device: the line; what variable and attribute that is in and, in a loop, what it
#: is known by there; the names of it that other code may have, too; whether the line uses up what is on the device, so that nothing has it
#: afterwards; and which callers' code, as of a `Back`.
Stays = namedtuple("Stays", "code line names shared used callers")
#: What a loader takes stays.
OF_DATA = Stays(None, 0, frozenset(), frozenset(), False, ())
COPY = "torch.Tensor.cpu"
#: What copies, and reads.
_METHODS = ("cpu", "to", "cuda", "item", "tolist", "numpy")
_NUMBERS = ("float", "int", "bool", "complex")
#: Where a comprehension begins that is part of its function, as from Python 3.12 on: what its variable was is put aside, to be stored
#: again at its end.
_INLINED = "LOAD_FAST_AND_CLEAR"
_ELEMENT = "BINARY_SUBSCR"
#: Instructions that read values, and whether last of what the host had.
_of_host: dict[tuple[Any, int], bool] = {}
#: What lines take: names of variables, or loops that give them values and what these go through.
_reached: dict[tuple[Any, int], frozenset[Any]] = {}
#: PyTorch's functions that give what they are given, or parts of it.
_VIEWS = frozenset(
    "as_strided as_tensor asarray atleast_1d atleast_2d atleast_3d broadcast_tensors broadcast_to chunk detach diagonal flatten "
    "hsplit imag moveaxis movedim narrow permute ravel real reshape select split squeeze swapaxes swapdims t tensor_split "
    "transpose unbind unflatten unsqueeze view_as_complex view_as_real vsplit".split()
)
#: Methods that fill what holds tensors.
_FILLS = frozenset(("update", "extend", "__setitem__"))
#: Methods of a tensor that keep what they are given.
_KEEP = frozenset(("set_", "backward", "register_hook"))
#: Loops that give values to a variable.
_loops: dict[tuple[Any, str | None], list[tuple[int, int, frozenset[str] | None]]] = {}
#: Where code gives a variable a value.
_stores: dict[tuple[Any, str | None], list[int]] = {}
#: What a comprehension with a code of its own calls that.
_OF_COMPREHENSION = ".0"
_taken: dict[tuple[Any, int], frozenset[Any]] = {}
#: What stayed last where lines put something on the device, by the instruction that does.
_staying: dict[_torch_placed.Line, dict[int, Stays | None]] = {}
#: How many callers are looked at that gave each other what is copied.
_CALLERS = 8
#: Parts of tensors that were copied to the host, by identity: one that a variable holds may be the host's.
_parts: dict[int, Any] = {}
#: What takes what instructions give, as `taken_by` has it.
_users: dict[tuple[Any, int], tuple[str, ...] | None] = {}
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
    where = frame.f_lineno, name, rebound or moves, kept, _holders(frame, name), _beside(frame, tensor)
    known.back = Back(*_torch_ops.at(frame), *where, _callers(frame, name, tensor))
    if kept and _torch_placed.is_whole(tensor, known):
        _move(known, True)


def stays(by: _torch_placed.Line, tensor: Any, before: bool) -> Stays | None:
    """What keeps on the host what a line puts on the device, or has `before`; None where nothing does, or nobody knows."""
    frame, of_line = _torch_ops.caller(), _staying.setdefault(by, {})
    if before or (frame.f_code, frame.f_lineno) != by:
        return _together(list(of_line.values()))
    name, rebound = _source(frame)
    used, code = _is_used(frame), frame.f_code
    loop, through = _of_loop(code, name, frame.f_lasti)
    gone = rebound or name in _comprehended(_torch_placed.instructions(*by))
    names = set() if name is None or gone else {name, (name, loop)}
    names |= _kept(frame, through or ())
    shared = {name for name in names if isinstance(name, str) and _is_shared(code, name)}
    callers: tuple[Any, ...] = ()
    if not used and (through is None or not {name, *through}.isdisjoint(_parameters(code))):
        callers = tuple(_callers(frame, name, tensor))  # what it was given stays with whoever gave it
    known = used or names or callers
    stays = of_line[frame.f_lasti] = Stays(*by, frozenset(names), frozenset(shared), used, callers) if known else None
    return stays


def _kept(frame: Any, names: Iterable[str]) -> set[Any]:
    """What these variables, which a loop or comprehension goes through, are known by where the line of a frame gives them nothing else."""
    steps = _torch_placed.instructions(frame.f_code, frame.f_lineno)
    if any(step.argval in _FILLS for step in steps):
        return set()
    held = {one for name in set(names) - _filled(steps) for one in _holding(frame.f_code, name, frame.f_lasti)}
    given = _given(frame)
    return {one for one in held if (one[0] if isinstance(one, tuple) else one) not in given}


def _filled(steps: Sequence[dis.Instruction], after: int = -1) -> set[str]:
    """Variables and attributes to which instructions give an element, `after` one of these."""
    return {_name(steps[i - 2]) for i, step in enumerate(steps) if step.opname == "STORE_SUBSCR" and step.offset > after}


def _together(all: list[Stays | None]) -> Stays | None:
    """What stays of any of what a line puts there."""
    stay = [stays for stays in all if stays is not None]
    if not stay:
        return None
    names, shared = (frozenset().union(*(stays[i] for stays in stay)) for i in (2, 3))
    used, callers = len(stay) == len(all) and stay[0].used, tuple(one for stays in stay for one in stays.callers)
    return stay[0]._replace(names=names, shared=shared, used=used, callers=callers)


def _is_used(frame: Any) -> bool:
    """Whether what the call gives that a frame is at goes to a function, a module or an operator, and nowhere else."""
    at = _torch_ops.at(frame)
    if at not in _users:
        _users[at] = _torch_placed.taken_by(*at)
    user = _users[at]
    if not user:
        return user is not None
    *holder, name = user
    if holder and type(_value_of(frame, holder)) in _torch_ops.plain:
        return name not in _VIEWS and name not in _KEEP
    return _computes(_value_of(frame, user))


def _computes(value: Any) -> bool:
    """Whether it is a network's module or a function, which as a rule keep nothing of what they are given."""
    kind = type(value)
    if issubclass(kind, _torch_ops._torch.nn.Module):
        return True
    is_function = kind in (types.FunctionType, types.BuiltinFunctionType) or issubclass(kind, _native.Named)
    return is_function and getattr(value, "__name__", None) not in _VIEWS


def _value_of(frame: Any, names: Sequence[str]) -> Any:
    """The variable of this name, or what it has as an attribute of its own, and so on. No code of the script's runs for it."""
    first, *others = names
    value = _torch_ops.variables(frame).get(first, frame.f_globals.get(first))
    for name in others:
        try:
            held = object.__getattribute__(value, "__dict__")
        except AttributeError:
            return None
        value = held.get(name, dict.get(held.get("_modules") or {}, name))
    return value


def _is_shared(code: Any, name: str) -> bool:
    """Whether other code may have this variable or attribute, too."""
    return name.startswith(".") or name not in code.co_varnames or name in code.co_cellvars


def keeps(frame: Any) -> bool:
    """Whether the running line of a frame copies from an attribute, which stays what it is."""
    name, rebound = _source(frame)
    return name is not None and name.startswith(".") and not rebound


def is_of(stays: Stays) -> bool:
    """Whether the line that runs takes what stays on the host, and not what is on the device."""
    if stays is OF_DATA:
        return bool(_torch_ops.phase == "data")
    if any(_is_of_other(stays.code, name) for name in stays.shared):
        return True
    frame = _within(stays.code)
    if frame is not None and frame.f_lineno == stays.line:
        return False
    if stays.used:
        return bool(_torch_ops.phase != "backward")
    return _takes(frame, stays.names) or _is_callers(stays)


def _is_of_other(code: Any, name: str) -> bool:
    """Whether the line that runs of the script's innermost function, other than this code, takes a variable of several, or attribute; or
    that of one that called it."""
    frame = _torch_ops.caller() if _torch_ops.phase != "backward" else None
    while frame is not None and frame.f_code is not code and frame.f_code.co_filename == code.co_filename:
        if _is_shared(frame.f_code, name) and _takes(frame, (name,)):
            return True
        frame = frame.f_back
    return False


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
    if any(_takes_anywhere(names) if code is None else _takes(_within(code), names) for code, names in back.beside):
        return False
    if _is_callers(back):
        return False
    return back.kept and (back.rebound or not any(_takes(_within(code), names) for code, names in back.holders))


def _takes(frame: Any, names: Iterable[Any]) -> bool:
    """Whether the line that a frame is at takes one of these, or what a loop through them gives."""
    if frame is None:
        return False
    code, line = frame.f_code, frame.f_lineno
    if (code, line) not in _reached:
        at = next((step.offset for step in _torch_placed.instructions(code, line)), frame.f_lasti)
        _reached[code, line] = frozenset().union(*(_holding(code, name, at) for name in takes(code, line)))
    return not _reached[code, line].isdisjoint(names)


def _is_callers(one: Back | Stays) -> bool:
    """Whether what runs takes what a caller gave the function that copied it, and not what that gave the caller."""
    for code, line, names, attributes in one.callers:
        frame = _within(code)
        if frame is None or frame.f_lineno != line:
            if _takes(frame, names) or attributes and _takes_anywhere(attributes):
                return True
            if any(isinstance(name, str) and _is_shared(code, name) and _is_of_other(code, name) for name in names):
                return True
    return False


def _takes_anywhere(names: Iterable[Any]) -> bool:
    """The same of all lines of the script's that are being run."""
    frame = _torch_ops.caller()
    while frame is not None:
        if "-packages" not in frame.f_code.co_filename and _takes(frame, names):
            return True
        frame = frame.f_back
    return False


def is_read(known: Any, name: str) -> bool:
    """Whether the call that runs reads what the host has got; where nobody knows the storage (None), as it did last."""
    frame = _torch_ops.caller()
    at = _torch_ops.at(frame)
    if known is not None:
        hosts = known.back is not None and _has(known, frame, name == COPY)
        if hosts != _of_host.get(at, False):
            _native.reads_differ()
        _of_host[at] = hosts
        if name == COPY and not _of_host[at]:
            leaves(known)
    return _of_host.get(at, False)


def _has(known: Any, frame: Any, copies: bool) -> bool:
    """Whether the host has already got what it reads, or copies, of a storage."""
    back: Back = known.back
    source, _ = _source(frame)
    held = set() if source is None else _holding(frame.f_code, source, frame.f_lasti)
    if any(code in (None, frame.f_code) and not names.isdisjoint(held) for code, names in back.beside):
        return False
    if _is_callers(back):
        return False
    if copies and (back.rebound or frame.f_code is not back.code or _torch_ops.at(frame)[1] == back.at):
        return bool(back.rebound)
    if frame.f_code is back.code and source is not None:
        _, names = back.holders[0]
        return bool(back.rebound or names.isdisjoint(held))
    return not copies and is_hosts(known)


def takes(code: Any, number: int) -> frozenset[Any]:
    """What variables a line takes, and attributes, with and without the point before them."""
    if (code, number) not in _taken:
        steps = _torch_placed.instructions(code, number)
        loads = [step for step in steps if step.opname.startswith("LOAD_") and step.opname != _INLINED]
        named = [step for step in loads if isinstance(step.argval, str)]
        _taken[code, number] = frozenset(name for step in named for name in (step.argval, _name(step)))
    return _taken[code, number]


def _holders(frame: Any, name: str | None) -> list[tuple[Any, frozenset[Any]]]:
    """What holds the tensors that the line of a frame has in this variable: the variable, and what the loop or comprehension goes
    through that gives it values; the first is of the frame's own code."""
    code, at = frame.f_code, frame.f_lasti
    holders = [(code, frozenset((name, *_holding(code, name, at))))]
    if _of_loop(code, name, at)[1] is None and (outer := frame.f_back) is not None:
        holders.append((outer.f_code, _held(_torch_placed.instructions(outer.f_code, outer.f_lineno))))
    return holders


def _beside(frame: Any, tensor: Any) -> list[tuple[Any, frozenset[Any]]]:
    """What holds tensors in the memory of a part that is copied: variables of its code and of the caller's, and, wherever they are
    used, variables of the module and attributes of `self`."""
    if tensor._base is None and not tensor.is_inference():
        return []
    key, memory = id(tensor), tensor.untyped_storage()._cdata
    _parts[key] = weakref.ref(tensor, functools.partial(_parts.pop, key))  # no Python, in which a signal's handler might raise
    given = _given(frame)
    variables = {name: frame.f_globals.get(name) for name in frame.f_code.co_names}
    held = _torch_ops.variables(frame)
    variables |= _attributes(held)
    found = [(None, _sharing(frame, variables, memory, given))]
    found.append((frame.f_code, _sharing(frame, held, memory, given)))
    if (by := frame.f_back) is not None:
        found.append((by.f_code, _sharing(by, _torch_ops.variables(by), memory, set())))
    return [(code, names) for code, names in found if names]


def _given(frame: Any) -> set[Any]:
    """What the line of a frame is about to give a value."""
    steps = _torch_placed.instructions(frame.f_code, frame.f_lineno)
    return {_name(step) for step in steps if step.opname.startswith("STORE_") and step.offset > frame.f_lasti}


def _attributes(held: Mapping[str, Any]) -> dict[str, Any]:
    """Those of `self`, with a point before their names. No code of the script's runs for them."""
    try:
        attributes = object.__getattribute__(held.get("self"), "__dict__")
    except AttributeError:
        return {}
    return {f".{name}": value for name, value in dict.items(attributes)}


def _callers(frame: Any, name: str | None, tensor: Any) -> list[tuple[Any, int, frozenset[Any], frozenset[str]]]:
    """What still holds a tensor that a function was given by this name, in the code and at the line that called it: variables, and
    `self`'s attributes; so of who gave it to that. Of a comprehension, what its line takes."""
    found: list[tuple[Any, int, frozenset[Any], frozenset[str]]] = []
    try:
        memory = tensor.untyped_storage()._cdata
    except _torch_ops.REFUSED:
        return found
    names: set[Any] = {name, *(_of_loop(frame.f_code, name, frame.f_lasti)[1] or ())}
    while len(found) < _CALLERS:
        apart = any(_of_loop(frame.f_code, name, frame.f_lasti)[1] is None for name in names)
        inner, given = _torch_ops.variables(frame), names.intersection(_parameters(frame.f_code))
        if not (apart or given) or (frame := _of_script(frame.f_back)) is None:
            return found
        # The tensor itself, and what holds it.
        objects = [inner.get(name) for name in given]
        held, code, line = _torch_ops.variables(frame), frame.f_code, frame.f_lineno
        names = {name for name, value in held.items() if _is_in(value, memory) or any(value is one for one in objects)}
        if apart:
            names |= _held(_torch_placed.instructions(code, line))
        attributes = frozenset(name for name, value in _attributes(held).items() if _is_in(value, memory))
        found.append((code, line, frozenset(_kept(frame, names)), attributes))
        names |= {of for name in names for of in _of_loop(code, name, frame.f_lasti)[1] or ()}
    return found


def _parameters(code: Any) -> tuple[str, ...]:
    return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]  # type: ignore[no-any-return]


def _of_script(frame: Any) -> Any:
    """This frame, or the innermost one around it, that is no library's."""
    while frame is not None and "-packages" in frame.f_code.co_filename:
        frame = frame.f_back
    return frame


def _sharing(frame: Any, variables: Mapping[str, Any], memory: int, given: set[str]) -> frozenset[Any]:
    """What those of these variables are known by in a frame that hold tensors in this memory, but for those that are `given` one now."""
    same = (name for name, value in variables.items() if name not in given and _is_beside(value, memory))
    return frozenset().union(*(_holding(frame.f_code, name, frame.f_lasti) for name in same))


def _is_beside(value: Any, memory: int) -> bool:
    """Whether a value is a tensor in this memory that nobody has copied to the host."""
    return id(value) not in _parts and _is_in(value, memory)


def _is_in(value: Any, memory: int) -> bool:
    if type(value) not in _torch_ops.plain:
        return False
    try:
        return bool(value.untyped_storage()._cdata == memory)
    except _torch_ops.REFUSED:
        return False


def _holding(code: Any, name: str | None, at: int) -> set[Any]:
    """What a variable is known by at an instruction: its name or, in a loop that gives it values, that loop and what it goes through,
    unless it has been given another one since."""
    loop, names = _of_loop(code, name, at)
    if loop is None:
        return {name}
    return {(name, loop), *(() if _is_given_another(code, name, loop, at) else names or ())}


def _is_given_another(code: Any, name: str | None, loop: int, at: int) -> bool:
    """Whether a loop gives a variable something else than what it goes through, before an instruction in it."""
    if (code, name) not in _stores:
        steps = _torch_placed.steps(code)
        _stores[code, name] = [step.offset for step in steps if step.opname.startswith("STORE_") and step.argval == name]
    return sum(loop <= offset < at for offset in _stores[code, name]) > 1


def _of_loop(code: Any, name: str | None, at: int) -> tuple[int | None, frozenset[str] | None]:
    """The innermost loop around an instruction that gives values to a variable, None for none, and what it goes through; there None:
    what the line of the caller does, as of a comprehension."""
    if (code, name) not in _loops:
        _loops[code, name] = list(_loops_of(code, name))
    around = [(loop, names) for loop, end, names in _loops[code, name] if loop <= at < end]
    return around[-1] if around else (None, frozenset())


def _loops_of(code: Any, name: str | None) -> Iterator[tuple[int, int, frozenset[str] | None]]:
    """Where each loop that gives values to a variable begins and ends, and what it goes through."""
    steps = list(_torch_placed.steps(code))
    for i, step in enumerate(steps):
        if step.opname != "FOR_ITER":
            continue
        gives = itertools.takewhile(lambda one: one.opname.startswith(("STORE_", "UNPACK_")), steps[i + 1 :])
        if any(one.argval == name and one.opname.startswith("STORE_") for one in gives):
            line = next(line for first, last, line in code.co_lines() if first <= step.offset < last)
            before = [one for one in _torch_placed.instructions(code, line) if one.offset < step.offset]
            apart = any(one.argval == _OF_COMPREHENSION for one in before)
            yield step.offset, step.argval, None if apart else _held(before)


def _held(steps: Iterable[dis.Instruction]) -> frozenset[str]:
    """Variables and attributes that these load, of those that may hold tensors: not what an attribute is taken of that no
    tensor and no dictionary has."""
    names, steps = set(), list(steps)
    for step, then in itertools.zip_longest(steps, steps[1:]):
        variable = _torch_placed.loads(step) and step.opname != _INLINED
        attribute = step.opname == "LOAD_ATTR" and "self" not in step.argrepr
        takes = then is not None and then.opname in _torch_placed.METHODS
        if not (variable or attribute) or hasattr(builtins, step.argval) or step.argval in ("self", "cls", "torch"):
            continue
        if not takes or any(hasattr(kind, then.argval) for kind in (*_torch_ops.plain[:1], dict)):
            names.add(step.argval)
    return frozenset(names)


def _comprehended(steps: Iterable[dis.Instruction]) -> set[Any]:
    """Variables of comprehensions that are part of the line's function: they are gone after it."""
    return {step.argval for step in steps if step.opname == _INLINED}


def _source(frame: Any) -> tuple[str | None, bool]:
    at = _torch_ops.at(frame)
    if at not in _sources:
        name = _copied_from(*at)
        steps = list(_torch_placed.instructions(frame.f_code, frame.f_lineno))
        stored = {_name(step) for step in steps if step.opname.startswith("STORE_") and step.offset > at[1]}
        stored |= _filled(steps, at[1])
        stored -= _comprehended(steps)
        _sources[at] = name, name is not None and name in stored
    return _sources[at]


def _copied_from(code: Any, at: int) -> str | None:
    """The variable `y`, or attribute `.y`, of `y.cpu()`, `y.to("cpu")`, `y.detach().tolist()`, `y[0].cpu()` and `float(y)`; None for what no
    variable holds."""
    steps = [step for step in _torch_placed.steps(code) if step.offset <= at and step.opname not in ("PRECALL", "PUSH_NULL")][:-1]
    if len(steps) > 1 and steps[-2].argval in _NUMBERS and steps[-1].opname.startswith("LOAD_"):
        return _name(steps[-1])
    while steps and not (steps[-1].opname in _torch_placed.METHODS and steps[-1].argval in _METHODS):
        if steps.pop().opname.startswith("CALL"):
            return None
    while len(steps) > 2 and steps[-2].opname.startswith("CALL") and steps[-3].opname in _torch_placed.METHODS:
        steps = steps[:-2]
        if steps[-1].argval == "cpu":
            return None
    last = steps[-2] if len(steps) > 1 else None
    if last is not None and last.opname == _ELEMENT and all(step.opname.startswith("LOAD_") for step in steps[-4:-2]):
        last = steps[-4] if len(steps) > 3 else None
    return _name(last) if last is not None and last.opname.startswith("LOAD_") and isinstance(last.argval, str) else None


def _name(step: dis.Instruction) -> str:
    """What an instruction takes or stores: a variable, or an attribute with a point before it."""
    return f".{step.argval}" if step.opname in ("LOAD_ATTR", "STORE_ATTR") else str(step.argval)
