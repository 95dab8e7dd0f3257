"""The recorder for interpreters where native hooks may not run: user modules are rewritten as they are compiled.

`rewrite.py` routes the operations of user code through `_native.watched`, which calls `before` and `after` here around
each. Only calls that name an array function are reported; library code is not rewritten, so what NumPy and SciPy do
inside a call belongs to that call.
"""

from __future__ import annotations

import datetime
import operator
import os
import sys
import time

from .. import _native
from ..scipy.named_ops import PAIRS, parameters

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType, ModuleType
    from typing import Any


class State:
    """What changes while the script runs."""

    ndarray: Any = None
    #: Arrays and NumPy's scalars, which an op may have given.
    valued: Any = ()
    matrix: Any = ()


state = State()


_OPERATORS = {
    "add": "add",
    "sub": "subtract",
    "mul": "multiply",
    "truediv": "divide",
    "floordiv": "floor_divide",
    "mod": "remainder",
    "pow": "power",
    "matmul": "matmul",
    "and_": "bitwise_and",
    "or_": "bitwise_or",
    "xor": "bitwise_xor",
    "lshift": "left_shift",
    "rshift": "right_shift",
    "neg": "negative",
    "pos": "positive",
    "invert": "invert",
    "eq": "equal",
    "ne": "not_equal",
    "lt": "less",
    "le": "less_equal",
    "gt": "greater",
    "ge": "greater_equal",
}
#: What NumPy calls for these exponents instead of `power`: of floats, and of integers.
_POWERS: dict[str, dict[float, str]] = {"f": {2: "square", 0.5: "sqrt", -1: "reciprocal"}, "i": {2: "square"}}
_POWERS |= {"c": _POWERS["f"], "u": _POWERS["i"]}
#: Builtins that are array ops when given an array, by the name of the op.
_BUILTINS: dict[Any, str] = {abs: "absolute", divmod: "divmod", pow: "power", round: "round"}
#: Builtins that read an array's values on the host.
_READERS = frozenset((float, int, bool, complex, str, repr, print, list, tuple, set, sorted, sum, min, max, any, all))
_READERS |= frozenset((zip, enumerate, map, filter, iter, format))
#: The script's own clocks, and calls that wait.
_CLOCKS = {
    getattr(time, name): f"time.{name}"
    for clock in ("time", "perf_counter", "monotonic", "process_time", "thread_time")
    for name in (clock, f"{clock}_ns")
    if hasattr(time, name)
}
_CLOCKS |= {getattr(datetime.datetime, name): f"datetime.{name}" for name in ("now", "utcnow", "today")}
_WAITS = frozenset((time.sleep, input))
#: Functions whose result holds values that came from the host, unless they were given an array.
_MAKERS = frozenset(
    f"numpy.{name}"
    for name in (
        *("array", "asarray", "asanyarray", "ascontiguousarray", "asfortranarray", "asarray_chkfinite", "matrix"),
        *("load", "loadtxt", "genfromtxt", "fromfile", "frombuffer", "fromstring", "fromiter", "memmap", "fromregex"),
    )
)

_by_function: dict[Any, str] = {getattr(operator, key): f"numpy.{name}" for key, name in _OPERATORS.items()}
for _key, _name in _OPERATORS.items():
    _in_place = getattr(operator, "i" + _key.rstrip("_"), None)
    if _in_place is not None and _key not in ("neg", "pos", "invert") and _in_place is not operator.inv:
        _by_function[_in_place] = f"numpy.{_name}"

#: What functions take by place.
_parameters: dict[str, tuple[str, ...]] = {"numpy.linalg.matrix_power": ("a", "n")}
#: Of a `numpy.matrix`, whose operators are those of linear algebra.
_OF_MATRICES = {"numpy.multiply": "numpy.dot", "numpy.power": "numpy.linalg.matrix_power"}


def rewrite_imports() -> None:
    """From now on user modules are rewritten when they are imported, and `__main__` when a child imports it by path."""
    from _frozen_importlib_external import SourceFileLoader

    plain = SourceFileLoader.get_code

    def get_code(self: SourceFileLoader, fullname: str) -> CodeType | None:
        code = plain(self, fullname)
        return code if code is None else _rewritten_file(code)

    # Importlib's own file name: the interpreter cuts such frames out of the traceback of a failed import.
    get_code.__code__ = get_code.__code__.replace(co_filename="<frozen importlib._bootstrap_external>")
    SourceFileLoader.get_code = get_code  # type: ignore[assignment,method-assign]

    if any("multiprocessing." in word for word in sys.orig_argv):
        _rewrite_run_path()
    _native.watch(_before, _after, _stored, _host)


