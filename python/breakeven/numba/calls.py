"""Calls of what Numba compiles, as they come by: found out about once, and then recognised natively."""

from __future__ import annotations

import json
import os
import threading
import time

import numpy

from .. import _native
from .elements import inner_of, of_elements, of_places, of_rows
from .plans import Asked
from .source import source_of
from .values import NotTold

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .source import Source

_NAMES = {"DUFunc": "numba.vectorize", "GUFunc": "numba.guvectorize", "StencilFunc": "numba.stencil"}
#: Of calls that look alike but depend on data one in so many more than before is found out about.
_MORE = 2
_ALWAYS = 1 << 62
#: Different calls of one function from which lengths count by their order of magnitude alone.
_MANY = 256
#: Functions that are kept: a program that compiles more of them, in a loop, is told no more than how long they took.
_FUNCTIONS = 1024


class _Function:
    """What is known of a function: how many different calls, and when those that depend on data are asked about."""

    def __init__(self) -> None:
        self.plans = 0
        self.next: dict[object, int] = {}
        self.told = False


class _Within(threading.local):
    """Whether this thread is finding out about a call."""

    asking = False


within = _Within()
_known: dict[int, _Function] = {}
_held: list[object] = []


class Call:
    """A call that is being found out about: what goes into it, and what is told of it."""

    def __init__(self, of: Any, name: str, args: tuple[object, ...], words: dict[str, object]) -> None:
        self.of = of
        self.name = name
        self.args = args
        self.words = words
        self.asked: Asked | None = None
        self.why = ""
        self.stays: str | None = None
        self.began = 0


def before(of: Any, args: tuple[object, ...], words: dict[str, object]) -> Call | None:
    """A call that looks like none before begins: finds out what can be known of it before it runs."""
    if within.asking:
        return None
    call = Call(of, _NAMES.get(type(of).__name__, "numba.njit"), args, words)
    within.asking = True
    try:
        call.stays = _stays(call)
        if call.stays is None and len(_known) >= _FUNCTIONS and id(of) not in _known:
            raise NotTold(f"the program compiles more than {_FUNCTIONS} functions")
        if call.stays is None:
            source, given = _loop_of(call)
            call.asked = Asked(source, given, getattr(call.of, "targetoptions", {}))
    except NotTold as why:
        call.why = str(why)
    except RecursionError:
        call.why = "it is nested too deep"
    except Exception as error:
        call.why = f"breakeven failed to read it ({type(error).__name__}: {error})"
    finally:
        within.asking = False
    call.began = time.perf_counter_ns()
    return call


def after(call: Call, token: int, result: object, returned: bool) -> None:
    """It has ended, and what is known of it now is told."""
    if not returned:
        _native.leave(token, (), None)
        return
    asked = call.asked
    within.asking = True
    try:
        if asked is not None:
            asked.counted(time.perf_counter_ns() - call.began)
    except NotTold as why:
        call.why = str(why)
    except Exception as error:
        call.why = f"breakeven failed to count it ({type(error).__name__}: {error})"
    finally:
        within.asking = False
    plan = asked.plan if asked is not None and not call.why else None
    facts = plan.facts if plan is not None else {"parts": []} if call.stays else None
    stays = call.stays or (plan.stays if plan is not None else None)
    bits = [plan.given, plan.made] if plan is not None else [_ALWAYS - 1, 0]
    given, made = ([item for place, item in enumerate(call.args) if bit >> place & 1] for bit in bits)
    whole = (*made, *(result if isinstance(result, tuple) else (result,)))
    name = call.name if stays is None else f"{call.name}({stays})"
    words = {} if facts is None else {"facts": json.dumps(facts, sort_keys=True)}
    _native.leave(token, tuple(given), whole, words, 0, name)
    known = _remember(call, name, words, bits)
    if not known.told:
        known.told = True
        _tell(call, facts is None, stays)


def _remember(call: Call, name: str, words: dict[str, str], bits: list[int]) -> _Function:
    """The next calls that look like this one are told without asking."""
    known = _known.get(id(call.of))
    if known is None:
        known = _Function()
        if len(_known) >= _FUNCTIONS:
            return known
        _known[id(call.of)] = known
        _held.append(call.of)
    plan = call.asked.plan if call.asked is not None else None
    known.plans += 1
    coarse = known.plans > _MANY
    times = _ALWAYS
    if (plan is not None and plan.data and not call.why) or any(map(_is_loose, call.args)):
        key = tuple(map(_magnitude if coarse else _looks, call.args))
        times = known.next.get(key, 1)
        known.next[key] = times * _MORE
    values = 0 if coarse or plan is None else plan.values
    given, made = bits
    _native.compiled_again(call.of, call.args, call.words, name, words, given, made, values, coarse, times)
    return known


