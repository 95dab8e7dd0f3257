"""The device that programs are told they have: the GPU of `--pretend-gpu`, or one that nobody named."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass

from ... import _native


@dataclass(frozen=True)
class Gpu:
    """What a program can ask."""

    name: str
    memory: int
    #: What of that a program can have, bytes.
    usable: int
    capability: str
    units: int
    cache: int
    #: Whether the user named it; then what does not fit is refused.
    named: bool


def _read() -> Gpu:
    given = os.environ.get("BREAKEVEN_PRETEND_GPU")
    if not given:
        return Gpu("breakeven stand-in", 24 << 30, 24 << 30, "8.0", 108, 40 << 20, False)
    figures = json.loads(given)
    capability = str(figures["capability"])
    memory, units, cache = int(figures["memory"]), int(figures["units"]), int(figures["cache"])
    return Gpu(str(figures["name"]), memory, int(figures.get("usable", memory)), capability, units, cache, True)


gpu = _read()


def asked() -> Gpu:
    """The program asks what GPU this is; where nobody named one, the report says what it was told."""
    if not gpu.named:
        _native.unseen(
            "stand-in-device",
            "the script asked what its GPU is: the stand-in answered 24 GiB and compute capability 8.0; "
            "`--pretend-gpu` "
            "names another",
        )
    return gpu


def capability() -> tuple[int, int]:
    """Major and minor."""
    major, _, minor = gpu.capability.partition(".")
    return int(major), int(minor or 0)
