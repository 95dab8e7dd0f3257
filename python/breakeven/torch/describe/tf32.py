"""Products that a GPU computes in TF32 where the script allows it."""

from __future__ import annotations

from ..session import session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

#: Ops that a GPU does in TF32 where the script allows that, by what it allows it for.
PRODUCTS = {
    f"aten.{name}": kind
    for kind, names in {
        "matmul": "mm addmm _addmm_activation bmm baddbmm addbmm linear",
        "conv": "convolution _convolution convolution_backward",
        "rnn": "mkldnn_rnn_layer mkldnn_rnn_layer_backward",
    }.items()
    for name in names.split()
}
_FLOAT32, _TF32 = 11, 202


def in_tf32(kind: str) -> bool:
    """Whether the script lets such products of float32 be computed in TF32 on GPUs that can: convolutions and recurrent
    layers it does unless it says otherwise. Asks below what warns."""
    core = session.torch._C
    if not core._get_cudnn_enabled():
        kind = "matmul"
    getter = getattr(core, "_get_fp32_precision_getter", None)
    if getter is not None:
        return bool(getter("cuda", kind) == "tf32")
    return bool(core._get_cublas_allow_tf32() if kind == "matmul" else core._get_cudnn_allow_tf32())


def shortened(arrays: list[Any]) -> list[Any]:
    return [(_TF32, *array[1:]) if array[0] == _FLOAT32 else array for array in arrays]
