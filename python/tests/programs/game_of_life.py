"""Conway's game of life on a torus."""

import numpy as np

rng = np.random.default_rng(7)
board = (rng.random((200, 200)) < 0.3).astype(np.int8)


def neighbours(b):
    return sum(np.roll(b, (dy, dx), axis=(0, 1)) for dy in (-1, 0, 1) for dx in (-1, 0, 1) if dy or dx)


for _ in range(40):
    n = neighbours(board)
    board = ((n == 3) | ((board == 1) & (n == 2))).astype(np.int8)
print(board.sum())
