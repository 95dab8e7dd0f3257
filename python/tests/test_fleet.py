"""`breakeven.fleet`: the command's digits, batch by batch, also through Ray."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import breakeven

pyarrow = pytest.importorskip("pyarrow")


def _log(jobs: int, seed: int = 7) -> Any:
    """A log of so many jobs, one row each, of which some never use their GPUs."""
    draw = random.Random(seed)
    gpus = [draw.choice([0, 1, 2, 4]) for _ in range(jobs)]
    busy = [draw.choice([0, 0, 12, 55, 98]) for _ in range(jobs)]
    start = [1_760_000_000 + 37 * n for n in range(jobs)]
    elapsed = [draw.randrange(30, 90_000) for _ in range(jobs)]
    return pyarrow.table({
        "JobID": [str(1000 + n) for n in range(jobs)],
        "User": [f"user{draw.randrange(50)}" for _ in range(jobs)],
        "Account": [f"lab{draw.randrange(9)}" for _ in range(jobs)],
        "Partition": [draw.choice(["a100", "cpu"]) for _ in range(jobs)],
        "JobName": [f"train-{n}" for n in range(jobs)],
        "State": [draw.choice(["COMPLETED", "FAILED", "CANCELLED by 7"]) for _ in range(jobs)],
        "Submit": [s - draw.randrange(9000) for s in start],
        "Start": start,
        "End": [s + e for s, e in zip(start, elapsed)],
        "ElapsedRaw": elapsed,
        "AllocCPUS": [4 * max(n, 1) for n in gpus],
        "AllocTRES": [f"cpu={4 * max(n, 1)},node=1" + (f",gres/gpu:a100={n}" if n else "") for n in gpus],
        "TRESUsageInMax": [f"gres/gpumem={b * 100}M,gres/gpuutil={b}" if n else "" for n, b in zip(gpus, busy)],
        "TRESUsageInAve": [f"gres/gpuutil={b // 2}" if n else "" for n, b in zip(gpus, busy)],
    })


def _command(table: Any, folder: Path) -> tuple[Any, dict[str, Any]]:
    """The rows and the report that the command gives."""
    parquet = pytest.importorskip("pyarrow.parquet")
    beside = Path(sys.executable).with_name("breakeven")
    command = str(beside) if beside.exists() else shutil.which("breakeven")
    if command is None:
        pytest.skip("needs the command `breakeven`")
    parquet.write_table(table, folder / "log.parquet")
    paths = [str(folder / "log.parquet"), "--out", str(folder / "jobs.parquet")]
    arguments = [command, "fleet", *paths, "--format", "json"]
    report = json.loads(subprocess.run(arguments, check=True, capture_output=True).stdout)
    return parquet.read_table(folder / "jobs.parquet"), report


def test_a_job_that_never_used_its_gpus_frees_them() -> None:
    table = pyarrow.table({
        "JobID": ["1", "2"],
        "State": ["COMPLETED", "COMPLETED"],
        "ElapsedRaw": [7200, 7200],
        "AllocTRES": ["cpu=8,gres/gpu=2", "cpu=8,gres/gpu=2"],
        "TRESUsageInMax": ["gres/gpumem=0,gres/gpuutil=0", ""],
    })
    jobs = breakeven.fleet(table, price=2.0)
    assert jobs["outcome"].to_pylist() == ["unused-gpus", "no-utilisation"]
    assert jobs["certain"].to_pylist() == [True, False]
    assert jobs["freed_usd_p50"].to_pylist() == [8.0, None]


def test_frames_give_frames_and_wrong_input_is_named() -> None:
    pandas = pytest.importorskip("pandas")
    frame = _log(20).to_pandas()
    assert list(breakeven.fleet(frame)["id"]) == list(frame["JobID"])
    with pytest.raises(ValueError, match="no job log"):
        breakeven.fleet(pandas.DataFrame({"TIMESTAMP": [1], "ContextTokens": [2]}))
    with pytest.raises(TypeError, match="not list"):
        breakeven.fleet([1, 2])


def test_rows_are_those_of_the_command(tmp_path: Path) -> None:
    table = _log(3000)
    rows, report = _command(table, tmp_path)
    jobs = breakeven.fleet(table)
    assert jobs.to_pydict() == rows.to_pydict()
    known = [hours for hours in jobs["gpu_hours"].to_pylist() if hours is not None]
    assert report["totals"]["gpu_hours"] == pytest.approx(sum(known), rel=1e-12)
    assert report["totals"]["jobs"] == len(jobs)


def test_ray_on_two_nodes_gives_the_same_digits(monkeypatch: pytest.MonkeyPatch) -> None:
    ray = pytest.importorskip("ray", reason="needs Ray for the cluster of two nodes")
    pytest.importorskip("ray.data", reason="needs Ray Data")
    from ray.cluster_utils import Cluster

    # A busy machine starts nodes slowly.
    monkeypatch.setenv("RAY_raylet_start_wait_time_s", "120")
    table = _log(5000)
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 2})
    try:
        cluster.add_node(num_cpus=2)
        ray.init(address=cluster.address, log_to_driver=False)
        assert len(ray.nodes()) == 2
        data = ray.data.from_arrow([table.slice(at, 500) for at in range(0, 5000, 500)])
        batches = data.map_batches(breakeven.fleet, batch_format="pyarrow", batch_size=500)
        found = pyarrow.concat_tables(ray.get(batches.to_arrow_refs()))
    finally:
        ray.shutdown()
        cluster.shutdown()
    assert found.sort_by("id").to_pydict() == breakeven.fleet(table).sort_by("id").to_pydict()
