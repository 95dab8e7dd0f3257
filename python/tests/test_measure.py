"""The measuring kit on a CPU."""

from __future__ import annotations

import csv
import importlib.util
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

KIT = Path(__file__).parents[2] / "accuracy" / "measure"


def kit(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, str(KIT), "--device", "cpu", *arguments], capture_output=True, text=True)


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("kit") / "cpu.csv"
    done = kit("--framework", "numpy", "--only", "scan", "--core", "--output", str(path))
    assert done.returncode == 0, done.stderr
    return path


def test_rows_have_what_the_tables_have(measured: Path) -> None:
    found = rows(measured)
    assert {row["op"] for row in found} == {"cumsum"} and {row["l2"] for row in found} == {"hot", "cold"}
    for row in found:
        assert float(row["latency_us_p10"]) <= float(row["latency_us"]) <= float(row["latency_us_p90"])
        assert row["versions"].startswith("numpy ") and row["gpu"] and row["date"] and row["host"]


def test_what_is_there_is_not_measured_again_and_a_cut_line_is(measured: Path) -> None:
    before = measured.read_bytes()
    assert kit("--framework", "numpy", "--only", "scan", "--core", "--output", str(measured)).returncode == 0
    assert measured.read_bytes() == before
    measured.write_bytes(before[:-20])
    assert kit("--framework", "numpy", "--only", "scan", "--core", "--output", str(measured)).returncode == 0
    again = rows(measured)
    assert len(again) == before.count(b"\n") - 1 and all(row["latency_us"] for row in again)


def test_a_budget_stops_and_the_next_run_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "cpu.csv"
    done = kit("--framework", "numpy", "--only", "sort", "--core", "--budget", "0.0001", "--output", str(path))
    assert done.returncode == 0 and "run again to go on" in done.stderr


def test_the_kernels_of_a_table(tmp_path: Path) -> None:
    table, path = tmp_path / "table.csv", tmp_path / "cpu.csv"
    table.write_text("op,b,m,n,k,h,dtype\nbmm,2,8,9.0,10,,f32\nmulu,3,,,,70,f32\nbmm,2,8,9,10,,f32\n"
                     "frobnicate,,,,,1,f32\n")
    assert kit("--framework", "numpy", "--table", str(table), "--output", str(path)).returncode == 0
    found = rows(path)
    assert [(row["op"], row["n"], row["h"], row["l2"]) for row in found] == [
        ("bmm", "9", "", "hot"), ("mulu", "", "70", "hot"), ("frobnicate", "", "1", "hot")]
    assert found[0]["latency_us"] and found[1]["latency_us"] and "no such op" in found[2]["note"]


@pytest.mark.parametrize(("text", "said"), [
    ("op,b,h\nadd,1,2\n", "no columns op and dtype"), ("op,b,h,dtype\nadd,1,5,f32\nadd,1,many,f32\n", "line 3"),
    ("op,b,h,dtype\nadd,-1,5,f32\n", "at least 1"), ("op,b,h,dtype\nadd,1,inf,f32\n", "line 2"), ("", "it has none"),
])
def test_bad_tables(tmp_path: Path, text: str, said: str) -> None:
    table = tmp_path / "table.csv"
    table.write_text(text)
    done = kit("--framework", "numpy", "--table", str(table), "--output", str(tmp_path / "cpu.csv"))
    assert done.returncode == 2 and said in done.stderr, done.stderr


def test_bad_arguments_and_foreign_files(tmp_path: Path) -> None:
    assert kit("--budget", "nan").returncode == 2
    assert kit("--only", "frobnicate").returncode == 2
    foreign = tmp_path / "other.csv"
    foreign.write_text("a,b\n1,2\n")
    done = kit("--framework", "numpy", "--output", str(foreign))
    assert done.returncode == 1 and "other columns" in done.stderr and foreign.read_text() == "a,b\n1,2\n"