def rewritten(source: bytes, path: str) -> CodeType | None:
    """The rewritten code of user source, or None where that fails; a note says so."""
    from . import rewrite

    try:
        return rewrite.rewritten(source, path)
    except (SyntaxError, ValueError, RecursionError) as error:
        _native.unseen("rewrite-failed", f"{path} runs as it is, unseen: {error}")
        return None


def _rewritten_file(code: CodeType) -> CodeType:
    path = code.co_filename
    if not _user_file(path):
        return code
    try:
        with open(path, "rb") as file:
            source = file.read()
    except OSError:
        return code
    return rewritten(source, path) or code


def _rewrite_run_path() -> None:
    """A spawned child runs the parent's script through `runpy.run_path`, which does not ask a loader for the code."""
    import runpy

    plain = runpy._get_code_from_file  # type: ignore[attr-defined]

    def get_code_from_file(*arguments: Any) -> Any:
        found = plain(*arguments)
        if isinstance(found, tuple):  # until Python 3.11
            return (_rewritten_file(found[0]), *found[1:])
        return _rewritten_file(found)

    runpy._get_code_from_file = get_code_from_file  # type: ignore[attr-defined]


_LIBRARY = (os.path.dirname(os.__file__) + os.sep, os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep)


def _user_file(path: str) -> bool:
    if path.startswith("<") or "site-packages" in path or "dist-packages" in path:
        return False
    return not path.startswith(_LIBRARY)


def _numpy() -> ModuleType | None:
    """NumPy once the script has imported it; arrays cannot exist before."""
    module = sys.modules.get("numpy")
    if state.ndarray is None and module is not None:
        state.ndarray = getattr(module, "ndarray", None)
        state.valued = (state.ndarray, getattr(module, "generic", state.ndarray)) if state.ndarray is not None else ()
        state.matrix = getattr(module, "matrix", ())
    return module if state.ndarray is not None else None


def _before(function: Any, arguments: tuple[Any, ...]) -> tuple[int, str, int] | None:
    """A token for `_after`, or None where `function` is no array op."""
    try:
        name = _by_function.get(function)
    except TypeError:  # unhashable
        return None
    if function in _WAITS:
        return 0, "", time.perf_counter_ns()
    if function in _CLOCKS:
        _native.marker(_CLOCKS[function])
        return None
    if _numpy() is None:
        return None
    if name is not None:
        if not any(isinstance(argument, state.ndarray) for argument in arguments):
            return None
        if any(type(argument).__module__.startswith("scipy.sparse.") for argument in arguments):
            return None
        if name in _OF_MATRICES and any(isinstance(argument, state.matrix) for argument in arguments):
            name = _OF_MATRICES[name]
        elif name == "numpy.power":
            name = _power(*arguments)
    elif function is operator.getitem:
        if not isinstance(arguments[0], state.ndarray):
            return None
        name = "numpy.ndarray.__getitem__"
    elif function in _BUILTINS:
        if not isinstance(arguments[0], state.ndarray):
            return None
        name = _power(*arguments) if function is pow else f"numpy.{_BUILTINS[function]}"
    elif function in _READERS:
        for argument in arguments:
            _host(argument)
        return None
    else:
        name = _public_name(function)
        if name is None:
            return None
    return _native.enter(name), name, 0


def _power(base: Any, exponent: Any, *_: Any) -> str:
    """What NumPy makes of `base ** exponent`."""
    of_kind = _POWERS.get(base.dtype.kind, {}) if isinstance(base, state.ndarray) else {}
    plain = isinstance(exponent, int if base.dtype.kind in "iu" else (int, float)) if of_kind else False
    return f"numpy.{of_kind.get(exponent, 'power') if plain else 'power'}"


