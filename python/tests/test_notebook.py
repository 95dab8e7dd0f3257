"""`%%breakeven` in a real kernel."""

from __future__ import annotations

import pytest

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")


def outputs(*cells: str) -> list[list[dict[str, object]]]:
    """What each cell of a notebook puts out."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3"}
    nbclient.NotebookClient(notebook, timeout=120, allow_errors=True).execute()
    return [cell.outputs for cell in notebook.cells]


def test_the_cell_magic() -> None:
    loaded, ran, after, failed = outputs(
        "%load_ext breakeven\nimport numpy as np",
        "%%breakeven h100-sxm\na = np.ones((500, 500))\nb = a @ a\nprint(b[0, 0])",
        "print(sum(op['count'] for op in _breakeven.to_dict()['ops'] if 'matmul' in op['op']), b.shape)",
        "%%breakeven\n1 / 0",
    )
    assert loaded == []
    # What is printed and what is displayed reach the notebook by ways of their own, in either order.
    assert [part["text"] for part in ran if part["output_type"] == "stream"] == ["500.0\n"]
    shown = [part["data"] for part in ran if part["output_type"] == "display_data"]
    assert len(shown) == 1 and "<pre" in shown[0]["text/html"]  # type: ignore[index]
    assert after[0]["text"] == "1 (500, 500)\n"
    assert [part["output_type"] for part in failed] == ["error"]
    assert failed[0]["ename"] == "ZeroDivisionError"
