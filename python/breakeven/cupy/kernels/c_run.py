"""The body of an element-wise kernel, run by NumPy: every statement on all elements, where those go on that it is for.

Elements that are through with a loop, a `switch` or the kernel wait for the others.
"""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from ... import _native
from . import c_tokens
from .c_code import AUTO, VOID, Code, Function
from .c_words import OPERATORS, UNARY, is_whole, promoted

#: An array of no matter: to tell of it makes the recorder read up on the memory that NumPy took and gave back.
_NONE = np.empty(0)
#: Expressions whose value is nothing else's.
_NEW = frozenset(("binary", "unary", "choose"))
#: Under this name what a function gives back.
_RESULT = "return"


class _Own:
    """An array of the kernel's own, each element of which all elements of the kernel have one of; or a part of it."""

    def __init__(self, values: list[Any], kind: Any, lengths: tuple[int, ...], begin: Any = 0) -> None:
        self.values, self.kind = values, kind
        self._lengths, self._begin = lengths, begin

    def _at(self, place: Any) -> Any:
        return self._begin + np.asarray(place) * math.prod(self._lengths[1:])

    def item(self, place: Any) -> Any:
        """A number, or of an array of more dims a part; what lies outside is read only where it is not used."""
        at = self._at(place)
        if len(self._lengths) > 1:
            return _Own(self.values, self.kind, self._lengths[1:], at)
        at = np.clip(at, 0, len(self.values) - 1)
        if at.ndim == 0:
            return self.values[int(at)]
        if not any(map(np.ndim, self.values)):
            return np.array(self.values)[at]
        *values, at = np.broadcast_arrays(*self.values, at)
        return np.take_along_axis(np.stack(values), at[np.newaxis], 0)[0]

    def behind(self, place: Any) -> _Own:
        """What lies from a place on."""
        return _Own(self.values, self.kind, (len(self.values),), self._at(place))

    def put(self, place: Any, value: Any, where: Any) -> None:
        """Changes a number, for the elements for which the statement is."""
        if len(self._lengths) > 1:
            raise NotImplementedError("a part of an array where a number is expected is not imitated")
        at, value = self._at(place), np.asarray(value).astype(self.kind)
        for k in [int(at)] if at.ndim == 0 else range(len(self.values)):
            chosen = where if at.ndim == 0 else _and(where, at == k)
            self.values[k] = value if chosen is None else np.where(chosen, value, self.values[k])


class _Frame:
    """A loop or a `switch` that runs: which elements have left it, and which of a loop its turn."""

    def __init__(self, is_loop: bool) -> None:
        self.is_loop = is_loop
        self.left: Any = False
        self.skipped: Any = False


class _Scope:
    """The variables of a kernel or of a function, their types, and which elements go on."""

    def __init__(
        self, names: dict[str, Any], turns: list[tuple[list[str], float]], constants: dict[str, tuple[Any, Any]]
    ) -> None:
        self.names, self.constants = names, constants
        self.kinds: dict[str, Any] = {name: v.dtype for name, v in names.items() if isinstance(v, np.ndarray)}
        self.turns = turns
        self.frames: list[_Frame] = []
        self.returned: Any = False
        #: Which elements the statement is for that runs; None: all.
        self.within: Any = None


def run(code: Code, names: dict[str, Any]) -> list[str]:
    """Changes `names`: parameters and what the statements declare. Returns what an element cost, loops among it."""
    turns: list[tuple[list[str], float]] = []
    _execute(code.body, _Scope(names, turns, code.constants), None)
    return code.costs + [name for costs, count in turns for name in costs * round(count)]


def _shown(name: str) -> str:
    """A variable's name as the kernel has it."""
    return name.partition(" ")[0]


def _and(where: Any, condition: Any) -> Any:
    return condition if where is None else where & condition


def _still(where: Any, scope: _Scope) -> Any:
    """Which elements go on: those that have not left the innermost loop or `switch`, its turn, or the function."""
    gone = scope.returned
    if scope.frames:
        loop = next((frame for frame in reversed(scope.frames) if frame.is_loop), scope.frames[-1])
        gone = gone | scope.frames[-1].left | loop.skipped
    return where if gone is False else _and(where, np.logical_not(gone))


