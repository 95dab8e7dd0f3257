"""The real CuPy on a machine with a GPU, as far as one without can try it: it is imported as without us, and that its
work goes unseen is told. What makes the recorder believe in a GPU is a file that is there."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path
from typing import Any

import pytest
import running
from cupy_running import estimate, note


#: The only device file that every Unix has.
GPU = "import breakeven.cupy.offer as given\ngiven._DEVICES = ('/dev/null',)\ndel given\n"
#: What CuPy does while it is imported: parts of it import each other, by either way of asking.
PACKAGE = {
    "cupy/__init__.py": "from cupy import _core\nimport cupy_backends.cuda\nfrom cupy.linalg import norm\n__version__ "
                        "= '1.0'\n",
    "cupy/_core/__init__.py": "import cupy._core.core\nfrom cupy._core.core import ndarray\n",
    "cupy/_core/core.py": "class ndarray:\n    pass\n",
    "cupy/linalg/__init__.py": "from cupy._core import ndarray\nfrom cupyx import thing\nnorm = thing\n",
    "cupyx/__init__.py": "import cupy\nthing = cupy._core.core.__name__\n",
    "cupy_backends/__init__.py": "",
    "cupy_backends/cuda/__init__.py": "",
}
SCRIPT = "import cupy\nimport cupyx\nfrom cupy import _core\nprint(cupy.__version__, cupy.linalg.norm, _core.ndarray)\n"


def run(source: str, folder: Path, recorder: str, **environment: str) -> tuple[running.Outcome, list[dict[str, Any]]]:
    """What came of a script, and its workloads."""
    script = folder / "script.py"
    script.write_text(source)
    record = folder / "record"
    record.mkdir()
    environment |= {"BREAKEVEN_RECORD_DIR": str(record), "BREAKEVEN_RECORDER": recorder}
    environment |= {"PYTHONPATH": f"{folder}:{os.environ.get('PYTHONPATH', '')}"}
    command = [sys.executable, "-m", "breakeven._run", str(script)]
    return running.run(command, folder / "run", environment), running.workloads(record)


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A folder with a package that imports itself as CuPy does."""
    for name, source in PACKAGE.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(source)
    return tmp_path


@pytest.mark.parametrize("recorder", ["native", "ast"])
def test_it_is_imported_as_without_us_and_its_work_is_told_to_be_unseen(package: Path, recorder: str) -> None:
    outcome, (workload,) = run(GPU + SCRIPT, package, recorder)
    assert (outcome.code, outcome.err) == (0, b"")
    assert outcome.out == b"1.0 cupy._core.core <class 'cupy._core.core.ndarray'>\n"
    assert workload["program"]["versions"]["cupy"] == "1.0"
    (unseen,) = workload["unseen"]
    assert (unseen["reason"], unseen["count"]) == ("gpu-not-watched", 1)
    told = estimate(workload)
    assert told["summary"]["verdict"] == "unknown"
    assert "--pretend-gpu" in (note(told, "unseen") or "")


@pytest.mark.parametrize("name", ["jax", "tensorflow"])
def test_libraries_that_nobody_watches_are_unseen_where_the_script_uses_them(name: str, tmp_path: Path) -> None:
    (tmp_path / name).mkdir()
    (tmp_path / name / "__init__.py").write_text("__version__ = '1.0'\nimport numpy\ndef work(): return "
                                                 "numpy.ones(9).sum()\n")
    outcome, (workload,) = run(f"import {name}, time\ntime.sleep(0.1)\nprint({name}.work())\n", tmp_path, "native")
    assert (outcome.code, outcome.out, outcome.err) == (0, b"9.0\n", b"")
    assert workload["program"]["versions"][name] == "1.0"
    [unseen] = workload["unseen"]
    assert unseen["reason"] == "gpu-not-watched" and name in unseen["text"]
    library = tmp_path / "lib" / "site-packages"
    library.mkdir(parents=True)
    (library / "tries.py").write_text(f"import {name}\n")
    script = f"import sys\nsys.path[:0] = [{str(library)!r}, {str(tmp_path)!r}]\nimport tries\n"
    (tmp_path / "other").mkdir()
    _, (workload,) = run(script, tmp_path / "other", "native")
    assert workload["program"]["versions"]["numpy"]
    assert not workload["unseen"]


def test_a_gpu_that_is_named_is_imitated_where_there_is_one(package: Path) -> None:
    script = GPU + "import cupy\nfrom cupy import linalg\nprint(float(linalg.norm(cupy.ones(4))))\n"
    figures = '{"name": "NVIDIA L4", "memory": 1000000, "capability": "8.9", "units": 58, "cache": 0}'
    outcome, (workload,) = run(script, package, "native", BREAKEVEN_PRETEND_GPU=figures)
    assert (outcome.code, outcome.err, outcome.out) == (0, b"", b"2.0\n")
    assert workload["program"]["versions"]["cupy"].endswith("(stand-in)")
    assert [entry for entry in workload["ops"] if entry.get("device")]


@pytest.mark.skipif(importlib.util.find_spec("cupy") is None, reason="needs CuPy")
@pytest.mark.parametrize("recorder", ["native", "ast"])
def test_cupy_itself(tmp_path: Path, recorder: str) -> None:
    source = (
        "import cupy\nfrom cupy import _core\nimport cupyx.scipy.sparse\nprint(cupy.__version__, _core.core.ndarray)\n"
    )
    script = tmp_path / "plain.py"
    script.write_text(source)
    plain = running.untraced(tmp_path / "plain", [str(script)])
    outcome, (workload,) = run(GPU + source, tmp_path, recorder)
    assert (outcome.code, outcome.out, outcome.err) == (plain.code, plain.out, plain.err)
    assert [unseen["reason"] for unseen in workload["unseen"]] == ["gpu-not-watched"]
