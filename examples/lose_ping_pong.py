"""One of three ways to lose: array code and Python take turns.

Expect: stay on the CPU. Every round reads a value back, and Python decides what comes next.
"""
import numpy as np

rng = np.random.default_rng(29)
values = rng.random(2_000)
history = []
for _ in range(20_000):
    values = values * 1.0001
    largest = float(values.max())
    if largest > 2.0:
        values = values / largest
    history.append(largest)
print(f"last {history[-1]:.4f}, rounds {len(history)}")
