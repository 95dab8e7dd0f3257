"""Scripts that ask another library for a GPU: they end, or go on, as without us, and the record says what they asked
for."""

from __future__ import annotations

import builtins
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from breakeven.process.gpu_asked import _DRIVERS
from breakeven.process.gpu_libraries import FALLBACKS, REFUSALS

pytestmark = pytest.mark.skipif(any(map(os.path.exists, _DRIVERS)), reason="this machine has a GPU")


def told(script: str, tmp_path: Path, code: int, recorder: str = "native") -> list[tuple[str, str]]:
    """What the record says of GPUs; the script ends with `code`, and shows the same with and without us."""
    path, record = tmp_path / "asks.py", tmp_path / "record"
    path.write_text(script)
    record.mkdir()
    clean = {name: value for name, value in os.environ.items() if not name.startswith("BREAKEVEN_")}
    ours = clean | {"BREAKEVEN_RECORD_DIR": str(record), "BREAKEVEN_RECORDER": recorder}
    plain, recorded = (
        subprocess.run([sys.executable, *run, path], cwd=tmp_path, env=env, capture_output=True, text=True, timeout=300)
        for run, env in (([], clean), (["-m", "breakeven._run"], ours))
    )
    # Addresses, and the time of day (TensorFlow: and the process) that libraries write before a warning.
    bare = [re.sub(r"0x[0-9a-f]+|\d\d:\d\d:\d+(\.\d+ +\d+)?", "…", run.stdout + run.stderr) for run in (plain,
        recorded)]
    assert (plain.returncode, bare[0]) == (recorded.returncode, bare[1])
    assert recorded.returncode == code, recorded.stderr
    unseen = [entry for file in record.glob("*.json") for entry in json.loads(file.read_text())["unseen"]]
    assert not [entry for entry in unseen if entry["reason"] == "hook-failed"]
    return [(entry["reason"], entry["text"]) for entry in unseen if entry["reason"] in ("no-gpu", "gpu-fell-back")]


@pytest.mark.parametrize("recorder", ["native", "ast"])
@pytest.mark.parametrize(
    ("script", "library", "line"),
    [
        ("import cudf\n", "cuDF", 1),
        ("def load():\n    from cuml.linear_model import Ridge\n\nload()\n", "cuML", 2),
        ("import sys\nsys.excepthook = lambda *error: print('mine')\nimport cugraph\n", "cuGraph", 3),
        ("try:\n    import pycuda.driver\nexcept ImportError:\n    raise SystemError('no GPU')\n", "PyCUDA", 2),
        ("try:\n    import cupynumeric\nexcept ImportError as e:\n    raise SystemError from e\n", "cuPyNumeric", 2),
    ],
)
def test_a_library_for_gpus_alone_that_is_missing(
    script: str, library: str, line: int, recorder: str, tmp_path: Path
) -> None:
    [(reason, text)] = told(script, tmp_path, 1, recorder)
    assert reason == "no-gpu" and text.startswith(f"the script asks {library} for a GPU (asks.py:{line})"), text


ERRORS = [(row.library, kind or "RuntimeError", part) for row in REFUSALS for kind, part in row.errors]


@pytest.mark.parametrize(("library", "kind", "part"), ERRORS)
def test_each_error_of_the_table(library: str, kind: str, part: str, tmp_path: Path) -> None:
    """A library that raises an exception of that name and text: found under its name, at the line of the script."""
    package = tmp_path / "site-packages" / "wants_gpu"
    package.mkdir(parents=True)
    raised = "" if hasattr(builtins, kind) else f"class {kind}(Exception): pass\n"
    (package / "__init__.py").write_text(f"{raised}def start():\n    raise {kind}({f'it says: {part}!'!r})\n")
    script = f"import sys\nsys.path.append({str(package.parent)!r})\nimport wants_gpu\n\nwants_gpu.start()\n"
    [(reason, text)] = told(script, tmp_path, 1)
    assert reason == "no-gpu" and text.startswith(f"the script asks {library} for a GPU (asks.py:5)"), text


@pytest.mark.parametrize(
    ("script", "code"),
    [
        ("try:\n    import cudf as pd\nexcept ImportError:\n    pd = None\nprint(pd)\n", 0),
        ("try:\n    import cudf as pd\nexcept ImportError:\n    pd = None\n1 / 0\n", 1),
        ("import no_such_module_at_all\n", 1),
        ("raise ValueError('cudf, cuda and gpu')\n", 1),
        ("raise SystemExit(3)\n", 3),
        ("class E(Exception):\n    def __str__(self): raise E\nraise E\n", 1),
        ("e = ValueError()\ne.__cause__ = e\nraise e\n", 1),
    ],
)
def test_other_ends_are_not_told(script: str, code: int, tmp_path: Path) -> None:
    assert told(script, tmp_path, code) == []


