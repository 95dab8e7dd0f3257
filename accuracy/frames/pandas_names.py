"""The public names of pandas that tables list, and what is said of them."""

from __future__ import annotations

import inspect
import types
from collections.abc import Iterator

import pandas as pd
from verbs import rule

__all__ = ["methods", "rule", "takes_function"]

ABOUT_CALLABLES = """\
Public names of pandas 3.1.1: name, rule, atomic. Names with a parameter in parentheses are calls that give it.
Written by accuracy/frames."""
ABOUT_PORTS = """\
What becomes of pandas' names under cudf.pandas, and of Polars' under its GPU engine: columns as in cupy.csv.
pandas: cuDF 26.10.2's classes, read from the wheel cudf-cu12; cudf.pandas calls the method of the same name and goes back to
pandas on any exception, so a name that is missing and a parameter that is refused (in parentheses) are host.
polars: cudf-polars 26.10.2, dsl/translate.py and dsl/expressions: a node that is not translated sends the whole query back.
Written by accuracy/frames. waits: the size of the result depends on the data, or the host gets a number."""
#: Rules whose calls read something back.
WAITS = {"frame:filter", "frame:group_by", "frame:join", "frame:distinct", "frame:fold", "frame:pivot", "frame:top_k"}
FUNCTION = "a Python function runs on the host unless cuDF can compile it with Numba"
HOST = {
    "read_pickle": "unpickles on the host",
    **dict.fromkeys(
        "read_excel read_sql read_sql_query read_sql_table read_html read_xml read_hdf read_stata read_sas read_spss "
        "read_clipboard read_gbq read_iceberg".split(),
        "cuDF has no reader of this",
    ),
}
#: Operators that scripts call by their signs.
OPERATORS = (
    "__getitem__ __setitem__ __delitem__ __iter__ __contains__ __array__ __array_ufunc__ __matmul__ __rmatmul__ __invert__ __neg__ __abs__ "
    "__add__ __radd__ __iadd__ __sub__ __rsub__ __isub__ __mul__ __rmul__ __imul__ __truediv__ __rtruediv__ __itruediv__ "
    "__floordiv__ __rfloordiv__ __mod__ __rmod__ __pow__ __rpow__ __gt__ __lt__ __ge__ __le__ __eq__ __ne__ __and__ "
    "__rand__ __or__ __ror__ __xor__ __rxor__"
).split()
#: Classes of which making one counts as a function.
CLASSES = ("DataFrame", "Series", "Index")

_text, _time = pd.Series(["a"]), pd.Series(pd.to_datetime(["2020-01-01"]))
_frame = pd.DataFrame({"key": [1], "value": [1.0]}, index=pd.to_datetime(["2020-01-01"]))
#: Public name → class of pandas, class of cuDF.
OWNERS: dict[str, tuple[type, str]] = {
    "DataFrame": (pd.DataFrame, "DataFrame"),
    "Series": (pd.Series, "Series"),
    "Index": (pd.Index, "Index"),
    "MultiIndex": (pd.MultiIndex, "MultiIndex"),
    "DataFrameGroupBy": (type(_frame.groupby("key")), "DataFrameGroupBy"),
    "SeriesGroupBy": (type(_frame.groupby("key")["value"]), "SeriesGroupBy"),
    "Rolling": (type(_frame.rolling(1)), "Rolling"),
    "Expanding": (type(_frame.expanding()), "Expanding"),
    "ExponentialMovingWindow": (type(_frame.ewm(1)), "ExponentialMovingWindow"),
    "Resampler": (type(_frame.resample("D")), "DataFrameResampler"),
    "Series.str": (type(_text.str), "StringMethods"),
    "Series.dt": (type(_time.dt), "DatetimeProperties"),
    "Series.cat": (type(_text.astype("category").cat), "CategoricalAccessor"),
}
#: Accessors of rows by label or number: read and written.
INDEXERS = {
    "loc": "_DataFrameLocIndexer",
    "iloc": "_DataFrameIlocIndexer",
    "at": "_DataFrameAtIndexer",
    "iat": "_DataFrameiAtIndexer",
}


def _operators(owner: str) -> list[str]:
    """Those of a class: frames compute, groups only choose."""
    if owner in ("DataFrame", "Series", "Index", "MultiIndex"):
        return OPERATORS
    return ["__getitem__", "__iter__"]


def methods() -> Iterator[tuple[str, str, object, str]]:
    """(owner, name, what it is, cuDF's class) of each public name."""
    for owner, (cls, theirs) in OWNERS.items():
        for name in dir(cls):
            if not name.startswith("_") or (name in OPERATORS and name in _operators(owner)):
                yield owner, name, inspect.getattr_static(cls, name), theirs
    for indexer, theirs in INDEXERS.items():
        for name in ("__getitem__", "__setitem__"):
            yield f"DataFrame.{indexer}", name, None, theirs
    for name in (*CLASSES, *dir(pd)):
        value = getattr(pd, name)
        if name in CLASSES or (isinstance(value, types.FunctionType) and not name.startswith("_")):
            yield "", name, value, ""


def takes_function(name: str, value: object) -> bool:
    """Whether a function of the script's may be handed in."""
    try:
        return bool({"func", "arg", "mapper"} & set(inspect.signature(value).parameters)) and name not in ("pipe",)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return name in ("apply", "map", "transform", "agg", "aggregate", "filter")
