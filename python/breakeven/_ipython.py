"""The cell magic `%%breakeven [GPU …]`: runs the cell, then shows what it would take on a GPU."""

from __future__ import annotations

import shlex
from typing import Any

from IPython.core.magic import Magics, cell_magic, magics_class
from IPython.display import display

from ._record import record


@magics_class
class BreakevenMagics(Magics):  # type: ignore[misc]
    """Registered by `%load_ext breakeven`."""

    @cell_magic  # type: ignore[untyped-decorator]
    def breakeven(self, line: str, cell: str) -> None:
        """`%%breakeven` for all GPUs, `%%breakeven h100-sxm "RTX 4090"` for some.

        The recording stays in the notebook as `_breakeven`.
        """
        with record() as work:
            result: Any = self.shell.run_cell(cell)
        self.shell.user_ns["_breakeven"] = work
        if result.success:
            display(work.estimate(shlex.split(line) or None))
