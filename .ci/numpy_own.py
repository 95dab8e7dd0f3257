"""NumPy's own tests with and without the recorder: every test must end the same way."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy

CORE = "numpy._core" if int(numpy.__version__.split(".")[0]) >= 2 else "numpy.core"
MODULES = ("test_multiarray", "test_umath", "test_indexing")


def outcomes(runner: list[str], environment: dict[str, str], report: Path) -> dict[str, str]:
    """How each test ended, by its name."""
    tests = [f"{CORE}.tests.{module}" for module in MODULES]
    # Not only passes are compared: a test that fails without the recorder must fail with it.
    subprocess.run(
        [sys.executable, *runner, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={report}"]
        + ["--tb=short", "--pyargs", *tests],
        # Tests that want much memory ask what is free, which changes from one run to the next.
        env=os.environ | {"NPY_AVAILABLE_MEM": "2 GB"} | environment,
        cwd=report.parent,
        check=False,
        stdout=subprocess.DEVNULL,
    )
    found = {}
    for case in ElementTree.parse(report).iter("testcase"):
        ended = [child.tag for child in case if child.tag in ("failure", "error", "skipped")]
        found[f"{case.get('classname')}.{case.get('name')}"] = ended[0] if ended else "passed"
    return found


def main() -> int:
    """Compare, print the differences, and fail if there is one."""
    with tempfile.TemporaryDirectory() as folder:
        record = Path(folder) / "record"
        record.mkdir()
        armed = {"BREAKEVEN_RECORD_DIR": str(record), "BREAKEVEN_RECORDER": "native"}
        with ThreadPoolExecutor() as both:
            without = both.submit(outcomes, [], {}, Path(folder) / "plain.xml")
            seen = outcomes(["-m", "breakeven._run"], armed, Path(folder) / "seen.xml")
            plain = without.result()
        files = list(record.glob("*.breakeven.json"))
    differing = sorted(name for name in plain.keys() | seen.keys() if plain.get(name) != seen.get(name))
    for name in differing:
        print(f"{name}: {plain.get(name)} without the recorder, {seen.get(name)} with it")
    passed = sum(ended == "passed" for ended in plain.values())
    print(f"NumPy {numpy.__version__}'s own tests: {len(plain)}, of which {passed} pass; {len(differing)} differ; "
          f"{len(files)} recorded")
    return 1 if differing or not plain or not files else 0


if __name__ == "__main__":
    sys.exit(main())
