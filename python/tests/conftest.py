"""Fixtures."""

from __future__ import annotations

import os
import signal

import pytest

from breakeven import _native

# Neither settings nor the CPU of whoever runs these tests.
os.environ["BREAKEVEN_CONFIG"] = os.environ["BREAKEVEN_CPU"] = ""

# `nohup … &` starts programs with interrupts ignored; so would the scripts of these tests be.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def native() -> None:
    """Skips where the native hooks may not run."""
    why = _native.unsupported()
    if why is not None:
        pytest.skip(f"no native hooks here: {why}")
