"""The body of an element-wise kernel, C in a few statements, read; `c_run.py` computes it by NumPy on whole arrays.

Declarations, assignments, `if`, `switch`, loops, `break`, `continue`, `return`, the operators and the mathematical
functions of C; `x[i]` of raw parameters and of a kernel's own arrays, and atomic additions to them; functions,
macros, types and numbers of a preamble, which may be given an array, or where a number is. Other pointers,
structures and anything else are a NotImplementedError that says what was met.
"""

from __future__ import annotations

import contextlib
import math
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from . import c_tokens
from .c_words import ATOMIC, CONSTANTS, FUNCTIONS, LEVELS, METHODS, OPERATORS, TYPES, UNSIGNED

_NAME = re.compile(r"[A-Za-z_]\w*")
#: Words around a type or a function that change nothing here.
_QUALIFIERS = frozenset(
    "const constexpr static volatile inline __device__ __host__ __constant__ __forceinline__ __noinline__".split()
)
#: Words that say what a type is like, and the types of which they may say it.
_SIZES, _SIZED = ("unsigned", "signed", "long", "short"), ("int", "char", "double")
#: Words that promise that nothing else leads to what a pointer does.
_RESTRICTED = ("__restrict__", "__restrict", "restrict")
#: Functions that give a sine and a cosine, and the unit of their angle.
_BOTH = {"sincos": 1.0, "sincosf": 1.0, "__sincosf": 1.0, "sincospi": math.pi, "sincospif": math.pi}
#: What `auto` is: the type of what it is given.
AUTO: Any = object()
#: The type of what a function gives back that gives nothing.
VOID: Any = object()


_BRANCHING = frozenset("if for while do switch".split())


class Parameter(NamedTuple):
    """Of a function: `sign` is `*` or `&` where it is the place of something, `otherwise` what it is if not given."""

    kind: Any
    name: str
    sign: str
    otherwise: Any


class Function:
    """A function of a preamble."""

    def __init__(self, kind: Any, parameters: list[Parameter], body: Any, costs: list[str]) -> None:
        self.kind, self.parameters, self.body, self.costs = kind, parameters, body, costs


