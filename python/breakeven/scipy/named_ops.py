"""SciPy's array functions as named ops: `scipy.linalg.lu_factor` is one op, whatever it calls inside.

Each public function is replaced, in every module of SciPy that holds it, by `_native.Named`, which calls it without a
Python frame of its own. SciPy asks of some functions whether they are this one or that (`func is dpss`), so those in
its tables of functions are replaced as well, and a stand-in equals the function that it stands for. Ufuncs of
`scipy.special` are hooked in place like NumPy's. Sparse products are taken where every class of matrix comes together:
in the compiled `_sparsetools`.
"""

from __future__ import annotations

import sys
import threading

from .. import _native
from ..process import looks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


#: Public functions that look at arrays and compute nothing.
_QUESTIONS = ("aslinear", "get_", "find_best_", "is", "use_solver", "set_", "register_", "skip_backend")
#: These take a metric by name, or a function of the script's own.
PAIRS = ("scipy.spatial.distance.cdist", "scipy.spatial.distance.pdist")
#: Tables of functions are no longer than this.
_TABLE = 200
_SPARSE_TOOLS = "scipy.sparse._sparsetools"


class _Computing(threading.local):
    """The stream of the device, by its tag, in which this thread's stand-in for CuPy computes by SciPy."""

    tag: int | None = None


computing = _Computing()


def _enter(name: str) -> int:
    return _native.enter(name if computing.tag is None else f"cupyx.{name}")


def _leave(token: int, inputs: Any, result: Any, words: Any = None) -> None:
    tag = computing.tag
    _native.leave(token, inputs, result, words) if tag is None else _native.leave(token, inputs, result, words, tag)


def hook(module: str) -> None:
    """Replace the public functions of a module that has just been imported."""
    functions = _functions(module)
    if module == "scipy.sparse" and _SPARSE_TOOLS in sys.modules:
        functions += _functions(_SPARSE_TOOLS)
    replaced = {id(function): _named(function, name) for name, function in functions}
    for holder, contents in list(sys.modules.items()):
        if holder == "scipy" or holder.startswith("scipy."):
            # Tables of functions stand beside them.
            deep = 2 if holder.startswith(module) else 0
            for name, value in list(vars(contents).items()):
                if not name.startswith("__") and (new := _exchanged(value, replaced, deep)) is not value:
                    setattr(contents, name, new)


def _exchanged(value: Any, replaced: dict[int, _native.Named], deep: int) -> Any:
    """What stands for a value: a function's stand-in; a table, changed in place, and a tuple, made anew, with those."""
    if id(value) in replaced:
        return replaced[id(value)]
    if deep == 0 or type(value) not in (dict, list, tuple) or len(value) > _TABLE:
        return value
    items = value.items() if type(value) is dict else enumerate(value)
    new = {key: stand_in for key, item in items if (stand_in := _exchanged(item, replaced, deep - 1)) is not item}
    if new and type(value) is tuple:
        return tuple(new.get(place, item) for place, item in enumerate(value))
    for key, stand_in in new.items():
        value[key] = stand_in
    return value


def _functions(module: str) -> list[tuple[str, Any]]:
    """The public functions of a module, by the name under which they are recorded."""
    contents = vars(sys.modules[module])
    if module == _SPARSE_TOOLS:
        products = [name for name in contents if name.endswith(("_matvec", "_matvecs", "_matmat"))]
        return [(f"scipy.sparse.{name}", contents[name]) for name in products]
    public = contents.get("__all__", ())
    return [(f"{module}.{name}", contents[name]) for name in public if _plain(contents.get(name), name)]


def _plain(value: Any, name: str) -> bool:
    return type(value).__name__ in ("function", "_Function") and not name.startswith(_QUESTIONS)


def _named(function: Any, name: str) -> _native.Named:
    stand_in = _native.Named(
        function, name, _enter, _leave, plain_with_function=name in PAIRS, parameters=parameters(function)
    )
    return looks.wrapping(stand_in, function)


def parameters(function: Any) -> tuple[str, ...]:
    """The names of what a function takes by place; none where it is a method, or no function of Python's."""
    if hasattr(function, "__func__"):
        return ()
    while (inner := getattr(function, "__wrapped__", None)) is not None:
        function = inner
    code = getattr(function, "__code__", None)
    return code.co_varnames[: code.co_argcount] if code is not None else ()
