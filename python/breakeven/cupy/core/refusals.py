"""What CuPy refuses: NumPy's errors in CuPy's words, and arguments that NumPy takes and CuPy does not."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

#: NumPy's text, and CuPy's.
_TEXTS: tuple[tuple[re.Pattern[str], Any], ...] = tuple(
    (re.compile(text, re.S), new)
    for text, new in (
        (r"Cannot cast ufunc '.*' (output|input.*) from (.*) to (.*) with casting rule '(.*)'",
         r"Cannot cast output operand from \2 to \3 according to the rule '\4'"),
        (r"(The )?numpy boolean negative(.*)", r"\1cupy boolean negative\2"),
        (r"numpy boolean subtract, the `-` operator, is not supported(.*)",
         r"cupy boolean subtract, the `-` operator, is deprecated\1"),
        (r"matmul: Input operand \d has a mismatch.*|shapes .* not aligned.*", "Axis dimension mismatch"),
        (r"matmul: Input operand \d does not have enough.*", "Scalar operands are not allowed, use '*' instead"),
        (r"index (-?\d+ is out of bounds for axis .*)", r"Index \1"),
        (r"boolean index did not match indexed array along axis (\d+); size of axis is (\d+) but size of corresponding "
         r"boolean axis is (\d+)",
         r"boolean index did not match indexed array along dimension \1; dimension is \2 but corresponding boolean "
         r"dimension is \3"),
        (r"could not broadcast input array from shape (.*) into shape (.*)",
         r"operands could not be broadcast together with shapes \1 \2"),
        (r"NumPy boolean array indexing assignment cannot assign (\d+) input values to the (\d+) output.*",
         r"operands could not be broadcast together with shape (\1,) and requested shape (\2,)"),
        (r"operands could not be broadcast together with remapped shapes .*: (\(.*\))\s+and requested shape (.*)",
         r"operands could not be broadcast together with shape \1 and requested shape \2"),
        (r"(operands could not be broadcast together with shapes? .*)", r"\1"),
        (r"(cannot reshape array of size .*)", r"\1"),
        (r"non-broadcastable output operand.*", "Out shape is mismatched"),
        (r"zero-size array to reduction operation maximum(.*)",
        r"zero-size array to reduction operation CUPY_CUB_MAX\1"),
        (r"zero-size array to reduction operation minimum(.*)",
        r"zero-size array to reduction operation CUPY_CUB_MIN\1"),
        (r"attempt to get arg(max|min) of an empty sequence",
         lambda found: f"zero-size array to reduction operation CUPY_CUB_ARG{found[1].upper()} which has no identity"),
        (r"negative dimensions are not allowed", "Negative dimensions are not allowed"),
        (r"all the input arrays must have same number of dimensions.*", "All arrays to concatenate must have the same "
        "ndim"),
        (r"need at least one array to concatenate", "Cannot concatenate from empty tuple"),
        (r"array split does not result in an equal division",
         "indices_or_sections must divide the size along the axes. If you want to split the array into "
         "non-equally-sized "
         "arrays, use array_split instead."),
        (r"either both or neither of x and y should be given", "Must provide both 'x' and 'y' or neither."),
        (r"(.*)Use np\.atleast_1d(.*)", r"\1Use cp.atleast_1d\2"),
        (r"Number of samples, .*, must be non-negative\.", "linspace with num<0 is not supported"),
        (r"only length-1 arrays can be converted.*", "only 0-dimensional arrays can be converted to Python scalars"),
        (r"'list' argument must have no negative elements", "The first argument of bincount must be non-negative"),
        (r"array type (\w+ is unsupported in linalg)", r"\1"),
    )
)  # fmt: skip
_SHAPE = re.compile(r"(?<=\d),(?=\d)")
_WRONG_TYPE = re.compile(r"ufunc '(\w+)' (not supported for the input types|did not contain a loop)")


def as_cupy(error: Exception, args: tuple[Any, ...]) -> Exception:
    """NumPy's error as CuPy raises it for these arguments."""
    text = str(error)
    kinds = [kind for kind in (TypeError, IndexError, ValueError) if isinstance(error, kind)]
    if not kinds or type(error).__module__ == "cupy.cuda.memory":
        return error
    if found := _WRONG_TYPE.match(text):
        types = tuple(np.asarray(arg).dtype for arg in args)
        if any(kind.kind in "USO" for kind in types):
            strange = next(arg for arg in args if np.asarray(arg).dtype.kind in "USO")
            return TypeError(f"Unsupported type {type(strange)}")
        return TypeError(f"Wrong type ({types}) of arguments for cupy_{found[1]}")
    for pattern, new in _TEXTS:
        if found := pattern.fullmatch(text):
            said = new(found) if callable(new) else found.expand(new)
            return kinds[0](_SHAPE.sub(", ", said).rstrip())
    return error