def _execute(body: list[Any], scope: _Scope, where: Any) -> None:
    for statement in body:
        within = scope.within = _still(where, scope)
        what = statement[0]
        if what == "block":
            _execute(statement[1], scope, within)
        elif what == "if":
            condition = np.asarray(_value(statement[1], scope), dtype=bool)
            _execute([statement[2]], scope, _and(within, condition))
            if statement[3] is not None:
                _execute([statement[3]], scope, _and(within, ~condition))
        elif what == "switch":
            _choose(statement, scope, within)
        elif what == "loop":
            _repeat(statement, scope, within)
        elif what == "break":
            if not scope.frames:
                raise NotImplementedError("`break` outside of a loop is not imitated")
            scope.frames[-1].left = scope.frames[-1].left | (True if within is None else within)
        elif what == "continue":
            loop = next((frame for frame in reversed(scope.frames) if frame.is_loop), None)
            if loop is None:  # the loop over elements, which CuPy has around the kernel
                scope.returned = scope.returned | (True if within is None else within)
            else:
                loop.skipped = loop.skipped | (True if within is None else within)
        elif what == "return":
            if statement[1] is not None:
                _assign(("set", _RESULT, None, statement[1], None), scope, within)
            scope.returned = scope.returned | (True if within is None else within)
        elif what == "atomic":
            _assign_atomically(statement, scope, within)
        elif what == "array":
            scope.names[statement[1]] = _made(statement, scope)
        elif what == "do":
            _given_back(statement[1], scope)
        else:
            _assign(statement, scope, within)


def _choose(statement: Any, scope: _Scope, where: Any) -> None:
    _, value, cases = statement
    chosen = np.asarray(_value(value, scope))
    named = [_value(label, scope) for labels, _ in cases for label in labels if label is not None]
    other = np.logical_not(np.isin(chosen, named))
    frame = _Frame(False)
    scope.frames.append(frame)
    inside: Any = False
    for labels, body in cases:
        for label in labels:
            inside = inside | (other if label is None else chosen == _value(label, scope))
        _execute(body, scope, _and(where, inside))
    scope.frames.pop()


def _repeat(statement: Any, scope: _Scope, where: Any) -> None:
    _, begin, condition, step, body, costs, at_least_once = statement
    _execute([begin], scope, where)
    frame = _Frame(True)
    scope.frames.append(frame)
    taken = 0.0
    unasked = at_least_once
    while True:
        scope.within = _still(where, scope)
        more = np.asarray(True if unasked else _value(condition, scope), dtype=bool)
        unasked = False
        live = _still(_and(where, more), scope)
        if not np.any(live):
            break
        frame.left = frame.left | ~more if more.ndim else frame.left
        taken += float(np.mean(live))
        within = None if np.ndim(live) == 0 else live
        _execute([body], scope, within)
        frame.skipped = False
        _execute([step], scope, within)
        _native.host_made(_NONE)
    scope.frames.pop()
    scope.turns.append((costs, taken))


def _assign_atomically(statement: Any, scope: _Scope, where: Any) -> None:
    _, ufunc, name, place, expression = statement
    names, value = scope.names, _value(expression, scope)
    if place is None:
        changed = ufunc(names[name], value)
        names[name] = changed if where is None else np.where(where, changed, names[name])
        return
    target = names[name]
    if isinstance(target, _Own):
        raise NotImplementedError(f"an atomic change of `{_shown(name)}`, which no other thread has, is not imitated")
    at, value = np.broadcast_arrays(np.asarray(_at(place, target, scope)), value)
    chosen = ... if where is None else np.broadcast_to(where, at.shape)
    ufunc.at(target, np.unravel_index(at[chosen], target.shape), value[chosen].astype(target.dtype))


