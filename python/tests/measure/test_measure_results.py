"""Which results are said to differ: healthy scripts agree, prepared ones do not."""

from __future__ import annotations

from pathlib import Path

import measuring
import numpy as np
import pytest

#: Scripts whose CPU side and port are to agree, files and times included.
HEALTHY = {
    "printed_array": "import numpy as np\nprint(np.linspace(0, 1, 7), np.float32(0.1) * np.ones(3, np.float32))",
    "times": "import time\nimport numpy as np\nt = time.perf_counter()\nnp.ones(10).sum()\n"
    "d = time.perf_counter() - t\nprint(f'took {d:.6f} s')\nprint('Elapsed:', d)\nprint(f'{1 / d:.1f} it/s')",
    "random_unseeded": "import numpy as np\nx = np.random.rand(500)\nprint(x.mean(), x[:3])",
    "text_file": "import numpy as np\nnp.savetxt('out.csv', np.random.default_rng(0).random((4, 3)), delimiter=',')",
    "array_file": "import numpy as np\na = np.arange(9.0).reshape(3, 3)\nnp.save('a', a)\nnp.savez('b.npz', a=a, b=-a)",
    "reads_its_folder": "import numpy as np\nprint(np.loadtxt('data.txt').sum(), open(__file__).readline())",
    "nan": "import numpy as np\na = np.array([0.0, 1.0])\nwith np.errstate(all='ignore'):\n    b = a / a\n"
    "print(b, np.nansum(b))",
    "complex": "import numpy as np\nw = np.linalg.eigvals(np.array([[0, 1], [-1, 0]]))\n"
    "print(np.sort_complex(w), w.imag.max())",
    "exit": "import sys\nimport numpy as np\nx = np.eye(2)\nprint(x)\nsys.exit(0)",
    "module": "import numpy as np\nfrom part import double\nprint(double(np.arange(3)))",
    "integers": "import numpy as np\na = np.array([5, 3, 5, 1])\nv, c = np.unique(a, return_counts=True)\n"
    "print(v, c, a % 2 == 0)",
    "text_arrays": "import numpy as np\nn = np.array(['b', 'a'])\nn.sort()\nd = np.array(['2020-01-02'], 'M8[D]')\n"
    "print(n, d + 1, np.array([{}, None]))",
    "path_and_arguments": "import os, sys\nimport numpy as np\nprint(os.getcwd(), sys.argv, np.ones(2))",
}


@pytest.mark.parametrize("name", HEALTHY)
def test_healthy_script_agrees(name: str, tmp_path: Path) -> None:
    script = tmp_path / "s.py"
    script.write_text(HEALTHY[name] + "\n")
    (tmp_path / "data.txt").write_text("1 2\n3 4\n")
    (tmp_path / "part.py").write_text("import numpy as np\ndef double(x):\n    return np.multiply(x, 2)\n")
    for how in ("cpu", "check-port"):
        told = measuring.side(how, script, tmp_path / how, repeat=1)
        assert told["runs"][0]["exit"] == 0, measuring.printed(told, 0, "stderr")
    found = measuring.compare(tmp_path / "cpu", tmp_path / "check-port")
    assert found["agree"], found["differences"]
    assert found["compared"] > 0
    assert bool(found["varying"]) == (name == "random_unseeded")
    assert not (tmp_path / "out.csv").exists() and not (tmp_path / "a.npy").exists()


