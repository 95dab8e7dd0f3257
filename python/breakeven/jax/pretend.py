"""`--pretend-gpu`: what `jax.devices` and its kin say where there is a GPU; the devices are the CPU's."""

from __future__ import annotations

import functools
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_ASKED = ("devices", "local_devices", "device_count", "local_device_count")
_GPUS = ("gpu", "cuda", "rocm")


def install(jax: Any) -> None:
    """Answer as with a GPU, by the names that scripts ask: those of the module `jax` itself."""
    if not os.environ.get("BREAKEVEN_PRETEND_GPU"):
        return
    for name in _ASKED:
        setattr(jax, name, _answering(getattr(jax, name)))
    jax.default_backend = functools.wraps(jax.default_backend)(lambda: "gpu")


def _answering(plain: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(plain)
    def asked(*args: Any, **words: Any) -> Any:
        args = tuple(None if _is_gpu(item) else item for item in args)
        return plain(*args, **{name: None if _is_gpu(item) else item for name, item in words.items()})

    return asked


def _is_gpu(item: object) -> bool:
    return isinstance(item, str) and item in _GPUS
