"""Hooks TensorFlow once it has been imported."""

from __future__ import annotations

import sys

from .. import _native
from ..process import imports
from . import batch, calls, copies, eager

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def install(_: str) -> str | None:
    """Replaces the few functions that all of TensorFlow's work comes by; why it cannot, where one is missing."""
    try:
        _functions()
        _operations()
        _copies()
        imports.after("tensorflow.python.data.ops.iterator_ops", _datasets)
        imports.after("keras.src.trainers.epoch_iterator", _keras)
    except (ImportError, AttributeError) as error:
        return f"it has another inside than TensorFlow 2.16 to 2.21 ({error})"
    return None


def _functions() -> None:
    from tensorflow.python.eager.polymorphic_function.atomic_function import AtomicFunction

    _replace(AtomicFunction, "call_flat", calls.NAME, calls.entered, calls.left, arguments=True)


def _operations() -> None:
    from tensorflow.python import pywrap_tfe

    _replace(pywrap_tfe, "TFE_Py_FastPathExecute", "tensorflow.eager", eager.entered, eager.left, arguments=True)


def _copies() -> None:
    from tensorflow.python.framework import constant_op, ops

    for name in copies.READS:
        if name in vars(ops._EagerTensorBase):
            _replace(ops._EagerTensorBase, name, "tensorflow.Tensor.numpy", copies.entered, copies.read)
    _replace(constant_op, "convert_to_eager_tensor", "tensorflow.convert_to_tensor", copies.entered, copies.made)


def _keras(_: str) -> None:
    """Keras' adapters say how many rows a batch has."""
    from keras.src.trainers import epoch_iterator

    plain = epoch_iterator.EpochIterator.__init__

    def told(iterator: Any, *args: Any, **kwargs: Any) -> None:
        plain(iterator, *args, **kwargs)
        batch.adapts(getattr(iterator, "data_adapter", None))

    epoch_iterator.EpochIterator.__init__ = told


def _datasets(_: str) -> None:
    """Iterators over data sets say the same."""
    from tensorflow.python.data.ops import iterator_ops

    plain = iterator_ops.OwnedIterator.__init__

    def told(iterator: Any, dataset: Any = None, *args: Any, **kwargs: Any) -> None:
        plain(iterator, dataset, *args, **kwargs)
        batch.iterates(iterator, dataset)

    iterator_ops.OwnedIterator.__init__ = told


def _replace(holder: Any, name: str, known_as: str, enter: Any, leave: Any, arguments: bool = False) -> None:
    plain = getattr(holder, name)
    stand_in = _native.Named(plain, known_as, enter, leave, arguments=arguments)
    for key in ("__module__", "__name__", "__qualname__", "__doc__"):
        if hasattr(plain, key):
            stand_in.__dict__[key] = getattr(plain, key)
    stand_in.__dict__["__wrapped__"] = plain
    setattr(holder, name, stand_in)
    if holder in (sys.modules.get("tensorflow.python.framework.constant_op"),):
        for module in list(sys.modules.values()):
            if getattr(module, "__name__", "").startswith("tensorflow.") and vars(module).get(name) is plain:
                setattr(module, name, stand_in)