#: How each library that goes on is asked for a GPU, and how for the CPU; a stand-in of the library that does nothing.
CALLS = {
    "XGBoost": (
        "class Booster:\n    def set_param(self, params, value=None): return 1\n",
        "xgboost.core.Booster().set_param({!r})",
        ({"device": "cuda:0"}, [("device", "gpu")]),
        ({"device": "cpu"}, {"tree_method": "hist"}, {"tree_method": "gpu_hist"}),
    ),
    "TensorFlow": (
        "def device(name): return 1\n",
        "tensorflow.device({!r})",
        ("/GPU:0", "/job:localhost/replica:0/task:0/device:GPU:1", "gpu"),
        ("/CPU:0", "cpu"),
    ),
    "ONNX Runtime": (
        "class InferenceSession:\n    def __init__(self, path, providers=()): pass\n",
        "onnxruntime.InferenceSession('gpu.onnx', providers={!r})",
        (["CUDAExecutionProvider", "CPUExecutionProvider"], [("TensorrtExecutionProvider", {})]),
        (["CPUExecutionProvider"],),
    ),
    "Taichi": (
        "class Arch:\n    def __init__(self, name): self.name = name\ndef init(arch=None): return 1\n",
        "taichi.init(arch=taichi.Arch({!r}))",
        ("cuda", "vulkan"),
        ("x64",),
    ),
    "spaCy": ("def prefer_gpu(): return False\n", "spacy.prefer_gpu()", ((),), ()),
}


@pytest.mark.parametrize("row", FALLBACKS, ids=lambda row: row.library)
def test_a_library_that_goes_on_without(row: object, tmp_path: Path) -> None:
    body, call, gpu, cpu = CALLS[row.library]  # type: ignore[attr-defined]
    module: str = row.module  # type: ignore[attr-defined]
    installed = tmp_path / "site-packages"
    folder = installed.joinpath(*module.split("."))
    folder.mkdir(parents=True)
    (installed / module.split(".")[0] / "__init__.py").touch()
    (folder / "__init__.py").write_text(body)
    head = f"import sys\nsys.path.insert(0, {str(installed)!r})\nimport {module}\n"
    calls = [call.format(argument) for argument in (*cpu, *gpu)]
    said = told(head + "\n".join(f"for _ in range(2): {line}" for line in calls) + "\n", tmp_path, 0)
    lines = [len(head.splitlines()) + len(cpu) + n + 1 for n in range(len(gpu))]
    wanted = [f"the script asks {row.library} for a GPU (asks.py:{line}), and there is none"
        for line in lines]  # type: ignore[attr-defined]
    assert sorted(text.partition(": it ran")[0] for _, text in said) == sorted(wanted)
    assert {reason for reason, _ in said} == {"gpu-fell-back"}


LIGHTGBM = """import lightgbm, numpy
lightgbm.train({"device_type": "cuda"}, lightgbm.Dataset(numpy.random.rand(99, 3), numpy.random.rand(99)))
"""


@pytest.mark.parametrize(
    ("module", "script", "code", "library"),
    [
        ("jax", "import jax\njax.devices('gpu')\n", 1, "JAX"),
        ("polars", "import polars as pl\npl.LazyFrame({'a': [1]}).collect(engine='gpu')\n", 1, "polars"),
        ("numba.cuda", "from numba import cuda\ncuda.to_device([1.0])\n", 1, "Numba's CUDA"),
        ("xgboost", "import xgboost\nb = xgboost.Booster(\n    {'device': 'cuda'})\n", 0, "XGBoost"),
        ("lightgbm", LIGHTGBM, 1, "LightGBM"),
        ("faiss", "import faiss\nfaiss.StandardGpuResources()\n", 1, "FAISS"),
        ("warp", "import warp\nwarp.zeros(3, device='cuda')\n", 1, "Warp"),
        ("tensorflow", "import tensorflow as tf\nwith tf.device('/GPU:0'):\n    tf.zeros(3)\n", 0, "TensorFlow"),
    ],
)
def test_the_libraries_themselves(module: str, script: str, code: int, library: str, tmp_path: Path) -> None:
    pytest.importorskip(module)
    [(reason, text)] = told(script, tmp_path, code)
    assert reason == ("no-gpu" if code else "gpu-fell-back")
    assert text.startswith(f"the script asks {library} for a GPU (asks.py:2)") or ":3)" in text, text


def test_a_module_that_is_not_there_is_named(tmp_path: Path) -> None:
    path = tmp_path / "needs.py"
    path.write_text("import no_such_module.part\n")
    command = [str(Path(sys.executable).parent / "breakeven"), "run", str(path)]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert run.returncode == 1
    _, *told = run.stderr.partition("ModuleNotFoundError: No module named 'no_such_module'")[2].splitlines()
    note, hint = filter(None, told)
    assert note == "note: the script imports no_such_module (needs.py:1), which is not installed here"
    assert hint.startswith(f" hint: install it for {sys.prefix}/"), hint
