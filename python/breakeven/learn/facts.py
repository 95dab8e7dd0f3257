"""What the work of a call depends on, as numbers: the data given, the model as it was fitted, the result.

| fact | is |
|---|---|
| `n`, `d`, `dtype`, `order` | rows, columns, element type (`f32`, `f64`), `C` or `F`: of X |
| `nnz` | stored elements of a sparse X |
| `out` | columns of the result; `outbytes`, its bytes |
| `iterations`, `limit` | rounds done, and the most allowed |
| `clusters`, `components`, `neighbours`, `classes` | of the model |
| `vectors`, `fitted` | support vectors; rows that the model keeps of its fit |
| `trees`, `nodes`, `depth`, `features` | of a forest: trees, nodes of all, deepest, columns tried at a split |
| `rounds`, `leaves`, `groups`, `first` | of boosting: trees of a round; whether the data are new |
| `epochs`, `degree`, `inits`, `metric`, `kernel`, `solver` | parameters |
"""

from __future__ import annotations

import weakref

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

Facts = dict[str, "int | float | str"]

#: NumPy's characters of types that are computed in single precision.
_SINGLE = ("f", "e")
#: Parameters that are numbers, by the name of the fact.
_PARAMETERS = (
    ("n_clusters", "clusters"),
    ("n_components", "components"),
    ("n_neighbors", "neighbours"),
    ("n_estimators", "trees"),
    ("max_depth", "depth"),
    ("max_iter", "limit"),
    ("degree", "degree"),
    ("n_init", "inits"),
    ("n_epochs", "epochs"),
)
#: What a fit leaves behind, whose length is the fact.
_LENGTHS = (
    ("cluster_centers_", "clusters"),
    ("components_", "components"),
    ("support_vectors_", "vectors"),
    ("classes_", "classes"),
    ("_fit_X", "fitted"),
    ("X_fit_", "fitted"),
    ("_raw_data", "fitted"),
)
#: What a fit leaves behind, itself the fact.
_NUMBERS = (("n_components_", "components"), ("n_samples_fit_", "fitted"), ("n_features_in_", "width"))

def of_data(x: Any) -> Facts:
    """What is given: an array, a frame, a sparse matrix, a list."""
    shape = getattr(x, "shape", None)
    if type(shape) is not tuple:
        return _of_list(x)
    facts: Facts = {"n": int(shape[0]) if shape else 1, "d": int(shape[1]) if len(shape) > 1 else 1}
    dtype = getattr(x, "dtype", None)
    if dtype is None:
        dtypes = getattr(x, "dtypes", None)
        narrow = dtypes is not None and len(dtypes) and all(str(each) == "float32" for each in dtypes)
        facts["dtype"], facts["order"] = "f32" if narrow else "f64", "F"
        return facts
    facts["dtype"] = "f32" if getattr(dtype, "char", "") in _SINGLE else "f64"
    flags = getattr(x, "flags", None)
    if flags is not None:
        facts["order"] = "C" if flags.c_contiguous else "F"
    elif (nnz := getattr(x, "nnz", None)) is not None:
        facts["nnz"] = int(nnz)
    return facts


def _of_list(x: Any) -> Facts:
    try:
        rows = len(x)
    except TypeError:
        return {"n": 0, "d": 0, "dtype": "f64"}
    first = x[0] if rows and isinstance(x, (list, tuple)) else None
    return {"n": rows, "d": len(first) if isinstance(first, (list, tuple)) else 1, "dtype": "f64", "order": "C"}


def of_result(result: Any, facts: Facts) -> None:
    """What came out, added."""
    shape = getattr(result, "shape", None)
    if type(shape) is tuple and shape:
        facts["out"] = int(shape[1]) if len(shape) > 1 else 1
        nbytes = getattr(result, "nbytes", None)
        if type(nbytes) is int:
            facts["outbytes"] = nbytes
    elif type(result) is tuple:
        facts["outbytes"] = sum(part.nbytes for part in result if type(getattr(part, "nbytes", None)) is int)


_models: weakref.WeakKeyDictionary[Any, Facts] = weakref.WeakKeyDictionary()


def of_model(estimator: Any, fits: bool) -> Facts:
    """Parameters and what a fit has left: read after a fit, and known from there on."""
    try:
        known = None if fits else _models.get(estimator)
        if known is None:
            known = _models[estimator] = _read(estimator)
    except TypeError:  # no weak references, or no hash
        known = _read(estimator)
    return known


def _read(estimator: Any) -> Facts:
    facts: Facts = {}
    own: Mapping[str, Any] = estimator.__dict__
    for name, fact in _PARAMETERS:
        value = own.get(name)
        if type(value) is int:
            facts[fact] = value
    for name, fact in _LENGTHS:
        value = own.get(name)
        if value is not None:
            shape = getattr(value, "shape", None)
            facts[fact] = int(shape[0]) if shape else len(value) if isinstance(value, list) else facts.get(fact, 1)
    for name, fact in _NUMBERS:
        value = own.get(name)
        if type(value) is int:
            facts[fact] = value
    if (done := own.get("n_iter_")) is not None:
        facts["iterations"] = int(_most(done))
    if (trees := own.get("estimators_")) is not None:
        facts.update(_forest(trees))
    if (metric := own.get("metric")) is not None and type(metric) is str:
        facts["metric"] = metric
    if (kernel := own.get("kernel")) is not None and type(kernel) is str:
        facts["kernel"] = kernel
    if (solver := own.get("solver")) is not None and type(solver) is str:
        facts["solver"] = solver
    return facts


def _most(value: Any) -> float:
    """A number, or the largest of an array or a list."""
    if isinstance(value, (list, tuple)):
        return max((_most(each) for each in value), default=0)
    return float(value.max()) if getattr(value, "size", 0) else float(value) if not hasattr(value, "size") else 0.0


def _forest(trees: Any) -> Facts:
    """Trees, their nodes and depth."""
    flat = list(trees.ravel()) if hasattr(trees, "ravel") else list(trees)
    built = [each.tree_ for each in flat if hasattr(each, "tree_")]
    facts: Facts = {"trees": len(flat)}
    if built:
        facts["nodes"] = sum(tree.node_count for tree in built)
        facts["depth"] = max(tree.max_depth for tree in built)
        facts["features"] = int(getattr(flat[0], "max_features_", 0) or 0)
    return facts
