"""NumPy and SciPy scripts through the port, on the stand-in for CuPy: unedited, to the same results."""

from __future__ import annotations

from pathlib import Path

import measuring
import pytest

PROGRAMS = sorted((Path(__file__).parent / "programs").glob("*.py"))


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_program_runs_unedited_to_equal_results(program: Path, tmp_path: Path) -> None:
    first = measuring.side("cpu", program, tmp_path / "cpu")
    second = measuring.side("check-port", program, tmp_path / "port")
    assert first["runs"][0]["exit"] == second["runs"][0]["exit"] == 0, measuring.printed(second, 0, "stderr")
    found = measuring.compare(tmp_path / "cpu", tmp_path / "port")
    assert found["agree"] and found["compared"] > 3, found["differences"]
    assert second["runs"][0]["port"]["calls"] > 5
    for item in second["runs"][0]["port"]["fallbacks"] + second["runs"][0]["port"]["copies"]:
        assert item["file"].endswith(program.name) and item["line"] > 0, item


def test_fallback_is_named_by_line_with_reason_and_bytes(tmp_path: Path) -> None:
    script = tmp_path / "s.py"
    script.write_text(
        "import numpy as np\n"
        "a = np.arange(100.0).reshape(10, 10)\n"
        "b = np.insert(a, 2, 0.0, axis=0)\n"
        "for _ in range(3):\n"
        "    a = np.piecewise(a, [a < 5, a >= 5], [lambda x: -x, lambda x: x])\n"
        "print(b.shape, a.sum())\n"
    )
    told = measuring.side("check-port", script, tmp_path / "port")
    items = {(item["function"], item["line"]): item for item in told["runs"][0]["port"]["fallbacks"]}
    insert, piecewise = items["numpy.insert", 3], items["numpy.piecewise", 5]
    assert insert["reason"] == "CuPy has no such function" and insert["count"] == 1
    assert insert["bytes"] == 800 + 880  # out, and the result back
    assert piecewise["count"] == 3 and piecewise["reason"].startswith("NotImplementedError: Callable functions")


def test_errors_are_numpys_own(tmp_path: Path) -> None:
    script = tmp_path / "s.py"
    script.write_text(
        "import numpy as np\n"
        "a = np.zeros(3, dtype=int)\n"
        "def told(call):\n"
        "    try:\n"
        "        call()\n"
        "    except Exception as error:\n"
        "        print(type(error).__name__, error)\n"
        "def add():\n"
        "    global a\n"
        "    a += 1.5\n"
        "told(add)\n"
        "told(lambda: a[7])\n"
        "told(lambda: a.reshape(2, 2))\n"
        "told(lambda: np.ones(3) + np.ones(4))\n"
        "told(lambda: np.linalg.inv(np.zeros((2, 2))))\n"
        "told(lambda: np.linalg.cholesky(-np.eye(2)))\n"
        "told(lambda: np.no_such_function)\n"
        "told(lambda: a.no_such_method)\n"
        "told(lambda: bool(np.ones(2) > 0))\n"
        "told(lambda: np.concatenate([np.ones(2), np.ones((2, 2))]))\n"
    )
    texts = [measuring.printed(measuring.side(how, script, tmp_path / how)) for how in ("cpu", "check-port")]
    assert texts[0] == texts[1] and texts[0].count("\n") == 10


def test_scalars_behave_as_numpys(tmp_path: Path) -> None:
    script = tmp_path / "s.py"
    script.write_text(
        "import json, math, pickle\n"
        "import numpy as np\n"
        "a = np.arange(6.0)\n"
        "s, n = a.sum(), (a > 2).sum()\n"
        "print(s, repr(s), f'{s:.2f} {n:d}', '%d' % n, round(s, 1), math.sqrt(s), [0] * int(n), range(n))\n"
        "print(isinstance(s, float), isinstance(s, np.floating), isinstance(s, np.ndarray), np.isscalar(s))\n"
        "print({s: 1}[15.0], json.dumps(float(s)), pickle.loads(pickle.dumps(s)), s.dtype, s.item(), s.is_integer())\n"
        "t = s\n"
        "t += 1\n"
        "print(s, t, max(s, 20), s / 2, 2 / s, -s, s == 15, [1, 2, 3, 4][n])\n"
        "x = a[1]\n"
        "a[1] = 9\n"
        "print(x, a[1], a[[0, 1]].tolist(), float(a[2]), a.mean() > 1 and 'yes')\n"
        "z = np.array(3.0)\n"
        "z += 1\n"
        "print(z, z.shape, repr(z), np.sqrt(4.0), type(np.sqrt(4.0)).__name__)\n"
    )
    texts = [measuring.printed(measuring.side(how, script, tmp_path / how)) for how in ("cpu", "check-port")]
    assert texts[0] == texts[1] and texts[0].count("\n") == 6


