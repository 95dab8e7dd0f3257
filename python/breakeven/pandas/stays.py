"""What keeps a call on the host whatever its name: a parameter that cuDF lacks, or a function of the script's own."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

#: The id of a function that the script hands in.
FUNCTION = "function"
#: Where functions come from that cuDF knows by name.
_KNOWN = ("numpy", "builtins", "pandas", "operator", "math")

_EMPTY = object()


class Stays:
    """The parameters of one method that keep it on the host, as the port's table lists them."""

    def __init__(self, function: Any, parameters: set[str]) -> None:
        self.function = FUNCTION in parameters
        self.words: dict[str, Any] = {}
        self.places: list[tuple[int, str, Any]] = []
        code, defaults = getattr(function, "__code__", None), {}
        if code is not None:
            names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
            last = function.__defaults__ or ()
            defaults = dict(zip(names[code.co_argcount - len(last) : code.co_argcount], last, strict=False))
            defaults |= function.__kwdefaults__ or {}
            self.places = [
                (place, name, defaults.get(name, _EMPTY))
                for place, name in enumerate(names[: code.co_argcount])
                if name in parameters
            ]
        self.words = {name: defaults.get(name, _EMPTY) for name in parameters - {FUNCTION}}

    def why(self, args: tuple[Any, ...], kwargs: dict[str, Any] | None) -> str | None:
        """The id of what keeps this call on the host, if something does."""
        if self.function and (any(map(is_function, args[1:])) or (kwargs and any(map(is_function, kwargs.values())))):
            return FUNCTION
        for place, name, default in self.places:
            if len(args) > place and _differs(args[place], default):
                return name
        if kwargs and self.words:
            for name, value in kwargs.items():
                if name in self.words and _differs(value, self.words[name]):
                    return name
        return None


def is_function(value: Any) -> bool:
    """Whether it is a function of the script's, or holds one."""
    kind = type(value)
    if kind is str or kind is int or kind is float or value is None:
        return False
    if kind is list or kind is tuple:
        return any(map(is_function, value[:16]))
    if kind is dict:
        return any(map(is_function, list(value.values())[:16]))
    if not callable(value) or isinstance(value, type) or hasattr(value, "_mgr"):
        return False
    return not (getattr(value, "__module__", None) or "").startswith(_KNOWN)


def _differs(value: Any, default: Any) -> bool:
    if value is default:
        return False
    kind = type(value)
    return not (kind is type(default) and kind in (str, int, bool, float) and value == default)
