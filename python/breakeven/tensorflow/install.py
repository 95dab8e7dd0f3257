"""Hooks TensorFlow once it has been imported."""

from __future__ import annotations

import sys

from .. import _native
from ..process import imports, looks
from . import batch, calls, copies, eager, pretend, tracing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def install(_: str) -> str | None:
    """Replaces the few functions that all of TensorFlow's work comes by; why it cannot, where one is missing."""
    try:
        _functions()
        _operations()
        _copies()
        pretend.install(sys.modules["tensorflow"])
        imports.after("tensorflow.python.data.ops.iterator_ops", _datasets)
        imports.after("keras.src.trainers.epoch_iterator", _keras)
        imports.after("keras.src.backend.tensorflow.trainer", _keras_steps)
    except (ImportError, AttributeError) as error:
        return f"it has another inside than TensorFlow 2.16 to 2.21 ({error})"
    return None


def _functions() -> None:
    from tensorflow.python.eager import context
    from tensorflow.python.eager.polymorphic_function.atomic_function import AtomicFunction

    calls.all_functions.eagerly = context.executing_eagerly
    _replace(AtomicFunction, "call_flat", calls.NAME, calls.entered, calls.left, arguments=True)
    from tensorflow.python.eager.polymorphic_function import tracing_compilation

    _replace(
        tracing_compilation, "_create_concrete_function", "tensorflow.trace", tracing.entered, tracing.left,
        arguments=True,
    )


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
    from keras.src.trainers.epoch_iterator import EpochIterator

    _replace(EpochIterator, "__init__", "keras.EpochIterator", _begins, _adapted)


def _keras_steps(_: str) -> None:
    """Epochs say where they are."""
    from keras.src.backend.tensorflow.trainer import TFEpochIterator

    _replace(TFEpochIterator, "__next__", "keras.step", _begins, _stepped)


def _datasets(_: str) -> None:
    """Data sets that are iterated over say the same."""
    from tensorflow.python.data.ops.iterator_ops import OwnedIterator

    _replace(OwnedIterator, "__init__", "tensorflow.data.Iterator", _begins, _iterated)


def _begins(_: str) -> None:
    """Nothing is to be done before."""


def _adapted(_: object, inputs: tuple[Any, ...], *__: object) -> None:
    if inputs:
        batch.adapts(getattr(inputs[0], "data_adapter", None))


def _stepped(_: object, inputs: tuple[Any, ...], *__: object) -> None:
    if inputs:
        batch.steps(inputs[0])


def _iterated(_: object, inputs: tuple[Any, ...], *__: object) -> None:
    # The iterator itself, then what it goes over.
    for dataset in inputs[1:2]:
        batch.iterates(dataset)


def _replace(holder: Any, name: str, known_as: str, enter: Any, leave: Any, arguments: bool = False) -> None:
    """A stand-in for a method, or for a function in each module of TensorFlow's that has it under this name."""
    plain = getattr(holder, name)
    stand_in = looks.wrapping(_native.Named(plain, known_as, enter, leave, arguments=arguments), plain)
    setattr(holder, name, stand_in)
    if isinstance(holder, type):
        return
    for module in list(sys.modules.values()):
        if getattr(module, "__name__", "").startswith("tensorflow.") and vars(module).get(name) is plain:
            setattr(module, name, stand_in)
