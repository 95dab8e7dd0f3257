"""`cupy.cuda.runtime`: the few calls that programs make of it."""

from __future__ import annotations

from typing import Any

from . import streams
from .imagined import asked, capability


def getDeviceCount() -> int:
    """One."""
    return 1


def getDevice() -> int:
    """The first."""
    return 0


def setDevice(device: int) -> None:
    """There is no other."""
    streams.Device(device).use()


def deviceSynchronize() -> None:
    """The host waits for everything."""
    streams.mark("cupy.cuda.runtime.deviceSynchronize", streams.Stream.null._tag)


def streamSynchronize(stream: int) -> None:
    """The host waits for a stream."""
    streams.mark("cupy.cuda.runtime.streamSynchronize", streams.Stream.null._wait_tag)


def memGetInfo() -> tuple[int, int]:
    """Free and total memory, bytes."""
    return streams.Device(0).mem_info


def getDeviceProperties(device: int) -> dict[str, Any]:
    """What the imagined device says of itself."""
    streams.Device(device).use()
    gpu, (major, minor) = asked(), capability()
    return {
        "name": gpu.name.encode(), "totalGlobalMem": gpu.memory, "major": major, "minor": minor,
        "multiProcessorCount": gpu.units, "warpSize": 32, "maxThreadsPerBlock": 1024, "maxThreadsDim": (1024, 1024, 64),
        "maxGridSize": (2**31 - 1, 65535, 65535), "sharedMemPerBlock": 49152, "regsPerBlock": 65536,
        "maxThreadsPerMultiProcessor": 2048, "clockRate": 1_410_000, "memoryClockRate": 1_215_000, "memoryBusWidth": 5120,
        "l2CacheSize": gpu.cache, "totalConstMem": 65536, "pciBusID": 0, "pciDeviceID": 0, "pciDomainID": 0,
    }  # fmt: skip


def runtimeGetVersion() -> int:
    """CUDA 12.8."""
    return 12080


def is_hip() -> bool:
    """No."""
    return False


CONTENTS: dict[str, Any] = {
    **{
        function.__name__: function
        for function in (
            getDeviceCount, getDevice, setDevice, deviceSynchronize, streamSynchronize, memGetInfo, getDeviceProperties,
            runtimeGetVersion,
        )
    },
    "driverGetVersion": runtimeGetVersion,
    "CUDARuntimeError": streams.CUDARuntimeError,
    "is_hip": False,
    "memcpyHostToDevice": 1, "memcpyDeviceToHost": 2, "memcpyDeviceToDevice": 3, "memcpyHostToHost": 0,
    "memcpyDefault": 4, "streamDefault": 0, "streamNonBlocking": 1, "eventDefault": 0, "eventDisableTiming": 2,
}  # fmt: skip
del is_hip