def _looks(item: object) -> object:
    return getattr(item, "shape", type(item))


def _magnitude(item: object) -> object:
    shape = getattr(item, "shape", None)
    return type(item) if shape is None else tuple(length.bit_length() for length in shape)


def _is_loose(item: object) -> bool:
    """Whether an argument may be another the next time, though nothing natively known tells."""
    return not (item is None or isinstance(item, (numpy.ndarray, numpy.generic, int, float, complex, tuple, str)))


def _stays(call: Call) -> str | None:
    """Why a call stays on the host, where that is known without looking into it."""
    if getattr(call.of, "targetoptions", {}).get("forceobj"):
        return "object-mode"
    alone = not any(isinstance(item, (numpy.ndarray, list)) for item in (*call.args, *call.words.values()))
    if call.name in ("numba.vectorize", "numba.guvectorize") and alone:
        return "scalar"
    function = getattr(call.of, "py_func", None)
    if _is_made(function) and _method_of(call.of, call.args) is None:
        return "scalar"  # makes an object of a compiled class, or reads one of its fields
    # Numba's own: what its lists and classes do when they are used from Python.
    module = getattr(function, "__module__", None) or ""
    return "scalar" if module.startswith("numba.") else None


def _is_made(function: Any) -> bool:
    """Whether Numba generated a function, for an object of a compiled class."""
    code = getattr(function, "__code__", None)
    made = ("method", "ctor", "getter", "setter")
    return code is not None and code.co_filename == "<string>" and code.co_name in made


def _method_of(of: Any, args: tuple[object, ...]) -> Any:
    """The method of a compiled class that a generated function calls."""
    function = of.py_func
    if not _is_made(function) or function.__code__.co_name != "method" or not args:
        return None
    methods = getattr(getattr(args[0], "_numba_type_", None), "jit_methods", {})
    return getattr(methods.get(function.__code__.co_names[0]), "py_func", None)


def _function_of(of: Any, args: tuple[object, ...]) -> Any:
    """The function in Python that a call runs; None of what has none of its own."""
    function = getattr(of, "py_func", None)
    return function and (_method_of(of, args) or function)


def _tell(call: Call, dark: bool, stays: str | None) -> None:
    """What was not understood, and which loop is no kernel, is said once a function."""
    function = _function_of(call.of, call.args)
    name = getattr(function, "__name__", None) or getattr(call.of, "__name__", "a compiled function")
    if dark:
        _native.unseen("numba-not-told", f"what {name}, compiled by Numba, computes was not understood: {call.why}", 0)
    elif call.asked is not None and (stays == "sequential" or call.asked.uneven):
        line, why = call.asked.why[0] if stays == "sequential" else (call.asked.uneven[0], "")
        code = getattr(function, "__code__", None)
        place = f"{os.path.basename(code.co_filename)}:{line}" if code is not None else f"line {line}"
        if why:
            text = f"the loop of {name} at {place} is no kernel, and stays on the CPU: {why}"
        else:
            text = f"the loop of {name} at {place} ends at another time in each thread; a warp waits for the longest"
        _native.unseen("compiled-loops", text, 0)


def _loop_of(call: Call) -> tuple[Source, list[object]]:
    """The function that runs and what it is given, in the order of its parameters."""
    of, args = call.of, call.args
    if call.name == "numba.vectorize":
        return of_elements(of._dispatcher, args[: of.nin])
    if call.name == "numba.guvectorize":
        layout = str(of.gufunc_builder.signature)
        return of_rows(inner_of(of.gufunc_builder.py_func), _axes(layout), _axes(layout.split("->")[0]), args)
    if call.name == "numba.stencil":
        return of_places(inner_of(of.kernel_ir.func_id.func), args)
    function = _function_of(of, args)
    source = source_of(function)
    names = source.parameters
    given = list(args)
    defaults = dict(zip(reversed(names), reversed(function.__defaults__ or ())))
    for name in names[len(args) :]:
        if name in call.words:
            given.append(call.words[name])
        elif name in defaults:
            given.append(defaults[name])
        else:
            raise NotTold("it takes arguments that it is not given")
    return source, given


def _axes(layout: str) -> list[list[str]]:
    """`(n,m),()->(n)`: the names in each pair of brackets."""
    parts = [part.split(")")[0] for part in layout.split("(")[1:]]
    return [[name.strip() for name in part.split(",") if name.strip()] for part in parts]
