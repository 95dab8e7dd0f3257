"""What an executable is on a GPU: its jaxpr as kernels, copies of its arguments from the host, rounds of its loops."""

from __future__ import annotations

import json
import sys
import weakref

from .. import _native
from .counting import Plan, twin
from .graph import graph_of
from .session import own_work, session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

#: Executions of one executable that are counted one by one; from then on those whose number is a power of two.
_COUNTED_ALL = 16
#: Texts of counts and arguments that are told apart for one executable.
_VARIANTS = 256
_PLAIN = (int, float, complex, bool)


class Executable:
    """One compiled function."""

    def __init__(self, jaxpr: Any, name: str, given_up: Sequence[int]) -> None:
        self.jaxpr = jaxpr
        self.name = name
        self.given_up = [place for place, gone in enumerate(given_up) if gone]
        self.plan = Plan(jaxpr)
        self.of_library = _is_library(jaxpr)
        self.counted: dict[int, float | list[int]] = {}
        self.executions = 0
        #: The number of its last execution.
        self.last = 0
        self._twin: Callable[..., Any] | None = None
        self._no_twin: str | None = "it acts on what is outside" if self.plan.acts else None
        self._numbers: dict[Any, int] = {}

    @property
    def asks_each_time(self) -> bool:
        """Whether each execution has to be looked at: what it does depends on values."""
        return bool(self.plan.widths)

    def number(self, args: Sequence[Any]) -> int:
        """The number of an execution with these arguments, under which it is told."""
        if self.plan.widths:
            self._count(args)
        copies = _copies(args)
        key = (copies, repr(self.counted)) if self.counted else copies
        if (known := self._numbers.get(key)) is None:
            if len(self._numbers) >= _VARIANTS:
                return next(reversed(self._numbers.values()))
            known = self._numbers[key] = self._told(copies)
        return known

    def _told(self, copies: tuple[int, ...]) -> int:
        answer = json.loads(_native.compiled(json.dumps(graph_of(self.jaxpr, self.counted, self.given_up))))
        told = answer["told"]
        if answer["unknown"]:
            names = ", ".join(answer["unknown"])
            session.say("jax-primitive", f"{self.name} holds what breakeven has no model of: {names}")
        elif answer["uncounted"]:
            session.say("jax-rounds", f"loops or branches of {self.name} were not counted: {self._no_twin}")
            told["op"] = "opaque"
        if answer["calls_host"]:
            session.say("jax-callback", f"{self.name} calls Python, which is not told apart from its own work")
        if isinstance(told["op"], dict):
            parts = told["op"]["routine"]["parts"]
            parts[:0] = [_copied(bytes_, copies.count(bytes_)) for bytes_ in dict.fromkeys(copies)]
        return _native.jitted_number("jax.eager" if self.of_library else "jax.jit", json.dumps(told))

    def _count(self, args: Sequence[Any]) -> None:
        """Counts the rounds of this execution, or leaves those of the one before."""
        self.executions += 1
        rare = self.executions & (self.executions - 1) != 0
        if self._no_twin is not None or (self.executions > _COUNTED_ALL and rare):
            return
        before = self.counted
        try:
            with own_work():
                if self._twin is None:
                    self._twin = twin(self.jaxpr, self.plan)
                self.counted = self.plan.by_site(self._twin(*args).tolist())
        except Exception as error:
            if _native.of_script(error):
                raise
            self._no_twin = f"{type(error).__name__}: {error}".splitlines()[0][:120]
        if self.executions > _COUNTED_ALL and before != self.counted:
            session.say("jax-rounds-sampled", f"rounds of {self.name} differ: not those of every run were counted")


class Known:
    """The executables of this process."""

    def __init__(self) -> None:
        #: By what a lowered computation was made of.
        self.lowered: weakref.WeakKeyDictionary[Any, Executable] = weakref.WeakKeyDictionary()
        #: By JAX's own object that runs it.
        self.running: weakref.WeakKeyDictionary[Any, Executable] = weakref.WeakKeyDictionary()
        #: By the jaxpr, for calls that name that.
        self.of_jaxprs: weakref.WeakKeyDictionary[Any, Executable] = weakref.WeakKeyDictionary()


known = Known()


def _copied(bytes_: int, times: int) -> dict[str, Any]:
    transfer = {"transfer": {"direction": "h2d", "bytes": bytes_}}
    return {"op": transfer, "dtype": "u8", "count": times}


def _copies(args: Sequence[Any]) -> tuple[int, ...]:
    """Bytes of what among arguments is copied from the host."""
    numpy = sys.modules["numpy"]
    copied = []
    for arg in args:
        if isinstance(arg, (numpy.ndarray, numpy.generic)):
            copied.append(_on_device(arg.nbytes, arg.dtype))
        elif isinstance(arg, _PLAIN):
            copied.append(1 if isinstance(arg, bool) else 4)
    return tuple(copied)


def _on_device(nbytes: int, dtype: Any) -> int:
    """Bytes there: of eight-byte numbers half, unless the script wants them."""
    import jax

    wide = dtype.kind in "iuf" and dtype.itemsize == 8 or dtype.kind == "c" and dtype.itemsize == 16
    return nbytes // 2 if wide and not jax.config.jax_enable_x64 else nbytes


def _is_library(jaxpr: Any) -> bool:
    """Whether it is one of JAX's own functions, called outside any that the script compiles."""
    info = getattr(getattr(jaxpr, "jaxpr", jaxpr), "debug_info", None)
    source = str(getattr(info, "func_src_info", ""))
    return "/jax/_src/" in source
