"""A jaxpr as the engine's graph of primitive operations: names, shapes, the few parameters that decide what they cost.

Loops and branches are numbered in the order in which they are met, as `counting.py` numbers them: what was counted of
an execution goes to the node with the same number.
"""

from __future__ import annotations

import math

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from jax.extend import core

    #: What the engine's graph is as JSON.
    Graph = dict[str, Any]
    Fact = int | float | str | list[int]

#: What runs another jaxpr once, by the parameter that holds it.
CALLS = ("jaxpr", "call_jaxpr", "fun_jaxpr")
#: Primitives whose parameter of such a name is no call.
_NO_CALLS = ("scan", "while", "cond", "reduce", "pallas_call")
#: What devices tell each other: of one device nothing.
_COLLECTIVES = ("psum", "psum_invariant", "pmax", "pmin", "pbroadcast", "pvary", "ppermute")


def opened(jaxpr: Any) -> Any:
    """The jaxpr itself: until 0.11 one with its constants holds it."""
    return jaxpr if hasattr(jaxpr, "eqns") else jaxpr.jaxpr


def called(equation: Any) -> Any | None:
    """The jaxpr that an equation runs once on what it reads; none for other equations."""
    name, params = equation.primitive.name, equation.params
    if name == "custom_linear_solve":
        return params["jaxprs"].solve
    if name in _NO_CALLS:
        return None
    found = next((params[key] for key in CALLS if key in params), None)
    return found if hasattr(found, "eqns") or hasattr(found, "jaxpr") else None


def given_to_call(equation: Any) -> Sequence[Any]:
    """What that jaxpr is given of what the equation reads."""
    if equation.primitive.name != "custom_linear_solve":
        return list(equation.invars)
    lengths = equation.params["const_lengths"]
    first = lengths.matvec + lengths.vecmat
    after = first + lengths.solve + lengths.transpose_solve
    return [*equation.invars[first : first + lengths.solve], *equation.invars[after:]]


def platform_branch(equation: Any) -> Any | None:
    """Of branches for platforms the one that a GPU takes; none for other equations."""
    platforms = equation.params.get("branches_platforms")
    if platforms is None:
        return None
    branches = equation.params["branches"]
    for wanted in ("cuda", None):
        for branch, names in zip(branches, platforms):
            if (names is None and wanted is None) or (names is not None and wanted in names):
                return branch
    return branches[-1]


class Sites:
    """Numbers for loops and branches."""

    def __init__(self, counted: Mapping[int, float | list[int]]) -> None:
        self.counted = counted
        self.next = 0

    def take(self) -> int:
        self.next += 1
        return self.next - 1


def graph_of(jaxpr: Any, counted: Mapping[int, float | list[int]], given_up: Sequence[int] = ()) -> Graph:
    """The graph of a jaxpr; `counted` has the rounds of its loops, or how often each branch was taken, by number."""
    graph = _graph(jaxpr, Sites(counted))
    graph["given_up"] = [graph["inputs"][place] for place in given_up if place < len(graph["inputs"])]
    return graph


def _graph(jaxpr: Any, sites: Sites) -> Graph:
    jaxpr = opened(jaxpr)
    values: list[dict[str, Any]] = []
    numbers: dict[Any, int] = {}

    def number(variable: Any, fresh: bool = False) -> int:
        if hasattr(variable, "val"):
            values.append({**_value(variable.aval), "constant": True})
            return len(values) - 1
        if fresh or variable not in numbers:
            numbers[variable] = len(values)
            values.append(_value(variable.aval))
        return numbers[variable]

    inputs = [number(variable) for variable in (*jaxpr.constvars, *jaxpr.invars)]
    nodes = [
        _node(equation, [number(v) for v in _read(equation)], [number(v, True) for v in equation.outvars], sites)
        for equation in jaxpr.eqns
    ]
    outputs = [number(variable) for variable in jaxpr.outvars]
    return {"values": values, "inputs": inputs, "outputs": outputs, "nodes": nodes}


def _read(equation: Any) -> Sequence[Any]:
    if platform_branch(equation) is not None:
        return list(equation.invars[1:])
    return given_to_call(equation) if called(equation) is not None else list(equation.invars)


