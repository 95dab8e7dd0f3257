"""The table of callables against the NumPy and SciPy that are installed: nothing public is unlisted."""

import csv
import importlib
import inspect
import warnings
from pathlib import Path

import numpy
import pytest
from breakeven.cupy.core import waits

TABLES = Path(__file__).parents[2] / "crates" / "breakeven"

MODULES = """
numpy numpy.linalg numpy.fft numpy.random numpy.strings numpy.char
scipy.ndimage scipy.signal scipy.signal.windows scipy.special scipy.sparse scipy.sparse.linalg scipy.sparse.csgraph
scipy.linalg scipy.fft scipy.fftpack scipy.spatial scipy.spatial.distance scipy.stats scipy.interpolate
scipy.optimize scipy.integrate scipy.cluster.vq
""".split()

CLASSES = [numpy.ndarray, numpy.random.Generator, numpy.random.RandomState]


def table(path):
    with open(TABLES / path, encoding="utf-8", newline="") as lines:
        return {row[0]: row[1:] for row in csv.reader(line for line in lines if not line.startswith("#"))}


CALLABLES = {**table("callables/numpy.csv"), **table("callables/scipy.csv")}
COSTS = table("callables/flops.csv")


def public(name):
    """Public callables of a module, without exceptions, warnings and scalar types."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # `numpy.char` is an attribute before NumPy 2.
        module = numpy.char if name == "numpy.char" else importlib.import_module(name)
        for attribute in getattr(module, "__all__", None) or dir(module):
            value = getattr(module, attribute, None)
            kind = value if isinstance(value, type) else type(value)
            if attribute.startswith("_") or not callable(value) or inspect.ismodule(value):
                continue
            if isinstance(value, type) and issubclass(kind, (BaseException, numpy.generic)):
                continue
            yield f"{name}.{attribute}", value


def importable(name):
    """Skips where NumPy is too old for the module, or SciPy is not there."""
    if name == "numpy.strings" or name.startswith("scipy"):
        pytest.importorskip(name)


@pytest.mark.parametrize("module", MODULES)
def test_every_public_callable_has_a_row(module):
    importable(module)
    names = {name for name, _ in public(module)}
    assert names
    assert sorted(names - CALLABLES.keys()) == []


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_every_public_method_has_a_row(cls):
    module = "numpy" if cls is numpy.ndarray else "numpy.random"
    names = {f"{module}.{cls.__name__}.{m}" for m in dir(cls) if not m.startswith("_") and callable(getattr(cls, m))}
    assert len(names) > 30
    assert sorted(names - CALLABLES.keys()) == []


@pytest.mark.parametrize("name", ["numpy", "scipy.special"])
def test_a_ufunc_reads_as_many_arrays_as_its_row_says(name):
    importable(name)
    wrong = {}
    for full, value in public(name):
        if isinstance(value, numpy.ufunc) and value.signature is None:
            kind, function, *override = CALLABLES[full][0].split(":")
            operands = int(override[0] if override else COSTS[function][0])
            if (kind, operands) != ("ufunc", value.nin):
                wrong[full] = (kind, operands, value.nin)
    assert wrong == {}


@pytest.mark.parametrize(("port", "callables"), [("cupy.csv", CALLABLES), ("torch.csv", table("callables/torch.csv"))])
def test_every_callable_has_a_counterpart_or_a_reason(port, callables):
    rows = table(f"ports/{port}")
    assert sorted(callables.keys() - rows.keys()) == []
    unsaid = {name for name, row in rows.items() if row[0] not in {"device",
        "view"} and (row[0] != "host" or not row[1])}
    assert sorted(unsaid) == []


def test_numpys_functions_wait_where_those_of_the_stand_in_do():
    rows = {name: "".join(row[3:4]) for name, row in table("ports/cupy.csv").items() if row[0] == "device"}
    numpys = {name.replace("cupyx.scipy.", "scipy.").replace("cupy.", "numpy.") for name in waits._ALWAYS}
    assert {name for name in numpys if rows.get(name, "waits") != "waits"} == set()
    # These wait by their arguments, or give Python a truth value that CuPy leaves on the device until it is asked for.
    others = {"allclose", "array_equal", "array_equiv", "histogram", "random.choice"}
    states = {name.replace(".RandomState", "") for name, told in rows.items() if told == "waits"}
    assert states - numpys == {f"numpy.{name}" for name in others} | {"scipy.ndimage.find_objects"}


def test_what_pytorch_copies_instead_of_viewing_is_a_copy():
    torch = pytest.importorskip("torch")
    names = {schema.name.removeprefix("aten::") for schema in torch._C._jit_get_all_schemas()}
    names = {name for name in names if not name.startswith(("_test_", "_nested_view_"))}
    rows = {name.removeprefix("aten."): row[0] for name, row in table("callables/torch.csv").items()}
    copies = {name: rows.get(name) for name in names if name.endswith("_copy") and rows.get(name[:-5]) == "view"}
    assert len(copies) > 20
    assert {name: rule for name, rule in copies.items() if rule not in {"copy", "rearrange"}} == {}
