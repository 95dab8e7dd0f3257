"""An epidemic in several regions, by Runge-Kutta steps."""

import numpy as np

regions = 60
rng = np.random.default_rng(1)
contact = rng.random((regions, regions)) * 0.02
np.fill_diagonal(contact, 0.4)
state = np.zeros((3, regions))
state[0] = 1.0
state[1, 0] = 1e-3
state[0] -= state[1]


def rate(s):
    susceptible, infected, _ = s
    new = susceptible * (contact @ infected)
    return np.stack([-new, new - 0.1 * infected, 0.1 * infected])


h = 0.25
peak = 0.0
for _ in range(800):
    k1 = rate(state)
    k2 = rate(state + h / 2 * k1)
    k3 = rate(state + h / 2 * k2)
    k4 = rate(state + h * k3)
    state = state + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    peak = max(peak, state[1].mean())
print(round(float(peak), 6), state.sum(axis=0).round(6)[:3])
