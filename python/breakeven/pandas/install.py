"""Which classes and functions of pandas are hooked, under which names."""

from __future__ import annotations

import sys
from functools import partial

from .. import _native
from ..process import looks
from . import threads, told
from .stays import Stays

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType
    from typing import Any

_FUNCTION = type(lambda: None)
#: Public name → module and classes that have its methods.
_CLASSES = (
    ("DataFrame", "core.frame", "DataFrame"),
    ("Series", "core.series", "Series"),
    ("Index", "core.indexes.base", "Index"),
    ("MultiIndex", "core.indexes.multi", "MultiIndex"),
    ("Index", "core.indexes.datetimes", "DatetimeIndex"),
    ("Index", "core.indexes.range", "RangeIndex"),
    ("DataFrameGroupBy", "core.groupby.generic", "DataFrameGroupBy"),
    ("SeriesGroupBy", "core.groupby.generic", "SeriesGroupBy"),
    ("Rolling", "core.window.rolling", "Rolling"),
    ("Rolling", "core.window.rolling", "RollingGroupBy"),
    ("Rolling", "core.window.rolling", "RollingGroupby"),
    ("Expanding", "core.window.expanding", "Expanding"),
    ("ExponentialMovingWindow", "core.window.ewm", "ExponentialMovingWindow"),
    ("Resampler", "core.resample", "Resampler"),
    ("Series.str", "core.strings.accessor", "StringMethods"),
    ("Series.dt", "core.indexes.accessors", "DatetimeProperties"),
    ("Series.cat", "core.arrays.categorical", "CategoricalAccessor"),
    ("DataFrame.loc", "core.indexing", "_LocIndexer"),
    ("DataFrame.iloc", "core.indexing", "_iLocIndexer"),
    ("DataFrame.at", "core.indexing", "_AtIndexer"),
    ("DataFrame.iat", "core.indexing", "_iAtIndexer"),
)
#: Not hooked: they only look at an object, or the script's own code runs in them as in no other call.
_NOT = {"none", "composite"}
#: Of an index only what computes: pandas looks at indexes dozens of times within a call.
_OF_INDEX = {"date", "distinct", "join", "sort"}


def install(package: str) -> None:
    """pandas has just been imported."""
    pandas = sys.modules[package]
    table: dict[str, tuple[str, str]] = {}
    parameters: dict[str, set[str]] = {}
    for name, rule, place in _native.callables("pandas"):
        table[name] = rule, place
        if "(" in name and place == "host":
            full, _, parameter = name.rstrip(")").partition("(")
            parameters.setdefault(full, set()).add(parameter)
    for owner, cls in _owners(package):
        for name, value in _attributes(cls).items():
            hooked = _hooked(owner, name, value, table, parameters)
            if hooked is not None:
                setattr(cls, name, hooked)
    _functions(pandas, table, parameters)
    threads.hook_readers()


def _owners(package: str) -> Iterator[tuple[str, type]]:
    """Each class whose methods users call, where this version has it."""
    for owner, module, name in _CLASSES:
        cls = getattr(sys.modules.get(f"{package}.{module}"), name, None)
        if cls is not None:
            yield owner, cls


def _attributes(cls: type) -> dict[str, Any]:
    """What a class has, by name, that comes from pandas."""
    found: dict[str, Any] = {}
    for base in reversed(cls.__mro__):
        if base.__module__.split(".")[0] == "pandas":
            found |= vars(base)
    return found


def _hooked(
    owner: str, name: str, value: Any, table: dict[str, tuple[str, str]], parameters: dict[str, set[str]]
) -> Any:
    """What stands for a method or a computed attribute; None where it stays as it is."""
    full = f"pandas.{owner}.{name}"
    if name == "__init__" and owner in ("DataFrame", "Series"):
        return _op("", owner, value, table, parameters) if type(value) is _FUNCTION else None
    if name.startswith("_") and full not in table:
        return None
    rule = table.get(full, ("op", "host"))[0]
    if rule in _NOT or (owner.endswith("Index") and rule not in _OF_INDEX):
        return None
    if type(value) is _FUNCTION:
        return _op(owner, name, value, table, parameters)
    if type(value) is property and value.fget is not None and rule != "view" and full in table:
        return property(_op(owner, name, value.fget, table, parameters), value.fset, value.fdel, value.__doc__)
    if type(value) is classmethod and owner == "DataFrame" and full in table:
        return classmethod(_op(owner, name, value.__func__, table, parameters))
    return None


def _op(
    owner: str, name: str, function: Any, table: dict[str, tuple[str, str]], parameters: dict[str, set[str]]
) -> _native.OneOp:
    full = f"pandas.{owner}.{name}" if owner else f"pandas.{name}"
    stays = Stays(function, parameters[full]) if full in parameters else None
    entry = told.Name(owner, name, table.get(full, ("op", "host"))[0], stays)
    if entry.verb == "write_parquet":
        stand_in = _native.OneOp(function, full, partial(told.written, entry), threads.write_begins)
    else:
        stand_in = _native.OneOp(function, full, partial(told.call, entry), whole=name == "__array_ufunc__")
    return looks.wrapping(stand_in, function)


def _functions(pandas: ModuleType, table: dict[str, tuple[str, str]], parameters: dict[str, set[str]]) -> None:
    """The functions of `pandas`, in each of its modules that holds them under their names."""
    replaced: dict[Any, Any] = {}
    for name, value in list(vars(pandas).items()):
        if (
            type(value) is _FUNCTION
            and not name.startswith("_")
            and table.get(f"pandas.{name}", ("op", ""))[0] not in _NOT
        ):
            replaced[value] = _op("", name, value, table, parameters)
    for holder in ("", ".core.api", ".api", ".io.api", ".core.reshape.api"):
        module = sys.modules.get(f"pandas{holder}")
        for name, value in list(vars(module).items()) if module is not None else ():
            if type(value) is _FUNCTION and value in replaced:
                setattr(module, name, replaced[value])
    reader = getattr(sys.modules.get("pandas.io.parsers.readers"), "TextFileReader", None)
    if reader is not None:
        entry = told.Name("", "read_csv", "read_csv", None)
        entry.full = "pandas.read_csv"
        plain = reader.read
        reader.read = _native.OneOp(plain, "pandas.read_csv", partial(told.chunk, entry))
        reader.read.__dict__["__wrapped__"] = plain
