"""`breakeven.kernel`: what a kernel of the user's own costs, and what it does to its arrays."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])

#: FLOP or bytes of one launch: a number, or a function of (grid, block, args).
Amount = float | Callable[[tuple[int, ...], tuple[int, ...], tuple[Any, ...]], float]

_described: dict[str, list[Kernel]] = {}


class Kernel:
    """The description of one kernel; see `kernel`."""

    def __init__(self, name: str, flops: Amount, bytes: Amount) -> None:
        self.name = name
        self._flops = flops
        self._bytes = bytes
        self.effect: Callable[..., Any] | None = None

    def __call__(self, effect: F) -> F:
        """As a decorator: `effect` is called with the kernel's arguments, arrays as NumPy's, and changes them in
        place."""
        self.effect = effect
        return effect

    def __enter__(self) -> Kernel:
        return self

    def __exit__(self, *error: object) -> None:
        _described[self.name].remove(self)

    def launch(self, grid: tuple[int, ...], block: tuple[int, ...], args: tuple[Any, ...]) -> dict[str, float]:
        """FLOP, bytes and threads of a launch, as the recorder takes them."""
        told: dict[str, float] = {}
        for what, amount in (("flops", self._flops), ("bytes", self._bytes)):
            told[what] = _checked(self.name, what, amount(grid, block, args) if callable(amount) else amount)
        return told | {"n": threads(grid, block)}


def threads(grid: tuple[int, ...], block: tuple[int, ...]) -> int:
    """How many a launch has."""
    return math.prod(map(int, (*grid, *block)))


def _checked(name: str, what: str, value: Any) -> float:
    number = float(value)
    if not 0 <= number < float("inf"):
        raise ValueError(f"{what} of kernel `{name}` are {value!r}: not a number from 0 on")
    return number


def kernel(name: str, *, flops: Amount, bytes: Amount) -> Kernel:
    """Describe the kernel called `name` (the name in its source), which breakeven can neither run nor count.

    `flops` and `bytes` (read and written together) are those of one launch: numbers, or functions of the launch's
    `(grid, block, args)`, where `args` holds NumPy arrays (PyTorch's tensors for a kernel of Triton's) and scalars.
    Used as a decorator, the function tells what the kernel does: it gets the arguments and changes the arrays in place.
    Without one the arrays stay as they are, and the report says so. As a context manager the description ends with the
    block. Nothing happens outside of a recording.

    >>> import breakeven
    >>> @breakeven.kernel("saxpy", flops=lambda grid, block, args: 2 * args[0].size, bytes=3 * 4 * 1000)
    ... def saxpy(x, y, a, out):
    ...     out[:] = a * x + y

    Raises ValueError for an amount that is negative, infinite or not a number, TypeError for what is no number at
    all.
    """
    if not isinstance(name, str) or not name:
        raise ValueError(f"a kernel is described by its name, not {name!r}")
    for what, amount in (("flops", flops), ("bytes", bytes)):
        if not callable(amount):
            _checked(name, what, amount)
    description = Kernel(name, flops, bytes)
    _described.setdefault(name, []).append(description)
    return description


def described(name: str) -> Kernel | None:
    """The latest description of a kernel."""
    known = _described.get(name)
    return known[-1] if known else None
