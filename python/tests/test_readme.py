"""The Python of README.md runs as it stands there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

pytestmark = pytest.mark.usefixtures("native")

README = Path(__file__).parents[2] / "README.md"


def test_the_examples_run(capsys: pytest.CaptureFixture[str]) -> None:
    blocks = re.findall(r"^```python\n(.*?)^```$", README.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    assert blocks
    for block in blocks:
        exec(compile(block, str(README), "exec"), {"__name__": "__main__"})
    printed = capsys.readouterr().out
    assert "H100" in printed and "L4" in printed
