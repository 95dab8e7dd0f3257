"""The examples in docstrings do what they say, and every public name has a docstring."""

from __future__ import annotations

import doctest
import inspect
import pydoc
import sys

import pytest

import breakeven

pytestmark = pytest.mark.usefixtures("native")

FUNCTIONS = ("estimate", "kernel", "profile", "record")


@pytest.mark.parametrize("name", ["api.estimate", "events.kernel", "api.record"])
def test_examples_do_what_they_say(name: str) -> None:
    getattr(breakeven, name.rpartition(".")[2])
    module = sys.modules[f"breakeven.{name}"]
    done = doctest.testmod(module, optionflags=doctest.IGNORE_EXCEPTION_DETAIL)
    assert done.attempted > 0 and done.failed == 0


def test_public_names_are_shown_with_their_meaning() -> None:
    assert {name for name in dir(breakeven) if not name.startswith("_")} == {*breakeven.__all__,
        "load_ipython_extension"}
    page = pydoc.plain(pydoc.render_doc(breakeven))
    for name in breakeven.__all__:
        first = str(inspect.getdoc(getattr(breakeven, name))).splitlines()[0]
        assert first and first in page, name
    assert breakeven.__version__ in page


@pytest.mark.parametrize("name", [*FUNCTIONS, "Recording.estimate"])
def test_every_function_has_an_example(name: str) -> None:
    function: object = breakeven
    for part in name.split("."):
        function = getattr(function, part)
    assert ">>> " in str(function.__doc__)
