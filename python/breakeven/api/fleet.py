"""Jobs of a cluster, batch by batch: rows of a job log in, one row a job out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .. import _native

if TYPE_CHECKING:
    import pyarrow


def fleet(
    batch: Any,
    *,
    mapping: str | None = None,
    gpu: str | None = None,
    named: Mapping[str, str] | None = None,
    price: float | None = None,
    cpu_price: float | None = None,
) -> Any:
    """Judge the jobs of a batch, as `breakeven fleet` does: what they had, what was wasted, by what evidence.

    Steps are joined with their job where they are in the same batch; a row that comes twice in a batch counts once.

    Parameters
    ----------
    batch : pyarrow.Table, pyarrow.RecordBatch or pandas.DataFrame
        Rows of a job log, with sacct's columns or those that `mapping` names. Text, numbers, timestamps, durations.
    mapping : str, optional
        Which column is what, in TOML: see docs/fleet.md.
    gpu : str, optional
        The GPU of jobs that name none, by any name of the catalogue.
    named : dict of str to str, optional
        What a model or a partition of the log means: `{"gpu": "a100-sxm4-80gb"}`.
    price, cpu_price : float, optional
        USD of a GPU hour, instead of list prices; USD of a core hour of jobs without a GPU.

    Returns
    -------
    pyarrow.Table or pandas.DataFrame
        One row a job, in the order of the batch but for jobs that are still running, which come last; a DataFrame for a
        DataFrame. Hours, USD, kWh; what is not known is null.

    Raises
    ------
    ValueError
        What is no job log, does not fit the mapping, or names a GPU that nobody knows.

    Examples
    --------
    >>> import pyarrow  # doctest: +SKIP
    >>> jobs = pyarrow.table({"JobID": ["1"], "State": ["COMPLETED"], "ElapsedRaw": [7200],
    ...     "AllocTRES": ["cpu=8,gres/gpu=2"], "TRESUsageInMax": ["gres/gpumem=0,gres/gpuutil=0"]})  # doctest: +SKIP
    >>> breakeven.fleet(jobs, price=2.0)["freed_usd_p50"].to_pylist()  # doctest: +SKIP
    [8.0]
    """
    try:
        import pyarrow
    except ImportError as missing:
        raise ImportError("fleet() needs pyarrow: pip install pyarrow") from missing
    table, is_frame = _table(batch, pyarrow)
    sink = pyarrow.BufferOutputStream()
    with pyarrow.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    pairs = list((named or {}).items())
    judged = _native.fleet(sink.getvalue().to_pybytes(), mapping, gpu, pairs, price, cpu_price)
    jobs = pyarrow.ipc.open_stream(judged).read_all()
    return jobs.to_pandas() if is_frame else jobs


def _table(batch: Any, arrow: Any) -> tuple[pyarrow.Table, bool]:
    """The batch as a table, and whether it came as a DataFrame."""
    if isinstance(batch, arrow.Table):
        return batch, False
    if isinstance(batch, arrow.RecordBatch):
        return arrow.Table.from_batches([batch]), False
    if hasattr(batch, "columns") and hasattr(batch, "iloc"):
        return arrow.Table.from_pandas(batch, preserve_index=False), True
    kind = type(batch).__name__
    raise TypeError(f"fleet() takes a pyarrow Table or RecordBatch or a pandas DataFrame, not {kind}")
