"""A call that has ended: what it was, worked out once for all calls like it."""

from __future__ import annotations

import json

from .. import _native
from . import threads, verbs
from .sizes import FOLLOWED, arrays, element, size, width
from .stays import Stays

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .sizes import Size

#: Distinct calls of a name whose sizes are kept as they are; those of later ones are rounded to powers of two.
_EXACT = 64
#: No call of a name is looked up beyond so many.
_MOST = 4096
_NONE: dict[str, Any] = {}
_VIEW = {"facts": '{"verb": "view"}'}
#: These make their own object: it is the first argument, not the result.
MAKERS = ("DataFrame", "Series", "Index")


class Name:
    """One hooked name: its verb, what keeps its calls on the host, and the calls it had."""

    __slots__ = ("calls", "full", "is_view", "method", "owner", "stays", "verb")

    def __init__(self, owner: str, method: str, verb: str, stays: Stays | None) -> None:
        self.owner, self.method, self.verb, self.stays = owner, method, verb, stays
        self.full = f"pandas.{owner}.{method}" if owner else f"pandas.{method}"
        self.is_view = verb == "view" and method not in ("__getitem__", "resample") and stays is None
        self.calls: dict[Any, tuple[dict[str, Any], str | None, bool]] = {}


def call(name: Name, token: int, args: tuple[Any, ...], kwargs: dict[str, Any] | None, result: Any) -> None:
    """A call of `name` has gone well: tells of it."""
    if name.is_view or threads.reads_for_another():
        _native.leave(token, (), None, _VIEW)
        return
    words = _NONE if kwargs is None else kwargs
    makes = not name.owner and name.method in MAKERS
    given = args[0] if args else None
    of = None if makes else verbs.subject(name.owner, given) if name.owner else given
    gives = given if makes or (result is None and words.get("inplace")) else result
    many = verbs.several(name.method, args)
    other = None if makes else verbs.others(name.owner, name.method, args, words)
    mine = verbs.total(list(map(size, many))) if many else size(of)
    theirs, out = size(other), size(gives)
    more = verbs.detail(name.owner, name.method, args, words, result)
    why = name.stays.why(args, kwargs) if name.stays is not None else None
    key = (mine, theirs, out, more, why)
    known = name.calls.get(key)
    if known is None:
        if len(name.calls) >= _EXACT:
            mine, theirs, out = _rounded(mine), _rounded(theirs), _rounded(out)
            key = (mine, theirs, out, tuple((fact, _power(value)) for fact, value in more), why)
            known = name.calls.get(key)
        if known is None:
            facts = _facts(name, (mine, theirs, out), (of if not many else many[0], other, gives), dict(key[3]))
            stays = None if why is None else f"{name.full}({why})"
            followed = facts.get("verb", name.verb) not in ("view", "read", "host") and (
                facts.get("bytes", 0) >= FOLLOWED or facts.get("out_bytes", 0) >= FOLLOWED
            )
            known = ({"facts": json.dumps(facts)}, stays, followed)
            if len(name.calls) < _MOST:
                name.calls[key] = known
    told, stays, followed = known
    if followed:
        read = [of, other] if not many else many[:8]
        inputs = tuple(array for frame in read if frame is not None for array in arrays(frame))
        _native.leave(token, inputs, arrays(gives), told, 0, stays)
    else:
        _native.leave(token, (), None, told, 0, stays)


def written(
    name: Name, token: int, args: tuple[Any, ...], kwargs: dict[str, Any] | None, result: Any, _begun: None
) -> None:
    """A Parquet file has been written, or that raised: `token` is 0 then."""
    threads.write_ends()
    if token:
        call(name, token, args, kwargs, result)


def chunk(name: Name, token: int, args: tuple[Any, ...], kwargs: dict[str, Any] | None, result: Any) -> None:
    """A part of a file has been read, which cuDF's reader has no parameter for."""
    out = size(result)
    rows, columns, bytes = _power(out[0]), out[1], _power(int(width(result, out) * out[0]))
    facts = {"rows": rows, "columns": columns, "bytes": bytes, "out_rows": rows, "out_bytes": bytes}
    _native.leave(token, (), None, {"facts": json.dumps(facts)}, 0, f"{name.full}(chunksize)")


def _facts(
    name: Name, sizes: tuple[Size, Size, Size], frames: tuple[Any, Any, Any], more: dict[str, Any]
) -> dict[str, Any]:
    mine, theirs, out = sizes
    verb = more.get("verb", name.verb)
    if verb == "view" or (verb.startswith("read_") and not out[2]):
        return {"verb": "view"}
    if not mine[2] and not verb.startswith("read_"):
        mine, frames = out, (frames[2], *frames[1:])
    rows, columns = mine[0], mine[1]
    each = width(frames[0], mine)
    gives = width(frames[2], out) * out[0]
    if verb in ("read", "host"):
        return {
            "verb": verb,
            "bytes": int(gives if out[2] and verb == "host" else rows * each) if not more or out[2] else 8,
        }
    facts: dict[str, Any] = {
        "rows": rows,
        "columns": columns,
        "bytes": int(rows * each),
        "out_rows": out[0] or 1,
        "out_bytes": int(gives) or 8,
    }
    facts |= more
    if verb == "group_by":
        used = max(out[1], 1)
        facts["columns"] = used
        facts["bytes"] = int(rows * (each * min(used / max(columns, 1), 1.0) + 8 * facts.get("keys", 1)))
    elif verb == "join":
        facts["other_rows"] = theirs[0]
        facts["bytes"] += int(theirs[0] * width(frames[1], theirs))
        facts["columns"] = max(out[1], 1)
    elif theirs[2] and name.owner:
        facts["bytes"] += int(theirs[0] * width(frames[1], theirs))
    if name.method == "resample":
        facts |= {"out_rows": rows, "out_bytes": facts["bytes"]}
    if name.method == "__setitem__":
        facts |= {"columns": 1, "bytes": 8 * rows, "out_rows": rows, "out_bytes": 8 * rows}
    if name.verb.startswith("read_"):
        file = facts.get("copied_in", int(gives))
        facts |= {"rows": out[0], "columns": out[1], "bytes": file}
    elif name.verb.startswith("write_") and "copied_out" in facts:
        facts["out_bytes"] = facts["copied_out"]
    dtype = element(mine if mine[2] else out)
    if dtype != "f64":
        facts["dtype"] = dtype
    return facts


def _rounded(one: Size) -> Size:
    return (_power(one[0]), *one[1:])


def _power(value: Any) -> Any:
    return 1 << (value.bit_length() - 1) if type(value) is int and value > 0 else value
