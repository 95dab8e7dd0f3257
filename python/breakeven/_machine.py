"""This machine, as far as its system tells.

As in `_process`, only modules that every interpreter has loaded at its start are imported.
"""

from __future__ import annotations

import os


def cpu() -> str:
    """The CPU's name as Linux gives it; empty elsewhere."""
    try:
        handle = os.open("/proc/cpuinfo", os.O_RDONLY)
    except OSError:
        return ""
    try:
        head = os.read(handle, 4096).decode("ascii", "replace")
    finally:
        os.close(handle)
    for line in head.splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return ""


def threads() -> int:
    """Logical CPUs that the process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def to_compare_with() -> dict[str, str | int]:
    """What numbers are compared with unless a CPU is named: this machine's, or the one that `BREAKEVEN_CPU` names."""
    named = os.environ.get("BREAKEVEN_CPU")
    return {"cpu": cpu(), "cpu_threads": threads()} if named is None else {"cpu": named}
