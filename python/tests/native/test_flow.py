"""Where values are: what a GPU port would copy in, and what the host reads."""

import io

import numpy as np

from breakeven import _native

from .conftest import Recording


def copied_in(recording: Recording, name: str) -> tuple[int, int]:
    ops = recording.ops(name)
    return sum(op["host_input_bytes"] for op in ops), sum(op["host_input_count"] for op in ops)


def test_lists_are_copied_in_once(recording: Recording) -> None:
    a = np.array([1.0, 2.0, 3.0])
    for _ in range(5):
        a + 1
    recording.stop()
    assert copied_in(recording, "numpy.add") == (24, 1)


def test_arrays_made_on_the_device_stay_there(recording: Recording) -> None:
    a = np.arange(10.0)
    b = np.random.default_rng(1).normal(size=10)
    np.ones(10) * (a + b)
    recording.stop()
    assert copied_in(recording, "numpy.add") == (0, 0)
    assert copied_in(recording, "numpy.multiply") == (0, 0)


def test_a_view_is_its_owners_memory(recording: Recording) -> None:
    a = np.array([[1.0, 2.0], [3.0, 4.0]])
    a[0] + 1
    a.T + 1
    recording.stop()
    assert copied_in(recording, "numpy.add") == (32, 1)


def test_memory_from_elsewhere_is_the_hosts(recording: Recording) -> None:
    a = np.frombuffer(bytes(80))
    a + 1
    recording.stop()
    assert copied_in(recording, "numpy.add") == (80, 1)


def test_what_the_host_may_have_written_is_copied_again(recording: Recording) -> None:
    a = np.zeros(4)
    a + 1
    io.BytesIO(bytes(32)).readinto(a)
    a + 1
    recording.stop()
    assert copied_in(recording, "numpy.add") == (32, 1)


def test_values_read_on_the_host(recording: Recording) -> None:
    a = np.ones(1) + 1
    float(a.reshape(()))
    int(a.reshape(()))
    bool(a)
    str(a)
    repr(a)
    a.tolist()
    a.item()
    a[0]
    list(a)
    memoryview(a)
    recording.stop()
    read = {op["name"] for op in recording.workload["ops"] if "host_read" in op["op"]}
    assert {name: recording.count(name) for name in read} == {
        "numpy.ndarray.__float__": 1,
        "numpy.ndarray.__int__": 1,
        "numpy.ndarray.__bool__": 1,
        "numpy.ndarray.__str__": 1,
        "numpy.ndarray.__repr__": 1,
        "numpy.ndarray.tolist": 1,
        "numpy.ndarray.item": 2,
        "numpy.ndarray.__iter__": 1,
        "numpy.ndarray.__buffer__": 1,
    }


def test_what_never_left_the_host_is_not_read_back(recording: Recording) -> None:
    a = np.array([1.0, 2.0])
    str(a)
    a[0]
    recording.stop()
    assert not any("host_read" in op["op"] for op in recording.workload["ops"])


def test_a_reduction_is_read_when_its_value_is_used(recording: Recording) -> None:
    a = np.ones(10)
    total = a.sum()
    recording_total = total * 2
    if total > 3:
        pass
    if total > 4:  # read already
        pass
    recording.stop()
    assert recording_total == 20
    assert recording.count("numpy.ndarray.sum") == 1
    assert recording.count("numpy.ndarray.__bool__") == 1


def test_the_peak_is_of_live_buffers(recording: Recording) -> None:
    a = np.zeros(1000)
    b = a + 1
    del a
    c = b + 1
    del b, c
    recording.stop()
    assert recording.workload["program"]["peak_bytes"] in (16_000, 16_008)  # NumPy makes the 1 an array for a moment


def test_resized_buffers_are_followed(recording: Recording) -> None:
    a = np.zeros(10)
    a.resize(1000, refcheck=False)
    a + 1
    recording.stop()
    assert recording.workload["program"]["peak_bytes"] in (16_000, 16_008)  # NumPy makes the 1 an array for a moment


def test_buffers_are_grouped_by_who_made_them(recording: Recording) -> None:
    a = np.zeros(100)
    for _ in range(50):
        a = a + 1
    recording.stop()
    names = [op["name"] for op in recording.workload["ops"]]
    groups = {names[g["producer"]]: g for g in recording.workload["buffers"] if "producer" in g}
    assert groups["numpy.add"]["count"] == 50
    assert groups["numpy.add"]["peak_live"] == 2
    assert groups["numpy.add"]["bytes"] == 800


def test_arrays_from_before_are_the_hosts() -> None:
    a = np.ones(10) + 1
    _native.reset()
    recording = Recording()
    _native.start()
    a + 1
    recording.stop()
    assert copied_in(recording, "numpy.add") == (80, 1)
