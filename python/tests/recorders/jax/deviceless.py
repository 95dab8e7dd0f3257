"""Writes `kernels.csv`: what XLA's own compiler for GPUs makes of `programs.py`, on a machine without a GPU.

    python deviceless.py TARGET.txtpb > kernels.csv

Wants jax-cuda12-pjrt, jax-cuda12-plugin and nvidia-cuda-nvcc-cu12 beside JAX, and a GPU's description as XLA keeps
them (openxla/xla, xla/backends/gpu/target_config/specs). Each function is compiled in a process of its own: without ptxas, or
with a description that lacks its versions, the compiler ends the process.
"""

from __future__ import annotations

import collections
import os
import re
import subprocess
import sys

FLAGS = "--xla_gpu_autotune_level=0 --xla_gpu_enable_triton_gemm=false --xla_gpu_enable_cub_radix_sort=false"
#: Instructions that launch something, of scheduled code.
_LAUNCHES = (
    "fusion|custom-call|while|copy|sort|reduce|dot|convolution|call|conditional|scatter|gather|fft|triangular-solve"
    "|cholesky|rng|dynamic-update-slice|transpose|select-and-scatter|reduce-window|topk"
)


def kernels(text: str) -> int:
    """Launches of a compiled module: loops of known length multiplied out, others for one round, the last branch."""
    computations: dict[str, list[str]] = collections.defaultdict(list)
    name = ""
    for line in text.split("\n"):
        if begins := re.match(r"^(ENTRY )?%([\w.\-]+) \(", line):
            name = "ENTRY" if begins[1] else begins[2]
        elif line.startswith("  "):
            computations[name].append(line)

    def count(computation: str) -> int:
        return sum(launches(line) for line in computations[computation])

    def launches(line: str) -> int:
        found = re.search(rf" = .*? ({_LAUNCHES})\(", line)
        if found is None:
            return 0
        called = dict(re.findall(r"(\w+)=%([\w.\-]+)", line))
        if found[1] == "while":
            known = re.search(r'known_trip_count":\{"n":"(\d+)"', line)
            if known:
                return int(known[1]) * count(called["body"])
            return count(called["body"]) + 2 * count(called["condition"])
        if found[1] == "call":
            return count(called["to_apply"])
        if found[1] == "conditional":
            return count(called.get("false_computation") or re.findall(r"%([\w.\-]+)", line)[-1])
        return 1

    return count("ENTRY")


def _one(name: str, target: str) -> None:
    import jax
    import programs
    from jax.experimental import topologies
    from jax.sharding import SingleDeviceSharding

    with open(target) as file:
        topology = topologies.get_topology_desc("gpu", "cuda", topology="1x1x1", target_config=file.read())
    place = SingleDeviceSharding(topology.devices[0])
    function, arguments = programs.PROGRAMS[name]
    shapes = jax.tree_util.tree_map(lambda s: jax.ShapeDtypeStruct(s.shape, s.dtype, sharding=place), arguments)
    print(f"{name},{kernels(jax.jit(function).lower(*shapes).compile().as_text())}")


def _all(target: str) -> None:
    import programs

    env = os.environ | {"JAX_PLATFORMS": "cpu", "XLA_FLAGS": FLAGS}
    for name in programs.PROGRAMS:
        done = subprocess.run([sys.executable, __file__, target, name], env=env, capture_output=True, text=True)
        print(done.stdout.strip() or f"# {name}: {done.stderr.strip().splitlines()[-1:]}", flush=True)


if __name__ == "__main__":
    if len(sys.argv) > 2:
        _one(sys.argv[2], sys.argv[1])
    else:
        _all(sys.argv[1])
