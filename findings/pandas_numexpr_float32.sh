#!/bin/sh
# pandas: with numexpr installed, arithmetic of a float32 column with a float32 or Python number gives float64 above a million
# elements, and float32 below.
#
# pandas 3.1.1, numexpr 2.14.2, NumPy 2.4.6, CPython 3.11. (With numexpr 2.14.1 all is float32.) pandas hands long columns to numexpr where it is installed, for which a
# number beside an array is a double; short ones go to NumPy, whose rules keep float32. So the type of a result, its memory and
# the precision of what follows depend on the number of rows and on a package that no line of the program names. Who tries a
# program on a sample and runs it on all rows moves twice the bytes there, and on a GPU computes in the slow type.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet pandas==3.1.1 numexpr==2.14.2 numpy==2.4.6
"$folder/venv/bin/python" - <<'PYTHON'
import numpy as np
import pandas as pd

seen = {}
for rows in (900_000, 1_100_000):
    column = pd.Series(np.ones(rows, dtype="float32"))
    seen[rows, "column * 2.5"] = (column * 2.5).dtype.name
    seen[rows, "column * np.float32(2)"] = (column * np.float32(2)).dtype.name
    seen[rows, "column + column"] = (column + column).dtype.name
for (rows, expression), dtype in seen.items():
    print(f"{rows:>9,} rows  {expression:24} {dtype}")
long = {"column * 2.5": "float64", "column * np.float32(2)": "float64", "column + column": "float32"}
expected = {(900_000, name): "float32" for name in long} | {(1_100_000, name): dtype for name, dtype in long.items()}
assert seen == expected, "this has changed"
PYTHON