class Code:
    """Statements, parsed; `costs` names what each element costs (see `callables/flops.csv` of the engine)."""

    def __init__(self, text: str, types: dict[str, Any] | None = None, preamble: str = "") -> None:
        self.types: dict[str, Any] = {**TYPES, **(types or {})}
        self.costs: list[str] = []
        #: Whether elements may go different ways.
        self.branches = False
        self.body: list[Any] = []
        #: Numbers of the preamble, by name: the type and what makes them.
        self.constants: dict[str, tuple[Any, Any]] = {}
        self._functions: dict[str, list[Function]] = {}
        #: Where the templates among them begin.
        self._templates: dict[str, tuple[list[str], int]] = {}
        #: Of each block that is open what it declares, under names that no other block has.
        self._declared: list[dict[str, str]] = []
        self._count = 0
        preamble, macros = c_tokens.without_macros(preamble)
        self._tokens, self._at = c_tokens.tokens(preamble, macros), 0
        while self._at < len(self._tokens):
            self._typedef() if self._peek() in ("typedef", "using") else self._function()
        text, macros = c_tokens.without_macros(text, macros)
        self._tokens, self._at = c_tokens.tokens(text, macros), 0
        #: What the statements name.
        self.words = frozenset(self._tokens)
        while self._at < len(self._tokens):
            self.body.append(self._statement())

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

    @contextlib.contextmanager
    def _block(self) -> Iterator[None]:
        """What is declared within is forgotten after it."""
        self._declared.append({})
        yield
        self._declared.pop()

    def _variable(self, declared: bool = False) -> str:
        """The name that comes next: that of the innermost block which has it."""
        name = self._next()
        if declared and self._declared:
            self._count += 1
            self._declared[-1][name] = f"{name} {self._count}"
        return next((block[name] for block in reversed(self._declared) if name in block), name)

    def _statement(self) -> Any:
        token = self._peek()
        self.branches |= token in _BRANCHING
        if token == ";":
            self._next()
            return ("block", [])
        if token == "{":
            self._next()
            body = []
            with self._block():
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
            with self._block():
                return self._loop(self._next())
        if token == "do":
            return self._do()
        if token in ("typedef", "using"):
            self._typedef()
            return ("block", [])
        if token in ("break", "continue"):
            self._next()
            self._next(";")
            return (token,)
        if token == "return":
            self._next()
            value = None if self._peek() == ";" else self._expression()
            self._next(";")
            return ("return", value)
        if token == "switch":
            with self._block():
                return self._switch()
        if token in ATOMIC:
            return self._atomic(ATOMIC[self._next()])
        if token in _BOTH:
            return self._both(_BOTH[self._next()])
        if token in self._functions and self._peek(1) in ("(", "<"):
            call = self._call(self._next())
            self._next(";") if self._peek() else None
            return ("do", call)
        if token == "goto":
            raise NotImplementedError(f"`{token}` is not imitated")
        kind = self._type()
        found = [self._assignment(kind)]
        while self._peek() == ",":
            self._next()
            found.append(self._assignment(kind))
        if self._peek():
            self._next(";")
        return ("block", found)

    def _type(self) -> Any:
        """The type that begins here: `AUTO` where what it is given decides, None where none begins."""
        begin, words = self._at, []
        while self._peek() in _SIZES or self._peek() in _QUALIFIERS:
            words.append(self._next())
        kind: Any = None
        token = self._peek()
        if token in ("complex", "thrust::complex") and self._peek(1) == "<":
            self._at += 2
            kind = np.result_type(self._type() or np.float64, np.complex64).type
            self._close()
        elif token == "auto" or (token in self.types and (not words or words[-1] not in _SIZES or token in _SIZED)):
            kind = None if token in ("int", "char") else self.types.get(token, AUTO)
            words.append(self._next())
        while words and self._peek() in _QUALIFIERS:
            words.append(self._next())
        sized = [word for word in words if word not in _QUALIFIERS]
        if kind is None and not sized:
            self._at = begin
            return None
        length = next((word for word in sized if word in ("long", "short", "char")), "int")
        if "unsigned" in sized:
            return UNSIGNED[length]
        return self.types[length] if kind is None else kind

    def _close(self) -> None:
        """The end of what a type is made of, of which two may stand together."""
        if self._peek() == ">>":
            self._tokens[self._at] = ">"
        else:
            self._next(">")

    def _typedef(self) -> None:
        """`typedef float real;`, `using real = float;`: another name for a type."""
        word = self._next()
        if word == "using":
            name = self._next()
            self._next("=")
        kind = self._type()
        if kind is None:
            raise NotImplementedError(f"`{word} {self._peek()}` is not imitated")
        if word == "typedef":
            name = self._next()
        self._next(";")
        self.types[name] = kind

    def _function(self, given: tuple[Any, ...] = (), known_as: str = "") -> None:
        """A function of the preamble, or a number; the types of a template are those of what it is called with.

        Unless they are `given`: then it is another function.
        """
        begin, outside = self._at, (self.types, self.costs, self._declared)
        self.types, self.costs, self._declared = dict(self.types), [], []
        if is_template := self._peek() == "template":
            self._declared.append(self._template(given))
        kind = self._given_back()
        name = self._next()
        if self._peek() in ("=", "["):
            self._at -= 1
            made = self._assignment(kind)
            self.constants[name] = (AUTO, made) if made[0] == "array" else (kind, made[3])
            self._next(";")
        else:
            parameters = self._parameters(name)
            if self._peek() == ";":  # told of before it is there
                self._next()
            else:
                function = Function(kind, parameters, self._statement(), self.costs)
                self._functions.setdefault(known_as or name, []).append(function)
                if is_template:
                    self._templates[name] = self._tokens, begin
        self.types, self.costs, self._declared = outside

    def _template(self, given: tuple[Any, ...]) -> dict[str, str]:
        """What a template leaves open: types, which are noted, and numbers, under the names that they get."""
        numbers: dict[str, str] = {}
        rest = iter(given)
        self._next()
        self._next("<")
        while self._peek() != ">":
            kind = None
            if self._peek() in ("typename", "class"):
                self._next()
            elif (kind := self._type()) is None:
                raise NotImplementedError(f"a template of `{self._peek()}` is not imitated")
            name, value = self._next(), next(rest, None)
            if self._peek() == "=":
                self._next()
                otherwise = self._type() if kind is None else self._unary()
                value = otherwise if value is None else value
            if kind is None:
                self.types[name] = AUTO if value is None else value
            elif value is not None:
                self._count += 1
                numbers[name] = f"{name} {self._count}"
                self.constants[numbers[name]] = kind, value
            if self._peek() == ",":
                self._next()
        self._next(">")
        return numbers

    def _of_template(self, name: str) -> str:
        """The name of a function that a template makes of the types and numbers that stand here."""
        self._next("<")
        given = []
        while self._peek() not in (">", ">>"):
            kind = self._type()
            given.append(self._unary() if kind is None else kind)
            if self._peek() == ",":
                self._next()
        self._close()
        self._count += 1
        known_as = f"{name} {self._count}"
        outside = self._tokens, self._at
        self._tokens, self._at = self._templates[name]
        self._function(tuple(given), known_as)
        self._tokens, self._at = outside
        return known_as

    def _given_back(self) -> Any:
        """The type of what a function gives back; `VOID` of one that gives nothing."""
        begin = self._at
        while self._peek() in _QUALIFIERS:
            self._next()
        if self._peek() == "void":
            self._next()
            return VOID
        self._at = begin
        kind = self._type()
        if kind is None:
            raise NotImplementedError(f"`{self._peek()}` in the preamble is not imitated")
        return kind

    def _parameters(self, function: str) -> list[Parameter]:
        self._next("(")
        found = []
        while self._peek() != ")":
            found.append(self._parameter(function))
            if self._peek() == ",":
                self._next()
        self._next(")")
        return found

    def _parameter(self, function: str) -> Parameter:
        kind, signs = self._type(), []
        while self._peek() in ("*", "&", "const", *_RESTRICTED):
            signs.append(self._next())
        if kind is None or signs.count("*") > 1:
            raise NotImplementedError(f"`{self._peek()}` among the parameters of `{function}` is not imitated")
        name = self._next() if _NAME.fullmatch(self._peek()) else ""
        while self._peek() == "[":
            signs.append("*")
            while self._next() != "]":
                pass
        otherwise = None
        if self._peek() == "=":
            self._next()
            otherwise = self._expression()
        return Parameter(kind, name, "*" if "*" in signs else "&" if "&" in signs else "", otherwise)

    def _switch(self) -> Any:
        self._next()
        self._next("(")
        value = self._expression()
        self._next(")")
        self._next("{")
        cases: list[tuple[list[Any], list[Any]]] = []
        while self._peek() != "}":
            labels = []
            while self._peek() in ("case", "default"):
                labels.append(self._expression() if self._next() == "case" else None)
                self._next(":")
                self.costs.append("select")
            if labels:
                cases.append((labels, []))
            elif not cases:
                raise NotImplementedError("a statement of `switch` before its first `case` is not imitated")
            else:
                cases[-1][1].append(self._statement())
        self._next("}")
        return ("switch", value, cases)

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
        return ("loop", begin, condition, ("block", step), body, costs, False)

    def _do(self) -> Any:
        self._next()
        outside, self.costs = self.costs, []
        body = self._statement()
        self._next("while")
        self._next("(")
        condition = self._expression()
        self._next(")")
        self._next(";")
        costs, self.costs = self.costs, outside
        return ("loop", ("block", []), condition, ("block", []), body, costs, True)

    def _atomic(self, ufunc: Any) -> Any:
        self._next("(")
        self._next("&")
        inner = self._peek() == "("
        if inner:
            self._next()
        name, place = self._variable(), None
        if self._peek() == "[":
            self._next()
            place = self._expression()
            self._next("]")
        if inner:
            self._next(")")
        self._next(",")
        value = self._expression()
        self._next(")")
        self._next(";") if self._peek() else None
        self.costs.append("two")
        return ("atomic", ufunc, name, place, value)

    def _both(self, unit: float) -> Any:
        """The sine and the cosine of an angle in this unit, each put where a pointer leads."""
        self._next("(")
        angle: Any = self._expression()
        if unit != 1:
            angle = ("binary", "*", angle, ("value", unit))
        found = []
        for name in ("sin", "cos"):
            self._next(",")
            self._next("&")
            target = self._variable()
            place = None
            if self._peek() == "[":
                self._next()
                place = self._expression()
                self._next("]")
            self.costs.append(name)
            found.append(("set", target, place, ("call", FUNCTIONS[name][0], [angle]), None))
        self._next(")")
        if self._peek():
            self._next(";")
        return ("block", found)

    def _assignment(self, kind: Any) -> Any:
        if kind is None and self._peek() == "*" and _NAME.fullmatch(self._peek(1)):
            self._next()
            return self._changed(self._variable(), ("value", 0), None)
        name = self._variable(kind is not None)
        if name in ("++", "--") and self._peek():
            self.costs.append("two")
            counted = self._variable()
            return ("set", counted, None, ("binary", name[0], ("name", counted), ("value", 1)), None)
        if kind is not None and self._peek() == "[":
            return self._array(name, kind)
        place = None
        if self._peek() == "[":
            place = self._place()
        if not _NAME.match(name):
            raise NotImplementedError(f"`{name}` begins a statement that is not imitated")
        return self._changed(name, place, kind)

    def _array(self, name: str, kind: Any) -> Any:
        """An array of the kernel's own: its lengths, of which the first may be left out, and what it is made of."""
        lengths = []
        while self._peek() == "[":
            self._next()
            lengths.append(None if self._peek() == "]" else self._expression())
            self._next("]")
        values: list[Any] = []
        if self._peek() in ("=", "{"):
            self._next() if self._peek() == "=" else None
            self._listed(values)
        return ("array", name, lengths, kind, values)

    def _listed(self, values: list[Any]) -> None:
        """What stands in braces, one after the other, whatever the braces within."""
        self._next("{")
        while self._peek() != "}":
            self._listed(values) if self._peek() == "{" else values.append(self._expression())
            if self._peek() == ",":
                self._next()
        self._next("}")

    def _place(self) -> Any:
        """`[i]`, or of an array of the kernel's own `[i][j]`."""
        places = []
        while self._peek() == "[":
            self._next()
            places.append(self._expression())
            self._next("]")
        return places[0] if len(places) == 1 else ("places", places)

    def _changed(self, name: str, place: Any, kind: Any) -> Any:
        """What follows the name, or the place, of what an assignment changes."""
        sign = self._peek()
        if sign in ("++", "--"):
            self._next()
            self.costs.append("two")
            return ("set", name, place, ("binary", sign[0], _target(name, place), ("value", 1)), kind)
        if kind is not None and sign == "{":
            self._next()
            value = ("value", 0) if self._peek() == "}" else self._expression()
            self._next("}")
            return ("set", name, place, value, kind)
        if kind is not None and sign == "(":
            return ("set", name, place, self._made(kind), kind)
        if kind is not None and sign in (";", ",", ""):
            return ("set", name, place, ("value", 0), kind)
        sign = self._next()
        if sign == "=":
            return ("set", name, place, self._expression(), kind)
        if len(sign) > 1 and sign.endswith("=") and sign[:-1] in OPERATORS:
            self.costs.append("divide" if sign == "/=" else "two")
            return ("set", name, place, ("binary", sign[:-1], _target(name, place), self._expression()), kind)
        raise NotImplementedError(f"`{name.partition(' ')[0]} {sign}` is not imitated")

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
        if level == len(LEVELS):
            return self._unary()
        left = self._level(level + 1)
        while self._peek() in LEVELS[level]:
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
        if sign == "*" and _NAME.fullmatch(self._peek(1)):
            self._next()
            return ("item", self._primary(), ("value", 0))
        if sign == "&" and _NAME.fullmatch(self._peek(1)):
            self._next()
            name = self._variable()
            return ("address", name, self._place() if self._peek() == "[" else None)
        if sign == "(":
            begin = self._at
            self._next()
            kind = self._type()
            if kind is not None and self._peek() == ")":
                self._next()
                return ("cast", kind, self._unary())
            self._at = begin  # an expression in brackets, which may begin with `T(`
        return self._primary()

    def _primary(self) -> Any:
        if (kind := self._type()) is not None:
            return self._parts(self._made(kind))
        token = self._next()
        if token == "(":
            inner = self._expression()
            self._next(")")
            return self._parts(inner)
        if token[0].isdigit() or token[0] == ".":
            return ("value", _number(token))
        if token == "static_cast":
            self._next("<")
            kind = self._type()
            if kind is None:
                raise NotImplementedError(f"the type `{self._peek()}` is not imitated")
            self._close()
            return self._parts(self._made(kind))
        if token in CONSTANTS:
            return ("value", CONSTANTS[token])
        if self._peek() == "(" or (self._peek() == "<" and token in self._templates):
            return self._parts(self._call(token))
        if not _NAME.fullmatch(token):
            raise NotImplementedError(f"`{token}` is not imitated")
        self._at -= 1
        return self._parts(("name", self._variable()))

    def _parts(self, whole: Any) -> Any:
        """What follows a value: an element of it, something that it is asked."""
        while (sign := self._peek()) in ("[", "."):
            self._next()
            if sign == "[":
                whole = ("item", whole, self._expression())
                self._next("]")
                continue
            name = self._next()
            if name not in METHODS:
                raise NotImplementedError(f"`.{name}` is not imitated")
            if self._peek() == "(":
                self._next()
                self._next(")")
            whole = ("call", METHODS[name], [whole])
        return whole

    def _arguments(self) -> list[Any]:
        close = "}" if self._peek() == "{" else ")"
        self._next("{" if close == "}" else "(")
        arguments = []
        while self._peek() != close:
            arguments.append(self._expression())
            if self._peek() == ",":
                self._next()
        self._next(close)
        return arguments

    def _made(self, kind: Any) -> Any:
        """A number of a type, of one value or of the two parts of a complex one."""
        arguments = self._arguments()
        if len(arguments) == 2:
            self.costs.append("none")
            arguments = [("call", lambda real, imaginary: np.asarray(real) + 1j * np.asarray(imaginary), arguments)]
        return ("cast", kind, arguments[0] if arguments else ("value", 0))

    def _call(self, name: str) -> Any:
        known_as = self._of_template(name) if self._peek() == "<" else name
        arguments = self._arguments()
        if known_as in self._functions:
            return self._own(name, self._functions[known_as], arguments)
        short = name.removeprefix("std::").removeprefix("::").removeprefix("thrust::")
        if short not in FUNCTIONS and short.endswith("f") and short[:-1] in FUNCTIONS:
            short = short[:-1]
        if short not in FUNCTIONS:
            raise NotImplementedError(f"the function `{name}` is not imitated")
        self.costs.append(FUNCTIONS[short][1])
        return ("call", FUNCTIONS[short][0], arguments)

    def _own(self, name: str, functions: list[Function], arguments: list[Any]) -> Any:
        """A call of a function of the preamble, of which several may have its name."""
        count = len(arguments)
        found = [one for one in functions if len(one.parameters) == count]
        if not found:
            found = [
                one for one in functions
                if len(one.parameters) > count and one.parameters[count].otherwise is not None
            ]  # fmt: skip
        if not found:
            raise NotImplementedError(
                f"the function `{name}` of {len(functions[0].parameters)} parameters is called with {count}"
            )
        if len(found) > 1 and len(found[0].parameters) > count:
            raise NotImplementedError(f"`{name}`, of which {len(found)} may be called with {count}, is not imitated")
        self.costs += found[0].costs
        return ("own", name, found, arguments + [one.otherwise for one in found[0].parameters[count:]])


def _number(token: str) -> Any:
    if token[:2] in ("0x", "0X"):
        return int(token.rstrip("uUlL"), 16)
    digits = token.rstrip("fFuUlL")
    if re.fullmatch("0[0-7]+", digits) and token[-1] not in "fF":
        return int(digits, 8)
    if digits.isdigit() and token[-1] not in "fF":
        return int(digits)
    return np.float32(digits) if token[-1] in "fF" else float(digits)


def _target(name: str, place: Any) -> Any:
    if place is None:
        return ("name", name)
    whole: Any = ("name", name)
    for one in place[1] if place[0] == "places" else (place,):
        whole = ("item", whole, one)
    return whole
