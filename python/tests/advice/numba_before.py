import os

import numpy as np


def run(state, drift, steps):
    for _ in range(steps):
        state = state * 0.999
        state = state + drift
    return state


print(run(np.zeros(10), np.linspace(0.0, 1.0, 10), int(os.environ.get("STEPS", 3_000_000))).sum() >= 0)
