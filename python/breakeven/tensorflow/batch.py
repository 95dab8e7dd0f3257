"""The size that graphs leave open: a batch, by what a function is given or by the data set of its rows."""

from __future__ import annotations

from . import functions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Batches:
    """Rows of a batch of the data that a loop went over last: as a rule those in use."""

    latest: int | None = None


batches = Batches()


def iterates(dataset: Any) -> None:
    """An iterator has been made over a data set."""
    found = of_dataset(dataset)
    if found is not None:
        batches.latest = found


def adapts(adapter: Any) -> None:
    """Keras has made an adapter of the data that `fit`, `evaluate` or `predict` is given."""
    size = getattr(adapter, "batch_size", None)
    if isinstance(size, int) and size > 0:
        batches.latest = size


def steps(epoch: Any) -> None:
    """Keras is about to run a step of an epoch: its last one may have fewer rows."""
    adapter = getattr(epoch, "data_adapter", None)
    adapts(adapter)
    rest, whole = getattr(adapter, "partial_batch_size", None), getattr(adapter, "num_batches", None)
    is_last = isinstance(whole, int) and getattr(epoch, "_steps_seen", 0) >= whole
    if is_last and isinstance(rest, int) and rest > 0 and getattr(epoch, "steps_per_execution", 1) == 1:
        batches.latest = rest


def of_dataset(dataset: Any, depth: int = 0) -> int | None:
    """Rows of a batch, by the innermost data set that makes some; None where none says."""
    size = getattr(dataset, "_batch_size", None)
    if size is not None:
        try:
            return int(size)
        except (TypeError, ValueError):
            return None
    inner = getattr(dataset, "_input_dataset", None) or getattr(dataset, "_dataset", None)
    return of_dataset(inner, depth + 1) if inner is not None and depth < 30 else None


def is_open(graph: Any) -> bool:
    """Whether a graph, or one that it calls, leaves a dim open."""
    return any(
        tensor.shape.rank is not None and None in tensor.shape.as_list()
        for each in functions.with_called(graph)
        for op in each.get_operations()
        for tensor in op.outputs
        if tensor.dtype.name not in ("resource", "variant")
    )


def given(graph: Any, args: tuple[Any, ...]) -> int | None:
    """The batch of a call: the first open dim of what it is given, else that of the data set in use."""
    for symbol, actual in zip(graph.inputs, args):
        if symbol.shape.rank is None or symbol.dtype.name in ("resource", "variant"):
            continue
        dims = symbol.shape.as_list()
        if None in dims and hasattr(actual, "shape"):
            return int(actual.shape[dims.index(None)])
    return batches.latest