def _at(node: Any, whole: Any, scope: _Scope) -> Any:
    """The place of an element, of a raw parameter also by an array with one for each of its dims."""
    place = _whole(node, scope)
    if not isinstance(place, _Own) or isinstance(whole, _Own):
        return _number(place)
    if len(place.values) != np.ndim(whole):
        raise NotImplementedError(f"{len(place.values)} places in an array of {np.ndim(whole)} dims are not imitated")
    at: Any = 0
    for one, length in zip(place.values, whole.shape):
        at = at * length + one
    return at


def _made(statement: Any, scope: _Scope) -> _Own:
    """An array of the kernel's own; what its list leaves out is 0."""
    _, name, lengths, kind, given = statement
    values = [np.asarray(_value(node, scope)).astype(kind) for node in given]
    known = [None if length is None else int(_value(length, scope)) for length in lengths]
    rest = math.prod(length for length in known if length is not None)
    shape = tuple(-(-len(values) // rest) if length is None else length for length in known)
    values += [np.zeros((), kind)] * (math.prod(shape) - len(values))
    return _Own(values, kind, shape)


def _assign(statement: Any, scope: _Scope, where: Any) -> None:
    _, name, place, expression, kind = statement
    names, value = scope.names, _value(expression, scope)
    if place is not None:
        target = _whole(("name", name), scope)
        *outer, place = place[1] if place[0] == "places" else [place]
        if isinstance(target, _Own):
            for one in outer:
                target = target.item(_value(one, scope))
            target.put(_value(place, scope), value, where)
            return
        if outer:
            raise NotImplementedError(f"`{_shown(name)}[i][j]` is not imitated")
        at, value = np.broadcast_arrays(np.asarray(_at(place, target, scope)), value)
        chosen = ... if where is None else np.broadcast_to(where, at.shape)
        target[np.unravel_index(at[chosen], target.shape)] = value[chosen]
        return
    if kind is not None:
        scope.kinds[name] = None if kind is AUTO else kind
    if (kind := scope.kinds.get(name)) is not None:
        value = np.asarray(value).astype(kind, copy=expression[0] not in _NEW)
    names[name] = value if where is None or name not in names else np.where(where, value, names[name])


def _given_back(node: Any, scope: _Scope) -> Any:
    """What a function of the preamble gives back, and what it does to what it is given the place of."""
    _, called, functions, arguments = node
    if len(functions) > 1:
        arguments = [("value", _value(argument, scope)) for argument in arguments]
    function = _meant(called, functions, [argument[1] for argument in arguments])
    inner = _Scope({}, scope.turns, scope.constants)
    seen = []
    for (kind, name, sign, _), argument in zip(function.parameters, arguments):
        if sign:
            inner.names[name] = given = _place_of(argument, scope)
            if sign == "*" and not isinstance(given, _Own):
                raise NotImplementedError(f"what the pointer `{name}` of a function is given is not imitated")
            seen.append((argument, name, given))
        else:
            inner.names[name] = _cast(kind, _value(argument, scope))
        inner.kinds[name] = None if kind is AUTO else kind
    within = scope.within
    _execute([function.body], inner, within)
    for argument, name, given in seen:
        after = inner.names[name]
        if argument[0] == "address" and argument[2] is None:
            after = after.values[0]
        if after is not given:
            _put_back(argument, after, scope, within)
    return None if function.kind is VOID else _cast(function.kind, _result(inner))


def _meant(name: str, functions: list[Function], values: list[Any]) -> Function:
    """Which of the functions of one name has parameters of the types of these values, or of types that hold them."""
    if len(functions) == 1:
        return functions[0]
    whole = [promoted(value).dtype if is_whole(value) else np.asarray(value).dtype for value in values]
    as_given = [kind if isinstance(value, int) else np.asarray(value).dtype for kind, value in zip(whole, values)]
    for given, fits in ((as_given, operator.eq), (whole, operator.eq), (whole, np.can_cast)):
        found = [
            function for function in functions
            if not any(parameter.sign for parameter in function.parameters)
            and all(p.kind is not AUTO and fits(one, np.dtype(p.kind)) for one, p in zip(given, function.parameters))
        ]  # fmt: skip
        if len(found) == 1:
            return found[0]
    raise NotImplementedError(f"the function `{name}`, of which there are {len(functions)}, is not imitated")


def _refuse_changes(nodes: Any) -> None:
    """What is computed for all elements, where C does so for some, may change nothing."""
    for node in nodes:
        if isinstance(node, (tuple, list)) and node:
            if node[0] == "own" and any(parameter.sign for function in node[2] for parameter in function.parameters):
                raise NotImplementedError(
                    f"`{node[1]}`, which may change what it is given, behind a condition is not imitated"
                )
            _refuse_changes(node[3] if node[0] == "own" else node[1:] if isinstance(node[0], str) else node)


def _place_of(argument: Any, scope: _Scope) -> Any:
    """What a function is given that may change it: an array, or a number where it is."""
    if argument[0] != "address":
        return _whole(argument, scope)
    _, name, place = argument
    whole = _whole(("name", name), scope)
    if place is None and not isinstance(whole, _Own):
        return _Own([whole], np.asarray(whole).dtype, (1,))
    if place is None or place[0] == "places" or not isinstance(whole, _Own):
        raise NotImplementedError(f"a pointer into `{_shown(name)}` is not imitated")
    return whole.behind(_value(place, scope))


def _put_back(argument: Any, value: Any, scope: _Scope, where: Any) -> None:
    """A number that a function has changed where it is."""
    places: list[Any] = []
    while argument[0] == "item":
        places.insert(0, argument[2])
        argument = argument[1]
    if argument[0] in ("name", "address"):
        place = ("places", places) if places else None
        _assign(("set", argument[1], place, ("value", value), None), scope, where)


def _result(inner: _Scope) -> Any:
    if _RESULT not in inner.names:
        raise NotImplementedError("a function that gives nothing back is not imitated")
    return inner.names[_RESULT]


def _cast(kind: Any, value: Any) -> Any:
    return value if kind is AUTO else np.asarray(value).astype(kind)


def _value(node: Any, scope: _Scope) -> Any:
    return _number(_whole(node, scope))


def _number(found: Any) -> Any:
    if found is None or isinstance(found, _Own):
        what = "nothing" if found is None else "an array"
        raise NotImplementedError(f"{what} where a number is expected is not imitated")
    return found


def _whole(node: Any, scope: _Scope) -> Any:
    """A number of each element, or an array."""
    what = node[0]
    if what == "value":
        return node[1]
    if what == "name":
        if node[1] in scope.names:
            return scope.names[node[1]]
        if node[1] not in scope.constants:
            raise NotImplementedError(f"`{node[1]}` is not imitated")
        kind, expression = scope.constants[node[1]]
        if expression[0] == "array":
            return scope.names.setdefault(node[1], _made(expression, scope))
        return _cast(kind, _value(expression, scope))
    if what == "binary":
        _refuse_changes(node[3:] if node[1] in ("&&", "||") else ())
        return OPERATORS[node[1]](_value(node[2], scope), _value(node[3], scope))
    if what == "unary":
        return UNARY[node[1]](_value(node[2], scope))
    if what == "choose":
        _refuse_changes(node[2:])
        return np.where(*(_value(part, scope) for part in node[1:]))
    if what == "cast":
        return _cast(node[1], _value(node[2], scope))
    if what == "own":
        return _given_back(node, scope)
    if what == "address":
        raise NotImplementedError(f"a pointer to `{_shown(node[1])}` is not imitated")
    if what == "item":
        whole = _whole(node[1], scope)
        place = _at(node[2], whole, scope)
        if isinstance(whole, _Own):
            return whole.item(place)
        # what lies outside is read only for elements that do not use it
        return whole[int(place)] if isinstance(whole, tuple) else whole.reshape(-1).take(np.asarray(place), mode="clip")
    return node[1](*(_value(argument, scope) for argument in node[2]))


c_tokens.evaluate = lambda text, names: run(Code(text), names)
