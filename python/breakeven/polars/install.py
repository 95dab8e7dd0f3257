"""Which methods and functions of Polars are hooked, under which names."""

from __future__ import annotations

import sys
from functools import partial

from .. import _native
from ..process import looks
from . import eager, plan, query

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_FUNCTION = type(lambda: None)
_OPERATORS = {
    f"__{name}__"
    for name in (
        "getitem setitem add radd sub rsub mul rmul truediv rtruediv floordiv mod pow gt lt ge le eq ne and or xor "
        "invert neg"
    ).split()
}


def install(package: str) -> None:
    """Polars has just been imported."""
    polars = sys.modules[package]
    rules = {name: rule for name, rule, _ in _native.callables("polars") if "(" not in name}
    query.State.host = plan.untranslated()
    for name in ("collect", "sink_parquet", "sink_csv", "sink_ndjson", "sink_ipc"):
        _replace(polars.LazyFrame, name, f"LazyFrame.{name}", True)
    _replace(polars, "collect_all", "collect_all", True)
    for owner in ("DataFrame", "Series"):
        cls = getattr(polars, owner)
        _replace(cls, "__init__", owner, False)
        for name, value in list(vars(cls).items()):
            public = name in _OPERATORS or not name.startswith("_")
            if (
                public
                and type(value) is _FUNCTION
                and rules.get(f"polars.{owner}.{name}", "op") not in ("none", "composite")
            ):
                _replace(cls, name, f"{owner}.{name}", False)
    for name, value in list(vars(polars).items()):
        if name.startswith("read_") and type(value) is _FUNCTION:
            _replace(polars, name, name, False)


def _replace(holder: Any, name: str, full: str, lazy: bool) -> None:
    function = vars(holder).get(name)
    if type(function) is not _FUNCTION:
        return
    if lazy:
        stand_in = _native.OneOp(function, f"polars.{full}", partial(query.ended, full), query.begins)
    else:
        stand_in = _native.OneOp(function, f"polars.{full}", eager.ended)
    setattr(holder, name, looks.wrapping(stand_in, function))
