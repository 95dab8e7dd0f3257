"""What stays on the host of a script that has its tensors on a device by itself and gets no GPU: what it makes there without
naming the device, and what comes of that alone. Where it has put something on its device (`.to(device)`,
`torch.zeros(n, device=device)`), such ops prepare data; before that, and where it never does, nobody knows."""

from __future__ import annotations

import dis
import functools
import itertools
import sys
import weakref

from . import _native, _torch_back, _torch_gpu, _torch_ops, _torch_placed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_torch: Any = None
#: Whether this is told: the script runs without a GPU, real or imitated.
tells = False
#: Whether the script has put something on its device.
aware = False
#: What the op does that is being told: `True` on the host, `False` on the device, `None` where nothing tells.
_now: bool | None = None
#: Whether that op takes what the host has filled: a GPU would be sent it.
filling = False
#: Whether the host has filled what that op gives, and a GPU is sent it then.
sent = False
#: Whether that op makes a tensor of another library's memory for a call that names the device, and the last one so made and
#: by which call: a copy that this makes of it is there.
_shares = False
_shared: tuple[int, Any] | None = None
#: What an op did that nobody saw: as far as its line tells, of the device's tensors (`True`) or of the host's.
missed_there: bool | None = None
#: How instructions name a device: not at all, by a tensor's, by anything else.
_named: dict[tuple[Any, int], tuple[str | None, str | None]] = {}
#: Copies that a variable holds, by the instruction that made them.
_copies: dict[tuple[Any, int], int] = {}
#: Lines that give what they make to variables.
_variables: dict[tuple[Any, int], bool] = {}
#: Ops that may be given what is on both sides.
_ACROSS = frozenset(
    f"aten.{name}"
    for name in (
        "copy_ _to_copy index index_put_ index_put _index_put_impl_ index_fill_ set_ "
        "_pack_padded_sequence _pack_padded_sequence_backward _ctc_loss _ctc_loss_backward"
    ).split()
)
#: Ops of the device's that copy indices from the host each time they are given them, and where these are.
_INDEXED = {
    **dict.fromkeys((f"aten.{name}" for name in "index index_put_ index_put _index_put_impl_".split()), "indices"),
    "aten.index_fill_": "index",
}
#: What gives two arrays, and the second on the host: how many sequences of a batch go on at each step.
PACKS = "aten._pack_padded_sequence"
#: By which C++ makes a tensor of a number that it is given beside tensors, where these are (`torch.where(mask, x, 0.5)`).
_NUMBER = "aten.scalar_tensor"
#: Functions that make a tensor of none.
_MAKES = frozenset("arange empty eye full linspace ones rand randint randn randperm tensor zeros".split())
#: Tensors that are looked at to know where a line's op ran.
_FEW = 64
_BY_NAME, _BY_KEYWORDS, _AS_ANOTHER = "device=", "**", "device=tensor.device"


def install(torch: Any) -> None:
    """Tell from now on."""
    global _torch, tells
    _torch, tells = torch, True


def begins(op: Any, given: dict[str, Any]) -> bool:
    """Whether an op that has run is the host's; what it makes is where it ran."""
    global _now, filling, sent, _shares
    filling, sent = op.fills, False
    tensors = [] if op.fills else list(_torch_ops.flat(list(given.values())))
    if _torch_ops.phase == "data":
        _now = not (tensors and aware and _side(op.name, tensors) is False)
    elif op.name == _NUMBER and aware and not _makes_numbers(frame := _torch_ops.caller()):
        there = _where_takes(frame)
        _now = None if there is None else not there
    elif not tensors:
        there = _is_named(_torch_ops.caller())
        if there:
            _learn()
            _shares = op.fills and not given["self"].untyped_storage().resizable()
            sent = op.name == _torch_gpu.FILLED and not _shares
        _now = None if there is None else not (sent or (there and not op.fills))
    else:
        _now = _side(op.name, tensors)
        sent = _now is False and op.name == "aten.fill_" and not tensors[0].dim() and _sets_item(_torch_ops.caller())
        known = _torch_ops._known(tensors[0]) if op.name == "aten._to_copy" else None
        sent |= known is not None and (known.id, _torch_ops.place()) == _shared
    return bool(_now)


