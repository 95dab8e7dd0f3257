"""FLOP of known networks: forward and training step against counts by hand, and against PyTorch's own counter where it
is right.

Counts by hand are of products, convolutions and attention, as everybody counts them; element-wise work is left out.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

for package in ("torch", "torchvision", "transformers"):
    if importlib.util.find_spec(package) is None:
        pytest.skip(f"{package} is not installed: FLOP of networks are not tested", allow_module_level=True)

NETWORKS = Path(__file__).parent / "programs" / "pytorch" / "torch_networks.py"


NAMES = ["resnet50", "vit_b_16", "bert", "gpt2", "unet", "lstm", "gru"]
#: Why PyTorch's counter is not asked about a network.
COUNTER_IS_WRONG = {
    "gpt2": "it counts all pairs of causal attention, where half of them are computed",
    "lstm": "it counts nothing of an LSTM's fused op",
    "gru": "it counts the products of the CPU, which leave out what needs no gradient",
}


def _printed(command: list[str], **environment: str) -> dict[str, float]:
    """What the program printed: its counts."""
    env = os.environ | {"OMP_NUM_THREADS": "2"} | environment
    done = subprocess.run([sys.executable, *command], env=env, capture_output=True, timeout=300)
    assert done.returncode == 0, done.stderr.decode()
    told: dict[str, float] = json.loads(done.stdout)
    return told


def _flop(entry: dict[str, Any]) -> float:
    """As the families count: products, convolutions (twice for both gradients), attention (5 of 2 products)."""
    kind, dims = next(iter(entry["op"].items())) if isinstance(entry["op"], dict) else (entry["op"], {})
    if kind == "matmul":
        return 2.0 * dims["m"] * dims["n"] * dims["k"] * dims["batch"]
    if kind == "convolution":
        output, kernel = 1, 1
        for size in dims["output"]:
            output *= size
        for size in dims["kernel"]:
            kernel *= size
        both = 2 if dims["pass"] == "backward" else 1
        return both * 2.0 * dims["batch"] * output * dims["cout"] * (dims["cin"] / dims["groups"]) * kernel
    if kind == "attention":
        pairs = dims["q_len"] * dims["kv_len"]
        if dims["causal"]:
            pairs = dims["q_len"] * (dims["q_len"] + 1) / 2
        products = 2 if dims["pass"] == "forward" else 5
        return products * 2.0 * dims["batch"] * dims["heads"] * pairs * dims["head_dim"]
    if kind == "recurrent":
        gates = {"lstm": 4, "gru": 3, "rnn": 1}[dims["cell"]]
        both = 2 if dims["pass"] == "backward" else 1
        return both * 2.0 * dims["rows"] * gates * dims["hidden"] * (dims["input"] + dims["hidden"])
    return 0.0


@dataclass(frozen=True)
class Recorded:
    """FLOP of a network's products as recorded, and as its program counts them by hand."""

    name: str
    forward: float
    backward: float
    by_hand: dict[str, float]
    opaque: list[str]


