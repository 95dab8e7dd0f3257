"""Which methods and functions of DuckDB are hooked: those that run a query or take its rows."""

from __future__ import annotations

import sys

from .. import _native
from ..process import looks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

#: What is called on a connection; the module has functions of these names.
_OF_CONNECTIONS = (
    "execute executemany sql query from_query from_df "
    "from_arrow from_parquet read_csv read_parquet read_json table append "
    "fetchall fetchone fetchmany fetchnumpy fetchdf fetch_df "
    "fetch_df_chunk df pl arrow to_arrow_table fetch_arrow_table"
).split()
#: What makes a relation run. What only adds to a query is not among them: nothing runs then.
_OF_RELATIONS = (
    "fetchall fetchone fetchmany fetchnumpy fetchdf fetch_df df to_df pl arrow to_arrow_table fetch_arrow_table "
    "fetch_record_batch execute materialize show __repr__ __str__ "
    "create to_table insert_into write_csv to_csv write_parquet "
    "to_parquet to_dicts shape"
).split()
_HOST = {"op": '{"op": "host_only", "dtype": "f64"}'}


def install(package: str) -> None:
    """DuckDB has just been imported."""
    duckdb = sys.modules[package]
    _replace(duckdb, "connect")
    for name in _OF_CONNECTIONS:
        _replace(duckdb.DuckDBPyConnection, name)
        _replace(duckdb, name)
    for name in _OF_RELATIONS:
        _replace(duckdb.DuckDBPyRelation, name)


def _replace(holder: Any, name: str) -> None:
    function = vars(holder).get(name)
    if not callable(function) or isinstance(function, type):
        return
    stand_in = looks.wrapping(_native.OneOp(function, "duckdb.query", _ended), function)
    try:
        setattr(holder, name, stand_in)
    except (AttributeError, TypeError):
        _native.unseen("duckdb-hook", "a version of DuckDB whose queries cannot be seen one by one")


def _ended(token: int, args: tuple[Any, ...], kwargs: dict[str, Any] | None, result: Any) -> None:
    """A call has gone well: time on the host."""
    _native.leave(token, (), None, _HOST)
