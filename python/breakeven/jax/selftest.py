"""Whether the hooks see what JAX does here: a tiny compiled function, run twice when the script first uses JAX."""

from __future__ import annotations

import sys

from .. import _native
from .session import own_work, session


def test_once() -> None:
    """Test the hooks, before the first function of the script's is lowered; if one does not fire nothing is told."""
    if session.tested or not session.on:
        return
    session.tested = True
    begun = _native.import_begins("compile", ())
    try:
        why = _fault()
    except Exception as error:
        if _native.of_script(error):
            raise
        why = f"{type(error).__name__}: {error}".splitlines()[0]
    finally:
        _native.import_ends(begun)
    if why is not None:
        session.on = False
        session.say("gpu-not-watched", f"what JAX computed was not seen: {why}")


def _fault() -> str | None:
    jax, numpy = sys.modules["jax"], sys.modules["numpy"]
    with own_work():
        function = jax.jit(lambda x: x + 1.0)
        argument = numpy.zeros(3, numpy.float32)
        before = session.noticed
        function(argument)
        if session.noticed == before:
            return "a function that was compiled was not noticed"
        fast = _native.jitted_fast()
        function(argument)
        if _native.recording() and _native.jitted_fast() == fast:
            return "a second call of a compiled function was not noticed"
    return None