def _makes_numbers(frame: Any) -> bool:
    """Whether a script makes tensors of numbers by itself there."""
    return "scalar_tensor" in _torch_back.takes(frame.f_code, frame.f_lineno)


def _side(name: str, tensors: list[Any]) -> bool | None:
    """Whether an op of these tensors is the host's. Where one is on the device, all are that were thought to be on the host,
    but for single values: else it could not run there."""
    sides = [(tensor, _torch_ops._known(tensor)) for tensor in tensors]
    if any(known is not None and _torch_placed.is_there(tensor, known) for tensor, known in sides):
        if name not in _ACROSS:
            for tensor, known in sides:
                if known is not None and tensor.dim() and not _torch_placed.is_there(tensor, known):
                    _torch_back.leaves(known)
                    if known.aside and not known.put:
                        was_made_there(known)
                elif known is not None and known.aside and not tensor.dim():
                    _native.storage_put(known.id, 0)  # a GPU is handed it with the kernel
        return False
    if all(known is not None for _, known in sides) and any(_is_hosts(*side) for side in sides if side[1] is not None):
        return True
    return None


def _is_hosts(tensor: Any, known: Any) -> bool:
    """Whether a tensor that is not on the device is on the host."""
    return known.aside or _torch_back.is_hosts(known) or any(stays and ref() is tensor for ref, *_, stays in known.put)


def makes(made: bool) -> bool:
    """Whether a storage that is new, which the op has `made` or the host filled, is on the host alone."""
    return tells and (not made or bool(_now))


def is_there(made: bool) -> bool:
    """Whether it was made on the device, as far as the op's call says so."""
    return tells and made and _now is False


def ends(result: Any) -> None:
    """The op has been described, which gave this."""
    global _now, filling, _shares, _shared
    if _shares:
        _shared = (known.id, _torch_ops.place()) if (known := _torch_ops._known(result)) is not None else None
    _now, filling, _shares = None, False, False


def crosses(op: str, given: dict[str, Any]) -> _torch_gpu.Event | None:
    """What is told of an op that copies between host and device; None for others."""
    if op != "aten.copy_":
        return None
    source, target = where(given["src"]), where(given["self"])
    if source is target or None in (source, target):
        return None
    if target:
        return "torch.Tensor.to", [], [_torch_ops.describe(given["self"])], []
    return _torch_back.COPY, [_torch_ops.describe(given["src"])], [], []


def indices(op: str, given: dict[str, Any]) -> list[Any]:
    """Numbers of places that an op on the device is given from the host: they are copied for it alone. A mask is looked up on the
    host."""
    if not aware or _now is not False or op not in _INDEXED:
        return []
    tensors = _torch_ops.flat(given.get(_INDEXED[op], ()))
    return [one for one in tensors if one.dim() and one.dtype not in (_torch.bool, _torch.uint8) and where(one) is False]


def sends(given: list[Any], inputs: list[Any]) -> list[Any]:
    """Tell of indices that are copied for the op that is described by these inputs; its inputs without what is the host's."""
    for index in given:
        _torch_ops.crossed("torch.Tensor.to", [], [(*_torch_ops.described(index), 0)], False)
    copied = {known.id for index in given if (known := _torch_ops._known(index)) is not None}
    kept = (array for array in inputs if array[4] not in copied or array[2] != _torch_ops.memory(0)[2])
    return [(*array[:4], 0) if array[4] in copied else array for array in kept]


def _sets_item(frame: Any) -> bool:
    """Whether a frame is at `tensor[i] = number`, which a GPU is sent where one element is named."""
    return bool(dis.opname[frame.f_code.co_code[frame.f_lasti]] == "STORE_SUBSCR")


def send(tensor: Any) -> None:
    """The host has filled a tensor that is to be on the device."""
    known = _torch_ops._known(tensor)
    if known is not None:
        was_made_there(known)
        if tensor.numel():
            array = (*_torch_ops.described(tensor), known.id)
            _native.tensor_event("torch.Tensor.to", [], [array], [], _torch_ops.context(), 0, 0)


def stay(tensor: Any) -> None:
    """An op has given a tensor on the host, though it ran on the device."""
    known = _torch_ops._known(tensor)
    if known is not None:
        known.placed = False
        if not known.aside:
            known.aside = True
            if aware:
                _native.storage_side(known.id, True)


