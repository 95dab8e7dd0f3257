"""The body of an element-wise kernel, C in a few statements, computed by NumPy on whole arrays.

Assignments, declarations, `if`/`else`, `for`, `while`, `break`, `continue`, the operators and the mathematical functions of
C; `x[i]` of raw parameters, and atomic additions to them. Elements that are through with a loop wait for the others.
Pointers and anything else are a NotImplementedError that says what was met.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

_TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?[fFuUlL]*)|(?P<name>[A-Za-z_][\w]*(?:::\w+|\.size(?=\s*\())*)"
    r"|(?P<sign>\+\+|--|<<=|>>=|[-+*/%&|^]=|&&|\|\||==|!=|<=|>=|<<|>>|[-+*/%<>=!~?:;,(){}\[\]&|^]))"
)
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)

#: What C calls them: NumPy's function, and the name of its cost.
_FUNCTIONS: dict[str, tuple[Callable[..., Any], str]] = {
    **{name: (getattr(np, name), name) for name in "exp expm1 exp2 log log1p log2 log10 sqrt cbrt sin cos tan".split()},
    **{name: (getattr(np, name), name) for name in "sinh cosh tanh hypot".split()},
    **{name: (getattr(np, "arc" + name[1:]), "arc" + name[1:]) for name in "asin acos atan asinh acosh atanh".split()},
    **{name: (getattr(np, name), "one") for name in "floor ceil trunc rint isnan isinf isfinite conj real imag".split()},
    **dict.fromkeys(("abs", "fabs"), (np.abs, "one")),
    **dict.fromkeys(("min", "fmin"), (np.minimum, "two")),
    **dict.fromkeys(("max", "fmax"), (np.maximum, "two")),
    "atan2": (np.arctan2, "arctan2"),
    "pow": (np.power, "power"),
    "fmod": (np.fmod, "remainder"),
    "rsqrt": (lambda x: 1 / np.sqrt(x), "reciprocal"),
    "round": (np.round, "one"),
    "fma": (lambda a, b, c: a * b + c, "fma"),
    "copysign": (np.copysign, "two"),
    "__expf": (np.exp, "exp"),
}
_TYPES = {
    "float": np.float32, "double": np.float64, "int": np.int32, "long": np.int64, "bool": np.bool_, "char": np.int8,
    "short": np.int16, "size_t": np.int64, "ptrdiff_t": np.int64, "unsigned": np.uint32, "float16": np.float16,
    **{name: getattr(np, name) for name in "int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64".split()},
    **{name: getattr(np, name) for name in "complex64 complex128".split()},
}  # fmt: skip
_LEVELS = (
    ("||",), ("&&",), ("|",), ("^",), ("&",), ("==", "!="), ("<", ">", "<=", ">="), ("<<", ">>"), ("+", "-"),
    ("*", "/", "%"),
)  # fmt: skip


def _divide(a: Any, b: Any) -> Any:
    if np.result_type(a, b).kind in "iub":
        return (np.sign(a) * np.sign(b)) * (np.abs(a) // np.abs(b))
    return a / b


_OPERATORS: dict[str, Callable[..., Any]] = {
    "||": np.logical_or, "&&": np.logical_and, "|": np.bitwise_or, "^": np.bitwise_xor, "&": np.bitwise_and,
    "==": np.equal, "!=": np.not_equal, "<": np.less, ">": np.greater, "<=": np.less_equal, ">=": np.greater_equal,
    "<<": np.left_shift, ">>": np.right_shift, "+": np.add, "-": np.subtract, "*": np.multiply, "/": _divide,
    "%": np.fmod,
}  # fmt: skip


_ATOMIC = {"atomicAdd": np.add, "atomicMax": np.maximum, "atomicMin": np.minimum}
#: Under this name the loops that run, the innermost last: who has left them.
_LOOPS = "for"


class Code:
    """Statements, parsed; `costs` names what each element costs (see `callables/flops.csv` of the engine)."""

    def __init__(self, text: str, types: dict[str, Any] | None = None) -> None:
        self.types = {**_TYPES, **(types or {})}
        self.costs: list[str] = []
        #: What one turn of each loop costs, and how many turns an element took on average.
        self._turns: list[tuple[list[str], float]] = []
        self._tokens = _tokens(text)
        self._at = 0
        self._body: list[Any] = []
        while self._at < len(self._tokens):
            self._body.append(self._statement())

    def run(self, names: dict[str, Any]) -> None:
        """Changes `names`: parameters and what the statements declare."""
        self._turns = []
        names[_LOOPS] = []
        _execute(self._body, names, self._turns, None)

    def spent(self) -> list[str]:
        """What an element cost, loops among it, once they have run."""
        return self.costs + [name for costs, turns in self._turns for name in costs * round(turns)]

    # Reading ---------------------------------------------------------------------------------------------------------

    def _peek(self, ahead: int = 0) -> str:
        at = self._at + ahead
        return self._tokens[at] if at < len(self._tokens) else ""

    def _next(self, expected: str | None = None) -> str:
        token = self._peek()
        if not token or (expected is not None and token != expected):
            raise NotImplementedError(f"`{token or 'the end'}` where `{expected or 'an expression'}` was expected")
        self._at += 1
        return token

    def _statement(self) -> Any:
        token = self._peek()
        if token == ";":
            self._next()
            return ("block", [])
        if token == "{":
            self._next()
            body = []
            while self._peek() != "}":
                body.append(self._statement())
            self._next("}")
            return ("block", body)
        if token == "if":
            self._next()
            self._next("(")
            condition = self._expression()
            self._next(")")
            then = self._statement()
            other = None
            if self._peek() == "else":
                self._next()
                other = self._statement()
            self.costs.append("select")
            return ("if", condition, then, other)
        if token in ("for", "while"):
            return self._loop(self._next())
        if token in ("break", "continue"):
            self._next()
            self._next(";")
            return (token,)
        if token in _ATOMIC:
            return self._atomic(_ATOMIC[self._next()])
        if token in ("do", "return", "switch", "goto"):
            raise NotImplementedError(f"`{token}` is not imitated")
        kind = None
        while token in ("const", "unsigned", "long", "signed") and self._peek(1) in {*self.types, "const", "long"}:
            self._next()
            token = self._peek()
        if token in self.types and re.fullmatch(r"\w+", self._peek(1)):
            kind = self.types[self._next()]
        found = [self._assignment(kind)]
        while self._peek() == ",":
            self._next()
            found.append(self._assignment(kind))
        if self._peek():
            self._next(";")
        return ("block", found)

    def _loop(self, word: str) -> Any:
        self._next("(")
        begin = self._statement() if word == "for" else ("block", [])
        outside, self.costs = self.costs, []
        condition = self._expression() if self._peek() not in (";", ")") else ("value", True)
        step: list[Any] = []
        if word == "for":
            self._next(";")
            while self._peek() != ")":
                step.append(self._assignment(None))
                if self._peek() == ",":
                    self._next()
        self._next(")")
        body = self._statement()
        costs, self.costs = self.costs, outside
        return ("loop", begin, condition, ("block", step), body, costs)

    def _atomic(self, ufunc: Any) -> Any:
        self._next("(")
        self._next("&")
        name, place = self._next(), None
        if self._peek() == "[":
            self._next()
            place = self._expression()
            self._next("]")
        self._next(",")
        value = self._expression()
        self._next(")")
        self._next(";") if self._peek() else None
        self.costs.append("two")
        return ("atomic", ufunc, name, place, value)

    def _assignment(self, kind: Any) -> Any:
        name = self._next()
        if name in ("++", "--") and self._peek():
            self.costs.append("two")
            counted = self._next()
            return ("set", counted, None, ("binary", name[0], ("name", counted), ("value", 1)), None)
        place = None
        if self._peek() == "[":
            self._next()
            place = self._expression()
            self._next("]")
        if not re.fullmatch(r"[A-Za-z_]\w*", name):
            raise NotImplementedError(f"`{name}` begins a statement that is not imitated")
        sign = self._peek()
        if sign in ("++", "--"):
            self._next()
            self.costs.append("two")
            return ("set", name, place, ("binary", sign[0], _target(name, place), ("value", 1)), kind)
        if kind is not None and sign in (";", ",", ""):
            return ("set", name, place, ("value", 0), kind)
        sign = self._next()
        if sign == "=":
            return ("set", name, place, self._expression(), kind)
        if len(sign) > 1 and sign.endswith("=") and sign[:-1] in _OPERATORS:
            self.costs.append("divide" if sign == "/=" else "two")
            return ("set", name, place, ("binary", sign[:-1], _target(name, place), self._expression()), kind)
        raise NotImplementedError(f"`{name} {sign}` is not imitated")

    def _expression(self) -> Any:
        condition = self._level(0)
        if self._peek() != "?":
            return condition
        self._next()
        then = self._expression()
        self._next(":")
        self.costs.append("select")
        return ("choose", condition, then, self._expression())

    def _level(self, level: int) -> Any:
        if level == len(_LEVELS):
            return self._unary()
        left = self._level(level + 1)
        while self._peek() in _LEVELS[level]:
            sign = self._next()
            self.costs.append({"/": "divide", "%": "remainder"}.get(sign, "two"))
            left = ("binary", sign, left, self._level(level + 1))
        return left

    def _unary(self) -> Any:
        sign = self._peek()
        if sign in ("-", "+", "!", "~"):
            self._next()
            self.costs.append("one")
            return ("unary", sign, self._unary())
        if sign == "(" and self._peek(1) in self.types and self._peek(2) == ")":
            self._next()
            kind = self.types[self._next()]
            self._next(")")
            return ("cast", kind, self._unary())
        return self._primary()

    def _primary(self) -> Any:
        token = self._next()
        if token == "(":
            inner = self._expression()
            self._next(")")
            return inner
        if token[0].isdigit() or token[0] == ".":
            digits = token.rstrip("fFuUlL") if not token.startswith("0x") else token
            if re.fullmatch(r"\d+", digits) and not token.rstrip("uUlL").endswith(("f", "F")):
                return ("value", int(digits))
            return ("value", np.float32(digits) if token[-1] in "fF" else float(digits))
        if token in ("true", "false"):
            return ("value", token == "true")
        if self._peek() == "(":
            return self._call(token)
        if self._peek() == "[":
            self._next()
            place = self._expression()
            self._next("]")
            return ("item", token, place)
        if not re.fullmatch(r"[A-Za-z_]\w*", token):
            raise NotImplementedError(f"`{token}` is not imitated")
        return ("name", token)

    def _call(self, name: str) -> Any:
        self._next("(")
        arguments = []
        while self._peek() != ")":
            arguments.append(self._expression())
            if self._peek() == ",":
                self._next()
        self._next(")")
        if name == "_ind.size":
            return ("name", "_size")
        if name in self.types and len(arguments) == 1:
            return ("cast", self.types[name], arguments[0])
        short = name.removeprefix("std::").removeprefix("::")
        if short not in _FUNCTIONS and short.endswith("f") and short[:-1] in _FUNCTIONS:
            short = short[:-1]
        if short not in _FUNCTIONS:
            raise NotImplementedError(f"the function `{name}` is not imitated")
        self.costs.append(_FUNCTIONS[short][1])
        return ("call", _FUNCTIONS[short][0], arguments)


def _tokens(text: str) -> list[str]:
    text = _COMMENT.sub(" ", text)
    found, at = [], 0
    while text[at:].strip():
        match = _TOKEN.match(text, at)
        if match is None:
            raise NotImplementedError(f"`{text[at:].strip()[:20]}` is not imitated")
        found.append(match.group().strip())
        at = match.end()
    return found


def _target(name: str, place: Any) -> Any:
    return ("name", name) if place is None else ("item", name, place)


def _execute(body: list[Any], names: dict[str, Any], turns: list[Any], where: Any) -> None:
    for statement in body:
        within = _still(where, names[_LOOPS])
        what = statement[0]
        if what == "block":
            _execute(statement[1], names, turns, within)
        elif what == "if":
            condition = np.asarray(_value(statement[1], names), dtype=bool)
            _execute([statement[2]], names, turns, condition if within is None else within & condition)
            if statement[3] is not None:
                _execute([statement[3]], names, turns, ~condition if within is None else within & ~condition)
        elif what == "loop":
            _repeat(statement, names, turns, within)
        elif what in ("break", "continue"):
            loop = names[_LOOPS][-1]
            loop[what] = loop[what] | (True if within is None else within)
        elif what == "atomic":
            _assign_atomically(statement, names, within)
        else:
            _assign(statement, names, within)


def _still(where: Any, loops: list[dict[str, Any]]) -> Any:
    """Which elements go on: those that have not left the innermost loop, or its turn."""
    if not loops:
        return where
    gone = loops[-1]["break"] | loops[-1]["continue"]
    if gone is False:
        return where
    return np.logical_not(gone) if where is None else where & np.logical_not(gone)


def _repeat(statement: Any, names: dict[str, Any], turns: list[Any], where: Any) -> None:
    _, begin, condition, step, body, costs = statement
    _execute([begin], names, turns, where)
    loop: dict[str, Any] = {"break": False, "continue": False}
    names[_LOOPS].append(loop)
    taken = 0.0
    while True:
        more = np.asarray(_value(condition, names), dtype=bool)
        live = _still(more if where is None else where & more, names[_LOOPS])
        if not np.any(live):
            break
        loop["break"] = loop["break"] | ~more if more.ndim else loop["break"]
        taken += float(np.mean(live))
        within = None if np.ndim(live) == 0 else live
        _execute([body], names, turns, within)
        loop["continue"] = False
        _execute([step], names, turns, within)
    names[_LOOPS].pop()
    turns.append((costs, taken))


def _assign_atomically(statement: Any, names: dict[str, Any], where: Any) -> None:
    _, ufunc, name, place, expression = statement
    value = _value(expression, names)
    if place is None:
        changed = ufunc(names[name], value)
        names[name] = changed if where is None else np.where(where, changed, names[name])
        return
    at, value = np.broadcast_arrays(np.asarray(_value(place, names)), value)
    chosen = slice(None) if where is None else np.broadcast_to(where, at.shape)
    ufunc.at(names[name].reshape(-1), at[chosen], value[chosen])


def _assign(statement: Any, names: dict[str, Any], where: Any) -> None:
    _, name, place, expression, kind = statement
    value = _value(expression, names)
    if kind is not None:
        value = np.asarray(value).astype(kind)
    if place is not None:
        at = np.asarray(_value(place, names))
        target = names[name].reshape(-1)
        at, value = np.broadcast_arrays(at, value)
        chosen = slice(None) if where is None else np.broadcast_to(where, at.shape)
        target[at[chosen]] = value[chosen]
    elif where is None or name not in names:
        names[name] = value
    else:
        names[name] = np.where(where, value, names[name])


def _value(node: Any, names: dict[str, Any]) -> Any:
    what = node[0]
    if what == "value":
        return node[1]
    if what == "name":
        if node[1] not in names:
            raise NotImplementedError(f"`{node[1]}` is not imitated")
        return names[node[1]]
    if what == "binary":
        return _OPERATORS[node[1]](_value(node[2], names), _value(node[3], names))
    if what == "unary":
        value = _value(node[2], names)
        return {"-": np.negative, "+": np.positive, "!": np.logical_not, "~": np.invert}[node[1]](value)
    if what == "choose":
        return np.where(_value(node[1], names), _value(node[2], names), _value(node[3], names))
    if what == "cast":
        return np.asarray(_value(node[2], names)).astype(node[1])
    if what == "item":
        # what lies outside is read only for elements that do not use it
        return names[node[1]].reshape(-1).take(np.asarray(_value(node[2], names)), mode="clip")
    return node[1](*(_value(argument, names) for argument in node[2]))
