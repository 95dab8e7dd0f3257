"""PyTorch scripts that check for a GPU and end: the record says so where the check ended them, and else says
nothing."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from breakeven.process.gpu_asked import _DRIVERS
from test_gpu_asked import told

pytestmark = pytest.mark.skipif(any(map(os.path.exists, _DRIVERS)), reason="this machine has a GPU")
pytest.importorskip("torch")

START = "import sys, os, torch\n"

ENDED = [
    ("assert torch.cuda.is_available()\n", 2),
    ("assert torch.cuda.device_count() > 0, 'needs a GPU'\n", 2),
    ("if not torch.cuda.is_available():\n    sys.exit('needs a GPU')\n", 2),
    ("if not torch.cuda.is_available():\n    print('none')\n    exit(1)\n", 2),
    ("if not torch.cuda.is_available():\n    raise SystemExit(1)\n", 2),
    ("if torch.cuda.is_available():\n    print('train')\nelse:\n    raise RuntimeError('no')\n", 2),
    ("ok = torch.cuda.is_available()\nprint(ok)\nif not ok:\n    raise EnvironmentError('no')\n", 4),
    ("def need():\n    from torch.cuda import is_available\n    if not is_available():\n        sys.exit(1)\nneed()\n",
    4),
]

OTHERS = [
    # Ends well, or goes on, on the CPU.
    ("device = 'cuda' if torch.cuda.is_available() else 'cpu'\nprint(torch.ones(2, device=device))\n", 0),
    ("if not torch.cuda.is_available():\n    print('slow')\nprint(torch.ones(2))\n", 0),
    ("if not torch.cuda.is_available():\n    print('none')\n    sys.exit()\n", 0),
    ("if not torch.cuda.is_available():\n    sys.exit(0)\n", 0),
    ("try:\n    assert torch.cuda.is_available()\nexcept AssertionError:\n    print('slow')\n", 0),
    # Ends by something else.
    ("use = torch.cuda.is_available()\nopen('no such file')\n", 1),
    ("if torch.cuda.is_available():\n    raise ValueError\nelse:\n    open('no such file')\n", 1),
    ("torch.cuda.is_available()\nsys.exit('no data')\n", 1),
    ("try:\n    assert torch.cuda.is_available()\nexcept AssertionError:\n    pass\nassert 1 == 2\n", 1),
]


@pytest.mark.parametrize(("script", "line"), ENDED)
def test_a_check_that_ends_the_script_is_told(script: str, line: int, tmp_path: Path) -> None:
    [(reason, text)] = told(START + script, tmp_path, 1)
    says = f"the script asks for a GPU (asks.py:{line}), and there is none: --pretend-gpu NAME "
    assert reason == "no-gpu" and text.startswith(says), text


@pytest.mark.parametrize(("script", "code"), OTHERS)
def test_of_a_script_that_goes_on_nothing_is_told(script: str, code: int, tmp_path: Path) -> None:
    assert told(START + script, tmp_path, code) == []


def test_what_stands_in_is_the_function_that_it_stands_for(tmp_path: Path) -> None:
    script = START + "import inspect\nfor name in ('is_available', 'device_count'):\n"
    script += "    f = getattr(torch.cuda, name)\n    print(f, inspect.signature(f), f.__doc__, f.__module__, f())\n"
    assert told(script, tmp_path, 0) == []
