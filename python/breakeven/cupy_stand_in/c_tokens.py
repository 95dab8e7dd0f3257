"""C in pieces: its words, numbers and signs, without comments and with what macros stand for."""

from __future__ import annotations

import re
from collections.abc import Iterator

_TOKEN = re.compile(
    r"\s*(?:(?P<number>0[xX][\da-fA-F]+[uUlL]*|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?[fFuUlL]*)"
    r"|(?P<name>(?:::)?[A-Za-z_]\w*(?:::\w+)*)"
    r"|(?P<sign>\+\+|--|<<=|>>=|[-+*/%&|^]=|&&|\|\||==|!=|<=|>=|<<|>>|[-+*/%<>=!~?:;,.(){}\[\]&|^]))"
)
#: Comments, and what only tells the compiler how.
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/|#\s*pragma[^\n]*|#\s*include[^\n]*", re.S)
#: Its name, its parameters if it has any, and what it stands for.
_MACRO = re.compile(r"^[ \t]*#\s*define\s+(\w+)(?:\(([^)]*)\))?[ \t]+([^\n]+)$", re.M)
#: What a macro stands for, and its parameters if it has any.
Macros = dict[str, tuple[list[str] | None, str]]


def without_macros(text: str) -> tuple[str, Macros]:
    """A text without the macros that it defines, and these."""
    text = _COMMENT.sub(" ", text)
    macros: Macros = {
        found[1]: (found[2] if found[2] is None else [name.strip() for name in found[2].split(",")], found[3])
        for found in _MACRO.finditer(text)
    }
    return _MACRO.sub("", text), macros


def tokens(text: str, macros: Macros) -> list[str]:
    """The words, numbers and signs of a text."""
    text = _COMMENT.sub(" ", text)
    found, at = [], 0
    while text[at:].strip():
        match = _TOKEN.match(text, at)
        if match is None:
            raise NotImplementedError(f"`{text[at:].strip()[:20]}` is not imitated")
        found.append(match.group().strip())
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
