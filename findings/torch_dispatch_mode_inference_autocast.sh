#!/bin/sh
# PyTorch: a TorchDispatchMode that only passes ops on changes the precision of what `torch.autocast` computes in inference mode.
#
# torch 2.15.0, CPython 3.11, CPU. Under `inference_mode` a function that is made of other ops (`einsum`, `nn.functional.interpolate`)
# reaches the mode whole, below autocast. What the mode then calls runs with autocast excluded, so that the products within are computed in
# float32 where they are in bfloat16 without the mode, and under `no_grad` with it. Whoever profiles or records inference by a mode
# measures, and gets, other numbers.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet torch==2.15.0 numpy==2.4.6
"$folder/venv/bin/python" - <<'PYTHON'
import torch
from torch.utils._python_dispatch import TorchDispatchMode


class Passes(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


a, b = torch.ones(4, 5), torch.ones(5, 6)


def product():
    with torch.autocast("cpu", torch.bfloat16):
        return torch.einsum("ij,jk->ik", a, b).dtype


seen = {}
for name, gradients in (("no_grad", torch.no_grad), ("inference_mode", torch.inference_mode)):
    with gradients():
        seen[name, "alone"] = product()
        with Passes():
            seen[name, "in a mode"] = product()
for key, dtype in seen.items():
    print(*key, dtype)
expected = dict.fromkeys(seen, torch.bfloat16) | {("inference_mode", "in a mode"): torch.float32}
assert seen == expected, "this has changed"
PYTHON