START = "import numpy as np\nrng = np.random.default_rng(0)\na = rng.random((40, 30))\n"
#: A right script, a wrong one, and what is said of it.
WRONG = {
    "dtype": ("b = a * 2", "b = (a * 2).astype(np.float32)", "array b is float64 on one side and float32"),
    "precision": ("b = a @ a.T", "b = (a.astype('f4') @ a.T.astype('f4')).astype('f8')", "array b["),
    "race": ("s = a.sum()\nprint(s)", "s = a[:-1].sum()\nprint(s)", "printed text, line 1: "),
    "nan": ("b = np.log(a)", "b = np.log(a)\nb[3, 4] = np.nan", "NaN on one side alone"),
    "shifted_index": ("b = a[1:, :]", "b = a[:-1, :]", "array b["),
    "transposed": ("b = a @ a.T", "b = a.T @ a", "has shape (40, 40) on one side and (30, 30)"),
    "text_file": ("np.savetxt('o.txt', a)", "a[0, 0] += 1\nnp.savetxt('o.txt', a)\na[0, 0] -= 1", "file o.txt, line 1"),
    "array_file": ("np.save('o', a)", "np.save('o', a + 1e-3)", "file o.npy["),
    "no_file": ("open('o.bin', 'wb').write(bytes(9))", "pass", "file o.bin was written on the first side alone"),
    "bytes": ("open('o.bin', 'wb').write(bytes(9))", "open('o.bin', 'wb').write(bytes(8) + b'x')", "at byte 8"),
    "count": ("n = (a > 0.5).sum()\nprint('found', n)", "n = (a >= 0.501).sum()\nprint('found', n)", "found "),
    "order": ("i = np.argsort(a[0])", "i = np.argsort(-a[0])", "array i["),
    "unsynchronised": (
        "c = np.zeros(8)\nfor k in range(8):\n    c[k] = k", "c = np.zeros(8)\nfor k in range(7):\n    c[k] = k",
        "array c[7]: 7 against 0",
    ),
    "truth": ("print('converged', bool(a.max() < 1))", "print('converged', bool(a.max() > 1))", "converged"),
    "infinity": ("b = 1 / a", "b = 1 / a\nb[0, 0] = np.inf", "infinity on one side alone"),
    "line_missing": ("print(a[0, 0])\nprint('done')", "print(a[0, 0])", "number of lines|printed text"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_wrong_results_are_said(name: str, tmp_path: Path) -> None:
    right, wrong, words = WRONG[name]
    for script, text in (("right.py", right), ("wrong.py", wrong)):
        (tmp_path / script).write_text(f"{START}{text}\n")
        measuring.side("cpu", tmp_path / script, tmp_path / script.removesuffix(".py"))
    for more in ((), ("--against",)):
        found = measuring.compare(tmp_path / "right", tmp_path / "wrong", *more)
        if name == "line_missing" and more:
            assert any("2 lines against 1" in text for text in found["left_out"])
            continue
        assert not found["agree"], more
        texts = [item["text"] for item in found["differences"]]
        assert any(part in text for text in texts for part in words.split("|")), texts
        same = measuring.compare(tmp_path / "right", tmp_path / "right", *more)
        assert same["agree"] and same["largest_relative"] == 0


@pytest.mark.parametrize(
    ("one", "other", "agree"),
    [
        ("loss 0.123456 in 3.2 s", "loss 0.123457 in 0.1 s", True),
        ("loss 0.123456", "loss 0.123556", False),
        ("[0.1 0.25]", "[ 0.1   0.25]", True),
        ("epoch 3/10", "epoch 4/10", False),
        ("error 3.1e-16", "error 3.2e-16", True),
        ("3 of 5 (60.0 %)", "3 of 5 (60.1 %)", True),
        ("x: nan", "x: nan", True),
        ("x: nan", "x: 1.0", False),
        ("12345678 rows", "12345679 rows", True),
        ("Time taken: 1.5", "Time taken: 0.2", True),
        ("2.31 GFLOP/s, 3 rows", "99.1 GFLOP/s, 3 rows", True),
        ("(1.5+2j)", "(1.5+3j)", False),
        ("time step 5", "time step 6", False),
        ("12 ms per loop", "9.1 ms per loop", True),
        ("abc", "abd", False),
        ("u=-0.5", "u=0.5", False),
    ],
)
def test_printed_text(one: str, other: str, agree: bool) -> None:
    from breakeven.measure.compare import text, tolerance

    found = tolerance.Found()
    text.compare(one, other, "printed text", tolerance.DEFAULT, found)
    assert (not found.differences) == agree, found.differences


#: A sum of half precision that is rounded at each step, and one that is not.
ROUNDED = (
    "import numpy as np\nfrom numpy import float16 as half\nfrom part import scale\n"
    "x = np.full(5000, 0.1, dtype='float16') * scale\ntotal = np.cumsum(x, dtype=half)[-1:]\nprint(total[0])\n"
)
EXACT = ROUNDED.replace("np.cumsum(x, dtype=half)[-1:]", "x.astype('f8').sum(keepdims=True).astype(half)")


@pytest.mark.parametrize(("one", "other", "off"), [(ROUNDED, EXACT, "first"), (EXACT, ROUNDED, "second")])
def test_float64_says_which_side_is_off(one: str, other: str, off: str, tmp_path: Path) -> None:
    (tmp_path / "part.py").write_text("import numpy as np\nscale = np.half(1)\n")
    (tmp_path / "one.py").write_text(one)
    (tmp_path / "other.py").write_text(other)
    measuring.side("cpu", tmp_path / "one.py", tmp_path / "first")
    measuring.side("cpu", tmp_path / "other.py", tmp_path / "second")
    told = measuring.side("float64", tmp_path / "one.py", tmp_path / "exact")
    assert told["runs"][0]["arrays"] == {"scale": "float64", "total": "float64", "x": "float64"}
    found = measuring.compare(tmp_path / "first", tmp_path / "second", str(tmp_path / "exact"))
    assert not found["agree"] and found["referee"]["off"] == off
    assert min(found["referee"]["first"], found["referee"]["second"]) < 1e-3


def test_what_is_drawn_and_read_stays_as_it_is_in_float64(tmp_path: Path) -> None:
    script = tmp_path / "s.py"
    script.write_text(
        "import numpy as np\na = np.random.default_rng(1).random(5, dtype=np.float32)\n"
        "np.arange(4, dtype='<i4').tofile('i')\nb = np.fromfile('i', dtype='float32')\nc = np.asarray(a, 'f4')\n"
    )
    for how in ("cpu", "float64"):
        told = measuring.side(how, script, tmp_path / how)
    assert set(told["runs"][0]["arrays"].values()) == {"float64"}
    plain, double = ({name: np.load(tmp_path / how / "run-0" / "arrays" / f"{name}.npy") for name in "abc"}
                     for how in ("cpu", "float64"))  # fmt: skip
    assert all((plain[name] == double[name]).all() for name in "abc")
