"""C in pieces: its words, numbers and signs, without comments and with what macros stand for."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from ..core.imagined import capability

_TOKEN = re.compile(
    r"\s*(?:(?P<number>0[xX][\da-fA-F]+[uUlL]*|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?[fFuUlL]*)"
    r"|(?P<name>(?:::)?[A-Za-z_]\w*(?:::\w+)*)"
    r"|(?P<sign>\+\+|--|<<=|>>=|[-+*/%&|^]=|&&|\|\||==|!=|<=|>=|<<|>>|[-+*/%<>=!~?:;,.(){}\[\]&|^]))"
)
#: Words of C++ that are signs.
_SIGNS = {"and": "&&", "or": "||", "not": "!"}
#: Comments, ends of lines that go on, and what only tells the compiler how.
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/|\\[ \t]*\n|#\s*pragma[^\n]*|#\s*include[^\n]*", re.S)
#: A line for the preprocessor: what it does, and with what.
_LINE = re.compile(r"\s*#\s*(\w+)\s*(.*)")
#: A macro's name, its parameters if it has any, and what it stands for.
_MACRO = re.compile(r"(\w+)(?:\(([^)]*)\))?\s*(.*)")
#: Whether a macro is there, as a line asks.
_DEFINED = re.compile(r"\bdefined\s*(?:\(\s*(\w+)\s*\)|(\w+))")
#: What a macro stands for, and its parameters if it has any.
Macros = dict[str, tuple[list[str] | None, str]]


def without_macros(text: str, before: Macros | None = None) -> tuple[str, Macros]:
    """A text without its lines for the preprocessor and what these leave out, and the macros that hold after it.

    Of those that are there `before` the compiler's own are, unless others are given.
    """
    macros = dict(_given_by_compiler() if before is None else before)
    kept: list[str] = []
    #: Of each `#if` that is open: whether its lines count, and whether one of its branches has.
    branches: list[tuple[bool, bool]] = []
    for line in _COMMENT.sub(" ", text).split("\n"):
        found = _LINE.fullmatch(line)
        counts = all(now for now, _ in branches)
        if found is None:
            kept += [line] if counts else []
        elif found[1].startswith("if"):
            now = counts and _holds(found[1], found[2], macros)
            branches.append((now, now))
        elif found[1] in ("elif", "else", "endif") and branches:
            _, once = branches.pop()
            if found[1] != "endif":
                now = not once and all(now for now, _ in branches)
                now = now and (found[1] == "else" or _holds("if", found[2], macros))
                branches.append((now, once or now))
        elif counts:
            _define(found[1], found[2], macros)
    return "\n".join(kept), macros


#: Runs C, with variables by their names; `c_run.py`, which reads by what is here, sets it.
evaluate: Callable[[str, dict[str, Any]], Any]


def _given_by_compiler() -> Macros:
    major, minor = capability()
    given = {"__CUDACC__": "1", "__CUDACC_RTC__": "1", "__cplusplus": "201703"}
    given["__CUDA_ARCH__"] = f"{10 * major + minor}0"
    return {name: (None, text) for name, text in given.items()}


def _holds(word: str, asked: str, macros: Macros) -> bool:
    """Whether `#if`, `#ifdef` or `#ifndef` lets the lines that follow count."""
    if word in ("ifdef", "ifndef"):
        return (asked.strip() in macros) == (word == "ifdef")
    counted = _DEFINED.sub(lambda found: str(int((found[1] or found[2]) in macros)), asked)
    words = [word if word == "true" or not re.match(r"[A-Za-z_]", word) else "0" for word in tokens(counted, macros)]
    names: dict[str, Any] = {}
    try:
        evaluate(f"long holds = {' '.join(words)};", names)
    except NotImplementedError:
        raise NotImplementedError(f"`#{word} {asked}` is not imitated") from None
    return bool(names["holds"])


def _define(word: str, rest: str, macros: Macros) -> None:
    found = _MACRO.fullmatch(rest.strip())
    if word == "undef":
        macros.pop(rest.strip(), None)
    elif word == "define" and found is not None:
        macros[found[1]] = found[2] if found[2] is None else [name.strip() for name in found[2].split(",")], found[3]
    else:
        raise NotImplementedError(f"`#{word} {rest}` is not imitated")


def tokens(text: str, macros: Macros) -> list[str]:
    """The words, numbers and signs of a text."""
    text = _COMMENT.sub(" ", text)
    found, at = [], 0
    while text[at:].strip():
        match = _TOKEN.match(text, at)
        if match is None:
            raise NotImplementedError(f"`{text[at:].strip()[:20]}` is not imitated")
        word = match.group().strip()
        found.append(_SIGNS.get(word, word))
        at = match.end()
    return _expanded(found, macros)


def _expanded(words: list[str], macros: Macros) -> list[str]:
    """With what macros stand for in their places."""
    found: list[str] = []
    rest = iter(words)
    for token in rest:
        parameters, text = macros.get(token, (None, None))
        if text is None:
            found.append(token)
            continue
        others = {name: macro for name, macro in macros.items() if name != token}
        given = {} if parameters is None else dict(zip(parameters, _given(rest)))
        whole = [of for part in tokens(text, {}) for of in given.get(part, [part])]
        found += _expanded(whole, others)
    return found


def _given(words: Iterator[str]) -> list[list[str]]:
    """What a macro is called with, from the bracket that opens to its end."""
    found: list[list[str]] = [[]]
    depth = 0
    for token in words:
        depth += {"(": 1, ")": -1}.get(token, 0)
        if depth == 0:
            break
        if token == "," and depth == 1:
            found.append([])
        elif token != "(" or depth > 1:
            found[-1].append(token)
    return found
