"""One of three ways to lose: 200 000 operations on arrays of ten numbers.

Expect: stay on the CPU. Each launch costs more than the whole operation takes here.
"""
import numpy as np

state = np.zeros(10)
drift = np.linspace(0.0, 1.0, 10)
for _ in range(100_000):
    state = state * 0.999
    state = state + drift
print(f"sum {state.sum():.4f}")