@pytest.fixture(scope="module", params=NAMES)
def network(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    folder = tmp_path_factory.mktemp(request.param)
    command = ["-m", "breakeven._run", str(NETWORKS), request.param]
    by_hand = _printed(command, BREAKEVEN_RECORD_DIR=str(folder))
    [file] = folder.glob("*.breakeven.json")
    ops = json.loads(file.read_text())["ops"]
    forward, backward = (sum(_flop(e) * e["count"] for e in ops if e.get("phase") == p) for p in ("forward",
        "backward"))
    # The program runs inference once, then a training step.
    return Recorded(request.param, forward / 2, backward, by_hand, [e["name"] for e in ops if e["op"] == "opaque"])


def test_counts_by_hand(network: Recorded) -> None:
    assert network.forward == pytest.approx(network.by_hand["forward"], rel=0.005)
    assert network.backward == pytest.approx(network.by_hand["backward"], rel=0.005)
    assert not network.opaque


def test_pytorchs_own_counter(network: Recorded) -> None:
    if network.name in COUNTER_IS_WRONG:
        pytest.skip(f"PyTorch's counter is wrong on {network.name}: {COUNTER_IS_WRONG[network.name]}")
    counter = _printed([str(NETWORKS), network.name, "counter"])
    if network.name in ("vit_b_16", "bert") and not counter["knows_attention"]:
        pytest.skip("this PyTorch's counter leaves out attention on the CPU")
    assert network.forward == pytest.approx(counter["forward"], rel=1e-6)
    assert network.backward == pytest.approx(counter["backward"], rel=1e-6)


@pytest.mark.parametrize("fake", ["0", "1"])
def test_inference_mode_hides_nothing(fake: str, tmp_path: Path) -> None:
    """Autograd takes composite ops apart; where it is off altogether they are seen in parts all the same."""
    program, seen = str(NETWORKS.parent / "torch_inference.py"), {}
    for mode in ("no_grad", "inference"):
        env = {"BREAKEVEN_RECORD_DIR": str(tmp_path / mode), "BREAKEVEN_FAKE": fake}
        (tmp_path / mode).mkdir()
        printed = _printed(["-m", "breakeven._run", program, mode], **env)
        assert fake == "1" or printed == _printed([program, mode])
        [file] = (tmp_path / mode).glob("*.breakeven.json")
        ops = json.loads(file.read_text())["ops"]
        seen[mode] = sorted((e["name"], json.dumps(e["op"]), e["count"]) for e in ops if e["op"] != "view")
    assert seen["inference"] == seen["no_grad"] and not [row for row in seen["inference"] if '"opaque"' in row]


KINDS_OF_CONVOLUTION = """
import torch
from torch import nn

layers = [
    nn.Conv2d(8, 16, 3, padding=2, dilation=2, groups=4),
    nn.ConvTranspose2d(16, 8, 4, stride=2, padding=1, groups=2),
    nn.Conv2d(8, 8, 3, padding=1, groups=8),
    nn.ConvTranspose2d(8, 4, 3, stride=2, output_padding=1),
    nn.Conv2d(4, 5, (1, 7), padding="same"),
]
flop = []
for layer in layers:
    def count(layer, given, made):
        kernel = layer.weight[0, 0].numel()
        # Each element of the one side meets so many of the other.
        many, others = (given[0], layer.out_channels) if layer.transposed else (made, layer.in_channels)
        flop.append(2 * many.numel() * others // layer.groups * kernel)
    layer.register_forward_hook(count)
net = nn.Sequential(*layers).to(memory_format=torch.channels_last)
net(torch.randn(3, 8, 33, 31).to(memory_format=torch.channels_last)).sum().backward()
print([sum(flop), 2 * sum(flop) - flop[0]])
"""


def test_grouped_dilated_and_transposed_convolutions(tmp_path: Path) -> None:
    script = tmp_path / "convolutions.py"
    script.write_text(KINDS_OF_CONVOLUTION)
    [forward, backward] = _printed(["-m", "breakeven._run", str(script)], BREAKEVEN_RECORD_DIR=str(tmp_path))
    [file] = tmp_path.glob("*.breakeven.json")
    entries = json.loads(file.read_text())["ops"]
    convolutions = [e for e in entries if isinstance(e["op"], dict) and "convolution" in e["op"]]
    seen = [sum(_flop(e) * e["count"] for e in convolutions if e.get("phase") == now) for now in ("forward",
        "backward")]
    assert seen == [forward, backward]


BIASED = """
import torch
from torch import nn

net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.Conv2d(8, 8, 3, groups=8), nn.Conv2d(8, 4, 1, bias=False), nn.ConvTranspose2d(4, 2, 2, 2))
net(torch.randn(2, 3, 8, 8)).sum().backward()
"""


def test_biases_of_convolutions_are_calls_of_their_own(tmp_path: Path) -> None:
    script = tmp_path / "biased.py"
    script.write_text(BIASED)
    env = os.environ | {"BREAKEVEN_RECORD_DIR": str(tmp_path)}
    subprocess.run([sys.executable, "-m", "breakeven._run", str(script)], env=env, check=True)
    [file] = tmp_path.glob("*.breakeven.json")
    workload = json.loads(file.read_text())
    told = [(e["name"], e["shapes"], e["dtype"]) for e in workload["ops"] if workload["sites"][e["site"]]["line"] == 6]
    # Added in the kernel where each channel is by itself; no bias, no gradient of one.
    assert [row[1:] for row in told if row[0] == "aten.add_"] == [
        ("[2,8,6,6] [8,1,1] -> [2,8,6,6]", "f32"), ("[2,2,8,8] [2,1,1] -> [2,2,8,8]", "f32"),
    ]  # fmt: skip
    gradients = sorted(row[1] for row in told if row[0] == "aten.sum" and not row[1].endswith("[]"))
    assert gradients == ["[2,2,8,8] -> [2]", "[2,8,4,4] -> [8]", "[2,8,6,6] -> [8]"]
