"""Shortest paths, pairs of bases, and a check sum: integers, loops, conditions."""
import numpy as np

n = 20
path = np.fromfunction(lambda i, j: i * j % 7 + 1, (n, n), dtype=np.int32)
for i in range(n):
    for j in range(n):
        if (i + j) % 13 == 0 or (i + j) % 7 == 0 or (i + j) % 11 == 0:
            path[i, j] = 999
for k in range(n):
    path[:] = np.minimum(path[:], np.add.outer(path[:, k], path[k, :]))
print("floyd_warshall", path.sum(), path.dtype)

seq = np.fromfunction(lambda i: (i + 1) % 4, (n,), dtype=np.int32)
table = np.zeros((n, n), np.int32)
for i in range(n - 1, -1, -1):
    for j in range(i + 1, n):
        table[i, j] = max(table[i, j], table[i, j - 1])
        if i + 1 < n:
            table[i, j] = max(table[i, j], table[i + 1, j])
            inner = table[i + 1, j - 1] + (1 if i < j - 1 and seq[i] + seq[j] == 3 else 0)
            table[i, j] = max(table[i, j], inner)
        for k in range(i + 1, j):
            table[i, j] = max(table[i, j], table[i, k] + table[k + 1, j])
print("nussinov", table[0, n - 1], table.sum())

crc, poly = 0xFFFF, 0x8408
for b in np.random.default_rng(42).integers(0, 256, size=(40,), dtype=np.uint8):
    cur = 0xFF & b
    for _ in range(8):
        crc = (crc >> 1) ^ poly if (crc & 1) ^ (cur & 1) else crc >> 1
        cur >>= 1
crc = ~crc & 0xFFFF
print("crc16", 0xFFFF & ((crc << 8) | ((crc >> 8) & 0xFF)))
