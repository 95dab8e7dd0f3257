"""Functions that compiled code calls: NumPy's, those of `math`, Python's own, others that Numba compiles."""

from __future__ import annotations

import builtins

import numpy

from . import functions
from .values import COMPLEX, FLOAT, INT, NONE, Array, NotTold, Number, Several, Thing, promoted, real
from .walk import mean

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from .values import Value
    from .walk import Walk


def call(walk: Walk, callee: Thing, given: list[Value], words: dict[str, Value]) -> Value:
    """The result of a call of a function of Python's or NumPy's by its name, or of an array's method."""
    found = callee.object
    if isinstance(found, str):
        assert callee.of is not None
        return method(walk, callee.of, found, given, words)
    name = getattr(found, "__name__", "")
    module = str(getattr(found, "__module__", "") or type(found).__module__)
    if isinstance(found, type) and (issubclass(found, numpy.generic) or found in (int, float, complex, bool)):
        return _converted(walk, numpy.dtype(found), given)
    if is_random(found):
        return random(walk, name, given, words)
    if "linalg" in module and name in functions.FACTORS:
        return _factor(walk, name, given)
    if getattr(builtins, name, None) is found:
        return _builtin(walk, name, given)
    if module.split(".")[0] in ("math", "cmath", "numpy"):
        return _numpy(walk, name, given, words)
    raise NotTold(f"it calls {name or 'something'}, which breakeven does not know")


def is_random(found: object) -> bool:
    """Whether it is a function that draws random numbers, or sets their state."""
    module = str(getattr(found, "__module__", ""))
    of = type(getattr(found, "__self__", None)).__module__
    return "random" in module.split(".") or of.startswith(("numpy.random.", "random"))


def _builtin(walk: Walk, name: str, given: list[Value]) -> Value:
    if name == "len" and given:
        if isinstance(given[0], Array):
            return Number(INT, given[0].shape[0] if given[0].shape else 0)
        if isinstance(given[0], Several):
            return Number(INT, len(given[0].items))
    if name in ("min", "max") and given and all(isinstance(value, Number) for value in given):
        return _extreme(walk, name, [value for value in given if isinstance(value, Number)])
    if name in ("abs", "round", "divmod", "pow"):
        return _numpy(walk, name, given, {})
    if name in ("tuple", "list"):
        return given[0] if given else Several([])
    if name == "print":
        raise NotTold("it prints")
    raise NotTold(f"it calls {name}, which breakeven does not know")


def _extreme(walk: Walk, name: str, given: list[Number]) -> Value:
    dtype = promoted(*given)
    if all(value.known for value in given):
        return Number(dtype, getattr(builtins, name)(value.value for value in given))
    data = any(value.data for value in given)
    if data or dtype.kind == "f":
        walk.cost({"one": len(given) - 1}, dtype)
    return Number(dtype, None, None, data)


def _converted(walk: Walk, dtype: numpy.dtype, given: list[Value]) -> Value:
    if not given:
        return Number(dtype, 0)
    value = given[0]
    if isinstance(value, Array):
        return walk.elementwise([value], {}, dtype)
    if not isinstance(value, Number):
        raise NotTold("it converts something that is no number")
    if len(given) == 2:
        return Number(COMPLEX, None, None, True)
    if value.known and not isinstance(value.value, complex):
        return Number(dtype, dtype.type(value.value).item(), None, value.data)
    keeps = dtype.kind in "iu" and value.dtype.kind in "iu"
    return Number(dtype, value.value if keeps else None, value.factors if keeps else None, value.data)


def _numpy(walk: Walk, name: str, given: list[Value], words: Mapping[str, Value]) -> Value:
    from .array_functions import array_function

    if name in functions.ELEMENTS and all(isinstance(value, Number) for value in given):
        numbers = [value for value in given if isinstance(value, Number)]
        dtype = promoted(*numbers)
        floats = dtype.kind in "fc" or name not in ("abs", "max", "min", "sign", "pow", "power", "round", "add")
        if dtype.kind in "biu" and floats:
            dtype = FLOAT
        cost = functions.ELEMENTS[name]
        if cost.keys() == {"power"} and len(numbers) == 2 and not numbers[1].factors:
            cost = functions.power(numbers[1].value)
        walk.cost(cost, dtype, name)
        if name in ("abs", "absolute") and dtype.kind == "c":
            dtype = real(dtype)
        return Number(dtype, None, None, True)
    return array_function(walk, name, given, words)


def product(walk: Walk, left: Value, right: Value) -> Value:
    """`a @ b`, `np.dot(a, b)`."""
    if not isinstance(left, Array) or not isinstance(right, Array) or not left.shape or not right.shape:
        raise NotTold("it multiplies matrices that are none")
    k = left.shape[-1]
    m = left.size // max(k, 1)
    n = right.size // max(k, 1)
    dtype = promoted(left, right)
    shape = (*left.shape[:-1], *(right.shape[1:] if len(right.shape) > 1 else ()))
    op: dict[str, object] = {"matmul": {"m": m, "n": n, "k": k}}
    if not shape:
        op = {"reduce": {"n": k, "out": 1, "flop_per_element": 2.0}}
        walk.array_op(op, dtype, [left, right], None, flop=2.0 * k)
        return walk.number(dtype)
    made = walk.made(dtype, shape)
    walk.array_op(op, dtype, [left, right], made, flop=2.0 * m * n * k)
    return made


