"""Recording a part of a program: `record()` and `@profile`."""

from __future__ import annotations

import contextlib
import functools
import gzip
import inspect
import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from .. import _native
from ..process import program
from ..run import process
from .estimate import Estimate, ask
from .options import ProgramOptions, takes

if TYPE_CHECKING:
    from typing_extensions import Unpack

P = ParamSpec("P")
R = TypeVar("R")

_depth = 0


class Recording:
    """What ran inside a `with breakeven.record() as work:` block; complete when the block has ended."""

    def __init__(self) -> None:
        self._workload: dict[str, Any] | None = None
        self._before: dict[str, Any] | None = None

    def __enter__(self) -> Recording:
        global _depth
        if _depth == 0 and not _native.recording():
            kind = process.recorder()
            if kind == "ast":
                raise RuntimeError(
                    f"{_native.unsupported() or 'the AST recorder was asked for'}; it rewrites whole modules, "
                    "so record the script with `breakeven run` instead"
                )
            self._before = None
            _native.reset()
            program.describe(sys.argv or [""], kind)
            process.begin(kind)
        else:
            _native.start()
            self._before = json.loads(_native.snapshot())
        _depth += 1
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        global _depth
        _depth -= 1
        _native.stop()
        after: dict[str, Any] = json.loads(_native.snapshot())
        self._workload = after if self._before is None else since(self._before, after)
        if kind is None:
            self._workload["program"]["exit"] = {"code": 0}  # the block has ended well, whatever the script does later

    @takes(ProgramOptions)
    def estimate(self, gpu: str | Iterable[str] | None = None, **options: Unpack[ProgramOptions]) -> Estimate:
        """What this would take on `gpu`, a name or several; on every GPU of the catalogue when None.

        A quantity is a number in the base unit (W, $/h, $/kWh) or text with a unit: `"320W"`, `"25 ct/kWh"`.

        Raises `InputError` for what does not read or is out of range, `UnknownNameError` for a name that the catalogue
        does not have, `UnknownKeywordError` for a keyword that is none, `RuntimeError` before the block has ended.

        >>> import breakeven, numpy
        >>> with breakeven.record() as work:
        ...     _ = numpy.ones((100, 100)) @ numpy.ones((100, 100))
        >>> [row["gpu"] for row in work.estimate("l4", exclude_startup=True).to_dict()["estimates"]]
        ['l4']
        """
        return ask({"workload": self.to_dict()}, gpu, options)

    def to_dict(self) -> dict[str, Any]:
        """The workload, format `breakeven.workload/1`."""
        if self._workload is None:
            raise RuntimeError("the `with breakeven.record()` block has not ended yet")
        return self._workload

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the workload; `breakeven show PATH` reads it. A `NAME.breakeven.json` by custom, packed if it ends
        in .gz."""
        data = json.dumps(self.to_dict()).encode()
        target = Path(path)
        if target.suffix == ".gz":
            data = gzip.compress(data)
        beside = target.with_name(target.name + ".part")
        try:
            beside.write_bytes(data)
            beside.replace(target)
        except OSError:
            beside.unlink(missing_ok=True)
            raise

    def __repr__(self) -> str:
        if self._workload is None:
            return "<breakeven.Recording: running>"
        return f"<breakeven.Recording: {sum(entry['count'] for entry in self._workload['ops'])} array operations>"


def record() -> Recording:
    """A context manager that records the NumPy, SciPy and PyTorch calls of its block, and takes their times. Blocks
    nest.

    Raises `RuntimeError` on entry where native hooks may not run: record the whole script with `breakeven run` there.

    >>> import breakeven, numpy
    >>> with breakeven.record() as work:
    ...     total = numpy.ones(1000).sum()
    >>> work.to_dict()["format"]
    'breakeven.workload/1'
    """
    return Recording()


def profile(function: Callable[P, R]) -> Callable[P, R]:
    """Record every call of `function`; that of the call that ended last is `function.recording`.

    A call of a generator or coroutine function lasts until that has ended: what else runs between its steps is in the
    recording, too. Those that are both, asynchronous generators, are refused with `TypeError`.

    >>> import breakeven, numpy
    >>> @breakeven.profile
    ... def total(n):
    ...     return float(numpy.ones(n).sum())
    >>> total(1000)
    1000.0
    >>> total.recording.estimate("l4").verdict in ("gpu", "cpu", "either", "unknown")
    True
    """
    if isinstance(function, (staticmethod, classmethod)):
        return type(function)(profile(function.__func__))
    if inspect.isasyncgenfunction(function):
        raise TypeError(f"{function.__name__} is an asynchronous generator: use `with breakeven.record()` inside of it")
    run: Any = function

    def recorded(*args: P.args, **kwargs: P.kwargs) -> Any:
        with _kept(decorated):
            return run(*args, **kwargs)

    def generated(*args: P.args, **kwargs: P.kwargs) -> Any:
        with _kept(decorated):
            return (yield from run(*args, **kwargs))

    async def awaited(*args: P.args, **kwargs: P.kwargs) -> Any:
        with _kept(decorated):
            return await run(*args, **kwargs)

    kind = (
        awaited
        if inspect.iscoroutinefunction(function)
        else generated
        if inspect.isgeneratorfunction(function)
        else recorded
    )
    decorated: Any = functools.wraps(function)(kind)
    decorated.recording = None
    return decorated  # type: ignore[no-any-return]


@contextlib.contextmanager
def _kept(function: Any) -> Iterator[None]:
    """Records a block, and keeps the recording as the function's once it has ended."""
    work = record()
    try:
        with work:
            yield
    finally:
        function.recording = work


#: Sums over all runs of an entry.
_SUMS = ("count", "cpu_ns", "gap_ns", "host_input_bytes", "host_input_count")


def since(before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
    """What an inner block added to a recording that was already going on. The order within it is not known apart."""
    earlier = {key: entry for key, entry in _keyed(before)}
    ops = []
    for key, entry in _keyed(after):
        old = earlier.get(key)
        if old is not None:
            entry = entry | {name: entry.get(name, 0) - old.get(name, 0) for name in _SUMS}
        if entry["count"] > 0:
            ops.append(entry)
    program = dict(after["program"])
    for name in ("wall_ns", "events", "idle_ns", "stolen_ns"):
        program[name] = max(0, program.get(name, 0) - before["program"].get(name, 0))
    return after | {"program": program, "ops": ops, "order": [], "buffers": [], "markers": []}


def _keyed(workload: dict[str, Any]) -> Iterable[tuple[str, dict[str, Any]]]:
    for entry in workload["ops"]:
        yield json.dumps([entry[name] for name in ("site", "name", "op", "dtype")] + [entry.get("shapes")]), entry
