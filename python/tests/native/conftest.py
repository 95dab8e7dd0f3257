"""The native module with hooks installed; each test records into an empty table."""

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from breakeven import _native

if why := _native.unsupported():
    pytest.skip(why, allow_module_level=True)


class Recording:
    """A recording of this process that `stop` ends."""

    def __init__(self) -> None:
        self.workload: dict[str, Any] = {}

    def stop(self) -> None:
        _native.stop()
        self.workload = json.loads(_native.snapshot())

    def ops(self, name: str) -> list[dict[str, Any]]:
        return [op for op in self.workload["ops"] if op["name"] == name]

    def count(self, name: str) -> int:
        return sum(op["count"] for op in self.ops(name))

    def counts(self) -> dict[str, int]:
        counts: dict[str, int] = {}
        for op in self.workload["ops"]:
            counts[op["name"]] = counts.get(op["name"], 0) + op["count"]
        return counts


@pytest.fixture(scope="session", autouse=True)
def hooks() -> dict[str, str]:
    np.random, np.fft, np.linalg  # noqa: B018 -- NumPy imports them at their first use
    report = _native.install()
    assert set(report.values()) == {"on"}, report
    return report


@pytest.fixture
def recording() -> Iterator[Recording]:
    _native.reset()
    _native.start()
    made = Recording()
    yield made
    while _native.recording():
        _native.stop()
