"""Executions: where JAX lowers, compiles and runs a function in Python. What runs without is in the native hook."""

from __future__ import annotations

import json
import threading

from .. import _native
from .executables import Executable, known
from .session import session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class _Running(threading.local):
    """Whether an executable of this thread has begun: its arguments are copied as part of it."""

    on = False


running = _Running()

#: Compilations of one function from which on that is told.
MANY_TIMES = 20
#: Arguments of `batched_device_put`: what is copied, and for which devices.
_XS = 2


def lowering_begins(_: str, args: tuple[Any, ...], words: dict[str, Any] | None) -> Any:
    """A jaxpr is lowered, which is start-up as compiling is: with which inputs given up."""
    from .selftest import test_once

    test_once()
    words = words or {}
    donated = words.get("donated_invars", args[7] if len(args) > 7 else ())
    name = str(args[2] if len(args) > 2 else words.get("fun_name", ""))
    return _native.import_begins("compile", ()), (args[0], name, donated)


def lowering_ends(token: Any, _: Any, result: Any, __: Any = None) -> None:
    if token is None:
        return
    begun, lowered = token
    _native.import_ends(begun)
    if result is None:
        return
    session.noticed += 1
    if session.own:
        return
    executable = Executable(*lowered)
    known.lowered[result] = executable
    known.of_jaxprs[lowered[0]] = executable
    if not executable.of_library:
        times = session.compiled[executable.name] = session.compiled.get(executable.name, 0) + 1
        if times == MANY_TIMES:
            session.say(
                "jax-recompiled",
                f"{executable.name} was compiled {times} times or more: jit compiles for each shape, type and static "
                "value, and for each new function; pad shapes, and jit outside loops",
            )


def compiling_begins(_: str, args: tuple[Any, ...]) -> Any:
    """A lowered computation is made an executable, if it is not one yet."""
    return known.lowered.get(args[0])


def compiling_ends(token: Any, _: Any, result: Any, __: Any = None) -> None:
    if result is not None and token is not None:
        runs = getattr(result, "unsafe_call", None)
        if runs is not None and runs not in known.running:
            known.running[runs] = token


def compiler_begins(_: str) -> bool:
    """XLA compiles, which is start-up on both sides."""
    return _native.import_begins("compile", ())


def compiler_ends(begun: bool, *_: Any) -> None:
    _native.import_ends(begun)


def call_begins(_: str) -> None:
    """A call of a compiled function asks Python: it may only be traced."""
    _native.jitted_missed()


def call_ends(*_: Any) -> None:
    pass


def inner_begins(_: str, __: Any, words: dict[str, Any] | None) -> None:
    """A jaxpr is run without a function of the script's: as part of a gradient that is not compiled."""
    executable = known.of_jaxprs.get((words or {}).get("jaxpr"))
    if executable is not None and session.is_script() and not executable.asks_each_time:
        _native.jitted_next(executable.last)


def run_begins(_: str, args: tuple[Any, ...]) -> Any:
    """An executable is about to run, with the arguments that it was lowered for."""
    if not session.is_script():
        return None
    _native.jitted_missed()
    executable = known.running.get(args[0])
    if executable is None:
        session.say("jax-unknown", "an executable ran whose function was not seen being lowered")
        return None
    number = executable.number(args[1:])
    running.on = True
    return executable, number, _native.clock_ns()


def run_ends(token: Any, _: Any, result: Any, __: Any = None) -> None:
    if token is None:
        return
    running.on = False
    if result and session.waits is not None:
        wait_for(result)
    took = _native.clock_ns() - token[2]
    if result is not None:
        executable, number, _ = token
        executable.last = number
        _native.jitted_ran(number, took, not executable.asks_each_time)


def wait_for(arrays: Any) -> None:
    """Results are there when this returns; what went wrong is raised where the script reads them."""
    for array in arrays:
        try:
            session.waits(array)  # type: ignore[misc]
        except Exception as error:
            if _native.of_script(error):
                raise


def put_begins(_: str, args: tuple[Any, ...]) -> Any:
    """Arrays of the host are put on a device; as arguments of a call they are told with that."""
    if not session.is_script() or running.on or _native.jitted_within():
        return None
    numpy = __import__("numpy")
    host = [x for x in args[_XS] if isinstance(x, (numpy.ndarray, numpy.generic, int, float, complex))]
    bytes_ = sum(int(getattr(x, "nbytes", 4)) for x in host)
    return (_native.enter("jax.device_put", True), bytes_) if host else None


def put_ends(token: Any, _: Any, result: Any, __: Any = None) -> None:
    if token is None:
        return
    entered, bytes_ = token
    if result is None:
        _native.leave(entered, (), None)
        return
    told = {"op": {"transfer": {"direction": "h2d", "bytes": bytes_}}, "dtype": "u8"}
    _native.leave(entered, (), (), {"op": json.dumps(told)}, session.tag)


def wait_begins(_: str) -> Any:
    """The script waits for results."""
    return _native.enter("jax.block_until_ready") if session.is_script() else 0


def wait_ends(token: int, _: Any, result: Any, __: Any = None) -> None:
    if token:
        _native.leave(token, (), None if result is None else (), None, session.tag)


def value_begins(_: str, args: tuple[Any, ...]) -> None:
    """The host reads an array, unless it has it already."""
    if session.is_script() and args[0]._npy_value is None:
        _native.jitted_read(int(args[0].nbytes))