def _factor(walk: Walk, name: str, given: list[Value]) -> Value:
    kind, cubes = functions.FACTORS[name]
    matrix = given[0]
    if not isinstance(matrix, Array) or len(matrix.shape) != 2:
        raise NotTold(f"{name} is given no matrix")
    m, n = matrix.shape
    sides = [value for value in given[1:2] if isinstance(value, Array)]
    rhs = sides[0].size // max(m, 1) if sides else 0
    op: dict[str, object] = {"factor": {"kind": kind, "m": m, "n": n, "rhs": rhs}}
    low = min(m, n)
    flop = cubes * max(m, n) * low * low + 2.0 * m * n * rhs
    results = _results(walk, name, matrix, sides)
    walk.array_op(op, matrix.dtype, [matrix, *sides], None, flop=flop)
    return results


def _results(walk: Walk, name: str, matrix: Array, sides: Sequence[Array]) -> Value:
    m, n = matrix.shape
    low, dtype = min(m, n), matrix.dtype
    if name in ("det", "cond", "matrix_rank"):
        return walk.number(dtype)
    if name == "slogdet":
        return Several([walk.number(dtype), walk.number(dtype)])
    if name in ("eigvals", "eigvalsh"):
        return walk.made(dtype, (n,))
    if name in ("eig", "eigh"):
        return Several([walk.made(dtype, (n,)), walk.made(dtype, (n, n))])
    if name == "qr":
        return Several([walk.made(dtype, (m, low)), walk.made(dtype, (low, n))])
    if name == "svd":
        return Several([walk.made(dtype, (m, m)), walk.made(dtype, (low,)), walk.made(dtype, (n, n))])
    if name in ("solve", "lstsq") and sides:
        first = walk.made(dtype, (n, *sides[0].shape[1:]))
        if name == "solve":
            return first
        return Several([first, walk.made(dtype, (0,)), walk.number(INT), walk.made(dtype, (low,))])
    return walk.made(dtype, (n, m))


def random(walk: Walk, name: str, given: list[Value], words: Mapping[str, Value]) -> Value:
    """Random numbers: one, or an array of them."""
    if name in functions.SEEDS:
        return NONE
    if name in ("shuffle", "permutation") and given and isinstance(given[0], Array):
        walk.array_op({"random": {"kind": "permutation", "n": given[0].size}}, given[0].dtype, [given[0]], given[0])
        walk.whole(given[0], True)
        walk.loop.random = True
        return NONE if name == "shuffle" else walk.made(given[0].dtype, given[0].shape)
    cost = functions.RANDOM.get(name)
    if cost is None:
        raise NotTold(f"it draws random numbers by {name}")
    whole = name in ("randint", "integers", "randrange", "getrandbits", "random_integers", "poisson", "binomial")
    dtype = INT if whole else FLOAT
    shape = _size(name, given, words)
    if shape is None:
        walk.cost(cost, dtype if dtype.kind == "f" else INT)
        return walk.number(dtype, random=True)
    made = walk.made(dtype, shape)
    kind = "integers" if whole else "normal" if "log" in cost else "uniform"
    op: dict[str, object] = {"random": {"kind": kind, "n": made.size}}
    walk.array_op(op, dtype, [], made, functions=cost, n=made.size)
    walk.loop.random = True
    return made


def _size(name: str, given: list[Value], words: Mapping[str, Value]) -> tuple[int, ...] | None:
    size = words.get("size")
    if size is None and name in ("rand", "randn", "random", "random_sample", "standard_normal", "ranf", "sample"):
        if not given:
            return None
        size = given[0] if len(given) == 1 else Several(given)
    elif size is None and len(given) >= 3:
        size = given[2]
    elif size is None and name in ("exponential", "choice") and len(given) == 2:
        size = given[1]
    return None if size is None or size is NONE else shape_of(size)


def shape_of(value: Value) -> tuple[int, ...]:
    """A shape as a tuple of known lengths."""
    items = value.items if isinstance(value, Several) else [value]
    lengths = []
    for item in items:
        length = mean(item) if isinstance(item, Number) else None
        if length is None:
            raise NotTold("the length of an array depends on data")
        lengths.append(length)
    return tuple(lengths)


def method(walk: Walk, of: Value, name: str, given: list[Value], words: Mapping[str, Value]) -> Value:
    """A method of an array, a list or a number."""
    from .array_functions import array_function

    if isinstance(of, Array) and name in ("append", "insert", "pop", "extend", "remove"):
        raise NotTold("it changes the length of a list")
    if isinstance(of, Array):
        return array_function(walk, name, [of, *given], words)
    if isinstance(of, Number) and name in ("conjugate", "item"):
        return of
    if isinstance(of, Several) and name == "append":
        raise NotTold("it appends to a list")
    raise NotTold(f"it calls the method {name}")
