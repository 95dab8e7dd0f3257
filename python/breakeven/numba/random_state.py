"""The state of Numba's random numbers, which are apart from NumPy's: what counts rounds must not move it."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    State = list[tuple[Any, Any]]


def _library() -> Any:
    from numba import _helperlib

    return _helperlib


def taken() -> State:
    """The state as it is now, of NumPy's functions and of Python's, in this thread."""
    library = _library()
    pointers = (library.rnd_get_np_state_ptr(), library.rnd_get_py_state_ptr())
    return [(pointer, library.rnd_get_state(pointer)) for pointer in pointers]


def put_back(state: State) -> None:
    """The state as it was taken."""
    for pointer, value in state:
        _library().rnd_set_state(pointer, value)