def _value(aval: Any) -> dict[str, Any]:
    dtype = str(getattr(aval, "dtype", "other"))
    shape = [int(size) for size in getattr(aval, "shape", ()) if isinstance(size, int)]
    # A key is words that nobody sees.
    return {"dtype": "uint32", "shape": [*shape, 2]} if dtype.startswith("key<") else {"dtype": dtype, "shape": shape}


def _node(equation: Any, reads: list[int], gives: list[int], sites: Sites) -> dict[str, Any]:
    name, params = equation.primitive.name, equation.params
    node: dict[str, Any] = {"op": name, "reads": reads, "gives": gives}
    if (branch := platform_branch(equation)) is not None:
        return {**node, "op": "call", "bodies": [_graph(branch, sites)]}
    if name == "scan":
        facts: dict[str, Fact] = {key: params[key] for key in ("length", "num_consts", "num_carry")}
        return {**node, "facts": facts, "bodies": [_graph(params["jaxpr"], sites)]}
    if name == "while":
        site = sites.take()
        facts = {key: params[key] for key in ("cond_nconsts", "body_nconsts")}
        if site in sites.counted:
            facts["rounds"] = sites.counted[site]
        return {**node, "facts": facts, "bodies": [_graph(params[key], sites) for key in ("cond_jaxpr", "body_jaxpr")]}
    if name == "cond":
        site = sites.take()
        facts = {"taken": sites.counted[site]} if site in sites.counted else {}
        bodies = [_graph(branch, sites) for branch in params["branches"]]
        if len(bodies) == 1:
            return {**node, "op": "call", "reads": reads[1:], "bodies": bodies}
        return {**node, "facts": facts, "bodies": bodies}
    if (inner := called(equation)) is not None:
        return {**node, "op": "call", "bodies": [_graph(inner, sites)]}
    if name in _COLLECTIVES and _is_alone():
        return {**node, "op": "copy"}
    return {**node, "facts": _facts(equation)}


def _is_alone() -> bool:
    """Whether the program has a single device."""
    import jax

    return int(jax.device_count()) == 1


def _facts(equation: Any) -> dict[str, Fact]:
    name, params = equation.primitive.name, equation.params
    if name == "dot_general":
        (left, right), (batch, batch_right) = params["dimension_numbers"]
        contract = {"contract": list(left), "contract_right": list(right)}
        return {**contract, "batch": list(batch), "batch_right": list(batch_right)}
    if name == "conv_general_dilated":
        return _convolution(equation)
    facts: dict[str, Fact] = {}
    for key, value in params.items():
        if isinstance(value, (bool, int)):
            facts[key] = int(value)
        elif isinstance(value, (tuple, list)) and all(hasattr(item, "__index__") for item in value):
            facts[key] = [int(item) for item in value]
    if name == "fft":
        kind = params["fft_type"]
        word = str(getattr(kind, "name", kind)).lower().rsplit(".", 1)[-1]
        facts["kind"] = {"fft": "c2c", "ifft": "c2c", "rfft": "r2c", "irfft": "c2r"}.get(word, "c2c")
    if name == "concatenate" or name.startswith("dynamic_") or name in ("pad", "slice"):
        facts["at"] = str({key: value for key, value in params.items() if key != "sharding"})
    return facts


def _convolution(equation: Any) -> dict[str, Fact]:
    """Dims of a convolution; one whose input is dilated is the gradient of one with strides, and is told as that."""
    params = equation.params
    numbers = params["dimension_numbers"]
    left, right = (variable.aval.shape for variable in equation.invars[:2])
    out = equation.outvars[0].aval.shape
    batch, cin = left[numbers.lhs_spec[0]], left[numbers.lhs_spec[1]]
    spatial = [left[axis] for axis in numbers.lhs_spec[2:]]
    kernel = [right[axis] for axis in numbers.rhs_spec[2:]]
    output = [out[axis] for axis in numbers.out_spec[2:]]
    groups = params["feature_group_count"] * params["batch_group_count"]
    cout = out[numbers.out_spec[1]]
    facts: dict[str, Fact] = {"batch": batch, "cin": cin, "cout": cout, "groups": groups, "kernel": kernel}
    facts["turned"] = int(numbers.rhs_spec[0] != 0)
    if math.prod(params["lhs_dilation"]) > 1:
        return {**facts, "cin": cout, "cout": cin, "input": output, "output": spatial, "pass": "backward_data"}
    return {**facts, "input": spatial, "output": output}