def _after(
    token: tuple[int, str, int],
    function: Any,
    arguments: tuple[Any, ...] | None,
    keywords: dict[str, Any] | None,
    result: Any,
) -> None:
    number, name, since = token
    if since:
        _native.idle(time.perf_counter_ns() - since)
        return
    if arguments is None or (name in PAIRS and any(map(callable, (*arguments, *(keywords or {}).values())))):
        _native.leave(number, (), None)
        return
    inputs = _arrays((getattr(function, "__self__", None), *arguments))
    if keywords:
        inputs += _arrays(value for key, value in keywords.items() if key != "out")
    said = {key: value for key, value in (keywords or {}).items() if not isinstance(value, state.ndarray)}
    if name not in _parameters:
        _parameters[name] = parameters(function)
    for place, word in zip(arguments, _parameters[name]):
        if not isinstance(place, state.ndarray):
            said.setdefault(word, place)
    if name == "numpy.ndarray.__getitem__" and isinstance(result, state.ndarray):
        said["copied"] = result.base is None
    _native.leave(number, tuple(inputs), _result(result), said or None)
    if name in _MAKERS and not inputs and isinstance(result, state.ndarray):
        _native.host_made(result)


def _result(result: Any) -> Any:
    """`leave` takes None for a call that raised; in-place methods (`sort`, `fill`) return None and did not."""
    return () if result is None else result


def _stored(target: Any, index: Any, value: Any, token: int | None) -> int | None:
    """Around `target[index] = value`: called before with no token, and after with the token that it gave.

    The second time without target where the assignment raised.
    """
    if token is None:
        if _numpy() is None or not isinstance(target, state.ndarray):
            return None
        return _native.enter("numpy.ndarray.__setitem__")
    if target is None:
        _native.leave(token, (), None)
        return None
    keys = index if isinstance(index, tuple) else (index,)
    region: Any = ()
    if all(key is None or key is ... or isinstance(key, (int, slice)) for key in keys):
        region = state.ndarray.__getitem__(target, (*keys, ...) if not any(key is ... for key in keys) else index)
        if isinstance(value, state.ndarray) and _same_memory(value, region):
            _native.leave(token, (), None)  # `a[i] += b` has written through a view; storing it moves nothing
            return None
    _native.leave(token, (target, *_arrays((*keys, value))), region, None)
    return None


def _same_memory(a: Any, b: Any) -> bool:
    same: bool = a.shape == b.shape and a.strides == b.strides
    return same and bool(a.__array_interface__["data"] == b.__array_interface__["data"])


def _host(value: Any) -> None:
    if isinstance(value, state.valued):
        _native.host_read(value)


def _arrays(values: Any) -> list[Any]:
    """The arrays among values, and among the items of lists and tuples there (`concatenate((a, b))`)."""
    found = []
    for value in values:
        if isinstance(value, state.ndarray):
            found.append(value)
        elif type(value) in (list, tuple) and len(value) <= 1024:
            found += [item for item in value if isinstance(item, state.ndarray)]
    return found


def _public_name(function: Any) -> str | None:
    """The dotted name of a function of NumPy or SciPy, or None; None too where the call tells of itself."""
    kind = type(function)
    if kind is _native.Named or kind.__name__ == "vectorize":
        return None  # `numpy.vectorize` calls a function of the script's
    owner = getattr(function, "__self__", None)
    if kind.__name__ == "ufunc":
        name = function.__name__
        return f"numpy.{name}" if getattr(sys.modules["numpy"], name, None) is function else f"scipy.special.{name}"
    name = getattr(function, "__name__", None)
    if not isinstance(name, str):
        return None
    if owner is not None and not isinstance(owner, type(sys)):
        if type(owner).__name__ == "ufunc":
            return f"numpy.{owner.__name__}.{name}"
        if isinstance(owner, state.ndarray):
            return f"numpy.ndarray.{name}"
        home = type(owner).__module__ or ""
        if home.startswith("numpy.random"):
            source = f"numpy.random.{type(owner).__name__}"
            # What seeds and bit generators do is no more array work than making them.
            return f"{source}.{name}" if source.endswith((".Generator", ".RandomState")) else source
        if home.startswith("scipy.sparse._"):
            return None  # a matrix, whose compiled products are seen below it
        if home.startswith("scipy."):
            return f"{home}.{type(owner).__name__}.{name}"
        return None
    if isinstance(function, type):
        return f"numpy.{name}" if name in ("matrix", "memmap") and issubclass(function, state.ndarray) else None
    home = getattr(function, "__module__", None) or ""
    if home != "numpy" and not home.startswith(("numpy.", "scipy.")):
        return None
    return ".".join([*(part for part in home.split(".") if not part.startswith("_")), name])
