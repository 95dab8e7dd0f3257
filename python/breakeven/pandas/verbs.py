"""What a call does where its name does not say, and what of its object it reads."""

from __future__ import annotations

import os

from .sizes import size

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .sizes import Size

#: What the name says is all there is to say.
PLAIN: tuple[Any, ...] = ()


def subject(owner: str, given: Any) -> Any:
    """The frame that a method works on: that of a group-by, a window, an accessor, an indexer."""
    if owner.endswith(("GroupBy", "Resampler", "Rolling", "Expanding", "Window", "loc", "at")):
        return getattr(given, "obj", given)
    if owner.endswith((".str", ".dt", ".cat")):
        for name in ("_parent", "_orig", "_data"):
            if (found := getattr(given, name, None)) is not None:
                return found
    return given


def detail(owner: str, name: str, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> tuple[Any, ...]:
    """What tells calls of one name apart beside sizes, as (fact, value) pairs."""
    if name == "__getitem__" and not owner.endswith(".str"):
        return _picked(owner, args[1] if len(args) > 1 else None, result)
    if owner.endswith(("GroupBy", "Resampler")):
        grouper = getattr(args[0], "_grouper", None) or getattr(args[0], "grouper", None)
        return (("keys", len(getattr(grouper, "groupings", None) or (0,))),)
    if name == "resample":
        # Rows out of order are sorted first, all columns of them.
        ordered = getattr(getattr(args[0], "index", None), "is_monotonic_increasing", True)
        return (("verb", "view" if ordered or kwargs.get("on") is not None else "sort"),)
    if owner == "Rolling":
        window = getattr(args[0], "window", 0)
        return (("window", window if type(window) is int else _mean_window(args[0])),)
    if name in ("merge", "join", "sort_values", "drop_duplicates", "pivot_table", "set_index"):
        return (("keys", _keys(name, args, kwargs)),)
    if name.startswith(("read_", "to_")) and args:
        return _file(
            name,
            args[0]
            if name.startswith("read_")
            else args[1]
            if len(args) > 1
            else kwargs.get("path_or_buf", kwargs.get("path")),
        )
    return PLAIN


def _picked(owner: str, key: Any, result: Any) -> tuple[Any, ...]:
    """`df[key]`, `df.loc[key]`: a part by name or place, rows by a mask or by labels, one value."""
    if size(result)[2] == () and not hasattr(result, "obj"):
        return (("verb", "read"),)
    rows = key[0] if type(key) is tuple and owner.endswith("loc") and key else key
    kind = type(rows)
    if kind is str or kind is slice or kind is int:
        return (("verb", "view"),)
    dtype = getattr(rows, "dtype", None)
    if dtype is not None and getattr(rows, "ndim", 1) == 2:
        return (("verb", "map"),)
    mask = dtype == bool if dtype is not None else kind is list and bool(rows) and isinstance(rows[0], bool)
    if mask:
        return (("verb", "filter"),)
    by_label = owner.endswith("loc") or owner in ("Series", "Index", "MultiIndex")
    return (("verb", "gather" if by_label else "view"),)


def _keys(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> int:
    for word in ("on", "left_on", "by", "subset", "index", "keys"):
        if (given := kwargs.get(word)) is not None:
            return len(given) if type(given) in (list, tuple) else 1
    given = args[1] if name in ("sort_values", "drop_duplicates") and len(args) > 1 else None
    return len(given) if isinstance(given, list | tuple) else 1


def _mean_window(rolling: Any) -> int:
    """Rows of a window that is told as a time, were they evenly spread."""
    try:
        on = rolling._on
        return max(int(len(on) * (rolling._win_freq_i8 / max(int(on.asi8[-1]) - int(on.asi8[0]), 1))), 1)
    except (AttributeError, TypeError, IndexError):
        return 0


def _file(name: str, where: Any) -> tuple[Any, ...]:
    """Bytes of the file that is read or was written."""
    if type(where) is str or hasattr(where, "__fspath__"):
        try:
            bytes = os.stat(where).st_size
        except OSError:
            return PLAIN
        return (("copied_in" if name.startswith("read_") else "copied_out", bytes),)
    return PLAIN


def others(owner: str, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The other frame that a call reads, if it reads one."""
    if name in ("merge", "join", "merge_asof", "merge_ordered", "combine_first", "update", "isin"):
        place = 1
        return args[place] if len(args) > place else kwargs.get("right", kwargs.get("other"))
    if len(args) > 1 and hasattr(args[1], "_mgr"):
        return args[1]
    return None


def several(name: str, args: tuple[Any, ...]) -> list[Any]:
    """The frames of a list of them: those of `concat`."""
    given = args[0] if args else None
    if name == "concat" and isinstance(given, list | tuple):
        return list(given)
    if name == "concat" and type(given) is dict:
        return list(given.values())
    return []


def total(sizes: list[Size]) -> Size:
    """All frames of a list as one."""
    if not sizes:
        return (0, 0, ())
    largest = max(sizes, key=lambda one: one[0] * one[1])
    return sum(one[0] for one in sizes), largest[1], largest[2]
