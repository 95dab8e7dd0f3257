"""Fixtures."""

from __future__ import annotations

import pytest

from breakeven import _native


@pytest.fixture
def native() -> None:
    """Skips where the native hooks may not run."""
    why = _native.unsupported()
    if why is not None:
        pytest.skip(f"no native hooks here: {why}")
