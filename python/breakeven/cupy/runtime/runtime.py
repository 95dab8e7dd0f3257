"""`cupy.cuda.runtime`: the few calls that programs make of it."""

from __future__ import annotations

from typing import Any

from ..core import devices, pools, streams
from ..core.imagined import asked, capability
from ..memory import pointers


def getDeviceCount() -> int:
    """One."""
    return 1


def getDevice() -> int:
    """The first."""
    return 0


def setDevice(device: int) -> None:
    """There is no other."""
    devices.Device(device).use()


def deviceSynchronize() -> None:
    """The host waits for everything."""
    streams.mark("cupy.cuda.runtime.deviceSynchronize", streams.Stream.null._tag)


def streamSynchronize(stream: int) -> None:
    """The host waits for a stream."""
    streams.mark("cupy.cuda.runtime.streamSynchronize", streams.wait_tag(stream))


def memGetInfo() -> tuple[int, int]:
    """Free and total memory, bytes."""
    return devices.Device(0).mem_info


def getDeviceProperties(device: int) -> dict[str, Any]:
    """What the imagined device says of itself."""
    devices.Device(device).use()
    gpu, (major, minor) = asked(), capability()
    return {
        "name": gpu.name.encode(), "totalGlobalMem": gpu.memory, "major": major, "minor": minor,
        "multiProcessorCount": gpu.units, "warpSize": 32, "maxThreadsPerBlock": 1024, "maxThreadsDim": (1024, 1024, 64),
        "maxGridSize": (2**31 - 1, 65535, 65535), "sharedMemPerBlock": 49152, "regsPerBlock": 65536,
        "maxThreadsPerMultiProcessor": 2048, "clockRate": 1_410_000, "memoryClockRate": 1_215_000,
        "memoryBusWidth": 5120,
        "l2CacheSize": gpu.cache, "totalConstMem": 65536, "pciBusID": 0, "pciDeviceID": 0, "pciDomainID": 0,
    }  # fmt: skip


def runtimeGetVersion() -> int:
    """CUDA 13.0, as the wheel of CuPy's that is imitated."""
    return 13000


def deviceGetAttribute(attribute: int, device: int) -> int:
    """A figure of the imagined device by CUDA's number for it."""
    told = devices.Device(device).attributes
    if attribute not in _ATTRIBUTES:
        raise NotImplementedError(f"breakeven's stand-in for cupy has no attribute {attribute} of a device")
    return told[_ATTRIBUTES[attribute]]


def deviceCanAccessPeer(device: int, peer: int) -> int:
    """There is no other."""
    return 0


_held: dict[int, Any] = {}


def malloc(size: int) -> int:
    """The address of so much memory, beside the pool."""
    place = pools.MemoryPool().malloc(size)
    _held[place.ptr] = place
    return int(place.ptr)


def free(ptr: int) -> None:
    """Give it back."""
    _held.pop(ptr, None)


def memcpy(dst: int, src: int, size: int, kind: int) -> None:
    """Copy, and wait."""
    pointers.copy(dst, src, size, kind)


def memcpyAsync(dst: int, src: int, size: int, kind: int, stream: int) -> None:
    """Copy in the current stream."""
    pointers.copy(dst, src, size, kind, streams.current())


def memset(ptr: int, value: int, size: int) -> None:
    """Fill bytes."""
    pointers.MemoryPointer(pointers.Memory(ptr, size, None)).memset(value, size)


def memsetAsync(ptr: int, value: int, size: int, stream: int) -> None:
    """Fill bytes."""
    memset(ptr, value, size)


def _profiler() -> None:
    pass


#: CUDA's numbers of what a device can be asked.
_ATTRIBUTES = {
    1: "MaxThreadsPerBlock", 2: "MaxBlockDimX", 3: "MaxBlockDimY", 4: "MaxBlockDimZ", 5: "MaxGridDimX",
    6: "MaxGridDimY",
    7: "MaxGridDimZ", 8: "MaxSharedMemoryPerBlock", 9: "TotalConstantMemory", 10: "WarpSize",
    12: "MaxRegistersPerBlock",
    13: "ClockRate", 16: "MultiProcessorCount", 36: "MemoryClockRate", 37: "GlobalMemoryBusWidth",
    39: "MaxThreadsPerMultiProcessor", 75: "ComputeCapabilityMajor", 76: "ComputeCapabilityMinor",
}  # fmt: skip


CONTENTS: dict[str, Any] = {
    **{
        function.__name__: function
        for function in (
            getDeviceCount, getDevice, setDevice, deviceSynchronize, streamSynchronize, memGetInfo, getDeviceProperties,
            runtimeGetVersion, deviceGetAttribute, deviceCanAccessPeer, malloc, free, memcpy, memcpyAsync, memset,
            memsetAsync,
        )
    },
    "profilerStart": _profiler, "profilerStop": _profiler,
    **{f"cudaDevAttr{name}": number for number, name in _ATTRIBUTES.items()},
    "driverGetVersion": runtimeGetVersion,
    "CUDARuntimeError": streams.CUDARuntimeError,
    "is_hip": False,
    "memcpyHostToDevice": 1, "memcpyDeviceToHost": 2, "memcpyDeviceToDevice": 3, "memcpyHostToHost": 0,
    "memcpyDefault": 4, "streamDefault": 0, "streamNonBlocking": 1, "eventDefault": 0, "eventDisableTiming": 2,
}  # fmt: skip