def was_made_there(known: Any) -> None:
    """A storage is the device's, and was all along."""
    _come(known)
    known.placed = True


def look_at_missed() -> None:
    """An op has run that nobody saw, in the line that runs: it is where what its line takes is, or where it makes what it takes of
    nothing."""
    global missed_there
    missed_there = None
    if tells and aware:
        frame = _torch_ops.caller()
        called = _torch_placed.called(*_torch_ops.at(frame))
        # From CPython 3.13 on a place beside what is called comes last.
        makes = called is not None and any(step.argval in _MAKES for step in called[0][-2:])
        missed_there = None if makes else _where_takes(frame)
        if missed_there is None and (makes or not _MAKES.isdisjoint(_torch_back.takes(frame.f_code, frame.f_lineno))):
            missed_there = _is_named(frame)


def _where_takes(frame: Any) -> bool | None:
    """Whether what the line takes that a frame is at is on the device, and not on the host; None where nothing tells."""
    names = _torch_back.takes(frame.f_code, frame.f_lineno)
    held = _torch_ops.variables(frame)
    values = [held.get(name, frame.f_globals.get(name)) for name in names]
    with _torch._C.DisableTorchFunction():
        sides = {where(tensor) for tensor in itertools.islice(_torch_ops.flat(values), _FEW)}
    return True if True in sides else False if False in sides else None


def _come(known: Any) -> None:
    """A storage is on the device from now on, or was all along."""
    if known.aside:
        known.aside = False
        if aware:
            _native.storage_side(known.id, False)


def put(tensor: Any, known: Any, span: tuple[int, int], by: Any, used: bool) -> Any:
    """A tensor, which spans these bytes of its storage, is put on the device by a line, which may have `used` it up then; what to hold
    as long as it lives."""
    _learn()
    if not known.aside:
        return weakref.ref(tensor)
    frame = _torch_ops.caller()
    passing = frame.f_code is by[0] and (used or _is_variable(*by))
    size = span[1] - span[0] + 1
    if size >= known.bytes and not (passing or tensor._is_view()):
        _come(known)
        return weakref.ref(tensor)
    copy = _native.storage_new(size, _torch_ops.INPUT, False, True)
    if passing:
        # The variable held the copy that this instruction made before; the script may keep what it was made of.
        at = frame.f_code, frame.f_lasti
        _native.storage_freed(_copies.get(at, 0))
        _copies[at] = copy
    return weakref.ref(tensor, functools.partial(_native.storage_freed, copy))


def _is_variable(code: Any, number: int) -> bool:
    """Whether a line gives what it makes to variables, and keeps none of it otherwise."""
    if (code, number) not in _variables:
        steps = list(_torch_placed.instructions(code, number))
        kept = ("LIST_APPEND", "SET_ADD", "MAP_ADD", "STORE_SUBSCR", "STORE_ATTR", "YIELD_VALUE", "RETURN_VALUE")
        calls = any(step.argval in ("append", "extend", "add", "setdefault", "update") for step in steps)
        stores = any(step.opname.startswith("STORE_") for step in steps)
        _variables[code, number] = stores and not calls and not any(step.opname in kept for step in steps)
    return _variables[code, number]


def _learn() -> None:
    """The script puts something on its device, the first time: all that it has so far is on the host."""
    global aware
    if tells and not aware:
        aware = True
        for known in list(_torch_ops._live.values()):
            if known.aside:
                _native.storage_side(known.id, True)
        _native.sides_known()


def where(tensor: Any) -> bool | None:
    """Whether a tensor is on the device, and not on the host; None where nobody knows."""
    known = _torch_ops._known(tensor)
    there = known is not None and _torch_placed.is_there(tensor, known)
    return there or (None if known is None or not _is_hosts(tensor, known) else False)


def names_host(frame: Any) -> bool:
    """Whether the call that a frame is at moves or makes something to be where a tensor of the host's is, or a module, or where
    everything is for which nobody says otherwise."""
    how, value = _value(frame, _torch_ops.at(frame))
    if how == _AS_ANOTHER:
        return (tensor := _tensor_of(value)) is not None and where(tensor) is False
    return isinstance(value, _torch.device) and _is_default(frame, value)