def test_every_case_runs_or_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(KIT))
    from backends import Backend, found  # type: ignore[import-not-found]
    from cases import cases  # type: ignore[import-not-found]

    backends: list[Backend] = found("cpu")
    assert [b.name for b in backends if b.name == "numpy"]
    seen = set()
    for case in cases("cpu"):
        for backend in backends:
            if (backend.name, case.op, case.dtype) in seen:
                continue
            seen.add((backend.name, case.op, case.dtype))
            small = {name: min(size, 64) for name, size in case.dims.items()}
            run = backend.prepare(case.op, case.dtype, small)
            assert run is None or run() is not False
    assert len(seen) > 60


def test_costs_have_the_form_of_a_port_profile(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(KIT))
    from backends import found
    from costs import costs  # type: ignore[import-not-found]

    for what, p10, p50, p90, basis, source in costs(found("cpu", "numpy")[0], calls=20):
        assert what.startswith("dispatch.") and 0 < p10 <= p50 <= p90 and basis == "measured" and "," not in source


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="no PyTorch here")
def test_torch_on_a_cpu(tmp_path: Path) -> None:
    path = tmp_path / "torch.csv"
    assert kit("--framework", "torch", "--only", "attention", "--core", "--output", str(path)).returncode == 0
    assert all(row["latency_us"] for row in rows(path))


class Board:
    """A GPU that is not there: a clock that each launch moves on, behind the parts of PyTorch that the kit asks for."""

    def __init__(self, launch_s: float) -> None:
        self.now, self.launch_s, self.dead = 0.0, launch_s, False
        self.__version__, self.version = "2.9", SimpleNamespace(cuda="12.8", hip=None)
        self.backends = SimpleNamespace(
            cudnn=SimpleNamespace(allow_tf32=True), cuda=SimpleNamespace(matmul=SimpleNamespace(allow_tf32=True))
        )
        self.cuda = SimpleNamespace(
            get_device_name=lambda: "Board", synchronize=self.synchronise, Event=lambda enable_timing: self.event()
        )
        self.int8 = "int8"

    def run(self) -> None:
        self.now += self.launch_s

    def synchronise(self) -> None:
        if self.dead:
            raise RuntimeError("an illegal memory access was encountered")

    def empty(self, n: int, dtype: str, device: str) -> SimpleNamespace:
        return SimpleNamespace(zero_=self.run)

    def event(self) -> SimpleNamespace:
        event = SimpleNamespace(at=0.0)
        event.record = lambda: setattr(event, "at", self.now)
        event.elapsed_time = lambda end: 1e3 * (end.at - event.at)
        return event


def on_board(monkeypatch: pytest.MonkeyPatch, launch_s: float) -> tuple[Any, Board]:
    monkeypatch.syspath_prepend(str(KIT))
    from backends import Backend  # type: ignore[import-not-found]

    board = Board(launch_s)
    backend = Backend("torch", board, "cuda")
    monkeypatch.setattr(backend, "_call", lambda *_: board.run)
    return backend, board


def test_on_a_gpu_the_queue_never_fills_and_fp32_is_fp32(monkeypatch: pytest.MonkeyPatch) -> None:
    backend, board = on_board(monkeypatch, 2e-6)
    from backends import QUEUED, measure

    run = backend.prepare("matmul", "f32", {})
    row = measure(backend, run, False, lambda: None)
    assert row["latency_us"] == pytest.approx(2.0) and 1 < row["launches"] <= QUEUED
    assert not board.backends.cudnn.allow_tf32 and not board.backends.cuda.matmul.allow_tf32
    # Cold: as long as the writing between the runs takes is taken off.
    assert measure(backend, board.run, True, lambda: None)["latency_us"] == pytest.approx(2.0)
    with pytest.raises(ValueError, match="too short"):
        measure(backend, lambda: None, True, lambda: None)


def test_a_gpu_that_is_lost_ends_the_run_and_blames_no_case(monkeypatch: pytest.MonkeyPatch) -> None:
    backend, board = on_board(monkeypatch, 2e-6)
    spec = importlib.util.spec_from_file_location("kit_main", KIT / "__main__.py")
    assert spec is not None and spec.loader is not None
    main = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(main)
    from cases import cases

    board.dead = True
    with pytest.raises(main.Lost, match="illegal"):
        main.take(backend, cases("cuda")[0], False, lambda: None)
