"""Capsules of DLPack that a stand-in for a GPU gives out: their memory is the host's, and passes for the GPU's."""

from __future__ import annotations

import ctypes
import datetime

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


_CAPSULE = type(datetime.datetime_CAPI)
#: What stands for the GPU in a capsule's context, of which DLPack makes no use.
_MARK = id(object)
_set, _get = ctypes.pythonapi.PyCapsule_SetContext, ctypes.pythonapi.PyCapsule_GetContext
_set.argtypes, _get.argtypes, _get.restype = (ctypes.py_object, ctypes.c_void_p), (ctypes.py_object,), ctypes.c_void_p


def of_gpu(capsule: Any) -> Any:
    """The capsule, as one of the GPU's."""
    _set(capsule, _MARK)
    return capsule


def is_of_gpu(value: Any) -> bool:
    """Whether it is such a capsule."""
    return isinstance(value, _CAPSULE) and _get(value) == _MARK
