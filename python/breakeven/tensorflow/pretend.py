"""`--pretend-gpu`: what `tf.config` and `tf.test` say where there is a GPU; `tf.device("/GPU:0")` is placed on the CPU
by TensorFlow itself, which computes."""

from __future__ import annotations

import functools
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

#: Settings of a physical device, which the one that is not there takes.
_SETTINGS = ("set_memory_growth", "set_logical_device_configuration", "set_virtual_device_configuration")


def install(tensorflow: Any) -> None:
    """Answer as with a GPU, by the names that scripts ask; TensorFlow itself goes on without one."""
    if not os.environ.get("BREAKEVEN_PRETEND_GPU"):
        return
    from tensorflow.python.eager.context import LogicalDevice, PhysicalDevice

    gpu = PhysicalDevice("/physical_device:GPU:0", "GPU")
    listed = {"list_physical_devices": gpu, "list_logical_devices": LogicalDevice("/device:GPU:0", "GPU")}
    for config in (tensorflow.config, tensorflow.config.experimental):
        for name, device in listed.items():
            if hasattr(config, name):
                setattr(config, name, _listing(getattr(config, name), device))
        for name in (*_SETTINGS, "set_visible_devices"):
            if hasattr(config, name):
                setattr(config, name, _setting(getattr(config, name), gpu))
    tensorflow.test.is_gpu_available = functools.wraps(tensorflow.test.is_gpu_available)(lambda *_, **__: True)
    tensorflow.test.gpu_device_name = functools.wraps(tensorflow.test.gpu_device_name)(lambda: "/device:GPU:0")


def _listing(plain: Callable[..., Any], device: Any) -> Callable[..., Any]:
    @functools.wraps(plain)
    def asked(device_type: str | None = None) -> list[Any]:
        found = [] if device_type == "GPU" else list(plain(device_type))
        return [*found, device] if device_type in (None, "GPU") else found

    return asked


def _setting(plain: Callable[..., Any], gpu: Any) -> Callable[..., Any]:
    @functools.wraps(plain)
    def told(devices: Any, *args: Any, **words: Any) -> Any:
        asked = devices if isinstance(devices, (list, tuple)) else [devices]
        return None if gpu in asked else plain(devices, *args, **words)

    return told