def _asked(method: str) -> Callable[..., Any]:
    def ask(host: Any, *args: Any, **words: Any) -> Any:
        return getattr(host, method)(*args, **words)

    return ask


def _sorted(host: Any, axis: Any = -1, kind: Any = None) -> Any:
    """A sorted copy: the method of this name sorts in place."""
    found = host.flatten() if axis is None else host.copy()
    found.sort(axis=-1 if axis is None else axis)
    return found


#: Functions that ask their first argument for a method of their name: a list has none, and NumPy's array computes.
METHODS: dict[str, Callable[..., Any]] = {
    **{
        name: _asked(name)
        for name in "argpartition argsort choose copy diagonal dot mean nonzero prod ptp ravel repeat reshape "
        "squeeze std sum swapaxes take trace transpose var max min clip".split()
    },
    "amax": _asked("max"), "amin": _asked("min"), "around": _asked("round"), "round": _asked("round"), "sort": _sorted,
}  # fmt: skip
#: Arguments that must be arrays of the device, by place, and what CuPy misses in others.
_NEEDED = {
    "cupy.unique": (0, "shape"), "cupy.lexsort": (0, "ndim"), "cupy.where": (0, "astype"), "cupy.isin": (1, "ravel"),
    "cupy.digitize": (1, "ndim"), "cupy.interp": (0, "flags"),
    **{f"cupyx.scipy.ndimage.{name}": (1, "nbytes") for name in ("convolve", "correlate")},
    **{f"cupyx.scipy.ndimage.{name}": (1, "ndim") for name in ("convolve1d", "correlate1d")},
}  # fmt: skip
#: Calls that CuPy does not take at all: by name, whether these arguments are such, the error.
_UNDONE: dict[str, tuple[Callable[[tuple[Any, ...], dict[str, Any]], bool], Exception]] = {
    "piecewise": (
        lambda args, _: any(map(callable, args[2])) if len(args) > 2 and isinstance(args[2], (list, tuple)) else False,
        NotImplementedError("Callable functions are not supported currently"),
    ),
    "histogram": (
        lambda args, words: isinstance(words.get("bins", args[1] if len(args) > 1 else 10), str),
        NotImplementedError("only integer and array bins are implemented"),
    ),
    **dict.fromkeys(
        ("sort", "argsort"),
        (
            lambda args, words: words.get("kind") not in (None, "stable"),
            ValueError("kind can only be None or 'stable'"),
        ),
    ),
    "searchsorted": (
        lambda args, _: len(args) > 1 and isinstance(args[1], (list, tuple, np.ndarray)),
        NotImplementedError("Only python scalars or ndarrays are supported for v"),
    ),
    "polyval": (
        lambda args, _: isinstance(args[0], (list, tuple, np.ndarray, int, float)),
        TypeError("p must be 1d ndarray or poly1d object"),
    ),
    "meshgrid": (
        lambda args, _: any(isinstance(arg, np.ndarray) and arg.ndim == 1 for arg in args),
        ValueError("input has to be cupy.ndarray"),
    ),
    **dict.fromkeys(
        ("copyto", "full"),
        (
            lambda args, _: len(args) > 1 and isinstance(args[1], np.ndarray) and args[1].size != 1,
            ValueError("non-scalar numpy.ndarray cannot be used for copyto"),
        ),
    ),
    "lexsort": (
        lambda args, _: args[0].ndim > 2,
        NotImplementedError("Keys with the rank of three or more is not supported in lexsort"),
    ),
    **dict.fromkeys(
        ("empty_like", "ones_like", "zeros_like", "full_like"),
        (lambda _, words: words.get("subok") is not None, TypeError("subok is not supported yet")),
    ),
    "select": (
        lambda args, words: not np.isscalar(words.get("default", args[2] if len(args) > 2 else 0)),
        TypeError("default only accepts scalar values"),
    ),
    "roots": (
        lambda args, _: len(args[0]) > 2,
        NotImplementedError("Only complex Hermitian and real symmetric 2d arrays are supported currently"),
    ),
}
#: Methods that take no array whose rows do not follow each other.
_IN_PLACE = frozenset(["sort", "partition"])


