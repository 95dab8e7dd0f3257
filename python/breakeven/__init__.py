"""Should this Python calculation run on a GPU? On which one, how fast, at what cost, what holds it back?

    import breakeven

    with breakeven.record() as work:
        simulate()
    print(work.estimate("h100-sxm"))

    breakeven.estimate(flops="10,000 GFLOP", data="1GB", cpu_rate="400GFLOP/s", gpu="RTX 3080")

In a notebook, `%load_ext breakeven` gives `%%breakeven`, which records a cell, and `%breakeven`, which reports on it
again; `%breakeven --help` lists what they take.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .api.errors import BreakevenError as BreakevenError
    from .api.errors import InputError as InputError
    from .api.errors import UnknownKeywordError as UnknownKeywordError
    from .api.errors import UnknownNameError as UnknownNameError
    from .api.estimate import Estimate as Estimate
    from .api.estimate import estimate as estimate
    from .api.fleet import fleet as fleet
    from .api.record import Recording as Recording
    from .api.record import profile as profile
    from .api.record import record as record
    from .events.kernel import kernel as kernel

__all__ = [
    *("BreakevenError", "Estimate", "InputError", "Recording", "UnknownKeywordError", "UnknownNameError"),
    *("estimate", "fleet", "kernel", "profile", "record"),
]
__version__ = "0.1.0"

# Every recorded process imports this package before its script begins: what the script did not ask for stays out.
_HOME = {
    "BreakevenError": "api.errors",
    "InputError": "api.errors",
    "UnknownKeywordError": "api.errors",
    "UnknownNameError": "api.errors",
    "Estimate": "api.estimate",
    "estimate": "api.estimate",
    "fleet": "api.fleet",
    "kernel": "events.kernel",
    "Recording": "api.record",
    "profile": "api.record",
    "record": "api.record",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, "__doc__", "__name__", "__version__", "load_ipython_extension"])


def load_ipython_extension(shell: Any) -> None:
    """What `%load_ext breakeven` calls."""
    from .api.ipython import BreakevenMagics

    shell.register_magics(BreakevenMagics)