def _is_named(frame: Any) -> bool | None:
    """Whether the call that a frame is at names the script's device; None where it may name the host's."""
    if getattr(sys.modules.get("torch.utils._device"), "CURRENT_DEVICE", None) is not None:
        return True
    at = _torch_ops.at(frame)
    how, value = _value(frame, at)
    if how == _BY_KEYWORDS:
        return value.get("device") is not None if isinstance(value, dict) else None
    if how == _AS_ANOTHER and (tensor := _tensor_of(value)) is not None:
        return where(tensor)
    if how is None or value is None or isinstance(value, _torch.device) and _is_default(frame, value):
        return False
    return not _torch_placed.means_host("cpu", (frame.f_code, frame.f_lineno), at[1], True)


def _is_default(frame: Any, value: Any) -> bool:
    """Whether the function that runs has this very object as what stands where its caller gives nothing."""
    code, held = frame.f_code, _torch_ops.variables(frame)
    owner = type(held.get(code.co_varnames[0])) if code.co_argcount else object
    named = [frame.f_globals.get(code.co_name), *(vars(kind).get(code.co_name) for kind in owner.__mro__)]
    functions = [one for one in named if getattr(one, "__code__", None) is code]
    defaults = [(*(one.__defaults__ or ()), *(one.__kwdefaults__ or {}).values()) for one in functions]
    return any(value is default for of_one in defaults for default in of_one)


def _tensor_of(value: Any) -> Any:
    """A tensor that is on the device of what is a tensor, or a module that has not been told a device; else None."""
    if isinstance(value, _torch.Tensor):
        return value
    if isinstance(value, _torch.nn.Module) and "device" not in vars(value):
        for part in _torch.nn.Module.modules(value):
            for parameter in part._parameters.values():
                if parameter is not None:
                    return parameter
    return None


def _value(frame: Any, at: tuple[Any, int]) -> tuple[str | None, Any]:
    """How the call at the instruction that a frame is at names a device, and by which value."""
    if at not in _named:
        _named[at] = _how(*at)
    how, name = _named[at]
    return how, _torch_ops.variables(frame).get(name, frame.f_globals.get(name, ...)) if name is not None else ...


def _how(code: Any, at: int) -> tuple[str | None, str | None]:
    """How the call at an instruction names a device, and the name of what is given for it, of the tensor or the keywords."""
    before: list[Any] = []
    for step in _torch_placed.steps(code):
        if step.offset > at:
            break
        before.append(step)
    call = before.pop().opname if before else ""
    last = [step for step in before[-5:] if step.opname not in ("PRECALL", "DICT_MERGE", "NOP")]
    if not call.startswith("CALL") or not last:
        return None, None
    if call == "CALL_FUNCTION_EX":
        return _BY_KEYWORDS, last[-1].argval if _torch_placed.loads(last[-1]) else None
    words = code.co_consts[last[-1].arg] if last[-1].opname in ("KW_NAMES", "LOAD_CONST") else None
    names = words if isinstance(words, tuple) else ()
    by_name = "device" in names
    if by_name:
        last.pop()
    if last and (not by_name or names[-1] == "device"):
        if len(last) > 1 and last[-1].opname == "LOAD_ATTR" and last[-1].argval == "device" and _torch_placed.loads(last[-2]):
            return _AS_ANOTHER, last[-2].argval
        if by_name and _torch_placed.loads(last[-1]):
            another = _source(code, last[-1].argval)
            return (_BY_NAME, last[-1].argval) if another is None else (_AS_ANOTHER, another)
    return (_BY_NAME, "device") if by_name else (None, None)


def _source(code: Any, name: str) -> str | None:
    """The variable by whose `.device` code names that of another one (`device = next(net.parameters()).device`)."""
    source = taken = None
    line: list[Any] = []
    for step in _torch_placed.steps(code):
        if step.starts_line is not None and step.starts_line is not False:
            line = []
        if step.opname.startswith("STORE_") and step.argval == name:
            if source is not None or not line or (line[-1].opname, line[-1].argval) != ("LOAD_ATTR", "device"):
                return None
            taken = [one.argval for one in line if _torch_placed.loads(one)]
            source = taken[-1] if taken else None
        line.append(step)
    return source
