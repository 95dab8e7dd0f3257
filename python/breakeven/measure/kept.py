"""What a run leaves behind to be compared: the arrays in `__main__`, as files of NumPy's."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

#: No more than so much is written of one run, bytes.
MOST_BYTES = 1 << 30


def keep(names: dict[str, Any], folder: Path, most: int = MOST_BYTES) -> tuple[dict[str, str], list[str]]:
    """Write the arrays among `names` to `folder`; their types of elements, and in words what was left out."""
    numpy = sys.modules.get("numpy")
    if numpy is None:
        return {}, []
    kept: dict[str, str] = {}
    left_out: list[str] = []
    left = most
    for name, value in sorted(names.items()):
        if name.startswith("_") or not name.isidentifier():
            continue
        array, dtype = _array(numpy, value)
        if array is None:
            continue
        if array.nbytes > left:
            left_out.append(f"{name}: {array.nbytes} bytes are more than is kept")
            continue
        try:
            folder.mkdir(exist_ok=True)
            with open(folder / f"{name}.npy", "wb") as file:
                numpy.save(file, array, allow_pickle=False)
        except (OSError, ValueError) as error:
            (folder / f"{name}.npy").unlink(missing_ok=True)
            left_out.append(f"{name}: {error}")
            continue
        left -= array.nbytes
        kept[name] = dtype
    return kept, left_out


def _array(numpy: Any, value: Any) -> tuple[Any, str]:
    """A value as an array of the host, and its type of elements; None where it is no array."""
    kind = type(value)
    home = kind.__module__.partition(".")[0]
    try:
        if home == "torch" and hasattr(value, "detach") and hasattr(value, "untyped_storage"):
            plain = value.detach().cpu()
            if str(value.dtype) in ("torch.bfloat16",) or "float8" in str(value.dtype):
                plain = plain.float()
            return plain.numpy(), str(value.dtype).removeprefix("torch.")
        if home in ("jaxlib", "jax") and hasattr(value, "block_until_ready"):
            array = numpy.asarray(value)
            return (array.astype("float32") if array.dtype.kind == "V" else array), str(value.dtype)
        if home == "tensorflow" and hasattr(value, "numpy"):
            return numpy.asarray(value.numpy()), value.dtype.name
        if hasattr(kind, "on_device"):  # the port's
            host = value.__array__()
            return host, str(host.dtype)
        if home in ("cupy", "cupyx") and hasattr(value, "get"):
            value = value.get()
        if hasattr(value, "toarray") and hasattr(value, "nnz") and value.shape[0] * value.shape[1] <= 1 << 24:
            value = numpy.asarray(_matrix(value).toarray())
        if isinstance(value, (numpy.ndarray, numpy.generic)) and value.dtype.kind in "biufcSUMm":
            return numpy.asarray(value), str(value.dtype)
    except Exception:  # one that cannot be read says so where the script reads it
        return None, ""
    return None, ""


def _matrix(value: Any) -> Any:
    """A sparse matrix on the host."""
    held: Any = getattr(value, "_d", None) if "breakeven" in type(value).__module__ else value
    return held.get() if hasattr(held, "get") and not type(held).__module__.startswith("scipy") else held
