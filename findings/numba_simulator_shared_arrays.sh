#!/bin/sh
# Numba: in the CUDA simulator two shared arrays that are declared on one source line are one array, without a word.
#
# numba 0.68.1, NumPy 2.4.6, CPython 3.11, NUMBA_ENABLE_CUDASIM=1. The simulator knows a shared array by the line that declares it;
# compiled for a GPU each call of `cuda.shared.array` has memory of its own. A kernel that is right on a GPU gives wrong
# numbers in the simulator, and one that is tested there may be "mended" until it is wrong on a GPU.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet numba==0.68.1 numpy==2.4.6
cat > "$folder/kernels.py" <<'PYTHON'
import numba
import numpy as np
from numba import cuda


@cuda.jit
def one_line(out):
    a, b = cuda.shared.array(4, numba.float32), cuda.shared.array(4, numba.float32)
    i = cuda.threadIdx.x
    a[i] = 1.0
    b[i] = 2.0
    cuda.syncthreads()
    out[i] = a[i] + b[i]


@cuda.jit
def two_lines(out):
    a = cuda.shared.array(4, numba.float32)
    b = cuda.shared.array(4, numba.float32)
    i = cuda.threadIdx.x
    a[i] = 1.0
    b[i] = 2.0
    cuda.syncthreads()
    out[i] = a[i] + b[i]


seen = {}
for name, kernel in (("on one line", one_line), ("on two lines", two_lines)):
    out = np.zeros(4, np.float32)
    kernel[1, 4](out)
    seen[name] = out.tolist()
    print(f"1 + 2, arrays declared {name}: {seen[name]}")
assert seen == {"on one line": [4.0] * 4, "on two lines": [3.0] * 4}, "this has changed"
PYTHON
NUMBA_ENABLE_CUDASIM=1 "$folder/venv/bin/python" "$folder/kernels.py"