def method(name: str, array: Any) -> None:
    """Raises what a method of CuPy's raises where NumPy's would go on."""
    if name in _IN_PLACE and not array.flags.c_contiguous:
        raise NotImplementedError("Sorting non-contiguous array is not supported.")


#: Measurements of labelled parts, which bring nothing to the device.
_MEASURED = frozenset(
    f"cupyx.scipy.ndimage.{name}" for name in "sum sum_labels mean variance standard_deviation center_of_mass".split()
)
#: Functions of `cupy.linalg` whose arguments, so many, must be arrays of the device; `det` and others ask how many dims
#: theirs has.
_SOLVING = {
    **dict.fromkeys("cholesky qr svd inv pinv tensorinv matrix_power".split(), 1), "solve": 2, "lstsq": 2,
    "tensorsolve": 2,
}  # fmt: skip
_MANY_DIMS = frozenset("det slogdet matrix_rank eig eigvals".split())
_REPEATED = frozenset(f"cupyx.scipy.ndimage.binary_{name}" for name in "erosion dilation opening closing".split())
_JOINING = frozenset("concatenate stack column_stack".split())


def any_of(public: str) -> bool:
    """Whether `check` may refuse a call of this function."""
    module, _, name = public.rpartition(".")
    rules = public in _NEEDED or public in _REPEATED or public in _MEASURED or module in ("cupy.fft", "cupy.linalg")
    return rules or (module == "cupy" and (name in _UNDONE or name in _JOINING))


def check(public: str, args: tuple[Any, ...], words: dict[str, Any], is_device: Callable[[Any], bool]) -> None:
    """Raises what CuPy raises where NumPy would go on."""
    module, _, name = public.rpartition(".")
    if public in _NEEDED:
        place, attribute = _NEEDED[public]
        if len(args) > place and not (is_device(args[place]) or isinstance(args[place], np.ndarray)):
            raise AttributeError(f"{type(args[place]).__name__!r} object has no attribute {attribute!r}")
    if public in _REPEATED and words.get("iterations", args[2] if len(args) > 2 else 1) != 1:
        if not words.get("brute_force"):
            raise NotImplementedError("only brute_force iteration has been implemented")
    if module == "cupy.linalg" and args:
        _solving(name, args, is_device)
    if public in _MEASURED and args:
        _measured(args, words, is_device)
    if module == "cupy" and args:
        if name in _UNDONE and _UNDONE[name][0](args, words):
            raise _UNDONE[name][1]
        if name in _JOINING and type(args[0]) in (list, tuple):
            for item in args[0]:
                if type(item) in (list, tuple, int, float, complex):
                    raise TypeError(f"Unsupported type {type(item)}")
    elif module == "cupy.fft" and args and name[-4:] not in ("freq",) and type(args[0]) in (list, tuple):
        raise TypeError("The input array a must be a cupy.ndarray")


def _solving(name: str, args: tuple[Any, ...], is_device: Callable[[Any], bool]) -> None:
    if name in _MANY_DIMS and type(args[0]) in (list, tuple):
        raise AttributeError(f"{type(args[0]).__name__!r} object has no attribute 'ndim'")
    if not all(map(is_device, args[: _SOLVING.get(name, 0)])) or (name == "matrix_rank" and not is_device(args[0])):
        raise np.linalg.LinAlgError("cupy.linalg only supports cupy.ndarray")


def _measured(args: tuple[Any, ...], words: dict[str, Any], is_device: Callable[[Any], bool]) -> None:
    labels, index = (
        args[place] if len(args) > place else words.get(word) for place, word in ((1, "labels"), (2, "index"))
    )
    if not is_device(args[0]):
        raise TypeError("input must be cupy.ndarray")
    if labels is not None and not is_device(labels):
        raise TypeError("label must be cupy.ndarray")
    if labels is not None and index is not None and not is_device(index) and not np.isscalar(index):
        raise TypeError("index must be cupy.ndarray or a scalar int")


#: What no operator of a device array takes.
NO_OPERANDS = (list, tuple, str)


def operand(symbol: str, left: Any, right: Any, swapped: bool) -> None:
    """Raises for what an operator of a device array does not take."""
    other = left if swapped else right
    if swapped:
        raise TypeError(f"Unsupported type {type(other)}")
    raise TypeError(
        f"operand type(s) all returned NotImplemented from __array_ufunc__(<ufunc {symbol!r}>, '__call__', {left!r}, "
        f"{right!r}): 'ndarray', {type(other).__name__!r}"
    )
