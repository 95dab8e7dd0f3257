"""Energy of a GPU, by the board's own counter; nothing where it has none."""

from __future__ import annotations

import ctypes
import sys
from typing import Any


class Counter:
    """NVML's counter of the first GPU."""

    def __init__(self) -> None:
        self._nvml: Any = None
        self._device = ctypes.c_void_p()
        if not sys.platform.startswith("linux"):
            return
        try:
            nvml = ctypes.CDLL("libnvidia-ml.so.1")
            if nvml.nvmlInit_v2() == 0 and nvml.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(self._device)) == 0:
                self._nvml = nvml
        except (OSError, AttributeError):
            return

    def joules(self) -> float | None:
        """What the board has used since its driver was loaded, J; None where it does not say."""
        used = ctypes.c_ulonglong()
        if self._nvml is None or self._nvml.nvmlDeviceGetTotalEnergyConsumption(self._device, ctypes.byref(used)) != 0:
            return None
        return used.value / 1000
