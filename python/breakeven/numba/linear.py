"""Products and factorisations of matrices, random numbers, shapes: what calls of NumPy's functions come to."""

from __future__ import annotations

from . import functions
from .values import FLOAT, INT, NONE, Array, NotTold, Number, Several, promoted
from .walk import mean

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from .values import Value
    from .walk import Walk


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


def factored(walk: Walk, name: str, given: list[Value]) -> Value:
    """`np.linalg.solve(a, b)` and its kind."""
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
