"""What the parts of the replacement share: set by those above, so that those below need not know them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ... import _native


class State:
    """What is the case now, and what parts that are made later have put in place."""

    #: The class of device arrays; `array.py` sets it.
    ndarray: type = type(None)
    #: Names of what runs inside a fused function; None outside of one.
    fused: list[str] | None = None
    #: The CUDA graph that is being captured; None outside of a capture.
    capturing: Any = None
    #: Makes an empty one; `graphs.py` sets it.
    new_graph: Callable[[], Any]
    #: A pointer to the memory of a plain array; `pointers.py` sets it.
    pointer_to: Callable[[Any], Any]
    #: Device arrays of what others hold; `creation.py` sets them.
    array: Callable[..., Any]
    asarray: Callable[..., Any]
    #: The replacement of one of NumPy's functions, and the error for a name that it has not; `modules.py` sets them.
    numpys: Callable[[str, str], Any]
    absent: Callable[[str, str, str], AttributeError]


state = State()


def quietly(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Work of NumPy's that is no work of the program's: not recorded."""
    token = _native.enter("cupy.ndarray", True)
    try:
        return function(*args, **kwargs)
    finally:
        _native.leave(token, (), None)
