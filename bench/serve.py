"""`breakeven serve` under load: connections that ask good and bad things by turns; what comes back, and its memory.

    python bench/serve.py [target/release/breakeven] [--connections 64] [--seconds 60]

An error is any answer that is not the one that its request deserves, and any connection that breaks. Exit code 1 where
there is one.
"""

import argparse
import asyncio
import collections
import json
import random
import re
import signal
import statistics
import subprocess
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HEAT = json.loads((ROOT / "docs/examples/heat.breakeven.json").read_text())


def post(path, body, kind="application/json", host="localhost"):
    body = body if isinstance(body, bytes) else json.dumps(body).encode()
    head = f"POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


def get(path, host="localhost"):
    return f"GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode()


ESTIMATE, KERNELS = "/api/v1/estimate", "/api/v1/kernels"
NUMBERS = {"numbers": {"flops": "10 TFLOP", "data": "1GB", "cpu_rate": "400GFLOP/s"}}
ROWS = [{"op": "matmul", "m": n, "n": n, "k": n} for n in range(1, 200)]
SENT = [
    (200, get("/")),
    (200, get("/gpus?name=h100")),
    (200, post(ESTIMATE, NUMBERS)),
    (200, post(ESTIMATE, NUMBERS | {"options": {"gpu": ["l4"]}})),
    (200, post(ESTIMATE, {"workload": HEAT})),
    (200, post(KERNELS, {"gpu": ["l4"], "rows": ROWS})),
    (400, post(ESTIMATE, b'{"numbers": {"flops": 1e4')),
    (400, post(ESTIMATE, b"[" * 100_000)),
    (400, post(ESTIMATE, {"numbers": {"flosp": 1}})),
    (422, post(ESTIMATE, {"numbers": {"flops": "12abc"}})),
    (422, post(ESTIMATE, {"numbers": {"flops": 1}, "options": {"gpu": ["zx81"]}})),
    (422, post(KERNELS, {"rows": ROWS})),
    (404, get("/../../etc/passwd")),
    (405, get(ESTIMATE)),
    (403, get("/", host="evil.example")),
    (413, post(ESTIMATE, b" " * (33 << 20))),
    (415, post(ESTIMATE, NUMBERS, kind="text/plain")),
    (431, get("/", host="localhost\r\nCookie: " + "x" * 20_000)),
]
# Large bodies cost the sender most: one in two hundred.
WEIGHTS = [0.1 if status == 413 else 1.0 for status, _ in SENT]


async def answer(reader):
    head = await reader.readuntil(b"\r\n\r\n")
    length = re.search(rb"\r\ncontent-length: (\d+)", head)
    body = await reader.readexactly(int(length[1]) if length else 0)
    return int(head.split()[1]), head, body


async def client(port, until, seed, seen, wrong, took):
    pick, writer = random.Random(seed), None
    while time.monotonic() < until:
        (wanted, request), begun = pick.choices(SENT, WEIGHTS)[0], time.monotonic()
        try:
            if writer is None:
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(request)
            await writer.drain()
            status, head, body = await asyncio.wait_for(answer(reader), 60)
        except (OSError, EOFError, TimeoutError) as error:
            wrong[f"{wanted}: {error!r}"] += 1
            writer = None
            continue
        seen[status] += 1
        took.append(time.monotonic() - begun)
        if status != wanted:
            wrong[f"{wanted}: {status} {body[:200]!r}"] += 1
        if b"connection: close" in head.lower():
            writer.close()
            writer = None
    if writer:
        writer.close()


def resident_mib(pid):
    kib = re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())[1]
    return int(kib) / 1024


async def load(port, pid, connections, seconds):
    seen, wrong, took, memory = collections.Counter(), collections.Counter(), [], []
    until = time.monotonic() + seconds
    clients = [client(port, until, seed, seen, wrong, took) for seed in range(connections)]
    running = asyncio.gather(*clients)
    while not running.done():
        memory.append(resident_mib(pid))
        await asyncio.wait([running], timeout=seconds / 12)
    memory.append(resident_mib(pid))
    return seen, wrong, took, memory


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("binary", nargs="?", default=ROOT / "target/release/breakeven")
    parser.add_argument("--connections", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=60)
    arguments = parser.parse_args()
    server = subprocess.Popen([arguments.binary, "serve", "--no-open"], stdout=subprocess.PIPE, text=True)
    port = int(server.stdout.readline().rstrip("/\n").rsplit(":", 1)[1])
    seen, wrong, took, memory = asyncio.run(load(port, server.pid, arguments.connections, arguments.seconds))
    server.send_signal(signal.SIGTERM)
    ended = server.wait(10)
    cuts = statistics.quantiles(took, n=100)
    print(f"{sum(seen.values())} answers on {arguments.connections} connections in {arguments.seconds:.0f} s:",
          ", ".join(f"{status} × {count}" for status, count in sorted(seen.items())))
    print(f"request to answer: median {cuts[49] * 1e3:.0f} ms, 99th percentile {cuts[98] * 1e3:.0f} ms")
    print("resident, MiB, start to end:", " ".join(f"{mib:.0f}" for mib in memory))
    print(f"errors that are not the client's: {sum(wrong.values())}; the server ended with {ended}")
    for what, count in wrong.most_common(10):
        print(f"  {count} × {what}")
    return bool(wrong or ended)


if __name__ == "__main__":
    raise SystemExit(main())