def test_views_and_in_place_functions_reach_the_device(tmp_path: Path) -> None:
    script = tmp_path / "s.py"
    script.write_text(
        "import numpy as np\n"
        "a = np.arange(24.0).reshape(4, 6)\n"
        "v = a[1:3, ::2]\n"
        "v *= 10\n"
        "a.T[0] = -1\n"
        "np.add(a, 1, out=a)\n"
        "np.copyto(a[3], 7)\n"
        "np.place(a, a > 100, 0)\n"
        "np.put(a, [0, 5], [50, 51])\n"
        "np.fill_diagonal(a, 3)\n"
        "np.add.at(a, ([0, 0], [1, 1]), 100)\n"
        "np.cumsum(a, axis=1, out=a)\n"
        "a.sort(axis=0)\n"
        "a.real[2] = 5\n"
        "a.flat[7] = 77\n"
        "b = a.ravel()\n"
        "b[3] = 33\n"
        "a @= np.eye(6)\n"
        "np.random.seed(3)\n"
        "np.random.shuffle(a)\n"
        "a[a > 60] = [0.5] * int((a > 60).sum())\n"
        "c = np.empty((2, 6))\n"
        "np.nanmedian(a.reshape(2, 2, 6), axis=1, out=c)\n"
        "print(a, v, c, sep='\\n')\n"
    )
    texts = [measuring.printed(measuring.side(how, script, tmp_path / how)) for how in ("cpu", "check-port")]
    assert texts[0] == texts[1]


def test_libraries_keep_the_real_numpy(tmp_path: Path) -> None:
    script = tmp_path / "s.py"
    script.write_text(
        "import helper\n"
        "import numpy as np\n"
        "import numpy.linalg\n"
        "from numpy import fft, random as nr\n"
        "from scipy import optimize, integrate, interpolate\n"
        "import statistics\n"
        "a = helper.made()\n"
        "print(type(np).__name__, np.linalg is numpy.linalg, isinstance(a, np.ndarray))\n"
        "found = optimize.minimize(lambda x: np.sum((x - a[:2]) ** 2), np.zeros(2))\n"
        "print(np.round(found.x, 4), integrate.quad(lambda t: np.exp(-t), 0, 1)[0])\n"
        "print(interpolate.interp1d([0, 1, 2], [0, 10, 20])(np.array([0.5, 1.5])), statistics.mean(a))\n"
        "np.testing.assert_allclose(a, [0, 1, 2, 3])\n"
        "print(np.ma.masked_less(a, 2).sum(), np.polynomial.Polynomial([1, 2])(a), np.char.upper(np.array(['a'])))\n"
        "print(np.vectorize(lambda x: x + 1)(a), np.apply_along_axis(lambda r: r.sum(), 0, a.reshape(2, 2)))\n"
    )
    (tmp_path / "helper.py").write_text("import numpy\ndef made():\n    return numpy.arange(4.0)\n")
    told = measuring.side("check-port", script, tmp_path / "port")
    assert told["runs"][0]["exit"] == 0, measuring.printed(told, 0, "stderr")
    plain = measuring.printed(measuring.side("cpu", script, tmp_path / "cpu")).replace("module", "PortModule")
    assert measuring.printed(told) == plain
    assert not measuring.fallbacks(told).keys() & {("numpy.testing.assert_allclose", 12)}


def test_random_numbers_are_numpys(tmp_path: Path) -> None:
    script = tmp_path / "s.py"
    script.write_text(
        "import numpy as np\n"
        "from numpy.random import default_rng, RandomState, rand\n"
        "np.random.seed(1)\n"
        "rng = default_rng(2)\n"
        "print(rand(2), np.random.normal(size=2), rng.integers(10, size=3), rng.normal(np.arange(3.0)))\n"
        "x = np.arange(5)\n"
        "rng.shuffle(x)\n"
        "print(x, rng.permutation(4), rng.choice(x, 2), RandomState(3).randn(2), rng.random(), isinstance(rng, "
        "np.random.Generator))\n"
    )
    texts = [measuring.printed(measuring.side(how, script, tmp_path / how)) for how in ("cpu", "check-port")]
    assert texts[0] == texts[1]


def test_real_cupy_that_is_not_there_is_no_gpu(tmp_path: Path) -> None:
    script = tmp_path / "s.py"
    script.write_text("import numpy\n")
    told = measuring.side("port", script, tmp_path / "port")
    assert told["runs"] == [] and "no CuPy here" in told["refused"] or "no device" in told["refused"]
