"""This machine, as far as its system tells.

As in `run/process.py`, only modules that every interpreter has loaded at its start are imported.
"""

from __future__ import annotations

import os


def cpu() -> str:
    """The CPU's name as Linux gives it; empty elsewhere."""
    return _told("model name")


def _told(what: str) -> str:
    """What Linux tells of the first CPU under this name; nothing where it does not."""
    for line in _read("/proc/cpuinfo").splitlines():
        if line.startswith(what):
            return line.partition(":")[2].strip()
    return ""


def _read(file: str) -> str:
    """The first 4 KiB of a file; nothing where there is none."""
    try:
        handle = os.open(file, os.O_RDONLY)
    except OSError:
        return ""
    try:
        return os.read(handle, 4096).decode("ascii", "replace")
    finally:
        os.close(handle)


def threads() -> int:
    """Logical CPUs that the process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def to_compare_with() -> dict[str, str | int | bool]:
    """What numbers are compared with unless a CPU is named: this machine's, or the one that `BREAKEVEN_CPU` names."""
    if (named := os.environ.get("BREAKEVEN_CPU")) is not None:
        return {"cpu": named}
    wide = "avx512f" in _told("flags").split()
    return {"cpu": cpu(), "cpu_threads": threads(), "cpu_cache_bytes": cache(), "cpu_wide": wide}


def cache() -> int:
    """Bytes of the last cache of the first CPU; 0 where Linux does not tell."""
    sizes = [_read(f"/sys/devices/system/cpu/cpu0/cache/index{level}/size").strip() for level in range(8)]
    return max((int(size[:-1]) << 10 for size in sizes if size[:-1].isdecimal() and size.endswith("K")), default=0)
